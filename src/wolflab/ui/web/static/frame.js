// The frame of every page: the bar at the top, the rules, and the state of the connection.

import { Dialog, Icon, ProjectMark, capital, html } from "./parts.js";
import { at, here } from "./place.js";

/** The bar at the top, with the page's one main heading. */
export function Bar({ title, children }) {
  return html`<header class="bar"><a class="brand" href=${at("/")} aria-label="Wolflab: all tables">
    <${ProjectMark} /></a>
    <h1><bdi>${title}</bdi></h1>${children}</header>`;
}

export function Rules({ name, text, onClose }) {
  return html`<${Dialog} title=${`The rules: ${name}`} onClose=${onClose}><div class="prose">
    ${(text || "The rules have not come yet.").split(/\n\s*\n/).map((part, n) => html`<p
      key=${n}>${part}</p>`)}</div></${Dialog}>`;
}

export function Connection({ live }) {
  return live.link === "lost" ? html`<p class="banner" role="status">
    <${Icon} name="lost" />Connection lost, trying again …</p>` : null;
}

/** The page before there is anything to show: what it waits for, or why that will not come. */
export function Waiting({ live }) {
  const text = {
    opening: "Going to the table …", lost: "The table cannot be reached. Trying again every few seconds …",
  }[live.link] || live.sentence;
  const table = /^\/t\/[^/]+\//.exec(here())?.[0];
  return html`<${Bar} title="Wolflab" /><main class="plain"><p role="status">${capital(text)}</p>
    <p class="row">${table && table !== here() && html`<a class="button" href=${at(table)}>The table's page</a>`}
    <a class="button" href=${at("/")}>All tables</a></p></main>`;
}

