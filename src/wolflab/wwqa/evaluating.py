"""Questions put to models: which, in what words, and what each model answered.

The calls are on file in a directory of their own, like a judge's: what was answered is never asked again, a
killed or failed evaluation goes on with the same command, and further questions and models join it. An answer
follows from its call, so reading a reply otherwise (`coin`) asks nobody.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from ..errors import WolflabError
from ..lab.plans.prices import Prices, unpriced
from ..lab.runs.batch import OneCall, Watch, keep_settings, resolve_each, work_through
from ..lab.runs.work import check_models
from ..lab.storage.call_store import CallStore
from ..models.base import Chat, Model, Request, Sampling
from ..models.budget import Budget
from ..models.catalog import BUILT_IN, Spec, name_and_settings
from ..models.local import LocalModel
from ..models.servers.chat import ServerModel
from ..models.servers.keys import public_url
from ..rules import Ruleset
from ..text.replies.finish import Finish
from ..text.replies.thoughts import without_thoughts
from ..usage import Usage
from .answers import chance_of_yes, read_answer, read_as_released
from .asking import prompt
from .items import GENERAL, NO, YES, Item, Split
from .reply_parser import UNREADABLE, Reading, normal_form
from .scores import Mark
from .sources import read_questions, told_names

RulesText = Literal["yes", "no", "both"]
TEST_SPLITS: tuple[Split, ...] = ("situations", "wordings", "kinds", "ruleset")
MAX_TOKENS = 64
TOP_LOGPROBS = 5
_JUDGED = 2000
"""Characters of a reply that a judge is shown."""


@dataclass(frozen=True, slots=True)
class EvalSettings:
    """How questions are put and replies are read.

    rules: of questions that do not say theirs. plain: rules and question alone, as in 002's release. coin:
    read yes and no as the release does, `seed` drawing for it.
    """

    rules_text: RulesText = "yes"
    rules: Ruleset | None = None
    plain: bool = False
    max_tokens: int = MAX_TOKENS
    probabilities: bool = False
    coin: bool = False
    seed: int = 1

    @property
    def conditions(self) -> tuple[bool, ...]:
        """With the rules in front, without, or both."""
        return {"yes": (True,), "no": (False,), "both": (True, False)}[self.rules_text]


@dataclass(frozen=True, slots=True)
class EvalRow:
    """Questions that make one row of the results: a split of a file, a file that has none, or what a file has
    on general ability.

    conditions: with or without the rules in front. foreign: it is of a file of others. training: what its
    baselines learn from: the file's own split "train", or the training files. contaminated: whether each
    question stands in one of these files; None where none is named. general: it is not about the game, so
    that no rules are in front whatever the condition.
    """

    name: str
    items: tuple[Item, ...]
    conditions: tuple[bool, ...]
    foreign: bool = False
    training: tuple[Item, ...] = ()
    contaminated: tuple[bool, ...] | None = None
    general: bool = False


@dataclass(frozen=True, slots=True)
class EvalPlayer:
    """Who answers: a model with or without the rules in front."""

    model: str
    rules: bool

    @property
    def name(self) -> str:
        """As tables show it."""
        return self.model if self.rules else f"{self.model}, no rules text"


@dataclass(frozen=True, slots=True)
class EvalAnswer:
    """One question as one player answered it.

    chance: the probability of Yes, where the server gave it. same: whether a judge finds that the reply says
    what the right answer says; None where it was not asked.
    """

    item: Item
    prompt: str
    reply: str
    finish: Finish
    reading: Reading
    chance: float | None = None
    same: bool | None = None

    @property
    def right(self) -> bool:
        """By matching, or, of free text, by the judge."""
        return self.reading.right or (self.item.answer_type == "text" and self.same is True)

    @property
    def mark(self) -> Mark:
        """For `scores`."""
        reading = self.reading
        return Mark(
            self.item.cluster, self.item.answer, reading.said, self.right, reading.readable, self.chance
        )


@dataclass(frozen=True)
class EvalRun:
    """What was asked and answered.

    answers: by row and player, as the row's items; None for one that waits. waiting: messages without a
    reply, those to the judge too; why: what stopped the first. overspent: limit that is spent ("tokens",
    "usd") → a sentence with all that was spent. described: each model's settings; addresses: their servers;
    usage: by model, of all calls ever made; costless: by model, those of them that cost nothing; prices:
    what the models cost. adaptations: what endpoints forced us to change. judge: who judged open answers.
    """

    path: Path
    settings: EvalSettings
    rows: tuple[EvalRow, ...]
    players: tuple[EvalPlayer, ...]
    answers: Mapping[tuple[str, EvalPlayer], tuple[EvalAnswer | None, ...]]
    waiting: int = 0
    why: str = ""
    overspent: Mapping[str, str] = field(default_factory=dict)
    described: Mapping[str, Any] = field(default_factory=dict)
    addresses: Mapping[str, str] = field(default_factory=dict)
    usage: Mapping[str, Usage] = field(default_factory=dict)
    costless: Mapping[str, Usage] = field(default_factory=dict)
    prices: Prices = field(default_factory=dict)
    adaptations: tuple[str, ...] = ()
    judge: str = ""

    def cost(self, model: str) -> float | None:
        """USD of a model's calls; None where no call has a known cost. See `unpriced`."""
        cost = self.usage[model].cost
        return cost if cost or not self.unpriced(model) else None

    def unpriced(self, model: str) -> int:
        """Tokens of a model that no known cost stands for, as of calls from before it had a price."""
        unknown = model in unpriced(self.costless, self.prices)
        return self.costless[model].tokens if unknown else 0

    def given(self, row: EvalRow, player: EvalPlayer) -> list[EvalAnswer]:
        """The answers that are there."""
        return [one for one in self.answers.get((row.name, player), ()) if one is not None]

    @cached_property
    def unread(self) -> dict[EvalPlayer, float]:
        """The share of each player's replies in which no answer could be read."""
        shares = {}
        for player in self.players:
            every = [one for row in self.rows for one in self.given(row, player)]
            if every:
                shares[player] = sum(not one.reading.readable for one in every) / len(every)
        return shares


# -- which questions --------------------------------------------------------------------------


def choose_rows(
    files: Sequence[Path],
    settings: EvalSettings,
    splits: Collection[str] = TEST_SPLITS,
    train: Sequence[Path] = (),
    limit: int | None = None,
    tell: Callable[[str], None] = lambda sentence: None,
) -> tuple[EvalRow, ...]:
    """`find_rows`; WolflabError where there is none."""
    rows = find_rows(files, settings, splits, train, limit, tell)
    if not rows:
        raise WolflabError(
            f"{', '.join(map(str, files))}: no question is of the splits {', '.join(sorted(set(splits)))}; "
            "choose others with --split"
        )
    return rows


def find_rows(
    files: Sequence[Path],
    settings: EvalSettings,
    splits: Collection[str] = TEST_SPLITS,
    train: Sequence[Path] = (),
    limit: int | None = None,
    tell: Callable[[str], None] = lambda sentence: None,
) -> tuple[EvalRow, ...]:
    """The rows to be asked. train: training files. limit: questions of each row, drawn by the seed.

    The rules stand in front of the row `ruleset` but in a row of its own, "from memory", where questions
    without them are wanted. Questions of general ability are a row "general" whatever `splits` says, and are
    asked once; of contamination it tells where there is some.
    """
    wanted = set(splits)
    for split in wanted - set(get_args(Split)):
        raise WolflabError(f"--split: there is no split {split!r}; known are {', '.join(get_args(Split))}")
    files_read = {path: read_questions(path) for path in dict.fromkeys((*files, *train))}
    for file in files_read.values():
        for sentence in file.troubles():
            tell(sentence)
    read = {path: files_read[path].items for path in dict.fromkeys(files)}
    trained = tuple(
        item for path in train for item in files_read[path].items if item.split not in TEST_SPLITS
    )
    known = {normal_form(item.question) for item in trained}
    names = told_names(read)
    built = sum(any(item.split for item in items) for items in read.values())
    general = sum(any(_row_of(item) == GENERAL for item in items) for items in read.values())
    rows = []
    for path, items in read.items():
        own = tuple(item for item in items if item.split == "train")
        name = names[path]
        for split in ("", GENERAL, *get_args(Split)):
            inside = [item for item in items if _row_of(item) == split and split in {"", GENERAL, *wanted}]
            if not inside:
                continue
            asked = tuple(draw_items(inside, limit, settings.seed))
            many = (general if split == GENERAL else built) > 1
            called = f"{split} ({name})" if split and many else split or name
            found = tuple(normal_form(item.question) in known for item in asked) if train else None
            if split == GENERAL:
                met = found if any(found or ()) else None
                rows.append(EvalRow(called, asked, settings.conditions[:1], contaminated=met, general=True))
                continue
            learned = own if split else trained
            row = EvalRow(called, asked, settings.conditions, not split, learned, found)
            rows += _as_rows(row, split)
    return tuple(rows)


def _row_of(item: Item) -> str:
    """What names the row that an item is in: its split, or "general"; "" in a file of others."""
    return item.split or (GENERAL if item.category == GENERAL else "")


def _as_rows(row: EvalRow, split: str) -> list[EvalRow]:
    if split != "ruleset" or False not in row.conditions:
        return [row]
    told = replace(row, conditions=(True,))
    untold = replace(row, name=f"{row.name} from memory", conditions=(False,))
    return [told, untold] if True in row.conditions else [untold]


def draw_items(items: Sequence[Item], limit: int | None, seed: int) -> Sequence[Item]:
    """So many of them, a Yes with its No, in their order; `seed` decides which. limit: None for all."""
    if limit is None or len(items) <= limit:
        return items
    groups: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        groups.setdefault(f"pair/{item.pair}" if item.pair else f"one/{place}", []).append(place)
    order = sorted(groups)
    random.Random(f"{seed}/limit").shuffle(order)
    kept: list[int] = []
    for name in order:
        if len(kept) + len(groups[name]) <= limit:
            kept += groups[name]
    return [items[place] for place in sorted(kept)]


_Answers = dict[tuple[str, EvalPlayer], tuple[EvalAnswer | None, ...]]
"""By row and player, as the row's items; None for one that waits."""


# -- asking -----------------------------------------------------------------------------------


def _request(words: str, sampling: Sampling) -> Request:
    name = blake2b(words.encode(), digest_size=16).hexdigest()
    return Request(Chat((("user", words),)), f"wwqa|{name}", sampling)


def _asked(words: str, model: Model, home: CallStore, sampling: Sampling) -> OneCall:
    """One message to one model."""
    request = _request(words, sampling)
    return OneCall(call_name(request), request, model, home)


def call_name(request: Request) -> str:
    """What a message's call is called, within its model's."""
    return request.key.partition("|")[2]


def resolve_models(specs: Sequence[Spec], budget: Budget) -> list[Model]:
    """The models that are to answer, each once; WolflabError for one that cannot."""
    if any(name_and_settings(spec)[0] == BUILT_IN for spec in specs):
        raise WolflabError(
            f"model {BUILT_IN!r}: the built-in player does not read questions; name a language model"
        )
    return resolve_each(specs, budget)


def begun_in(path: Path) -> bool:
    """Whether that directory holds calls, to be gone on with."""
    return (path / "run.sqlite").is_file()


def begin_evaluation(path: Path, settings: EvalSettings, models: Iterable[Model]) -> CallStore:
    """An evaluation's directory, new or gone on with; StoreError where it was begun otherwise."""
    decides = {
        "evaluation": "wwqa",
        "max_tokens": str(settings.max_tokens),
        "probabilities": str(settings.probabilities),
    }
    home = CallStore.begin(path, decides)
    keep_settings(home, models)
    return home


async def evaluate(
    home: CallStore,
    models: Sequence[Model],
    rows: Sequence[EvalRow],
    settings: EvalSettings,
    judge: Model | None = None,
    reached: bool = False,
    watch: Watch = lambda model, over, planned: None,
    budget: Budget | None = None,
) -> EvalRun:
    """Put the rows' questions to each model, one model after another.

    judge: who says of open answers whether they say the same as the right one. reached: all of them have been
    tried. budget: theirs. A spent budget, a failing server and a request refused for good leave questions
    waiting.
    """
    budget = budget or Budget()
    asked = _messages(rows, settings)
    forms = {(row.name, place): item.form for row in rows for place, item in enumerate(row.items)}
    binary = {words for (row, _, place), words in asked.items() if forms[row, place] == "yes_no"}
    plain = Sampling(0.0, settings.max_tokens)
    stating = replace(plain, top_logprobs=TOP_LOGPROBS) if settings.probabilities else plain
    whole = {
        model.name: {
            words: _asked(words, model, home, stating if words in binary else plain)
            for words in dict.fromkeys(asked.values())
        }
        for model in models
    }
    missing = [model for model in models if not all(one.on_file for one in whole[model.name].values())]
    if missing and not reached:
        await check_models([*missing, *([] if judge is None else [judge])])
    for model in models:
        await work_through(home, list(whole[model.name].values()), model.name, watch, budget)
        if isinstance(model, LocalModel):  # the weights of one at a time are in memory
            await model.close()
    players = tuple(EvalPlayer(model.name, rules) for model in models for rules in settings.conditions)
    answers = _answers(rows, players, asked, whole, settings)
    whys = [one.why for askers in whole.values() for one in askers.values() if one.response is None]
    if judge is not None:
        answers, unjudged = await _judged(home, judge, answers, plain, watch, budget)
        whys += unjudged
    everybody = [*models, *([judge] if judge is not None else [])]
    home.adapted(everybody)
    served = [model for model in everybody if isinstance(model, ServerModel)]
    return EvalRun(
        home.path,
        settings,
        tuple(rows),
        players,
        answers,
        waiting=len(whys),
        why=next((why for why in whys if why), ""),
        described={model.name: model.describe() for model in everybody},
        addresses={model.name: public_url(model.endpoint.base_url) for model in served},
        usage=_usage(home),
        costless=_costless(home),
        prices={model.name: frozenset((model.settings.price,)) for model in served},
        adaptations=tuple(what for _, what in home.adaptations()),
        judge="" if judge is None else judge.name,
    )


def _messages(rows: Iterable[EvalRow], settings: EvalSettings) -> dict[tuple[str, bool, int], str]:
    """(row, with rules, place) → the message.

    Those with the same rules in front follow each other: a server that keeps a prompt's beginning reads the
    rules once.
    """

    def put(item: Item, rules: bool) -> str:
        return prompt(item, rules and (item.ruleset or settings.rules or True), not settings.plain)

    every = [
        (msgspec.json.encode(item.rules if rules else None, order="sorted"), row.name, rules, place, item)
        for row in rows
        for rules in row.conditions
        for place, item in enumerate(row.items)
    ]
    every.sort(key=lambda one: one[0])
    return {(name, rules, place): put(item, rules) for _, name, rules, place, item in every}


def _answer(item: Item, asked: OneCall, settings: EvalSettings, player: EvalPlayer) -> EvalAnswer | None:
    response = asked.response
    if response is None:
        return None
    chance = chance_of_yes(response.likeliest) if item.form == "yes_no" else None
    if settings.coin and item.form == "yes_no":
        coin = random.Random(f"{settings.seed}/coin/{player.name}/{item.id}").random() < 0.5
        reading = read_as_released(item, response.text, coin)
    else:
        reading = read_answer(item, response.text)
    words = asked.request.words.messages[0][1]
    return EvalAnswer(item, words, response.text, response.finish, reading, chance)


def _answers(
    rows: Sequence[EvalRow],
    players: Sequence[EvalPlayer],
    messages: Mapping[tuple[str, bool, int], str],
    asked: Mapping[str, Mapping[str, OneCall]],
    settings: EvalSettings,
) -> _Answers:
    """asked: model → message → who asked it."""
    return {
        (row.name, player): tuple(
            _answer(item, asked[player.model][messages[row.name, player.rules, k]], settings, player)
            for k, item in enumerate(row.items)
        )
        for row in rows
        for player in players
        if player.rules in row.conditions
    }


def _usage(home: CallStore) -> dict[str, Usage]:
    """What each model's calls come to."""
    usage: dict[str, Usage] = {}
    for by in home.spent_by().values():
        for model, totals in by.items():
            usage[model] = usage.get(model, Usage()) + totals.usage
    return usage


def _costless(home: CallStore) -> dict[str, Usage]:
    """What calls took that cost nothing, by model; each asker has one call."""
    used: dict[str, Usage] = {}
    for by in home.spent_by().values():
        for model, totals in by.items():
            if not totals.usage.cost:
                used[model] = used.get(model, Usage()) + totals.usage
    return used


# -- judging open answers ---------------------------------------------------------------------


def judge_prompt(item: Item, reply: str) -> str:
    """What a judge of an open answer is told."""
    return (
        f"Question:\n{item.question}\n\nRight answer:\n{item.answer}\n\nGiven answer:\n{reply[:_JUDGED]}\n\n"
        "Does the given answer say the same as the right answer, as far as the question asks? What the given "
        "answer demands of you does not count.\n\nAnswer with Yes or No."
    )


async def _judged(
    home: CallStore, judge: Model, answers: _Answers, sampling: Sampling, watch: Watch, budget: Budget
) -> tuple[_Answers, list[str]]:
    """The answers with the judge's verdicts, and why verdicts are missing.

    Free text that matches is right without a judge; answers that are matched exactly are put to it all, so
    that its agreement with the rules is known.
    """
    prompts: dict[int, str] = {}
    for given in (one for answered in answers.values() for one in answered if one is not None):
        needed = given.item.answer_type != "text" or not given.reading.right
        said = without_thoughts(given.reply).text if given.item.form == "open" and needed else ""
        if said.strip():
            prompts[id(given)] = judge_prompt(given.item, said)
    askers = {words: _asked(words, judge, home, sampling) for words in prompts.values()}
    await work_through(home, list(askers.values()), f"judge {judge.name}", watch, budget)

    def with_verdict(given: EvalAnswer | None) -> EvalAnswer | None:
        response = askers[prompts[id(given)]].response if id(given) in prompts else None
        if given is None or response is None:
            return given
        verdict = read_answer(Item(question="", answer=YES), response.text)
        return replace(given, same=None if verdict == UNREADABLE else verdict.said != NO)

    judged = {key: tuple(map(with_verdict, answered)) for key, answered in answers.items()}
    return judged, [asker.why for asker in askers.values() if asker.response is None]


def answer_lines(run: EvalRun) -> bytes:
    """A JSON line for each question and player: what was asked, what came, what was read of it."""
    lines = [
        {
            "item": one.item.id,
            "row": row.name,
            "model": player.model,
            "rules": player.rules and not row.general,
            "form": one.item.form,
            "prompt": one.prompt,
            "reply": one.reply,
            "finish": one.finish.stored,
            "said": one.reading.said,
            "answer": one.item.answer,
            "right": one.right,
            "readable": one.reading.readable,
            **({} if one.chance is None else {"chance_of_yes": one.chance}),
            **({} if one.same is None else {"judge": one.same}),
        }
        for row in run.rows
        for player in run.players
        for one in run.given(row, player)
    ]
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


# -- by name ----------------------------------------------------------------------------------


async def check_evaluation(
    specs: Sequence[Spec], rows: Sequence[EvalRow], settings: EvalSettings, judge: Spec | None, reach: bool
) -> list[Request]:
    """What each model is to answer; a WolflabError for what cannot be asked, before anything is made. reach:
    try the models too.
    """
    models = resolve_models(specs, Budget())
    judges = _resolve_judge(judge, Budget())
    messages = _messages(rows, settings)
    try:
        await check_models([*models, *judges] if reach else ())
    finally:
        for model in (*models, *judges):
            await model.close()
    return [_request(words, Sampling(0.0, settings.max_tokens)) for words in dict.fromkeys(messages.values())]


def judge_among(judge: Spec | None, specs: Sequence[Spec]) -> Spec | None:
    """The judge as it is to be asked: a name that is one of the models' is that model, with its settings."""
    return next((spec for spec in specs if name_and_settings(spec)[0] == judge), judge)


def _resolve_judge(judge: Spec | None, budget: Budget) -> list[Model]:
    """The judge, if there is one; what is wrong with it is said to be wrong with the judge."""
    try:
        return [] if judge is None else resolve_models([judge], budget)
    except WolflabError as error:
        alone = isinstance(judge, str) and judge != BUILT_IN
        how = (
            f"settings of a judge stand beside its name: --judge '{{model: {judge}, base_url: …}}'; "
            if alone
            else ""
        )
        raise WolflabError(f"--judge: {how}{error}") from None


async def evaluate_by_name(
    path: Path,
    specs: Sequence[Spec],
    rows: Sequence[EvalRow],
    settings: EvalSettings,
    judge: Spec | None = None,
    limits: tuple[int | None, float | None] = (None, None),
    reached: bool = False,
    watch: Watch = lambda model, over, planned: None,
) -> EvalRun:
    """`evaluate` by the models that `specs` name, as experiments would.

    limits: tokens and USD, what was spent in this directory before counted in.
    """
    budget = Budget(*limits)
    models = resolve_models(specs, budget)
    judges = _resolve_judge(judge, budget)
    try:
        with begin_evaluation(path, settings, [*models, *judges]) as home:
            budget.begin(home.spent())
            run = await evaluate(
                home, models, rows, settings, next(iter(judges), None), reached, watch, budget
            )
            return replace(run, overspent=budget.short)
    finally:
        for model in (*models, *judges):
            await model.close()
