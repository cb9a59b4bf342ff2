// The page of a rater that works offline. What the rater says is kept in the browser after every change, or in memory
// where the browser keeps nothing.

const holder = document.getElementById("data");
const data = JSON.parse(holder.textContent);
holder.remove(); // the keys of items that are not answered yet are nowhere in the document
const store = `vcrgen-audit-${data.audit}-${data.name}`;
const state = { lang: "en", at: 0, said: Object.create(null) }; // without a prototype: an id may be any text
let saved = true;

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
  fillTexts(text);
  const other = otherLanguage();
  id("language").textContent = data.texts[other].name;
  id("language").lang = other;
  const source = data.pictures[item().picture];
  id("picture").hidden = !source;
  id("nothing").hidden = Boolean(source);
  if (source && id("picture").src !== source) id("picture").src = source;
  id("picture").alt = text("picture");
  id("place").textContent = `${text("item")} ${state.at + 1} ${text("of")} ${data.items.length}`;
  id("previous").disabled = state.at === 0;
  id("next").disabled = state.at === data.items.length - 1;
  drawItem(item(), { ...said(), open: said().answer !== undefined, key: item().key, trap: item().trap }, text, { choose, judge });
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
  afterVerdict(name);
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

function listen() {
  listenToKeys({
    choose, judge, go,
    isDone: () => isDone(item()),
    leave: () => id("item").focus({ preventScroll: true }),
    own: "#language, .end, #previous",
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
}

// Chromium may open a file in a process of its own. localStorage that is used there before the browser has noted the
// document is one of that process alone, and is lost with it. By the time that the browser has answered a question of
// the document, here of locks, it has noted it. A browser that has no answer has nothing to wait for.
async function start() {
  try {
    await navigator.locks.query();
  } catch { /* not allowed, or unknown */ }
  restore();
  keep();
  draw();
  listen();
}

start();
