"""Forecasts of games and other calls: `wolflab plan`, and the head of every run that costs money."""

from __future__ import annotations

import asyncio
import shlex
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from rich.console import Console
from rich.table import Table

from ...errors import ExperimentError, WolflabError
from ...lab.plans.experiment import Experiment
from ...lab.plans.loading import load_experiment
from ...lab.plans.matching import model_name
from ...lab.plans.served import elsewhere, is_served, openai_stand_in, servers_of
from ...lab.plans.sources import COMMANDS, file_kind
from ...lab.plans.specs import BudgetSpec, HasPlayers
from ...lab.runs.batch import CallsForecast
from ...lab.runs.casting import PlayerBuilder, Players, budget_of
from ...lab.runs.forecast import (
    Interval90,
    RunForecast,
    Seen,
    forecast,
    observed_calls,
    observed_in,
    sample_replies,
    taken_in,
)
from ...lab.runs.rehearsal import GAMES, Rehearsal, embedder_prices, longest_reply, playing_models, rehearse
from ...lab.runs.runner import preflight
from ...lab.storage.call_store import CallStore
from ...lab.storage.store import Store
from ...lab.studies.study_plan import load_study
from ...lab.training.games import TrainingPlayers
from ...lab.training.rehearsal import PARTS, games_left, rehearse_training, taken_in_training
from ...lab.training.rounds import LATER_ROUNDS, is_in_rounds, load_rounds, rehearse_rounds
from ...lab.training.training_plan import TrainingSpec, load_training
from ...lab.training.waiting_games import calls_of, check_players
from ...usage import CallTotals
from ..report.numbers import number
from ..wording import counted, duration
from .console import confirmed, print_json, say

_NAMED = 4
"""The most seats and sentences that are listed one by one."""
_ASKS_ABOVE_USD, _ASKS_ABOVE_TOKENS = 10.0, 10_000_000
"""Above these a yes is needed; tokens count where their price is unknown."""
_AGREED = "allowed usd", "allowed tokens"
"""The keys under which a run stores the amounts that had a yes."""
_MARGIN = 1.5
"""A yes covers up to this multiple of the forecast, because forecasts change during a run."""


@dataclass(frozen=True)
class _Ahead:
    """What is to be played.

    played: an experiment or a training. left: condition → the number of games. rehearsed:
    games, and prompts to keep → the rehearsal. players: builds the players; check: builds them all, and
    checks their models.
    """

    played: HasPlayers
    left: Mapping[str, int]
    rehearsed: Callable[[int, int], Rehearsal]
    players: Players
    check: Callable[[], Coroutine[Any, Any, None]]

    @classmethod
    def of_run(
        cls,
        experiment: Experiment,
        store: Store | None = None,
        planned: Mapping[str, int] | None = None,
        rehearsing: Callable[[Experiment, int, int], Rehearsal] = rehearse,
    ) -> _Ahead:
        """The games of a run. store, planned: see `_games_left`. rehearsing: rehearses it."""
        builder, left = PlayerBuilder(experiment), _games_left(experiment, store, planned)
        return cls(experiment, left, partial(rehearsing, experiment), builder, partial(preflight, builder))

    @classmethod
    def of_training(cls, spec: TrainingSpec, folder: Path | None = None) -> _Ahead:
        """The games of a training whose models wait. folder: of one that was begun."""
        players, left = TrainingPlayers(spec, budget_of(spec)), games_left(spec, folder)
        rehearsing = partial(rehearse_training, spec)
        return cls(spec, left, rehearsing, players, partial(check_players, players))


def print_forecast(
    console: Console, source: str, overrides: Sequence[str], village: bool, games: int, ask: int
) -> None:
    """Print what an experiment, a tournament, a study or a training will take. ask: prompts that are put to
    each model first.
    """
    with ExitStack() as open_until_asked:
        if (kind := file_kind(source)) == "study":
            if overrides or village:
                raise ExperimentError(
                    f"{source} is a study, told as it stands; leave out changes and --village"
                )
            study = load_study(source)
            ahead = _Ahead.of_run(study.on_agents, planned=study.expected)
        elif kind == "training" and is_in_rounds(source):
            rounds = load_rounds(source, overrides).ahead()
            experiment, planned = open_until_asked.enter_context(rounds)
            ahead = _Ahead.of_run(experiment, planned=planned, rehearsing=rehearse_rounds)
        elif kind == "training":
            ahead = _training_ahead(source, overrides)
        else:
            ahead = _Ahead.of_run(load_experiment(source, overrides, village))
        with console.status("Games are rehearsed on the built-in player …"):
            rehearsal = ahead.rehearsed(games, max(ask, 1))
        seen = Seen()
        if ask and rehearsal.calls():
            with console.status("The models are asked …"):
                seen = asyncio.run(_ask_models(console, ahead, rehearsal, ask))
    expected = forecast(rehearsal, ahead.left, seen)
    print_json(
        {
            "games": expected.games,
            "models": [{"label": label, **asdict(model)} for label, model in expected.models.items()],
            "all": {name: getattr(expected, name) for name in ("calls", "tokens", "usd", "hours")},
            "budget": ahead.played.budget.model_dump(),
        }
    )
    words = [source, *(["--village"] if village else [])]
    words += [word for change in overrides for word in ("--set", change)]
    _tell_forecast(console, rehearsal, expected, ahead.left, shlex.join(["wolflab", "plan", *words]))
    budget = ahead.played.budget
    if budget.usd is not None and expected.usd is not None and expected.usd.middle > budget.usd:
        say(console, f"The budget of {budget.usd:g} USD is less: the run will stop there.", "yellow")
    if budget.tokens is not None and expected.tokens.middle > budget.tokens:
        say(console, f"The budget of {budget.tokens:,} tokens is less: the run will stop there.", "yellow")
    _tell_unset(console, ahead.played)
    where, asked_there = openai_stand_in(ahead.played)
    if asked_there:
        say(console, f"OPENAI_BASE_URL: {', '.join(asked_there)} at {where}")
    say(console, f"Nothing was begun. To begin it: {shlex.join(['wolflab', COMMANDS[kind], *words])}")


def _training_ahead(source: str, overrides: Sequence[str]) -> _Ahead:
    spec = load_training(source, overrides)
    if not spec.waits:
        raise ExperimentError(f"{source}: this training calls no server, so that it costs nothing")
    return _Ahead.of_training(spec)


async def _ask_models(console: Console, ahead: _Ahead, rehearsal: Rehearsal, most: int) -> Seen:
    """Put some prompts to the models, and print what that took."""
    try:
        await ahead.check()
        seen, failed = await sample_replies(ahead.players, rehearsal, most)
    finally:
        await ahead.players.close()
    for name, replies in seen.replies.items():
        used = sum(reply.usage.tokens for reply in replies)
        paid = sum(reply.usage.cost for reply in replies)
        bad = sum(reply.again for reply in replies)
        cost = f", {paid:.4f} USD" if paid else ""
        asked = f"{name} was asked {counted(len(replies), 'prompt')}: {used:,} tokens{cost}"
        warn = "yellow" if 2 * bad > len(replies) else ""
        say(console, f"{asked}; {counted(bad, 'reply', 'replies')} could not be used", warn)
    for sentence in failed[:_NAMED]:
        why = sentence.partition("; the run can be resumed")[0].partition("; raise it and resume the run")[0]
        say(console, f"Not all prompts were answered: {why}", "yellow")
    if len(failed) > _NAMED:
        say(console, f"and {len(failed) - _NAMED} more of this kind", "yellow")
    return seen


def _games_left(
    experiment: Experiment, store: Store | None, planned: Mapping[str, int] | None = None
) -> dict[str, int]:
    """The number of games still to be played, by condition. Done games need no other; void ones do if they
    are redrawn. planned: all games, if the experiment does not say it.
    """
    games = planned or {name: len(experiment.places(name)) for name in experiment.conditions}
    if store is None:
        return dict(games)
    redrawn = store.experiment.redraw_void and store.experiment.shard is None
    ends = ("done",) if redrawn else ("done", "void")
    over = Counter(row.condition for row in store.games() if row.status in ends)
    return {name: max(0, games[name] - over[name]) for name in games}


def forecast_underway(
    experiment: Experiment, rehearsal: Rehearsal, store: Store
) -> tuple[RunForecast, int] | None:
    """The total forecast of a run that is being played, and the number of replies that it is based on. None
    if nothing is left to play. The total has the finished games' costs and the others' forecast; the hours
    are of the latter alone.
    """
    left = _games_left(experiment, store)
    if not any(left.values()):
        return None
    expected = forecast(rehearsal, left, observed_in(store)).with_taken(taken_in(store)[0])
    return expected, sum(model.seen for model in expected.models.values())


def _tell_forecast(
    console: Console,
    rehearsal: Rehearsal,
    expected: RunForecast,
    left: Mapping[str, int],
    plan: str = "wolflab plan …",
) -> None:
    """Print the forecast's table and its basis. left: see `_Ahead`. plan: the command that prints more."""
    of = counted(expected.games, "game")
    if left.keys() <= {*PARTS}:
        of += f" ({', '.join(f'{n:,} of {part}' for part, n in left.items() if n)})"
    elif len(rehearsal.games) > 1 and LATER_ROUNDS not in rehearsal.games:
        of += f" in {len(rehearsal.games)} conditions"
    if not expected.models:
        say(console, f"{of}, all by built-in players: nothing is asked of a model, and nothing is paid")
        return
    simulated = counted(sum(map(len, rehearsal.games.values())), "simulated game")
    say(console, f"{of}. Forecast with 90 % intervals, from {simulated} of the built-in player:")
    table = Table()
    for head in ("model", "calls", "prompt tokens", "reply tokens", "USD"):
        table.add_column(head, overflow="fold")
    for label, model in expected.models.items():
        calls, written = (model.calls, model.completion) if not model.embeds else (None, None)
        cells = [_in_words(each) for each in (calls, model.prompt, written)]
        table.add_row(label, *cells, _in_words(model.usd, "usd") or "not known")
    if len(expected.models) > 1:
        tokens = f"{_in_words(expected.tokens)} tokens"
        table.add_row("all", _in_words(expected.calls), tokens, "", _usd_in_words(expected))
    console.print(table)
    if expected.hours is not None:
        say(console, f"time: {_in_words(expected.hours, 'hours')}, while nothing else uses these servers")
    guessed = [label for label, model in expected.models.items() if not (model.seen or model.embeds)]
    if guessed:
        whose = guessed[0] if len(guessed) == 1 else f"{len(guessed)} models"
        say(
            console,
            f"No reply of {whose} was seen: how much is written is guessed, how long it takes is not "
            f"known. To know better: {plan} --ask 24 puts 24 prompts to each model (paid for).",
        )


def forecast_in_a_line(expected: RunForecast) -> str:
    """The forecast of a run that is being played, in a line; see `forecast_underway`."""
    parts = [f"{_in_words(expected.calls)} calls", f"{_in_words(expected.tokens)} tokens"]
    parts += [] if expected.usd is None else [_usd_in_words(expected)]
    if expected.hours is not None:
        parts.append(f"{_in_words(expected.hours, 'hours')} for what is left")
    return "; ".join(parts)


def _in_words(amount: Interval90 | None, unit: Literal["large", "usd", "hours"] = "large") -> str:
    """ "12.3 k (9.8 k to 15.0 k)"; "" for None."""
    if amount is None:
        return ""
    each = (amount.low, amount.middle, amount.high)
    low, middle, high = (duration(3600 * n) if unit == "hours" else number(n, unit) for n in each)
    return middle if low == high else f"{middle} ({low} to {high})"


def _usd_in_words(expected: RunForecast) -> str:
    """The costs of all models in words; some may have no price."""
    least = "at least " if any(model.usd is None for model in expected.models.values()) else ""
    return "not known" if expected.usd is None else f"{least}{_in_words(expected.usd, 'usd')}"


_UNSET = {
    "price": "no price, so what it costs is not known",
    "context": "no context, so a prompt that is too long is found out by its server",
    "max_tokens": "no max_tokens, so a long reply can exceed a budget",
}
"""Settings of a model that a forecast or a budget needs, with the words if one is missing."""


def _tell_unset(console: Console, experiment: HasPlayers, settings: Collection[str] = tuple(_UNSET)) -> None:
    """Print which of these settings are missing, with their seats."""
    for setting in settings:
        lacking: dict[str, None] = {}
        for condition in experiment.conditions:
            for place, spec in experiment.cast(condition).items():
                given = spec.model if isinstance(spec.model, dict) else {}
                known = longest_reply(spec) if setting == "max_tokens" else given.get(setting)
                if known is None and (name := model_name(spec)) and is_served(name):
                    lacking[f"{place} ({name})"] = None
        if lacking:
            more = [f"and {len(lacking) - _NAMED} more"] if len(lacking) > _NAMED else []
            say(console, f"{_UNSET[setting]}: {', '.join([*lacking][:_NAMED] + more)}")


# -- a yes where it is much ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Beginning:
    """The forecast at the head of a run. rehearsal: None without a forecast. usd, tokens: amounts that had a
    yes, to be stored with the run; 0 for none.
    """

    rehearsal: Rehearsal | None = None
    usd: float = 0.0
    tokens: float = 0.0

    def keep(self, store: CallStore) -> None:
        """Store the amounts, so that a resumed run does not ask again."""
        for name, value in zip(_AGREED, (self.usd, self.tokens), strict=True):
            if value:
                store.remember(name, repr(value), anew=True)


def forecast_first(
    console: Console,
    experiment: Experiment,
    yes: bool,
    command: str,
    store: Store | None = None,
    planned: Mapping[str, int] | None = None,
    rehearsing: Callable[[Experiment, int, int], Rehearsal] = rehearse,
) -> Beginning:
    """Print what a run will take, and ask before a costly one. ExperimentError if nobody says yes. yes: it
    was given beforehand. command: the command that gives it. store: of a resumed run. planned: see
    `_games_left`. rehearsing: rehearses it.
    """
    ahead = _Ahead.of_run(experiment, store, planned, rehearsing)
    if store is None:
        return _forecast_first(console, ahead, yes, command)
    return _forecast_first(console, ahead, yes, command, store, observed_in, taken_in)


def forecast_training_first(
    console: Console, spec: TrainingSpec, yes: bool, command: str, folder: Path | None = None
) -> Beginning:
    """The same for a training; without a forecast if no model waits. folder: of a resumed one."""
    if not spec.waits:
        return Beginning()
    ahead = _Ahead.of_training(spec, folder)
    if folder is None or (home := calls_of(folder)) is None:
        return _forecast_first(console, ahead, yes, command)
    with CallStore.open_for_reading(home) as store:
        taken = partial(taken_in_training, spec, folder)
        return _forecast_first(console, ahead, yes, command, store, observed_calls, taken)


AnyStore = TypeVar("AnyStore", bound=CallStore)


def _forecast_first(
    console: Console,
    ahead: _Ahead,
    yes: bool,
    command: str,
    store: AnyStore | None = None,
    observed: Callable[[AnyStore], Seen] = lambda store: Seen(),
    taken: Callable[[AnyStore], tuple[CallTotals, CallTotals]] = lambda store: (CallTotals(), CallTotals()),
) -> Beginning:
    """See `forecast_first`. observed, taken: see `observed_in` and `taken_in`."""
    played, budget, away = ahead.played, ahead.played.budget, elsewhere(ahead.played)
    if not servers_of(played) or not any(ahead.left.values()):
        return Beginning()
    try:
        with console.status("Games are rehearsed on the built-in player …"):
            rehearsal = ahead.rehearsed(GAMES // 2, 24)
    except WolflabError as error:
        say(console, f"What this run will take cannot be told: {error}", "yellow")
        if budget == BudgetSpec() and (away or _dearest(played)):
            _agree("an amount that is not known", yes, command)
        return Beginning()
    expected = forecast(rehearsal, ahead.left, Seen() if store is None else observed(store))
    if not expected.models:
        return Beginning(rehearsal)
    _tell_forecast(console, rehearsal, expected, ahead.left)
    if budget != BudgetSpec():
        _tell_unset(console, played, ["max_tokens"])
    over, begun = (CallTotals(), CallTotals()) if store is None else taken(store)
    if begun.calls:
        calls = f"{counted(begun.calls, 'call')}, {begun.usage.tokens:,} tokens"
        say(console, f"Of this, {calls} are on file, of games that were begun, and are not made again.")
    usd = over.usage.cost + (expected.usd.high if expected.usd else 0.0)
    unpriced = [one for one in expected.models.values() if one.usd is None and one.name in away]
    tokens = sum(one.prompt.high + one.completion.high for one in unpriced)
    tokens += over.usage.tokens if unpriced else 0
    usd, tokens = _within(budget, usd, tokens, _dearest(played))
    agreed = [_MARGIN * float((store and store.meta(name)) or 0) for name in _AGREED]
    if not (much := _much(usd, tokens, agreed)):
        return Beginning(rehearsal)
    _agree(much, yes, command)
    return Beginning(rehearsal, usd, tokens)


def forecast_calls(
    console: Console,
    ahead: Sequence[CallsForecast],
    limits: tuple[int | None, float | None],
    yes: bool,
    command: str,
) -> None:
    """Print what calls outside games will take, and ask before costly ones; see `forecast_first`. limits:
    tokens and USD.
    """
    for one in ahead:
        reply = "replies without a limit" if one.reply is None else f"at most {one.reply:,} reply tokens"
        money = "cost not known" if one.usd is None else f"at most {one.usd:,.2f} USD"
        if one.waves and one.usd is not None and one.least_usd is not None:
            money = f"{one.least_usd:,.2f} to {one.usd:,.2f} USD, at the price of batches"
        prompts = f"{counted(one.calls, 'call')}, about {one.prompt:,} prompt tokens"
        if one.least < one.calls:  # some replies may have to be asked for again
            prompts = f"{one.least:,} to {one.calls:,} calls, at most about {one.prompt:,} prompt tokens"
        replies = "" if one.reply == 0 else f", {reply}"  # an embedder gives none
        say(console, f"{one.model}: {prompts}{replies}; {money}")
    if waves := max((one.waves for one in ahead), default=0):
        few = counted(waves, "wave") if waves == 1 else f"1 to {waves} waves"
        say(
            console,
            f"They go to the vendor's batch service in {few}; a wave takes up to 24 hours, usually less",
        )
    usd = sum(one.usd or 0.0 for one in ahead)
    tokens = sum(one.prompt + (one.reply or 0) for one in ahead if one.usd is None and one.elsewhere)
    dearest = max((one.dearest for one in ahead), default=0.0)
    if much := _much(*_within(BudgetSpec(tokens=limits[0], usd=limits[1]), usd, tokens, dearest)):
        _agree(much, yes, command, "--tokens, or --usd and prices")


def _dearest(experiment: HasPlayers) -> float:
    """The highest price of a million tokens in USD, over models and embedders."""
    prices = [model.price for model in playing_models(experiment).values()]
    known = [price for price in (*prices, *embedder_prices(experiment).values()) if price is not None]
    return max((max(price.input, price.output) for price in known), default=0.0)


def _within(budget: BudgetSpec, usd: float, tokens: float, dearest: float) -> tuple[float, float]:
    """These USD and unpriced tokens, limited by a budget. dearest: USD of a million tokens."""
    if budget.usd is not None:
        usd, tokens = min(usd, budget.usd), 0.0
    if budget.tokens is not None:
        usd, tokens = min(usd, budget.tokens * dearest / 1e6), min(tokens, budget.tokens)
    return usd, tokens


def _much(usd: float, tokens: float, agreed: Sequence[float] = (0.0, 0.0)) -> str:
    """The amounts that need a yes, in words; "" for none. agreed: USD and tokens that had a yes."""
    if usd > max(_ASKS_ABOVE_USD, agreed[0]):
        return f"{usd:,.2f} USD"
    if tokens > max(_ASKS_ABOVE_TOKENS, agreed[1]):
        return f"{tokens:,.0f} tokens of models without a price"
    return ""


def _agree(
    much: str, yes: bool, command: str, budget: str = "--set budget.tokens=…, or budget.usd and prices"
) -> None:
    """Raise ExperimentError unless somebody says yes."""
    sentence = f"This may take up to {much}"
    if not confirmed(sentence, "Begin it?", yes):
        raise ExperimentError(f"{sentence}: begin it with {command}, or with a budget: {budget}")
