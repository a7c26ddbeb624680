"use strict";

// The common part of labelling pages: it keeps labels under a rater's name, goes from item to item, and writes
// the labels as a table. A page of its own kind adds `given`, `present`, `row`, `pressed` and `COLUMNS`, and
// calls `start` at its end.

const sample = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
let labels = {}; // id -> what the rater says of the item, in the page's own form
let at = 0;
let trouble = ""; // what stays wrong, told beside the progress

// -- keeping ------------------------------------------------------------------

const UNKEPT = "This browser does not keep labels: download them before you close the page.";
const rater = () => $("rater").value.trim();
const storageKey = `${sample.kept}/${sample.code}`;

function keep() {
  try {
    localStorage.setItem(`${storageKey}/${rater()}`, JSON.stringify(labels));
    localStorage.setItem(storageKey, rater());
  } catch {
    trouble = UNKEPT;
  }
}

function take() {
  labels = {};
  try {
    labels = JSON.parse(localStorage.getItem(`${storageKey}/${rater()}`) || "{}");
  } catch {
    trouble = "Labels kept earlier could not be read.";
  }
}

function warn(text) {
  $("warning").textContent = text;
  $("progress").textContent = text;
}

// -- showing ------------------------------------------------------------------

const labelled = (item) => given(labels[item.id] || {});

function element(tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}

function progress() {
  const done = sample.items.filter(labelled).length;
  $("progress").textContent = `${done} of ${sample.items.length} labelled. ${trouble}`;
}

function show() {
  const item = sample.items[at];
  const label = labels[item.id] || {};
  present(item, label);
  $("rules").textContent = sample.rules[item.rules];
  $("comment").value = label.comment || "";
  $("place").textContent = `${at + 1} / ${sample.items.length}`;
  $("back").disabled = at === 0;
  $("next").disabled = at === sample.items.length - 1;
  progress();
}

// -- labelling ----------------------------------------------------------------

function set(change) {
  const id = sample.items[at].id;
  labels[id] = { ...labels[id], ...change };
  keep();
  show();
}

function go(to) {
  at = Math.max(0, Math.min(sample.items.length - 1, to));
  show();
}

function nextOpen() {
  for (let step = 1; step <= sample.items.length; step++) {
    const other = (at + step) % sample.items.length;
    if (!labelled(sample.items[other])) return go(other);
  }
  warn("Every item has a label. Download them now.");
}

function begin() {
  if (!rater()) {
    warn("Write your name first: labels are kept under it.");
    $("rater").focus();
    return;
  }
  $("warning").textContent = "";
  take();
  $("start").hidden = true;
  $("work").hidden = false;
  at = 0;
  if (labelled(sample.items[0])) nextOpen();
  show();
}

// -- the file -----------------------------------------------------------------

// Like `guarded` of lab/labels/label_files.py: no cell may become a formula.
function cell(text) {
  const safe = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20']/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}

function labelTable() {
  const done = sample.items.filter(labelled);
  const rows = done.map((item) => [item.id, rater(), ...row(labels[item.id]), labels[item.id].comment || ""]);
  return [["id", "rater", ...COLUMNS, "comment"], ...rows]
    .map((cells) => cells.map(cell).join(",") + "\r\n")
    .join("");
}

function download() {
  if (!rater()) return warn("Write your name first: it goes into the file.");
  const link = document.createElement("a");
  const name = rater().normalize("NFKD").replace(/[^A-Za-z0-9_-]+/g, "-");
  link.href = URL.createObjectURL(new Blob(["\ufeff" + labelTable()], { type: "text/csv" }));
  link.download = `labels-${sample.code}-${name || "rater"}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

// -- wiring -------------------------------------------------------------------

function key(event) {
  if ($("work").hidden || event.target.matches("input:not([type=radio])")) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const scrolls = event.target.id === "known";
  if (event.key === "ArrowLeft" && !scrolls) go(at - 1);
  else if (event.key === "ArrowRight" && !scrolls) go(at + 1);
  else if (!pressed(event.key)) return;
  event.preventDefault();
}

function start() {
  $("begin").addEventListener("click", begin);
  $("back").addEventListener("click", () => go(at - 1));
  $("next").addEventListener("click", () => go(at + 1));
  $("open").addEventListener("click", nextOpen);
  $("download").addEventListener("click", download);
  $("comment").addEventListener("change", (event) => set({ comment: event.target.value }));
  $("rater").addEventListener("change", () => {
    if ($("work").hidden) return;
    if (rater()) begin();
    else warn("Labels need a name to be kept under.");
  });
  document.addEventListener("keydown", key);
  try {
    $("rater").value = localStorage.getItem(storageKey) || "";
  } catch {
    trouble = UNKEPT;
  }
  progress();
}
