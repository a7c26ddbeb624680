"""A table's plan: its rules, its seats, its times, and what it declares. It is stored as `table.json`."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b, scrypt
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from ...errors import StoreError
from ...files import read_json
from ...lab.plans.experiment import Experiment
from ...lab.plans.loading import build
from ...lab.plans.meanings import FIRST, switches_before
from ...lab.plans.specs import PERSON
from ...rules import DUTIES, PRESETS, Ruleset
from ...text.clean import clean
from ..wording import duration

Seconds = Annotated[float, msgspec.Meta(ge=0, le=3600)]
SeatKind = Literal["person", "shared", "agent"]
"""The kind of a seat: a person who joins by a link, a person at a shared device, or an agent."""
Vanish = Literal["pass", "stand-in", "void"]
TableStatus = Literal["lobby", "playing", "paused", "over"]

TABLE = "table.json"
NIGHT_STEP = 30.0
"""Seconds for each step of a night, if the table does not set a night's length."""
SHARED_STEP = 30.0
"""Extra seconds in each step for each seat of a shared device, which is passed on."""
GRACE = 15.0
"""Seconds that the game waits for a person whose connection is lost."""
LENIENCY = 2.0
"""Seconds after an ask's time in which an answer still counts."""
NAME_LIMIT = 24
"""The most characters of a person's or a table's name."""
NAMES = {"player_name": "Player {}", "first_player": 1}
"""The players' names, instead of the preset's."""
SIGNALS = (
    "Of each statement that you type in a game, two things are kept: whether you pasted something into it, "
    "and for how many seconds the page of the game was out of sight while you were asked for it. What you "
    "pasted is not looked at, nor what you did meanwhile."
)
"""The notice to people if a study collects these signals."""
MODEL = "village"
"""The model that anybody may seat without the host's token: it is free."""


_MOST_SEATS = max(rules.players for rules in PRESETS.values())


class Times(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table's times in seconds; wait: in minutes. speak: for a statement. vote: for a vote, a choice by day
    or a poll. night: of a complete night; 0: by the rules. hidden: the pause during which somebody may act
    unseen by day. pace: at least between events, and before an agent speaks. wait: from the first person's
    arrival until the game starts by itself; 0: never.
    """

    speak: Seconds = 120
    vote: Seconds = 60
    night: Seconds = 0
    hidden: Seconds = 15
    pace: Annotated[float, msgspec.Meta(ge=0, le=60)] = 1.5
    wait: Annotated[float, msgspec.Meta(ge=0, le=1440)] = 10


class BudgetPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of a table's spending on models."""

    usd: Annotated[float, msgspec.Meta(ge=0)] | None = None
    tokens: Annotated[int, msgspec.Meta(ge=0)] | None = None


class SeatWish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The requested player of a seat."""

    kind: SeatKind
    model: Annotated[str, msgspec.Meta(max_length=200)] = MODEL
    recipe: Annotated[str, msgspec.Meta(max_length=60)] = "deductive"


class TableRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request for a table. See `Times`; vanish: who takes the turns of a person who has left; marked:
    agents are marked as agents; measure: polls are taken; listed: the table is in the list.
    """

    rules: str
    seats: Annotated[
        list[SeatWish],
        msgspec.Meta(min_length=1, max_length=_MOST_SEATS),
    ]
    name: Annotated[str, msgspec.Meta(max_length=200)] = ""
    listed: bool = True
    times: Times = Times()
    vanish: Vanish = "stand-in"
    marked: bool = True
    measure: bool = False
    budget: BudgetPlan = BudgetPlan()


class TableSeat(msgspec.Struct):
    """One seat as stored. nick: its person's name. secret: the hash of the seat's secret. pin: salt and hash
    of the PIN of a seat at a shared device.
    """

    kind: SeatKind
    model: str = MODEL
    recipe: str = "deductive"
    nick: str = ""
    secret: str = ""
    pin: tuple[str, str] | None = None

    @property
    def of_person(self) -> bool:
        """Whether the seat is a person's."""
        return self.kind != "agent"

    @property
    def taken(self) -> bool:
        """Whether its person has joined."""
        return self.of_person and bool(self.secret or self.pin)


class TablePlan(msgspec.Struct):
    """A table as stored. keeper, device: hashes of the secrets of its maker, and of its shared device. shown:
    number of batches of events that everybody has seen. host_plays: the host holds a seat. next: the table at
    which the same people play again. switches: changes to the preset's rules. game: the number of its game in
    a study's run; 0 for a table with a run of its own. way: the page for its people after the game; "" for
    none. patience: seconds that the game waits for a person who has lost the connection, before it does what
    it declares. signals: count whether statements are pasted, and how long pages are hidden
    (`lab.studies.study_plan`); only in studies. meanings: the version of what the rules' name means
    (`lab.plans.meanings`); older tables have none.
    """

    code: str
    name: str
    rules: str
    seats: list[TableSeat]
    seed: int
    made: float
    keeper: str
    device: str = ""
    listed: bool = True
    times: Times = Times()
    vanish: Vanish = "stand-in"
    marked: bool = True
    measure: bool = False
    budget: BudgetPlan = BudgetPlan()
    state: TableStatus = "lobby"
    why: str = ""
    shown: int = 0
    host_plays: bool = False
    next: str = ""
    switches: dict[str, Any] = {}
    game: int = 0
    way: str = ""
    patience: float = GRACE
    signals: bool = False
    meanings: str = FIRST

    @property
    def wish(self) -> TableRequest:
        """The request for a table of the same kind."""
        seats = [SeatWish(seat.kind, seat.model, seat.recipe) for seat in self.seats]
        same = ("rules", "name", "listed", "times", "vanish", "marked", "measure", "budget")
        return TableRequest(seats=seats, **{name: getattr(self, name) for name in same})

    @property
    def ruleset(self) -> Ruleset:
        """The table's rules: the preset's, with its switches and names for a page."""
        return PRESETS[self.rules].with_(**self._changes)

    @property
    def _changes(self) -> dict[str, Any]:
        """The switches in which the rules differ from the preset."""
        return {**NAMES, **switches_before(self.meanings), **self.switches}

    @property
    def people(self) -> list[int]:
        """The seats of people."""
        return [number for number, seat in enumerate(self.seats) if seat.of_person and seat.taken]

    @property
    def free(self) -> list[int]:
        """The seats that a person with the table's link may still take."""
        return [n for n, seat in enumerate(self.seats) if seat.kind == "person" and not seat.taken]

    @property
    def shared(self) -> list[int]:
        """The seats of the shared device."""
        return [number for number, seat in enumerate(self.seats) if seat.kind == "shared"]

    @property
    def night_steps(self) -> int:
        """The most steps of a night, by the rules alone."""
        return max((step.last for step in night_duties(self.ruleset).values()), default=1)

    @property
    def night_seconds(self) -> float:
        """The length of a night in seconds; it does not depend on who lives."""
        each = NIGHT_STEP + SHARED_STEP * len(self.shared)
        return self.times.night or each * self.night_steps

    def experiment(self) -> Experiment:
        """The table's experiment: its people, and the built-in player at seats that nobody took."""
        names = self.ruleset.names
        players: dict[str, Any] = {"others": {"recipe": "deductive", "model": MODEL}}
        for name, seat in zip(names, self.seats, strict=True):
            if seat.taken:
                players[name] = {"recipe": PERSON}
            elif seat.kind == "agent":
                model = {} if seat.recipe == "random" else {"model": seat.model}
                players[name] = {"recipe": seat.recipe, **model}
        data = {
            "name": "table",
            "rules": {"preset": self.rules, **self._changes},
            "players": players,
            "seed": self.seed,
            "deals": 1,
            "redraw_void": False,
            "budget": msgspec.to_builtins(self.budget),
            "straw_polls": int(self.measure),
            "reliability_probe": self.measure,
        }
        return build(data, [], where="the table")

    def declared(self) -> list[str]:
        """What the table declares, in sentences."""
        times = self.times
        vanish = {
            "pass": "their turns are passed",
            "stand-in": "a built-in player plays for them, marked as such, until they come back",
            "void": "the game ends and does not count",
        }[self.vanish]
        pace = f"Agents take {times.pace:g} seconds before they speak, longer for long statements."
        marks = "Agents are marked as agents."
        if not self.marked:
            pace = "Agents take a random time, a tenth to a half of what people have."
            marks = "Agents are not marked."
        steps = ""
        if self.night_steps > 1:
            parts = f"{self.night_steps} parts, one after another"
            steps = f"It has {parts}: a choice has only the time of its part."
        blind = bool(self.way) and not self.marked  # neither agents nor people are mentioned
        ready = "all who wait" if blind else "all living people"
        sentences = [
            f"A statement has {times.speak:g} seconds, a vote {times.vote:g}.",
            f"A night lasts {self.night_seconds:g} seconds, regardless of who lives. It is over sooner when "
            f"{ready} are ready. {steps}",
            f"A player who has lost the connection has {duration(self.patience)} to come back; after that "
            f"{vanish}.",
            *([] if blind else [f"{pace} {marks}"]),
            "A player who gives no answer in time says nothing, or the rules' stand-in is used: often a "
            "random action.",
        ]
        if "departure" in self.ruleset.due:
            sentences.append(
                f"After every death the game rests for {times.hidden:g} seconds, whether anybody may shoot "
                "or not."
            )
        if self.measure:
            sentences.append(
                "Outside the game, everybody is asked what they think: for votes, for trust, or who has "
                "which role. Nobody else sees the answers."
            )
        if self.signals:
            sentences.append(SIGNALS)
        return sentences


def web_rules(preset: str) -> Ruleset:
    """A preset as tables play it."""
    return PRESETS[preset].with_(**NAMES)


class NightStep(NamedTuple):
    """The last step of a duty of the night, counted from 1, and its number of steps: holders of a chained
    duty are asked one by one. Asks of one step are awaited together.
    """

    last: int
    own: int


@lru_cache(64)
def night_duties(ruleset: Ruleset) -> Mapping[str, NightStep]:
    """The duties of a night, from the rules alone, so that their times reveal nothing."""
    due = {duty.kind: role for role in ruleset.cast for duty in role.duties if duty.when == "night"}

    def waits_for(kind: str, earlier: str) -> bool:
        last = ruleset.deaths == "sequential" and DUTIES[kind].reads and not DUTIES[earlier].reads
        return earlier in DUTIES[kind].after or last

    def step(kind: str) -> NightStep:
        own = ruleset.count(due[kind].name) if DUTIES[kind].chained else 1
        before = max((step(other).last for other in due if waits_for(kind, other)), default=0)
        return NightStep(before + own, own)

    return MappingProxyType({kind: step(kind) for kind in due})


_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"


# -- secrets --------------------------------------------------------------------------------------------


def new_code(length: int = 6) -> str:
    """A random code of letters and digits that are not easily confused."""
    return "".join(secrets.choice(_LETTERS) for _ in range(length))


def new_secret() -> str:
    """A random secret of 128 bits."""
    return secrets.token_urlsafe(16)


def secret_hash(secret: str) -> str:
    """The hash of a secret, as stored."""
    return blake2b(secret.encode("utf-8", "replace"), digest_size=16).hexdigest()


def same_secret(secret: str, kept: str) -> bool:
    """Whether a secret has that hash; never for an empty hash."""
    return bool(kept) and hmac.compare_digest(secret_hash(secret), kept)


def new_pin(pin: str) -> tuple[str, str]:
    """A salt and a slow hash: a PIN has few digits."""
    salt = secrets.token_hex(8)
    return salt, _pin_hash(pin, salt)


def same_pin(pin: str, kept: tuple[str, str]) -> bool:
    """Whether it is the right PIN."""
    return hmac.compare_digest(_pin_hash(pin, kept[0]), kept[1])


def _pin_hash(pin: str, salt: str) -> str:
    return scrypt(pin.encode(), salt=salt.encode(), n=1 << 12, r=8, p=1, dklen=16).hex()


def nickname(text: str) -> str:
    """A person's name, cleaned for a page: one line of at most `NAME_LIMIT` characters."""
    return clean(text, NAME_LIMIT).strip()


def read_plan(folder: Path) -> TablePlan:
    """The table's plan; StoreError if it cannot be read."""
    mend = f"copy it back, or remove {folder}"
    plan = read_json(folder / TABLE, TablePlan, mend)
    if plan.rules not in PRESETS or len(plan.seats) != plan.ruleset.players:
        raise StoreError(f"{folder / TABLE}: its seats are not those of its rules; {mend}")
    return plan
