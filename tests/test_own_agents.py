"""Agents of one's own, named in a file as ``module:Class``: played, resumed, checked, told when they fail."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from marks import slow_except
from wolflab.errors import ExperimentError, StoreError
from wolflab.lab.plans import tournament_plan as tournament
from wolflab.lab.plans.loading import build
from wolflab.lab.plans.policies import by_name
from wolflab.lab.results.summaries import summary
from wolflab.lab.runs import runner
from wolflab.lab.runs.casting import PlayerBuilder
from wolflab.lab.storage.store import Store
from wolflab.models.village import Village

HEAD = """
from dataclasses import dataclass
from typing import Literal

from wolflab.agents import OwnAgent, Reply
from wolflab.rules import Say, pick
from wolflab.text.questions import Decide, Question
from wolflab.agents.memory import remember, situation


def acted(ask, io):
    return Reply(Say("Hm.") if ask.options is None else ask.options[io.draw("pick", len(ask.options))])

"""
GOSSIP = """
@dataclass
class Gossip(OwnAgent):
    times: int = 1
    about: tuple[Literal["wolves", "weather"], ...] = ("wolves",)

    def __post_init__(self):
        if self.times > 9:
            raise ValueError("times is 9 at most")
        if self.times == 7:
            raise KeyError("seven")

    async def reply(self, view, ask, io):
        return acted(ask, io)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, which is not where Python looks for modules."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one])
    return tmp_path


NUMBER = iter(range(1000))


def written(here: Path, body: str, head: str = HEAD) -> str:
    """A module in `here`, of a name that no other test uses."""
    name = f"own_agents_of_test_{next(NUMBER)}"
    (here / f"{name}.py").write_text(head + body, encoding="utf-8")
    return name


def experiment(recipe: Any, **changes: Any) -> dict[str, Any]:
    return {"name": "x", "rules": "doctor", "players": {"others": {"recipe": recipe}}, "deals": 2, **changes}


def wolf(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command as it is when it is installed: the current directory is nowhere on Python's path (-P)."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "wolflab", *words],
        cwd=home,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def told(done: subprocess.CompletedProcess[str]) -> str:
    return " ".join((done.stdout + done.stderr).split())


# -- playing --------------------------------------------------------------------------------


def test_a_class_of_ones_own_plays_and_its_settings_stand_in_the_header(here: Path) -> None:
    name = written(here, GOSSIP)
    data = experiment({"name": f"{name}:Gossip", "times": 3}, interview=True, reliability_probe=True)
    with Store.create(here / "run", build(data)) as store:
        assert runner.play_run(store)
        header = store.record(1).header
    settings = {"times": 3, "about": ["wolves"]}
    assert header["players"] == [{"recipe": f"{name}:Gossip", "settings": settings}] * 7


def test_several_processes_give_the_same_records(here: Path) -> None:
    data = experiment(f"{written(here, GOSSIP)}:Gossip", deals=4)
    lines = []
    for workers in (1, 2):
        with Store.create(here / f"run{workers}", build({**data, "workers": workers})) as store:
            assert runner.play_run(store)
            lines.append([store.record(game.id).lines for game in store.games("done")])
    assert lines[0] == lines[1]


def test_an_agent_that_plays_illegally_is_counted_and_named(here: Path) -> None:
    name = written(
        here,
        """
class Illegal(OwnAgent):
    async def reply(self, view, ask, io):
        return Reply(pick(99)) if ask.options is not None else acted(ask, io)
""",
    )
    players = {
        "others": {"recipe": f"{name}:Illegal"},
        "werewolves": {"model": "village", "recipe": "vanilla"},
    }
    (here / "x.yaml").write_text(yaml.safe_dump(experiment("random", players=players, deals=6)))
    ran = told(wolf(here, "run", "x.yaml", "--out", "run"))
    assert f"Most decisions of {name}:Illegal are stand-ins" in ran
    with Store.open_for_reading(here / "run") as store:
        stand_ins = summary(store).conditions[0].measures["stand_ins"]
    assert stand_ins.value is not None
    assert stand_ins.value > 0.2


@pytest.mark.parametrize(
    "reply",
    ['Say("x"), (("act", Thought(None)),)', "Invalid(None)", 'Say("x"), (("act", Thought("\\ud83d")),)'],
)
def test_a_reply_that_no_record_can_hold_fails_its_game_alone(here: Path, reply: str) -> None:
    name = written(
        here,
        f"""
from wolflab.agents.base import Invalid
from wolflab.text.notes import Thought

class Odd(OwnAgent):
    async def reply(self, view, ask, io):
        return Reply({reply}) if ask.options is None and view.seat == 0 else acted(ask, io)
""",
    )
    with Store.create(here / "run", build(experiment(f"{name}:Odd", deals=3))) as store:
        assert not runner.play_run(store)
        failed = store.games("failed")
        assert failed
        assert all("Odd.reply gave" in str(row.error) for row in failed)
        summary(store)


def test_only_who_says_so_is_given_a_model(here: Path) -> None:
    name = written(
        here,
        """
class Asks(OwnAgent):
    asks_model = True

    async def reply(self, view, ask, io):
        await io.generate("act", Question(situation(view, remember(view), ask, layout="append"), Decide(ask)))
        return acted(ask, io)


class Silent(Asks):
    asks_model = False
""",
    )
    village = {"others": {"recipe": f"{name}:Asks", "model": "village"}}
    asking = PlayerBuilder(build(experiment("random", players=village))).cast("all")["others"].player
    assert isinstance(asking.model, Village)
    with pytest.raises(
        ExperimentError, match=r"^others in all: .*: it asks a model, and none is named; write"
    ):
        PlayerBuilder(build(experiment(f"{name}:Asks"))).cast("all")
    village["others"]["recipe"] = f"{name}:Silent"
    with Store.create(here / "run", build(experiment("random", players=village, deals=1))) as store:
        assert not runner.play_run(store)
        assert "needs asks_model = True in its class" in str(store.game(1).error)
        assert not runner.PlayerBuilder(store.experiment).models


def test_it_enters_tournaments_by_file_and_by_flag(here: Path) -> None:
    name = written(here, GOSSIP)
    flags = tournament.from_flags([f"{name}:Gossip", f"loud={name}:Gossip@village", "random"], None, None, 1)
    assert list(flags["entrants"]) == [f"{name}:Gossip", "loud", "random"]
    made = tournament.make_tournament(flags, ["loud.recipe.times=4"])
    cast = made.experiment().cast(f"{name}:Gossip vs loud")
    assert cast["werewolves"].own == (f"{name}:Gossip", {"times": 4})
    assert by_name(f"{name}:Gossip") == {"recipe": f"{name}:Gossip"}


def test_a_package_gives_its_agents_short_names(here: Path) -> None:
    name = written(here, GOSSIP)
    info = here / "gossips-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: gossips\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[wolflab.recipes]\ngossip = {name}:Gossip\n")
    script = f"""
import sys
sys.path.append({str(here)!r})
from wolflab.lab.plans.loading import build
made = build({experiment("gossip")!r})
spec = made.cast("all")["others"]
print(spec.own.name, spec.non_default_fields()["recipe"], {name!r} in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == f"{name}:Gossip {{'name': '{name}:Gossip'}} False"


# -- what goes wrong ------------------------------------------------------------------------

WRONG = """
class Bare(OwnAgent):
    pass


class Late(OwnAgent):
    def reply(self, view, ask, io):
        return acted(ask, io)


class Loner:
    async def reply(self, view, ask, io):
        return acted(ask, io)


class Needs(OwnAgent):
    def __init__(self, what):
        pass

    async def reply(self, view, ask, io):
        return acted(ask, io)
"""


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ("NAME:Gosip", "NAME.py has no 'Gosip'; did you mean Gossip?"),
        ("NAME:Zebra.Stripe", "NAME.py has no 'Zebra'; known are Gossip"),
        ("nowhere_at_all:X", "there is no module 'nowhere_at_all', neither in HERE nor installed; go to"),
        ("NAME.inner:X", "there is no module 'NAME.inner'"),
        ("NAME:", "recipe 'NAME:': write it as module:Class, such as my_player:Gossip"),
        ("a b:c", "write it as module:Class"),
        ("NAME:acted", "acted is no agent; write class acted(OwnAgent), of wolflab.agents"),
        ("NAME:Loner", "Loner is no agent"),
        ("NAME:OwnAgent", "OwnAgent is no agent"),
        ("NAME:Bare", "write its reply as: async def reply(self, view, ask, io)"),
        ("NAME:Late", "write its reply as: async def reply(self, view, ask, io)"),
        ("NAME:Needs", "TypeError: Needs.__init__() missing 1 required positional argument: 'what'"),
        (
            {"name": "NAME:Needs", "what": 1},
            "it takes no settings, and what is given; make Needs a dataclass",
        ),
        ({"name": "NAME:Gossip", "tims": 3}, "field tims: there is no such field; did you mean times?"),
        ({"name": "NAME:Gossip", "times": "3"}, "field times: got '3'; use a whole number"),
        ({"name": "NAME:Gossip", "about": ["cats"]}, "field about: got 'cats'; use 'wolves' or 'weather'"),
        ({"name": "NAME:Gossip", "times": 10}, "times is 9 at most"),
        (
            {"name": "NAME:Gossip", "times": 7},
            "NAME.py, line LINE, in Gossip.__post_init__: KeyError: 'seven'",
        ),
    ],
)
def test_what_cannot_be_made_is_told_before_any_game(recipe: Any, words: str, here: Path) -> None:
    name = written(here, GOSSIP + WRONG)
    lines = (here / f"{name}.py").read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "KeyError" in text)
    given = recipe if isinstance(recipe, str) else recipe["name"]
    named = given.replace("NAME", name)
    made = build(experiment(named if isinstance(recipe, str) else {**recipe, "name": named}))
    with pytest.raises(ExperimentError) as caught:
        asyncio.run(runner.preflight(PlayerBuilder(made)))
    said = str(caught.value)
    assert said.startswith("others in all: recipe ")
    assert words.replace("NAME", name).replace("HERE", str(here)).replace("LINE", str(line)) in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = (", "NAME.py, line 1: SyntaxError: '(' was never closed"),
        ("import nowhere_at_all", "NAME.py, line 1: ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("def f():\n    return y\n\nf()\n", "NAME.py, line 2, in f: NameError: name 'y' is not defined"),
        ("", "NAME.py has no 'X'; there is no agent in it"),
    ],
)
def test_a_module_that_cannot_be_imported_is_told_with_its_line(text: str, words: str, here: Path) -> None:
    name = written(here, text, head="")
    with pytest.raises(ExperimentError) as caught:
        PlayerBuilder(build(experiment(f"{name}:X"))).cast("all")
    assert words.replace("NAME", name) in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"policy": "small"}, "policy: recipe m:C chooses without a policy"),
        ({"experience": {"grow": 1}}, "experience: recipe m:C does not reflect"),
    ],
)
def test_what_belongs_to_language_agents_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ExperimentError, match=words):
        build(experiment("", players={"others": {"recipe": "m:C", **changes}}))


BROKEN = """
import asyncio, sys

class nap:
    def __await__(self):
        yield


def helper(table, what):
    return table[what]  # line 23


async def broken():
    return 1 / 0  # line 27


class Helped(OwnAgent):
    async def reply(self, view, ask, io):
        return helper({}, ask.kind)


class Gathers(OwnAgent):
    async def reply(self, view, ask, io):
        return await io.gather([broken()])


class Mute(OwnAgent):
    async def reply(self, view, ask, io):
        pass


class Numb(OwnAgent):
    async def reply(self, view, ask, io):
        return Reply(Say(3))


class Notes(OwnAgent):
    async def reply(self, view, ask, io):
        return Reply(pick(0), ("because",))


class Waits(OwnAgent):
    async def reply(self, view, ask, io):
        await nap()


class Leaves(OwnAgent):
    async def reply(self, view, ask, io):
        sys.exit(0)


async def left():
    raise SystemExit


class GathersAndLeaves(OwnAgent):
    async def reply(self, view, ask, io):
        return await io.gather([left()])


class Cancels(OwnAgent):
    async def reply(self, view, ask, io):
        raise asyncio.CancelledError("enough")


class Interrupts(OwnAgent):
    async def reply(self, view, ask, io):
        raise KeyboardInterrupt


class End(BaseException):
    pass


class Ends(OwnAgent):
    async def reply(self, view, ask, io):
        raise End("all")


class Groups(OwnAgent):
    async def reply(self, view, ask, io):
        raise BaseExceptionGroup("two", [KeyboardInterrupt(), ValueError()])


class Unsayable(Exception):
    def __str__(self):
        return 1 / 0


class Stammers(OwnAgent):
    async def reply(self, view, ask, io):
        raise Unsayable


class Shouts(OwnAgent):
    async def reply(self, view, ask, io):
        raise ValueError("a" * 10_000_000)


class Floods(OwnAgent):
    async def reply(self, view, ask, io):
        return "a" * 10_000_000
"""
SAID = {
    "Leaves": "in Leaves.reply: SystemExit (0), which would end more than its game; raise another error",
    "GathersAndLeaves": "in left: SystemExit, which would end more than its game",
    "Cancels": "Cancels.reply: CancelledError (enough), which would end more than its game",
    "Interrupts": "Interrupts.reply: KeyboardInterrupt, which would end more than its game",
    "Ends": "Ends.reply: End (all), which would end more than its game",
    "Groups": "Groups.reply: BaseExceptionGroup (two (2 sub-exceptions)), which would end more than its game",
    "Stammers": "in Stammers.reply: Unsayable: (it cannot be printed)",
    "Shouts": f"in Shouts.reply: ValueError: {'a' * 2000}…",
    "Floods": f"Floods.reply gave '{'a' * 1999}… at 1/kill/",
    "Helped": "NAME.py, line 23, in Helped.reply: KeyError: 'kill'",
    "Gathers": "NAME.py, line 27, in Gathers.reply: ZeroDivisionError: division by zero",
    "Mute": "Mute.reply gave None at 1/kill/",
    "Numb": "Numb.reply gave Reply(action=Say(text=3), notes=()) at 1/kill/",
    "Notes": "at 1/kill/2; return Reply(action), or Reply(action, notes), the notes a tuple of (step,",
    "Waits": "an agent waited for something that is none of its calls",
}


@pytest.mark.parametrize("workers", slow_except([1], [1, 2]))
def test_a_mistake_in_a_reply_fails_its_game_and_is_told(workers: int, here: Path) -> None:
    name = written(here, BROKEN)
    arms = {kind: {"players": {"others": {"recipe": f"{name}:{kind}"}}} for kind in SAID}
    data = experiment("random", conditions={**arms, "fine": {}}, deals=1, workers=workers)
    with Store.create(here / "run", build(data)) as store:
        assert not runner.play_run(store)
        rows = {row.condition: row for row in store.games()}
    assert rows.pop("fine").status == "done"
    assert {row.status for row in rows.values()} == {"failed"}
    for kind, words in SAID.items():
        assert words.replace("NAME", name) in str(rows[kind].error)
    if workers == 2:
        said = "".join(told(wolf(here, "errors", "run")).split())  # long words are broken anywhere
        for words in SAID.values():
            assert "".join(words.replace("NAME", name).split()) in said
        for kind in ("Helped", "Gathers", "Mute", "Cancels"):
            played = wolf(here, "play", "--rules", "doctor", "--recipe", f"{name}:{kind}", "--pace", "0")
            assert re.search(rf"wolflab: .{{,40}}{re.escape(SAID[kind].replace('NAME', name))}", told(played))
            assert "Traceback" not in told(played)


ENDS = ("Leaves", "GathersAndLeaves", "Cancels", "Interrupts", "Ends", "Groups")


def test_what_ends_a_program_fails_its_game_among_players_who_wait(here: Path) -> None:
    name = written(here, BROKEN.replace("(OwnAgent):", "(OwnAgent):\n    instant = False\n"))
    arms = {kind: {"players": {"others": {"recipe": f"{name}:{kind}"}}} for kind in ENDS}
    with Store.create(here / "run", build(experiment("random", conditions={**arms, "fine": {}}))) as store:
        assert not runner.play_run(store)
        for row in store.games():
            assert row.status == ("done" if row.condition == "fine" else "failed")
            assert row.condition == "fine" or "would end more than its game" in str(row.error)


def test_a_process_that_its_agent_ends_is_told(here: Path) -> None:
    body = """
import os

class Ends(OwnAgent):
    async def reply(self, view, ask, io):
        os._exit(0)
"""
    file = here / "x.yaml"
    file.write_text(yaml.safe_dump(experiment(f"{written(here, body)}:Ends", workers=2)))
    ended = wolf(here, "run", "x.yaml", "--out", "run")
    assert ended.returncode == 1
    assert "by an agent's own code (os._exit): run the command again" in told(ended)
    alone = wolf(here, "run", "x.yaml", "--out", "alone", "--set", "workers=1")
    assert alone.returncode == 0, "nothing runs any more that could say otherwise"
    assert "stopped; 0 of 2 games" in told(wolf(here, "status", "alone"))


def test_a_module_that_leaves_is_told_with_its_line(here: Path) -> None:
    name = written(here, "import sys\nsys.exit(0)\n", head="")
    with pytest.raises(ExperimentError, match=rf"{name}.py, line 2: SystemExit: 0"):
        runner.play_run(Store.create(here / "run", build(experiment(f"{name}:Any"))))


def test_an_illegal_action_is_stood_in_for(here: Path) -> None:
    body = """
class Wild(OwnAgent):
    async def reply(self, view, ask, io):
        return Reply(pick(99)) if ask.kind == "vote" else acted(ask, io)
"""
    with Store.create(here / "run", build(experiment(f"{written(here, body)}:Wild", deals=1))) as store:
        assert runner.play_run(store)
        votes = [turn for turn in store.record(1).turns if turn.kind == "vote"]
    assert votes
    assert {turn.invalid for turn in votes} == {"Pick(seat=99) is not among the options"}


# -- a run and its code ---------------------------------------------------------------------


@pytest.mark.slow
def test_a_game_that_failed_is_played_once_its_code_is_mended(here: Path) -> None:
    code = (
        HEAD
        + """
class Player(OwnAgent):
    async def reply(self, view, ask, io):
        if view.seat == 3 and io.draw("x", 2) and ask.kind == "vote":
            raise LookupError("no such thing")
        return acted(ask, io)
"""
    )
    (here / "mended.py").write_text(code)
    (here / "x.yaml").write_text(yaml.safe_dump(experiment("mended:Player", deals=6, workers=2)))
    first = wolf(here, "run", "x.yaml", "--out", "run")
    assert first.returncode == 1
    with Store.open_for_reading(here / "run") as store:
        before = {row.id: row.status for row in store.games()}
        kept = {game: store.record(game).lines for game, status in before.items() if status == "done"}
    assert set(before.values()) == {"done", "failed"}
    assert "mended.py, line 18, in Player.reply: LookupError: no such thing" in told(
        wolf(here, "errors", "run")
    )
    (here / "mended.py").write_text(code.replace("raise LookupError", "LookupError"))
    assert wolf(here, "run", "--resume", "run").returncode == 0
    assert wolf(here, "verify", "run", "--agents").returncode == 0
    with Store.open_for_reading(here / "run") as store:
        assert {row.status for row in store.games()} == {"done"}
        assert {game: store.record(game).lines for game in kept} == kept


@pytest.mark.slow
def test_a_changed_setting_is_noticed_and_reading_needs_no_code(here: Path) -> None:
    name = written(here, GOSSIP)
    (here / "x.yaml").write_text(yaml.safe_dump(experiment({"name": f"{name}:Gossip", "times": 3})))
    assert wolf(here, "run", "x.yaml", "--out", "run").returncode == 0
    assert wolf(here, "verify", "run", "--agents").returncode == 0
    file, module = here / "run" / "experiment.yaml", here / f"{name}.py"
    text, code = file.read_text(), module.read_text()
    file.write_text(text.replace("times: 3", "times: 4"))
    with pytest.raises(StoreError, match="condition 'all' was changed since the run began"):
        Store.resume(here / "run")
    file.write_text(text)
    module.write_text(code.replace('("wolves",)', '("weather",)'))  # a default
    with Store.resume(here / "run") as store:
        store.stop(store.games()[-1].id, "unfinished", "the server failed")
    changed = "about[0] was 'wolves' in the games so far and is 'weather' now; change it back"
    assert changed in told(wolf(here, "run", "--resume", "run"))
    module.write_text(code.replace("    times: int = 1", "    day: int | None = None\n    times: int = 1"))
    assert "day was not there in the games so far and is None now" in told(
        wolf(here, "run", "--resume", "run")
    )
    module.write_text(code.replace('("wolves",)', '("weather",)'))
    differs = "settings.about[0] is 'wolves' in the record and 'weather' when played back"
    assert differs in told(wolf(here, "verify", "run", "--agents"))
    module.write_text(code.replace("return acted(ask, io)", "return acted(ask)", 1))
    assert f"{name}.py, line" in told(wolf(here, "verify", "run", "--agents"))
    module.unlink()
    for words in (["report"], ["show", "1"], ["errors"], ["verify"], ["export", "-o", "out"]):
        done = wolf(here, words[0], "run", *words[1:])
        assert done.returncode == (words == ["verify"]), told(done)  # which misses the game that was stopped
    assert f"there is no module '{name}'" in told(wolf(here, "verify", "run", "--agents"))
