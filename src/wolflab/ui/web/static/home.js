// The home page: the list of tables, joining one by its code, and making one.

import { useEffect, useState } from "./vendor/hooks.module.js";
import { post, request } from "./live.js";
import { BUDGET, Icon, Notice, Numbers, capital, count, filled, html } from "./parts.js";
import { Bar } from "./frame.js";
import { held, wayTo } from "./ways.js";
import { at } from "./place.js";

const STATES = { lobby: "waits for players", playing: "is being played", paused: "is paused" };

/** "3 minutes ago". `made`: seconds since 1970. */
function ago(made) {
  const seconds = Date.now() / 1000 - made;
  const [size, unit] = [[86400, "day"], [3600, "hour"], [60, "minute"]].find(([size]) => seconds >= size) || [];
  return unit ? `${count(Math.floor(seconds / size), unit)} ago` : "just now";
}

function Table({ table }) {
  const mine = held(table.code);
  const over = table.state === "over";
  const free = table.state === "lobby" && table.open;
  const what = mine.includes("device") ? "your device" : mine.length > 1 ? "your seats" : mine.length ? "your seat"
    : free ? count(table.open, "open seat") : over ? "look" : "watch";
  return html`<li><a class="card" href=${mine.length === 1 ? wayTo(table.code, mine[0]) : at(`/t/${table.code}/`)}>
    <b><bdi>${table.name}</bdi></b>
    <span class="soft">${[table.rules, count(table.players, "player"), !over && STATES[table.state],
      table.made && `made ${ago(table.made)}`].filter(Boolean).join(" · ")}</span>
    <span class="tag">${what}</span></a></li>`;
}

function Tables({ tables }) {
  const list = (some) => html`<ul class="tables">${some.map((table) => html`<${Table} key=${table.code}
    table=${table} />`)}</ul>`;
  const [going, over] = [tables.filter((one) => one.state !== "over"), tables.filter((one) => one.state === "over")];
  return html`${going.length ? list(going)
    : html`<p class="soft">No table stands open now. Make one, or join by a code.</p>`}
    ${over.length > 0 && html`<details><summary>Finished games: ${over.length}</summary>${list(over)}</details>`}`;
}

function ByCode() {
  const [code, setCode] = useState("");
  const [wrong, setWrong] = useState("");
  async function go(event) {
    event.preventDefault();
    const plain = code.replace(/[^A-Za-z0-9]/g, "").toUpperCase();
    if (!plain) return setWrong("Write the code of a table first.");
    const answer = await post(`/t/${plain}/enter`); // it asks for nothing but whether there is such a table
    if (!answer.ok) return setWrong(answer.error);
    return location.assign(at(`/t/${plain}/`));
  }
  return html`<form class="row" onSubmit=${go}>
    <label>Code<input value=${code} autocapitalize="characters" autocomplete="off" spellcheck=${false} maxlength="12"
    onInput=${(e) => { setCode(e.target.value); setWrong(""); }} /></label><button>Join</button>
    <${Notice} text=${capital(wrong)} /></form>`;
}

// -- a new table

const SEATS = [["person", "A person, by link"], ["shared", "A person, at this device"]];
const RECIPE = "deductive"; // of a player for whom none was chosen
const VANISH = [["pass", "The game goes on without them: they pass"],
  ["stand-in", "A built-in player plays until they are back"], ["void", "The game ends and does not count"]];
// The server's defaults for empty fields.
const TIMES = [["speak", "Seconds to speak", "120"], ["vote", "Seconds to vote", "60"],
  ["night", "Seconds of a night", "by the rules"], ["hidden", "Seconds of rest after a death", "15"],
  ["pace", "Seconds between agents' lines", "1.5"], ["wait", "Minutes to wait for people", "10"]];

function Seats({ home, rules, seats, setSeats }) {
  const change = (n, what) => setSeats(seats.map((seat, i) => (i === n ? { ...seat, ...what } : seat)));
  const built = home.recipes.map(({ name }) => [`agent ${name}`, `Built-in: ${name}`]);
  const kinds = [...SEATS, ...built, ...(home.host ? [["model", "A model"]] : [])];
  const taken = ({ kind, recipe }) => (kind === "agent" ? `agent ${recipe}` : kind);
  function pick(n, value) {
    const [kind, recipe = seats[n].recipe] = value.split(" ");
    change(n, { kind, recipe });
  }
  return html`<fieldset><legend>Seats</legend><ul class="seat-rows">${rules.seats.map((name, n) => html`<li key=${n}>
    <label><span>${name}</span><select value=${taken(seats[n])} onChange=${(e) => pick(n, e.target.value)}>
      ${kinds.map(([value, words]) => html`<option key=${value} value=${value}>${words}</option>`)}</select></label>
    ${seats[n].kind === "model" && html`<div class="fields">
    <label>Model<input list="models" required value=${seats[n].model}
      onInput=${(e) => change(n, { model: e.target.value })} /></label>
      <label>Recipe<select value=${seats[n].recipe} onChange=${(e) => change(n, { recipe: e.target.value })}>
        ${home.recipes.map((one) => html`<option key=${one.name}
          value=${one.name}>${one.name}</option>`)}</select></label></div>`}</li>`)}</ul>
    <p class="soft">Built-in players: ${home.recipes.map(({ name, about }) => `${name} ${about}`).join("; ")}.</p>
    <datalist id="models">${home.models.map((model) => html`<option key=${model}
      value=${model} />`)}</datalist></fieldset>`;
}

const usual = (rules) => rules.seats.map((_, n) => ({ kind: n ? "agent" : "person", model: "", recipe: RECIPE }));

const seatToSend = ({ kind, model, recipe }) =>
  ({ model: { kind: "agent", model, recipe }, agent: { kind, recipe } }[kind] || { kind });

function NewTable({ home }) {
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState(home.rules[0].name);
  const rules = home.rules.find((one) => one.name === chosen);
  const usualName = `Werewolf: ${chosen}`;
  const [seats, setSeats] = useState(() => usual(rules));
  const [times, setTimes] = useState({});
  const [budget, setBudget] = useState({});
  const [more, setMore] = useState({ vanish: "stand-in", marked: true, measure: false, listed: true });
  const [wrong, setWrong] = useState("");
  const [busy, setBusy] = useState(false);
  const box = (field, label) => html`<label class="check">
    <input type="checkbox" checked=${more[field]}
      onChange=${(e) => setMore({ ...more, [field]: e.target.checked })} />${label}</label>`;

  function pick(next) {
    setChosen(next);
    const rest = usual(home.rules.find((one) => one.name === next));
    setSeats(rest.map((seat, n) => seats[n] || seat)); // what was chosen for the first seats stays
  }
  async function make(event) {
    event.preventDefault();
    setBusy(true);
    const answer = await post("/tables", {
      name: name.trim() || usualName, rules: chosen, ...more,
      seats: seats.slice(0, rules.seats.length).map(seatToSend), times: filled(times), budget: filled(budget),
    });
    setBusy(false);
    if (!answer.ok) return setWrong(answer.error);
    return location.assign(at(`/t/${answer.data.code}/${seats.some((seat) => seat.kind === "shared") ? "d/" : ""}`));
  }

  return html`<form class="new-table" onSubmit=${make}>
    <div class="fields wide"><label>Name of the table<input value=${name} maxlength="24"
      placeholder=${usualName} onInput=${(e) => setName(e.target.value)} /></label>
      <label>Rules<select value=${chosen}
        onChange=${(e) => pick(e.target.value)}>${home.rules.map((one) => html`<option key=${one.name}
        value=${one.name}>${one.name}: ${count(one.players, "player")}</option>`)}</select></label></div>
    <p class="soft">${rules.about}</p>
    <ul class="cast" aria-label="The roles">${Object.entries(rules.roles).map(([role, n]) => html`<li key=${role}>
    <${Icon} name=${role} />${role}${n > 1 ? ` × ${n}` : ""}</li>`)}</ul>
    <${Seats} home=${home} rules=${rules} seats=${seats} setSeats=${setSeats} />
    <details><summary>Times, and what else the table decides</summary>
      <fieldset><legend>Times</legend>
      <${Numbers} names=${TIMES} fields=${times} set=${setTimes} /></fieldset>
      <label>When a person has vanished<select value=${more.vanish}
        onChange=${(e) => setMore({ ...more, vanish: e.target.value })}>
        ${VANISH.map(([value, words]) => html`<option key=${value} value=${value}>${words}</option>`)}</select></label>
      ${box("listed", "Show the table in this server's list")}${box("marked", "Mark agents as agents")}
      ${box("measure", "Measure: ask everybody, outside the game, how they would vote and whom they trust")}
      ${home.host && html`<fieldset><legend>Budget <small>only for models that cost something</small></legend>
      <${Numbers} names=${BUDGET} fields=${budget} set=${setBudget} empty="no limit" /></fieldset>`}</details>
    <${Notice} text=${wrong} /><div class="actions">
    <button class="main" disabled=${busy}>Make the table</button></div></form>`;
}

// -- the page

function AccessForm({ onOpen }) {
  const [access, setAccess] = useState("");
  const [wrong, setWrong] = useState("");
  async function enter(event) {
    event.preventDefault();
    const answer = await post("/enter", { access: access.trim() });
    if (!answer.ok) return setWrong(answer.error);
    sessionStorage.setItem("access", access.trim());
    return onOpen();
  }
  return html`<section class="card" aria-label="Access"><h2>This server is not open to everybody</h2>
    <p>Open the whole link that you were sent, or paste its access token here.</p>
    <form class="row" onSubmit=${enter}>
    <label>Access token<input type="password" autocomplete="off" value=${access}
      onInput=${(e) => setAccess(e.target.value)} /></label><button class="main">Enter</button></form>
    <${Notice} text=${wrong} /></section>`;
}

/** `/` */
export function HomePage() {
  const [home, setHome] = useState(null);
  const [wrong, setWrong] = useState("");
  async function load() {
    const answer = await request("GET", "/home");
    if (answer.ok) setHome(answer.data);
    setWrong(answer.ok ? "" : answer.error);
  }
  useEffect(() => {
    document.title = "Wolflab – tables";
    load();
    const timer = setInterval(() => document.visibilityState === "visible" && load(), 8000); // tables come and go
    return () => clearInterval(timer);
  }, []);
  const inside = home && !home.needs_access;
  return html`<${Bar} title="Wolflab" /><main class="home">
    <p class="lead">Werewolf, with people among language agents.</p><${Notice} text=${wrong} />
    ${!home && !wrong && html`<p role="status">Looking for tables …</p>`}
    ${home && home.needs_access && html`<${AccessForm} onOpen=${load} />`}
    ${inside && html`<div class="home-side"><section class="card" aria-label="Join by code"><h2>Join by code</h2>
    <${ByCode} /></section>
      <section aria-label="Tables"><h2>Tables</h2><${Tables} tables=${home.tables} /></section></div>
      <section class="card home-main" aria-label="Make a table"><h2>Make a table</h2>
      <${NewTable} home=${home} /></section>`}</main>`;
}
