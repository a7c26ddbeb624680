"""A model as a judge of sampled replies, and the detectors' rule as another.

The judge is told what the judged player knew, what was asked and what was answered, through the same
typed question and parser as any player; it is not told who played. Its calls are on file like any game's, in
a directory beside the sample: what was answered is not asked again, and a verdict follows from its calls.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from ...errors import CassetteMismatch, NotFiled, StoreError, WolflabError
from ...files import write
from ...match import run_now
from ...metrics.behaviours import BEHAVIOURS, UNREASONABLE, sightings
from ...models.base import Model, Request, Sampling
from ...models.budget import Budget
from ...models.calls import Cassette, File, Filed, Silent, answer
from ...models.catalog import BUILT_IN, Spec, name_and_settings, resolve
from ...rules import Say
from ...text.asking.options import label
from ...text.clean import clean
from ...text.notes import Mistake
from ...text.questions import Judge, Question
from ...text.replies.parse import parse
from ...text.replies.parsed import Problem, Verdict
from ...usage import Usage
from ..plans.served import is_served
from ..runs.moments import Moment
from ..runs.batch import CallsAhead, Size, ahead_of, sizes
from ..runs.work import How, check_models, work
from ..storage.call_store import CallFile, CallStore
from ..storage.store import Store
from .annotate import AnswerKey, sampled_moments

Criterion = tuple[str, str]
"""(name, definition), answered with yes or no."""

REASONABLE: Criterion = (
    "reasonable",
    "the reply makes sense for this player in this situation. It is not reasonable if it tells of what did "
    "not happen or of abilities that nobody has here, if it forgets a role that the player knows, or if it "
    "is a move that a sensible player with this role would not make",
)
"""003 §4.4.2: hallucinations, forgotten roles and counter-intuitive actions are not reasonable."""


AT_ONCE = 64
"""Questions in work at once; calls in flight are limited for each endpoint as well."""
FILE = "verdicts.jsonl"
"""What a judge has said, a line a verdict, for people to read; made from its calls by every judging."""
_ASKER = "item/"


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """One item's verdict. labels: by criterion; None, with the reason in `invalid`, when no reply was usable.

    attempts: calls made.
    """

    item: str
    labels: Mapping[str, bool] | None
    reasoning: str = ""
    invalid: str = ""
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class JudgeFile:
    """What one judge has said so far. path: its directory. model: its name as written in experiments.

    usage: tokens and USD of all calls. waiting: items without a verdict; why: what stopped the first of them,
    where this judging met it. overspent: limit that is spent ("tokens", "usd") → a sentence.
    """

    path: Path
    model: str
    criteria: tuple[Criterion, ...]
    verdicts: tuple[JudgedItem, ...]
    usage: Usage = field(default_factory=Usage)
    waiting: int = 0
    why: str = field(default="", compare=False)
    overspent: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def rater(self) -> str:
        """What the judge is called among the raters."""
        return f"judge {self.model}"

    @property
    def instrument(self) -> bool:
        """Whether the judge is the built-in player: it shows that the instruments work, and no more."""
        return self.model.partition("(")[0] == BUILT_IN

    @property
    def invalid(self) -> int:
        """Items for which no usable reply came."""
        return sum(verdict.labels is None for verdict in self.verdicts)


def criteria(behaviours: bool | Collection[str] = False) -> tuple[Criterion, ...]:
    """ "reasonable", and with `behaviours` all of `metrics.behaviours` or those named."""
    if behaviours is False:
        return (REASONABLE,)
    names = list(BEHAVIOURS) if behaviours is True else list(behaviours)
    for name in names:
        if name not in BEHAVIOURS:
            raise WolflabError(f"there is no behaviour {name!r}; known are {', '.join(BEHAVIOURS)}")
    return (REASONABLE, *((name, BEHAVIOURS[name].definition) for name in names))


def judge_home(directory: Path, model: str, asked: Collection[Criterion] = (REASONABLE,)) -> Path:
    """Where a model's judging of the sample in `directory` is kept; StoreError for a link."""
    slug = re.sub(r"[^A-Za-z0-9._-]++", "-", model).strip("-.") or "model"
    home = directory / f"judge-{slug}{'-behaviours' if len(asked) > 1 else ''}"
    if home.is_symlink():  # whoever sends a sample could make it lead anywhere
        raise StoreError(f"{home}: it is a link, and none is followed there; remove it")
    return home


# -- judging ----------------------------------------------------------------------------------


async def judge_by_name(
    key: AnswerKey,
    store: Store,
    spec: str | Mapping[str, Any],
    directory: Path,
    asked: tuple[Criterion, ...] = (REASONABLE,),
    retries: int = 2,
    limits: tuple[int | None, float | None] = (None, None),
    watch: Callable[[int, int], None] = lambda over, planned: None,
) -> JudgeFile:
    """`judge` by the model that `spec` names, as an experiment would; `judge_ahead` tells what that takes.

    directory: the sample's, where the judge's own is made. limits: tokens and USD, what was spent before
    counted in.
    """
    budget = Budget(*limits)
    model = resolve(spec, budget)
    try:
        with begin_judging(judge_home(directory, model.name, asked), key, model, asked, retries) as home:
            budget.begin(home.spent())
            judged = await judge(key, store, model, home, asked, retries, watch=watch, budget=budget)
            return replace(judged, overspent=budget.short)
    finally:
        await model.close()


def judge_ahead(
    key: AnswerKey,
    store: Store,
    spec: Spec,
    directory: Path,
    asked: tuple[Criterion, ...] = (REASONABLE,),
    retries: int = 2,
) -> list[CallsAhead]:
    """What `judge_by_name` will take: for each item without a verdict on file a call, and more where its
    reply has to be asked for again.
    """
    name, settings = name_and_settings(spec)
    if not is_served(name):
        return []
    moments, silent = sampled_moments(key, store), Silent(name, typed=False, described={})
    filed = _filed_in(judge_home(directory, name, asked), [row.id for row in key.rows])
    found: list[list[Size]] = []
    for item, calls in filed.items():
        with suppress(CassetteMismatch):  # `judge` tells of it, and makes no call
            if _from_file(item, moments[item], calls, silent, asked, retries) is None:
                first = _request(item, moments[item], question_of(moments[item], asked))
                found.append(sizes(first, retries, len(calls), settings.get("max_tokens")))
    return ahead_of(spec, [size for each in found for size in each], len(found))


def _filed_in(path: Path, items: Sequence[str]) -> dict[str, dict[str, Filed]]:
    """Each item's calls on file; none where nothing was judged there yet."""
    if not (path / "run.sqlite").is_file():
        return {item: {} for item in items}
    with CallStore.open_for_reading(path) as home:
        return {item: home.filed(_ASKER + item) for item in items}


def begin_judging(
    path: Path, key: AnswerKey, model: Model, asked: tuple[Criterion, ...], retries: int = 2
) -> CallStore:
    """A judge's directory, new or gone on with; StoreError for one that was begun otherwise."""

    def plain(value: object) -> str:
        return msgspec.json.encode(value, order="sorted").decode()

    decides = {
        "sample": key.code,
        "model": model.name,
        "settings": plain(model.describe()),
        "criteria": plain(asked),
        "retries": str(retries),
        "typed": plain(model.typed),
    }
    return CallStore.begin(path, decides)


async def judge(
    key: AnswerKey,
    store: Store,
    model: Model,
    home: CallStore,
    asked: tuple[Criterion, ...] = (REASONABLE,),
    retries: int = 2,
    at_once: int = AT_ONCE,
    watch: Callable[[int, int], None] = lambda over, planned: None,
    budget: Budget | None = None,
) -> JudgeFile:
    """Put every sampled reply to `model`; calls that are on file answer at once. Returns all verdicts.

    store: the run that the sample was drawn from. home: the judge's directory. budget: the model's. watch:
    called with (items judged, items). A reply that cannot be used is asked for again with the reason,
    `retries` times, then kept as invalid. A spent budget and a failing server leave items waiting, to be
    judged by another call; any other ModelError, and a request that no longer fits the one on file, is raised
    at the end.
    """
    moments = sampled_moments(key, store)
    items = [_Judged(row.id, moments[row.id], model, home, asked, retries) for row in key.rows]
    if not all(item.answered for item in items):
        await check_models([model])

    def judged_of() -> tuple[int, int]:
        return sum(item.verdict is not None for item in items), len(items)

    def over() -> None:
        watch(*judged_of())
        tell()

    watch(0, len(items))
    with home.reporting_progress(model.name, judged_of) as tell:
        await work(items, at_once, over, budget or Budget())
    home.adapted([model])
    judged = _found(home, model.name, asked, [item.verdict for item in items])
    judged = replace(judged, why=next((item.why for item in items if item.why), ""))
    lines = [msgspec.json.encode(_line(verdict)) + b"\n" for verdict in judged.verdicts]
    write(home.path / FILE, b"".join(lines))
    if (failed := next((item for item in items if item.how == "failed"), None)) is not None:
        raise WolflabError(f"{failed.why} ({len(judged.verdicts)} of {len(items)} are judged, and kept)")
    return judged


class _Judged:
    """One item as an asker (`work.Asker`)."""

    def __init__(
        self,
        item: str,
        moment: Moment,
        model: Model,
        home: CallStore,
        asked: tuple[Criterion, ...],
        retries: int,
    ) -> None:
        self.item, self.moment, self.model, self.asked, self.retries = item, moment, model, asked, retries
        filed = home.filed(_ASKER + item)
        self.file = CallFile(home, _ASKER + item, filed)
        self.answered = bool(filed)
        self.verdict: JudgedItem | None = None
        self.how: How | None = None
        self.why = ""

    async def go(self) -> None:
        """Ask until there is a verdict."""
        self.verdict = await _ask(self.item, self.moment, self.file, self.model, self.asked, self.retries)
        self.file.keep()

    def stop(self, how: How, why: str) -> None:
        """Keep why there is none."""
        self.how, self.why = how, why


async def _ask(
    item: str, moment: Moment, file: File, model: Model, asked: tuple[Criterion, ...], retries: int
) -> JudgedItem:
    question = question_of(moment, asked)
    corrections: tuple[tuple[str, str], ...] = ()
    reason = ""
    for attempt in range(retries + 1):
        _, response = await answer(file, model, _request(item, moment, question, attempt, corrections))
        reply = parse(question, response.text, response.finish)
        if isinstance(reply, Verdict):
            return JudgedItem(item, dict(reply.labels), reply.reasoning, "", attempt + 1)
        reason = reply.reason if isinstance(reply, Problem) else "the reply is no verdict"
        corrections = (*corrections, (response.text, reason))
    return JudgedItem(item, None, "", reason, retries + 1)


def _request(
    item: str,
    moment: Moment,
    question: Question,
    attempt: int = 0,
    corrections: tuple[tuple[str, str], ...] = (),
) -> Request:
    return Request(question, f"judge/{item}|{moment.ask.id}|judge|{attempt}", Sampling(), corrections)


def _from_file(
    item: str,
    moment: Moment,
    filed: Mapping[str, Filed],
    silent: Silent,
    asked: tuple[Criterion, ...],
    retries: int,
) -> JudgedItem | None:
    """The verdict that the calls on file give; None where some are missing."""
    try:
        return run_now(_ask(item, moment, Cassette(filed), silent, asked, retries))
    except NotFiled:
        return None


def question_of(moment: Moment, asked: tuple[Criterion, ...] = (REASONABLE,)) -> Question:
    """The question that puts a reply before a judge: what its player knew, and nothing of how it played."""
    task = Judge(moment.ask, clean(reply_in_words(moment)), asked)
    return Question(moment.situation, task, layout="append")


def reply_in_words(moment: Moment) -> str:
    """The action in words, what was said aloud, or how a reply that could not be used began."""
    turn, ask = moment.turn, moment.ask
    if turn.invalid is not None:
        written = [note.reply for _, note in turn.notes if isinstance(note, Mistake)]
        began = clean(written[-1]) if written else ""
        return f"(no usable reply: {turn.invalid})" + (f" It wrote: {began}" if began else "")
    if isinstance(turn.action, Say):
        return turn.action.text or "(says nothing)"
    assert turn.action is not None
    return label(turn.action, ask.kind, moment.view.ruleset)


def _found(
    home: CallStore, model: str, asked: tuple[Criterion, ...], verdicts: Sequence[JudgedItem | None]
) -> JudgeFile:
    given = tuple(verdict for verdict in verdicts if verdict is not None)
    return JudgeFile(home.path, model, asked, given, home.usage(), len(verdicts) - len(given))


def _line(verdict: JudgedItem) -> dict[str, Any]:
    fields = msgspec.to_builtins(verdict)
    return {name: value for name, value in fields.items() if value or name in ("item", "labels")}


def read_judge(path: Path, key: AnswerKey, moments: Mapping[str, Moment]) -> JudgeFile:
    """What a judge has said, from the calls in its directory; no model is asked. moments: the sample's.

    StoreError for a judging of another sample, CassetteMismatch for calls of other prompts.
    """
    with CallStore.open_for_reading(path) as home:
        meta = {name: home.meta(name) or "" for name in ("sample", "model", "criteria", "retries", "typed")}
        if not all(meta.values()):
            raise StoreError(f"{path} is no judge's directory; move it out of the sample's")
        if meta["sample"] != key.code:
            raise StoreError(f"{path}: these are verdicts on another sample; move it to that one's directory")
        try:
            asked = msgspec.json.decode(meta["criteria"], type=tuple[Criterion, ...])
            silent = Silent(meta["model"], msgspec.json.decode(meta["typed"], type=bool), {})
            retries = int(meta["retries"])
        except ValueError as error:
            raise StoreError(
                f"{path}: it is damaged ({error}); move it out of the sample's directory"
            ) from None

        def verdict(item: str) -> JudgedItem | None:
            filed = home.filed(_ASKER + item)
            return _from_file(item, moments[item], filed, silent, asked, retries)

        return _found(home, meta["model"], asked, [verdict(row.id) for row in key.rows])


# -- the rule ---------------------------------------------------------------------------------


def seen_by_rule(key: AnswerKey, store: Store) -> dict[str, frozenset[str]]:
    """Item → the behaviours that the detectors sighted in it.

    Those that only show in what the player noted for itself are left out: raters are not shown that.
    """
    behaviours: dict[str, frozenset[str]] = {}
    for game, group in groupby(sorted(key.rows, key=lambda row: row.game), key=lambda row: row.game):
        seen: dict[str, set[str]] = {}
        for sighting in sightings(store.record(game)):
            if sighting.by != "thought":
                seen.setdefault(sighting.ask, set()).add(sighting.behaviour)
        for row in group:
            behaviours[row.id] = frozenset(seen.get(row.ask, ()))
    return behaviours


def rule_labels(seen: Mapping[str, frozenset[str]], moments: Mapping[str, Moment]) -> dict[str, bool]:
    """The rule as a rater: item → reasonable.

    Not reasonable is a reply that could not be used, and one in which the detectors sighted a
    hallucination or a failure (`metrics.behaviours.UNREASONABLE`). It sees nothing else: its "reasonable"
    only says that nothing of that kind was found. seen, moments: of the sample's items.
    """
    return {
        item: moments[item].turn.invalid is None and not behaviours & UNREASONABLE
        for item, behaviours in seen.items()
    }
