// The page of a rater: one step at a time. What is typed is kept in the browser at once, and sent a moment later. It is
// taken out of the browser when the service says that it is on the disk; so nothing is lost offline, or in a reload.
"use strict";
(() => {
  const holder = document.getElementById("data");
  if (!holder) return;
  const data = JSON.parse(holder.textContent);
  const tab = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const id = (name) => document.getElementById(name);
  const SOON = 400; // milliseconds without a key before what was typed is sent
  const HALF = /\p{Surrogate}/gu; // half a character: no text can be stored with it
  const LONGEST_PAUSE = 30000; // milliseconds between two tries while there is no connection

  // What the browser keeps: for each step what was typed and has not arrived yet.
  let kept = {};
  const keep = () => {
    try {
      localStorage.setItem(data.key, JSON.stringify(kept));
    } catch { /* no room, or not allowed: then it is in memory only */ }
  };
  const restore = () => {
    try {
      kept = JSON.parse(localStorage.getItem(data.key)) ?? {};
    } catch {
      kept = {};
    }
  };

  // Asking the service. A problem of the connection is null, so that everything is tried again later.
  const ask = async (path, body) => {
    const options = body ? { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ tab, ...body }) } : {};
    let answer;
    try {
      answer = await fetch(`${data.api}/${path}`, { cache: "no-store", ...options });
    } catch {
      return null;
    }
    if (answer.ok) {
      try {
        return await answer.json();
      } catch {
        return null;
      }
    }
    if (answer.status === 409) over("elsewhere");
    else if (answer.status === 404 && (!last || last === path)) over("gone");
    else if (answer.status === 400) return { refused: await reason(answer) };
    return null;
  };
  const reason = async (answer) => {
    try {
      return (await answer.json()).error;
    } catch {
      return "400";
    }
  };
  // The request after which the link is void: whatever else is under way may be told so before its own answer comes.
  let last = "";
  const askLast = async (path) => {
    last = path;
    const told = await ask(path, {});
    last = "";
    return told;
  };

  // Showing one section at a time, with the keyboard on its head.
  let ended = false;
  const show = (name) => {
    for (const section of document.querySelectorAll("main > section")) section.hidden = section.id !== name;
    const head = id(name).querySelector("h2");
    window.scrollTo(0, 0);
    if (name === "consent" && data.example) showExample(); // which has no size while it is hidden
    if (head) head.focus({ preventScroll: true });
  };
  const over = (name) => {
    if (ended) return;
    ended = true;
    say("");
    show(name);
  };
  const say = (text) => {
    if (id("status").textContent !== text) id("status").textContent = text;
  };

  // Sending what is kept, one step after another, as often as it takes.
  const refused = {}; // for each step the revision that the service cannot save, and its reason
  const isRefused = (number) => Boolean(kept[number]) && refused[number]?.revision === kept[number].revision;
  const waiting = () => Object.keys(kept).filter((number) => !isRefused(number));
  const tellRefused = () => {
    id("refused").hidden = !isRefused(now);
    id("reason").textContent = isRefused(now) ? refused[now].reason : "";
  };
  let sending = false;
  let timer = 0;
  let pause = 1000;
  const later = (wait) => {
    clearTimeout(timer);
    timer = setTimeout(flush, wait);
  };
  const flush = async () => {
    if (sending || ended) return;
    sending = true;
    let fine = true;
    for (const number of waiting()) {
      const sent = kept[number];
      say(data.texts.saving);
      const told = await ask(`step/${number}`, sent);
      if (!told) {
        fine = false;
        break;
      }
      if (told.refused) refused[number] = { revision: sent.revision, reason: told.refused };
      else if (told.revision >= (kept[number]?.revision ?? 0)) delete kept[number];
      if (told.saved && !steps[number]) delivered[number] = told;
      else if (told.saved) {
        steps[number] = { ...steps[number], ...told };
        if (Number(number) === now) feedback();
      }
      keep();
    }
    sending = false;
    if (ended) return;
    if (!fine) {
      say(data.texts.offline);
      later(pause);
      pause = Math.min(2 * pause, LONGEST_PAUSE);
      return;
    }
    pause = 1000;
    tellRefused();
    if (waiting().length) later(0);
    else if (Object.keys(kept).length) say(data.texts.unsaved);
    else say(data.texts.saved);
  };
  const arrived = async () => {
    clearTimeout(timer);
    while (sending) await new Promise((go) => setTimeout(go, 50));
    await flush();
    return !Object.keys(kept).length;
  };

  // The steps
  const steps = {};
  const delivered = {}; // what the service answered about a step that had not been loaded yet
  let done = [];
  let training = 0;
  let now = -1;
  let since = 0; // when the step came to the front, or 0
  const load = async (number) => {
    if (number < 0 || number >= done.length) return null;
    if (steps[number]) return steps[number];
    const step = await ask(`step/${number}`);
    // While the service was asked, the same step may have been loaded, or newer texts may have been sent and saved.
    if (step) steps[number] ??= delivered[number]?.revision > step.revision ? { ...step, ...delivered[number] } : step;
    return steps[number] ?? null;
  };
  const state = (number) => {
    const step = steps[number];
    const mine = kept[number];
    return mine && mine.revision > step.revision ? { ...step, ...mine } : step;
  };
  const seconds = () => (since ? (performance.now() - since) / 1000 : 0);
  const note = (changes) => {
    const before = state(now);
    const spent = Math.min(before.seconds + seconds(), 86400);
    if (since) since = performance.now();
    const { texts, unread } = typed();
    kept[now] = { texts, unread, seconds: spent, done: before.done, revision: before.revision + 1, ...changes };
    keep();
  };
  const locked = () => steps[now].training && steps[now].answers;
  const rows = () => [...id("fields").children].map((row) => ({ text: row.querySelector(".text"), box: row.querySelector("[type=checkbox]") }));
  const typed = () => ({ texts: rows().map((row) => row.text.value), unread: rows().map((row) => row.box.checked) });

  const draw = () => {
    const step = state(now);
    const items = done.length;
    id("where").textContent = `${data.texts.step} ${now + 1} ${data.texts.of} ${items}`;
    id("progress").max = items;
    id("progress").value = now;
    id("training").hidden = !step.training;
    id("check").hidden = !step.check;
    id("shown").hidden = !step.picture;
    if (step.picture) id("picture").src = step.picture;
    else id("picture").removeAttribute("src");
    mark(-1);
    id("fill").hidden = true;
    id("back").hidden = now === 0;
    id("fields").replaceChildren();
    for (let number = 0; number < step.fields; number += 1) {
      const row = id("field").content.cloneNode(true).firstElementChild;
      const [label, cannot] = row.querySelectorAll("label");
      const [text, box] = [row.querySelector(".text"), row.querySelector("[type=checkbox]")];
      const name = step.check ? data.texts.number : step.fields > 1 ? `${data.texts.field} ${number + 1}` : data.texts.field;
      label.textContent = name;
      label.htmlFor = text.id = `text-${number}`;
      const length = step.lengths[number];
      if (length) row.querySelector(".length").textContent = `${length} ${data.units[length > 1 ? 1 : 0]}`;
      row.querySelector(".length").id = `length-${number}`;
      text.setAttribute("aria-describedby", `length-${number} fill`);
      row.addEventListener("focusin", () => mark(number));
      box.setAttribute("aria-label", `${name}: ${data.texts.cannot}`);
      cannot.hidden = Boolean(step.check);
      text.value = step.texts?.[number] ?? "";
      box.checked = step.unread?.[number] ?? false;
      text.readOnly = box.disabled = Boolean(locked());
      text.addEventListener("input", () => change(row));
      box.addEventListener("change", () => change(row));
      text.addEventListener("keydown", enter);
      id("fields").append(row);
    }
    feedback();
    tellRefused();
  };
  const feedback = () => {
    const key = (steps[now].key ?? []).join(""); // what an audit shows after the rater's own answer
    if (id("fields").dataset.key !== key) id("fields").dataset.key = key;
    const answers = steps[now].training && steps[now].answers;
    id("answers").hidden = !answers;
    id("answers").querySelector("ul").replaceChildren(
      ...(answers || []).map(([answer, right]) => {
        const line = document.createElement("li");
        const shown = document.createElement("bdi"); // an answer that is read from right to left stays by itself
        shown.textContent = answer;
        line.append(shown, ` (${right ? data.texts.right : data.texts.wrong})`);
        return line;
      }),
    );
    for (const { text, box } of rows()) text.readOnly = box.disabled = Boolean(answers);
  };
  const change = (row) => {
    const [text, box] = [row.querySelector(".text"), row.querySelector("[type=checkbox]")];
    if (document.activeElement === text && text.value) box.checked = false;
    note({});
    tellRefused();
    say(data.texts.saving);
    later(SOON);
  };
  const enter = (event) => {
    // Enter ends a composition of an input method; it must not end the step, too.
    if (event.key !== "Enter" || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    const fields = rows().map((row) => row.text);
    const next = fields[fields.indexOf(event.target) + 1];
    if (next) next.focus();
    else id("form").requestSubmit();
  };
  const go = async (number) => {
    if (ended) return;
    if (number >= done.length) {
      since = 0;
      show("end");
      return offer(false);
    }
    let step = await load(number);
    while (!step && !ended) {
      say(data.texts.offline);
      await new Promise((wake) => setTimeout(wake, 1000));
      step = await load(number);
    }
    if (ended) return;
    now = number;
    draw();
    show("step");
    scale();
    since = document.hidden ? 0 : performance.now();
    if (!Object.keys(kept).length && id("status").textContent === data.texts.offline) say("");
    load(number + 1); // so that it is here if the connection goes away
  };
  // What others left, when everything of one's own has arrived.
  const offer = async (take) => {
    const told = (await arrived()) ? await ask("more", { take }) : null;
    if (told?.waiting) return location.reload(); // the page knows the questions of its steps
    id("offer").hidden = ended || !told?.count;
    if (told) id("count").textContent = told.count;
  };
  const next = async () => {
    if (locked()) return go(now + 1);
    const empty = rows().find((row, number) => !row.text.value.trim() && !row.box.checked && number !== data.optional);
    id("fill").hidden = !empty;
    if (empty) return empty.text.focus();
    note({ done: true });
    const first = !done[now];
    done[now] = true;
    if (steps[now].training) {
      if (await arrived()) {
        feedback();
        id("next").focus();
      }
      return undefined;
    }
    later(0);
    const items = now + 1 - training;
    if (first && items % data.pause === 0 && now + 1 < done.length) {
      since = 0;
      return show("pause");
    }
    return go(now + 1);
  };

  // The picture: each of its pixels is a whole number of pixels of the screen, as thin rows of letters vanish otherwise.
  const WIDE = 1240; // pixels of a window that has room for the picture beside the fields
  let size = 0; // 0: as fits
  const scale = () => {
    const picture = id("picture");
    const ratio = window.devicePixelRatio || 1;
    const width = (times) => (picture.naturalWidth * Math.max(Math.round(times * ratio), 1)) / ratio;
    if (!picture.naturalWidth) return;
    const viewer = picture.closest(".viewer");
    // Beside the fields where both fit; then the picture scrolls by itself, and stands at the covered lines.
    const beside = innerWidth >= WIDE && width(2) <= WIDE / 2;
    id("step").classList.toggle("beside", beside);
    const below = id("sizes").offsetHeight + 24;
    viewer.style.maxHeight = beside ? `${Math.max(innerHeight - viewer.offsetTop - below, 200)}px` : "";
    const room = viewer.clientWidth;
    const tall = (times) => times > 2 && (width(times) / picture.naturalWidth) * picture.naturalHeight > 0.75 * innerHeight;
    const fitting = [3, 2, 1].find((times) => times * ratio >= 2 && width(times) <= room && !tall(times)) ?? 2;
    const times = size || fitting;
    picture.style.width = `${width(times)}px`;
    if (beside) viewer.scrollTop = viewer.scrollHeight; // the covered lines are the last ones
    id("sizes").querySelector(`[value="${times}"]`).checked = true;
    mark(marked);
  };

  const thank = (told) => {
    id("paid").hidden = !told.code;
    id("review").hidden = !told.review;
    id("code").textContent = told.code;
    if (told.url) id("return").href = told.url;
    try {
      localStorage.removeItem(data.key);
    } catch { /* as above */ }
    over("thanks");
  };
  // Frames around the covered parts: of the field that has the keyboard, or of all with their numbers in the example.
  const frame = (picture, boxes, name) => {
    const times = picture.getBoundingClientRect().width / picture.naturalWidth;
    if (!times) return;
    for (const [left, top, right, bottom] of boxes) {
      const box = document.createElement("span");
      box.className = "frame";
      const at = { left, top, width: right - left, height: bottom - top };
      for (const side of Object.keys(at)) box.style[side] = `${at[side] * times}px`;
      if (name) box.append(Object.assign(document.createElement("b"), { textContent: name }));
      picture.parentElement.append(box);
    }
  };
  const clear = (picture) => picture.parentElement.querySelectorAll(".frame").forEach((box) => box.remove());
  let marked = -1;
  const mark = (number) => {
    marked = number;
    clear(id("picture"));
    frame(id("picture"), steps[now]?.frames?.[number] ?? [], "");
    id("shown").querySelector(".beside .frame")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  const showExample = () => {
    const picture = id("example");
    if (!picture.naturalWidth) return;
    clear(picture);
    const ratio = window.devicePixelRatio || 1;
    const times = picture.naturalWidth * 2 <= picture.closest(".viewer").clientWidth ? 2 : 1;
    picture.style.width = `${(picture.naturalWidth * Math.max(Math.round(times * ratio), 1)) / ratio}px`;
    data.example.frames.forEach((boxes, number) => frame(picture, boxes.slice(0, 1), String(number + 1)));
    data.example.frames.forEach((boxes) => frame(picture, boxes.slice(1), ""));
  };
  // The browser's Back goes one step back, and never out of the study: one entry of the history lies below the page.
  const guard = () => history.state?.guarded || history.pushState({ guarded: true }, "");
  window.addEventListener("popstate", () => {
    if (ended || now < 0) return history.back();
    history.pushState({ guarded: true }, "");
    if (!id("step").hidden) return now > 0 ? go(now - 1) : undefined;
    return go(id("end").hidden ? now : done.length - 1);
  });

  const start = async () => {
    if (data.example) {
      id("example").addEventListener("load", showExample);
      window.addEventListener("resize", showExample);
      id("example").src = data.example.picture;
    }
    if (data.visitor) return show("consent"); // who has no place before agreeing
    restore();
    let told = await ask("open", {});
    while (!told && !ended) {
      say(data.texts.offline);
      await new Promise((wake) => setTimeout(wake, 1000));
      told = await ask("open", {});
    }
    if (ended) return;
    say("");
    if (told.sent) return thank(told.sent);
    ({ done, training } = told);
    if (!told.begun) return show("consent");
    for (const number of Object.keys(kept)) if (kept[number].done) done[number] = true;
    later(0);
    guard();
    const first = done.indexOf(false);
    return go(first < 0 ? done.length : first);
  };

  id("begin").addEventListener("submit", async (event) => {
    event.preventDefault();
    const languages = id("languages").value.trim();
    id("needs").hidden = Boolean(languages && id("agree").checked);
    if (!id("needs").hidden) return (languages ? id("agree") : id("languages")).focus();
    const sent = { version: data.version, languages: languages.replace(HALF, "") };
    const told = data.visitor ? await ask("claim", { ...sent, visitor: data.visitor }) : await ask("begin", sent);
    if (told?.refused) return location.reload();
    if (!told) return ended ? undefined : say(data.texts.offline);
    say("");
    if (told.page) return location.replace(told.page);
    if (told.over) return over(told.over);
    if (told.unfit) {
      id("wanted").textContent = told.unfit.join(", ");
      return over("unfit");
    }
    guard();
    return go(Math.max(done.indexOf(false), 0));
  });
  id("form").addEventListener("submit", (event) => {
    event.preventDefault();
    next();
  });
  id("back").addEventListener("click", () => go(now - 1));
  id("change").addEventListener("click", () => go(done.length - 1));
  id("resume").addEventListener("click", () => go(now + 1));
  id("take").addEventListener("click", () => location.reload());
  id("send").addEventListener("click", async () => {
    const missing = done.indexOf(false);
    if (missing >= 0) return go(missing);
    const told = (await arrived()) ? await askLast("send") : null;
    if (ended) return undefined;
    const unsaved = Object.keys(kept).find(isRefused);
    if (unsaved !== undefined) return go(Number(unsaved));
    id("unsent").hidden = Boolean(told && !told.refused);
    if (!told || told.refused) return undefined;
    thank(told);
    return told.url ? location.assign(told.url) : undefined;
  });
  id("drop").addEventListener("click", () => { // in favour of what the service has
    delete kept[now];
    keep();
    ended = true; // or the page would note the same once more while it goes
    location.reload();
  });
  id("stop").addEventListener("click", async () => {
    await arrived();
    if (!ended && (await askLast("stop"))) over("left");
  });
  id("more").addEventListener("click", () => offer(true));
  id("sizes").addEventListener("change", (event) => {
    size = Number(event.target.value);
    scale();
  });
  id("picture").addEventListener("load", scale);
  window.addEventListener("resize", scale);
  window.addEventListener("online", () => later(0));
  document.addEventListener("visibilitychange", () => {
    if (id("step").hidden || ended) return;
    if (document.hidden) {
      if (state(now).texts && !locked()) note({});
      else steps[now].seconds += seconds();
      since = 0;
      later(0);
    } else since = performance.now();
  });
  start();
})();
