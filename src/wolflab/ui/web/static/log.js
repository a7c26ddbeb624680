// The log: the moderator's words, statements, votes, and at the end the secrets.

import { useEffect, useLayoutEffect, useRef, useState } from "./vendor/hooks.module.js";
import { Icon, Mark, Who, count, html } from "./parts.js";

/** Votes that follow each other become one card, and so do the thoughts of one player. */
function grouped(log) {
  const groups = [];
  for (const item of log) {
    const last = groups[groups.length - 1];
    const joins = last && last.kind === item.kind &&
      ((item.kind === "vote" && last.items[0].what === item.what) ||
       (item.kind === "thought" && last.items[0].seat === item.seat) || item.kind === "secret");
    if (joins) last.items.push(item);
    else groups.push({ kind: item.kind, items: [item] });
  }
  return groups;
}

/** The text of a new item for a screen reader. */
export function inWords(item, seats, hidden) {
  const name = (n) => seats[n].nick || seats[n].name;
  switch (item.kind) {
    case "said": return `${name(item.seat)}: ${item.text || "says nothing"}`;
    case "vote": return `${name(item.voter)} ${item.target === null ? "does not vote" : `votes for ${name(item.target)}`}`;
    case "told": return item.private && hidden ? "A private line" : item.text;
    case "reveal": return "Everybody's role is shown";
    case "thought": return "";
    default: return item.text;
  }
}

function Heading({ item }) {
  return html`<h2 class="time ${item.time}"><${Icon} name=${item.time === "night" ? "night" : "day"} />
    <span>${item.text}</span></h2>`;
}

function Told({ item, hidden }) {
  if (!item.private) return html`<p class="told"><bdi>${item.text}</bdi></p>`;
  return html`<p class="told private"><span class="tag"><${Icon} name="lock" />Private</span>
    <bdi>${hidden ? "Hidden, as your role is." : item.text}</bdi></p>`;
}

function Said({ item, seats, me }) {
  const seat = seats[item.seat];
  const where = { election: "runs for Sheriff", "last words": "last words" }[item.where];
  return html`<div class="said ${item.seat === me ? "own" : ""}">
    <${Mark} seat=${seat} />
    <div class="bubble"><p class="by"><${Who} seat=${seat} />${item.seat === me && html`<span class="tag">you</span>`}
      ${where && html`<span class="tag">${where}</span>`}</p>
      ${item.text ? html`<p class="words">
      <bdi>${item.text}</bdi></p>` : html`<p class="words none">says nothing</p>`}</div></div>`;
}

/** One ballot: the voters of each player with votes. The most votes come first; a vote may count more than once. */
function Votes({ items, seats }) {
  const [by, sums] = [new Map(), new Map()];
  for (const { voter, target, votes = 1 } of items) {
    by.set(target, [...(by.get(target) || []), voter]);
    sums.set(target, (sums.get(target) || 0) + votes);
  }
  const rows = [...by].sort((a, b) => (b[0] !== null) - (a[0] !== null) || sums.get(b[0]) - sums.get(a[0]));
  const what = items[0].what === "elect" ? "The election" : "The vote";
  return html`<section class="votes card">
    <h3>${what} <small>${count(items.reduce((sum, { votes = 1 }) => sum + votes, 0), "vote")}</small></h3>
    <ul>${rows.map(([target, voters]) => html`<li key=${target}>
      <div class="target">${target === null ? html`<span class="mark none"></span><span class="who">No vote</span>`
        : html`<${Mark} seat=${seats[target]} /><${Who} seat=${seats[target]} />`}
          <b class="sum">${sums.get(target)}</b></div>
      <div class="voters"><span class="from">from</span>${voters.map((voter) => html`<span class="voter" key=${voter}>
        <${Mark} seat=${seats[voter]} />
        <bdi>${seats[voter].nick || seats[voter].name}</bdi></span>`)}</div></li>`)}</ul></section>`;
}

function End({ item }) {
  return html`<section class="end card">
    <${Icon} name=${{ werewolves: "Werewolf", village: "Villager" }[item.winner] || "unknown"} />
    <p><bdi>${item.text}</bdi></p></section>`;
}

function Roles({ item, seats }) {
  return html`<section class="card"><h3>Who was who</h3><ul class="roles">
    ${item.roles.map((role, seat) => html`<li key=${seat}><${Mark} seat=${seats[seat]} />
    <${Who} seat=${seats[seat]} />
      <span class="role-name"><${Icon} name=${role} />${role}</span></li>`)}</ul></section>`;
}

function Secrets({ items }) {
  return html`<section class="card secrets">
    <p class="tag"><${Icon} name="lock" />Secret</p>${items.map((item) => html`<p key=${item.n}>
    <bdi>${item.text}</bdi></p>`)}</section>`;
}

function Thoughts({ items, seats, open }) {
  const seat = seats[items[0].seat];
  return html`<details class="thoughts" open=${open}><summary><${Mark} seat=${seat} /><span>
    <${Who} seat=${seat} /> thinks</span><small>${count(items.length, "thought")}</small></summary>
    ${items.map((item) => html`<p key=${item.n}><bdi>${item.text}</bdi></p>`)}</details>`;
}

function Group({ group, seats, me, hidden, thoughts }) {
  const item = group.items[0];
  switch (group.kind) {
    case "time": return html`<${Heading} item=${item} />`;
    case "told": return html`<${Told} item=${item} hidden=${hidden} />`;
    case "said": return html`<${Said} item=${item} seats=${seats} me=${me} />`;
    case "vote": return html`<${Votes} items=${group.items} seats=${seats} />`;
    case "end": return html`<${End} item=${item} />`;
    case "reveal": return html`<${Roles} item=${item} seats=${seats} />`;
    case "secret": return html`<${Secrets} items=${group.items} />`;
    case "thought": return html`<${Thoughts} items=${group.items} seats=${seats} open=${thoughts} />`;
    default: return null; // a newer server may send more than this page knows
  }
}

const NEAR = 80; // pixels from the end that still count as "at the end"

/**
 * The log scrolls by itself, and only while the reader is at its end. `fromStart`: it is read from its beginning.
 * `thoughts`: whether they are unfolded.
 */
export function Log({ log, seats, me = null, hidden = false, fromStart = false, thoughts = false }) {
  const box = useRef(null);
  const atEnd = useRef(!fromStart);
  const top = useRef(0);
  const read = useRef(log.length);
  const [unread, setUnread] = useState(0);

  const toEnd = () => { if (box.current) box.current.scrollTop = box.current.scrollHeight; };
  function scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = box.current;
    const near = scrollHeight - scrollTop - clientHeight < NEAR;
    if (near || scrollTop < top.current) atEnd.current = near; // only a reader scrolls up; a panel that grows does not
    top.current = scrollTop;
    if (atEnd.current) { read.current = log.length; setUnread(0); }
  }
  useLayoutEffect(() => {
    if (atEnd.current) { toEnd(); read.current = log.length; }
    setUnread(log.length - read.current);
  }, [log]);
  useEffect(() => { // the panel below may grow, the keyboard of a phone may come: the last line stays in sight
    const resized = new ResizeObserver(() => atEnd.current && toEnd());
    resized.observe(box.current);
    return () => resized.disconnect();
  }, []);

  return html`<div class="log-frame">
    <section class="log" aria-label="Game log" tabindex="0" ref=${box} onScroll=${scrolled}>
      <div class="log-inner">${grouped(log).map((group) => html`<${Group} key=${group.items[0].n} group=${group}
        seats=${seats} me=${me} hidden=${hidden} thoughts=${thoughts} />`)}</div>
    </section>
    ${unread > 0 && html`<button type="button" class="new-messages"
      onClick=${toEnd}>${unread === 1 ? "1 new message" : `${unread} new messages`}</button>`}
  </div>`;
}
