"""Questions that a model writes, revises and answers: the pipeline of 002 §8 (Figure 5) on any model.

A *chain* makes the questions of one category and one form. A *round* asks for ten questions and has them
revised; what comes of it enters the chain's pool. The first three rounds show the five examples that people
wrote, every later one two of these and three of the pool. Then each question is answered, and the answer is
revised or the question dropped. Answers to yes-or-no questions are left for people (`reviewing`), unless a
model is to propose them.

Every request is an asker's (`lab.runs.work`) whose calls are on file: a run that was stopped goes on, and the
same calls give the same questions. Rounds come in threes that know the same pool, and are made at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from .. import __version__
from ..errors import CassetteMismatch, ModelError, NotFiled, WolflabError
from ..files import write
from ..lab.plans.served import is_served
from ..lab.runs.batch import CallsAhead, Size, ahead_of, sizes
from ..lab.runs.work import How, check_models, work
from ..lab.storage.call_store import CallFile, CallStore
from ..lab.storage.embedding_cache import WrappedEmbedder
from ..models.base import Chat, Model, Request, Response, Sampling
from ..models.budget import Budget
from ..models.calls import Silent, answer
from ..models.catalog import Spec, name_and_settings, resolve
from ..models.embedders.base import Embedder, Vectors
from ..models.embedders.catalog import EmbedderSpec, resolve_embedder
from ..rules import Ruleset
from ..text.replies.parse import why_unusable
from ..text.replies.parsed import Problem
from ..usage import Usage
from .examples import POOL, examples_of
from .items import YES, Category, Form, Item, rules_as_plain, write_items
from .reply_parser import normal_form
from .writing import (
    ANSWER,
    QUESTION,
    prompt_hashes,
    read_corrected,
    read_written,
    to_answer,
    to_correct,
    to_revise,
    to_write,
    written_answer,
)

A_ROUND = 10
"""Questions asked for at once (002 §8)."""
TOGETHER = 3
"""Rounds that know the same pool. The paper's first three see no generated question either."""
HUMAN = 2
"""Of the five examples of a later round, those that people wrote (002 §8)."""
ROUNDS = 3
"""A chain gives up after so many times the rounds that it would need if every question were kept."""
NEAR = 0.95
"""Cosine similarity from which a question counts as asked before. At this one `hashing` finds other words for
the same little words, and keeps two situations that differ in one player."""
AT_ONCE = 64
"""Requests in work at once; calls in flight are limited for each endpoint as well."""

CATEGORIES: tuple[Category, ...] = ("rule", "situation")
FORMS: tuple[Form, ...] = ("open", "yes_no")
PAIRS, TO_LABEL, FACTS = "questions.jsonl", "to_label.jsonl", "generation.json"
"""What is left: questions with answers, yes-or-no questions that people are to label, how all were made."""

_WRITING, _REVIEWING = Sampling(temperature=1.0), Sampling(temperature=0.0)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class GenerationPlan:
    """What is to be made. questions: over all chains. near: embedder and threshold, None: no near-duplicate
    is looked for. label: whether a model proposes the answers of yes-or-no questions.
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
    """A reply that could not be used. asker, step: what it was to be; why: as the model was told."""

    asker: str
    step: str
    attempt: int
    why: str


@dataclass(frozen=True, slots=True)
class ChainCounts:
    """What became of one chain's questions.

    written: by the rounds; revised: left by their revision. same, near: left out because it had been asked
    before, in equal words or in similar ones. kept: in the pool, at most `wanted` of them. answered: with an
    answer that passed its revision; dropped by it: questions that the rules do not decide. lost_rounds,
    lost_answers: no usable reply came. waiting: still to be asked, after a budget or a server stopped it.
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


@dataclass(frozen=True, slots=True)
class Generation:
    """What a run has made so far. why: what stopped it, "" where nothing did. overspent: limit that is spent
    ("tokens", "usd") → a sentence.
    """

    path: Path
    pairs: tuple[Item, ...]
    to_label: tuple[Item, ...]
    chains: tuple[ChainCounts, ...]
    unusable: tuple[UnusableReply, ...]
    usage: Usage = field(default_factory=Usage)
    why: str = ""
    overspent: Mapping[str, str] = field(default_factory=dict)


# -- running ----------------------------------------------------------------------------------


async def generate_by_name(
    plan: GenerationPlan,
    spec: Spec,
    directory: Path,
    reviser: Spec | None = None,
    limits: tuple[int | None, float | None] = (None, None),
    watch: Callable[[int, int], None] = lambda done, wanted: None,
    agreed: Callable[[list[CallsAhead]], None] | None = None,
) -> Generation:
    """`generate` by the models that an experiment would name so. reviser: None where one model does both.

    limits: tokens and USD, what was spent before counted in. agreed: told what that will take at most, before
    anything is begun; what it raises leaves all as it was.
    """
    budget = Budget(*limits)
    writer = resolve(spec, budget)
    models = [writer, writer if reviser is None else resolve(reviser, budget)]
    embedder = None if plan.near is None else _Remembering(resolve_embedder(plan.near[0], budget))
    try:
        for model in models:
            if model.typed:
                raise ModelError(
                    f"model {model.name!r} answers questions of the game alone and does not read; "
                    "name a language model (see `wolflab models`)"
                )
        if agreed is not None:
            agreed(await _generation_ahead(plan, (spec, reviser), directory, embedder))
        with begin_generating(directory, plan, models, embedder) as home:
            budget.begin(home.spent())
            writers = models[0], models[1]
            made = await generate(plan, writers, home, embedder, watch=watch, budget=budget)
            return replace(made, overspent=budget.short)
    finally:
        for used in (*models, *([embedder] if embedder else ())):
            await used.close()


async def _generation_ahead(
    plan: GenerationPlan, specs: tuple[Spec, Spec | None], directory: Path, embedder: Embedder | None
) -> list[CallsAhead]:
    """What `generate` will take, beside what is on file. specs: who writes and answers, who revises.

    A chain may need all its rounds, and any reply may be asked for again. A text that nobody has written yet
    counts as long as it may be.
    """
    writer, reviser = specs[0], specs[0] if specs[1] is None else specs[1]
    if not any(is_served(name_and_settings(spec)[0]) for spec in (writer, reviser)):
        return []
    models = _NotAsked.named(writer), _NotAsked.named(reviser)
    with ExitStack() as opened:
        home = None
        if (directory / "run.sqlite").is_file():
            home = opened.enter_context(CallStore.open_for_reading(directory))
        chains = _chains(plan, models, home, embedder)
        while askers := [one for chain in chains for one in await chain.next_askers()]:
            for asker in askers:
                try:
                    await asker.go()
                except CassetteMismatch:  # not on file, or not as it is asked for, which `generate` tells
                    asker.stop("unfinished", "")
        longest = [name_and_settings(spec)[1].get("max_tokens") for spec in (writer, reviser)]
        ahead = [each for chain in chains for each in chain.ahead((longest[0], longest[1]))]
    parts = [(writer, (False, True))] if specs[1] is None else [(writer, (False,)), (reviser, (True,))]
    told: list[CallsAhead] = []
    for spec, whose in parts:
        mine = [each for each in ahead if each.revises in whose]
        found = [size for each in mine for size in each.sizes for _ in range(each.times)]
        told += ahead_of(spec, found, sum(each.least for each in mine))
    return told


class _NotAsked(Silent):
    """In place of a model while only what is on file is read: it ends whoever asks it."""

    @classmethod
    def named(cls, spec: Spec) -> _NotAsked:
        """In place of a language model."""
        return cls(name_and_settings(spec)[0], typed=False, described={})

    async def generate(self, request: Request) -> Response:
        """See `models.base.Model`."""
        raise NotFiled(f"call {request.key}: not on file")


class _Remembering(WrappedEmbedder):
    """An embedder that is asked for a text once."""

    def __init__(self, inner: Embedder) -> None:
        super().__init__(inner)
        self.instant = inner.instant
        self._known: dict[str, Vectors] = {}

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`."""
        fresh = [text for text in texts if text not in self._known]
        if fresh:
            self._known.update(zip(fresh, await self.inner.embed(fresh), strict=True))
        return np.stack([self._known[text] for text in texts])


def begin_generating(
    path: Path, plan: GenerationPlan, models: Sequence[Model], embedder: Embedder | None
) -> CallStore:
    """The directory, new or gone on with; StoreError for one that was begun otherwise. More questions may be
    asked for, other forms, and labels.
    """

    def plain(value: object) -> str:
        return msgspec.json.encode(value, order="sorted").decode()

    near = None if embedder is None or plan.near is None else (embedder.describe(), plan.near[1])
    decides: dict[str, object] = {
        "ruleset": rules_as_plain(plan.ruleset),
        "seed": plan.seed,
        "model": models[0].describe(),
        "reviser": models[1].describe(),
        "near-duplicate search": near,
        "number of retries": plan.retries,
    }
    return CallStore.begin(path, {name: plain(value) for name, value in decides.items()})


async def generate(
    plan: GenerationPlan,
    models: tuple[Model, Model],
    home: CallStore,
    embedder: Embedder | None,
    at_once: int = AT_ONCE,
    watch: Callable[[int, int], None] = lambda done, wanted: None,
    budget: Budget | None = None,
) -> Generation:
    """Make the questions and write them down. models: who writes and answers, who revises. budget: theirs.

    A spent budget or a failing server leaves work waiting, to be gone on with by another call; any other
    ModelError, and a request that no longer fits the one on file, is raised at the end.
    """
    chains = _chains(plan, models, home, embedder)
    checked = False

    ended = False  # fewer questions than wanted may have been found

    def made_of() -> tuple[int, int]:
        done = sum(chain.done for chain in chains)
        return done, done if ended else sum(chain.planned for chain in chains)

    def over() -> None:
        watch(*made_of())
        tell()

    with home.reporting_progress("questions and answers", made_of) as tell:
        while True:
            askers = [asker for chain in chains for asker in await chain.next_askers()]
            if not askers:
                break
            if not checked and not all(asker.begun for asker in askers):
                await check_models(dict.fromkeys(models))
                checked = True
            await work(askers, at_once, over, budget or Budget())
            failed = next((asker for asker in askers if asker.how == "failed"), None)
            if failed is not None:
                raise WolflabError(f"{failed.why} (what was made is kept: {home.usage().tokens:,} tokens)")
        ended = not any(asker.why for chain in chains for asker in chain.askers())
    home.adapted(models)
    made = Generation(
        home.path,
        _unique(item for chain in chains for item in chain.pairs() if chain.form != "yes_no"),
        _unique(item for chain in chains for item in chain.pairs() if chain.form == "yes_no"),
        tuple(chain.counts() for chain in chains),
        tuple(reply for chain in chains for asker in chain.askers() for reply in asker.unusable),
        home.usage(),
        next((asker.why for chain in chains for asker in chain.askers() if asker.why), ""),
    )
    _leave(plan, models, embedder, made)
    return made


def _leave(
    plan: GenerationPlan, models: Sequence[Model], embedder: Embedder | None, made: Generation
) -> None:
    """Write the questions, and how they were made."""
    write_items(made.path / PAIRS, made.pairs)
    write_items(made.path / TO_LABEL, made.to_label)
    near = None if embedder is None or plan.near is None else [embedder.describe(), plan.near[1]]
    facts = {
        "wolflab": __version__,
        "rules": rules_as_plain(plan.ruleset),
        "questions": plan.questions,
        "seed": plan.seed,
        "model": models[0].describe(),
        "reviser": models[1].describe(),
        "temperature": {"writing": _WRITING.temperature, "revising, answering": _REVIEWING.temperature},
        "prompts": prompt_hashes(),
        "near duplicates": near,
        "finished": not made.why,
        "chains": [asdict(chain) for chain in made.chains],
        "usage": asdict(made.usage),
        "unusable": [asdict(reply) for reply in made.unusable],
    }
    write(made.path / FACTS, msgspec.json.format(msgspec.json.encode(facts), indent=1) + b"\n")


def _unique(items: Iterable[Item]) -> tuple[Item, ...]:
    """Each question once, whichever chain has it."""
    by_id: dict[str, Item] = {}
    for item in items:
        by_id.setdefault(item.id, item)
    return tuple(by_id.values())


# -- a chain ----------------------------------------------------------------------------------


def _chains(
    plan: GenerationPlan,
    models: tuple[Model, Model],
    home: CallStore | None,
    embedder: Embedder | None,
) -> list[_Chain]:
    kinds = [(category, form) for form in plan.forms for category in CATEGORIES]
    share, rest = divmod(plan.questions, len(kinds))
    return [
        _Chain(plan, models, home, embedder, category, form, share + (place < rest))
        for place, (category, form) in enumerate(kinds)
    ]


class _Chain:
    """The questions of one category and form. pool: each with the number of its round, from 0."""

    def __init__(
        self,
        plan: GenerationPlan,
        models: tuple[Model, Model],
        home: CallStore | None,
        embedder: Embedder | None,
        category: Category,
        form: Form,
        wanted: int,
    ) -> None:
        self.plan, self.models, self.home, self.embedder = plan, models, home, embedder
        self.category, self.form, self.wanted = category, form, wanted
        self.name = f"{category}/{form}"
        self.human = examples_of(plan.ruleset, category, form)
        self.pool: list[tuple[int, Item]] = []
        self.rounds: list[_Round] = []
        self.answers: list[_Answer] = []
        self.same = self.near = self._taken = 0
        self._asked = {normal_form(example.question) for example in self.human}
        self._vectors: list[np.ndarray[Any, Any]] = []

    async def next_askers(self) -> list[_Round | _Answer]:
        """What is to follow now; nothing where all is done, or waits."""
        rounds = await self._next_rounds()
        return [*rounds, *self._next_answers()]

    async def _next_rounds(self) -> list[_Round]:
        """Take in what the last rounds gave; the rounds that are to follow, none where there are enough."""
        for one in self.rounds[self._taken :]:
            if one.how is not None:
                return []  # it waits, and what follows depends on it
            for question in one.revised or ():
                await self._take(one.number, question)
            self._taken += 1
        begun = len(self.rounds)
        missing = math.ceil((self.wanted - len(self.pool)) / A_ROUND)
        count = min(TOGETHER - begun % TOGETHER, missing, self._limit - begun)
        fresh = [_Round(self, number) for number in range(begun, begun + count)]
        self.rounds += fresh
        return fresh

    async def _take(self, number: int, question: str) -> None:
        """Into the pool, unless it was asked before."""
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
        """The examples of a round: all that people wrote, or two of them and three of the pool."""
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
        """Rounds at most."""
        return ROUNDS * math.ceil(self.wanted / A_ROUND)

    @property
    def _answered(self) -> bool:
        """Whether a model answers its questions."""
        return self.form != "yes_no" or self.plan.label

    def ahead(self, longest: tuple[int | None, int | None]) -> list[_Ahead]:
        """What is still to be asked at most, and at least. longest: tokens of a reply of either model."""
        waiting = [one for one in self.askers() if not one.over]
        found = [each for one in waiting for each in one.ahead(longest)]
        open_rounds = sum(isinstance(one, _Round) for one in waiting)
        missing = self.wanted - len(self.pool)
        rounds = self._limit - len(self.rounds) if missing > 0 else 0
        if rounds:
            few = min(rounds, max(0, math.ceil(missing / A_ROUND) - open_rounds))
            number = max(TOGETHER, len(self.rounds))  # the later ones show questions that may be longer
            found += [each.of(rounds, few) for each in _Round(self, number).ahead(longest)]
        known = self.wanted if rounds or open_rounds else min(self.wanted, len(self.pool))
        if self._answered and (answers := known - len(self.answers)) > 0:
            found += [each.of(answers, answers) for each in _Answer(self, self._unknown()).ahead(longest)]
        return found

    def _unknown(self) -> Item:
        """In place of a question that is not written yet, as long as it may be."""
        return msgspec.structs.replace(self.human[0], question="x" * QUESTION, answer="")

    def _next_answers(self) -> list[_Answer]:
        """Those questions of the pool that are to be answered and are not begun."""
        if not self._answered:
            return []
        fresh = [_Answer(self, item) for _, item in self.pool[len(self.answers) : self.wanted]]
        self.answers += fresh
        return fresh

    def pairs(self) -> list[Item]:
        """What is ready: questions with their answers; without, where people are to answer."""
        if not self._answered:
            return [item for _, item in self.pool[: self.wanted]]
        return [msgspec.structs.replace(one.item, answer=one.answer) for one in self.answers if one.answer]

    def askers(self) -> list[_Round | _Answer]:
        """All that was begun."""
        return [*self.rounds, *self.answers]

    @property
    def planned(self) -> int:
        """Questions, and answers to them."""
        return self.wanted * (2 if self._answered else 1)

    @property
    def done(self) -> int:
        """Of what is planned."""
        return min(len(self.pool), self.wanted) + sum(one.over for one in self.answers)

    def counts(self) -> ChainCounts:
        """What became of the questions."""
        return ChainCounts(
            category=self.category,
            form=self.form,
            wanted=self.wanted,
            rounds=len(self.rounds),
            written=sum(len(one.written or ()) for one in self.rounds),
            revised=sum(len(one.revised or ()) for one in self.rounds),
            same=self.same,
            near=self.near,
            kept=min(len(self.pool), self.wanted),
            answered=sum(bool(one.answer) for one in self.answers),
            dropped=sum(one.answer == "" for one in self.answers),
            lost_rounds=sum(one.over and one.revised is None for one in self.rounds),
            lost_answers=sum(one.over and one.answer is None for one in self.answers),
            waiting=sum(one.how is not None for one in self.askers()),
        )


# -- what is asked ----------------------------------------------------------------------------


class _Ahead(NamedTuple):
    """What replies may take. revises: of the model that revises. sizes: of one's requests, the first and
    those that ask again. times: so many replies at most. least: at least.
    """

    revises: bool
    sizes: list[Size]
    times: int = 1
    least: int = 1

    def of(self, times: int, least: int) -> _Ahead:
        """Of so many replies."""
        return self._replace(times=times, least=least)


class _Asking:
    """One piece of work as an asker (`work.Asker`). unusable: replies that could not be used."""

    def __init__(self, chain: _Chain, name: str) -> None:
        self.chain, self.name = chain, name
        filed = chain.home.filed(name) if chain.home is not None else {}
        self.file, self.begun = CallFile(chain.home, name, filed), bool(filed)
        self.unusable: list[UnusableReply] = []
        self.over = False
        self.how: How | None = None
        self.why = ""

    def stop(self, how: How, why: str) -> None:
        """Keep why it is not over."""
        self.how, self.why = how, why

    async def go(self) -> None:
        """Ask, and put the calls away."""
        await self._go()
        self.file.keep()
        self.over = True

    async def _go(self) -> None:
        raise NotImplementedError

    def ahead(self, longest: tuple[int | None, int | None]) -> list[_Ahead]:
        """What is still to be asked. longest: tokens of a reply of either model."""
        raise NotImplementedError

    def _ahead(self, step: str, reviser: bool, chat: Chat, longest: tuple[int | None, int | None]) -> _Ahead:
        made = sum(reply.step == step for reply in self.unusable)
        request = Request(chat, self.name)
        return _Ahead(reviser, sizes(request, self.chain.plan.retries, made, longest[reviser]))

    async def _usable(
        self, step: str, reviser: bool, chat: Chat, read: Callable[[str], T | Problem], sampling: Sampling
    ) -> T | None:
        """What a model says, asked again with the reason for what cannot be used; None if nothing helps."""
        plan = self.chain.plan
        corrections: tuple[tuple[str, str], ...] = ()
        for attempt in range(plan.retries + 1):
            key = f"wwqa/{plan.seed}|{self.name}|{step}|{attempt}"
            request = Request(chat, key, sampling, corrections)
            _, response = await answer(self.file, self.chain.models[reviser], request)
            found = read(response.text)
            if not isinstance(found, Problem):
                return found
            found = why_unusable(found, response.text, response.finish)
            self.unusable.append(UnusableReply(self.name, step, attempt + 1, found.reason))
            corrections = (*corrections, (response.text, found.reason))
        return None


class _Round(_Asking):
    """A round: questions are written, then revised."""

    def __init__(self, chain: _Chain, number: int) -> None:
        super().__init__(chain, f"{chain.name}/round/{number + 1}")
        self.number = number
        self.written: tuple[str, ...] | None = None
        self.revised: tuple[str, ...] | None = None

    async def _go(self) -> None:
        of, rules = self.chain, self.chain.plan.ruleset

        def read(text: str) -> tuple[str, ...] | Problem:
            return read_written(text, of.form, A_ROUND)

        def read_revised(text: str) -> tuple[str, ...] | Problem:
            return read_written(text, of.form, A_ROUND, may_drop=True)

        chat = to_write(rules, of.category, of.form, of.shown(self.number), A_ROUND)
        self.written = await self._usable("write", False, chat, read, _WRITING)
        if self.written is not None:
            chat = to_revise(rules, of.category, of.form, self.written)
            self.revised = await self._usable("revise", True, chat, read_revised, _REVIEWING)

    def ahead(self, longest: tuple[int | None, int | None]) -> list[_Ahead]:
        """See `_Asking`."""
        of, rules, unknown = self.chain, self.chain.plan.ruleset, self.chain._unknown()
        written = self.written or (unknown.question,) * A_ROUND
        revised = self._ahead("revise", True, to_revise(rules, of.category, of.form, written), longest)
        if self.written is not None:
            return [revised]
        shown = of.human if self.number < TOGETHER else (*of.human[:HUMAN], *[unknown] * (POOL - HUMAN))
        chat = to_write(rules, of.category, of.form, shown, A_ROUND)
        return [self._ahead("write", False, chat, longest), revised]


class _Answer(_Asking):
    """An answer: it is written, then revised. said: as it was written. answer: "" where the revision dropped
    the question.
    """

    def __init__(self, chain: _Chain, item: Item) -> None:
        super().__init__(chain, f"{chain.name}/answer/{item.id}")
        self.item = item
        self.said: str | None = None
        self.answer: str | None = None

    async def _go(self) -> None:
        rules, item = self.chain.plan.ruleset, self.item

        def read(text: str) -> str | Problem:
            return written_answer(text, item.form)

        def read_revised(text: str) -> str | Problem:
            return read_corrected(text, item.form)

        chat = to_answer(rules, item, self.chain.human)
        self.said = await self._usable("answer", False, chat, read, _REVIEWING)
        if self.said is not None:
            chat = to_correct(rules, item, self.said)
            self.answer = await self._usable("revise", True, chat, read_revised, _REVIEWING)

    def ahead(self, longest: tuple[int | None, int | None]) -> list[_Ahead]:
        """See `_Asking`."""
        rules, item = self.chain.plan.ruleset, self.item
        said = self.said or "x" * (len(YES) if item.form == "yes_no" else ANSWER)
        revised = self._ahead("revise", True, to_correct(rules, item, said), longest)
        if self.said is not None:
            return [revised]
        return [self._ahead("answer", False, to_answer(rules, item, self.chain.human), longest), revised]
