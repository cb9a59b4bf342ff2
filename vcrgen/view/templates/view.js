"use strict";
// Everything from datasets and outputs is set as text (textContent, append) or as an image of a checked kind. The page's
// policy forbids anything else: no innerHTML (trusted types), no handler in markup, no network but its own server.

const facts = JSON.parse(document.getElementById("facts").textContent);
const find = (selector) => document.querySelector(selector);
const bar = find(".bar");
const panel = document.getElementById("panel");
const tip = document.getElementById("tip");
const search = document.getElementById("search");
const grid = find(".grid");
const number = new Intl.NumberFormat("en");
const named = ["easy", "hard"]; // every other mode is a level, whose name says the ink or the bits that covers leave
const isChoice = facts.task === "mcq";
const letters = "ABCDEFGHIJ";
const unit = isChoice ? "item" : "pair";
const wait = 150; // milliseconds after a letter of a search
const again = 500; // milliseconds until the page asks how far the scoring is

// What the address has behind #: filters, order, page. The rest of the state is not in it.
let query = {};
const state = { mode: facts.mode, view: "", alone: false, answers: facts.runs.length > 0 || isChoice, zoom: false };
const nothing = { total: 0, start: 0, previous: "", next: "", items: [], waits: false, progress: null, isRead: false };
let answer = nothing;
let asked = 0;
let applied = {}; // mode and view that cards were given last
let cards = [];
const cardOf = new Map();

function make(tag, text, className) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}

function clone(id) {
  return document.getElementById(id).content.firstElementChild.cloneNode(true);
}

function place(element, properties) {
  for (const [name, value] of Object.entries(properties)) element.style.setProperty(`--${name}`, value);
  return element;
}

function picture(element, image) {
  const isFile = image.file && /^images\/[\w-]+\.(png|jpeg|webp)$/.test(image.file);
  element.src = isFile ? image.file : `data:image/${image.kind};base64,${image.data}`;
  return element;
}

const rounded = (value, digits) => value.toFixed(digits);
const percent = (share) => `${Math.round(100 * share)} %`;
const counted = (count, word) => `${number.format(count)} ${word}${count === 1 ? "" : "s"}`;

// ---- where items come from

const chunks = new Map(); // of a view without a server: items by the number of their file
let awaited = new Map();

window.vcrgenItems = (part, items) => {
  chunks.set(part, items);
  awaited.get(part)?.();
};

function loadChunk(part) {
  if (chunks.has(part)) return Promise.resolve();
  const source = `data/${String(part).padStart(4, "0")}.js`;
  const policy = window.trustedTypes?.createPolicy
    ? loadChunk.policy ??= window.trustedTypes.createPolicy("files", { createScriptURL: (url) => url })
    : undefined;
  return new Promise((resolve, reject) => {
    awaited.set(part, resolve);
    const script = make("script");
    script.onerror = () => reject(new Error(`${source} is not there; copy the whole folder.`));
    script.src = policy ? policy.createScriptURL(source) : source;
    document.head.append(script);
  });
}

async function loadItems(from, to) {
  const parts = [];
  for (let part = Math.floor(from / facts.chunk); part * facts.chunk < to; part += 1) parts.push(part);
  await Promise.all(parts.map(loadChunk));
  return parts.flatMap((part) => chunks.get(part)).slice(from - parts[0] * facts.chunk, to - parts[0] * facts.chunk);
}

function outputsOf(item, asks) {
  return item.results.filter((result) => result.mode === asks.mode && result.view === asks.view);
}

function textOf(item) {
  const { card } = item;
  const texts = [item.id, ...(item.texts || [])];
  if (card?.path) texts.push(card.path.join("/"));
  for (const question of Object.values(card?.questions || {})) texts.push(question.text, ...question.options);
  return texts.join("\n").toLowerCase();
}

// The filters of a view without a server; `vcrgen/view/index.py` has those of one with it.
function passes(item, asks) {
  const outputs = outputsOf(item, asks);
  const codes = (run) => outputs.find((result) => result.run === run)?.codes;
  const code = facts.outcomes.find(([name]) => name === asks.outcome)?.[1];
  const within = (value, low, high) =>
    (low === undefined && high === undefined) ||
    (value !== undefined && value !== null && value >= (low ?? -Infinity) && value <= (high ?? Infinity));
  const words = (asks.search || "").toLowerCase().split(/\s+/).filter(Boolean);
  const texts = words.length ? [textOf(item), ...outputs.map((result) => plainOutput(result).toLowerCase())] : [];
  return (
    (!asks.lang || item.lang === asks.lang) &&
    (!asks.split || item.split === asks.split) &&
    within(item.bits[asks.mode], asks.bits_min, asks.bits_max) &&
    within(item.length, asks.length_min, asks.length_max) &&
    (!code || outputs.some((result) => (asks.run === undefined || result.run === asks.run) && result.codes.includes(code))) &&
    hasRightAndWrong(asks.right, asks.wrong, codes) &&
    words.every((word) => texts.some((text) => text.includes(word)))
  );
}

function plainOutput(result) {
  return result.responses.map((response) => response.pieces.map(([text]) => text).join("")).join("\n");
}

// Whether some span is right by one model and wrong by the other; without one of them by the other alone.
function hasRightAndWrong(right, wrong, codes) {
  if (right === undefined && wrong === undefined) return true;
  const [good, bad] = [codes(right ?? wrong), codes(wrong ?? right)];
  if (good === undefined || bad === undefined) return false;
  return [...good].some((code, index) => (right === undefined || code === "e") && (wrong === undefined || bad[index] !== "e"));
}

function sortKey(item, asks) {
  if (asks.sort.startsWith("score")) {
    const of = asks.sort === "score" ? undefined : Number(asks.sort.slice(6));
    const scores = outputsOf(item, asks).filter((result) => of === undefined || result.run === of).map((result) => result.score);
    return scores.length ? scores.reduce((sum, score) => sum + score, 0) / scores.length : null;
  }
  if (asks.sort === "bits") return item.bits[asks.mode] ?? null;
  return asks.sort === "order" ? item.place : item[asks.sort];
}

function sortItems(items, asks) {
  const sign = asks.direction === "down" ? -1 : 1;
  const keyed = items.map((item) => [sortKey(item, asks), item]);
  keyed.sort(([a, first], [b, second]) => {
    if ((a === null) !== (b === null)) return a === null ? 1 : -1;
    return (a < b ? -sign : a > b ? sign : 0) || first.place - second.place;
  });
  return keyed.map(([, item]) => item);
}

async function selectFromFiles(asks) {
  const { id, page, mode, view, ...filters } = asks;
  const plain = Object.keys(filters).length === 0;
  const start = (page || 0) * facts.pageItems;
  if (plain && !id) {
    const items = await loadItems(start, Math.min(start + facts.pageItems, facts.total));
    return { total: facts.total, start, previous: "", next: "", items };
  }
  const whole = { sort: "order", direction: "up", ...asks };
  const all = await loadItems(0, facts.total);
  const items = sortItems(all.filter((item) => passes(item, whole)), whole);
  if (!id) return { total: items.length, start, previous: "", next: "", items: items.slice(start, start + facts.pageItems) };
  const position = items.findIndex((item) => item.id === id);
  const around = [items[position - 1], position < 0 ? items[0] : items[position + 1]];
  return {
    total: items.length,
    start: Math.max(position, 0),
    previous: position > 0 ? around[0].id : "",
    next: around[1]?.id ?? "",
    items: all.filter((item) => item.id === id).slice(0, 1),
  };
}

async function askServer(path) {
  const response = await fetch(path).catch(() => {
    throw new Error("The program that serves this page has ended; start it again in the terminal.");
  });
  const value = await response.json();
  if (!response.ok) throw new Error(value.error);
  return value;
}

const select = (asks) => (facts.served ? askServer(`items.json?${new URLSearchParams(asks)}`) : selectFromFiles(asks));

// ---- the address

const numeric = ["run", "right", "wrong", "bits_min", "bits_max", "length_min", "length_max", "page"];

function readAddress() {
  query = {};
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    if (value === "") continue;
    query[name] = numeric.includes(name) ? Number(value) : value;
    if (Number.isNaN(query[name])) delete query[name];
  }
  state.mode = facts.modes.includes(query.mode) ? query.mode : facts.mode;
  const views = facts.views.map(([value]) => value);
  state.view = views.includes(query.view) ? query.view : views[0] || "";
  if (state.view) state.alone = ["tei", "strip"].includes(state.view);
}

function go(changes, keepsPage) {
  const next = { ...query, ...(keepsPage ? {} : { page: undefined }), ...changes };
  const entries = Object.entries(next).filter(([name, value]) => value !== undefined && value !== "" && !(name === "page" && !value));
  const text = new URLSearchParams(entries).toString();
  waiting();
  if (location.hash.slice(1) === text) return show();
  location.hash = text;
  return undefined;
}

// ---- modes

// Both named modes, also where only one of them is there, and the levels; a ladder has levels only.
function offered(modes) {
  if (isChoice) return modes;
  const levels = modes.filter((mode) => !named.includes(mode)).sort();
  return [...(levels.length === modes.length && levels.length ? [] : named), ...levels];
}

function modeName(mode) {
  if (isChoice || mode === "mixed" || mode === "-") return mode;
  if (mode.startsWith("bits-")) return `${mode.slice(5)} bits`;
  return named.includes(mode) ? mode[0].toUpperCase() + mode.slice(1) : percent(mode.replace("ink-", ""));
}

function addModes(root, modes, keys) {
  const choice = root.querySelector(".choice");
  const names = offered(modes);
  choice.hidden = names.length < 2;
  for (const mode of choice.hidden ? [] : names) {
    const button = make("button", modeName(mode));
    button.type = "button";
    button.dataset.mode = mode;
    button.disabled = !modes.includes(mode);
    if (named.includes(mode) && keys) button.append(" ", make("kbd", mode[0].toUpperCase()));
    if (mode.startsWith("ink-")) button.title = "Share of the ink that the covers aim to leave";
    if (mode.startsWith("bits-")) button.title = "Bits that the visible pixels of every span leave at least";
    choice.append(button);
  }
}

// ---- the head

function mean(rows, value, weight) {
  const total = rows.reduce((sum, row) => sum + row[weight], 0);
  return total ? rows.reduce((sum, row) => sum + row[value].mean * row[weight], 0) / total : 0;
}

function figures(statistics) {
  const rows = [[`${unit}s`, number.format(facts.whole ?? facts.total)]];
  if (!statistics?.length) return rows;
  const first = statistics.filter((row) => row.mode === statistics[0].mode);
  rows.push(["spans", number.format(first.reduce((sum, row) => sum + row.spans, 0))]);
  rows.push(["spans per pair", rounded(mean(first, "spans_per_image", "rows"), 2)]);
  rows.push(["px high, mean", rounded(mean(first, "height", "rows"), 0)]);
  for (const mode of new Set(statistics.map((row) => row.mode))) {
    const ofMode = statistics.filter((row) => row.mode === mode);
    if (ofMode.length === 1 && ofMode[0].pixel_bits) rows.push([`bits, median, ${mode}`, rounded(ofMode[0].pixel_bits.median, 1)]);
    if (ofMode.every((row) => row.visible_ink)) rows.push([`ink visible, ${mode}`, percent(mean(ofMode, "visible_ink", "spans"))]);
  }
  return rows;
}

function statisticsRow(row) {
  const summary = (s, digits, scale = 1) =>
    `${rounded(scale * s.mean, digits)} ± ${rounded(scale * s.sd, digits)} (${rounded(scale * s.p05, 0)}–${rounded(scale * s.p95, 0)})`;
  const line = make("tr");
  line.append(make("th", row.mode), make("td", row.split));
  for (const text of [
    number.format(row.rows), number.format(row.spans), summary(row.height, 1), summary(row.spans_per_image, 2),
    summary(row.caption_length, 1), row.visible_ink ? summary(row.visible_ink, 0, 100) : "–",
  ]) line.append(make("td", text, "number"));
  return line;
}

function rejected(about) {
  if (!about.rejected.length) return `${counted(about.read, "pair")} read, and all built.`;
  const reasons = about.rejected.map(([reason, count]) => `${reason.replaceAll("_", " ")} ${number.format(count)}`);
  return `${counted(about.read, "pair")} read. Rejected: ${reasons.join(", ")}.`;
}

function origin(about) {
  const parts = [];
  if (about.source !== null) parts.push(`Built from: ${about.source}.`);
  else if (about.statistics) parts.push("Not built by vcrgen: the covers are not known.");
  if (!facts.answers) parts.push("The public part of a hidden set: its answers are secret.");
  if (facts.secret) parts.push("The answers are secret: show this page to nobody.");
  if (facts.whole > facts.total) parts.push(`Here: ${number.format(facts.total)} of ${counted(facts.whole, unit)}.`);
  if (about.leftOut) parts.push(`${counted(about.leftOut, "row")} left out, with texts that no build writes.`);
  return parts.join(" ");
}

function showAbout(about) {
  find("#about").textContent = origin(about);
  for (const [label, value] of figures(about.statistics)) {
    const group = make("div");
    group.append(make("dt", label), make("dd", value));
    find(".figures").append(group);
  }
  if (about.signature) {
    find("#signature").hidden = false;
    find(".short").textContent = about.signature.short;
    for (const [key, value] of about.signature.facts) find(".facts").append(make("dt", key), make("dd", value));
  }
  if (about.statistics) {
    find("#statistics").hidden = false;
    find("#statistics tbody").append(...about.statistics.map(statisticsRow));
    if (about.rejected) find(".rejected").textContent = rejected(about);
  }
}

// ---- cards

function addCard(item) {
  const root = clone("card");
  const content = item.card || {};
  const modes = isChoice ? Object.keys(content.questions || {}) : Object.keys(content.views || {});
  const card = {
    item, content, root, modes: modes.length ? modes : facts.modes, layers: {}, mode: state.mode, view: state.view, alone: state.alone, answers: state.answers,
  };
  root.querySelector(".problem").hidden = Boolean(content.image || modes.length) || !facts.pictures;
  const strip = root.querySelector(".strip");
  for (const [mode, view] of Object.entries(content.views || {})) {
    if (view.strip) strip.append((card.layers[mode] = makeLayer(view)));
  }
  if (isChoice && content.image) {
    picture(root.querySelector(".picture"), content.image).hidden = false;
  }
  addModes(root, card.modes, false);
  const link = root.querySelector(".id");
  link.title = content.sourceId ? `id in the source: ${content.sourceId}` : "This item alone";
  link.querySelector("bdi").textContent = item.id;
  root.setAttribute("aria-label", `${unit} ${item.id}`);
  root.querySelector("[data-toggle=answers]").hidden = !facts.answers;
  if (!facts.pictures) root.querySelector("[data-toggle=alone]")?.remove();
  cardOf.set(root, card);
  render(card);
  return card;
}

// A strip and, over it, a button for every span. The button is as large as all of the span's boxes; only these, its
// children, can be pointed at, so that one span never lies over another.
function makeLayer(view) {
  const layer = make("div", undefined, "layer");
  const image = picture(make("img"), view.strip);
  image.alt = "Caption with masked spans (TEI)";
  layer.append(image);
  for (const span of view.spans) {
    if (!span.boxes.length) continue;
    const button = make("button", undefined, "span");
    button.type = "button";
    const [x, y] = [0, 1].map((axis) => Math.min(...span.boxes.map((box) => box[axis])));
    const [right, bottom] = [2, 3].map((axis) => Math.max(...span.boxes.map((box) => box[axis])));
    place(button, { x, y, w: right - x, h: bottom - y });
    for (const [x0, y0, x1, y1] of span.boxes) {
      button.append(place(make("i"), { x: x0 - x, y: y0 - y, w: x1 - x0, h: y1 - y0 }));
    }
    button.span = span;
    layer.append(button);
  }
  return layer;
}

function shownMode(card) {
  return card.modes.includes(card.mode) ? card.mode : card.modes[0];
}

function describe(span, answers) {
  const rows = (count) => `${count} ${count === 1 ? "row" : "rows"}`;
  return [
    answers ? span.text : "Answer hidden",
    `${percent(span.ink)} of the ink is visible`,
    ...(span.bits === undefined ? [] : [`its pixels leave ${rounded(span.bits, 1)} bits at least`]),
    `${rows(span.above)} of ink above the cover, ${rows(span.below)} below`,
  ];
}

function press(root, shown) {
  for (const button of root.querySelectorAll("[data-mode]")) button.setAttribute("aria-pressed", button.dataset.mode === shown.mode);
  for (const button of root.querySelectorAll("[data-toggle]")) button.setAttribute("aria-pressed", shown[button.dataset.toggle]);
}

function render(card) {
  const mode = shownMode(card);
  if (isChoice) renderQuestion(card, mode);
  else renderPair(card, mode);
  renderResults(card, mode);
  press(card.root, { ...card, mode });
}

function renderPair(card, mode) {
  const view = card.content.views?.[mode];
  card.root.querySelector(".stage").hidden = !view;
  if (!view) return;
  const stack = card.root.querySelector(".stack");
  const vi = card.root.querySelector(".vi");
  if (view.whole) {
    const image = card.alone ? view.wholeAlone : view.whole;
    place(stack, { w: image.width, h: image.height, vh: image.height });
    picture(vi, image);
    return;
  }
  const { width, height } = card.content.image;
  const top = card.alone ? 0 : view.y; // of the image of the strip alone, which is as high as that of both, only the strip
  place(stack, { w: width, h: top + view.strip.height, vh: height, sh: view.strip.height, y: top });
  vi.hidden = card.alone;
  picture(vi, view.image || card.content.image);
  for (const [name, layer] of Object.entries(card.layers)) layer.hidden = name !== mode;
  for (const button of card.layers[mode].querySelectorAll(".span")) {
    button.setAttribute("aria-label", `Masked span: ${describe(button.span, card.answers).join("; ")}`);
  }
  const caption = card.root.querySelector(".caption");
  caption.hidden = !card.answers;
  caption.lang = card.content.language;
  // Hidden answers are not in the document at all: neither the browser's search nor a screen reader finds them.
  caption.replaceChildren(...(card.answers ? view.caption.map(([text, covered]) => make(covered ? "mark" : "span", text)) : []));
}

function renderQuestion(card, lang) {
  const question = card.content.questions?.[lang];
  const root = card.root.querySelector(".question");
  root.hidden = !question;
  if (!question) return;
  root.lang = lang;
  root.dir = question.direction;
  const category = root.querySelector(".category");
  category.replaceChildren(...card.content.path.map((name) => make("span", name)));
  category.hidden = !card.content.path.length;
  root.querySelector(".stem").textContent = question.text;
  const results = shownResults(card, lang);
  root.querySelector("ol").replaceChildren(...question.options.map((text, option) => {
    const line = make("li");
    const words = make("span", text);
    words.dir = "auto";
    line.append(make("b", letters[option]), words);
    const notes = [];
    if (card.answers && option === card.content.key) notes.push("✓ key");
    if (card.answers && option === card.content.trap) notes.push("⚠\uFE0E trap");
    notes.push(...results.filter((result) => result.choice === option).map((result) => facts.runs[result.run]));
    if (card.answers && option === card.content.key) line.className = "key";
    if (notes.length) line.append(make("i", notes.join(", ")));
    return line;
  }));
}

function shownResults(card, mode) {
  return card.item.results.filter((result) => result.mode === mode && result.view === card.view);
}

function renderResults(card, mode) {
  const results = shownResults(card, mode);
  const sections = facts.runs.map((title, run) => {
    const result = results.find((each) => each.run === run);
    if (result) return resultOf(card, result, mode);
    return answer.progress ? pendingOf(title) : undefined;
  });
  card.root.querySelector(".results").replaceChildren(...sections.filter(Boolean));
}

function isPending(card) {
  return shownResults(card, shownMode(card)).length < facts.runs.length;
}

function resultHead(text) {
  const section = make("section", undefined, "result");
  const head = make("header");
  const title = make("strong", text);
  title.dir = "auto";
  head.append(title);
  section.append(head);
  return section;
}

function pendingOf(title) {
  const section = resultHead(title);
  section.append(make("p", answer.progress.problem ? "not scored" : "not scored yet", "quiet"));
  return section;
}

function badge(span) {
  const label = facts.outcomes.find(([name]) => name === span.group)[2];
  const outcome = span.outcome.replaceAll("_", " ");
  return make("span", span.group === "near" || outcome === label ? label : outcome, `badge ${span.group}`);
}

function resultOf(card, result, mode) {
  const section = resultHead(facts.runs[result.run]);
  section.firstChild.append(...(result.spans.length > 12 ? [make("span", outcomes(result.spans), "quiet")] : result.spans.map(badge)));
  for (const response of result.responses) {
    if (response.rotation !== undefined && (response.rotation || result.responses.length > 1)) {
      const choice = response.choice === null ? "none" : letters[response.choice];
      const count = card.content.questions?.[mode]?.options.length;
      const label = response.choice === null || !response.rotation || !count ? "" : `, shown as ${letters[(response.choice - response.rotation + count) % count]}`;
      section.append(make("p", `Rotation ${response.rotation}: chosen ${choice}${label}`, "quiet"));
    }
    section.append(outputOf(response, card.answers));
    for (const [name, values] of response.figures || []) section.append(make("p", `${name}: ${values.join(", ")}`, "quiet"));
  }
  if (card.answers) section.append(...detailsOf(card, result, mode));
  return section;
}

function outcomes(spans) {
  const counts = new Map();
  for (const span of spans) counts.set(span.group, (counts.get(span.group) || 0) + 1);
  return [...counts].map(([name, count]) => `${count} ${name}`).join(", ");
}

function outputOf(response, answers) {
  const output = make("p", undefined, "output");
  output.dir = "auto";
  output.tabIndex = 0;
  output.setAttribute("role", "group");
  output.setAttribute("aria-label", "Output");
  if (!response.pieces.length) output.append(make("i", "no output", "quiet"));
  for (const [text, mark] of response.pieces) {
    output.append(mark && answers ? make("mark", text, mark) : document.createTextNode(text));
  }
  if (response.cut) output.append("…");
  return output;
}

// In brackets, which keep their order behind a text that runs from right to left.
function remark(text) {
  const span = make("span", ` (${text})`, "quiet");
  span.dir = "ltr";
  return span;
}

// Of spans that are not exact what was expected and what is nearest; of an item of a benchmark its scores.
function detailsOf(card, result, mode) {
  if (isChoice) return result.spans.map((span) => make("p", span.scores, "quiet"));
  const spans = card.content.views?.[mode]?.spans || [];
  const hasCaption = spans.length > 0;
  const list = make("dl");
  result.spans.forEach((span, index) => {
    if (span.group === "exact" && hasCaption && spans[index]?.bits === undefined) return;
    const expected = make("dd", span.answer);
    expected.dir = "auto";
    if (spans[index]?.bits !== undefined) expected.append(remark(`${rounded(spans[index].bits, 1)} bits`));
    list.append(make("dt", "expected"), expected);
    if (span.group === "exact" || !span.scores) return;
    const nearest = make("dd", span.nearest || "none");
    nearest.dir = "auto";
    nearest.append(remark(span.scores));
    list.append(make("dt", "nearest"), nearest);
  });
  return list.childElementCount ? [list] : [];
}

// ---- showing a page of items

// From now on no earlier answer is shown.
function waiting() {
  asked += 1;
  grid.setAttribute("aria-busy", "true");
}

async function show() {
  const ask = ++asked;
  const asks = { ...query, mode: state.mode, ...(state.view ? { view: state.view } : {}) };
  try {
    const found = await select(asks);
    if (ask !== asked) return;
    answer = found;
    find("#problem").hidden = true;
  } catch (problem) {
    if (ask !== asked) return;
    answer = nothing;
    find("#problem").textContent = problem.message;
    find("#problem").hidden = false;
  }
  const isSame = cards.length === answer.items.length && cards.every((card, index) => card.item.id === answer.items[index].id);
  if (!isSame) {
    cardOf.clear();
    cards = answer.items.map(addCard);
    grid.replaceChildren(...cards.map((card) => card.root));
  } else {
    const isElsewhere = applied.mode !== state.mode || applied.view !== state.view; // by the address
    cards.forEach((card, index) => update(card, answer.items[index], isElsewhere));
  }
  applied = { mode: state.mode, view: state.view };
  for (const card of cards) card.root.querySelector(".id").href = `#${new URLSearchParams({ ...query, page: "", id: card.item.id })}`;
  const widths = cards.map((card) => card.content.image?.width || Object.values(card.content.views || {})[0]?.whole?.width || 0);
  place(grid, { w: isChoice ? 340 : Math.max(300, ...widths) });
  const isOne = Boolean(query.id);
  find("#items").classList.toggle("one", isOne);
  find("#waits").hidden = !answer.waits || Boolean(answer.progress?.problem);
  showProgress(answer);
  find("#count").value = !facts.isRead ? "the rest is being read" : answer.waits ? "" : answer.total === facts.total ? counted(answer.total, unit) : `${number.format(answer.total)} of ${counted(facts.total, unit)}`;
  find("#nothing").hidden = answer.items.length > 0 || answer.waits || !find("#problem").hidden;
  showSteps(isOne);
  const asksFor = cards[0]?.content.question;
  if (asksFor) {
    find("#asked").hidden = false;
    find("#asked .question").textContent = asksFor;
  }
  press(bar, state);
  hideTip();
  grid.setAttribute("aria-busy", "false");
}

// An item that was asked for again; what has the focus in its outputs keeps it.
function update(card, item, isElsewhere) {
  const isSame = JSON.stringify(card.item.results) === JSON.stringify(item.results) && !answer.progress;
  card.item = item;
  if (isSame && !isElsewhere) return;
  const outputs = () => [...card.root.querySelectorAll(".output")];
  const focused = outputs().indexOf(document.activeElement);
  if (isElsewhere) Object.assign(card, { mode: state.mode, view: state.view, alone: state.alone });
  render(card);
  outputs()[focused]?.focus({ preventScroll: true });
}

// ---- outputs that are scored while the page is shown

let timer;

function showProgress({ progress, views, isRead }) {
  clearTimeout(timer);
  if (!facts.isRead && isRead) return location.reload(); // to have all modes, languages and models
  if (!facts.isRead) timer = setTimeout(follow, again);
  find("#scoring").hidden = !progress;
  if (facts.served && JSON.stringify(views ?? facts.views) !== JSON.stringify(facts.views)) {
    facts.views = views;
    fillViews();
    onAddress();
  }
  if (!progress) return undefined;
  const share = Math.min(progress.scored / progress.expected, 1);
  find("#scoring progress").hidden = Boolean(progress.problem);
  find("#scoring progress").value = share;
  find("#scoring span").textContent = progress.problem
    ? `The outputs cannot be scored: ${progress.problem}`
    : `${number.format(progress.scored)} of about ${number.format(progress.expected)} outputs are scored`;
  find("#scoring span").className = progress.problem ? "warning" : "";
  if (!progress.problem) timer = setTimeout(follow, again);
  return undefined;
}

// Items are asked for again while an output of theirs may come, and when all are there.
async function follow() {
  const ask = asked;
  const scoring = await askServer("scoring.json").catch(() => undefined);
  if (ask !== asked || !scoring) return;
  const ends = facts.isRead && (!scoring.progress || scoring.progress.problem);
  if (ends || cards.some(isPending)) show();
  else showProgress(scoring);
}

function showSteps(isOne) {
  find("#neighbours").hidden = !isOne;
  find('[data-step="previous"]').disabled = !answer.previous;
  find('[data-step="next"]').disabled = !answer.next;
  find("#position").textContent = isOne && answer.items.length ? `${number.format(answer.start + 1)} of ${number.format(answer.total)}` : "";
  const pages = document.getElementById("pages");
  const end = answer.start + answer.items.length;
  pages.hidden = isOne || answer.total <= facts.pageItems;
  pages.querySelector("span").textContent = `${number.format(answer.start + 1)}–${number.format(end)} of ${number.format(answer.total)}`;
  find('[data-page="-1"]').disabled = !query.page;
  find('[data-page="1"]').disabled = end >= answer.total;
}

// ---- what can be done

function change(card, name, value) {
  const target = card || state;
  target[name] = value === undefined ? !target[name] : value;
  if (name === "alone") target.view = counterpart(target.view, target.alone);
  for (const each of card ? [card] : cards) {
    if (name === "mode" && !each.modes.includes(value)) continue; // it goes on showing what it has
    each[name] = target[name];
    if (name === "alone") each.view = target.view;
    render(each);
  }
  // A span of the mode that is hidden now may have the focus; lost, it would take the keys from this card to all.
  if (card && document.activeElement.closest(".layer[hidden]")) card.root.querySelector('[aria-pressed="true"]').focus();
  document.documentElement.classList.toggle("zoomed", state.zoom);
  press(bar, state);
  hideTip();
  if (card) return;
  applied = { mode: state.mode, view: state.view };
  if (name === "mode") go({ mode: state.mode });
  if (name === "alone" && state.view) go({ view: state.view });
}

// The view of outputs that goes with a picture: VI+TEI with it, TEI or the strip without it.
function counterpart(view, alone) {
  const views = facts.views.map(([value]) => value);
  const wanted = alone ? ["tei", "strip"] : ["stacked"];
  return wanted.includes(view) ? view : wanted.find((name) => views.includes(name)) || view;
}

function step(by) {
  if (query.id) {
    const id = by > 0 ? answer.next : answer.previous;
    if (id) go({ id }, true);
    return;
  }
  const current = cards.indexOf(cardOf.get(document.activeElement.closest(".card")));
  const next = current < 0 && by < 0 ? -1 : current + by;
  if (cards[next]) {
    cards[next].root.focus({ preventScroll: true });
    cards[next].root.scrollIntoView({ block: "center" });
  } else turn(by);
}

function turn(by) {
  const page = (query.page || 0) + by;
  if (page < 0 || page * facts.pageItems >= answer.total || query.id) return;
  go({ page }, true);
  find("#items").focus({ preventScroll: true });
  find("#items").scrollIntoView();
}

function showTip(button) {
  const card = cardOf.get(button.closest(".card"));
  if (button.span.ink === undefined) return;
  const lines = describe(button.span, card.answers);
  tip.replaceChildren(...lines.map((text, index) => make(index ? "span" : "strong", text)));
  tip.firstElementChild.dir = "auto";
  tip.classList.toggle("secret", !card.answers);
  tip.hidden = false;
  // Beside the strip and not over it: what is left of the letters is what one wants to look at.
  const strip = button.parentElement.getBoundingClientRect();
  const left = Math.min(button.getBoundingClientRect().left, innerWidth - tip.offsetWidth - 8);
  const below = strip.bottom + 8;
  const top = below + tip.offsetHeight < innerHeight ? below : strip.top - tip.offsetHeight - 8;
  place(tip, { left: `${Math.max(8, left)}px`, top: `${Math.max(8, top)}px` });
}

function hideTip() {
  tip.hidden = true;
}

function togglePanel() {
  panel.hidden = !panel.hidden;
  document.getElementById("more").setAttribute("aria-expanded", !panel.hidden);
  if (!panel.hidden) panel.querySelector("label:not([hidden]) select").focus();
}

function onKey(event) {
  if (event.key === "Escape") {
    if (panel.contains(event.target)) {
      togglePanel();
      document.getElementById("more").focus();
    }
    return hideTip();
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select")) return undefined;
  const card = cardOf.get(event.target.closest(".card"));
  const actions = {
    e: () => bar.querySelector("[data-mode=easy]:enabled") && change(card, "mode", "easy"),
    h: () => bar.querySelector("[data-mode=hard]:enabled") && change(card, "mode", "hard"),
    t: () => !isChoice && change(card, "alone"),
    a: () => change(card, "answers"),
    z: () => change(undefined, "zoom"),
    j: () => step(1),
    k: () => step(-1),
    f: () => { event.preventDefault(); togglePanel(); },
    "/": () => { event.preventDefault(); search.focus(); },
  };
  const action = actions[event.key.toLowerCase()];
  return action && action();
}

function clearFilters() {
  panel.reset();
  search.value = "";
  const { mode, view } = query;
  query = {};
  go({ mode, view });
}

function onClick(event) {
  const button = event.target.closest("button");
  if (!button) return;
  const card = cardOf.get(button.closest(".card"));
  if (button.dataset.mode) change(card, "mode", button.dataset.mode);
  else if (button.dataset.toggle) change(card, button.dataset.toggle);
  else if (button.dataset.step === "all") go({ id: undefined });
  else if (button.dataset.step) step(button.dataset.step === "next" ? 1 : -1);
  else if (button.dataset.page) turn(Number(button.dataset.page));
  else if (button.id === "more") togglePanel();
  else if (button.type === "reset" || button.id === "clear") {
    event.preventDefault();
    clearFilters();
    search.focus();
  }
}

function onFilter(event) {
  const { name, value } = event.target;
  if (!name) return;
  const text = value.trim().replace(",", ".");
  const isNumber = numeric.includes(name);
  const odd = isNumber && text !== "" && !Number.isFinite(Number(text));
  event.target.setAttribute("aria-invalid", odd);
  if (!odd) go({ [name]: text === "" ? undefined : isNumber ? Number(text) : value, id: undefined });
}

function onSpan(event) {
  const span = event.target.closest(".span");
  if (span) showTip(span);
}

// A browser scrolls to what gets the focus by keyboard; the tip goes along.
function onScroll() {
  const span = document.activeElement.closest(".span");
  if (span && !tip.hidden) showTip(span);
  else hideTip();
}

function option(value, text) {
  const element = make("option", text);
  element.value = value;
  return element;
}

function fillPanel() {
  const fields = panel.elements;
  const fill = (name, options, least) => {
    fields[name].append(...options.map(([value, text]) => option(value, text)));
    fields[name].parentElement.hidden = options.length < least; // a filter that leaves no choice is not shown
  };
  const runs = facts.runs.map((title, index) => [index, title]);
  fillViews();
  fill("lang", facts.languages.map((code) => [code, code]), 2);
  fill("split", facts.splits.map((name) => [name, name]), 2);
  fill("outcome", facts.outcomes.map(([name, , label]) => [name, name === "near" ? `near (Jaccard from ${facts.near})` : label]), 1);
  fill("run", runs, 2);
  fill("right", runs, 2);
  fill("wrong", runs, 1);
  document.getElementById("of-bits").hidden = !facts.hasBits;
  fill("sort", [
    ["order", "order of the dataset"], ["id", "id"], ["length", "characters"],
    ...(facts.languages.length > 1 ? [["lang", "language"]] : []),
    ...(facts.splits.length > 1 ? [["split", "split"]] : []),
    ...(facts.hasBits ? [["bits", "bits"]] : []),
    ...(facts.runs.length ? [["score", "score of all models"]] : []),
    ...runs.map(([index, title]) => [`score-${index}`, `score of ${title}`]),
  ], 1);
}

function fillViews() {
  const field = panel.elements.view;
  field.replaceChildren(...facts.views.map(([value, text]) => option(value, text)));
  field.parentElement.hidden = facts.views.length < 2;
}

function fillFields() {
  for (const field of panel.elements) {
    if (field.name) field.value = query[field.name] ?? (field.name === "sort" ? "order" : field.name === "direction" ? "up" : "");
  }
  if (state.view) panel.elements.view.value = state.view;
  if (document.activeElement !== search) search.value = query.search || "";
}

function onAddress() {
  readAddress();
  fillFields();
  show();
}

async function start() {
  addModes(bar, facts.modes, true);
  document.getElementById("named").hidden = !bar.querySelector("[data-mode=easy]");
  document.body.classList.toggle("scored", facts.runs.length > 0);
  bar.querySelector("[data-toggle=answers]").hidden = !facts.answers;
  if (!facts.pictures) bar.querySelector("[data-toggle=alone]")?.remove();
  fillPanel();
  document.addEventListener("click", onClick);
  document.addEventListener("keydown", onKey);
  for (const type of ["pointerover", "focusin"]) document.addEventListener(type, onSpan);
  for (const type of ["pointerout", "focusout"]) document.addEventListener(type, hideTip);
  document.addEventListener("scroll", onScroll, { passive: true, capture: true });
  window.addEventListener("hashchange", onAddress);
  panel.addEventListener("change", onFilter);
  panel.addEventListener("submit", (event) => event.preventDefault());
  let timer;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    waiting();
    timer = setTimeout(() => go({ search: search.value.trim(), id: undefined }), wait);
  });
  readAddress();
  fillFields();
  await show();
  if (facts.isRead) showAbout(facts.about || (await askServer("about.json")));
}

start();
