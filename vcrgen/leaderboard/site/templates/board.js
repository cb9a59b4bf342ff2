"use strict";
// Without this script a page is complete and sorted by rank. Text is only ever read or set as text.

const compare = new Intl.Collator("en", { numeric: true, sensitivity: "base" }).compare;

// ---- sorting: the heads of columns become buttons

function order(kind, descending) {
  const sign = descending ? -1 : 1;
  const texts = (a, b) => sign * compare(a, b);
  const numbers = (a, b) => sign * (Number(a) - Number(b));
  return kind === "number" ? numbers : texts;
}

function sort(table, head) {
  const before = head.getAttribute("aria-sort");
  const first = head.dataset.first ?? "ascending";
  const other = first === "ascending" ? "descending" : "ascending";
  const direction = before === first ? other : first;
  const by = order(head.dataset.sort, direction === "descending");
  for (const body of table.tBodies) {
    const values = new Map([...body.rows].map((row) => [row, row.cells[head.cellIndex].dataset.v]));
    const missing = (row) => values.get(row) === undefined;
    // Array.sort is stable, so rows that are equal keep the order they had.
    const rows = [...body.rows].sort((a, b) =>
      missing(a) || missing(b) ? missing(a) - missing(b) : by(values.get(a), values.get(b)));
    body.append(...rows);
  }
  for (const each of head.parentElement.cells) each.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", direction);
  pagers.get(table)?.show(0);
}

// ---- pages: of a long table some rows are shown at a time; a row that a filter leaves out has data-out

const pagers = new Map();

function startPages(box) {
  const table = box.querySelector("table");
  const size = Number(box.dataset.page);
  const make = (name, text) => Object.assign(document.createElement(name), { textContent: text });
  const bar = document.createElement("div");
  bar.className = "pages";
  const search = make("input", "");
  search.type = "search";
  search.placeholder = "Search these rows";
  search.setAttribute("aria-label", "Search these rows");
  const before = make("button", "Previous");
  const after = make("button", "Next");
  before.type = after.type = "button";
  const place = make("output", "");
  place.setAttribute("aria-live", "polite");
  if (!document.querySelector(".filters")) bar.append(search);
  bar.append(before, place, after);
  box.querySelector(".all")?.remove();
  box.prepend(bar);
  const rows = () => [...table.tBodies].flatMap((body) => [...body.rows]);
  const texts = new Map(rows().map((row) => [row, row.textContent.toLowerCase()]));
  let first = 0;

  function show(from = first) {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = rows().filter((row) => !("out" in row.dataset) && words.every((word) => texts.get(row).includes(word)));
    first = Math.max(0, Math.min(from, size * Math.floor((found.length - 1) / size)));
    const shown = new Set(found.slice(first, first + size));
    for (const row of rows()) row.hidden = !shown.has(row);
    place.textContent = found.length ? `${first + 1} to ${first + shown.size} of ${found.length}` : "no row";
    before.disabled = first === 0;
    after.disabled = first + size >= found.length;
  }

  before.addEventListener("click", () => show(first - size));
  after.addEventListener("click", () => show(first + size));
  search.addEventListener("input", () => show(0));
  pagers.set(table, { show });
  show();
}

for (const box of document.querySelectorAll(".paged")) {
  if (box.querySelector(".all")) startPages(box);
}

for (const table of document.querySelectorAll("table.sortable")) {
  for (const head of table.querySelectorAll("th[data-sort]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(table, head));
    head.append(button);
  }
}

// ---- columns: a reader may leave some out, and finds them so on the next page

const HIDDEN_COLUMNS = "columns";

function keptColumns(number) {
  try { const kept = localStorage.getItem(HIDDEN_COLUMNS + number); return kept && new Set(JSON.parse(kept)); } catch { return null; }
}

function startColumns(tables, number) {
  const text = (head) => (head.innerText || head.textContent).replace(/[↑↓↕]/g, "").replace(/\s+/g, " ").trim();
  const heads = [...tables[0].tHead.rows[0].cells].filter((head) => !head.matches(".r, .m, .c"));
  if (heads.length < 3) return;
  const narrow = matchMedia("(max-width: 520px)").matches;
  // Where one column of figures has room it is the first, until the reader chooses.
  const rest = heads.slice(heads.findIndex((head) => head.matches(".n")) + 1);
  const out = keptColumns(number) ?? new Set(narrow ? rest.map(text) : []);
  const box = Object.assign(document.createElement("details"), { className: "columns" });
  box.append(Object.assign(document.createElement("summary"), { textContent: "Columns" }));
  const apply = () => {
    for (const table of tables)
      for (const row of table.rows)
        for (const head of heads) row.cells[head.cellIndex].hidden = out.has(head.dataset.name);
  };
  for (const head of heads) {
    head.dataset.name = text(head);
    const label = document.createElement("label");
    const tick = Object.assign(document.createElement("input"), { type: "checkbox", checked: !out.has(head.dataset.name) });
    tick.addEventListener("change", () => {
      if (tick.checked) out.delete(head.dataset.name);
      else out.add(head.dataset.name);
      try { localStorage.setItem(HIDDEN_COLUMNS + number, JSON.stringify([...out])); } catch { /* it holds for this page */ }
      apply();
    });
    label.append(tick, head.dataset.name);
    box.append(label);
  }
  (tables[0].closest(".paged") ?? tables[0].closest(".wide")).before(box);
  apply();
}

for (const [number, selector] of ["table.board", "table.quoted"].entries()) {
  const tables = [...document.querySelectorAll(selector)];
  if (tables.length) startColumns(tables, number);
}

// ---- filters

const filters = document.querySelector(".filters");

function prepare(row, counted) {
  const { access, size, released, received } = row.dataset;
  const text = [...row.querySelectorAll("th, .text")].map((cell) => cell.textContent).join(" ").toLowerCase();
  return { row, counted, text, access, size: size ? Number(size) : NaN, released, received };
}

function test({ search, access, least, most, received, released }) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  // What a row does not say never passes: comparisons with NaN are false, and "" is before every date.
  return (model) =>
    words.every((word) => model.text.includes(word)) &&
    (!access || model.access === access) &&
    (!least || model.size >= Number(least)) &&
    (!most || model.size <= Number(most)) &&
    (!received || model.received >= received) &&
    (!released || model.released >= released);
}

function startFilters() {
  const form = filters.querySelector("form");
  if ("sent" in form.dataset) return; // the service finds, as not all rows stand here
  const count = document.getElementById("count");
  const nothing = document.getElementById("nothing");
  const tables = [...document.querySelectorAll("table.sortable")];
  const counts = tables.some((table) => "counted" in table.dataset);
  const models = tables.flatMap((table) =>
    [...table.tBodies].flatMap((body) => [...body.rows].map((row) => prepare(row, !counts || "counted" in table.dataset))));
  const counted = models.filter((model) => model.counted);
  const word = counts ? "model" : "row";

  function apply() {
    const field = (name) => form.elements[name]?.value ?? "";
    const names = ["search", "access", "least", "most", "received", "released"];
    const passes = test(Object.fromEntries(names.map((name) => [name, field(name)])));
    for (const model of models) {
      const out = !passes(model);
      model.row.hidden = out;
      if (out) model.row.dataset.out = "";
      else delete model.row.dataset.out;
    }
    for (const pager of pagers.values()) pager.show(0);
    const shown = counted.filter((model) => !("out" in model.row.dataset)).length;
    count.textContent = `${shown} of ${counted.length} ${word}${counted.length === 1 ? "" : "s"}`;
    nothing.hidden = models.some((model) => !("out" in model.row.dataset));
  }

  for (const kind of ["input", "change"]) form.addEventListener(kind, apply);
  form.addEventListener("reset", () => setTimeout(apply));
  form.addEventListener("submit", (event) => event.preventDefault());
  filters.hidden = false;
  apply();
}

if (filters) startFilters();

// ---- a file that waits to be scored: the page is asked for anew

const waiting = document.querySelector("[data-again]");
if (waiting) setTimeout(() => location.reload(), 1000 * waiting.dataset.again);
