"""A model as a judge of sampled replies, and the detectors as another rater.

The judge's prompt has what the player knew, the ask and the reply, by a typed question and parser as for any
player, but not who played. Its calls are stored like a game's, in the sample's directory: stored answers are
not asked for again, and a verdict follows from the calls.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ...errors import NotStored, StoreError, WolflabError
from ...files import write
from ...match import run_now
from ...metrics.behaviours import BEHAVIOURS, UNREASONABLE, detected_behaviours
from ...models.base import Model, Request, Response, Sampling
from ...models.calls import CallCache, Cassette, PlayedBackModel
from ...models.catalog import BUILT_IN, Spec, without_settings
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

A = TypeVar("A")
Criterion = tuple[str, str]
"""(name, definition) of a criterion, answered with yes or no."""

REASONABLE: Criterion = (
    "reasonable",
    "the reply makes sense for this player in this situation. It is not reasonable if it tells of what did "
    "not happen or of abilities that nobody has here, if it forgets a role that the player knows, or if it "
    "is a move that a sensible player with this role would not make",
)
"""003 §4.4.2: hallucinations, forgotten roles and counter-intuitive actions are not reasonable."""


FILE = "verdicts.jsonl"
"""A judge's verdicts, one a line, for people to read; written again from its calls by every judging."""


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """One item's verdict. labels: by criterion; None, with the reason in `invalid`, if no reply was usable.

    attempts: the number of calls.
    """

    item: str
    labels: Mapping[str, bool] | None
    reasoning: str = ""
    invalid: str = ""
    attempts: int = 1


@dataclass(frozen=True, kw_only=True)
class JudgeFile(BatchResult):
    """The verdicts of one judge so far. model: its name as in experiments."""

    model: str
    criteria: tuple[Criterion, ...]
    verdicts: tuple[JudgedItem, ...]

    @property
    def rater(self) -> str:
        """The judge's name as a rater."""
        return f"judge {self.model}"

    @property
    def instrument(self) -> bool:
        """Whether the judge is the built-in player, so that the results only check the instruments."""
        return without_settings(self.model) == BUILT_IN

    @property
    def invalid(self) -> int:
        """The number of items without a usable reply."""
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


def judge_directory(directory: Path, model: str, asked: Collection[Criterion] = (REASONABLE,)) -> Path:
    """The directory of a model's judging of the sample in `directory`; StoreError for a link."""
    return directory_of(directory, "judge", model, "-behaviours" if len(asked) > 1 else "")


def directory_of(directory: Path, what: str, model: str, ending: str = "") -> Path:
    """The directory of a model's answers about the sample in `directory`; StoreError for a link."""
    slug = re.sub(r"[^A-Za-z0-9._-]++", "-", model).strip("-.") or "model"
    home = directory / f"{what}-{slug}{ending}"
    if home.is_symlink():  # in a sample from others it could lead anywhere
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
    """The batch of a judge of the sample in `directory`; see `CallBatch.of`."""
    batch = CallBatch.of(None, [spec], limits, watcher)
    return replace(batch, path=judge_directory(directory, batch.models[0].name, asked))


async def judge(
    batch: CallBatch,
    key: AnswerKey,
    store: Store,
    asked: tuple[Criterion, ...] = (REASONABLE,),
    retries: int = 2,
) -> JudgeFile:
    """Have the model of a batch judge every sampled reply. Returns all verdicts.

    store: the run of the sample. After an unusable reply the judge is asked again with the reason, `retries`
    times; then the verdict is invalid. A ModelError that is no failing server, and a request that differs
    from the stored one, are raised at the end.
    """
    (model,) = batch.models
    decisions = sampled_decisions(key, store)
    items = [_item(row.id, decisions[row.id], model, asked, retries) for row in key.rows]
    decides = {"criteria": _plain(asked), "retries": str(retries), "typed": _plain(model.typed)}
    verdicts, result = await answers_about(batch, key, items, decides, FILE)
    return JudgeFile(model=model.name, criteria=asked, verdicts=verdicts, **result)


async def answers_about(
    batch: CallBatch, key: AnswerKey, items: Sequence[BatchItem[A]], decides: Mapping[str, str], file: str
) -> tuple[tuple[A, ...], dict[str, Any]]:
    """The answers of a batch's model about a sample, and the fields of a `BatchResult`.

    decides: what decides the answers beside the sample and the model. file: where the answers are written,
    one a line. Errors: see `judge`.
    """
    (model,) = batch.models
    facts = {"sample": key.code, "model": model.name, "settings": _plain(model.describe()), **decides}
    async with batch.begin(facts, *await batch.left(items)) as home:
        await batch.work(home, items, model.name)
        answers = tuple(item.answer for item in items if item.answer is not None)
        result = batch.result(home, items)
    write(result["path"] / file, msgspec.json.Encoder().encode_lines(list(map(_line, answers))))
    if (failed := next((item for item in items if item.how == "failed"), None)) is not None:
        raise WolflabError(f"{failed.why} ({len(answers)} of {len(items)} are judged, and kept)")
    return answers, result


def _plain(value: object) -> str:
    return msgspec.json.encode(value, order="sorted").decode()


def _item(
    item: str, decision: RecordedDecision, model: Model, asked: tuple[Criterion, ...], retries: int
) -> BatchItem[JudgedItem]:
    """The item of a sampled reply, whose answer is its verdict."""
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
    """The judge's question about a reply: what its player knew, without model and recipe."""
    task = Judge(decision.ask, clean(reply_in_words(decision)), asked)
    return Question(decision.situation, task, layout="append")


def reply_in_words(decision: RecordedDecision) -> str:
    """The action in words, the statement, or the start of an unusable reply."""
    turn, ask = decision.turn, decision.ask
    if turn.invalid is not None:
        written = [note.reply for _, note in turn.notes if isinstance(note, Mistake)]
        began = clean(written[-1]) if written else ""
        return f"(no usable reply: {turn.invalid})" + (f" It wrote: {began}" if began else "")
    if isinstance(turn.action, Say):
        return turn.action.text or "(says nothing)"
    assert turn.action is not None
    return label(turn.action, ask.kind, decision.view.ruleset)


def _line(answer: object) -> dict[str, Any]:
    fields = msgspec.to_builtins(answer)
    return {name: value for name, value in fields.items() if value or name in ("item", "labels", "lie")}


def read_judge(path: Path, key: AnswerKey, decisions: Mapping[str, RecordedDecision]) -> JudgeFile:
    """A judge's verdicts, from the calls in its directory, without a model. decisions: the sample's.

    StoreError for verdicts on another sample, CassetteMismatch for calls with other prompts.
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
    """Item → the behaviours that the detectors found in it.

    Behaviours in private notes are left out, because raters do not see these.
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

    An unusable reply is not reasonable, nor is one with a detected hallucination or failure
    (`metrics.behaviours.UNREASONABLE`). "Reasonable" only means that none of these was found. seen,
    decisions: of the sample's items.
    """
    return {
        item: decisions[item].turn.invalid is None and not behaviours & UNREASONABLE
        for item, behaviours in seen.items()
    }
