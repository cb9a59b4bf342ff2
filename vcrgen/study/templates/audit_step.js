// A step of an audit: an item as item.js draws it stands for the three fields of the step, and writes into them the
// letter of the rater's own answer, the verdict and the note. Keeping and sending them is the same as for texts. The key
// is not on the page: the service tells it when the rater's own answer is on its disk.
"use strict";
(() => {
  const holder = document.getElementById("data");
  if (!holder) return;
  const { audit } = JSON.parse(holder.textContent);
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
  const told = (number) => { // the number of an option that the service has told: 0 the key, 1 the trap
    const at = LETTERS.indexOf(fields.dataset.key[number] || "-");
    return at < 0 ? undefined : at;
  };
  const said = () => {
    const own = field(0);
    const answer = own.box.checked ? -1 : own.text.value ? LETTERS.indexOf(own.text.value) : undefined;
    const open = answer !== undefined && told(0) !== undefined;
    return { answer, verdict: field(1).text.value, note: field(2).text.value, open, key: told(0), trap: told(1) };
  };
  const draw = () => {
    if (fields.children.length !== 3) return;
    const now = said();
    const opened = now.open && id("judging").hidden;
    drawItem(audit.items[id("progress").value], now, text, { choose, judge });
    if (opened && document.activeElement === document.body) id("verdicts").firstElementChild.focus();
  };
  const choose = (number) => {
    if (said().answer !== undefined) return;
    write(0, LETTERS[number] ?? "", number < 0);
    draw();
  };
  const judge = (name) => {
    if (!said().open) return;
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
  // What is not said yet: the keyboard goes there.
  id("form").addEventListener("submit", () => {
    if (!id("fill").hidden) id(said().open ? "verdicts" : "choices").querySelector(":enabled")?.focus();
  });
  listenToKeys({
    choose: here(choose), judge: here(judge), go: here(go),
    leave: here(() => id("where").focus({ preventScroll: true })),
    isDone: () => !id("step").hidden && said().verdict !== "",
    own: "#back, .stop, .viewer",
  });
})();
