// The panel at the bottom: open asks, whose turn it is, and the time left.

import { useEffect, useRef, useState } from "./vendor/hooks.module.js";
import { pause } from "./live.js";
import { Clock, Icon, Mark, Notice, Who, html, useLeft, sayNow } from "./parts.js";

/** The player whom an option names: the option then shows the mark and the name of the person. Names follow a verb. */
function seatOf(option, seats) {
  const fits = seats.filter((seat) => option === seat.name || option.endsWith(` ${seat.name}`));
  return fits.sort((a, b) => b.name.length - a.name.length)[0];
}

/** The words on an option: the verb small, the player large. */
function Tile({ option, seat }) {
  if (!seat) return html`<span class="option-text"><bdi>${option}</bdi></span>`;
  const verb = option.slice(0, option.length - seat.name.length);
  return html`<${Mark} seat=${seat} /><span class="option-text">${verb && html`<small>${verb}</small>`}
    <${Who} seat=${seat} /></span>`;
}

function Options({ ask, seats, onSend }) {
  const [chosen, setChosen] = useState("");
  const [missing, setMissing] = useState(false);
  const choose = (option) => { setChosen(option); setMissing(false); };
  function submit(event) {
    event.preventDefault();
    if (chosen) onSend({ ask: ask.id, chose: chosen }, chosen);
    else setMissing(true);
  }
  const named = ask.options.filter((option) => seatOf(option, seats)).length;
  return html`<form class="ask" onSubmit=${submit}>
    <div class="scrolls"><fieldset><legend>${ask.text}</legend><div class="options ${named ? "" : "bare"}">
      ${ask.options.map((option) => html`<label class="option" key=${option}>
        <input type="radio" name=${`ask ${ask.id}`} value=${option} checked=${chosen === option}
          onChange=${() => choose(option)} />
        <${Tile} option=${option} seat=${seatOf(option, seats)} /><${Icon} name="done" /></label>`)}</div></fieldset></div>
    <div class="actions">${missing && html`<${Notice} text="Choose one first." />`}
    <button class="main">Send</button></div></form>`;
}

/** Free text. The draft lives above this form, so that it outlives the ask and can be begun before it. */
export function Words({ ask, draft, typed, onSend, refused }) {
  const [sure, setSure] = useState(false);
  const left = ask.limit ? ask.limit - [...draft].length : null;
  const few = left !== null && left <= Math.max(50, ask.limit / 10);
  function submit(event) {
    event?.preventDefault();
    if (left !== null && left < 0) return;
    if (draft.trim() || sure) onSend({ ask: ask.id, said: draft.trim() }, draft.trim() || "(nothing)", draft);
    else setSure(true);
  }
  function keys(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
  }
  return html`<form class="ask" onSubmit=${submit}>
    <label class="words-label"><span class="legend">${ask.text}</span>
      <textarea rows="3" value=${draft} onInput=${(e) => { setSure(false); typed(e.target.value, e.inputType); }}
        onKeyDown=${keys} aria-describedby="limit" /></label>
    <${Notice} text=${refused} />
    <div class="actions"><span id="limit" class="limit ${left < 0 ? "over" : ""}" role="status">
      ${few && (left < 0 ? `${-left} characters too many` : `${left} characters left`)}</span>
      ${sure ? html`<span class="careful"><span role="alert">Say nothing?</span>
      <button class="main">Yes, say nothing</button>
          <button type="button" onClick=${() => setSure(false)}>No</button></span>`
        : html`<span class="keys" aria-hidden="true">Ctrl+Enter</span><button class="main">Send</button>`}</div></form>`;
}

/** One line for each player, 1 to 10. Without an earlier number the field is empty. */
function Ratings({ ask, seats, onSend }) {
  const [rated, setRated] = useState(() => ({ ...(ask.last || {}) }));
  const [missing, setMissing] = useState(false);
  const rate = (name, value) => {
    const number = Math.round(Number(value));
    const given = value === "" ? undefined : Math.min(10, Math.max(1, number));
    setRated((before) => ({ ...before, [name]: given })); // several may change before the page is drawn again
  };
  function submit(event) {
    event.preventDefault();
    if (ask.rate.some((name) => !rated[name])) return setMissing(true);
    onSend({ ask: ask.id, rated }, ask.rate.map((name) => `${name} ${rated[name]}`).join(", "));
  }
  return html`<form class="ask" onSubmit=${submit} noValidate>
    <div class="scrolls"><fieldset><legend>${ask.text}</legend><ul class="ratings">${ask.rate.map((name) => {
      const seat = seats.find((one) => one.name === name);
      const value = rated[name];
      return html`<li key=${name}>${seat && html`<${Mark} seat=${seat} />`}
        <span class="rated-name">${seat ? html`<${Who} seat=${seat} />` : name}</span>
        <input type="range" min="1" max="10" step="1" class=${value ? "" : "unset"} aria-label=${`${name}, slider`}
          aria-valuetext=${value ? String(value) : "not rated"}
          value=${value ?? 5} onInput=${(e) => rate(name, e.target.value)} onClick=${(e) => rate(name, e.target.value)} />
        <input type="number" min="1" max="10" inputmode="numeric" placeholder="–" aria-label=${`${name}, 1 to 10`}
          value=${value ?? ""}
          onInput=${(e) => rate(name, e.target.value)} /></li>`; })}</ul></fieldset></div>
    <div class="actions">${missing && html`<${Notice} text="Give everybody a number from 1 to 10." />`}
    <button class="main">Send</button></div></form>`;
}

/** One line for each player, and one of the roles for each. */
function Guesses({ ask, seats, onSend }) {
  const [guessed, setGuessed] = useState(() => ({ ...(ask.last || {}) }));
  const [missing, setMissing] = useState(false);
  function submit(event) {
    event.preventDefault();
    if (ask.rate.some((name) => !guessed[name])) return setMissing(true);
    onSend({ ask: ask.id, guessed }, ask.rate.map((name) => `${name}: ${guessed[name]}`).join(", "));
  }
  return html`<form class="ask" onSubmit=${submit} noValidate>
    <div class="scrolls"><fieldset><legend>${ask.text}</legend><ul class="ratings guesses">${ask.rate.map((name) => {
      const seat = seats.find((one) => one.name === name);
      return html`<li key=${name}>${seat && html`<${Mark} seat=${seat} />`}
        <span class="rated-name">${seat ? html`<${Who} seat=${seat} />` : name}</span>
        <select aria-label=${`${name}, role`} value=${guessed[name] ?? ""}
          onChange=${(e) => setGuessed((before) => ({ ...before, [name]: e.target.value }))}>
          <option value="" disabled>–</option>
          ${ask.among.map((role) => html`<option key=${role} value=${role}>${role}</option>`)}</select></li>`;
    })}</ul></fieldset></div>
    <div class="actions">${missing && html`<${Notice} text="Choose a role for everybody." />`}
    <button class="main">Send</button></div></form>`;
}

/** What is asked now. `place` says which of several it is. */
function Ask({ ask, place, phase, seats, answers, draft, typed, signals }) {
  const mine = answers.all[ask.id];
  const refused = mine && mine.state === "refused" ? mine.sentence : "";
  const onSend = (body, shown, words) => signals.sending(body, (whole) => answers.send(whole, shown, words, phase));
  const shared = { ask, seats, onSend };
  return html`<div class="asked">
    ${(place || ask.outside) && html`<p class="place">${place && html`<span class="tag">${place}</span>`}
      ${ask.outside && html`<span class="tag">Outside the game: the table is not told</span>`}</p>`}
    ${ask.among ? html`<${Guesses} ...${shared} />` : ask.rate ? html`<${Ratings} ...${shared} />` : ask.options ? html`<${Options} ...${shared} />`
      : html`<${Words} ...${shared} draft=${draft} typed=${typed} refused=${refused} />`}
    ${!(ask.rate || ask.options) || html`<${Notice} text=${refused} />`}</div>`;
}

/** The state of the last answer: sending, kept, or too late. */
function Sent({ answer, hidden }) {
  if (!answer || answer.state === "refused") return null;
  if (answer.state === "late") return html`<${Notice} text=${`Not taken: ${answer.sentence}`} />`;
  const words = {
    sending: "Sending …", kept: "Sent",
    retrying: "The server has not taken it yet. Your answer is kept here and goes out again …",
  };
  return html`<div class="sent ${answer.state}" role="status"><p>
    <${Icon} name=${answer.state === "kept" ? "done" : "clock"} /><b>${words[answer.state]}</b></p>
    <p class="shown"><bdi>${hidden ? "(hidden)" : answer.shown}</bdi></p></div>`;
}

/** The words beside the clock of an asked person. At night they look the same for everybody. */
function askedWords(ask, night, short) {
  if (ask.outside) return "You are asked";
  if (night) return short ? "Choose now" : "Your choice";
  return html`<b>It is your turn</b>`;
}

/** Whose turn it is and the time left. One's own turn says so, with one's own time. `night`: for the living. */
function Turn({ now, ask, clock, warn, night = false }) {
  const own = ask && !ask.outside && !night;
  const timed = ask && ask.until !== null ? ask : now.turn;
  const left = useLeft(timed?.until, clock);
  const short = warn && left !== null && left <= 10;
  useEffect(() => { // twice, not every second: a reader must not be talked over
    sayNow(short ? "10 seconds left" : "");
    if (!short) return undefined;
    const timer = setTimeout(() => sayNow("5 seconds left"), 5000);
    return () => { clearTimeout(timer); sayNow(""); };
  }, [short, ask?.id]);
  const text = now.turn?.text || (now.time === "night" ? "It is night" : "The game goes on in a moment");
  return html`<div class="turn ${own ? "own" : ""}">
    <p class="turn-text">${ask ? askedWords(ask, night, short) : html`<bdi>${text}</bdi>`}</p>
    ${timed && html`<${Clock} until=${timed.until} of=${night ? null : timed.of} clock=${clock} />`}</div>`;
}

/** Who is still in the game, drawn like options: from across the table, an idle night looks like a busy one. */
function Living({ seats, children }) {
  return html`<div class="ask"><div class="scrolls" role="group" aria-label="Still in the game" tabindex="0">
    <div class="legend">${children || "Nothing is asked of you now. These players are still in the game:"}</div>
    <ul class="options">${seats.filter((seat) => seat.alive).map((seat) => html`<li class="option" key=${seat.seat}>
      <${Tile} option=${`still in: ${seat.name}`} seat=${seat} /></li>`)}</ul></div></div>`;
}

function Rest({ you, now, seat }) {
  const [wrong, setWrong] = useState("");
  const [pressed, setPressed] = useState(0); // the round in which it was pressed
  async function rest() {
    setPressed(now.round);
    const answer = await seat.send("rest", { round: now.round });
    setWrong(answer.ok ? "" : answer.error);
    if (!answer.ok) setPressed(0);
  }
  const rested = you.rested || pressed === now.round;
  return html`<div class="actions"><${Notice} text=${wrong} />${rested
    ? html`<p class="rested" role="status"><${Icon} name="done" />Ready. Waiting for the others.</p>`
    : html`<button type="button" class="main" disabled=${!you.may_rest}
      onClick=${rest}>Ready for the day</button>`}</div>`;
}

/** Before one's turn: the statement can be begun. It is the same draft that the turn then shows. */
function WriteAhead({ begun, draft, typed }) {
  const [open, setOpen] = useState(begun);
  if (!open) return html`<div class="actions">
    <button type="button" onClick=${() => setOpen(true)}>Write ahead</button></div>`;
  return html`<label class="words-label ahead">
    <span class="legend">Your draft. Nobody sees it; you send it at your turn.</span>
    <textarea rows="2" value=${draft} onInput=${(e) => typed(e.target.value, e.inputType)} /></label>`;
}

/** Several asks at once come one after another. It remembers how many there were: "2 of 2" follows "1 of 2". */
function usePlaces(asks) {
  const batch = useRef([]);
  const known = batch.current.filter((id) => asks.some((ask) => ask.id === id)).length;
  if (!known) batch.current = [];
  for (const ask of asks) if (!batch.current.includes(ask.id)) batch.current.push(ask.id);
  return (ask) => (batch.current.length > 1 ? `${batch.current.indexOf(ask.id) + 1} of ${batch.current.length}` : "");
}

const done = (answer) => answer && answer.state !== "refused";

/** The panel for a seat while the game runs. */
export function TurnPanel({ now, clock, seat, answers, draft, typed, signals, hidden, handOver }) {
  const { you, seats } = now;
  const place = usePlaces(you.asks);
  const open = you.asks.filter((ask) => !done(answers.all[ask.id]));
  const ask = open[0];
  const night = now.time === "night";
  const alive = seats[you.seat].alive;
  const last = Object.values(answers.all).filter(done).sort((a, b) => b.at - a.at)[0];
  const inFlight = ["sending", "retrying"].includes(last?.state); // a locked device would forget it
  /** A person who passes the device on at night is ready for the day: a second button would be forgotten. */
  async function pass() {
    if (night && alive && !ask) await Promise.race([seat.send("rest", { round: now.round }), pause(2000)]);
    handOver();
  }
  const begun = Boolean(draft) && draft !== last?.draft;
  const warn = ask ? !ask.outside : night && alive && !you.rested; // at night all alike: who is asked stays secret
  const phase = `${now.time} ${now.round}`;
  const fresh = last && last.phase === phase; // what was sent yesterday is no news
  const sent = fresh && html`<${Sent} answer=${last} hidden=${hidden} />`;
  const panel = useRef(null);
  useEffect(() => { // a form that was sent took the focus with it; the keyboard goes on from here
    if (last && document.activeElement === document.body) panel.current.focus({ preventScroll: true });
  }, [ask?.id]);
  return html`<section class="turn-panel ${night && alive ? "night" : ""} ${ask && !ask.outside && !night ? "own" : ""}"
    aria-label="Your part" tabindex="-1" ref=${panel}>
    <${Turn} now=${now} ask=${ask} clock=${clock} warn=${warn} night=${night && alive} />
    ${!alive && !ask && html`<p class="dead"><${Icon} name="out" /><span>
    <b>You are out of the game.</b> From here on you see what everybody sees.</span></p>`}
    ${!ask && !(night && alive) && sent}
    ${ask ? html`<${Ask} key=${ask.id} ask=${ask} place=${place(ask)} phase=${phase} seats=${seats} answers=${answers}
      draft=${draft} typed=${typed} signals=${signals} />`
      : night && alive ? html`<${Living} seats=${seats}>${fresh && sent}</${Living}>` : null}
    ${night && alive && !ask && !handOver && html`<${Rest} you=${you} now=${now} seat=${seat} />`}
    ${now.turn?.what === "speak" && alive && !ask && html`<${WriteAhead} begun=${begun} draft=${draft} typed=${typed} />`}
    ${handOver && html`<div class="actions">
    <button type="button" class=${ask ? "quiet" : "main big"} disabled=${inFlight} onClick=${pass}>
    <${Icon} name="shared" />Hand over</button></div>`}
  </section>`;
}

/** The panel for those who only watch. */
export function Watching({ now, clock }) {
  return html`<section class="turn-panel" aria-label="Whose turn it is">
    <${Turn} now=${now} ask=${null} clock=${clock} /></section>`;
}
