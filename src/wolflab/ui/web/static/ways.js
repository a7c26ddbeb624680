// Links back to the seats that this browser has opened. It stores no secrets: only tables' codes and seats' numbers.

import { html } from "./parts.js";
import { at } from "./place.js";

const KEY = "my seats";
const MOST = 100; // tables; older ones are forgotten

/** Code → numbers of opened seats, or "device". Without storage in the browser no links are shown. */
function all() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) || {};
  } catch {
    return {};
  }
}

/** What this browser has opened at a table. */
export const held = (code) => all()[code.toUpperCase()] || [];

function change(code, what) {
  const { [code.toUpperCase()]: before, ...others } = all();
  const opened = what(before || []);
  const tables = opened.length ? { ...others, [code.toUpperCase()]: opened } : others;
  try {
    localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(Object.entries(tables).slice(-MOST))));
  } catch { /* as above */ }
}

export const remember = (code, seat) => change(code, (seats) => [...seats.filter((one) => one !== seat), seat].sort());
export const forget = (code, seat) => change(code, (seats) => seats.filter((one) => one !== seat));

/** Whether an answer's status says that the seat is not, or no longer, this browser's. */
export const notOurs = (status) => status === 401 || status === 404;

export const wayTo = (code, seat) => at(`/t/${code}/${seat === "device" ? "d/" : `s/${seat}/`}`);

/** Links back to the seats of this browser at this table. `seats`: from the server. */
export function WaysBack({ code, seats }) {
  const others = held(code).filter((seat) => wayTo(code, seat) !== location.pathname); // this page needs no way to it
  return others.map((seat) => html`<a class="button main" key=${seat} href=${wayTo(code, seat)}>
    ${seat === "device" ? "Back to the shared device" : `Back to your seat (${seats[seat]?.name})`}</a>`);
}
