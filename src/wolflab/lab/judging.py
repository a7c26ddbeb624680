"""A model as a judge of sampled replies, and the detectors' rule as another.

The judge is told what the judged player knew, what was asked and what was answered, through the same
typed question and parser as any player; it is not told who played. Each verdict is a line of a file as
soon as it is there: whatever stops, what was judged is not asked again.
"""

from __future__ import annotations

import asyncio
import fcntl
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec

from ..errors import ModelError, WolflabError
from ..metrics.behaviours import BEHAVIOURS, UNREASONABLE, sightings
from ..models.base import Model, Request, Sampling, Usage
from ..models.catalog import BUILT_IN, check, resolve
from ..text.clean import clean
from ..text.parsed import Problem, Verdict
from ..text.questions import Judge, Question
from ..text.replies import parse
from .annotate import Key, reply_in_words, sampled_moments, situation_of
from .moments import Moment
from .store import Store

T = TypeVar("T")
Criterion = tuple[str, str]
"""(name, definition), answered with yes or no."""

REASONABLE: Criterion = (
    "reasonable",
    "the reply makes sense for this player in this situation. It is not reasonable if it tells of what did "
    "not happen or of abilities that nobody has here, if it forgets a role that the player knows, or if it "
    "is a move that a sensible player with this role would not make",
)
"""003 §4.4.2: hallucinations, forgotten roles and counter-intuitive actions are not reasonable."""


FORMAT = 1
AT_ONCE = 64
"""Questions in work at once; calls in flight are limited for each endpoint as well."""


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """One item's verdict. labels: by criterion; None, with the reason in `invalid`, when no reply was usable.

    attempts: calls made. usage: their sum.
    """

    item: str
    labels: Mapping[str, bool] | None
    reasoning: str = ""
    invalid: str = ""
    attempts: int = 1
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class JudgeFile:
    """What one judge has said so far. model: its name as written in experiments."""

    path: Path
    model: str
    criteria: tuple[Criterion, ...]
    verdicts: tuple[JudgedItem, ...]

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

    @property
    def usage(self) -> Usage:
        """Tokens and USD of all calls."""
        every = [verdict.usage for verdict in self.verdicts]
        return sum(every, Usage())


def criteria(behaviours: bool | Collection[str] = False) -> tuple[Criterion, ...]:
    """ "reasonable", and with `behaviours` all of `metrics.behaviours` or those named."""
    if behaviours is False:
        return (REASONABLE,)
    names = list(BEHAVIOURS) if behaviours is True else list(behaviours)
    for name in names:
        if name not in BEHAVIOURS:
            raise WolflabError(f"there is no behaviour {name!r}; known are {', '.join(BEHAVIOURS)}")
    return (REASONABLE, *((name, BEHAVIOURS[name].definition) for name in names))


def judge_file(directory: Path, model: str, asked: Collection[Criterion] = (REASONABLE,)) -> Path:
    """Where a model's verdicts on the sample in `directory` are kept."""
    slug = re.sub(r"[^A-Za-z0-9._-]++", "-", model).strip("-.") or "model"
    return directory / f"judge-{slug}{'-behaviours' if len(asked) > 1 else ''}.jsonl"


# -- judging ----------------------------------------------------------------------------------


async def judge_by_name(
    key: Key,
    store: Store,
    spec: str | Mapping[str, Any],
    directory: Path,
    asked: tuple[Criterion, ...] = (REASONABLE,),
    retries: int = 2,
    watch: Callable[[int, int], None] = lambda over, planned: None,
) -> JudgeFile:
    """`judge` by the model that `spec` names, as an experiment would, once it has been reached.

    directory: the sample's, where the verdicts go.
    """
    model = resolve(spec)
    try:
        await check(model)
        path = judge_file(directory, model.name, asked)
        return await judge(key, store, model, path, asked, retries, watch=watch)
    finally:
        await model.close()


async def judge(
    key: Key,
    store: Store,
    model: Model,
    path: Path,
    asked: tuple[Criterion, ...] = (REASONABLE,),
    retries: int = 2,
    at_once: int = AT_ONCE,
    watch: Callable[[int, int], None] = lambda over, planned: None,
) -> JudgeFile:
    """Put every sampled reply that is not judged yet to `model`; returns all verdicts.

    store: the run that the sample was drawn from. path: the verdicts' file, begun or gone on with. A
    reply that cannot be used is asked for again with the reason, `retries` times, then kept as invalid.
    watch: called with (items over, items). When the model fails (ServerError, BudgetExceeded and other
    ModelErrors) calls in flight are waited for and written down before the error is raised.
    """
    moments = sampled_moments(key, store)
    head = _head(key, model, asked)
    with _verdicts(path, head) as (file, before):
        over = {verdict.item for verdict in before}
        todo = [row.id for row in key.rows if row.id not in over]
        limit = asyncio.Semaphore(at_once)
        errors: list[ModelError] = []
        watch(len(over), len(key.rows))

        async def one(item: str) -> None:
            async with limit:
                if errors:
                    return
                try:
                    verdict = await _ask(item, moments[item], model, asked, retries)
                except ModelError as error:
                    errors.append(error)
                    return
                file.write(msgspec.json.encode(_line(verdict)) + b"\n")
                file.flush()
                over.add(item)
                watch(len(over), len(key.rows))

        async with asyncio.TaskGroup() as group:
            for item in todo:
                group.create_task(one(item))
        if errors:
            raise errors[0]
    return read_verdicts(path, key)


async def _ask(
    item: str, moment: Moment, model: Model, asked: tuple[Criterion, ...], retries: int
) -> JudgedItem:
    question = question_of(moment, asked)
    corrections: tuple[tuple[str, str], ...] = ()
    spent: list[Usage] = []
    reason = ""
    for attempt in range(retries + 1):
        place = f"judge/{item}|{moment.ask.id}|judge|{attempt}"
        response = await model.generate(Request(question, place, Sampling(), corrections))
        spent.append(response.usage)
        found = parse(question, response.text)
        if isinstance(found, Verdict):
            return JudgedItem(item, dict(found.labels), found.reasoning, "", attempt + 1, sum(spent, Usage()))
        reason = found.reason if isinstance(found, Problem) else "the reply is no verdict"
        corrections = (*corrections, (response.text, reason))
    return JudgedItem(item, None, "", reason, retries + 1, sum(spent, Usage()))


def question_of(moment: Moment, asked: tuple[Criterion, ...] = (REASONABLE,)) -> Question:
    """The question that puts a reply before a judge: what its player knew, and nothing of how it played."""
    task = Judge(moment.ask, clean(reply_in_words(moment)), asked)
    return Question(situation_of(moment.view, moment.ask), task, layout="append")


# -- the file ---------------------------------------------------------------------------------


def _head(key: Key, model: Model, asked: tuple[Criterion, ...]) -> dict[str, Any]:
    """The first line: all that decides a verdict. Verdicts under another head never share its file."""
    head = {
        "wolflab verdicts": FORMAT,
        "sample": key.code,
        "model": model.name,
        "settings": model.describe(),
        "criteria": asked,
    }
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(head))
    return plain


def _line(verdict: JudgedItem) -> dict[str, Any]:
    value = msgspec.to_builtins(verdict)
    return {name: one for name, one in value.items() if one or name in ("item", "labels")}


@contextmanager
def _verdicts(path: Path, head: dict[str, Any]) -> Iterator[tuple[BinaryIO, tuple[JudgedItem, ...]]]:
    """The file, open at its end, and what it holds. One process at a time; a line cut short is dropped."""
    with path.open("a+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise WolflabError(f"{path} is being written by another process; wait for it") from None
        file.seek(0)
        data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        if whole != data:
            file.truncate(len(whole))
        if not whole:
            file.write(msgspec.json.encode(head) + b"\n")
            file.flush()
            yield file, ()
            return
        begun, verdicts = _decoded(whole, path)
        for name, value in head.items():
            if begun.get(name) != value:
                raise WolflabError(
                    f"{path}: it was begun with another {name.removeprefix('wolflab ')}; "
                    "finish it as it was begun, or move it away to judge anew"
                )
        yield file, verdicts


def _decoded(data: bytes, path: Path) -> tuple[dict[str, Any], tuple[JudgedItem, ...]]:
    lines = data.splitlines()
    head = _of_line(path, 1, lines[0] if lines else b"", dict[str, Any])
    if head.get("wolflab verdicts") != FORMAT:
        raise WolflabError(f"{path}: not a file of verdicts in format {FORMAT}")
    seen: dict[str, int] = {}
    verdicts = []
    for number, line in enumerate(lines[1:], 2):
        verdict = _of_line(path, number, line, JudgedItem)
        before = seen.setdefault(verdict.item, number)
        if before != number:
            raise WolflabError(
                f"{path}, line {number}: {verdict.item[:40]} was judged before, in line {before}; remove one "
                "of the two, or it would count twice"
            )
        verdicts.append(verdict)
    return head, tuple(verdicts)


def _of_line(path: Path, number: int, line: bytes, type: type[T]) -> T:
    try:
        return msgspec.json.decode(line, type=type)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise WolflabError(f"{path}, line {number}: not a verdict ({error}); remove that line") from None


def read_verdicts(path: Path, key: Key) -> JudgeFile:
    """What a judge has said; a last line cut short is left out. WolflabError for another sample's file."""
    data = path.read_bytes()
    head, verdicts = _decoded(data[: data.rfind(b"\n") + 1], path)
    if head.get("sample") != key.code:
        raise WolflabError(f"{path}: these are verdicts on another sample; move the file to its directory")
    try:
        named = msgspec.convert(head.get("criteria"), tuple[Criterion, ...])
        model = msgspec.convert(head.get("model"), str)
    except msgspec.ValidationError as error:
        raise WolflabError(f"{path}, line 1: not the head of a file of verdicts ({error})") from None
    ids, wanted = {row.id for row in key.rows}, {name for name, _ in named}
    for number, verdict in enumerate(verdicts, 2):
        wrong = ""
        if verdict.item not in ids:
            wrong = f"{verdict.item[:40]!r} is none of this sample's items"
        elif verdict.labels is not None and set(verdict.labels) != wanted:
            wrong = f"its labels are not those that were asked for ({', '.join(sorted(wanted))})"
        if wrong:
            raise WolflabError(f"{path}, line {number}: {wrong}; remove that line")
    return JudgeFile(path, model, named, verdicts)


# -- the rule ---------------------------------------------------------------------------------


def seen_by_rule(key: Key, store: Store, thoughts: bool = False) -> dict[str, frozenset[str]]:
    """Item → the behaviours that the detectors sighted in it.

    thoughts: also those that only show in what the player noted for itself, which raters are not shown.
    """
    found: dict[str, frozenset[str]] = {}
    for game, group in groupby(sorted(key.rows, key=lambda row: row.game), key=lambda row: row.game):
        seen: dict[str, set[str]] = {}
        for one in sightings(store.record(game)):
            if thoughts or one.by != "thought":
                seen.setdefault(one.ask, set()).add(one.behaviour)
        for row in group:
            found[row.id] = frozenset(seen.get(row.ask, ()))
    return found


def rule_labels(key: Key, store: Store, thoughts: bool = False) -> dict[str, bool]:
    """The rule as a rater: item → reasonable.

    Not reasonable is a reply that could not be used, and one in which the detectors sighted a
    hallucination or a failure (`metrics.behaviours.UNREASONABLE`). It sees nothing else: its "reasonable"
    only says that nothing of that kind was found.
    """
    moments = sampled_moments(key, store)
    return {
        item: moments[item].turn.invalid is None and not seen & UNREASONABLE
        for item, seen in seen_by_rule(key, store, thoughts).items()
    }
