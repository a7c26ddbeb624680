"""What a run will take, told before it begins: `wolflab plan`, and the head of every run that is paid for."""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from ..errors import ExperimentError, WolflabError
from ..lab.plans.experiment import Experiment
from ..lab.plans.loading import load_experiment
from ..lab.plans.matching import model_name
from ..lab.plans.served import elsewhere, is_served, servers_of
from ..lab.plans.sources import COMMANDS, file_kind
from ..lab.plans.specs import BudgetSpec
from ..lab.runs.casting import Company
from ..lab.runs.forecast import (
    GamesTook,
    Interval90,
    Limits,
    RunForecast,
    Seen,
    ask_some,
    forecast,
    longest_reply,
    seen_in,
    taken_in,
)
from ..lab.runs.one_call import CallsAhead
from ..lab.runs.rehearsal import GAMES, Rehearsed, rehearse
from ..lab.runs.runner import preflight
from ..lab.storage.store import Store
from ..lab.studies.plan import load_study
from .console import say
from .wording import counted, duration

_NAMED = 4
"""Seats that are named one by one."""
_OF_RUNS = "; the run can be resumed", "; raise it and resume the run"
"""What sentences say of going on, where no run was begun."""
ASKS_ABOVE_USD = 10.0
"""A run that may cost more is begun after a yes."""
ASKS_ABOVE_TOKENS = 10_000_000
"""The same where nobody knows what tokens cost."""


def plan_run(
    console: Console, source: str, overrides: Sequence[str], village: bool, games: int, ask: int
) -> None:
    """Tell what an experiment, a tournament or a study will take. ask: so many prompts are put to each model
    first.
    """
    if (kind := file_kind(source)) == "study":
        if overrides or village:
            raise ExperimentError(f"{source} is a study, told as it stands; leave out -o and --village")
        study = load_study(source)
        experiment, planned = study.on_agents, study.expected
    else:
        experiment, planned = load_experiment(source, overrides, village), None
    with console.status("Games are rehearsed on the built-in player …"):
        rehearsed = rehearse(experiment, games, max(ask, 1))
    seen = Seen()
    if ask and any(rehearsed.calls):
        with console.status("The models are asked …"):
            seen, failed = asyncio.run(_ask_models(experiment, rehearsed, ask))
        _tell_asked(console, seen)
        for sentence in failed[:_NAMED]:
            for ending in _OF_RUNS:
                sentence = sentence.removesuffix(ending)
            say(console, f"Not all prompts were answered: {sentence}", "yellow")
        if len(failed) > _NAMED:
            say(console, f"and {len(failed) - _NAMED} more of this kind", "yellow")
    told = forecast_of(experiment, rehearsed, seen, planned=planned)
    words = [source, *(["--village"] if village else [])]
    words += [word for change in overrides for word in ("-o", change)]
    _tell_forecast(console, experiment, rehearsed, told, shlex.join(["wolflab", "plan", *words]))
    _tell_budget(console, experiment, told)
    _tell_unstated(console, experiment)
    say(console, f"Nothing was begun. To begin it: {shlex.join(['wolflab', COMMANDS[kind], *words])}")


async def _ask_models(experiment: Experiment, rehearsed: Rehearsed, most: int) -> tuple[Seen, list[str]]:
    company = Company(experiment)
    try:
        await preflight(company)
        return await ask_some(company, rehearsed, most)
    finally:
        await company.close()


def forecast_of(
    experiment: Experiment,
    rehearsed: Rehearsed,
    seen: Seen,
    over: Mapping[str, int] | None = None,
    planned: Mapping[str, int] | None = None,
) -> RunForecast:
    """See `lab.runs.forecast`. over: condition → so many games count already, and are not to be played.
    planned: condition → games in all, where the experiment does not say it.
    """
    return forecast(rehearsed, _left(experiment, over or {}, planned), Limits.of(experiment), seen)


def forecast_in_the_middle(
    experiment: Experiment, rehearsed: Rehearsed, store: Store
) -> tuple[RunForecast, int] | None:
    """What a run will have taken in the end: what its games that are over took, and a forecast of the others,
    which alone the hours are of. With how many replies it is made of. None where nothing is left to play.
    """
    over = _over_in(store)
    if not any(_left(experiment, over, None).values()):
        return None
    told = forecast_of(experiment, rehearsed, seen_in(store), over)
    return told.with_taken(taken_in(store)[0]), sum(model.seen for model in told.models.values())


def _over_in(store: Store) -> Counter[str]:
    """Condition → games in whose place none is to be played: done, or void where none is drawn again."""
    ends = ("done",) if store.experiment.redraw_void else ("done", "void")
    return Counter(row.condition for row in store.games() if row.status in ends)


def _left(
    experiment: Experiment, over: Mapping[str, int], planned: Mapping[str, int] | None
) -> dict[str, int]:
    """Condition → games that are still to be played."""
    games = planned or {name: len(experiment.places(name)) for name in experiment.conditions}
    return {name: max(0, games[name] - over.get(name, 0)) for name in experiment.conditions}


# -- telling -------------------------------------------------------------------------------------------------


def _tell_asked(console: Console, seen: Seen) -> None:
    """What asking some prompts took."""
    for name, replies in seen.replies.items():
        used = sum(reply.usage.tokens for reply in replies)
        paid = sum(reply.usage.cost for reply in replies)
        bad = sum(reply.again for reply in replies)
        cost = f", {paid:.4f} USD" if paid else ""
        asked = f"{name} was asked {counted(len(replies), 'prompt')}: {used:,} tokens{cost}"
        warn = "yellow" if 2 * bad > len(replies) else ""
        say(console, f"{asked}; {counted(bad, 'reply', 'replies')} could not be used", warn)


def _tell_forecast(
    console: Console,
    experiment: Experiment,
    rehearsed: Rehearsed,
    told: RunForecast,
    plan: str = "wolflab plan …",
) -> None:
    """The table, and what it is made of. plan: the command that tells it."""
    played = sum(map(len, rehearsed.games.values()))
    of = counted(told.games, "game")
    if len(experiment.conditions) > 1:
        of += f" in {len(experiment.conditions)} conditions"
    if not (told.models or told.embedders):
        say(console, f"{of}, all by built-in players: nothing is asked of a model, and nothing is paid")
        return
    on = f"{counted(played, 'game')} rehearsed on the built-in player"
    say(console, f"{of}. What they will take, with a certainty of 90 %, by {on}:")
    table = Table()
    for head in ("model", "calls", "prompt tokens", "reply tokens", "USD"):
        table.add_column(head, overflow="fold")
    for name, model in told.models.items():
        table.add_row(
            name,
            *(span_in_words(span) for span in (model.calls, model.prompt, model.completion)),
            _usd(model.usd),
        )
    for name, texts in told.embedders.items():
        table.add_row(f"{name} (texts)", "", span_in_words(texts.tokens), "", _usd(texts.usd))
    if len(told.models) + len(told.embedders) > 1:
        both = f"{span_in_words(told.tokens)} tokens"
        table.add_row("all", span_in_words(told.calls), both, "", _usd(told.usd, told.unpriced))
    console.print(table)
    if told.hours is not None:
        say(console, f"time: {_hours(told.hours)}, while nothing else uses these servers")
    guessed = [name for name, model in told.models.items() if not model.seen]
    if guessed:
        whose = guessed[0] if len(guessed) == 1 else f"{len(guessed)} models"
        say(
            console,
            f"No reply of {whose} was seen: how much is written is guessed, how long it takes is not "
            f"known. To know better: {plan} --ask 24 puts 24 prompts to each model (paid for).",
        )


def forecast_in_a_line(told: RunForecast) -> str:
    """A forecast in the middle of a run; see `forecast_in_the_middle`."""
    parts = [f"{span_in_words(told.calls)} calls", f"{span_in_words(told.tokens)} tokens"]
    if told.usd is not None:
        parts.append(f"{_usd(told.usd, told.unpriced)} USD")
    if told.hours is not None:
        parts.append(f"{_hours(told.hours)} for what is left")
    return "; ".join(parts)


def span_in_words(span: Interval90) -> str:
    """ "12,300 (9,800 to 15,000)"."""
    low, middle, high = (_rounded(value) for value in span)
    return middle if low == high else f"{middle} ({low} to {high})"


def _hours(hours: Interval90) -> str:
    low, middle, high = (duration(3600 * each) for each in hours)
    return middle if low == high else f"{middle} ({low} to {high})"


def _rounded(value: float) -> str:
    """With three digits that count."""
    if value <= 0:
        return "0"
    if value >= 1e6:
        return f"{float(f'{value / 1e6:.3g}'):,g} M"
    return f"{float(f'{value:.3g}'):,.0f}" if value >= 100 else f"{value:.3g}"


def _usd(span: Interval90 | None, unpriced: Sequence[str] = ()) -> str:
    if span is None:
        return "not known"
    return f"at least {span_in_words(span)}" if unpriced else span_in_words(span)


def _tell_budget(console: Console, experiment: Experiment, told: RunForecast) -> None:
    """A budget that will not do."""
    budget = experiment.budget
    if budget.usd is not None and told.usd is not None and told.usd.middle > budget.usd:
        say(
            console,
            f"The budget of {budget.usd:g} USD is less: the run will stop there.",
            "yellow",
        )
    if budget.tokens is not None and told.tokens.middle > budget.tokens:
        say(console, f"The budget of {budget.tokens:,} tokens is less: the run will stop there.", "yellow")


_UNSTATED = {
    "price": "no price, so what it costs is not known",
    "context": "no context, so a prompt that is too long is found out by its server",
    "max_tokens": "no max_tokens, so a long reply can exceed a budget",
}
"""Settings of a model that a forecast or a budget would need, and what is told without."""


def _tell_unstated(
    console: Console, experiment: Experiment, settings: Collection[str] = tuple(_UNSTATED)
) -> None:
    """Which of these settings nobody has set, with the seats."""
    seats: dict[str, dict[str, None]] = {setting: {} for setting in settings}
    for condition in experiment.conditions:
        for place, spec in experiment.cast(condition).items():
            given = spec.model if isinstance(spec.model, dict) else {}
            if (name := model_name(spec)) and is_served(name):
                for setting in settings:
                    known = longest_reply(spec) if setting == "max_tokens" else given.get(setting)
                    if known is None:
                        seats[setting][f"{place} ({name})"] = None
    for setting, lacking in seats.items():
        if lacking:
            named = [*lacking][:_NAMED] + (
                [f"and {len(lacking) - _NAMED} more"] if len(lacking) > _NAMED else []
            )
            say(console, f"{_UNSTATED[setting]}: {', '.join(named)}")


# -- before a run begins -------------------------------------------------------------------------------------

_ALLOWED = "allowed usd", "allowed tokens"
"""Under which a run keeps to what somebody has said yes."""
_NOTHING = GamesTook(0, 0, 0.0)
_MARGIN = 1.5
"""A yes holds up to so many times what was told: forecasts change while a run goes on."""


@dataclass(frozen=True)
class Beginning:
    """What was told at the head of a run. rehearsed: None where nothing was, or could be, told. usd, tokens:
    that a yes was said to, to be kept with the run; 0 for none.
    """

    rehearsed: Rehearsed | None = None
    usd: float = 0.0
    tokens: float = 0.0

    def keep(self, store: Store) -> None:
        """So that a run that goes on is not asked for again."""
        for name, value in zip(_ALLOWED, (self.usd, self.tokens), strict=True):
            if value:
                store.remember(name, repr(value), anew=True)


def forecast_first(
    console: Console,
    experiment: Experiment,
    yes: bool,
    command: str,
    store: Store | None = None,
    planned: Mapping[str, int] | None = None,
) -> Beginning:
    """Tell what a run will take, and ask whether to begin it where that is much.

    ExperimentError where nobody says yes. yes: it was said beforehand. command: with which that is said.
    store: of a run that goes on. planned: see `forecast_of`.
    """
    over = Counter[str]() if store is None else _over_in(store)
    left = any(_left(experiment, over, planned).values())
    if not servers_of(experiment) or not left:
        return Beginning()
    seen = Seen() if store is None else seen_in(store)
    try:
        with console.status("Games are rehearsed on the built-in player …"):
            rehearsed = rehearse(experiment, GAMES // 2)
    except WolflabError as error:
        say(console, f"What this run will take cannot be told: {error}", "yellow")
        if _unbounded(experiment) and not yes:
            _ask(console, "an amount that is not known", command)
        return Beginning()
    told = forecast_of(experiment, rehearsed, seen, over, planned)
    if not (told.models or told.embedders):
        return Beginning(rehearsed)
    _tell_forecast(console, experiment, rehearsed, told)
    if experiment.budget != BudgetSpec():
        _tell_unstated(console, experiment, ["max_tokens"])
    had, begun = (_NOTHING, _NOTHING) if store is None else taken_in(store)
    if begun.calls:
        calls = f"{counted(begun.calls, 'call')}, {begun.tokens:,} tokens"
        say(console, f"Of this, {calls} are on file, of games that were begun, and are not made again.")
    usd, tokens = _most(experiment, rehearsed, told, had)
    allowed = [_MARGIN * float((store and store.meta(name)) or 0) for name in _ALLOWED]
    if not (much := _much(usd, tokens, allowed)):
        return Beginning(rehearsed)
    if not yes:
        _ask(console, much, command)
    return Beginning(rehearsed, usd, tokens)


def calls_first(
    console: Console,
    ahead: Sequence[CallsAhead],
    limits: tuple[int | None, float | None],
    yes: bool,
    command: str,
) -> None:
    """Tell what calls outside games will take, and ask where that is much; see `forecast_first`. limits:
    tokens and USD.
    """
    for one in ahead:
        reply = "replies without a limit" if one.reply is None else f"at most {one.reply:,} reply tokens"
        money = "cost not known" if one.usd is None else f"at most {one.usd:,.2f} USD"
        prompts = f"{counted(one.calls, 'call')}, about {one.prompt:,} prompt tokens"
        if one.least < one.calls:  # replies may have to be asked for again
            prompts = f"{one.least:,} to {one.calls:,} calls, at most about {one.prompt:,} prompt tokens"
        say(console, f"{one.model}: {prompts}, {reply}; {money}")
    usd = sum(one.usd or 0.0 for one in ahead)
    tokens = sum(one.prompt + (one.reply or 0) for one in ahead if one.usd is None and one.elsewhere)
    dearest = max((one.dearest for one in ahead), default=0.0)
    budget = BudgetSpec(tokens=limits[0], usd=limits[1])
    if (much := _much(*_within(budget, usd, tokens, dearest))) and not yes:
        _ask(console, much, command, "--tokens, or --usd and prices")


def _much(usd: float, tokens: float, allowed: Sequence[float] = (0.0, 0.0)) -> str:
    """What a yes is needed for, in words; "" where none is. allowed: USD and tokens that had a yes."""
    if usd > max(ASKS_ABOVE_USD, allowed[0]):
        return f"{usd:,.2f} USD"
    if tokens > max(ASKS_ABOVE_TOKENS, allowed[1]):
        return f"{_rounded(tokens)} tokens of models without a price"
    return ""


def _within(budget: BudgetSpec, usd: float, tokens: float, dearest: float) -> tuple[float, float]:
    """USD, and tokens without a price, that a budget leaves of these. dearest: USD of a million tokens."""
    if budget.usd is not None:
        usd, tokens = min(usd, budget.usd), 0.0
    if budget.tokens is not None:
        usd, tokens = min(usd, budget.tokens * dearest / 1e6), min(tokens, budget.tokens)
    return usd, tokens


def _dearest(limits: Limits) -> float:
    """USD of a million of the dearest tokens, of models and embedders."""
    prices = (*limits.prices.values(), *limits.texts.values())
    return max((max(price.input, price.output) for price in prices if price is not None), default=0.0)


def _unbounded(experiment: Experiment) -> bool:
    """Whether nothing bounds what somebody has to pay."""
    budget = experiment.budget
    paid = bool(elsewhere(experiment)) or _dearest(Limits.of(experiment)) > 0
    return paid and budget.usd is None and budget.tokens is None


def _most(
    experiment: Experiment, rehearsed: Rehearsed, told: RunForecast, had: GamesTook
) -> tuple[float, float]:
    """USD, and tokens of models elsewhere whose price nobody knows, that a run takes at most with what it has
    taken, with 95 %, or by its budgets. had: what its games that are over have taken.
    """
    names = elsewhere(experiment)
    usd = had.usd + (0.0 if told.usd is None else told.usd.high)
    unpriced = [
        model for label, model in told.models.items() if model.usd is None and rehearsed.names[label] in names
    ]
    texts = [one for name, one in told.embedders.items() if one.usd is None and name in names]
    tokens = sum(model.prompt.high + model.completion.high for model in unpriced)
    tokens += sum(one.tokens.high for one in texts)
    tokens += had.tokens if unpriced or texts else 0
    return _within(experiment.budget, usd, tokens, _dearest(Limits.of(experiment)))


def _ask(
    console: Console, much: str, command: str, budget: str = "-o budget.tokens=…, or budget.usd and prices"
) -> None:
    sentence = f"This may take up to {much}"
    hint = f"begin it with {command}, or with a budget: {budget}"
    if sys.stdin is None or not sys.stdin.isatty():
        raise ExperimentError(f"{sentence}: {hint}")
    say(console, f"{sentence}. Begin it? [y/N]", "bold")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise ExperimentError(f"not begun; {hint}")
