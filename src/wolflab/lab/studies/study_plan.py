"""The plan of a study: its games, its people, its steps, and its consent.

It is one file (`wolflab study FILE`). The file's experiment is the run; this module has the fields about
people. A study with a blank in its consent is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import ceil
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from ...errors import ExperimentError
from ...fields import Part
from ...files import read_file
from ...match import DealtCards, Draws, dealt
from ...models.catalog import BUILT_IN
from ...rules import ROLES
from ..plans.design import sheriff_side
from ..plans.experiment import Experiment
from ..plans.loading import build
from ..plans.meanings import FIELD, MEANINGS, without_version
from ..plans.served import servers_of
from ..plans.sources import checking, read_fields
from ..plans.specs import PERSON, FolderName
from ..runs.game import keys
from ..storage.store import Place

STUDY = "study.yaml"
"""The study's file in the folder of its run."""
BLANK = "…"
"""The placeholder of a field of the consent."""
_LOOKED = 100_000
"""The most deals that are searched for one that gives a person the wanted card."""
StudySide = Literal["village", "werewolves"]
PlaceFrom = Literal["consent", "about", "rules", "quiz", "training"]
_Id = Annotated[str, Field(min_length=1, max_length=200)]
_Words = Annotated[str, Field(min_length=1, max_length=4000)]


class StudyQuestion(Part):
    """One question of a form. options: one is chosen; without any, the answer is a text. scale: the answer is
    a number from 1 to scale; ends: words for both ends.
    """

    ask: Annotated[str, Field(min_length=1, max_length=500)]
    options: list[str] = Field(default_factory=list, max_length=20)
    scale: Annotated[int, Field(ge=2, le=11)] | None = None
    ends: list[str] = Field(default_factory=list, max_length=2)
    required: bool = False
    screens: list[str] = Field(default_factory=list, max_length=20)
    """The options that screen a person out."""

    @model_validator(mode="after")
    def _one_kind(self) -> StudyQuestion:
        if self.options and self.scale:
            raise ValueError("options, scale: a question has one of the two")
        for option in self.screens:
            if option not in self.options:
                raise ValueError(f"screens: {option!r} is none of the options")
        return self

    @property
    def answers(self) -> list[str]:
        """The possible answers; empty for a text."""
        return [str(number) for number in range(1, self.scale + 1)] if self.scale else list(self.options)


class StudyConsent(Part):
    """The information for people before they agree. The person who runs the study fills in the blanks."""

    responsible: _Words = BLANK
    """Who runs the study, where, and the contact."""
    purpose: _Words = BLANK
    takes: _Words = BLANK
    """How long it takes, and what people get for it."""
    readers: _Words = BLANK
    """Who reads what people type."""
    kept: _Words = BLANK
    """Where it is kept, and for how long."""
    erasable_until: _Words = BLANK
    """Until when somebody can have it erased."""
    warning: _Words = (
        "Werewolf is a game of lies: players deceive each other, accuse each other and vote each other out. "
        "They may write things that are wrong or offensive."
    )

    @property
    def blanks(self) -> list[str]:
        """The fields that are not filled in."""
        return [name for name in type(self).model_fields if BLANK in getattr(self, name)]


class StudyCell(Part):
    """The experimental cell of a person. side: the person's side in every game; None: by the cards. sheriff:
    the person is the Sheriff in every game (rules.sheriff: assigned).
    """

    condition: str
    side: StudySide | None = None
    sheriff: bool = False


class StudyBlind(Part):
    """Agents are not disclosed until the debrief. approval: the committee that approved this, with its
    number.
    """

    approval: Annotated[str, Field(min_length=3, max_length=500)]


class StudyPlan(Part):
    """A study; see the module."""

    name: FolderName
    title: Annotated[str, Field(min_length=1, max_length=200)]
    source: str = ""
    """What it reproduces: paper, section or table."""
    experiment: dict[str, Any]
    """The fields of an experiment; a person sits at `seat` in each of its conditions."""
    seat: str = "player_1"
    together: list[str] = Field(default_factory=list, max_length=20)
    """More seats of people in the same games. Empty: one person among agents."""
    vanish: Literal["void", "stand-in"] = "void"
    """The handling of a game that a person leaves. void: it is planned again. stand-in: if people play
    together, the built-in player takes over, and the game counts.
    """
    people: Annotated[int, Field(ge=1, le=10_000)] = 8
    """The number of people. Later ones see that the study is full."""
    ids: Annotated[list[_Id], Field(min_length=1)] | None = None
    """The ids in the links of those who may take part. In a file, also the name of a file in the same folder,
    with an id on each line. None: anybody with the link.
    """
    again: list[_Id] = Field(default_factory=list)
    """Ids that may begin once more after they have finished, stopped, withdrawn or been screened out: once
    for each occurrence here. All others take part once.
    """
    place_from: PlaceFrom = "training"
    """The step after which a person holds one of the places; if the study has no such step, the one before
    it. Until then the study may fill up.
    """
    place_kept: Annotated[float, Field(gt=0, le=3650)] = 14
    """Days of absence after which a person no longer holds a place. They may continue if one is free."""
    games: Annotated[int, Field(ge=1, le=100)] = 5
    """The number of games of each person."""
    cells: dict[str, StudyCell] = Field(default_factory=dict)
    """Each person belongs to one cell; cells are filled evenly. Empty: each condition is a cell."""
    deals: Literal["shared", "chosen", "roles"] = "shared"
    """shared: all people play the same deals, each in another order (a Latin square). chosen: the person
    types an integer before each game, which is the deal. roles: each person is dealt each role, in the order
    of a Latin square.
    """
    consent: StudyConsent = StudyConsent()
    about: list[StudyQuestion] = Field(default_factory=list)
    """Questions about the person, for screening or optional, before the rules."""
    quiz: Annotated[int, Field(ge=0, le=20)] = 5
    """The number of questions on the rules."""
    training: bool = True
    """A first game with built-in players, which does not count."""
    after_game: list[StudyQuestion] = Field(default_factory=list)
    flags: bool = True
    """After each game, people may mark statements with a kind of hallucination (002, Table 18)."""
    signals: bool = False
    """Record for each statement of a person whether text was pasted (never which), and how long the page was
    hidden meanwhile. The consent says so.
    """
    interview: list[StudyQuestion] = Field(default_factory=list)
    """Questions after the last game (002 §9.3)."""
    times: dict[str, Any] = Field(default_factory=dict)
    """Time limits of a table; see `ui.web.table_plan.Times`."""
    pause: Annotated[float, Field(ge=0, le=1440)] = 10
    """Minutes for which a game waits for a person without connection. Then it is planned again."""
    blind: StudyBlind | None = None
    debrief: Annotated[str, Field(max_length=4000)] = ""

    @model_validator(mode="after")
    def _whole(self) -> StudyPlan:
        played = self.played
        for name in played.conditions:
            rules, cast = played.ruleset(name), played.cast(name)
            for seat in self.seats:
                if seat not in rules.names:
                    raise ValueError(f"seat, together: there is no {seat!r} in {name}")
                if seat not in cast or cast[seat].recipe != PERSON:
                    raise ValueError(
                        f"experiment.players: {seat} has to be {{recipe: {PERSON}}} in {name}, for a person "
                        "sits there"
                    )
            others = [at for at, one in cast.items() if one.recipe == PERSON and at not in self.seats]
            if others:
                raise ValueError(
                    f"experiment.players: {', '.join(others)} is a person too; name that seat in together"
                )
        for name, cell in self.cells.items():
            if cell.condition not in played.conditions:
                known = ", ".join(played.conditions)
                raise ValueError(f"cells.{name}: there is no condition {cell.condition!r}; known are {known}")
            if cell.side is not None and self.deals != "shared":
                raise ValueError(f"cells.{name}.side: with deals: {self.deals}, the cards decide the side")
            if self.together and (cell.side is not None or cell.sheriff):
                raise ValueError(f"cells.{name}: side and sheriff are for one person at a table")
            if cell.sheriff and played.ruleset(cell.condition).sheriff != "assigned":
                raise ValueError(f"cells.{name}.sheriff: write rules.sheriff: assigned, or leave it out")
        if self.together and (self.deals != "shared" or len(set(self.seats)) < len(self.seats)):
            raise ValueError("together: people who sit together have deals: shared, and a seat each")
        if self.vanish == "stand-in" and not self.together:
            raise ValueError("vanish: stand-in is for people who play together; leave it out")
        if self.people < len(self.seats):
            raise ValueError(f"people: {len(self.seats)} sit at a table; write so many, or more")
        return self

    def kept(self) -> str:
        """The study's file for the folder of its run, without ids."""
        shown = self.model_dump(mode="json", exclude_unset=True, exclude={"ids", "again"})
        return StudyPlan(**shown).written()

    @property
    def seats(self) -> list[str]:
        """The names of people's seats."""
        return [self.seat, *self.together]

    @cached_property
    def played(self) -> Experiment:
        """The experiment of the run."""
        data = {"name": self.name, "title": self.title, "redraw_void": False, **self.experiment}
        return build(data, where="experiment")

    @cached_property
    def all_cells(self) -> Mapping[str, StudyCell]:
        """The cells; without any in the file, one for each condition."""
        return self.cells or {name: StudyCell(condition=name) for name in self.played.conditions}

    @cached_property
    def on_agents(self) -> Experiment:
        """The experiment with the built-in player instead of people, for forecasts."""
        data = self.played.model_dump(mode="json", exclude_unset=True)
        return build(_without_people(data), where="experiment")

    @property
    def expected(self) -> dict[str, int]:
        """Condition → the number of games if all people play all of theirs."""
        share = ceil(self.people / len(self.all_cells) / len(self.seats)) * self.games
        games = dict.fromkeys(self.played.conditions, 0)
        for cell in self.all_cells.values():
            games[cell.condition] += share
        return games

    def number(self, condition: str) -> int:
        """The (first) person's seat, from 0."""
        return self.numbers(condition)[0]

    def numbers(self, condition: str) -> list[int]:
        """The seats of all people of a game, from 0."""
        names = list(self.played.ruleset(condition).names)
        return [names.index(seat) for seat in self.seats]

    def rows(self, cell: StudyCell) -> int:
        """The number of rows of a cell's Latin square."""
        return len(self.roles(cell.condition)) if self.deals == "roles" else self.games

    def roles(self, condition: str) -> list[str]:
        """The different roles, in the order of a Latin square."""
        counts = self.played.ruleset(condition).roles
        return [role for role, n in counts.items() if n]

    def deal(self, cell: StudyCell, person: int, place: int, chosen: int | None = None) -> int:
        """The deal of a person's game. person: the row of the Latin square; place: of the game, from 1;
        chosen: the number that the person typed. The deal is this one, or the next one that fits the cell.
        ExperimentError if none does.
        """
        first, nth = 0, (place - 1 + person) % self.games
        role = None
        if self.deals == "chosen":
            assert chosen is not None
            first, nth = chosen, 0
        elif self.deals == "roles":
            roles = self.roles(cell.condition)
            role, nth = roles[(place - 1 + person) % len(roles)], (place - 1) // len(roles)
        if role is None and cell.side is None and not cell.sheriff:
            return first + nth
        seat = self.number(cell.condition)
        for deal in range(first, first + _LOOKED):
            cards = self._cards(cell.condition, deal)
            fits = role is None or cards.roles[seat] == role
            fits &= cell.side is None or ROLES[cards.roles[seat]].wolf == (cell.side == "werewolves")
            fits &= not cell.sheriff or cards.sheriff == seat
            if fits and nth == 0:
                return deal
            nth -= fits
        raise ExperimentError(f"{cell.condition}: none of {_LOOKED:,} deals gives {self.seat} that place")

    def _cards(self, condition: str, deal: int) -> DealtCards:
        key, _ = keys(self.played, Place(condition, deal, 0))
        side = sheriff_side(self.played, condition, deal)
        return dealt(self.played.ruleset(condition), Draws(key), side)

    def receivers(self) -> list[str]:
        """The receivers of people's words: each model and embedder behind a server, with its host."""
        return [f"{name} at {host}" if host else name for name, host in servers_of(self.played).items()]


def training_seeds(seed: int, person: int) -> tuple[int, int]:
    """The seeds of a person's training game: of earlier versions, which dealt the first person the cards of
    deal 0, and of this one, which no game of the study has. seed: the study's. person: their number.
    """
    return seed + person, Draws(f"{seed}/training").below(1 << 62, str(person)) + (1 << 62)


def _without_people(data: Any) -> Any:
    """The fields of an experiment, with the built-in player instead of people."""
    if isinstance(data, dict):
        if data.get("recipe") == PERSON:
            return {"model": BUILT_IN}
        return {name: _without_people(value) for name, value in data.items()}
    return [_without_people(value) for value in data] if isinstance(data, list) else data


def load_study(source: str | Path, meanings: str = MEANINGS) -> StudyPlan:
    """Load a study from a file or a shipped name; ExperimentError if it is invalid. meanings: see
    `study_of`.
    """
    data, where = read_fields(source, "study", "studies")
    if isinstance(named := data.get("ids"), str):
        data = {**data, "ids": _ids_in(Path(source).parent / named)}
    return study_of(data, where, meanings)


def _ids_in(file: Path) -> list[str]:
    try:
        text = read_file(file).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ExperimentError(f"{file}: not a text in UTF-8; write an id on each line") from None
    return [line.strip() for line in text.splitlines() if line.strip()]


def study_of(data: Mapping[str, Any], where: str, meanings: str = MEANINGS) -> StudyPlan:
    """A study from plain values. meanings: the version of what names mean, where the file has none; it is
    passed to the experiment.
    """
    data, version = without_version(data, meanings)
    if version != MEANINGS and isinstance(data.get("experiment"), dict):
        data["experiment"] = {FIELD: version, **data["experiment"]}
    with checking(where, StudyPlan, "docs/studies.md"):
        return StudyPlan(**data)
