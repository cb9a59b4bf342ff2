"use strict";
// The page of a rater. Everything from the data is set as text, or as a data: URI of a checked kind; the policy of the
// page forbids anything else. What the rater says is kept in the browser after every change, or in memory where the
// browser keeps nothing. Keys are read by their place on the keyboard, so that they work in every script.

const holder = document.getElementById("data");
const data = JSON.parse(holder.textContent);
holder.remove(); // the keys of items that are not answered yet are nowhere in the document
const LETTERS = "ABCD";
const VERDICTS = ["approve", "image", "question", "choices", "translation"];
const id = (name) => document.getElementById(name);
const store = `vcrgen-audit-${data.audit}-${data.name}`;
const state = { lang: "en", at: 0, said: Object.create(null) }; // without a prototype: an id may be any text
let saved = true;

function make(tag, text, className) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}

const item = () => data.items[state.at];
const said = (one = item()) => state.said[one.id] ?? {};
const text = (name) => data.texts[state.lang][name];
const isDone = (one) => VERDICTS.includes(said(one).verdict);

function otherLanguage() { // the next one, in a ring
  const known = Object.keys(data.texts);
  return known[(known.indexOf(state.lang) + 1) % known.length];
}

// What the browser kept is checked: anything may have been written there.
function restore() {
  let kept = null;
  try {
    kept = JSON.parse(localStorage.getItem(store));
  } catch { /* nothing is kept, or nothing may be read */ }
  if (!kept || typeof kept !== "object") return;
  if (Object.hasOwn(data.texts, kept.lang)) state.lang = kept.lang;
  if (Number.isInteger(kept.at) && kept.at >= 0 && kept.at < data.items.length) state.at = kept.at;
  for (const one of data.items) {
    const old = kept.said?.[one.id];
    if (!old || !Number.isInteger(old.answer) || old.answer < -1 || old.answer > 3) continue;
    const verdict = VERDICTS.includes(old.verdict) ? old.verdict : undefined;
    state.said[one.id] = { answer: old.answer, verdict, note: typeof old.note === "string" ? old.note.slice(0, data.longest) : "" };
  }
}

function keep() {
  try {
    localStorage.setItem(store, JSON.stringify(state));
    id("warning").hidden = true;
    id("kept").hidden = false;
  } catch { // no room, or not allowed: then it is in memory only
    id("warning").hidden = false;
    id("kept").hidden = true;
    saved = Object.keys(state.said).length === 0;
  }
}

function lines() {
  return data.items.filter(isDone).map((one) => {
    const { answer, verdict, note } = said(one);
    return `${JSON.stringify({ audit: data.audit, rater: data.rater, question_id: one.id, answer: LETTERS[answer] ?? "", verdict, note: note ?? "" })}\n`;
  }).join("");
}

function drawQuestions() {
  const { answer } = said();
  const known = answer !== undefined;
  id("questions").replaceChildren(...item().questions.map((question) => {
    const box = make("div", undefined, "stem");
    box.lang = question.lang;
    box.dir = question.dir;
    const list = make("ol");
    question.options.forEach((option, number) => {
      const line = make("li");
      const words = make("span", option);
      words.dir = "auto";
      line.append(make("b", LETTERS[number]), words);
      if (known && number === item().key) line.className = "key";
      else if (known && number === item().trap) line.className = "trap";
      if (line.className) {
        const mark = make("i", text(line.className), "mark");
        mark.lang = state.lang;
        line.append(mark);
      }
      list.append(line);
    });
    box.append(make("p", question.text), list);
    return box;
  }));
}

function drawChoices() {
  const { answer } = said();
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

function drawVerdicts() {
  const { answer, verdict, note } = said();
  id("judging").hidden = answer === undefined;
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

function drawProgress() {
  const done = data.items.filter(isDone).length;
  const part = data.parts > 1 ? `, ${text("part")} ${data.part} ${text("of")} ${data.parts}` : "";
  id("who").textContent = `${text("you")} ${data.rater}${part}`;
  id("progress").textContent = `${done} ${text("of")} ${data.items.length} ${text("done")}`;
  id("bar").style.setProperty("--done", done / data.items.length);
  id("finished").hidden = done < data.items.length;
  id("lines").value = lines();
}

function draw() {
  document.documentElement.lang = state.lang;
  document.documentElement.dir = text("dir");
  document.title = `${text("title")} · ${text("you")} ${data.rater}`;
  for (const element of document.querySelectorAll("[data-text]")) element.textContent = text(element.dataset.text);
  const other = otherLanguage();
  id("language").textContent = data.texts[other].name;
  id("language").lang = other;
  const source = data.pictures[item().picture];
  id("picture").hidden = !source;
  id("nothing").hidden = Boolean(source);
  if (source && id("picture").src !== source) id("picture").src = source;
  id("picture").alt = text("picture");
  id("place").textContent = `${text("item")} ${state.at + 1} ${text("of")} ${data.items.length}`;
  id("leaf").textContent = item().path.split("/").join(" › ");
  id("previous").disabled = state.at === 0;
  id("next").disabled = state.at === data.items.length - 1;
  drawQuestions();
  drawChoices();
  drawVerdicts();
  drawProgress();
}

function choose(number) {
  if (said().answer !== undefined) return;
  state.said[item().id] = { answer: number, note: "" };
  keep();
  draw();
  id("verdicts").firstElementChild.focus();
}

function judge(name) {
  if (said().answer === undefined) return;
  state.said[item().id].verdict = name;
  keep();
  draw();
  if (name === "approve") id("verdicts").firstElementChild.focus();
  else id("note").focus();
}

function go(step) {
  const at = state.at + step;
  if (at < 0 || at >= data.items.length) return;
  state.at = at;
  keep();
  draw();
  id("item").focus({ preventScroll: true });
  window.scrollTo(0, 0);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target instanceof HTMLTextAreaElement;
  if (typing) {
    if (event.key === "Escape") id("item").focus({ preventScroll: true });
    return;
  }
  const digit = /^(?:Digit|Numpad)(\d)$/.exec(event.code)?.[1];
  const forward = text("dir") === "rtl" ? "ArrowLeft" : "ArrowRight";
  if (digit !== undefined && !event.repeat) {
    if (digit < 5) choose(digit - 1);
    else judge(VERDICTS[digit - 5]);
  } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") go(event.key === forward ? 1 : -1);
  else if (event.key === "Enter" && isDone(item()) && !event.target.closest?.("#language, .end, #previous")) go(1);
  else return;
  event.preventDefault();
});

id("note").maxLength = data.longest;
id("note").addEventListener("input", () => {
  if (said().answer === undefined) return;
  state.said[item().id].note = id("note").value;
  keep();
  drawProgress();
});
id("previous").addEventListener("click", () => go(-1));
id("next").addEventListener("click", () => go(1));
id("language").addEventListener("click", () => {
  state.lang = otherLanguage();
  keep();
  draw();
});
id("save").addEventListener("click", () => {
  const link = make("a");
  link.href = URL.createObjectURL(new Blob([lines()], { type: "application/jsonl" }));
  link.download = `${data.name}.jsonl`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  saved = true;
});
window.addEventListener("beforeunload", (event) => {
  if (!saved) event.preventDefault();
});

restore();
keep();
draw();
