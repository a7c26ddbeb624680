"use strict";

const sample = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
let labels = {}; // id -> {reasonable: true | false | undefined, reason, comment}
let at = 0;
let trouble = ""; // what stays wrong, told beside the progress

// -- keeping ------------------------------------------------------------------

const rater = () => $("rater").value.trim();
const place = () => `wolflab-annotate/${sample.code}/${rater()}`;

function keep() {
  try {
    localStorage.setItem(place(), JSON.stringify(labels));
    localStorage.setItem(`wolflab-annotate/${sample.code}`, rater());
  } catch {
    trouble = "This browser does not keep labels: download them before you close the page.";
  }
}

function take() {
  labels = {};
  try {
    labels = JSON.parse(localStorage.getItem(place()) || "{}");
  } catch {
    trouble = "Labels kept earlier could not be read.";
  }
}

function warn(text) {
  $("warning").textContent = text;
  $("progress").textContent = text;
}

// -- showing ------------------------------------------------------------------

const given = (id) => labels[id] && typeof labels[id].reasonable === "boolean";

function element(tag, text) {
  const made = document.createElement(tag);
  made.textContent = text;
  return made;
}

function progress() {
  const done = sample.items.filter((item) => given(item.id)).length;
  $("progress").textContent = `${done} of ${sample.items.length} labelled. ${trouble}`;
}

function show() {
  const item = sample.items[at];
  const label = labels[item.id] || {};
  $("who").textContent = `${item.player}, role: ${item.role}; ${item.time}. What the player knew:`;
  $("known").replaceChildren(...item.known.map((line) => element("li", line)));
  $("known").scrollTop = $("known").scrollHeight;
  $("asked").textContent = `The moderator asked the player to ${item.asked}. The reply:`;
  $("reply").textContent = item.reply;
  $("rules").textContent = sample.rules[item.rules];
  $("thoughts").hidden = !item.reasoning;
  $("reasoning").textContent = item.reasoning;
  $("yes").setAttribute("aria-pressed", String(label.reasonable === true));
  $("no").setAttribute("aria-pressed", String(label.reasonable === false));
  $("why").hidden = label.reasonable !== false;
  for (const box of $("why").querySelectorAll("input")) box.checked = box.value === label.reason;
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

function judge(reasonable) {
  set(reasonable ? { reasonable, reason: "" } : { reasonable });
  if (reasonable && at < sample.items.length - 1) go(at + 1);
}

function go(to) {
  at = Math.max(0, Math.min(sample.items.length - 1, to));
  show();
}

function nextOpen() {
  for (let step = 1; step <= sample.items.length; step++) {
    const other = (at + step) % sample.items.length;
    if (!given(sample.items[other].id)) return go(other);
  }
  warn("Every reply has a label. Download them now.");
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
  if (given(sample.items[0].id)) nextOpen();
  show();
}

// -- the file -----------------------------------------------------------------

// As `guarded` of lab/label_files.py: no cell may become a formula.
function cell(text) {
  const safe = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20']/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}

function labelTable() {
  const rows = [["id", "rater", "reasonable", "reason", "comment"]];
  for (const item of sample.items) {
    if (!given(item.id)) continue;
    const label = labels[item.id];
    rows.push([
      item.id, rater(), label.reasonable ? "yes" : "no", label.reason || "", label.comment || "",
    ]);
  }
  return rows.map((row) => row.map(cell).join(",") + "\r\n").join("");
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

for (const [name, told] of Object.entries(sample.reasons)) {
  const box = document.createElement("input");
  Object.assign(box, { type: "radio", name: "reason", value: name });
  box.addEventListener("change", () => set({ reason: name }));
  const line = element("label", ` ${name}: ${told}`);
  line.prepend(box);
  $("why").append(line);
  if (name !== "other") $("reasons-told").append(element("li", `${told.replace(/^it /, "")} (${name})`));
}
$("begin").addEventListener("click", begin);
$("yes").addEventListener("click", () => judge(true));
$("no").addEventListener("click", () => judge(false));
$("clear").addEventListener("click", () => set({ reasonable: undefined, reason: "" }));
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
document.addEventListener("keydown", (event) => {
  if ($("work").hidden || event.target.matches("input:not([type=radio])")) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "y") judge(true);
  else if (event.key === "n") judge(false);
  else if (event.key === "ArrowLeft" && event.target.id !== "known") go(at - 1);
  else if (event.key === "ArrowRight" && event.target.id !== "known") go(at + 1);
  else return;
  event.preventDefault();
});
try {
  $("rater").value = localStorage.getItem(`wolflab-annotate/${sample.code}`) || "";
} catch {
  trouble = "This browser does not keep labels: download them before you close the page.";
}
progress();
