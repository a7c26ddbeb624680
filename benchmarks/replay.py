"""How large the replay page of a very long game is, and how long a browser takes to open it and to step.

    python benchmarks/replay.py [--days 12] [--keep long.html] [--no-browser]

The game is played by `reflective` agents who never kill anybody and never vote anybody out, so that it lasts.
Prints the page's size, the seconds to write it, and where playwright and chromium are installed: the
milliseconds until it can be used, and of a step with every line in the log (median, slowest of 200), beside
those of an empty page and of an empty frame.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, cast

from wolflab.agents.base import IO, Reply
from wolflab.agents.language import LanguageAgent
from wolflab.agents.own import OwnAgent
from wolflab.agents.recipes import RECIPES
from wolflab.lab.storage.store import Store
from wolflab.models.embedders.embedder import Vectors
from wolflab.models.embedders.hashing import HashingEmbedder
from wolflab.rules import PASS, Ask, View
from wolflab.ui.replay.replay_page import replay_of


class _Embedding:
    """A seat's `io` with an embedder, which agents of one's own are not given."""

    def __init__(self, io: IO) -> None:
        self._io = io

    def __getattr__(self, name: str) -> Any:
        return getattr(self._io, name)

    async def embed(self, what: str, texts: Sequence[str]) -> Vectors:
        return await HashingEmbedder().embed(texts)


@dataclass(frozen=True)
class Patient(OwnAgent):
    """A reflective player that chooses nobody wherever it may."""

    asks_model = True

    async def reply(self, view: View, ask: Ask, io: IO) -> Reply:
        """As the recipe has it, thoughts and all; the choice is another one."""
        reply = await LanguageAgent(RECIPES["reflective"]).reply(view, ask, cast(IO, _Embedding(io)))
        return replace(reply, action=PASS) if ask.options and PASS in ask.options else reply


def played(home: Path, days: int) -> Path:
    """A run with one such game of twelve players."""
    plan = f"""
name: long
rules:
  preset: sheriff
  roles: {{Werewolf: 3, Seer: 1, Guard: 1, Villager: 7}}
  wolves_may_pass: true
  guard_may_pass: true
  seer_may_pass: true
  max_rounds: {days}
players:
  others: {{model: village, recipe: "replay:Patient"}}
straw_polls: 1
reliability_probe: true
deals: 1
"""
    (home / "long.yaml").write_text(plan)
    path = home / "run"
    done = subprocess.run(
        [sys.executable, "-m", "wolflab", "run", "long.yaml", "--out", path], cwd=home, check=False
    )
    if done.returncode:
        raise SystemExit(done.returncode)
    return path


def browsed(page: Path) -> dict[str, float]:
    """Milliseconds in chromium; empty where playwright or a browser is missing."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return {}
    chromium = shutil.which("chromium")
    if chromium is None:
        return {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1280, "height": 800})
        told: dict[str, float] = {}
        for name, address in (("empty page opens", "about:blank"), ("opens", page.as_uri())):
            begun = time.perf_counter()
            tab.goto(address)
            if name == "opens":
                tab.wait_for_selector(".where")
            told[name] = 1000 * (time.perf_counter() - begun)
        frames = tab.evaluate(STEPS)
        told |= {"frame without a step": median(frames["idle"]), "step": median(frames["steps"])}
        told["slowest step"] = max(frames["steps"])
        browser.close()
    return told


STEPS = """async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const press = (key) => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  press("End");
  await frame(); await frame();
  const measure = async (act) => {
    const took = [];
    for (let k = 0; k < 200; k += 1) {
      await frame();
      const begun = performance.now();
      act(k);
      await frame();
      took.push(performance.now() - begun);
    }
    return took;
  };
  const idle = await measure(() => {});
  const steps = await measure((k) => press(k % 40 < 20 ? "ArrowLeft" : "ArrowRight"));
  return { idle, steps };
}"""


def main() -> None:
    """The command."""
    wanted = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    wanted.add_argument("--days", type=int, default=12)
    wanted.add_argument("--keep", type=Path, help="write the page there")
    wanted.add_argument("--no-browser", action="store_true", help="size alone")
    told = wanted.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        shutil.copy(__file__, home / "replay.py")
        run = played(home, told.days)
        begun = time.perf_counter()
        with Store.open_for_reading(run) as store:
            page, missing = replay_of(store, 1)
            events = len(store.record(1).events)
        took = time.perf_counter() - begun
        file = told.keep or home / "long.html"
        file.write_text(page)
        print(
            f"{events} events, {told.days} days: {len(page) / 1e6:.2f} MB, written in {took:.1f} s {missing}"
        )
        for name, milliseconds in ({} if told.no_browser else browsed(file.resolve())).items():
            print(f"{name}: {milliseconds:.1f} ms")


if __name__ == "__main__":
    main()
