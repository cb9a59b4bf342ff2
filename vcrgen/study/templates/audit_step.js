// A step of an audit: an item stands for the three fields of the step, and writes into them the letter of the rater's own
// answer, the verdict and the note. Storing and sending them is the same as for texts. The key is not on the page: the
// service sends it when the rater's own answer is on its disk. Everything from the data is set as text. Keys are read by
// their place on the keyboard, so that they work in every script.
"use strict";
(() => {
  const holder = document.getElementById("data");
  if (!holder) return;
  const { audit } = JSON.parse(holder.textContent);

  const LETTERS = "ABCDEFGHIJ";
  const id = (name) => document.getElementById(name);

  function make(tag, text, className) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  }

  function fillTexts(text) {
    for (const element of document.querySelectorAll("[data-text]")) element.textContent = text(element.dataset.text);
  }

  // `said` has the rater's own `answer` (from 0, -1 for none, or nothing yet), the `verdict` and the `note`; where it is
  // `open` for a verdict, the `key` and the `trap` are shown.
  function drawItem(item, said, text, { choose, judge }) {
    id("category").textContent = item.path.split("/").join(" › ");
    drawQuestions(item, said, text);
    drawChoices(item.questions[0].options.length, said, text, choose);
    drawVerdicts(said, text, judge);
  }

  function drawQuestions(item, { open, key, trap }, text) {
    id("questions").replaceChildren(...item.questions.map((question) => {
      const box = make("div", undefined, "stem");
      box.lang = question.lang;
      box.dir = question.dir;
      const list = make("ol");
      question.options.forEach((option, number) => {
        const line = make("li");
        const words = make("span", option);
        words.dir = "auto";
        line.append(make("b", LETTERS[number]), words);
        if (open && number === key) line.className = "key";
        else if (open && number === trap) line.className = "trap";
        if (line.className) {
          const mark = make("i", text(line.className), "mark");
          mark.lang = document.documentElement.lang;
          line.append(mark);
        }
        list.append(line);
      });
      box.append(make("p", question.text), list);
      return box;
    }));
  }

  function drawChoices(count, { answer }, text, choose) {
    const known = answer !== undefined;
    id("choices").replaceChildren(...[...Array(count).keys(), -1].map((number) => {
      const button = make("button");
      button.type = "button";
      if (number < 9) button.append(make("kbd", String(number + 1)), " "); // a tenth option has no key
      button.append(number < 0 ? text("cannot") : LETTERS[number]);
      button.disabled = known; // after the key was seen an answer says nothing
      if (known) button.setAttribute("aria-pressed", String(number === answer));
      button.addEventListener("click", () => choose(number));
      return button;
    }));
  }

  function drawVerdicts({ open, verdict, note }, text, judge) {
    id("judging").hidden = !open;
    id("verdicts").replaceChildren(...audit.verdicts.map((name, number) => {
      const button = make("button");
      button.type = "button";
      const words = make("span");
      words.append(make("b", text(name)), " ", make("small", text(`${name}Hint`)));
      button.append(make("kbd", String(number + 5)), words);
      button.setAttribute("aria-pressed", String(name === verdict));
      button.addEventListener("click", () => judge(name));
      return button;
    }));
    if (id("note").value !== (note ?? "")) id("note").value = note ?? "";
  }

  // After a verdict the keyboard goes to where one goes on from: what is at fault wants a note.
  function afterVerdict(name) {
    if (name === "approve") id("verdicts").firstElementChild.focus();
    else id("note").focus();
  }

  // `leave` takes the keyboard out of the note; elements in `own` keep their own Enter.
  function listenToKeys({ choose, judge, go, isDone, leave, own }) {
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target.matches?.("textarea, input")) {
        if (event.key === "Escape") leave();
        return;
      }
      const digit = /^(?:Digit|Numpad)(\d)$/.exec(event.code)?.[1];
      const forward = document.documentElement.dir === "rtl" ? "ArrowLeft" : "ArrowRight";
      if (digit !== undefined && !event.repeat) {
        const { open, options } = current();
        if (digit <= options && !(open && digit > 4)) choose(digit - 1);
        else if (digit > 4) judge(audit.verdicts[digit - 5]);
      } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") go(event.key === forward ? 1 : -1);
      else if (event.key === "Enter" && isDone() && !event.target.closest?.(own)) go(1);
      else return;
      event.preventDefault();
    });
  }

  const text = (name) => audit.texts[name];
  const fields = id("fields");
  const field = (number) => {
    const row = fields.children[number];
    return { text: row.querySelector(".text"), box: row.querySelector("[type=checkbox]") };
  };
  const write = (number, value, box = false) => {
    const one = field(number);
    one.text.value = value;
    one.box.checked = box;
    one.text.dispatchEvent(new Event("input"));
  };
  const shownLetter = (number) => { // the option that the service has sent: 0 the key, 1 the trap
    const at = LETTERS.indexOf(fields.dataset.key[number] || "-");
    return at < 0 ? undefined : at;
  };
  const current = () => {
    const own = field(0);
    const answer = own.box.checked ? -1 : own.text.value ? LETTERS.indexOf(own.text.value) : undefined;
    const open = answer !== undefined && shownLetter(0) !== undefined;
    const options = audit.items[id("progress").value]?.questions[0]?.options.length ?? 0;
    return { options, answer, verdict: field(1).text.value, note: field(2).text.value, open, key: shownLetter(0), trap: shownLetter(1) };
  };
  const draw = () => {
    if (fields.children.length !== 3) return;
    const now = current();
    const opened = now.open && id("judging").hidden;
    drawItem(audit.items[id("progress").value], now, text, { choose, judge });
    if (opened && document.activeElement === document.body) id("verdicts").firstElementChild.focus();
  };
  const choose = (number) => {
    if (current().answer !== undefined) return;
    write(0, LETTERS[number] ?? "", number < 0);
    draw();
  };
  const judge = (name) => {
    if (!current().open) return;
    write(1, name);
    draw();
    afterVerdict(name);
  };
  const go = (step) => {
    if (step > 0) id("form").requestSubmit();
    else if (!id("back").hidden) id("back").click();
  };
  const here = (act) => (...values) => id("step").hidden || act(...values);

  document.documentElement.dir = text("dir");
  fillTexts(text);
  id("note").maxLength = audit.longest;
  id("note").addEventListener("input", () => write(2, id("note").value));
  new MutationObserver(draw).observe(fields, { childList: true, attributes: true, attributeFilter: ["data-key"] });
  // The keyboard goes to what is missing.
  id("form").addEventListener("submit", () => {
    if (!id("fill").hidden) id(current().open ? "verdicts" : "choices").querySelector(":enabled")?.focus();
  });
  listenToKeys({
    choose: here(choose), judge: here(judge), go: here(go),
    leave: here(() => id("where").focus({ preventScroll: true })),
    isDone: () => !id("step").hidden && current().verdict !== "",
    own: "#back, .stop, .viewer",
  });
})();
