"use strict";
// Everything from a dataset is set as text (textContent, append) or as a data: URI of a checked kind. The page's policy
// forbids anything else: no innerHTML (trusted types), no handler in markup, no network.

const data = JSON.parse(document.getElementById("data").textContent);
const bar = document.querySelector(".bar");
const tip = document.getElementById("tip");
const search = document.getElementById("search");
const language = document.getElementById("language");
const modes = document.getElementById("modes");
const nothing = document.getElementById("nothing");
const number = new Intl.NumberFormat("en");
const named = ["easy", "hard"]; // every other mode is a level, whose name says the ink or the bits that covers leave
const page = { mode: "hard", alone: false, answers: false, zoom: false };
const cards = [];
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
  element.src = `data:image/${image.kind};base64,${image.data}`;
  return element;
}

const rounded = (value, digits) => value.toFixed(digits);
const percent = (share) => `${Math.round(100 * share)} %`;

// ---- modes

// Both named modes, also where only one of them is there, and the levels; a ladder has levels only.
function offered(views) {
  const levels = Object.keys(views).filter((mode) => !named.includes(mode)).sort();
  return [...(levels.length === Object.keys(views).length && levels.length ? [] : named), ...levels];
}

function levelName(mode) {
  if (mode.startsWith("bits-")) return `${mode.slice(5)} bits`;
  return named.includes(mode) ? mode[0].toUpperCase() + mode.slice(1) : percent(mode.replace("ink-", ""));
}

function addModes(root, views, keys) {
  for (const mode of offered(views)) {
    const isNamed = named.includes(mode);
    const button = make("button", levelName(mode));
    button.type = "button";
    button.dataset.mode = mode;
    if (isNamed && keys) button.append(" ", make("kbd", mode[0].toUpperCase()));
    if (mode.startsWith("ink-")) button.title = "Share of the ink that the covers aim to leave";
    if (mode.startsWith("bits-")) button.title = "Bits that the visible pixels of every span leave at least";
    root.querySelector(".choice").append(button);
  }
}

// ---- datasets

function mean(rows, value, weight) {
  const total = rows.reduce((sum, row) => sum + row[weight], 0);
  return total ? rows.reduce((sum, row) => sum + row[value].mean * row[weight], 0) / total : 0;
}

function figures(dataset) {
  const found = [["pairs", number.format(dataset.total)]];
  const first = dataset.statistics.filter((row) => row.mode === dataset.statistics[0].mode);
  if (!first.length) return found;
  found.push(["spans", number.format(first.reduce((sum, row) => sum + row.spans, 0))]);
  found.push(["spans per pair", rounded(mean(first, "spans_per_image", "rows"), 2)]);
  found.push(["px high, mean", rounded(mean(first, "height", "rows"), 0)]);
  for (const mode of new Set(dataset.statistics.map((row) => row.mode))) {
    const rows = dataset.statistics.filter((row) => row.mode === mode);
    if (rows.length === 1 && rows[0].pixel_bits) found.push([`bits, median, ${mode}`, rounded(rows[0].pixel_bits.median, 1)]);
    if (rows.every((row) => row.visible_ink)) found.push([`ink visible, ${mode}`, percent(mean(rows, "visible_ink", "spans"))]);
  }
  return found;
}

const pairs = (count) => `${number.format(count)} ${count === 1 ? "pair" : "pairs"}`;

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

function about(dataset) {
  const shown = dataset.pairs.length;
  const part = shown + dataset.leftOut < dataset.total ? `${pairs(shown)}, evenly spread` : "all pairs";
  const left = dataset.leftOut
    ? ` ${dataset.leftOut} left out: images that are not PNG, WebP or JPEG, or that do not fit their geometry.` : "";
  const origin = dataset.source !== null ? `Built from: ${dataset.source}.` : "Not built by vcrgen: the covers are not known.";
  return `${origin} Shown here: ${part}.${left}`;
}

function rejected(dataset) {
  if (!dataset.rejected.length) return `${pairs(dataset.read)} read, and all built.`;
  const reasons = dataset.rejected.map(([reason, count]) => `${reason.replaceAll("_", " ")} ${number.format(count)}`);
  return `${pairs(dataset.read)} read. Rejected: ${reasons.join(", ")}.`;
}

function addDataset(dataset) {
  const section = clone("dataset");
  const find = (selector) => section.querySelector(selector);
  find("h2").textContent = dataset.name;
  find(".about").textContent = about(dataset);
  if (dataset.signature) {
    find(".rejected").textContent = rejected(dataset);
    find(".short").textContent = dataset.signature.short;
    for (const [key, value] of dataset.signature.facts) find(".facts").append(make("dt", key), make("dd", value));
  } else find(".short").closest("details").remove();
  for (const [label, value] of figures(dataset)) {
    const group = make("div");
    group.append(make("dt", label), make("dd", value));
    find(".figures").append(group);
  }
  find("tbody").append(...dataset.statistics.map(statisticsRow));
  find(".question").textContent = dataset.pairs.length ? dataset.pairs[0].question : "";
  const grid = place(find(".grid"), { w: Math.max(0, ...dataset.pairs.map((pair) => pair.image.width)) });
  for (const pair of dataset.pairs) grid.append(addCard(pair, section).root);
  document.getElementById("datasets").append(section);
}

// ---- cards

function addCard(pair, section) {
  const root = clone("card");
  const card = { pair, section, root, mode: page.mode, alone: page.alone, answers: page.answers, views: {} };
  const strip = root.querySelector(".strip");
  picture(root.querySelector(".vi"), pair.image);
  for (const [mode, view] of Object.entries(pair.views)) strip.append((card.views[mode] = makeView(view)));
  addModes(root, pair.views, false);
  for (const button of root.querySelectorAll("[data-mode]")) button.disabled = !pair.views[button.dataset.mode];
  root.querySelector(".id").title = `id in the source: ${pair.sourceId}`;
  root.querySelector(".id bdi").textContent = pair.id;
  root.querySelector(".caption").lang = pair.language;
  root.setAttribute("aria-label", `Pair ${pair.id}`);
  const captions = Object.values(pair.views).map((view) => view.caption.map(([text]) => text).join(""));
  card.haystack = [pair.id, pair.sourceId, ...captions].join("\n").toLowerCase();
  card.modes = Object.keys(pair.views).every((mode) => named.includes(mode)) ? Object.keys(pair.views).join(" ") : "levels";
  cards.push(card);
  cardOf.set(root, card);
  render(card);
  return card;
}

// A strip and, over it, a button for every span. The button is as large as all of the span's boxes; only these, its
// children, can be pointed at, so that one span never lies over another.
function makeView(view) {
  const layer = make("div", undefined, "layer");
  const image = picture(make("img"), view.strip);
  image.alt = "Caption with masked spans (TEI)";
  layer.append(image);
  for (const span of view.spans) {
    const button = make("button", undefined, "span");
    button.type = "button";
    const [x, y] = [0, 1].map((axis) => Math.min(...span.boxes.map((box) => box[axis])));
    const [right, bottom] = [2, 3].map((axis) => Math.max(...span.boxes.map((box) => box[axis])));
    if (!span.boxes.length) continue;
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
  return card.pair.views[card.mode] ? card.mode : Object.keys(card.pair.views)[0];
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

function press(root, state) {
  for (const button of root.querySelectorAll("[data-mode]")) button.setAttribute("aria-pressed", button.dataset.mode === state.mode);
  for (const button of root.querySelectorAll("[data-toggle]")) button.setAttribute("aria-pressed", state[button.dataset.toggle]);
}

function render(card) {
  const mode = shownMode(card);
  const view = card.pair.views[mode];
  const { width, height } = card.pair.image;
  const stack = card.root.querySelector(".stack");
  place(stack, { w: width, h: view.y + view.strip.height, vh: height, sh: view.strip.height, y: card.alone ? view.yAlone : view.y });
  const vi = card.root.querySelector(".vi");
  vi.hidden = card.alone;
  if (view.image) picture(vi, view.image);
  for (const [name, layer] of Object.entries(card.views)) layer.hidden = name !== mode;
  for (const button of card.views[mode].querySelectorAll(".span")) {
    button.setAttribute("aria-label", `Masked span: ${describe(button.span, card.answers).join("; ")}`);
  }
  const caption = card.root.querySelector(".caption");
  caption.hidden = !card.answers;
  // Hidden answers are not in the document at all: neither the browser's search nor a screen reader finds them.
  caption.replaceChildren(...(card.answers ? view.caption.map(([text, covered]) => make(covered ? "mark" : "span", text)) : []));
  press(card.root, { ...card, mode });
}

// ---- what can be done

function change(card, name, value) {
  const target = card || page;
  target[name] = value === undefined ? !target[name] : value;
  for (const each of card ? [card] : cards) {
    if (name === "mode" && !each.pair.views[value]) continue; // it goes on showing what it has
    each[name] = target[name];
    render(each);
  }
  // A span of the mode that is hidden now may have the focus; lost, it would take the keys from this card to all.
  if (document.activeElement.closest(".layer[hidden]")) card.root.querySelector('[aria-pressed="true"]').focus();
  document.documentElement.classList.toggle("zoomed", page.zoom);
  press(bar, page);
  hideTip();
}

function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const card of cards) {
    card.root.hidden =
      (language.value && card.pair.language !== language.value) ||
      (modes.value && card.modes !== modes.value) ||
      !words.every((word) => card.haystack.includes(word));
  }
  const shown = cards.filter((card) => !card.root.hidden);
  const sections = new Set(shown.map((card) => card.section));
  const filtered = shown.length < cards.length;
  for (const section of document.querySelectorAll(".dataset")) section.hidden = filtered && !sections.has(section);
  document.getElementById("count").value = `${number.format(shown.length)} of ${pairs(cards.length)}`;
  nothing.hidden = shown.length > 0 || !cards.length;
  hideTip();
}

function showTip(button) {
  const card = cardOf.get(button.closest(".card"));
  [...tip.children].forEach((line, index) => { line.textContent = describe(button.span, card.answers)[index]; });
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

function onKey(event) {
  if (event.key === "Escape") return hideTip();
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select")) return undefined;
  const card = cardOf.get(event.target.closest(".card"));
  const actions = {
    e: () => bar.querySelector("[data-mode=easy]") && change(card, "mode", "easy"),
    h: () => bar.querySelector("[data-mode=hard]") && change(card, "mode", "hard"),
    t: () => change(card, "alone"),
    a: () => change(card, "answers"),
    z: () => change(undefined, "zoom"),
    "/": () => { event.preventDefault(); search.focus(); },
  };
  const action = actions[event.key.toLowerCase()];
  return action && action();
}

function onClick(event) {
  const button = event.target.closest("button");
  if (!button) return;
  const card = cardOf.get(button.closest(".card"));
  if (button.dataset.mode) change(card, "mode", button.dataset.mode);
  else if (button.dataset.toggle) change(card, button.dataset.toggle);
  else if (button.id === "clear") {
    search.value = language.value = modes.value = "";
    filter();
    search.focus();
  }
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

function start() {
  const found = data.flatMap((dataset) => dataset.pairs);
  const views = Object.assign({}, ...found.map((pair) => pair.views));
  const modesThere = offered(views).filter((mode) => views[mode]);
  // Of a ladder the level in the middle: the lowest ones show next to nothing.
  page.mode = ["hard", "easy"].find((mode) => views[mode]) || modesThere[modesThere.length >> 1] || "easy";
  addModes(bar, views, true);
  document.getElementById("named").hidden = !bar.querySelector("[data-mode=easy]");
  data.forEach(addDataset);
  document.title = ["VCR", ...data.map((dataset) => dataset.name)].join(" · ");
  const languages = [...new Set(found.map((pair) => pair.language))].sort();
  for (const code of languages) {
    const option = make("option", code);
    option.value = code;
    language.append(option);
  }
  // A filter that leaves no choice is not shown.
  language.parentElement.hidden = languages.length < 2;
  modes.parentElement.hidden = new Set(cards.map((card) => card.modes)).size < 2;
  press(bar, page);
  filter();
  document.addEventListener("click", onClick);
  document.addEventListener("keydown", onKey);
  for (const type of ["pointerover", "focusin"]) document.addEventListener(type, onSpan);
  for (const type of ["pointerout", "focusout"]) document.addEventListener(type, hideTip);
  document.addEventListener("scroll", onScroll, { passive: true, capture: true });
  search.addEventListener("input", filter);
  for (const select of [language, modes]) select.addEventListener("change", filter);
}

start();
