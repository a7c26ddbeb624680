// A page reloads itself while something of it may change, and puts in what is new.
// Without this script the page is complete, and a reload does the same.

const button = document.createElement("button");
button.type = "button";
button.className = "refresh";
let on = true;
let waiting = 0;
const box = () => document.getElementById("live");
const seconds = () => Number(box()?.dataset.live || 0);

function shown() {
  button.setAttribute("aria-pressed", String(on));
  button.textContent = on ? "Refreshes by itself" : "Stands still";
}

async function look() {
  waiting = 0;
  // Elements with the focus or a selection are not replaced.
  const held = box().contains(document.activeElement) || !(getSelection()?.isCollapsed ?? true);
  if (on && !document.hidden && !held) {
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" } });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.getElementById("live");
      if (!fresh) return location.reload(); // it has become another page: a game is over
      if (fresh.innerHTML !== box().innerHTML) box().innerHTML = fresh.innerHTML;
      if (!fresh.dataset.live) delete box().dataset.live;
      button.title = "";
    } catch {
      button.title = "The server does not answer just now.";
    }
  }
  later();
}

function later() {
  if (!waiting && seconds()) waiting = setTimeout(look, 1000 * seconds());
  if (!seconds()) button.remove();
}

button.addEventListener("click", () => {
  on = !on;
  shown();
});
document.addEventListener("visibilitychange", later);
shown();
box().before(button);
later();
