// Questions with options: a group of radio buttons stands for the field of a step, and writes the letter of the
// option into it. Keeping and sending what was chosen is the same as for texts.
"use strict";
(() => {
  const holder = document.getElementById("data");
  if (!holder) return;
  const { questions, cannot, lang, dir } = JSON.parse(holder.textContent);
  const LETTERS = "ABCDEFGHIJ";
  const fields = document.getElementById("fields");
  const radios = () => [...fields.querySelectorAll("[type=radio]")];

  const line = (letter, text, chosen, choose) => {
    const label = document.createElement("label");
    label.className = "option";
    const radio = document.createElement("input");
    radio.type = "radio";
    radio.name = "option";
    radio.value = letter;
    radio.checked = chosen;
    radio.addEventListener("change", () => choose(letter));
    const words = document.createElement("span");
    const own = document.createElement("bdi"); // whatever the direction of its text, it stands behind its letter
    own.textContent = text;
    words.append(letter && `${letter}. `, own);
    label.append(radio, words);
    return label;
  };
  const draw = () => {
    const asked = questions[document.getElementById("progress").value];
    const row = fields.firstElementChild;
    document.getElementById("text-only").hidden = !asked || !document.getElementById("shown").hidden;
    if (!asked || !row || row.classList.contains("chosen")) return;
    const text = row.querySelector(".text");
    const box = row.querySelector("[type=checkbox]");
    const choose = (letter) => {
      text.value = letter;
      box.checked = !letter;
      text.dispatchEvent(new Event("input"));
    };
    const group = document.createElement("fieldset");
    const legend = document.createElement("legend");
    legend.textContent = asked.text;
    legend.lang = group.lang = lang;
    group.dir = dir;
    group.setAttribute("aria-describedby", "fill");
    const last = line("", cannot, box.checked, choose);
    last.lang = document.documentElement.lang;
    group.append(legend, ...asked.options.map((option, number) => line(LETTERS[number], option, text.value === LETTERS[number], choose)), last);
    group.disabled = text.readOnly;
    row.append(group);
    row.classList.add("chosen");
  };
  const lock = () => {
    const group = fields.querySelector("fieldset");
    if (group) group.disabled = fields.querySelector(".text").readOnly; // after its answer was shown
  };
  new MutationObserver(() => {
    draw();
    lock();
  }).observe(fields, { childList: true, subtree: true, attributes: true, attributeFilter: ["readonly"] });

  document.getElementById("step").addEventListener("keydown", (event) => {
    const radio = radios().slice(0, -1)["1234567890".indexOf(event.key)]; // the last one is no option
    if (!radio || event.ctrlKey || event.altKey || event.metaKey || event.isComposing || radio.matches(":disabled")) return;
    event.preventDefault();
    radio.focus();
    radio.click();
  });
  // A question without an answer: the keyboard goes to its options.
  document.getElementById("form").addEventListener("submit", () => {
    if (!document.getElementById("fill").hidden) radios()[0]?.focus();
  });
})();
