"use strict";
// One item of an audit, and what a rater says of it. The page that works offline and the page of a study share it.
// Everything from the data is set as text, or as a data: URI of a checked kind; the policy of the pages forbids anything
// else. Keys are read by their place on the keyboard, so that they work in every script.

const LETTERS = "ABCD";
const VERDICTS = ["approve", "image", "question", "choices", "translation"];
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

// `said` has the rater's own `answer` (0 to 3, -1 for none, or nothing yet), the `verdict` and the `note`; where it is
// `open` for a verdict, the `key` and the `trap` are shown.
function drawItem(item, said, text, { choose, judge }) {
  id("leaf").textContent = item.path.split("/").join(" › ");
  drawQuestions(item, said, text);
  drawChoices(said, text, choose);
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

function drawChoices({ answer }, text, choose) {
  const known = answer !== undefined;
  id("choices").replaceChildren(...[0, 1, 2, 3, -1].map((number) => {
    const button = make("button");
    button.type = "button";
    button.append(make("kbd", String(number + 1)), " ", number < 0 ? text("cannot") : LETTERS[number]);
    button.disabled = known; // after the key was seen an answer says nothing
    if (known) button.setAttribute("aria-pressed", String(number === answer));
    button.addEventListener("click", () => choose(number));
    return button;
  }));
}

function drawVerdicts({ open, verdict, note }, text, judge) {
  id("judging").hidden = !open;
  id("verdicts").replaceChildren(...VERDICTS.map((name, number) => {
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
      if (digit < 5) choose(digit - 1);
      else judge(VERDICTS[digit - 5]);
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") go(event.key === forward ? 1 : -1);
    else if (event.key === "Enter" && isDone() && !event.target.closest?.(own)) go(1);
    else return;
    event.preventDefault();
  });
}
