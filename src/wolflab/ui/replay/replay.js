// The replay of one game: the ring of players, the timeline, statements, thoughts, beliefs and votes.

import { render } from "./vendor/preact.module.js";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "./vendor/hooks.module.js";
import { Dialog, Icon, Mark, ProjectMark, html, say, useWide } from "./parts.js";

const game = JSON.parse(document.getElementById("game").textContent);
const { seats, items, turns } = game;
const MODERATOR = "moderator";
const PUBLIC = "public";
const SPEEDS = [["0.5", 2600], ["1", 1300], ["2", 650], ["4", 300]];
const TABS = [...(game.as === null ? [["signs", "Who lied"]] : []),
  ["log", "Events"], ["thoughts", "Thoughts"], ["trust", "Trust"], ["votes", "Votes"]];

// -- what a viewer sees

const sees = (item, as) => as === MODERATOR || item.sees === -1 ||
  (as !== PUBLIC && Boolean((item.sees >> Number(as)) & 1));
const mayThink = (turn, as) => as === MODERATOR || (as !== PUBLIC && turn.seat === Number(as));

/** Seat → card or side, as far as the viewer knows it once line `n` has happened. */
function cards(as, n) {
  if (as === MODERATOR) return seats.map((seat) => seat.role);
  const known = seats.map(() => "");
  for (const [line, seat, word] of game.known[as === PUBLIC ? "-1" : as] || []) if (line <= n) known[seat] = word;
  return known;
}

const phaseOf = (item) => (item.time === "setup" ? "Before the game" : `${item.time === "night" ? "Night" : "Day"} ${item.round}`);
const name = (seat) => seats[seat].name;
/** Whether a claim is known to be untrue. card: what the viewer knows: a card, a side, or nothing. */
const isLie = (claim, card) => Boolean(card) && (card === "no Werewolf" ? claim === "Werewolf" : claim !== card);
/** Whether a claimed result of a look is known to be untrue. */
const isFalse = (shown, card) => Boolean(card) && shown !== "" && (shown === "Werewolf") !== (card === "Werewolf");

// -- what a measure counts: a list of games names the measure

const PROBE_NAMES = { straw: "straw poll", straw2: "second straw poll" };
const countedOf = (measure) => game.counted?.[measure];

/** Line → what is counted there: the kinds of turns, and whether one is in the measure's numerator. */
function countedLines(measure) {
  const lines = new Map();
  const one = countedOf(measure);
  const add = (n, word, hit) => {
    const at = lines.get(n) || { words: [], hit: false };
    lines.set(n, { words: [...new Set([...at.words, word])], hit: at.hit || hit });
  };
  for (const [index, hit] of one?.turns || []) add(turns[index].n, turnKind(turns[index]), hit === 1);
  if (one?.end) add(items.findLastIndex((item) => item.kind === "end"), "the end", true);
  lines.delete(-1);
  return lines;
}

/** A turn in a word: a straw poll's ask names which of the two it is. */
const turnKind = (turn) => (turn.probe ? PROBE_NAMES[turn.ask.split("/")[1]] || turn.kind : turn.kind);

/** What the measure counts in this game, with the way to each marked line. */
function Counted({ measure, n, go, close }) {
  const lines = useMemo(() => [...countedLines(measure).keys()].sort((a, b) => a - b), [measure]);
  const says = countedOf(measure)?.says || (game.counted ? `This game is not counted for ${measure}.`
    : "What the measure counts is not shown, because words of somebody in this game are left out.");
  return html`<div class="counted-box"><p>${says}</p><p class="buttons">
    ${lines.length > 0 && html`<button type="button" onClick=${() => go(lines.find((at) => at > n) ?? lines[0])}>Next counted line</button>`}
    <button type="button" class="quiet" onClick=${close}>Remove the marks</button></p></div>`;
}

// -- links: every state has one

/** Where the page opens without a link: on the first spoken line, without anybody's secrets. */
function opening() {
  const as = game.as === null ? PUBLIC : String(game.as);
  return { n: near(Math.max(0, items.findIndex((item) => item.kind === "said" && item.text)), as), as, tab: "log" };
}

function readLink() {
  if (location.hash.length < 2) return opening();
  const told = new URLSearchParams(location.hash.slice(1));
  const last = items.length - 1;
  const measure = told.get("measure") || "";
  const asked = game.turns.find((turn) => turn.ask === told.get("ask")); // a report names what it quotes so
  const lines = [...countedLines(measure).keys()];
  const first = asked?.n ?? (lines.length ? Math.min(...lines) : 0);
  const n = Math.min(last, Math.max(0, Math.trunc(Number(told.get("line") ?? first + 1) - 1) || 0));
  const allowed = new Set(game.as === null ? [MODERATOR, PUBLIC, ...seats.map((seat) => String(seat.seat))]
    : [String(game.as), PUBLIC]);
  const who = told.get("as");
  const number = (text) => /(\d+)$/.exec(text)?.[1]; // player_3 is Player 3, whatever a game calls its players
  const named = who && (seats.find((seat) => seat.name === who) || seats.find((seat) => number(seat.name) && number(seat.name) === number(who)));
  const wanted = named ? String(named.seat) : who;
  const as = allowed.has(wanted) ? wanted : who ? PUBLIC : [...allowed][0]; // who is not known sees no secret
  const tab = TABS.some(([key]) => key === told.get("tab")) ? told.get("tab") : "log";
  return { n: near(n, as), as, tab, measure };
}

function linkTo({ n, as, tab, measure }) {
  const who = as === MODERATOR || as === PUBLIC ? as : name(Number(as));
  return `#${new URLSearchParams({ line: n + 1, as: who, ...(tab === "log" ? {} : { tab }), ...(measure ? { measure } : {}) })}`;
}

// -- the ring

function place(seat, radius = 38) {
  const angle = (2 * Math.PI * seat) / seats.length - Math.PI / 2;
  return [50 + radius * Math.cos(angle), 50 + radius * Math.sin(angle)];
}

function Arrow({ from, to, kind, faint }) {
  const [x1, y1] = place(from, 31);
  if (to === null || to === undefined) return null;
  if (from === to) return html`<circle class="arrow a-${kind}" cx=${x1} cy=${y1} r="3" />`;
  const [x2, y2] = place(to, 31);
  const far = Math.hypot(x2 - x1, y2 - y1);
  const [dx, dy] = [(x2 - x1) / far, (y2 - y1) / far];
  const [ex, ey] = [x2 - dx * 1.5, y2 - dy * 1.5];
  const head = `M${ex - dx * 3 - dy * 1.6} ${ey - dy * 3 + dx * 1.6}L${ex} ${ey}L${ex - dx * 3 + dy * 1.6} ${ey - dy * 3 - dx * 1.6}`;
  return html`<g class="arrow a-${kind} ${faint ? "faint" : ""}"><path d=${`M${x1} ${y1}L${ex} ${ey}`} /><path d=${head} /></g>`;
}

/** The arrows within the ring: the ballot so far, or the line's event. */
function arrows(n, as) {
  const now = items[n];
  const drawn = [];
  if (now.act === "vote") {
    for (let at = n; at >= 0 && items[at].kind === "vote" && items[at].what === now.what; at -= 1) {
      if (sees(items[at], as)) drawn.push({ from: items[at].by, to: items[at].to, kind: "vote", faint: at < n });
    }
  } else if (now.act === "said") {
    for (const [what, to] of now.acts) if (what === "accuses" || what === "defends") drawn.push({ from: now.by, to, kind: what });
  } else if (now.act) drawn.push({ from: now.by, to: now.to, kind: now.act });
  return drawn;
}

/** Who has claimed which card by line `n`: the last claim counts. */
function claims(n, as) {
  const claimed = seats.map(() => "");
  for (let at = 0; at <= n; at += 1) {
    if (items[at].acts && sees(items[at], as)) for (const [what, role] of items[at].acts) if (what === "claims") claimed[items[at].by] = role;
  }
  return claimed;
}

function Ring({ n, as }) {
  const now = items[n];
  const known = cards(as, n);
  const claimed = claims(n, as);
  const asked = now.by;
  return html`<ul class="ring" aria-label="The players">
    <li class="ring-lines" aria-hidden="true"><svg viewBox="0 0 100 100">
      ${arrows(n, as).map((one, at) => html`<${Arrow} key=${at} ...${one} />`)}</svg></li>
    ${seats.map((seat) => {
      const [x, y] = place(seat.seat, 40);
      const alive = Boolean((now.alive >> seat.seat) & 1);
      const card = known[seat.seat];
      const claim = claimed[seat.seat];
      const lies = claim && isLie(claim, card);
      return html`<li key=${seat.seat} class="sitter ${alive ? "" : "gone"} ${asked === seat.seat ? "doing" : ""}"
        style=${`left:${x}%;top:${y}%`}>
        <span class="badge"><${Mark} seat=${seat} />${now.sheriff === seat.seat && html`<${Icon} name="sheriff" />`}
          ${!alive && html`<${Icon} name="out" />`}</span>
        <bdi class="name">${seat.name}</bdi>
        ${card && html`<span class="tag role-name"><${Icon} name=${card} />${card}</span>`}
        ${claim && html`<span class="claim ${lies ? "lie" : ""}">says: ${claim}${lies ? ", a lie" : ""}</span>`}
        <span class="unseen">${alive ? "in the game" : "out of the game"}${now.sheriff === seat.seat ? ", Sheriff" : ""}</span></li>`;
    })}
    <li class="ring-now" aria-hidden="true"><${Icon} name=${now.time === "night" ? "night" : "day"} />
      <b>${phaseOf(now)}</b></li></ul>`;
}

// -- words, however many: a browser takes seconds for a line of a megabyte

const LONG = 20000;
const begun = (text, most) => (text.length > most ? `${text.slice(0, most)} …` : text);

function Words({ text }) {
  const [whole, setWhole] = useState(false);
  if (text.length <= LONG) return text;
  const part = text.slice(0, LONG).replace(/[\ud800-\udbff]$/, "");
  if (!whole) return html`${part} … <button type="button" class="quiet" onClick=${() => setWhole(true)}>Show all ${text.length} characters</button>`;
  return html`<textarea readonly rows="12" aria-label="All of it" value=${text}></textarea>`;
}

// -- one line of the log

/** The player whose words or vote a line has; null for the moderator's lines. */
const speaker = (item) => (item.kind === "said" || item.kind === "vote" ? item.by : null);

/** A line's text without its speaker. most: its greatest length. */
function Sentence({ item, most = Infinity }) {
  if (item.kind !== "vote") return html`<${Words} text=${begun(item.text, most) || "says nothing"} />`;
  return item.to === null ? "does not vote" : html`votes for <b>${name(item.to)}</b>`;
}

function Acts({ item, known }) {
  const words = item.acts.map(([what, about, told]) => {
    if (what === "claims") return [`claims ${about}`, isLie(about, known[item.by])];
    if (what === "unread") return ["could not be read (not English)", false];
    if (what === "tells") return [`tells of a look at ${name(about)}: ${told}`, isFalse(told, known[about])];
    return [`${what} ${name(about)}`, false];
  });
  return words.length > 0 && html`<span class="acts">${words.map(([word, lie]) => html`<span class="tag ${lie ? "lie" : ""}"
    key=${word}>${word}${lie ? " (not true)" : ""}</span>`)}</span>`;
}

function Line({ item, at, known, onGo, signs, marked }) {
  const secret = item.sees !== -1;
  const by = speaker(item);
  const tag = marked && html` <span class="tag counted ${marked.hit ? "hit" : ""}">counted: ${listed(marked.words)}</span>`;
  if (item.kind === "time") return html`<h2 class="phase-line ${item.time}" data-n=${at}><${Icon} name=${item.time === "night" ? "night" : "day"} />${item.text}${tag}</h2>`;
  const where = { election: "runs for Sheriff", "last words": "last words" }[item.where];
  return html`<div class="line ${secret ? "secret" : ""} ${marked ? "is-counted" : ""}" data-n=${at}>
    <button type="button" class="jump" aria-label=${`Go to line ${at + 1}`} onClick=${() => onGo(at)}>${at + 1}</button>
    ${by === null ? html`<span class="mark none" aria-hidden="true"></span>` : html`<${Mark} seat=${seats[by]} />`}
    <div class="words">${by !== null && html`<bdi class="name">${name(by)}</bdi> `}
      ${where && html`<span class="tag">${where}</span> `}${secret && html`<span class="tag"><${Icon} name="lock" />secret</span> `}
      <bdi><${Sentence} item=${item} />${item.what === "elect" && html` <small>to be Sheriff</small>`}</bdi>${tag}
      ${item.acts && html`<${Acts} item=${item} known=${known} />`}
      ${signs && signs.map(([, seat, what, why]) => html`<small class="sign" key=${what + why}
        title=${game.behaviours[what]}>${what}: ${why}</small>`)}</div></div>`;
}

const signsAt = new Map();
for (const sign of game.signs) if (sign[4] !== "vote") signsAt.set(sign[0], [...(signsAt.get(sign[0]) || []), sign]);

const WINDOW = 48; // lines in the log unless more are asked for: a browser lays out few quickly

/** The lines up to this one, the latest at the end. A line is rendered once for a viewer. */
function Log({ n, as, go, measure }) {
  const box = useRef(null);
  const [most, setMost] = useState(WINDOW);
  const rows = useMemo(() => {
    const all = as === MODERATOR ? cards(as, 0) : null;
    const marked = countedLines(as === MODERATOR ? measure : "");
    return items.map((item, at) => sees(item, as) && [at, html`<${Line} key=${at} item=${item} at=${at} onGo=${go}
      known=${all || cards(as, at)} signs=${as === MODERATOR && signsAt.get(at)} marked=${marked.get(at)} />`]).filter(Boolean);
  }, [as, measure]);
  const upTo = rows.findLastIndex(([at]) => at <= n) + 1;
  useLayoutEffect(() => {
    const current = box.current.lastElementChild;
    box.current.querySelector("[aria-current]")?.removeAttribute("aria-current");
    current?.setAttribute("aria-current", "step");
    box.current.scrollTop = box.current.scrollHeight;
  }, [n, as]);
  return html`<div class="log-box" ref=${box} tabindex="0" role="region" aria-label="Events">
    ${upTo > most && html`<button type="button" key="earlier" class="quiet" onClick=${() => setMost(items.length)}>Show all ${upTo} lines</button>`}
    ${rows.slice(Math.max(0, upTo - most), upTo).map(([, row]) => row)}</div>`;
}

// -- thoughts

let unpacked = null;
/** The prompts, unpacked when they are first asked for. */
function prompts() {
  unpacked = unpacked || (async () => {
    const packed = Uint8Array.from(atob(document.getElementById("calls").textContent.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  })();
  return unpacked;
}

function Calls({ ask }) {
  const [told, setTold] = useState(null);
  const [open, setOpen] = useState(false);
  useEffect(() => { setTold(null); setOpen(false); }, [ask]);
  useEffect(() => {
    let here = true;
    if (open && !told) {
      prompts().then(({ lines, asks }) => here && setTold((asks[ask] || []).map(([step, attempt, messages, reply]) => ({
        step, attempt, reply, messages: messages.map(([role, text]) => [role, text.map((at) => lines[at]).join("\n")]),
      }))), () => here && setTold([]));
    }
    return () => { here = false; };
  }, [open, ask]);
  return html`<details class="calls" open=${open} onToggle=${(event) => setOpen(event.target.open)}>
    <summary>Prompts and replies</summary>
    ${open && (!told ? html`<p>One moment …</p>` : told.length === 0 ? html`<p>No prompt is kept of this turn.</p>`
      : told.map((call, at) => html`<section key=${at}><h3>${call.step}${call.attempt > 0 && `, attempt ${call.attempt + 1}`}</h3>
        ${call.messages.map(([role, text], k) => html`<h4 key=${k}>${role}</h4><pre key=${`${k}t`} tabindex="0"><${Words} text=${text} /></pre>`)}
        <h4>reply</h4><pre class="reply" tabindex="0"><${Words} text=${call.reply} /></pre></section>`))}</details>`;
}

function Beliefs({ rows }) {
  return html`<div class="scrolls" tabindex="0" role="group" aria-label="Beliefs"><table><thead><tr><th>about</th><th>guess</th><th>sure</th><th>trust</th></tr></thead>
    <tbody>${rows.map(([target, role, sure, trust, why]) => html`<tr key=${target}><th scope="row">${name(target)}</th>
      <td>${role || "–"}</td><td>${sure || "–"}</td><td><${Trust} value=${trust} /></td></tr>
      ${why && html`<tr class="why"><td colspan="4"><bdi><${Words} text=${why} /></bdi></td></tr>`}`)}</tbody></table></div>`;
}

function Candidates({ turn }) {
  return html`<ol class="could">${turn.could.map(([action, why], at) => html`<li key=${at} class=${turn.took === at ? "took" : ""}>
    <bdi><${Words} text=${action} /></bdi>${turn.took === at && html` <span class="tag"><${Icon} name="done" />taken</span>`}
    ${turn.odds?.length > at && html`<span class="odds"><meter min="0" max="1" value=${turn.odds[at]} aria-label="probability"></meter>
      ${(100 * turn.odds[at]).toFixed(0)} %</span>`}${why && html`<small><bdi><${Words} text=${why} /></bdi></small>`}</li>`)}</ol>`;
}

const PROBES = { straw: "asked outside the game: whom would you vote for now?",
  rate: "asked outside the game: whom do you believe?", interview: "asked outside the game: why did you say that?" };
const probeWords = (probe) => PROBES[probe.replace(/\d+$/, "")] || `asked outside the game: ${probe}`;

function Turn({ turn, counted }) {
  const seat = seats[turn.seat];
  return html`<section class="turn-card"><h2><${Mark} seat=${seat} /><bdi>${seat.name}</bdi>
      <span class="tag">${turn.probe ? "probe" : turn.kind}</span>${counted && html` <span class="tag counted">counted</span>`}</h2>
    ${turn.probe && html`<p class="soft">${probeWords(turn.probe)}</p>`}
    ${turn.bad && html`<p class="notice">No usable reply: <${Words} text=${turn.bad} /></p>`}
    ${turn.did && html`<p>Answer: <b><bdi>${turn.did}</bdi></b></p>`}
    ${turn.lines && turn.lines.map((line, at) => html`<p key=${at} class="thought"><bdi><${Words} text=${line} /></bdi></p>`)}
    ${turn.could && html`<h3>Candidates${turn.worth !== undefined && `; expects ${turn.worth.toFixed(2)}`}</h3><${Candidates} turn=${turn} />`}
    ${turn.beliefs && html`<h3>Beliefs</h3><${Beliefs} rows=${turn.beliefs} />`}
    ${[...(turn.lines || []), ...(turn.beliefs || []).map((row) => row[4])].some((text) => /\b(lines?|messages?) \d/i.test(text))
      && html`<p class="soft">Lines and messages that are named here are those of the player's prompt, not of this page.</p>`}
    ${game.calls > 0 && html`<${Calls} ask=${turn.ask} />`}</section>`;
}

function Thoughts({ n, as, measure }) {
  const counted = new Set((countedOf(measure)?.turns || []).map(([index]) => turns[index]));
  const mine = turns.filter((turn) => turn.n === n && mayThink(turn, as));
  if (as === PUBLIC) return html`<p class="empty">The public hears no thoughts. Choose a player or the moderator.</p>`;
  if (mine.length) return mine.map((turn) => html`<${Turn} key=${turn.ask + (turn.probe || "")} turn=${turn} counted=${counted.has(turn)} />`);
  const later = turns.filter((turn) => turn.n > n && mayThink(turn, as));
  const next = later.length ? later.reduce((a, b) => (b.n < a.n ? b : a)) : null;
  return html`<p class="empty">Nobody's thoughts belong to this line.${next && ` The next are those of ${name(next.seat)}, line ${next.n + 1}.`}</p>`;
}

// -- trust

const trusted = (value) => (value > 6 ? "high" : value < 5 ? "low" : "middle");
function Trust({ value }) {
  return html`<span class="trust t-${trusted(value)}">${value}</span>`;
}

/** rater → target → the latest reliability by line `n`. */
function trustAt(n, as) {
  const table = seats.map(() => ({}));
  for (const turn of turns) if (turn.beliefs && turn.n <= n && mayThink(turn, as)) for (const [target, , , value] of turn.beliefs) table[turn.seat][target] = value;
  return table;
}

/** The mean reliability of each player for the others, after each turn with ratings. */
function beliefLines(as, rater) {
  const table = seats.map(() => ({}));
  const lines = seats.map(() => []);
  const told = turns.filter((turn) => turn.beliefs && mayThink(turn, as)).sort((a, b) => a.n - b.n);
  for (const turn of told) {
    for (const [target, , , value] of turn.beliefs) table[turn.seat][target] = value;
    seats.forEach((seat, target) => {
      const counts = (from) => (rater === "" ? as !== MODERATOR || seats[from].role !== "Werewolf" : from === Number(rater));
      const values = table.filter((_, from) => counts(from)).map((row) => row[target]).filter((value) => value !== undefined);
      if (values.length) lines[target].push([turn.n, values.reduce((a, b) => a + b, 0) / values.length]);
    });
  }
  return lines;
}

/** Heights moved apart so that words do not overlap; null stays null. low: the lowest that fits. */
function apart(heights, gap, low) {
  const order = heights.map((_, k) => k).filter((k) => heights[k] !== null).sort((a, b) => heights[a] - heights[b]);
  const placed = [...heights];
  let above = -Infinity;
  for (const k of order) above = placed[k] = Math.max(heights[k], above + gap);
  let below = low + gap;
  for (const k of order.reverse()) below = placed[k] = Math.min(placed[k], below - gap);
  return placed;
}

/** A player's name in one or two letters: its number, if its name has one. */
const short = (seat) => /\d+/.exec(name(seat))?.[0] ?? name(seat)[0];

function BeliefFigure({ n, as }) {
  const [rater, setRater] = useState("");
  const lines = useMemo(() => beliefLines(as, rater), [as, rater]);
  const [wide, high, last] = [100, 46, Math.max(1, items.length - 1)];
  const x = (at) => 6 + (at / last) * (wide - 16);
  const y = (value) => 3 + ((10 - value) / 9) * (high - 8);
  const told = lines.some((line) => line.length);
  const labels = apart(lines.map((line) => (line.length ? y(line[line.length - 1][1]) + 1 : null)), 3.1, high - 1);
  return html`<figure><figcaption>Belief over time: how far each player is believed${as === MODERATOR && html`, by
      <select aria-label="Who believes" value=${rater} onChange=${(event) => setRater(event.target.value)}>
        <option value="">all but the Werewolves, on average</option>${seats.map((seat) => html`<option key=${seat.seat} value=${seat.seat}>${seat.name}</option>`)}</select>`}</figcaption>
    ${!told ? html`<p class="empty">${rater === "" ? (as === MODERATOR ? "None of them tells" : "Nobody tells") : `${name(Number(rater))} does not tell`}
      by numbers whom to believe; what was said or thought of it stands in the log.</p>` : html`<svg class="beliefs" viewBox="0 0 ${wide} ${high}" role="img" aria-label="Reliability from 1 to 10 of each player, line by line">
      ${[1, 5, 10].map((value) => html`<g key=${value}><path class="grid" d=${`M6 ${y(value)}H90`} /><text x="1" y=${y(value) + 1}>${value}</text></g>`)}
      <path class="cursor" d=${`M${x(n)} 2V${high - 4}`} />
      ${lines.map((line, seat) => line.length > 0 && html`<g key=${seat} class="c${seat % 12}"><path class="course"
        d=${line.map(([at, value], k) => (k ? `H${x(at)}V${y(value)}` : `M${x(at)} ${y(value)}`)).join("")} />
        <text x="91.5" y=${labels[seat]}>${short(seat)}</text></g>`)}</svg>`}</figure>`;
}

function TrustTable({ n, as }) {
  const table = trustAt(n, as);
  const alive = (seat) => Boolean((items[n].alive >> seat) & 1);
  if (as === PUBLIC) return html`<p class="empty">What players believe is not public. Choose a player or the moderator.</p>`;
  if (!table.some((row) => Object.keys(row).length)) return html`<p class="empty">Nobody has told yet whom they believe.</p>`;
  return html`<p class="soft">Each row says how far that player believes the others, from 1 (a Werewolf, surely) to 10. The latest word by this line counts.</p>
    <div class="scrolls" tabindex="0" role="group" aria-label="Who believes whom"><table class="matrix">
    <thead><tr><td></td>${seats.map((seat) => html`<th scope="col" key=${seat.seat} class=${alive(seat.seat) ? "" : "gone"}><${Mark} seat=${seat} /><span class="unseen">${seat.name}</span></th>`)}</tr></thead>
    <tbody>${seats.filter((seat) => as === MODERATOR || seat.seat === Number(as)).map((seat) => html`<tr key=${seat.seat} class=${alive(seat.seat) ? "" : "gone"}>
      <th scope="row"><bdi>${seat.name}</bdi></th>${seats.map((other) => html`<td key=${other.seat}>
      ${table[seat.seat][other.seat] !== undefined ? html`<${Trust} value=${table[seat.seat][other.seat]} />` : other.seat === seat.seat ? "" : "·"}</td>`)}</tr>`)}</tbody></table></div>
    <${BeliefFigure} key=${as} n=${n} as=${as} />`;
}

// -- votes

/** The ballots that the viewer saw by line `n`. straws: voter → its answers in the two straw polls before. */
function ballots(n, as) {
  const found = [];
  items.forEach((item, at) => {
    if (at > n || item.kind !== "vote" || !sees(item, as)) return;
    const last = found[found.length - 1];
    if (last && last.round === item.round && last.what === item.what && at - last.to <= seats.length + 1) Object.assign(last, { to: at }).votes.set(item.voter, item.target);
    else found.push({ round: item.round, what: item.what, from: at, to: at, votes: new Map([[item.voter, item.target]]), straws: new Map() });
  });
  for (const ballot of found) {
    if (ballot.what === "elect") continue;
    for (const turn of turns) {
      if (turn.probe !== "straw" || Number(turn.ask.split("/")[0]) !== ballot.round || !mayThink(turn, as)) continue;
      ballot.straws.set(turn.seat, [...(ballot.straws.get(turn.seat) || []), turn.to ?? null]);
    }
  }
  return found;
}

/** From each voter's straw poll (left) to its vote (right): one strand for each voter, with its number. */
function Flow({ ballot }) {
  const voters = [...ballot.straws.keys()].filter((voter) => ballot.votes.has(voter));
  const [was, is] = [(voter) => ballot.straws.get(voter)[0], (voter) => ballot.votes.get(voter)];
  const row = 5;
  const ends = (target) => {
    const order = [...voters].sort((a, b) => (target(a) ?? 99) - (target(b) ?? 99) || a - b);
    const heights = new Map(order.map((voter, k) => [voter, 4 + k * row]));
    const groups = [...new Set(order.map(target))].map((one) => {
      const mine = order.filter((voter) => target(voter) === one).map((voter) => heights.get(voter));
      return [one, mine[0], mine[mine.length - 1]];
    });
    return [heights, groups];
  };
  const [[left, from], [right, to]] = [ends(was), ends(is)];
  const group = ([target, top, bottom], x, side) => html`<g key=${target}><path class="bracket" d=${`M${x} ${top - 1.6}V${bottom + 1.6}`} />
    <text x=${x + side} y=${(top + bottom) / 2 + 1} text-anchor=${side < 0 ? "end" : "start"}>${target === null ? "nobody" : name(target)}</text></g>`;
  return html`<svg class="flow" viewBox="0 0 100 ${voters.length * row + 3}" role="img" aria-label="From the straw poll to the vote">
    ${voters.map((voter) => html`<g key=${voter} class="c${voter % 12} ${was(voter) === is(voter) ? "same" : ""}">
      <path d=${`M33 ${left.get(voter)}C50 ${left.get(voter)} 50 ${right.get(voter)} 67 ${right.get(voter)}`} />
      <text x="30.5" y=${left.get(voter) + 1} text-anchor="middle">${short(voter)}</text>
      <text x="69.5" y=${right.get(voter) + 1} text-anchor="middle">${short(voter)}</text></g>`)}
    ${from.map((one) => group(one, 27, -1))}${to.map((one) => group(one, 73, 1))}</svg>`;
}

function Ballots({ n, as, go }) {
  const found = ballots(n, as);
  const known = cards(as, n);
  if (!found.length) return html`<p class="empty">Nobody has voted yet.</p>`;
  const mark = (target) => (target === null || target === undefined ? html`<span class="soft">nobody</span>`
    : html`<span class="voted"><${Mark} seat=${seats[target]} /><span class="unseen">${name(target)}</span></span>`);
  return html`<div class="scrolls" tabindex="0" role="group" aria-label="Votes"><table class="matrix votes-table"><thead><tr><td></td>
    ${found.map((ballot) => html`<th key=${ballot.from} scope="col"><button type="button" class="quiet" onClick=${() => go(ballot.to)}>
      ${ballot.what === "elect" ? "Election" : "Day"} ${ballot.round}</button></th>`)}</tr></thead>
    <tbody>${seats.map((seat) => html`<tr key=${seat.seat}><th scope="row"><bdi>${seat.name}</bdi>
      ${known[seat.seat] && html` <small>${known[seat.seat]}</small>`}</th>${found.map((ballot) => html`<td key=${ballot.from}>
      ${ballot.votes.has(seat.seat) ? course(seat.seat, ballot).map((target, k) => html`${k > 0 && html`<span role="img" aria-label="then">→</span>`}${mark(target)}`) : "·"}</td>`)}</tr>`)}</tbody></table></div>
    ${found.some((ballot) => ballot.straws.size) && html`<p class="soft">Where there are arrows, the player had said something else in the straw poll (or in the second one, where it was taken twice).</p>`}
    ${found.filter((ballot) => ballot.straws.size).map((ballot) => html`<figure key=${ballot.from}>
      <figcaption>Day ${ballot.round}: from the straw poll, before the last speaker, to the vote. Each strand is the player of that number.</figcaption><${Flow} ballot=${ballot} /></figure>`)}`;
}

/** The players that a voter named in the straw polls and in the vote, if they differ. */
const course = (voter, ballot) => [...(ballot.straws.get(voter) || []), ballot.votes.get(voter)].filter((target, k, all) => k === 0 || target !== all[k - 1]);

// -- who lied, and why it ended so

const isWolf = (seat) => seats[seat].role === "Werewolf";
const listed = (names) => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`);
const count = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;

const aRole = (role) => `${role === "Werewolf" || role === "Villager" ? "a" : "the"} ${role}`;

/** What an act said, in words after its speaker's name. */
function saidWords({ kind, about, why, said }) {
  if (kind === "accusation") return html`calls <b>${name(about)}</b> a Werewolf`;
  if (kind === "defence") return html`says that <b>${name(about)}</b> is ${said === "not a Werewolf" ? "no Werewolf" : aRole(said)}`;
  if (kind === "result" && said) return html`says that a look at <b>${name(about)}</b> showed: ${said}`;
  if (kind === "result") return html`${why}, about <b>${name(about)}</b>`;
  return why;
}

/** How the speaker knew better. */
function knewWords({ kind, about, knew }, seat) {
  const card = `${name(about)} is ${aRole(seats[about].role)}`;
  if (knew === "card") return `it is ${aRole(seats[seat].role)}`;
  if (knew === "pack") return kind === "defence" ? `${name(about)} is a Werewolf of its own pack` : `the Werewolves know each other, and ${card}`;
  if (knew === "check") return `its own look had shown it: ${card}`;
  return knew === "shown" ? `all had seen the card: ${card}` : `it did no such thing; ${card}`;
}

const WAYS = { vote: "voted so", "straw poll": "said so in the straw poll", guess: "guessed so" };

/** Who believed an act, by what the record has. */
function Believed({ act: { heard, told, followed } }) {
  if (!heard.length) return html`<small>Everybody who heard it knew better.</small>`;
  const could = count(heard.length, "listener");
  if (!told) return html`<small>${could} could not know better. The record has no vote, poll or guess that shows whether they believed it.</small>`;
  const few = told < heard.length ? `${told} whose vote, poll or guess shows it; ${could} could not know better` : `${told} who could not know better`;
  if (!followed.length) return html`<small>Believed by none of the ${few}.</small>`;
  return html`<small>Believed by ${followed.length} of the ${few}: <b>${listed(followed.map(([seat, ways, before]) =>
    `${name(seat)} (${listed(ways.map((way) => WAYS[way]))}${before ? ", as before" : ""})`))}</b>.</small>`;
}

/** Statements against what their speakers knew, one side's. */
function Lies({ lies, go }) {
  return html`<ol class="plain-list lies">${lies.map(({ n, seat, acts }) => html`<li key=${n}><button type="button" class="quiet"
      onClick=${() => go(n)}>${phaseOf(items[n])}, line ${n + 1}</button> <b><bdi>${name(seat)}</bdi></b> (${seats[seat].role})
    ${acts.map((act, k) => html`${k > 0 ? "It also" : ""} <span class="lie">${saidWords(act)}</span>. It knew better: ${knewWords(act, seat)}.
      <${Believed} act=${act} />`)}</li>`)}</ol>`;
}

// -- the built-in reader's belief in the true Werewolves

const percent = (value) => `${Math.round(value)}\u00a0%`;

/** A public event in a few words. */
function eventWords(item) {
  if (item.kind === "said") return `${name(item.by)}'s statement`;
  if (item.kind === "vote") return `${name(item.by)}'s vote for ${item.to === null ? "nobody" : name(item.to)}`;
  return `“${item.text}”`;
}

function Curve({ points, turns, go }) {
  const [wide, high, last] = [100, 40, Math.max(1, items.length - 1)];
  const x = (at) => 8 + (at / last) * (wide - 12);
  const y = (value) => 3 + ((100 - value) / 100) * (high - 9);
  const begins = items.map((item, at) => [item, at]).filter(([item]) => item.kind === "time" && item.time === "day");
  return html`<svg class="beliefs" viewBox="0 0 ${wide} ${high}" role="img" aria-labelledby="curve-title">
    <title id="curve-title">The chance that the built-in reader gives to the true Werewolves, after each public event</title>
    ${[0, 50, 100].map((value) => html`<g key=${value}><path class="grid" d=${`M8 ${y(value)}H96`} /><text x="7" y=${y(value) + 1} text-anchor="end">${value}</text></g>`)}
    ${begins.map(([item, at]) => html`<g key=${at}><path class="grid" d=${`M${x(at)} 3V${high - 6}`} /><text x=${x(at)} y=${high - 2} text-anchor="middle">Day ${item.round}</text></g>`)}
    <path class="course c0" d=${points.map(([at, , after], k) => (k ? `H${x(at)}V${y(after)}` : `M${x(at)} ${y(after)}`)).join("")} />
    ${turns.map(([at, , after], k) => html`<g key=${at} class="turn-point" onClick=${() => go(at)}><circle cx=${x(at)} cy=${y(after)} r="1.9" />
      <text x=${x(at)} y=${y(after) + 1} text-anchor="middle">${k + 1}</text></g>`)}</svg>`;
}

/** The curve, the turning points in words, and the table behind the curve. */
function TurningPoints({ go }) {
  const { why, points, turns, unread, least, moved } = game.curve;
  const instrument = html`<p class="soft"><span class="tag">instrument</span> Computed by the built-in reader, not by the players: at each living seat of the village
    it knows what that seat has seen, and it says how likely each other player is a Werewolf. The curve is the mean chance that it gives to the true Werewolves.</p>`;
  const title = html`<h2>Turning points</h2>`;
  if (why || !points.length) return html`${title}<p class="soft">The built-in reader's beliefs are not computed for this game. ${why || "Nothing public happened in it."}</p>`;
  const Go = ({ at }) => html`<button type="button" class="quiet" onClick=${() => go(at)}>${phaseOf(items[at])}, line ${at + 1}</button>`;
  return html`${title}${instrument}<figure><${Curve} points=${points} turns=${turns} go=${go} />
      <figcaption>The mean chance in percent, after each public event. Numbers mark the turning points.</figcaption></figure>
    ${turns.length ? html`<ol class="turning">${turns.map(([at, before, after, who]) => html`<li key=${at}><${Go} at=${at} />
      <bdi>${eventWords(items[at])}</bdi> ${after > before ? "raised" : "lowered"} the suspicion of the true Werewolves from ${percent(before)} to ${percent(after)}.
      <small>${who.length ? `Moved by ${moved} points or more: ${listed(who.map(([seat, was, is]) => `${name(seat)} (${percent(was)} to ${percent(is)})`))}.` : `No seat moved by ${moved} points or more.`}</small></li>`)}</ol>`
    : html`<p class="soft">No event changed the suspicion by ${least} points or more.</p>`}
    ${unread > 0 && html`<p class="soft">${count(unread, "statement")} could not be read; the reader takes them for silence.</p>`}
    <details><summary>All ${points.length} public events as a table</summary><div class="scrolls" tabindex="0" role="group" aria-label="The curve as a table"><table>
      <thead><tr><th scope="col">line</th><th scope="col">event</th><th scope="col">before</th><th scope="col">after</th></tr></thead>
      <tbody>${points.map(([at, before, after]) => html`<tr key=${at}><td>${at + 1}</td><td><bdi>${eventWords(items[at])}</bdi></td><td>${before.toFixed(1)}</td><td>${after.toFixed(1)}</td></tr>`)}</tbody></table></div></details>`;
}

/** A sentence on the players removed by votes and nights. */
function Toll({ out }) {
  const by = (counted, wolf) => out.filter(([at, seat]) => Boolean(items[at].counted) === counted && isWolf(seat) === wolf).length;
  const [voted, nights] = [by(true, false) + by(true, true), by(false, false) + by(false, true)];
  return html`<p>${voted ? html`Votes put out ${count(voted, "player")}: ${by(true, false)} of the village's side, ${by(true, true)} of the Werewolves.` : "No vote put anybody out."}
    ${nights > 0 && html` ${nights} more left in other ways: ${by(false, false)} of the village's side, ${by(false, true)} of the Werewolves.`}</p>`;
}

/** What was done to somebody in the night before line `at`, as far as the record shows it: " (kill by player_2)". */
function hands(at, seat) {
  const done = [];
  for (let k = at - 1; k >= 0 && items[k].round === items[at].round && items[k].time === "night"; k -= 1) {
    if ((items[k].act === "kill" || items[k].act === "poison") && items[k].to === seat) done.unshift(`${items[k].act} by ${name(items[k].by)}`);
  }
  return done.length ? ` (${listed(done)})` : "";
}

function Signs({ go }) {
  const end = items.findLast((item) => item.kind === "end");
  const all = ballots(items.length - 1, MODERATOR);
  const out = items.flatMap((item, at) => (item.gone || []).map((seat) => [at, seat]));
  const how = (at, seat) => {
    const item = items[at];
    if (!item.counted) return item.act === "shot" ? `shot by ${name(item.by)}` : `died in the night${hands(at, seat)}`;
    const votes = all.findLast((one) => one.what !== "elect" && one.to < at)?.votes || new Map();
    const voters = [...votes.keys()].filter((voter) => votes.get(voter) === seat);
    return `voted out by ${listed(voters.map((voter) => name(voter) + (isWolf(voter) ? " (Werewolf)" : "")))}`;
  };
  const said = items.filter((item) => item.kind === "said" && item.text);
  const unread = said.filter((item) => (item.acts || []).some(([what]) => what === "unread"));
  const kinds = [...new Set(game.signs.map(([, , what]) => what))];
  const Go = ({ at }) => html`<button type="button" class="quiet" onClick=${() => go(at)}>${phaseOf(items[at])}</button>`;
  const [ofWolves, ofVillage] = [true, false].map((wolf) => game.deceptions.filter((one) => isWolf(one.seat) === wolf));
  const none = html`<p class="soft">None were found${unread.length > 0 && " in what was read"}.</p>`;
  return html`${end && html`<p class="lead"><b><bdi>${end.text}</bdi></b></p>`}<h2>What the Werewolves said against what they knew, and who believed it</h2>
    ${ofWolves.length ? html`<${Lies} lies=${ofWolves} go=${go} />` : unread.length < said.length || !said.length ? none : null}
    ${unread.length > 0 && html`<p class="soft">${unread.length} of ${said.length} statements could not be read (not English): what they say is not known.</p>`}
    ${ofVillage.length > 0 && html`<h2>What the village said against what it knew</h2><${Lies} lies=${ofVillage} go=${go} />`}
    <p class="soft">Found by rules in what was said; a sentence may be read wrongly. “Believed” is the listener's next vote, straw poll or guess of a role, where it agrees; it may have another reason.</p>
    <h2>How the game ended</h2><${Toll} out=${out} />
    <h3>Who left the game</h3><ol class="plain-list">${out.map(([at, seat]) => html`<li key=${at + seat}><${Go} at=${at} />
      <bdi>${name(seat)}</bdi>, ${seats[seat].role}: ${how(at, seat)}</li>`)}</ol>
    <${TurningPoints} go=${go} />
    <h2>What else was seen</h2>${!kinds.length && html`<p class="soft">Nothing.</p>`}
    ${kinds.map((kind) => html`<section key=${kind}><h3>${kind}</h3><p class="soft">${game.behaviours[kind]}</p><ol class="plain-list">
      ${game.signs.filter(([, , what]) => what === kind).map(([line, seat, , why], k) => html`<li key=${k}><${Go} at=${Math.min(line, items.length - 1)} />
      <bdi>${name(seat)}: ${why}</bdi></li>`)}</ol></section>`)}`;
}

// -- time

/** An arrow, with a bar where it goes to the end of something. */
function Move({ back, end }) {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><g transform=${back ? "matrix(-1 0 0 1 24 0)" : null}>
    <path class="solid" d=${end ? "M5 5l10 7-10 7zM18 5v14" : "M8 5l10 7-10 7z"} /></g></svg>`;
}

/** Days, nights and deaths along the timeline. */
function Marks({ as, measure }) {
  const seen = items.map((item, at) => [item, at]).filter(([item]) => sees(item, as));
  const last = items.length - 1;
  const phases = seen.filter(([item]) => item.kind === "time");
  return html`<svg class="marks" viewBox="0 0 1000 12" preserveAspectRatio="none" aria-hidden="true">${phases.map(([item, at], k) => {
        const until = k + 1 < phases.length ? phases[k + 1][1] : last + 1;
        return html`<rect key=${at} class=${item.time} x=${(1000 * at) / (last + 1)} width=${(1000 * (until - at)) / (last + 1)} y="0" height="12" />`;
      })}${seen.filter(([item]) => item.gone?.length).map(([, at]) => html`<rect key=${`g${at}`} class="death" x=${(1000 * at) / (last + 1) - 2} width="5" y="0" height="12" />`)}
    ${[...countedLines(as === MODERATOR ? measure : "").keys()].map((at) => html`<rect key=${`c${at}`} class="counted" x=${(1000 * at) / (last + 1)} width="4" y="7" height="5" />`)}</svg>`;
}

function Time({ n, as, go, playing, setPlaying, speed, setSpeed, measure }) {
  const last = items.length - 1;
  const marks = useMemo(() => html`<${Marks} as=${as} measure=${measure} />`, [as, measure]);
  return html`<div class="time-box"><div class="buttons">
      <button type="button" onClick=${() => go(phase(n, as, -1))} aria-label="To the day or night before" title="Page Up"><${Move} back end /></button>
      <button type="button" onClick=${() => go(step(n, as, -1))} aria-label="Back" title="Left arrow"><${Move} back /></button>
      <button type="button" class="main" onClick=${() => setPlaying(!playing)} aria-pressed=${playing} title="Space">${playing ? "Pause" : "Play"}</button>
      <button type="button" onClick=${() => go(step(n, as, 1))} aria-label="On" title="Right arrow"><${Move} /></button>
      <button type="button" onClick=${() => go(phase(n, as, 1))} aria-label="To the next day or night" title="Page Down"><${Move} end /></button>
      <label class="speed"><span>Speed</span> <select aria-label="Speed" value=${speed} onChange=${(event) => setSpeed(Number(event.target.value))}>
        ${SPEEDS.map(([word, pause]) => html`<option key=${pause} value=${pause}>${word}×</option>`)}</select></label></div>
    <div class="slider"><input type="range" min="0" max=${last} value=${n} aria-label="Line" aria-valuetext=${`line ${n + 1} of ${last + 1}, ${phaseOf(items[n])}`}
        onInput=${(event) => go(near(Number(event.target.value), as))} />
      ${marks}</div>
    <p class="where" aria-live="off">${phaseOf(items[n])} · line ${n + 1} of ${last + 1}</p></div>`;
}

/** The next line that the viewer sees, in that direction; without one, the same line. */
function step(n, as, by) {
  for (let at = n + by; at >= 0 && at < items.length; at += by) if (sees(items[at], as)) return at;
  return n;
}

function phase(n, as, by) {
  for (let at = n + by; at >= 0 && at < items.length; at += by) if (items[at].kind === "time" && sees(items[at], as)) return at;
  return by < 0 ? near(0, as) : near(items.length - 1, as);
}

/** The line itself if the viewer sees it, else the last seen before it, else the first one seen. */
function near(n, as) {
  if (sees(items[n], as)) return n;
  const before = step(n, as, -1);
  return before === n ? step(n, as, 1) : before;
}

// -- search

function Search({ as, go, field }) {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const wanted = query.trim().toLowerCase();
  const hits = useMemo(() => (wanted === "" ? [] : items.map((item, k) => k).filter((k) => sees(items[k], as) && lineWords(items[k]).includes(wanted))), [wanted, as]);
  function next(event) {
    event.preventDefault();
    if (!hits.length) return;
    go(hits[at % hits.length]);
    setAt(at + 1);
  }
  return html`<form class="search" role="search" onSubmit=${next}><label class="unseen" for="search">Search</label>
    <input id="search" ref=${field} type="search" placeholder="Search what was said" value=${query} onInput=${(event) => { setQuery(event.target.value); setAt(0); }} />
    <button type="submit" disabled=${!hits.length}>Next</button>
    <span role="status" class="soft">${wanted && (hits.length ? `${Math.min(at, hits.length) || 0} of ${hits.length}` : "Nothing found")}</span></form>`;
}

const lineWords = (item) => {
  const by = speaker(item) === null ? "" : name(item.by);
  const vote = item.kind === "vote" ? `votes for ${item.to === null ? "nobody" : name(item.to)}` : "";
  return `${by} ${vote}${item.text || ""}`.toLowerCase();
};

// -- the page

const KEYS = [["← →", "one line back or on"], ["Page Up, Page Down", "the day or night before or next"], ["Home, End", "first or last line"],
  ["Space", "play or pause"], ["/", "search"], ["m, p, 1 to 9", "as the moderator, the public, a player"], ["?", "this list"]];

function App() {
  const [state, setState] = useState(readLink);
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(1300);
  const [shown, setShown] = useState("");
  const wide = useWide();
  const field = useRef(null);
  const { n, as, tab, measure } = state;
  const counts = measure && as === MODERATOR;
  const go = (line) => setState((was) => ({ ...was, n: line }));
  const look = (who) => setState((was) => ({ ...was, as: who, n: near(was.n, who) }));
  const show = (what) => setState((was) => ({ ...was, tab: what }));
  const goHere = useRef(go);

  useEffect(() => { if (!wide && tab !== "log") document.querySelector(".tabs").scrollIntoView(); }, []);
  useEffect(() => {
    const changed = () => setState(readLink());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  useEffect(() => {
    const link = linkTo(state);
    const write = setTimeout(() => { if (location.hash !== link) history.replaceState(null, "", link); }, 120);
    return () => clearTimeout(write);
  }, [state]);
  useEffect(() => {
    if (!playing) return undefined;
    const timer = setInterval(() => setState((was) => {
      const next = step(was.n, was.as, 1);
      if (next === was.n) setPlaying(false);
      return { ...was, n: next };
    }), speed);
    return () => clearInterval(timer);
  }, [playing, speed]);
  useEffect(() => {
    const typing = (target) => target.closest("input:not([type=range]), select, textarea, dialog");
    const pressed = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
      if (event.key === " " && event.target.closest("button, summary")) return; // it presses these
      const acts = {
        ArrowLeft: () => go(step(n, as, -1)), ArrowRight: () => go(step(n, as, 1)),
        PageUp: () => go(phase(n, as, -1)), PageDown: () => go(phase(n, as, 1)),
        Home: () => go(near(0, as)), End: () => go(near(items.length - 1, as)),
        " ": () => setPlaying(!playing), "/": () => field.current.focus(),
        "?": () => setShown("keys"), m: () => game.as === null && look(MODERATOR), p: () => look(PUBLIC),
      };
      const seat = /^[1-9]$/.test(event.key) ? seats.find((one) => one.seat === Number(event.key) - 1 && (game.as === null || game.as === one.seat)) : null;
      const act = acts[event.key] || (seat && (() => look(String(seat.seat))));
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [n, as, playing]);
  const now = items[n];
  useEffect(() => { if (!playing) say(now.kind === "said" ? `${name(now.seat)}: ${begun(now.text, 600) || "says nothing"}` : begun(lineWords(now), 600)); }, [n]);

  return html`<header class="bar"><${ProjectMark} /><h1><bdi>${game.title}</bdi></h1>
      <label class="as"><span>Seen by</span> <select aria-label="Seen by" value=${as} onChange=${(event) => look(event.target.value)}>
        ${game.as === null && html`<option value=${MODERATOR}>the moderator: everything</option>`}
        ${(game.as === null ? seats : [seats[game.as]]).map((seat) => html`<option key=${seat.seat} value=${String(seat.seat)}>${seat.name}${as === MODERATOR && `, ${seat.role}`}</option>`)}
        <option value=${PUBLIC}>the public: what all hear</option></select></label>
      ${game.as === null && html`<button type="button" aria-pressed=${as === MODERATOR} onClick=${() => look(as === MODERATOR ? PUBLIC : MODERATOR)}>Roles</button>`}
      <button type="button" aria-haspopup="dialog" onClick=${() => setShown("players")}>Players</button>
      <button type="button" aria-haspopup="dialog" onClick=${() => setShown("rules")}>Rules</button>
      <button type="button" class="for-keys" aria-haspopup="dialog" onClick=${() => setShown("keys")}>Keys</button></header>
    <main class="replay"><section class="left" aria-label="The table"><${Ring} n=${n} as=${as} />
        <p class="now" tabindex="0" role="region" aria-label="This line"><bdi>${speaker(now) !== null && html`<b>${name(now.by)}</b>${now.kind === "said" ? ": " : " "}`}<${Sentence}
          item=${now} most=${600} /></bdi></p>
        <${Time} n=${n} as=${as} go=${go} playing=${playing} setPlaying=${setPlaying} speed=${speed} setSpeed=${setSpeed} measure=${measure} /></section>
      <section class="right ${counts ? "counts" : ""}" aria-label="More about it">${counts && html`<${Counted} measure=${measure} n=${n}
          go=${(line) => { go(line); show("log"); }} close=${() => setState((was) => ({ ...was, measure: "" }))} />`}<div class="tabs" role="tablist">${TABS.map(([key, word]) => html`<button type="button" role="tab" key=${key}
          id=${`tab-${key}`} aria-selected=${tab === key} aria-controls="panel" tabindex=${tab === key ? 0 : -1} onClick=${() => show(key)} onKeyDown=${(event) => turnTab(event, show)}>${word}</button>`)}</div>
        <${Search} as=${as} go=${(line) => { go(line); show("log"); }} field=${field} />
        <div id="panel" role="tabpanel" aria-labelledby=${`tab-${tab}`} class="panel p-${tab}">
        ${tab === "log" ? html`<${Log} n=${n} as=${as} go=${goHere.current} measure=${measure} />` : html`<div class="scroll-box" tabindex="0">
          ${tab === "thoughts" && html`<${Thoughts} n=${n} as=${as} measure=${as === MODERATOR ? measure : ""} />`}${tab === "trust" && html`<${TrustTable} n=${n} as=${as} />`}
          ${tab === "votes" && html`<${Ballots} n=${n} as=${as} go=${go} />`}
          ${tab === "signs" && (as === MODERATOR ? html`<${Signs} go=${go} />` : html`<p class="empty">Only the moderator knows who lied.</p>
            <p><button type="button" class="main" onClick=${() => look(MODERATOR)}>Show roles, secrets and who lied</button></p>`)}</div>`}</div></section></main>
    ${shown === "rules" && html`<${Dialog} title=${`The rules: ${game.rules}`} onClose=${() => setShown("")}><div class="prose">
      ${game.rules_text.split(/\n\s*\n/).map((part, at) => html`<p key=${at}>${part}</p>`)}</div></${Dialog}>`}
    ${shown === "keys" && html`<${Dialog} title="Keys" onClose=${() => setShown("")}><dl class="keys-list">
      ${KEYS.map(([key, what]) => html`<dt key=${key}><kbd>${key}</kbd></dt><dd key=${`${key}d`}>${what}</dd>`)}</dl>
      <p class="soft">The address of this page holds the line and whose eyes it is seen by: copy it to share what you see.</p></${Dialog}>`}
    ${shown === "players" && html`<${Dialog} title="Players" onClose=${() => setShown("")}><ul class="who-list">
      ${seats.map((seat) => html`<li key=${seat.seat}><${Mark} seat=${seat} /><bdi class="name">${seat.name}</bdi>
        ${cards(as, n)[seat.seat] && html`<span class="tag role-name"><${Icon} name=${cards(as, n)[seat.seat]} />${cards(as, n)[seat.seat]}</span>`}
        <small>${seat.who}</small></li>`)}</ul></${Dialog}>`}`;
}

function turnTab(event, show) {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!by) return;
  event.preventDefault();
  event.stopPropagation();
  const all = [...event.currentTarget.parentElement.children];
  const at = (all.indexOf(event.currentTarget) + by + all.length) % all.length;
  show(TABS[at][0]);
  all[at].focus();
}

const root = document.getElementById("page");
root.textContent = "";
if (items.length) render(html`<${App} />`, root);
else root.textContent = "Nothing has happened in this game yet.";
