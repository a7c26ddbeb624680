// The entry: reads the secrets of the link, removes them from the address, and draws the page of this path.

import { render } from "./vendor/preact.module.js";
import { post } from "./live.js";
import { html } from "./parts.js";
import { Bar } from "./frame.js";
import { HomePage } from "./home.js";
import { SeatPage, WatchPage } from "./game.js";
import { DevicePage } from "./device.js";
import { at, here } from "./place.js";

const root = document.getElementById("app");

/** The secrets after "#". They leave the address before anything else, so that no copy or history has them. */
function takeSecrets() {
  const secrets = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
  return secrets;
}

const some = (secrets, names) =>
  Object.fromEntries(names.filter((name) => secrets[name]).map((name) => [name, secrets[name]]));

/** Send the secrets to the server, which answers with cookies. The first refusal is shown to the person. */
async function enter(secrets, code, number) {
  const entries = [["/enter", some(secrets, ["access", "host"])]];
  if (code) entries.push([`/t/${code}/enter`, some(secrets, ["keeper", "device"])]);
  if (number !== undefined) entries.push([`/t/${code}/s/${number}/enter`, some(secrets, ["secret"])]);
  for (const [path, body] of entries) {
    if (!Object.keys(body).length) continue;
    const answer = await post(path, body);
    if (!answer.ok) return answer.error;
  }
  if (secrets.access) sessionStorage.setItem("access", secrets.access); // the link that invites others needs it
  return "";
}

function page(secrets, code, rest, number) {
  if (!code) return html`<${HomePage} />`;
  if (number !== undefined) return html`<${SeatPage} code=${code} number=${number} secret=${secrets.secret} />`;
  if (rest === "d/") return html`<${DevicePage} code=${code} />`;
  return html`<${WatchPage} code=${code} host=${rest === "host/"} />`;
}

async function start() {
  const secrets = takeSecrets();
  const [, code, rest, number] = /^\/t\/([^/]+)\/(d\/|host\/|s\/(\d+)\/)?$/.exec(here()) || [];
  const wrong = await enter(secrets, code, number);
  root.replaceChildren();
  render(wrong ? html`<${Bar} title="Wolflab" /><main class="plain"><p role="alert">${wrong}</p><p>
    <a class="button" href=${at("/")}>All tables</a></p></main>`
    : page(secrets, code, rest, number), root);
}

window.addEventListener("hashchange", () => location.hash && location.reload()); // another link in this tab
start();
