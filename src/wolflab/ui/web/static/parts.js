// Small things that every page uses: marks, clocks, dialogs, messages, words for a screen reader.

import { h } from "./vendor/preact.module.js";
import { useEffect, useRef, useState } from "./vendor/hooks.module.js";
import htm from "./vendor/htm.module.js";

export const html = htm.bind(h);

// -- marks: drawn here, so that nothing depends on fonts or on colour alone

const ICONS = {
  Werewolf: "M4 3l5 5h6l5-5v10l-3.5 5L12 21l-4.5-3L4 13zM8.5 12.5l2 1M15.5 12.5l-2 1M11 17h2",
  Villager: "M3 11.5L12 4l9 7.5M5.5 9.5V20h13V9.5M10 20v-6h4v6",
  Seer: "M2 12s3.5-7 10-7 10 7 10 7-3.5 7-10 7S2 12 2 12zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
  Guard: "M12 3l8 3v6c0 5-3.5 8-8 9-4.5-1-8-4-8-9V6zM12 7v10M8 11h8",
  Witch: "M9 3h6M10 3v6l-5 9c-.6 1.5.3 3 2 3h10c1.7 0 2.6-1.5 2-3l-5-9V3M7.5 15h9",
  Doctor: "M9 3h6v6h6v6h-6v6H9v-6H3V9h6z",
  Hunter: "M12 5a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM12 2v6M12 16v6M2 12h6M16 12h6",
  unknown: "M8.5 9a3.5 3.5 0 1 1 5 3.2c-1 .5-1.5 1.1-1.5 2.3M12 18v.1",
  person: "M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4 21c.5-4.5 4-6.5 8-6.5s7.5 2 8 6.5",
  agent: "M5 9h14v11H5zM12 9V4M9 13.5v1.5M15 13.5v1.5M2.5 13v3M21.5 13v3",
  shared: "M5 4h14v11H5zM2 19h20",
  sheriff: "M12 3l2.7 5.8 6.3.8-4.6 4.4 1.2 6.3-5.6-3.1-5.6 3.1 1.2-6.3L3 9.6l6.3-.8z",
  out: "M6 6l12 12M18 6L6 18",
  lost: "M3 9c5-5 13-5 18 0M6.5 12.5c3-3 8-3 11 0M10 16c1.2-1.2 2.8-1.2 4 0M12 20v.1M4 3l16 18",
  night: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z",
  day: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2.5M12 19.5V22M2 12h2.5M19.5 12H22" +
    "M5 5l1.7 1.7M17.3 17.3L19 19M19 5l-1.7 1.7M6.7 17.3L5 19",
  lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
  done: "M5 12.5l4.5 4.5L19 7.5",
  clock: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4.5l3 1.5",
};

/** A line drawing, or the first letter of a role without one. Screen readers ignore it, because the word is
 * always beside it. */
export function Icon({ name }) {
  const known = ICONS[name] ? name : "unknown";
  const drawing = ICONS[name] || !name
    ? html`<path d=${ICONS[known]} />`
    : html`<text x="12" y="18" font-size="18" text-anchor="middle" fill="currentColor"
        stroke="none">${[...name][0]}</text>`;
  return html`<svg class="icon i-${known.toLowerCase()}" viewBox="0 0 24 24" aria-hidden="true">${drawing}</svg>`;
}

/** The project's mark, as the browser's tab shows it. */
export function ProjectMark() {
  return html`<img class="project-mark" alt="" src=${document.querySelector("link[rel=icon]").href} />`;
}

const SHAPES = [
  "M20 2a18 18 0 1 0 0 36 18 18 0 0 0 0-36z", // circle
  "M8 3h24q5 0 5 5v24q0 5-5 5H8q-5 0-5-5V8q0-5 5-5z", // square
  "M20 1l19 19-19 19L1 20z", // diamond
  "M11 3h18l10 17-10 17H11L1 20z", // hexagon
  "M20 2l18 14-7 22H9L2 16z", // pentagon
  "M3 4q17-4 34 0v17q0 13-17 18Q3 34 3 21z", // shield
  "M13 2h14l11 11v14L27 38H13L2 27V13z", // octagon
  "M20 1c9 9 16 14 16 23a16 15 0 0 1-32 0C4 15 11 10 20 1z", // drop
  "M2 38V16Q2 2 20 2t18 14v22z", // gate
  "M8 5h31l-7 30H1z", // slanted
  "M2 6h36l-6 32H8z", // bucket
  "M20 38Q2 26 2 13 4 2 13 3q5 1 7 5 2-4 7-5 9-1 11 10 0 13-18 25z", // heart
];

/** A player's own shape with the number from the name; shape, number and colour all differ. */
export function Mark({ seat }) {
  const sign = /\d+/.exec(seat.name)?.[0] ?? [...seat.name][0];
  return html`<svg class="mark c${seat.seat % 12}" viewBox="0 0 40 40" aria-hidden="true">
    <path d=${SHAPES[seat.seat % 12]} /><text x="20" y="27" text-anchor="middle">${sign}</text></svg>`;
}

/** A player's name and the name of its person. Each keeps its own direction of writing. */
export function Who({ seat }) {
  return html`<span class="who"><bdi
    class="name">${seat.name}</bdi>${seat.nick && html` <bdi class="nick">${seat.nick}</bdi>`}</span>`;
}

// -- time

/** Draw again every quarter of a second while something counts down. */
function useTick(active) {
  const [, tick] = useState(0);
  useEffect(() => {
    if (!active) return undefined;
    const timer = setInterval(() => tick((n) => n + 1), 250);
    return () => clearInterval(timer);
  }, [active]);
}

/** Seconds left until a time of the server's clock. `clock`: how far it is ahead of this page's. */
export function useLeft(until, clock) {
  const counts = until !== null && until !== undefined;
  useTick(counts);
  return counts ? Math.max(0, until - clock - performance.now() / 1000) : null;
}

export function minutes(seconds) {
  const whole = Math.ceil(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** The time left, as a bar and as a number. */
export function Clock({ until, of, clock }) {
  const rest = useLeft(until, clock);
  if (rest === null) return null;
  return html`<span class="clock ${rest <= 10 ? "short" : ""}">
    ${of ? html`<progress max=${of} value=${Math.min(rest, of)} aria-hidden="true"></progress>` : null}
    <span class="digits"><${Icon} name="clock" /><span class="unseen">Time left </span>${minutes(rest)}</span></span>`;
}

// -- messages, dialogs, copies

/** An error, or a notice to the person. It is read out at once. */
export function Notice({ text, good }) {
  return text ? html`<p class="notice ${good ? "good" : ""}" role="alert">${text}</p>` : null;
}

/** A window over the page. The browser keeps the focus inside, closes on Escape and gives the focus back. */
export function Dialog({ title, onClose, children }) {
  const box = useRef(null);
  useEffect(() => { box.current.showModal(); }, []);
  const outside = (event) => event.target === box.current && onClose();
  return html`<dialog ref=${box} aria-label=${title} onClose=${onClose} onClick=${outside}>
    <div class="sheet">
      <div class="sheet-head"><h2>${title}</h2><button type="button" onClick=${onClose}>Close</button></div>
      ${children}
    </div></dialog>`;
}

/** A link that is shown in full and can be copied. */
export function CopyLink({ label, link }) {
  const [done, setDone] = useState("");
  const field = useRef(null);
  async function copy() {
    field.current.select();
    // Browsers allow the clipboard only for secure addresses; elsewhere the old command still works.
    const copied = navigator.clipboard
      ? await navigator.clipboard.writeText(link).then(() => true, () => false)
      : document.execCommand("copy");
    setDone(copied ? "Copied" : "Press Ctrl+C to copy");
    setTimeout(() => setDone(""), 3000);
  }
  return html`<div class="copy"><label>${label}
    <input ref=${field} readonly value=${link} onFocus=${(e) => e.target.select()} /></label>
    <button type="button" onClick=${copy}>Copy</button><span role="status">${done}</span></div>`;
}

export const BUDGET = [["usd", "US dollars"], ["tokens", "Tokens"]];

/** Fields for numbers. `fields` holds their texts by name; `empty`, or the name's own, gives the meaning of an empty one. */
export function Numbers({ names, fields, set, empty }) {
  return html`<div class="fields">${names.map(([name, label, own]) => html`<label key=${name}>${label}
    <input type="number" min="0" step="any" inputmode="decimal" placeholder=${own ?? empty} value=${fields[name] ?? ""}
      onInput=${(e) => set({ ...fields, [name]: e.target.value })} /></label>`)}</div>`;
}

/** The numbers of the fields that are filled in. */
export const filled = (fields) => Object.fromEntries(
  Object.entries(fields).filter(([, text]) => text !== "").map(([name, text]) => [name, Number(text)]));

/** A button that asks once more before it does what cannot be undone. */
export function Careful({ label, sure, onYes }) {
  const [asked, setAsked] = useState(false);
  if (!asked) return html`<button type="button" class="quiet" onClick=${() => setAsked(true)}>${label}</button>`;
  return html`<span class="careful"><span role="alert">${sure}</span>
    <button type="button" class="danger" onClick=${onYes}>Yes</button>
    <button type="button" onClick=${() => setAsked(false)}>No</button></span>`;
}

/** A sentence of the server's, where it begins a line. */
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** "3 seats", "1 seat". */
export const count = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

/** Whether the window is wide enough for the table to stand beside the log. */
export function useWide() {
  const [wide, setWide] = useState(() => matchMedia("(min-width: 900px)").matches);
  useEffect(() => {
    const query = matchMedia("(min-width: 900px)");
    const changed = () => setWide(query.matches);
    query.addEventListener("change", changed);
    return () => query.removeEventListener("change", changed);
  }, []);
  return wide;
}

// -- words for a screen reader

/** Read out when there is time. Lines are added, not replaced, so that none is lost where several come at once. */
export function say(text) {
  const region = document.getElementById("polite");
  const line = document.createElement("p");
  line.textContent = text;
  region.append(line);
  while (region.children.length > 8) region.firstChild.remove();
}

/** Read out at once. */
export function sayNow(text) {
  document.getElementById("urgent").textContent = text;
}

export function sayNothing() {
  document.getElementById("polite").replaceChildren();
  sayNow("");
}
