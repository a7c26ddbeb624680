"""Questions that a model writes, revises and answers: the pipeline of 002 §8 (Figure 5) on any model.

A *chain* makes the questions of one category and one form. A *round* asks for ten questions and has them
revised; the results enter the chain's pool. The first three rounds show the five examples that people wrote,
later ones two of these and three of the pool. Then each question is answered, and the answer is revised or
the question dropped. Answers to yes-or-no questions are left for people (`reviewing`), unless a model is to
propose them.

Every round and every answer is an item of a batch with stored calls: a stopped run can be resumed, and the
same calls give the same questions. Three rounds with the same pool run at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from .. import __version__
from ..errors import CassetteMismatch, ModelError, NotStored, WolflabError
from ..files import write
from ..lab.runs.batch import (
    AT_ONCE,
    BatchItem,
    BatchResult,
    BatchWatcher,
    CallBatch,
    CallsForecast,
    RequestSize,
    ask_until_usable,
    calls_forecast,
    sizes,
)
from ..lab.runs.work import work
from ..lab.storage.call_store import CallStore
from ..models.base import Chat, Model, Request, Response, Sampling
from ..models.budget import Budget
from ..models.calls import CallCache, Cassette
from ..models.catalog import Spec, resolve
from ..models.embedders.embedder import Embedder
from ..models.embedders.embedder_catalog import EmbedderSpec, resolve_embedder
from ..models.servers.chat import ServerModel
from ..rules import Ruleset
from ..text.replies.parse import why_unusable
from ..text.replies.parsed import Problem
from .items import YES, Category, Form, Item, rules_as_plain, write_items
from .reply_parser import normal_form
from .writing import (
    ANSWER,
    POOL,
    QUESTION,
    answer_request,
    correction_request,
    examples_of,
    prompt_hashes,
    read_corrected,
    read_written,
    revision_request,
    writing_request,
    written_answer,
)

A_ROUND = 10
"""Questions asked for at once (002 §8)."""
TOGETHER = 3
"""The number of rounds with the same pool. The paper's first three see no generated question either."""
HUMAN = 2
"""The number of human examples among the five of a later round (002 §8)."""
ROUNDS = 3
"""A chain stops after this multiple of the rounds that it would need if every question were kept."""
NEAR = 0.95
"""The cosine similarity from which a question counts as asked before. With this value `hashing` finds
questions that differ in small words, and keeps two situations that differ in one player.
"""

CATEGORIES: tuple[Category, ...] = ("rule", "situation")
FORMS: tuple[Form, ...] = ("open", "yes_no")
PAIRS, TO_LABEL, FACTS = "questions.jsonl", "to_label.jsonl", "generation.json"
"""The files of a run: questions with answers, yes-or-no questions for people to label, how all were made."""
_PROGRESS = "questions and answers"
"""The name of the progress bar."""
_WRITING, _REVIEWING = Sampling(temperature=1.0), Sampling(temperature=0.0)


@dataclass(frozen=True, slots=True)
class GenerationPlan:
    """The plan of a generation. questions: over all chains. near: embedder and threshold; None:
    near-duplicates are not searched. label: whether a model proposes the answers of yes-or-no questions.
    """

    ruleset: Ruleset
    questions: int
    seed: int = 1
    forms: tuple[Form, ...] = FORMS
    near: tuple[EmbedderSpec, float] | None = ("hashing", NEAR)
    label: bool = False
    retries: int = 2


@dataclass(frozen=True, slots=True)
class UnusableReply:
    """A reply that could not be used. asker, step: its key; why: the reason given to the model."""

    asker: str
    step: str
    attempt: int
    why: str


@dataclass(frozen=True, slots=True)
class ChainCounts:
    """The counts of one chain's questions. written: by the rounds; revised: kept by their revision. same,
    near: left out as asked before, in equal or in similar words. kept: in the pool, at most `wanted`.
    answered: with an answer that passed revision; dropped by revision: questions that the rules do not
    decide. lost_rounds, lost_answers: without a usable reply. waiting: still to be asked, after a budget or a
    server stopped it.
    """

    category: str
    form: str
    wanted: int
    rounds: int
    written: int
    revised: int
    same: int
    near: int
    kept: int
    answered: int
    dropped: int
    lost_rounds: int
    lost_answers: int
    waiting: int


@dataclass(frozen=True, kw_only=True)
class Generation(BatchResult):
    """The results of a run so far."""

    pairs: tuple[Item, ...]
    to_label: tuple[Item, ...]
    chains: tuple[ChainCounts, ...]
    unusable: tuple[UnusableReply, ...]


# -- running ----------------------------------------------------------------------------------


async def generate_by_name(
    plan: GenerationPlan,
    spec: Spec,
    directory: Path,
    reviser: Spec | None = None,
    limits: tuple[int | None, float | None] = (None, None),
    watcher: BatchWatcher | None = None,
) -> Generation:
    """`generate` with models by name; see `CallBatch.of`.

    reviser: None if one model does both.
    """
    budget = Budget(*limits)
    models = [resolve(one, budget) for one in (spec, reviser) if one is not None]
    for model in models:
        if model.typed:
            raise ModelError(
                f"model {model.name!r} answers questions of the game alone and does not read; "
                "name a language model (see `wolflab models`)"
            )
    embedder = None if plan.near is None else resolve_embedder(plan.near[0], budget)
    batch = CallBatch(directory, models, budget=budget, watcher=watcher or BatchWatcher())
    return await generate(plan, batch, embedder)


async def generate(plan: GenerationPlan, batch: CallBatch, embedder: Embedder | None) -> Generation:
    """Make the questions and write them to files. More questions, other forms, and labels may be added later.

    batch: its first model writes and answers, its last one revises. A ModelError that is not a failing
    server, and a request that differs from the stored one, is raised at the end.
    """
    writer, reviser = batch.models[0], batch.models[-1]
    kinds = [(category, form) for form in plan.forms for category in CATEGORIES]
    share, rest = divmod(plan.questions, len(kinds))
    chains = [
        _Chain(plan, (writer, reviser), embedder, category, form, share + (place < rest))
        for place, (category, form) in enumerate(kinds)
    ]
    near = None if embedder is None or plan.near is None else (embedder.describe(), plan.near[1])
    decides: dict[str, object] = {
        "ruleset": rules_as_plain(plan.ruleset),
        "seed": plan.seed,
        "model": writer.describe(),
        "reviser": reviser.describe(),
        "near-duplicate search": near,
        "number of retries": plan.retries,
    }
    facts = {name: msgspec.json.encode(value, order="sorted").decode() for name, value in decides.items()}
    try:
        await _replay(batch, chains)
        waiting = any(not item.over for chain in chains for item in chain.items())
        ahead = _ahead(batch, chains)
        async with batch.begin(facts, ahead, batch.models if waiting else []) as store:
            await _work(batch, store, chains)
            items = [item for chain in chains for item in chain.items()]
            pairs: dict[Form, dict[str, Item]] = {form: {} for form in FORMS}
            for chain in chains:
                for item in chain.pairs():  # each question once over all chains
                    pairs[chain.form].setdefault(item.id, item)
            made = Generation(
                pairs=tuple(pairs["open"].values()),
                to_label=tuple(pairs["yes_no"].values()),
                chains=tuple(chain.counts() for chain in chains),
                unusable=tuple(reply for steps in items for reply in steps.unusable),
                **batch.result(store, items),
            )
    finally:
        if embedder is not None:
            await embedder.close()
    write_items(made.path / PAIRS, made.pairs)
    write_items(made.path / TO_LABEL, made.to_label)
    told = {
        "wolflab": __version__,
        "rules": rules_as_plain(plan.ruleset),
        "questions": plan.questions,
        "seed": plan.seed,
        "model": writer.describe(),
        "reviser": reviser.describe(),
        "temperature": {"writing": _WRITING.temperature, "revising, answering": _REVIEWING.temperature},
        "prompts": prompt_hashes(),
        "near duplicates": near,
        "finished": not made.why,
        "chains": [asdict(chain) for chain in made.chains],
        "usage": asdict(made.usage),
        "unusable": [asdict(reply) for reply in made.unusable],
    }
    write(made.path / FACTS, msgspec.json.format(msgspec.json.encode(told), indent=1) + b"\n")
    return made


async def _replay(batch: CallBatch, chains: Sequence[_Chain]) -> None:
    """Advance the chains as far as stored calls allow; other items wait."""
    with batch.on_file() as store:
        while items := [item for chain in chains for item in await chain.next_items()]:
            for item in items:
                item.stop("unfinished", "")
                with suppress(NotStored, CassetteMismatch):  # `_work` tells of the second
                    await item.ask(Cassette({} if store is None else store.filed(item.name)))
                    item.how, item.over = None, True


def _ahead(batch: CallBatch, chains: Sequence[_Chain]) -> list[CallsForecast]:
    """The calls that the chains still need, beside stored ones. A chain may need all its rounds, and any
    reply may be asked for again. A text that is not written yet counts with its greatest length.
    """
    if not any(isinstance(model, ServerModel) for model in batch.models):
        return []
    steps = [each for chain in chains for each in chain.ahead()]
    return [
        told
        for model in batch.models
        for told in calls_forecast(
            model,
            [size for one, asked, _ in steps if one is model for size in asked],
            sum(least for one, _, least in steps if one is model),
        )
    ]


async def _work(batch: CallBatch, store: CallStore, chains: Sequence[_Chain]) -> None:
    """Advance the chains as far as possible; WolflabError for impossible requests."""
    ended = False  # fewer questions than wanted may have been found

    def made_of() -> tuple[int, int]:
        done = sum(chain.done for chain in chains)
        return done, done if ended else sum(chain.planned for chain in chains)

    def over() -> None:
        batch.watcher.progress(_PROGRESS, *made_of())
        report()

    batch.watcher.progress(_PROGRESS, *made_of())
    with store.reporting_progress(_PROGRESS, made_of) as report:
        items = [item for chain in chains for item in chain.items() if not item.over]
        while items:
            for item in items:
                item.attach(store)
            await work(items, AT_ONCE, over, batch.budget)
            failed = next((item for item in items if item.how == "failed"), None)
            if failed is not None:
                raise WolflabError(f"{failed.why} (what was made is kept: {store.usage().tokens:,} tokens)")
            items = [item for chain in chains for item in await chain.next_items()]
        ended = not any(item.how for chain in chains for item in chain.items())


# -- a chain ----------------------------------------------------------------------------------


class _Chain:
    """The questions of one category and form. pool: each with the number of its round, from 0."""

    def __init__(
        self,
        plan: GenerationPlan,
        models: tuple[Model, Model],
        embedder: Embedder | None,
        category: Category,
        form: Form,
        wanted: int,
    ) -> None:
        self.plan, self.models, self.embedder = plan, models, embedder
        self.category, self.form, self.wanted = category, form, wanted
        self.name = f"{category}/{form}"
        self.human = examples_of(plan.ruleset, category, form)
        self.pool: list[tuple[int, Item]] = []
        self.rounds: list[_Steps] = []
        self.answers: list[tuple[Item, _Steps]] = []
        self.same = self.near = self._taken = 0
        self._asked = {normal_form(example.question) for example in self.human}
        self._vectors: list[np.ndarray[Any, Any]] = []

    async def next_items(self) -> list[_Steps]:
        """The next items; empty if all are done, or wait."""
        rounds = await self._next_rounds()
        fresh = [item for _, item in self.pool[len(self.answers) : self.wanted]] if self._answered else []
        answers = [(item, self._answer(item)) for item in fresh]
        self.answers += answers
        return [*rounds, *(steps for _, steps in answers)]

    async def _next_rounds(self) -> list[_Steps]:
        """Take the last rounds' questions. Returns the next rounds, none if there are enough."""
        for number, one in enumerate(self.rounds[self._taken :], self._taken):
            if one.how is not None:
                return []  # it waits, and the next rounds depend on it
            for question in one.last or ():
                await self._take(number, question)
            self._taken += 1
        begun = len(self.rounds)
        missing = math.ceil((self.wanted - len(self.pool)) / A_ROUND)
        count = min(TOGETHER - begun % TOGETHER, missing, self._limit - begun)
        fresh = [self._round(number, self.shown(number)) for number in range(begun, begun + count)]
        self.rounds += fresh
        return fresh

    def _round(self, number: int, shown: Sequence[Item]) -> _Steps:
        """The steps of a round: questions are written, then revised."""
        rules, category, form = self.plan.ruleset, self.category, self.form
        return _Steps(
            self.plan,
            f"{self.name}/round/{number + 1}",
            (
                _Step(
                    "write",
                    self.models[0],
                    lambda _: writing_request(rules, category, form, shown, A_ROUND),
                    lambda text: read_written(text, form, A_ROUND),
                    _WRITING,
                    ("x" * QUESTION,) * A_ROUND,
                ),
                _Step(
                    "revise",
                    self.models[1],
                    lambda written: revision_request(rules, category, form, written),
                    lambda text: read_written(text, form, A_ROUND, may_drop=True),
                ),
            ),
        )

    def _answer(self, item: Item) -> _Steps:
        """The steps of an answer: it is written, then revised; "" if the revision dropped the question."""
        rules = self.plan.ruleset
        return _Steps(
            self.plan,
            f"{self.name}/answer/{item.id}",
            (
                _Step(
                    "answer",
                    self.models[0],
                    lambda _: answer_request(rules, item, self.human),
                    lambda text: written_answer(text, item.form),
                    longest="x" * (len(YES) if item.form == "yes_no" else ANSWER),
                ),
                _Step(
                    "revise",
                    self.models[1],
                    lambda said: correction_request(rules, item, said),
                    lambda text: read_corrected(text, item.form),
                ),
            ),
        )

    async def _take(self, number: int, question: str) -> None:
        """Add a question to the pool, unless it was asked before."""
        if normal_form(question) in self._asked:
            self.same += 1
            return
        if self.embedder is not None and self.plan.near is not None:
            if not self._vectors:
                self._vectors += list(await self.embedder.embed([item.question for item in self.human]))
            (vector,) = await self.embedder.embed([question])
            if float(np.max(np.stack(self._vectors) @ vector)) >= self.plan.near[1]:
                self.near += 1
                return
            self._vectors.append(vector)
        self._asked.add(normal_form(question))
        rules = rules_as_plain(self.plan.ruleset)
        item = Item(question=question, answer="", form=self.form, category=self.category, rules=rules)
        self.pool.append((number, item))

    def shown(self, number: int) -> tuple[Item, ...]:
        """The examples of a round: all human ones, or two of them and three of the pool."""
        human = self._drawn(f"human/{number}", self.human)
        known = [item for made_in, item in self.pool if made_in < number - number % TOGETHER]
        if number < TOGETHER or not known:
            return human
        made = self._drawn(f"pool/{number}", known)[: POOL - HUMAN]
        return (*human[: POOL - len(made)], *made)

    def _drawn(self, purpose: str, items: Sequence[Item]) -> tuple[Item, ...]:
        """Items in an order that the seed decides for this purpose."""

        def rank(item: Item) -> bytes:
            key = f"{self.plan.seed}/{self.name}/{purpose}/{item.question}"
            return blake2b(key.encode(), digest_size=8).digest()

        return tuple(sorted(items, key=rank))

    @property
    def _limit(self) -> int:
        """The most rounds."""
        return ROUNDS * math.ceil(self.wanted / A_ROUND)

    @property
    def _answered(self) -> bool:
        """Whether a model answers its questions."""
        return self.form != "yes_no" or self.plan.label

    def ahead(self) -> Iterator[_StepAhead]:
        """The most and the fewest calls that are still needed."""
        waiting = [one for one in self.items() if not one.over]
        for one in waiting:
            yield from one.ahead()
        open_rounds = sum(one in self.rounds for one in waiting)
        missing = self.wanted - len(self.pool)
        rounds = self._limit - len(self.rounds) if missing > 0 else 0
        unknown = msgspec.structs.replace(self.human[0], question="x" * QUESTION, answer="")
        if rounds:
            few = min(rounds, max(0, math.ceil(missing / A_ROUND) - open_rounds))
            shown = (*self.human[:HUMAN], *[unknown] * (POOL - HUMAN))  # the later rounds have longer ones
            yield from self._round(len(self.rounds), shown).ahead(rounds, few)
        known = self.wanted if rounds or open_rounds else min(self.wanted, len(self.pool))
        if self._answered and (answers := known - len(self.answers)) > 0:
            yield from self._answer(unknown).ahead(answers, answers)

    def pairs(self) -> list[Item]:
        """Finished questions with their answers, or without if people are to answer."""
        if not self._answered:
            return [item for _, item in self.pool[: self.wanted]]
        return [msgspec.structs.replace(item, answer=one.last) for item, one in self.answers if one.last]

    def items(self) -> list[_Steps]:
        """All items begun so far."""
        return [*self.rounds, *(one for _, one in self.answers)]

    @property
    def planned(self) -> int:
        """The number of planned questions and answers."""
        return self.wanted * (2 if self._answered else 1)

    @property
    def done(self) -> int:
        """The number of finished ones."""
        return min(len(self.pool), self.wanted) + sum(one.over for _, one in self.answers)

    def counts(self) -> ChainCounts:
        """The counts of the questions."""
        return ChainCounts(
            category=self.category,
            form=self.form,
            wanted=self.wanted,
            rounds=len(self.rounds),
            written=sum(len(one.said[0]) for one in self.rounds if one.said),
            revised=sum(len(one.last or ()) for one in self.rounds),
            same=self.same,
            near=self.near,
            kept=min(len(self.pool), self.wanted),
            answered=sum(bool(one.last) for _, one in self.answers),
            dropped=sum(one.last == "" for _, one in self.answers),
            lost_rounds=sum(one.over and one.last is None for one in self.rounds),
            lost_answers=sum(one.over and one.last is None for _, one in self.answers),
            waiting=sum(one.how is not None for one in self.items()),
        )


# -- what is asked ----------------------------------------------------------------------------


class _Step(NamedTuple):
    """One request, asked again while its reply cannot be used. chat: makes it from the result of the step
    before. longest: a text of the greatest length in place of an unknown result.
    """

    name: str
    model: Model
    chat: Callable[[Any], Chat]
    read: Callable[[str], Any | Problem]
    sampling: Sampling = _REVIEWING
    longest: Any = ""


_StepAhead = tuple[Model, list[RequestSize], int]
"""The calls of a step: its model, the sizes of the most requests, and the least number of requests."""


class _Steps(BatchItem[None]):
    """A sequence of steps. said: the results so far. unusable: replies that could not be used."""

    def __init__(self, plan: GenerationPlan, name: str, steps: tuple[_Step, ...]) -> None:
        super().__init__(name, steps[0].model, self._ask, plan.retries)
        self.plan, self.steps = plan, steps
        self.said: list[Any] = []
        self.unusable: list[UnusableReply] = []

    @property
    def last(self) -> Any:
        """The result of the last step; None if there is none."""
        return self.said[-1] if len(self.said) == len(self.steps) else None

    async def _ask(self, file: CallCache) -> None:
        self.said, self.unusable = [], []
        for step in self.steps:
            chat = step.chat(self.said[-1] if self.said else None)
            request = Request(chat, f"wwqa/{self.plan.seed}|{self.name}|{step.name}", step.sampling)
            read = partial(self._read, step)
            found, _ = await ask_until_usable(file, step.model, request, read, self.retries)
            if found is None:
                return
            self.said.append(found)

    def _read(self, step: _Step, response: Response) -> Any | Problem:
        found = step.read(response.text)
        if not isinstance(found, Problem):
            return found
        found = why_unusable(found, response.text, response.finish)
        self.unusable.append(UnusableReply(self.name, step.name, self._tries(step) + 1, found.reason))
        return found

    def _tries(self, step: _Step) -> int:
        """How many replies to a step could not be used."""
        return sum(reply.step == step.name for reply in self.unusable)

    def ahead(self, most: int = 1, least: int = 1) -> Iterator[_StepAhead]:
        """The calls that are still needed, with this many attempts each."""
        done = len(self.said)
        said = [None, *self.said, *(step.longest for step in self.steps[done:])]
        for place, step in enumerate(self.steps[done:], done):
            request = Request(step.chat(said[place]), self.name)
            needed = sizes(step.model, request, self.retries, self._tries(step))
            yield step.model, needed * most, least
