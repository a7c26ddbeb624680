"""Sends the prompts of a run's games to other models, and counts how many replies are usable.

The games are replayed, and their players' requests are sent again, in the same words and with the same
sampling. Only first attempts are sent, without retries. The run is only read: the replies are stored in a
directory of their own, like a judge's.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import chain, islice
from typing import Literal, NamedTuple, get_args

from ...errors import WolflabError
from ...models.base import Request, Response
from ...models.catalog import BUILT_IN, Spec, name_and_settings, without_settings
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
from ..storage.store import GameRow, Store
from .batch import BatchResult, CallBatch, single_call
from .decisions import round_robin
from .replay import erased_requests, requests

ReplyOutcome = Literal["legal", "illegal", "unreadable", "none"]
"""How a game would read a reply. legal: it can be used as it is. illegal: it can be read, but chooses what
the rules do not allow, such as a vote for the dead. unreadable: it does not have the required form. none:
there is no reply, or it was cut.
"""
REPLY_OUTCOMES: tuple[ReplyOutcome, ...] = get_args(ReplyOutcome)
GAMES = 100
"""The most games of a run that prompts are drawn from."""
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
"""The names of tasks other than acting."""


@dataclass(frozen=True, slots=True)
class RecordedPrompt:
    """The first attempt of a request in a game. game: its number in the run. task: the kind of task, in
    words.

    request: as it is sent again. question: by which the reply is parsed.
    """

    game: int
    task: str
    question: Question
    request: Request

    @property
    def acts(self) -> bool:
        """Whether the reply chooses one of the ask's options, so that it may be legal or not."""
        task = self.question.task
        return isinstance(task, Decide | Propose) and task.ask.options is not None

    @property
    def name(self) -> str:
        """32 hex digits that identify the prompt: a hash of the call's key and the request."""
        said = f"{self.request.key}|{self.request.digest(False)}"
        return blake2b(said.encode(), digest_size=16).hexdigest()

    @property
    def free(self) -> RecordedPrompt:
        """The same prompt without its JSON schema."""
        words = replace(self.request, asked=self.request.words._replace(schema=None))
        return replace(self, request=words)


class PromptReply(NamedTuple):
    """A model's reply to a prompt. why: what is wrong with it, or ""."""

    text: str
    finish: Finish
    outcome: ReplyOutcome
    why: str


@dataclass(frozen=True, kw_only=True)
class AskedAgain(BatchResult):
    """Prompts and each model's replies.

    replies: by model, in the order of the prompts; None where there is no reply yet.
    """

    prompts: tuple[RecordedPrompt, ...]
    replies: Mapping[str, tuple[PromptReply | None, ...]]


# -- sampling prompts -------------------------------------------------------------------------


def sample_prompts(
    store: Store, n: int, seed: int = 1, tasks: Collection[str] = ()
) -> tuple[RecordedPrompt, ...]:
    """`n` recorded prompts, or all if there are fewer, taken in turn from the kinds of tasks and from the
    games.

    The same run and seed give the same prompts, and a smaller sample is the start of a larger one. Unfinished
    games, and those in which words were erased, are left out. tasks: only these kinds. WolflabError for a run
    or kinds without a prompt.
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
    for task, games in pools.items():  # another order for each task, so that many games are used
        games.sort(key=lambda found: _rank(seed, task, found[0].game))
    wanted = {task: list(round_robin(pools[task])) for task in sorted(pools) if not tasks or task in tasks}
    if unknown := [task for task in tasks if task not in pools]:
        known = ", ".join(sorted(pools)) or "none"
        raise WolflabError(f"{store.path}: no prompt has the task {unknown[0]!r}; its tasks are: {known}")
    if not wanted:
        raise WolflabError(f"{store.path}: {_nothing(store, bool(rows))}")
    return tuple(islice(round_robin(wanted.values()), n))


def without_schema(prompts: Sequence[RecordedPrompt], specs: Sequence[Spec]) -> tuple[RecordedPrompt, ...]:
    """The prompts without schemas; WolflabError for the built-in player, which reads no words."""
    if any(without_settings(name_and_settings(spec)[0]) == BUILT_IN for spec in specs):
        raise WolflabError(f"model {BUILT_IN!r}: it reads no words; leave out --free, or this model")
    return tuple(prompt.free for prompt in prompts)


def _prompts(store: Store, row: GameRow) -> list[RecordedPrompt]:
    """The first attempts of a game's requests, in the order in which they were made, without those with
    erased words.
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


def outcome_of(question: Question, response: Response) -> tuple[ReplyOutcome, str]:
    """How the game would read a first reply, and what is wrong with it (or "").

    Fewer candidates than asked for are legal, because the game accepts them in the end. Several different
    answers are unreadable.
    """
    answer = parse(question, response.text, response.finish)
    if not isinstance(answer, Problem) or (answer.usable is not None and not answer.several):
        return "legal", ""
    nothing = not without_thoughts(response.text).text.strip()
    if answer is CUT or nothing or response.finish.reason in NO_REPLY:
        return "none", answer.reason
    return "illegal" if is_illegal(answer.reason) else "unreadable", answer.reason


async def ask_again(batch: CallBatch, prompts: Sequence[RecordedPrompt]) -> AskedAgain:
    """Send the prompts to each model of a batch, one model after another."""
    asked = {
        model.name: [single_call(one.name, model, one.request) for one in prompts] for model in batch.models
    }
    items = [*chain(*asked.values())]
    async with batch.begin({"asked": "recorded prompts"}, *await batch.left(items)) as home:
        await batch.work_each(home, asked)
        replies = {
            name: tuple(_reply(prompt, one.answer) for prompt, one in zip(prompts, given, strict=True))
            for name, given in asked.items()
        }
        return AskedAgain(prompts=tuple(prompts), replies=replies, **batch.result(home, items))


def _reply(prompt: RecordedPrompt, response: Response | None) -> PromptReply | None:
    if response is None:
        return None
    return PromptReply(response.text, response.finish, *outcome_of(prompt.question, response))
