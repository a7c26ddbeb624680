// A table while it is played, and after: the head, the players, the log, and the panel. For a seat, for those who
// watch, and for the host.

import { useEffect, useRef, useState } from "./vendor/hooks.module.js";
import { makeSeat, post, useAnswers, useKeptText, useLive, useSignals } from "./live.js";
import { BUDGET, Careful, Clock, CopyLink, Dialog, Icon, Mark, Notice, Numbers, Who, count, filled, html, say, useWide } from "./parts.js";
import { TurnPanel, Watching } from "./turn_panel.js";
import { Log, inWords } from "./log.js";
import { Bar, Connection, Rules, Waiting } from "./frame.js";
import { Lobby } from "./lobby.js";
import { WaysBack, forget, held, notOurs, remember } from "./ways.js";
import { at } from "./place.js";

// -- the head

function Phase({ now }) {
  const stopped = { over: "Over", paused: "Paused" }[now.table.state];
  if (stopped || !now.round) return html`<span class="phase">${stopped || "Begins"}</span>`;
  const night = now.time === "night";
  return html`<span class="phase ${now.time}">
    <${Icon} name=${night ? "night" : "day"} />${night ? "Night" : "Day"} ${now.round}</span>`;
}

/** One's own role. It can be hidden; this tab remembers that, and no other. */
function RoleBar({ now, hidden, setHidden, open }) {
  const { you } = now;
  return html`<section class="mine" aria-label="Your role">
    <button type="button" class="role" aria-haspopup="dialog" onClick=${() => open("know")}>
      <${Icon} name=${hidden ? "lock" : you.role || "unknown"} />
      <span class="role-words"><b>${hidden ? "Role hidden" : you.role || "No role yet"}</b>
      <small>What I know</small></span></button>
    <button type="button" aria-pressed=${hidden} onClick=${() => setHidden(!hidden)}>${hidden ? "Show" : "Hide"}</button>
    <button type="button" class="narrow" aria-haspopup="dialog" onClick=${() => open("notes")}>Notes</button>
    <button type="button" aria-haspopup="dialog" onClick=${() => open("rules")}>Rules</button></section>`;
}

function Know({ now, hidden, setHidden, link }) {
  const { you, seats } = now;
  if (hidden) return html`<p>Your role is hidden.</p>
    <button type="button" class="main" onClick=${() => setHidden(false)}>Show my role</button>`;
  return html`<div class="know"><p class="know-role"><${Icon} name=${you.role} /><b>${you.role}</b></p><p>${you.about}</p>
    ${you.pack.length > 0 && html`<h3>Your pack</h3>
    <ul class="pack">${you.pack.map((n) => html`<li key=${n}><${Mark} seat=${seats[n]} /><${Who} seat=${seats[n]} />
      ${n === you.seat && html`<span class="tag">you</span>`}${!seats[n].alive && html`<span class="tag">
      <${Icon} name="out" />out</span>`}</li>`)}</ul>`}
    <h3>What you know</h3>${you.known.length ? html`<ul>${you.known.map((fact, n) => html`<li key=${n}>
    <bdi>${fact}</bdi></li>`)}</ul>`
      : html`<p>Nothing but your role so far.</p>`}
    ${link && html`<h3>Your seat</h3><p>This link is your seat. Keep it to yourself; it opens your seat on any device.</p>
    <${CopyLink} label="Link to your seat" link=${link} />`}</div>`;
}

function Notes({ notes }) {
  return html`<label class="notes"><span>Notes <small>for you alone</small></span>
    <textarea rows="6" value=${notes.text} onInput=${(e) => notes.typed(e.target.value)} /></label>`;
}

// -- the players

const KINDS = { person: "person", shared: "person, shared device", agent: "agent", player: "" };

/** Everything about a player in words; the strip on a phone shows the same as shapes. */
function states(seat, now, me) {
  const words = [];
  if (seat.seat === me) words.push(["", "you"]);
  if (!seat.alive) words.push(["out", "out"]);
  if (seat.sheriff) words.push(["sheriff", "Sheriff"]);
  if (seat.here === false) words.push(["lost", "connection lost"]);
  if (seat.stand_in) words.push(["agent", "stand-in plays"]);
  const turn = now.time === "day" && now.turn?.seats.includes(seat.seat);
  if (turn) words.push(["clock", { speak: "speaks", vote: "votes" }[now.turn.what] || "is asked"]);
  return words;
}

export function Players({ now, me = null, hidden = false }) {
  return html`<ul class="players">${now.seats.map((seat) => html`<li key=${seat.seat} class="${seat.alive ? "" : "gone"}">
    <${Mark} seat=${seat} /><div><${Who} seat=${seat} /> <span class="states">
      ${KINDS[seat.kind] && html`<span class="kind"><${Icon} name=${seat.kind} />${KINDS[seat.kind]}</span>`}
      ${states(seat, now, me).map(([icon, word]) => html`<span class="tag s-${icon}"
        key=${word}>${icon && html`<${Icon} name=${icon} />`}${word}</span>`)}
      ${seat.role && !(hidden && now.table.state !== "over") && html`<span class="tag role-name">
      <${Icon} name=${seat.role} />${seat.role}</span>`}</span></div></li>`)}</ul>`;
}

/** The table on a phone. A mark carries its number, so a nameless seat says what kind of player it is. */
function Strip({ now, me, open }) {
  const alive = now.seats.filter((seat) => seat.alive).length;
  const look = (seat) => `${seat.alive ? "" : "gone"} ${states(seat, now).some(([icon]) => icon === "clock") ? "turn-now" : ""}`;
  return html`<button type="button" class="strip ${now.seats.length > 8 ? "many" : ""}" aria-haspopup="dialog"
    onClick=${() => open("players")}>
    <span class="unseen">The players: ${alive} of ${now.seats.length} in the game</span>
    ${now.seats.map((seat) => html`<span key=${seat.seat} aria-hidden="true" class="chip ${look(seat)}">
      <${Mark} seat=${seat} />${!seat.alive && html`<${Icon} name="out" />`}${seat.sheriff && seat.alive && html`<${Icon}
        name="sheriff" />`}
      ${seat.here === false && seat.alive && html`<${Icon} name="lost" />`}
      <bdi>${seat.seat === me ? "You" : seat.nick || seat.kind}</bdi></span>`)}</button>`;
}

// -- what delays the game

function Banners({ live, seat }) {
  const { now, clock } = live;
  return html`<${Connection} live=${live} />
    ${now.pause && html`<p class="banner" role="status"><${Icon} name="clock" /><span><bdi>${now.pause.text}</bdi></span>
    <${Clock} until=${now.pause.until} clock=${clock} /></p>`}
    ${now.you && now.you.stand_in && html`<div class="banner"><${Icon} name="agent" />
    <span>A stand-in plays for you.</span>
      <button type="button" onClick=${() => seat.send("back")}>Take my seat back</button></div>`}`;
}

/** A failure stopped the game. The maker of the table may raise the budget, and resume the game. */
function Paused({ now, first }) {
  const [budget, setBudget] = useState({});
  const [wrong, setWrong] = useState("");
  const base = `/t/${now.table.code}/`;
  async function go(what) {
    setWrong((await post(base + what, what === "resume" ? filled(budget) : {})).error);
  }
  return html`<section class="turn-panel halted" aria-label="The game is paused"><h2>The game is paused</h2><p>
    <bdi>${now.table.why}</bdi></p>
    <p class="soft">Nothing is lost. ${first.keeper ? "" : "Whoever made the table can let it go on."}</p>
    <${Notice} text=${wrong} />
    ${first.keeper && html`${first.host && html`<details><summary>Raise the budget</summary>
    <${Numbers} names=${BUDGET} fields=${budget} set=${setBudget} empty="as before" /></details>`}
      <div class="actions"><${Careful} label="End the game" sure="End this game for good?"
        onYes=${() => go("close")} /><button type="button" class="main"
        onClick=${() => go("resume")}>Resume</button></div>`}</section>`;
}

/** The next game of the same people: the maker of the table makes the next one, and all others follow. */
function Again({ now, first }) {
  const { code, next } = now.table;
  const [wrong, setWrong] = useState("");
  const [busy, setBusy] = useState(false);
  const lobby = (table, shared) => at(`/t/${table}/${shared ? "d/" : ""}`);
  async function make() {
    setBusy(true);
    const answer = await post(`/t/${code}/again`);
    setBusy(false);
    if (answer.ok) location.assign(lobby(answer.data.code, answer.data.device));
    else setWrong(answer.error);
  }
  if (next) {
    const shared = first.keeper && held(code).includes("device"); // the device is let in where it made the table
    return html`<a class="button main" href=${lobby(next, shared)}>Play again</a>`;
  }
  if (first.keeper) return html`<${Notice} text=${wrong} />
    <button type="button" class="main" disabled=${busy} onClick=${make}>Play again</button>`;
  return html`<a class="button" href=${at("/")}>All tables</a>`;
}

/** Whether a seat has won; "" if nobody has, and for viewers without a seat. */
function result(you, end) {
  if (!you?.role || !["werewolves", "village"].includes(end?.winner)) return "";
  return (you.role === "Werewolf") === (end.winner === "werewolves") ? "You won. " : "You lost. ";
}

function Over({ now, first, log, host, handOver }) {
  const end = log.findLast((item) => item.kind === "end");
  const { you } = now;
  if (now.table.way) return html`<section class="turn-panel over" aria-label="After the game"><h2>${result(you, end)}
    <bdi>${end ? end.text : now.table.why || "The game is over."}</bdi></h2>
    <a class="button main" href=${at(now.table.way)}>Go on with the study</a></section>`;
  const revealed = log.some((item) => item.kind === "reveal"); // not where the game was ended before its end
  return html`<section class="turn-panel over" aria-label="After the game"><h2>${result(you, end)}
    <bdi>${end ? end.text : now.table.why || "The game is over."}</bdi></h2>
    <p class="soft">${you?.role && `Your role was ${you.role}. `}${revealed && "Everybody's role stands in the log. "}
      ${!now.table.next && !first.keeper && "Whoever made the table can start the next game."}</p>
    <div class="actions">${revealed && html`<a class="button" target="_blank" rel="noopener"
      href=${at(`/t/${now.table.code}/replay.html`)}>Replay: who lied</a>`}
      ${!host && now.round > 0 && html`<a class="button" target="_blank" rel="noopener"
      href=${at(`/t/${now.table.code}/host/`)}>What everybody did and thought</a>`}
      ${handOver ? html`<button type="button" class="main" onClick=${handOver}>Hand over</button>`
        : html`<${Again} now=${now} first=${first} />`}</div></section>`;
}

// -- the table

/** Read out what is new, and keep the title of the window. */
function useNews(live, hidden) {
  const heard = useRef(null);
  const { log, now } = live;
  const asks = now.you?.asks ?? [];
  const own = now.you && (asks.length > 0 || (now.time === "night" && now.you.may_rest && !now.you.rested));
  useEffect(() => {
    const since = heard.current;
    heard.current = log.length;
    if (since === null || log.length <= since) return; // what was there at the beginning is read by moving through it
    const lines = log.slice(since).map((item) => inWords(item, now.seats, hidden)).filter(Boolean);
    if (lines.length > 5) say(`${count(lines.length, "new line")} in the log`);
    else lines.forEach(say);
  }, [log]);
  const first = asks[0];
  useEffect(() => {
    if (first) say(`${first.outside ? "You are asked" : "It is your turn"}: ${first.text}`);
  }, [first?.id]);
  useEffect(() => {
    document.title = `${own ? "Your turn – " : ""}${now.table.name} – Wolflab`;
  }, [own, now.table.name]);
}

function useHidden() {
  const [hidden, set] = useState(() => sessionStorage.getItem("role hidden") === "yes");
  return [hidden, (value) => { sessionStorage.setItem("role hidden", value ? "yes" : "no"); set(value); }];
}

/** The frame that all views of a running table share. `panel` is at the bottom. */
export function Table({ live, watch, host = false, seat = null, notes = null, link = "", handOver = null, panel }) {
  const { now, log, first } = live;
  const [shown, open] = useState("");
  const [hidden, setHidden] = useHidden();
  const [thoughts, showThoughts] = useState(false);
  const wide = useWide();
  useNews(live, hidden);
  const me = now.you ? now.you.seat : null;
  const close = () => open("");
  const { state } = now.table;
  const over = state === "over";
  const base = `/t/${now.table.code}/`;
  const ways = now.you ? null : host ? html`<a class="button" href=${at(base)}>Back to the table</a>
    ${log.some((item) => item.kind === "thought") && html`<button type="button"
      onClick=${() => showThoughts(!thoughts)}>${thoughts ? "Close" : "Open"} all thoughts</button>`}`
    : html`<${WaysBack} code=${now.table.code} seats=${now.seats} />
    ${first.host && !over && html`<a class="button" href=${at(`${base}host/`)}>The moderator's view</a>`}`;
  return html`<div class="table">
    <${Bar} title=${now.table.name}><${Phase} now=${now} /></${Bar}>
    ${now.you ? html`<${RoleBar} now=${now} hidden=${hidden} setHidden=${setHidden} open=${open} />`
      : html`<section class="mine here" aria-label="How you are here"><p class="watching">${watch}</p>
        <button type="button" aria-haspopup="dialog" onClick=${() => open("rules")}>Rules</button>
        ${!wide && ways}</section>`}
    ${!wide && html`<nav class="strip-frame" aria-label="Players"><${Strip} now=${now} me=${me} open=${open} /></nav>`}
    <main class="stage"><${Banners} live=${live} seat=${seat} />
      <${Log} log=${log} seats=${now.seats} me=${me} hidden=${hidden && !over} fromStart=${host && over}
        thoughts=${thoughts} />
      ${over ? html`<${Over} now=${now} first=${first} log=${log} host=${host} handOver=${handOver} />`
        : state === "paused" ? html`<${Paused} now=${now} first=${first} />` : panel(hidden)}</main>
    ${wide && html`<aside class="side" aria-label="The table">${ways}<h2>Players</h2>
    <${Players} now=${now} me=${me} hidden=${hidden} />
      ${now.spectators > 0 && html`<p class="soft">${count(now.spectators, "spectator")}</p>`}${notes && html`<${Notes}
        notes=${notes} />`}
      ${first.keeper && !over && html`<${Keeper} code=${now.table.code} />`}</aside>`}
    ${shown === "rules" && html`<${Rules} name=${now.table.rules} text=${first.rules_text} onClose=${close} />`}
    ${shown === "know" && now.you && html`<${Dialog} title="What I know" onClose=${close}>
    <${Know} now=${now} hidden=${hidden} setHidden=${setHidden} link=${link} /></${Dialog}>`}
    ${shown === "notes" && html`<${Dialog} title="Notes" onClose=${close}><${Notes} notes=${notes} /></${Dialog}>`}
    ${shown === "players" && html`<${Dialog} title="Players" onClose=${close}>
    <${Players} now=${now} me=${me}
      hidden=${hidden} />${first.keeper && !over && html`<${Keeper} code=${now.table.code} />`}</${Dialog}>`}
  </div>`;
}

function Keeper({ code }) {
  const [wrong, setWrong] = useState("");
  return html`<div class="keeper">
    <${Careful} label="End the game" sure="End this game for everybody?"
      onYes=${async () => setWrong((await post(`/t/${code}/close`)).error)} /><${Notice} text=${wrong} /></div>`;
}

/** The server has closed the connection for good; the page stays readable. */
function Closed({ live }) {
  return live.link === "closed" ? html`<p class="banner closed" role="alert">
    <${Icon} name="out" />${live.sentence} <a href=${at("/")}>All tables</a></p>` : null;
}

/** A seat that plays. It is mounted once for the page, so that drafts survive every reconnection. */
function Playing({ live, seat, link, handOver }) {
  const { now, clock, first } = live;
  const draft = useKeptText(seat, "draft", first.draft);
  const notes = useKeptText(seat, "notes", first.notes);
  const answers = useAnswers(seat);
  const due = now.you.asks.find((ask) => !ask.options && !ask.rate);
  const signals = useSignals(seat, now.table.signals, due ? due.id : "");
  useEffect(() => { // a text that the server has taken is no draft any more
    const said = Object.values(answers.all).some((one) => one.state === "kept" && one.draft === draft.text);
    if (said && draft.text) draft.typed("");
  }, [answers.all]);
  const typed = (text, how) => { signals.typed(how); draft.typed(text); };
  const panel = (hidden) => html`<${TurnPanel} now=${now} clock=${clock} seat=${seat} answers=${answers} draft=${draft.text}
    typed=${typed} signals=${signals} hidden=${hidden} handOver=${handOver} />`;
  return html`<${Table} live=${live} seat=${seat} notes=${notes} link=${link} handOver=${handOver} panel=${panel} />`;
}

/** `/t/CODE/s/N/`, and an unlocked shared device (then with a ticket and `handOver`). */
export function SeatPage({ code, number, secret = "", ticket = "", handOver = null }) {
  const base = `/t/${code}/s/${number}/`;
  const [seat] = useState(() => makeSeat(base, ticket));
  const live = useLive(`${base}live`, ticket);
  const link = secret ? `${location.origin}${at(base)}#secret=${secret}` : "";
  const state = live.now?.table.state;
  const waited = useRef(false); // whether this page has shown the lobby
  if (state === "lobby") waited.current = true;
  // The holder of a shared device when the game begins need not be this seat's person: the role waits for the PIN.
  const begins = Boolean(handOver && waited.current && state !== "lobby");
  useEffect(() => { if (begins) handOver(); }, [begins]);
  useEffect(() => {
    if (ticket) return; // its way back is the device's own page
    if (live.link === "open") remember(code, number);
    if (live.link === "closed" && notOurs(live.status)) forget(code, number);
  }, [live.link]);
  if (begins) return null;
  if (!live.now) return html`<${Waiting} live=${live} />`;
  if (state === "lobby") return html`<${Lobby} live=${live} seat=${seat} link=${link} handOver=${handOver} />`;
  return html`<${Closed} live=${live} /><${Playing} live=${live} seat=${seat} link=${link} handOver=${handOver} />`;
}

/** `/t/CODE/` and `/t/CODE/host/`. */
export function WatchPage({ code, host = false }) {
  const live = useLive(`/t/${code}/${host ? "host/" : ""}live`);
  if (!live.now) return html`<${Waiting} live=${live} />`;
  if (live.now.table.state === "lobby") return html`<${Lobby} live=${live} />`;
  const others = live.now.spectators > 1 ? `, with ${count(live.now.spectators - 1, "other")}` : "";
  const watch = host ? "The moderator's view: every role, secret and thought." : `You are watching${others}.`;
  return html`<${Closed} live=${live} />
    <${Table} live=${live} watch=${watch} host=${host} panel=${() => html`<${Watching} now=${live.now} clock=${live.clock} />`} />`;
}
