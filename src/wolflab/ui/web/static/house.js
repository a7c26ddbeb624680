// The house: the tables, the door by code, and a new table.

import { useEffect, useState } from "./vendor/hooks.module.js";
import { post, request } from "./live.js";
import { BUDGET, Icon, Notice, Numbers, count, filled, html } from "./parts.js";
import { Bar } from "./frame.js";

const STATES = { lobby: "waits for players", playing: "is being played", paused: "is paused", over: "is over" };

function Tables({ tables }) {
  if (!tables.length) return html`<p class="soft">No table stands open now. Make one, or join by a code.</p>`;
  return html`<ul class="tables">${tables.map((table) => html`<li key=${table.code}>
    <a class="card" href=${`/t/${table.code}/`}>
    <b><bdi>${table.name}</bdi></b>
    <span class="soft">${table.rules} · ${count(table.players, "player")} · ${STATES[table.state]}</span>
    <span class="tag ${table.open ? "free" : ""}">${table.open ? count(table.open, "open seat") : "watch"}</span></a></li>`)}</ul>`;
}

function ByCode() {
  const [code, setCode] = useState("");
  function go(event) {
    event.preventDefault();
    const plain = code.replace(/[^A-Za-z0-9]/g, "").toUpperCase();
    if (plain) location.assign(`/t/${plain}/`);
  }
  return html`<form class="row" onSubmit=${go}>
    <label>Code<input value=${code} autocapitalize="characters" autocomplete="off" spellcheck=${false} maxlength="12"
    onInput=${(e) => setCode(e.target.value)} /></label><button>Join</button></form>`;
}

// -- a new table

const SEATS = [["person", "A person, by link"], ["shared", "A person, at this device"], ["agent", "A built-in player"]];
const VANISH = [["pass", "The game goes on without them: they pass"],
  ["stand-in", "A built-in player plays until they are back"], ["void", "The game ends and does not count"]];
const TIMES = [["speak", "Seconds to speak"], ["vote", "Seconds to vote"], ["night", "Seconds of a night"],
  ["hidden", "Seconds of rest after a death"], ["pace", "Seconds between agents' lines"], ["wait", "Minutes to wait for people"]];
// A night is as long as the rules need.
const USUAL_TIMES = { speak: "120", vote: "60", hidden: "15", pace: "1.5", wait: "10" };

function Seats({ house, rules, seats, setSeats }) {
  const change = (n, what) => setSeats(seats.map((seat, i) => (i === n ? { ...seat, ...what } : seat)));
  const kinds = house.host ? [...SEATS, ["model", "A model"]] : SEATS;
  return html`<fieldset><legend>Seats</legend><ul class="seat-rows">${rules.seats.map((name, n) => html`<li key=${n}>
    <label><span>${name}</span><select value=${seats[n].kind} onChange=${(e) => change(n, { kind: e.target.value })}>
      ${kinds.map(([value, words]) => html`<option key=${value} value=${value}>${words}</option>`)}</select></label>
    ${seats[n].kind === "model" && html`<div class="fields">
    <label>Model<input list="models" required value=${seats[n].model}
      onInput=${(e) => change(n, { model: e.target.value })} /></label>
      <label>Recipe<select value=${seats[n].recipe} onChange=${(e) => change(n, { recipe: e.target.value })}>
      <option value="">the usual</option>
        ${house.recipes.map((one) => html`<option key=${one.name}
          value=${one.name}>${one.name}</option>`)}</select></label></div>`}</li>`)}</ul>
    <datalist id="models">${house.models.map((model) => html`<option key=${model}
      value=${model} />`)}</datalist></fieldset>`;
}

const usual = (rules) => rules.seats.map((_, n) => ({ kind: n ? "agent" : "person", model: "", recipe: "" }));

const seatToSend = ({ kind, model, recipe }) =>
  (kind === "model" ? { kind: "agent", model, ...(recipe && { recipe }) } : { kind });

function NewTable({ house }) {
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState(house.rules[0].name);
  const rules = house.rules.find((one) => one.name === chosen);
  const [seats, setSeats] = useState(() => usual(rules));
  const [times, setTimes] = useState(USUAL_TIMES);
  const [budget, setBudget] = useState({});
  const [more, setMore] = useState({ vanish: "stand-in", marked: true, measure: false, listed: true });
  const [wrong, setWrong] = useState("");
  const [busy, setBusy] = useState(false);
  const box = (field, label) => html`<label class="check">
    <input type="checkbox" checked=${more[field]}
      onChange=${(e) => setMore({ ...more, [field]: e.target.checked })} />${label}</label>`;

  function pick(next) {
    setChosen(next);
    const rest = usual(house.rules.find((one) => one.name === next));
    setSeats(rest.map((seat, n) => seats[n] || seat)); // what was chosen for the first seats stays
  }
  async function make(event) {
    event.preventDefault();
    setBusy(true);
    const answer = await post("/tables", {
      name: name.trim() || `A table of ${chosen}`, rules: chosen, ...more,
      seats: seats.slice(0, rules.seats.length).map(seatToSend), times: filled(times), budget: filled(budget),
    });
    setBusy(false);
    if (!answer.ok) return setWrong(answer.error);
    return location.assign(`/t/${answer.data.code}/${seats.some((seat) => seat.kind === "shared") ? "d/" : ""}`);
  }

  return html`<form class="new-table" onSubmit=${make}>
    <div class="fields wide"><label>Name of the table<input value=${name} maxlength="40"
      placeholder=${`A table of ${chosen}`} onInput=${(e) => setName(e.target.value)} /></label>
      <label>Rules<select value=${chosen}
        onChange=${(e) => pick(e.target.value)}>${house.rules.map((one) => html`<option key=${one.name}
        value=${one.name}>${one.name}: ${count(one.players, "player")}</option>`)}</select></label></div>
    <p class="soft">${rules.about}</p>
    <ul class="cast" aria-label="The roles">${Object.entries(rules.roles).map(([role, n]) => html`<li key=${role}>
    <${Icon} name=${role} />${role}${n > 1 ? ` × ${n}` : ""}</li>`)}</ul>
    <${Seats} house=${house} rules=${rules} seats=${seats} setSeats=${setSeats} />
    <details><summary>Times, and what else the table decides</summary>
      <fieldset><legend>Times</legend>
      <${Numbers} names=${TIMES} fields=${times} set=${setTimes} empty="by the rules" /></fieldset>
      <label>When a person has vanished<select value=${more.vanish}
        onChange=${(e) => setMore({ ...more, vanish: e.target.value })}>
        ${VANISH.map(([value, words]) => html`<option key=${value} value=${value}>${words}</option>`)}</select></label>
      ${box("listed", "Show the table in this house to everybody")}${box("marked", "Mark agents as agents")}
      ${box("measure", "Measure: ask everybody for straw polls and guesses of roles")}
      ${house.host && html`<fieldset><legend>Budget <small>only for models that cost something</small></legend>
      <${Numbers} names=${BUDGET} fields=${budget} set=${setBudget} empty="no limit" /></fieldset>`}</details>
    <${Notice} text=${wrong} /><div class="actions">
    <button class="main" disabled=${busy}>Make the table</button></div></form>`;
}

// -- the page

function Door({ onOpen }) {
  const [access, setAccess] = useState("");
  const [wrong, setWrong] = useState("");
  async function enter(event) {
    event.preventDefault();
    const answer = await post("/enter", { access: access.trim() });
    if (!answer.ok) return setWrong(answer.error);
    sessionStorage.setItem("access", access.trim());
    return onOpen();
  }
  return html`<section class="card" aria-label="The door"><h2>This server is not open to everybody</h2>
    <p>Open the whole link that you were sent, or paste its access token here.</p>
    <form class="row" onSubmit=${enter}>
    <label>Access token<input type="password" autocomplete="off" value=${access}
      onInput=${(e) => setAccess(e.target.value)} /></label><button class="main">Enter</button></form>
    <${Notice} text=${wrong} /></section>`;
}

/** `/` */
export function HousePage() {
  const [house, setHouse] = useState(null);
  const [wrong, setWrong] = useState("");
  async function load() {
    const answer = await request("GET", "/house");
    if (answer.ok) setHouse(answer.data);
    setWrong(answer.ok ? "" : answer.error);
  }
  useEffect(() => {
    document.title = "Wolflab – tables";
    load();
    const timer = setInterval(() => document.visibilityState === "visible" && load(), 8000); // tables come and go
    return () => clearInterval(timer);
  }, []);
  const inside = house && !house.needs_access;
  return html`<${Bar} title="Wolflab" /><main class="house">
    <p class="lead">Werewolf, with people among language agents.</p><${Notice} text=${wrong} />
    ${!house && !wrong && html`<p role="status">Looking for tables …</p>`}
    ${house && house.needs_access && html`<${Door} onOpen=${load} />`}
    ${inside && html`<div class="house-side"><section class="card" aria-label="Join by code"><h2>Join by code</h2>
    <${ByCode} /></section>
      <section aria-label="Tables"><h2>Tables</h2><${Tables} tables=${house.tables} /></section></div>
      <section class="card house-main" aria-label="Make a table"><h2>Make a table</h2>
      <${NewTable} house=${house} /></section>`}</main>`;
}
