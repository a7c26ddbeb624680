"""A model as a judge of sampled replies, and the detectors' rule as another.

The judge is told what the judged player knew, what was asked and what was answered, through the same
typed question and parser as any player; it is not told who played. Its calls are on file like any game's, in
a directory beside the sample: what was answered is not asked again, and a verdict follows from its calls.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from ...errors import NotStored, StoreError, WolflabError
from ...files import write
from ...match import run_now
from ...metrics.behaviours import BEHAVIOURS, UNREASONABLE, detected_behaviours
from ...models.base import Model, Request, Response, Sampling
from ...models.calls import CallCache, Cassette, PlayedBackModel
from ...models.catalog import BUILT_IN, Spec
from ...rules import Say
from ...text.asking.options import label
from ...text.clean import clean
from ...text.notes import Mistake
from ...text.questions import Judge, Question
from ...text.replies.parse import parse
from ...text.replies.parsed import Problem, Verdict
from ..runs.batch import BatchItem, BatchResult, BatchWatcher, CallBatch, ask_until_usable, result_on_file
from ..runs.decisions import RecordedDecision
from ..storage.call_store import CallStore
from ..storage.store import Store
from .annotate import AnswerKey, sampled_decisions

Criterion = tuple[str, str]
"""(name, definition), answered with yes or no."""

REASONABLE: Criterion = (
    "reasonable",
    "the reply makes sense for this player in this situation. It is not reasonable if it tells of what did "
    "not happen or of abilities that nobody has here, if it forgets a role that the player knows, or if it "
    "is a move that a sensible player with this role would not make",
)
"""003 §4.4.2: hallucinations, forgotten roles and counter-intuitive actions are not reasonable."""


FILE = "verdicts.jsonl"
"""What a judge has said, a line a verdict, for people to read; made from its calls by every judging."""


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


@dataclass(frozen=True, kw_only=True)
class JudgeFile(BatchResult):
    """What one judge has said so far. model: its name as written in experiments."""

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


def judge_batch(
    directory: Path,
    spec: Spec,
    asked: Collection[Criterion] = (REASONABLE,),
    limits: tuple[int | None, float | None] = (None, None),
    watcher: BatchWatcher | None = None,
) -> CallBatch:
    """Of the model that is to judge the sample in `directory`; see `CallBatch.of`."""
    batch = CallBatch.of(None, [spec], limits, watcher)
    return replace(batch, path=judge_home(directory, batch.models[0].name, asked))


async def judge(
    batch: CallBatch,
    key: AnswerKey,
    store: Store,
    asked: tuple[Criterion, ...] = (REASONABLE,),
    retries: int = 2,
) -> JudgeFile:
    """Put every sampled reply to the model of a batch. Returns all verdicts.

    store: the run that the sample was drawn from. A reply that cannot be used is asked for again with the
    reason, `retries` times, then kept as invalid. A ModelError that is no failing server, and a request that
    no longer fits the one on file, is raised at the end.
    """
    (model,) = batch.models
    decisions = sampled_decisions(key, store)
    items = [_item(row.id, decisions[row.id], model, asked, retries) for row in key.rows]
    decides = {
        "sample": key.code,
        "model": model.name,
        "settings": _plain(model.describe()),
        "criteria": _plain(asked),
        "retries": str(retries),
        "typed": _plain(model.typed),
    }
    async with batch.begin(decides, *await batch.left(items)) as home:
        await batch.work(home, items, model.name)
        verdicts = tuple(item.answer for item in items if item.answer is not None)
        judged = JudgeFile(model=model.name, criteria=asked, verdicts=verdicts, **batch.result(home, items))
    write(judged.path / FILE, msgspec.json.Encoder().encode_lines(list(map(_line, verdicts))))
    if (failed := next((item for item in items if item.how == "failed"), None)) is not None:
        raise WolflabError(f"{failed.why} ({len(verdicts)} of {len(items)} are judged, and kept)")
    return judged


def _plain(value: object) -> str:
    return msgspec.json.encode(value, order="sorted").decode()


def _item(
    item: str, decision: RecordedDecision, model: Model, asked: tuple[Criterion, ...], retries: int
) -> BatchItem[JudgedItem]:
    """A sampled reply, asked about until there is a verdict."""
    question = question_of(decision, asked)
    request = Request(question, f"judge/{item}|{decision.ask.id}|judge", Sampling())

    def read(response: Response) -> Verdict | Problem:
        reply = parse(question, response.text, response.finish)
        return reply if isinstance(reply, Verdict | Problem) else Problem("the reply is no verdict")

    async def ask(file: CallCache) -> JudgedItem:
        verdict, reasons = await ask_until_usable(file, model, request, read, retries)
        if verdict is None:
            return JudgedItem(item, None, "", reasons[-1], len(reasons))
        return JudgedItem(item, dict(verdict.labels), verdict.reasoning, "", len(reasons) + 1)

    return BatchItem(f"item/{item}", model, ask, retries)


def question_of(decision: RecordedDecision, asked: tuple[Criterion, ...] = (REASONABLE,)) -> Question:
    """The question that puts a reply before a judge: what its player knew, and nothing of how it played."""
    task = Judge(decision.ask, clean(reply_in_words(decision)), asked)
    return Question(decision.situation, task, layout="append")


def reply_in_words(decision: RecordedDecision) -> str:
    """The action in words, what was said aloud, or how a reply that could not be used began."""
    turn, ask = decision.turn, decision.ask
    if turn.invalid is not None:
        written = [note.reply for _, note in turn.notes if isinstance(note, Mistake)]
        began = clean(written[-1]) if written else ""
        return f"(no usable reply: {turn.invalid})" + (f" It wrote: {began}" if began else "")
    if isinstance(turn.action, Say):
        return turn.action.text or "(says nothing)"
    assert turn.action is not None
    return label(turn.action, ask.kind, decision.view.ruleset)


def _line(verdict: JudgedItem) -> dict[str, Any]:
    fields = msgspec.to_builtins(verdict)
    return {name: value for name, value in fields.items() if value or name in ("item", "labels")}


def read_judge(path: Path, key: AnswerKey, decisions: Mapping[str, RecordedDecision]) -> JudgeFile:
    """What a judge has said, from the calls in its directory; no model is asked. decisions: the sample's.

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
            silent = PlayedBackModel(meta["model"], msgspec.json.decode(meta["typed"], type=bool), {})
            retries = int(meta["retries"])
        except ValueError as error:
            raise StoreError(
                f"{path}: it is damaged ({error}); move it out of the sample's directory"
            ) from None

        verdicts: list[JudgedItem] = []
        for row in key.rows:
            item = _item(row.id, decisions[row.id], silent, asked, retries)
            with suppress(NotStored):
                verdicts.append(run_now(item.ask(Cassette(home.filed(item.name)))))
        return JudgeFile(
            model=meta["model"],
            criteria=asked,
            verdicts=tuple(verdicts),
            waiting=len(key.rows) - len(verdicts),
            **result_on_file(home),
        )


# -- the rule ---------------------------------------------------------------------------------


def seen_by_rule(key: AnswerKey, store: Store) -> dict[str, frozenset[str]]:
    """Item → the behaviours that the detectors sighted in it.

    Those that only show in what the player noted for itself are left out: raters are not shown that.
    """
    behaviours: dict[str, frozenset[str]] = {}
    for game, group in groupby(sorted(key.rows, key=lambda row: row.game), key=lambda row: row.game):
        seen: dict[str, set[str]] = {}
        for sighting in detected_behaviours(store.record(game)):
            if sighting.by != "thought":
                seen.setdefault(sighting.ask, set()).add(sighting.behaviour)
        for row in group:
            behaviours[row.id] = frozenset(seen.get(row.ask, ()))
    return behaviours


def rule_labels(
    seen: Mapping[str, frozenset[str]], decisions: Mapping[str, RecordedDecision]
) -> dict[str, bool]:
    """The rule as a rater: item → reasonable.

    Not reasonable is a reply that could not be used, and one in which the detectors sighted a
    hallucination or a failure (`metrics.behaviours.UNREASONABLE`). It sees nothing else: its "reasonable"
    only says that nothing of that kind was found. seen, decisions: of the sample's items.
    """
    return {
        item: decisions[item].turn.invalid is None and not behaviours & UNREASONABLE
        for item, behaviours in seen.items()
    }
