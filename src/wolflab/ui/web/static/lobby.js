// A table before its game: its seats, how to join, and when the game starts.

import { useEffect, useState } from "./vendor/hooks.module.js";
import { post } from "./live.js";
import { Careful, CopyLink, Icon, Mark, Notice, Who, count, html, minutes, say, useLeft } from "./parts.js";
import { Bar, Connection, Rules } from "./frame.js";
import { WaysBack, forget } from "./ways.js";
import { at } from "./place.js";

const NAME = "my name"; // remembered in this tab, so that a second table does not ask again

export function NameField({ name, setName, label = "Your name" }) {
  return html`<label class="name-field">${label}
    <input value=${name} maxlength="24" autocomplete="nickname" onInput=${(e) => setName(e.target.value)} /></label>`;
}

export function useName() {
  const [name, set] = useState(() => sessionStorage.getItem(NAME) || "");
  return [name, (value) => { sessionStorage.setItem(NAME, value); set(value); }];
}

/** What happens if nobody else comes, and when. */
function Countdown({ start, clock, open }) {
  const left = useLeft(start?.until, clock);
  const seats = open ? "The game waits for the open seats." : "Every seat is taken.";
  if (!start) return html`<p class="countdown">${seats} Whoever made the table starts it.</p>`;
  return html`<p class="countdown"><${Icon} name="clock" /><span>
    <bdi>${open ? start.text : "The game begins"}</bdi> in <b class="digits">${minutes(left)}</b></span></p>`;
}

const KINDS = { person: "person", shared: "on a shared device", agent: "agent" };

/** Whether somebody may still come. A seat of a shared device is taken with a name and a PIN. */
const isFree = (seat) => seat.open || (seat.kind === "shared" && !seat.nick);

/** One seat. `children`: the actions there. */
function Place({ seat, me, children }) {
  const free = isFree(seat);
  return html`<li class="seat ${free ? "free" : ""}"><${Mark} seat=${seat} /><div class="seat-text"><p>
    <${Who} seat=${seat} /></p>
      <p class="states">${seat.seat === me && html`<span class="tag">you</span>`}
        ${free && html`<span class="tag">open seat</span>`}
        ${(!free || seat.kind === "shared") && KINDS[seat.kind] && html`<span class="kind"><${Icon} name=${seat.kind} />
          ${KINDS[seat.kind]}${seat.agent && `: ${seat.agent}`}</span>`}
        ${!free && seat.here === false && html`<span class="tag s-lost"><${Icon} name="lost" />not here now</span>`}
        ${!free && seat.here && html`<span class="tag s-done">
        <${Icon} name="done" />here</span>`}</p></div>${children}</li>`;
}

function Keeper({ now, open }) {
  const [wrong, setWrong] = useState("");
  const go = async (what) => setWrong((await post(`/t/${now.table.code}/${what}`)).error);
  const what = open ? `If you start now, built-in players take the ${count(open, "open seat")}.`
    : "Everybody sits. The game can begin.";
  return html`<section class="card keeper" aria-label="You run this table"><h2>You run this table</h2>
    <p>${what}</p><${Notice} text=${wrong} />
    <div class="actions"><${Careful} label="Close the table" sure="Close this table for everybody?"
      onYes=${() => go("close")} />
      <button type="button" class="main" onClick=${() => go("start")}>Start the game</button></div></section>`;
}

/** The actions of a seated person: change the name, keep the link, leave. */
function Mine({ seat, now, link, handOver }) {
  const [name, setName] = useState(now.you.nick);
  const [told, setTold] = useState({});
  async function rename(event) {
    event.preventDefault();
    const answer = await seat.send("name", { name });
    setTold(answer.ok ? { good: true, text: "Your name is changed." } : { text: answer.error });
  }
  async function leave() {
    const answer = await seat.send("leave");
    if (answer.ok) forget(now.table.code, String(now.you.seat));
    if (answer.ok && handOver) handOver();
    else if (answer.ok) location.assign(at(`/t/${now.table.code}/`));
    else setTold({ text: answer.error });
  }
  return html`<section class="card" aria-label="Your seat"><h2>You sit as <bdi>${now.seats[now.you.seat].name}</bdi></h2>
    <p>${handOver ? "Hand the device over to whoever comes next."
      : "The game begins by itself on this page. Keep it open."}</p>
    ${!now.table.way && html`<form class="row" onSubmit=${rename}><${NameField} name=${name} setName=${setName} /><button>Change</button></form>`}
    <${Notice} ...${told} />
    ${link && html`<p class="soft">This link is your seat.
      Keep it to yourself: with it you can go on from another device.</p>
        <${CopyLink} label="Link to your seat" link=${link} />`}
    ${!now.table.way && html`<div class="actions"><${Careful} label="Leave the seat"
      sure="Free your seat for others?" onYes=${leave} /></div>`}</section>`;
}

/**
 * `seat`: the seat whose page this is. `device`: draws the actions of a shared device at one of its seats.
 * `handOver`: on an unlocked shared device.
 */
export function Lobby({ live, seat = null, link = "", device = null, handOver = null }) {
  const { now, clock, first } = live;
  const { table, you, seats } = now;
  const [name, setName] = useName();
  const [wrong, setWrong] = useState("");
  const [rules, showRules] = useState(false);
  // If agents are not marked, no seat shows that it is open: then only the number of open seats is known.
  const open = Math.max(table.free, seats.filter(isFree).length);
  const me = you ? you.seat : null;
  const joins = !you && !device; // whoever holds a shared device takes one of its seats
  const access = sessionStorage.getItem("access");
  const onlyHere = /^(localhost|127\..*|\[::1\])$/.test(location.hostname);
  const invite = `${location.origin}${at(`/t/${table.code}/`)}${access ? `#access=${encodeURIComponent(access)}` : ""}`;
  useEffect(() => { document.title = `${table.name} – Wolflab`; }, [table.name]);
  useEffect(() => { say(open ? `${count(open, "seat")} open` : "Every seat is taken"); }, [open]);

  async function sit(number) {
    if (!name.trim()) return setWrong("Write your name first. The others see it beside the name of your seat.");
    const answer = await post(`/t/${table.code}/join`, { name: name.trim(), seat: number });
    if (!answer.ok) return setWrong(answer.error);
    const secret = encodeURIComponent(answer.data.secret);
    return location.assign(at(`/t/${table.code}/s/${answer.data.seat}/#secret=${secret}`));
  }

  const sits = (one) => (device ? device(one)
    : joins && one.open && html`<button type="button" class="main" onClick=${() => sit(one.seat)}>Sit here<span
      class="unseen">: ${one.name}</span></button>`);
  return html`<${Bar} title=${table.name}><span class="phase">Lobby</span></${Bar}>
    <main class="lobby"><${Connection}
      live=${live} />${live.link === "closed" && html`<${Notice} text=${live.sentence} />`}
      <div class="lobby-seats">${!you && html`<${WaysBack} code=${table.code} seats=${seats} />`}
        <h2>Who sits where</h2><${Countdown} start=${now.start} clock=${clock} open=${open} />
        ${joins && table.free > 0 && html`<${NameField} name=${name} setName=${setName} />`}
        ${joins && table.free > 0 && !seats.some((one) => one.open) && html`<button type="button" class="main"
          onClick=${() => sit()}>Take a seat</button>`}<${Notice} text=${wrong} />
        <ul class="seats">${seats.map((one) => html`<${Place} key=${one.seat} seat=${one}
          me=${me}>${sits(one)}</${Place}>`)}</ul>
        ${now.spectators > 0 && html`<p class="soft">Here without a seat: ${now.spectators}</p>`}</div>
      <div class="lobby-side">
        ${handOver && html`<button type="button" class="main big" onClick=${handOver}>
        <${Icon} name="shared" />Hand over</button>`}
        ${you && seat && html`<${Mine} seat=${seat} now=${now} link=${link} handOver=${handOver} />`}
        ${first.keeper && html`<${Keeper} now=${now} open=${open} />`}
        ${!table.way && html`<section class="card" aria-label="Invite"><h2>Invite others</h2><p>Code <b class="code">${table.code}</b></p>
        <${CopyLink} label="Link to this table" link=${invite} />
        ${onlyHere && html`<p class="soft">Only this computer can open this link.
          To invite others, start the server with <code>--host</code>, and open it by that address.</p>`}</section>`}
        <section class="card" aria-label="The table"><h2>At this table</h2>
        <ul class="declared">${first.declared.map((line) => html`<li key=${line}><bdi>${line}</bdi></li>`)}</ul>
          <button type="button" aria-haspopup="dialog"
            onClick=${() => showRules(true)}>The rules: ${table.rules}</button></section>
      </div></main>
    ${rules && html`<${Rules} name=${table.rules} text=${first.rules_text} onClose=${() => showRules(false)} />`}`;
}
