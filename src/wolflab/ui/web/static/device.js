// A device that several people share. When locked, it holds nobody's data. A PIN opens a seat; leaving locks it.

import { render } from "./vendor/preact.module.js";
import { useEffect, useRef, useState } from "./vendor/hooks.module.js";
import { makeSeat, post, request, useLive } from "./live.js";
import { Icon, Mark, Notice, Who, html, sayNothing } from "./parts.js";
import { SeatPage, WatchPage } from "./game.js";
import { Bar, Connection, Waiting } from "./frame.js";
import { Log } from "./log.js";
import { Lobby, NameField } from "./lobby.js";
import { forget, notOurs, remember } from "./ways.js";

/** This device's seats, and whose turn it is: public facts only. Fetched every two seconds while locked. */
function useDevice(code) {
  const [state, setState] = useState({ seats: [], text: "" });
  const [wrong, setWrong] = useState("");
  useEffect(() => {
    let gone = false;
    async function look() {
      const answer = await request("GET", `/t/${code}/d/state`);
      if (gone) return;
      if (answer.ok) {
        setState(answer.data);
        remember(code, "device");
      } else if (notOurs(answer.status)) {
        forget(code, "device");
      }
      setWrong(answer.error);
    }
    look();
    const timer = setInterval(look, 2000);
    return () => { gone = true; clearInterval(timer); };
  }, [code]);
  return [state, wrong];
}

/** The PIN of one seat; the first time it is chosen here, with the name. */
function Pin({ code, seat, onOpen }) {
  const [pin, setPin] = useState("");
  const [name, setName] = useState(seat.nick);
  const [wrong, setWrong] = useState("");
  async function open(event) {
    event.preventDefault();
    if (!/^\d{4,8}$/.test(pin)) return setWrong("A PIN has 4 to 8 digits.");
    if (!seat.pin_set && !name.trim()) return setWrong("Write your name first.");
    const given = seat.pin_set ? { pin } : { pin, name: name.trim() };
    const answer = await post(`/t/${code}/s/${seat.seat}/unlock`, given);
    setPin("");
    if (answer.ok) onOpen(seat.seat, answer.data.ticket);
    else setWrong(answer.error);
  }
  return html`<form class="pin" onSubmit=${open}>${!seat.pin_set && html`<${NameField} name=${name}
    setName=${setName} />`}
    <label>${seat.pin_set ? "Your PIN" : "Choose a PIN, 4 to 8 digits"}
    <input type="password" inputmode="numeric" autocomplete="off" maxlength="8" value=${pin}
      onInput=${(e) => setPin(e.target.value)} /></label>
    <button class="main">${seat.pin_set ? "Open my seat" : "Take this seat"}</button><${Notice} text=${wrong} /></form>`;
}

/** Locked, while the game runs: who gets the device next, and that person's PIN. */
function Locked({ code, device, wrong, live, onOpen }) {
  const [chosen, choose] = useState(null);
  const wanted = device.seats.filter((seat) => seat.wanted);
  const seat = device.seats.find((one) => one.seat === chosen) || wanted[0];
  return html`<${Bar} title=${live.now.table.name} /><main class="plain locked"><${Connection} live=${live} />
    <p class="locked-text"><${Icon} name="lock" /><b><bdi>${device.text || "The device is locked."}</bdi></b></p>
    <${Notice} text=${wrong} />
    <ul class="seats" aria-label="Seats at this device">${device.seats.map((one) => html`<li key=${one.seat}>
    <button type="button" class="seat ${one.wanted ? "wanted" : ""}" aria-pressed=${one === seat}
      onClick=${() => choose(one.seat)}>
      <${Mark} seat=${one} /><${Who} seat=${one} />${one.wanted && html`<span
        class="tag">asked now</span>`}</button></li>`)}</ul>
    ${seat && html`<${Pin} key=${seat.seat} code=${code} seat=${seat} onOpen=${onOpen} />`}
    <details class="so-far"><summary>What everybody has seen so far</summary>
    <${Log} log=${live.log} seats=${live.now.seats} /></details></main>`;
}

/** In the lobby: a person without a PIN takes a seat of this device. */
function LockedLobby({ code, device, live, onOpen }) {
  const [chosen, choose] = useState(null);
  const offer = (place) => {
    const seat = device.seats.find((one) => one.seat === place.seat);
    if (!seat) return null;
    return chosen === seat.seat ? html`<${Pin} code=${code} seat=${seat} onOpen=${onOpen} />`
      : html`<button type="button" class=${seat.pin_set ? "" : "main"}
        onClick=${() => choose(seat.seat)}>${seat.pin_set ? "Unlock with PIN" : "Sit here"}
      <span class="unseen">: ${seat.name}</span></button>`;
  };
  return html`<${Lobby} live=${live} device=${offer} />`;
}

function LockedPage({ code, onOpen }) {
  const live = useLive(`/t/${code}/live`);
  const [device, wrong] = useDevice(code);
  useEffect(() => { document.title = "Locked – Wolflab"; }, []);
  if (!live.now) return html`<${Waiting} live=${live} />`;
  const { state } = live.now.table;
  if (state === "lobby") return html`<${LockedLobby} code=${code} device=${device} live=${live} onOpen=${onOpen} />`;
  if (state === "over" || state === "paused") return html`<${WatchPage} code=${code} />`;
  return html`<${Locked} code=${code} device=${device} wrong=${wrong} live=${live} onOpen=${onOpen} />`;
}

/** `/t/CODE/d/`. The ticket is in this variable and nowhere else: a reload, Back, or another page forgets it. */
export function DevicePage({ code }) {
  const [open, setOpen] = useState(null); // {number, ticket}
  const now = useRef(null);
  now.current = open;

  const dead = (was) => makeSeat(`/t/${code}/s/${was.number}/`, was.ticket).send("lock", {}, { keepalive: true });

  function lock() {
    const was = now.current;
    setOpen(null); // the seat leaves the page at once, and saves its draft on the way out; then the ticket dies
    sayNothing();
    setTimeout(() => dead(was), 300);
  }
  useEffect(() => {
    function leaving() { // empty before the browser may keep a picture of the page
      const was = now.current;
      render(null, document.getElementById("app"));
      sayNothing();
      document.title = "Locked – Wolflab";
      if (was) dead(was);
    }
    window.addEventListener("pagehide", leaving);
    window.addEventListener("pageshow", (event) => event.persisted && location.reload()); // it came back empty
    return () => window.removeEventListener("pagehide", leaving);
  }, []);

  return open ? html`<${SeatPage} key=${open.ticket} code=${code} number=${open.number} ticket=${open.ticket}
    handOver=${lock} />`
    : html`<${LockedPage} code=${code} onOpen=${(number, ticket) => setOpen({ number, ticket })} />`;
}
