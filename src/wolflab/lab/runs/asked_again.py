"""The prompts of a run's games put to other models: how many replies could be used as they came.

The games are played back, and the requests that their players made are asked again, in the same words and
with the same sampling. Every first attempt counts, and nothing is asked a second time. The run is only read:
the replies are on file in a directory of their own, as a judge's are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import count, islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from ...errors import WolflabError
from ...models.base import Model, Request, Response
from ...models.budget import Budget
from ...models.catalog import BUILT_IN, Spec, name_and_settings
from ...text.kinds import kind_of
from ...text.questions import (
    AnswerQuestion,
    AskQuestions,
    Choose,
    ChooseQuestions,
    Decide,
    Deduce,
    Extract,
    Interview,
    Plan,
    Propose,
    Question,
    Rate,
    Reflect,
)
from ...text.replies.chosen_action import is_illegal
from ...text.replies.finish import NO_REPLY, Finish
from ...text.replies.parse import CUT, parse
from ...text.replies.parsed import Problem
from ...text.replies.thoughts import without_thoughts
from ...usage import CallTotals
from ..storage.call_store import CallStore
from ..storage.store import GameRow, Store
from .batch import OneCall, Watch, keep_settings, resolve_each, work_through
from .replay import erased_requests, requests
from .work import check_models

Fate = Literal["legal", "illegal", "unreadable", "none"]
"""What becomes of a reply. legal: the game would take it as it is. illegal: it can be read, and chooses what
the rules do not allow, such as a vote for the dead. unreadable: it has not the form that was asked for. none:
there is no reply, or it was cut.
"""
FATES: tuple[Fate, ...] = get_args(Fate)
GAMES = 100
"""Games of a run that prompts are drawn from, at most."""
_TASKS: Mapping[type, str] = {
    Plan: "plan",
    Propose: "candidates",
    Choose: "choice of a candidate",
    Deduce: "judgement",
    Rate: "rating",
    ChooseQuestions: "questions",
    AskQuestions: "questions",
    AnswerQuestion: "answer to oneself",
    Reflect: "reflection",
    Extract: "advice",
    Interview: "interview",
}
"""What tasks other than acting are called."""


@dataclass(frozen=True, slots=True)
class RecordedPrompt:
    """A request of a game, first attempt. game: its number in the run. task: the kind of task, in words.

    request: as it is asked again. question: what it asks, by which its reply is read.
    """

    game: int
    task: str
    question: Question
    request: Request

    @property
    def acts(self) -> bool:
        """Whether one of the ask's options is to be chosen, so that a reply may be legal or not."""
        task = self.question.task
        return isinstance(task, Decide | Propose) and task.ask.options is not None

    @property
    def name(self) -> str:
        """Of this very prompt: 32 hex digits of what the call is for, and of all that is asked."""
        said = f"{self.request.key}|{self.request.digest(False)}"
        return blake2b(said.encode(), digest_size=16).hexdigest()

    @property
    def free(self) -> RecordedPrompt:
        """The same words without the JSON schema that is sent along with them."""
        words = replace(self.request, asked=self.request.words._replace(schema=None))
        return replace(self, request=words)


class PromptReply(NamedTuple):
    """What a model replied to a prompt. why: what is wrong with it; "" where nothing is."""

    text: str
    finish: Finish
    fate: Fate
    why: str


@dataclass(frozen=True)
class AskedAgain:
    """Prompts and what each model replied to them.

    replies: by model, as the prompts; None for one that waits. waiting: calls without a reply, and why the
    first has none. overspent: limit that is spent ("tokens", "usd") → a sentence. described: each model's
    settings. spent: by model, what all its calls in the directory come to.
    """

    path: Path
    prompts: tuple[RecordedPrompt, ...]
    replies: Mapping[str, tuple[PromptReply | None, ...]]
    waiting: int = 0
    why: str = ""
    overspent: Mapping[str, str] = field(default_factory=dict)
    described: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    spent: Mapping[str, CallTotals] = field(default_factory=dict)
    adaptations: tuple[str, ...] = ()


# -- which prompts ----------------------------------------------------------------------------


def sample_prompts(
    store: Store, n: int, seed: int = 1, tasks: Collection[str] = ()
) -> tuple[RecordedPrompt, ...]:
    """`n` recorded prompts, or all where there are fewer: kinds of tasks take turns, and so do games.

    The same run and seed give the same prompts, and fewer are the beginning of more. Games without an end,
    and those in which words were erased, are left out. tasks: these kinds alone. WolflabError for a run or
    kinds without a prompt.
    """
    rows = sorted((row for row in store.games() if row.over), key=lambda row: _rank(seed, row.id))
    kept = islice((row for row in rows if not store.record(row.id).erased), GAMES)
    pools: dict[str, list[list[RecordedPrompt]]] = {}
    for row in kept:
        by_task: dict[str, list[RecordedPrompt]] = {}
        for prompt in _prompts(store, row):
            by_task.setdefault(prompt.task, []).append(prompt)
        for task, found in by_task.items():
            found.sort(key=lambda prompt: _rank(seed, prompt.name))
            pools.setdefault(task, []).append(found)
    for task, games in pools.items():  # another order for each, so that many games are met
        games.sort(key=lambda found: _rank(seed, task, found[0].game))
    wanted = {task: _in_turn(pools[task]) for task in sorted(pools) if not tasks or task in tasks}
    if unknown := [task for task in tasks if task not in pools]:
        known = ", ".join(sorted(pools)) or "none"
        raise WolflabError(f"{store.path}: no prompt has the task {unknown[0]!r}; its tasks are: {known}")
    if not wanted:
        raise WolflabError(f"{store.path}: {_nothing(store, bool(rows))}")
    return tuple(_in_turn(list(wanted.values())))[:n]


def without_schema(prompts: Sequence[RecordedPrompt], specs: Sequence[Spec]) -> tuple[RecordedPrompt, ...]:
    """The prompts in words alone; WolflabError where a model is told nothing in words."""
    if any(name_and_settings(spec)[0].partition("(")[0] == BUILT_IN for spec in specs):
        raise WolflabError(f"model {BUILT_IN!r}: it is told nothing in words; leave out --free, or it")
    return tuple(prompt.free for prompt in prompts)


def _in_turn(groups: Sequence[Sequence[RecordedPrompt]]) -> list[RecordedPrompt]:
    """The first of each group, then the second of each, and so on."""
    taken: list[RecordedPrompt] = []
    for place in count():
        those = [group[place] for group in groups if place < len(group)]
        if not those:
            return taken
        taken += those
    raise AssertionError


def _prompts(store: Store, row: GameRow) -> list[RecordedPrompt]:
    """The first attempts of a game's requests, in the order in which they were made, without those that held
    words which were erased.
    """
    gone = erased_requests(store, row)
    return [
        RecordedPrompt(row.id, _task(request.asked), request.asked, request)
        for request in requests(store, row)
        if isinstance(request.asked, Question) and not request.corrections and request.key not in gone
    ]


def _task(question: Question) -> str:
    task = question.task
    if isinstance(task, Decide):
        kind = kind_of(task.ask.kind)
        return "night action" if kind == "night" else (kind or task.ask.kind.replace("_", " "))
    return _TASKS.get(type(task), "judgement")


def _nothing(store: Store, over: bool) -> str:
    if not over:
        return f"it has no finished game to take prompts from; go on with: {store.command} --resume"
    return "no model was asked anything in its games, or words of all of them were erased; name another run"


def _rank(*purpose: object) -> bytes:
    return blake2b("|".join(map(str, purpose)).encode(), digest_size=8, person=b"ask-again").digest()


# -- asking -----------------------------------------------------------------------------------


def fate_of(question: Question, response: Response) -> tuple[Fate, str]:
    """What becomes of a first reply in the game, and what is wrong with it ("" for nothing).

    Candidates that are fewer than asked for are legal, as the game takes them in the end. Several different
    answers are unreadable.
    """
    answer = parse(question, response.text, response.finish)
    if not isinstance(answer, Problem) or (answer.usable is not None and not answer.several):
        return "legal", ""
    nothing = not without_thoughts(response.text).text.strip()
    if answer is CUT or nothing or response.finish.reason in NO_REPLY:
        return "none", answer.reason
    return "illegal" if is_illegal(answer.reason) else "unreadable", answer.reason


async def check_askable(specs: Sequence[Spec]) -> None:
    """Whether these models can be asked, before anything is made; a WolflabError with a sentence."""
    models = resolve_each(specs, Budget())
    try:
        await check_models(models)
    finally:
        for model in models:
            await model.close()


async def ask_again(
    home: CallStore,
    prompts: Sequence[RecordedPrompt],
    models: Sequence[Model],
    reached: bool = False,
    watch: Watch = lambda model, over, planned: None,
    budget: Budget | None = None,
) -> AskedAgain:
    """Put the prompts to each model, one model after another; what is on file is not asked again.

    reached: all models have been tried. budget: of the models. A spent budget, a failing server and a request
    refused for good leave prompts waiting.
    """
    whole = {model.name: [OneCall(one.name, one.request, model, home) for one in prompts] for model in models}
    if not reached:
        await check_models(m for m in models if not all(one.on_file for one in whole[m.name]))
    for model in models:
        await work_through(home, whole[model.name], model.name, watch, budget or Budget())
    home.adapted(models)
    unanswered = [one for calls in whole.values() for one in calls if one.response is None]
    spent = home.spent_by()
    return AskedAgain(
        home.path,
        tuple(prompts),
        {name: tuple(map(_reply, prompts, calls)) for name, calls in whole.items()},
        len(unanswered),
        next((one.why for one in unanswered if one.why), ""),
        described={model.name: model.describe() for model in models},
        spent={model.name: _total(spent, model.name) for model in models},
        adaptations=tuple(what for _, what in home.adaptations()),
    )


def _reply(prompt: RecordedPrompt, call: OneCall) -> PromptReply | None:
    response = call.response
    if response is None:
        return None
    return PromptReply(response.text, response.finish, *fate_of(prompt.question, response))


def _total(spent: Mapping[str, Mapping[str, CallTotals]], model: str) -> CallTotals:
    return sum((by[model] for by in spent.values() if model in by), CallTotals())


async def ask_again_by_name(
    path: Path,
    specs: Sequence[Spec],
    prompts: Sequence[RecordedPrompt],
    limits: tuple[int | None, float | None] = (None, None),
    reached: bool = False,
    watch: Watch = lambda model, over, planned: None,
) -> AskedAgain:
    """`ask_again` by the models that `specs` name, as experiments would.

    path: a directory, new or begun by this. limits: tokens and USD, what was spent in it before counted in.
    """
    budget = Budget(*limits)
    models = resolve_each(specs, budget)
    try:
        with CallStore.begin(path, {"asked": "recorded prompts"}) as home:
            keep_settings(home, models)
            budget.begin(home.spent())
            asked = await ask_again(home, prompts, models, reached, watch, budget)
            return replace(asked, overspent=budget.short)
    finally:
        for model in models:
            await model.close()
