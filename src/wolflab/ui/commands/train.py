"""`wolflab train` and `wolflab exploit`: progress, verdict, and a page with the learning curve."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Annotated, Any, Self

import typer
from rich.console import Console
from rich.markup import escape as plain
from rich.progress import TaskID
from rich.table import Table

from ...errors import BudgetExceeded, ModelError, ServerError, Stopped, StoreError
from ...files import write
from ...lab.plans.overrides import embedder_given
from ...lab.plans.sources import checking
from ...lab.plans.specs import BudgetSpec
from ...lab.runs.batch import CallsForecast
from ...lab.runs.runner import play_run
from ...lab.storage.overview import RunOverview
from ...lab.storage.run_files import LEARNED_FROM, TRAINING, held
from ...lab.training.embedding import EmbeddingWatcher, check_embedder
from ...lab.training.files import (
    MISSING,
    POLICY,
    RateGain,
    Result,
    SideResult,
    available,
    judged,
    log_of,
    seed_folder,
    training_result,
)
from ...lab.training.learning import FEWEST_EFFECTIVE, LearnedFrom, learn_from, read_learned
from ...lab.training.rounds import (
    RoundsSpec,
    begin_round,
    end_rounds,
    is_in_rounds,
    learn_round,
    learned_after,
    load_rounds,
    policy_after,
    rehearse_rounds,
    round_folder,
    rounds_in,
    start_rounds,
)
from ...lab.training.run import TrainingStep, run_training, start_training, training_in
from ...lab.training.training_plan import TrainingSpec, best_response, load_training, side_of, target_of
from ...lab.training.waiting_games import calls_of, open_calls
from ...metrics.behaviours import SIDES, SideName
from ...stats.intervals import Estimate
from ..report import prose
from ..report.figures import Chart, ChartLine, Picture, curves, on_page
from ..report.report_page import page
from ..report.report_table import ReportTable
from ..terminal.alarm import WatchedStore
from ..terminal.console import ExitCode, console, print_json, say
from ..terminal.forecast import Beginning, forecast_calls, forecast_first, forecast_training_first
from ..terminal.tables import print_fitted
from ..wording import counted
from .common import (
    bar,
    begin_output,
    command_with_yes,
    play_games,
    preflight_models,
    prepare_resume,
    print_reasons,
    resumed,
    set_resume_command,
)
from .options import AsJson, Out, Set, Yes, check_alone, commands
from .run_names import GAMES, TRAININGS, named
from .status import show_progress, took_in_words

ResumedTraining = Annotated[
    Path | None, typer.Option(help="Resume this training where it stopped.", callback=named([TRAINING]))
]
ShownTraining = Annotated[
    Path | None, typer.Option(help="Only show this run's curve and results.", callback=named(TRAININGS))
]
RecordedRuns = Annotated[
    list[Path],
    typer.Option(
        "--from",
        help="Learn from the recorded games of this run instead (repeatable).",
        callback=named(GAMES),
    ),
]
PAGE, CURVE = "training.html", "curve.svg"
_MANY_UNUSABLE = 0.3
"""Above this share of unusable replies a training says so."""
_POINTS = 40
"""The most points of a line; further updates are averaged."""


@commands.command(
    "train",
    epilog="Examples:  `wolflab train train-small`  ·  "
    "`wolflab train my.yaml --seed 4 --set training.updates=20`  ·  "
    "`wolflab train --resume runs/…`  ·  `wolflab train --show runs/…`",
)
def train(
    context: typer.Context,
    experiment: Annotated[
        str | None,
        typer.Argument(help="A YAML file, or the name of a shipped training."),
    ] = None,
    seed: Annotated[list[int], typer.Option(help="Instead of the file's seeds (repeatable).")] = [],
    set_: Set = [],
    out: Out = None,
    resume: ResumedTraining = None,
    show: ShownTraining = None,
    from_: RecordedRuns = [],
    embedder: Annotated[str, typer.Option(help="With --from: what the policy reads texts with.")] = "hashing",
    tokens: Annotated[
        int | None, typer.Option(help="With --from: budget of tokens for the embedder.")
    ] = None,
    usd: Annotated[
        float | None, typer.Option(help="With --from: budget of USD; the embedder needs a price.")
    ] = None,
    yes: Yes = False,
    json: AsJson = False,
) -> None:
    """Train the policy of a strategic player, then judge it on held-out deals."""
    screen = console()
    if (experiment is not None) + (resume is not None) + (show is not None) + bool(from_) != 1:
        raise typer.BadParameter(
            "name a training, or --resume or --show a run, or --from finished runs; one of the four"
        )
    if from_:
        _check_learning(context)
        _learn(screen, from_, out, embedder, (tokens, usd), yes)
        return
    for name in ("embedder", "tokens", "usd"):
        if (source := context.get_parameter_source(name)) is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter(f"--{name} goes with --from; a training's file names its own")
    check_alone(context, ("yes",))
    if experiment is not None and is_in_rounds(experiment):
        if seed:
            raise typer.BadParameter("a training in rounds has one seed: --set seed=4")
        spec = load_rounds(experiment, set_)
        _begin_rounds(screen, spec, yes)
        raise typer.Exit(_play_rounds(screen, start_rounds(spec, out), spec, yes))
    if resume is not None and (spec_there := rounds_in(resume)) is not None:
        raise typer.Exit(_play_rounds(screen, resume, spec_there, yes))
    if show is not None:
        _show(screen, show)
        return
    if experiment is not None:
        changes = [*set_, f"seeds={seed}"] if seed else set_
        raise typer.Exit(_begin(screen, load_training(experiment, changes), out, yes))
    assert resume is not None
    raise typer.Exit(_resume(screen, resume, yes))


@commands.command(
    "exploit",
    epilog="Examples:  `wolflab exploit deductive-004 --side werewolves`  ·  "
    "`wolflab exploit small --side village --updates 100`",
)
def exploit(
    context: typer.Context,
    target: Annotated[
        str | None,
        typer.Argument(
            help="Whom to exploit: a recipe, a script, a shipped policy or the file of one; NAME@MODEL."
        ),
    ] = None,
    side: Annotated[str, typer.Option(help="The side that learns: village or werewolves.")] = "werewolves",
    updates: Annotated[int, typer.Option(help="The budget: updates of the best response.")] = 30,
    episodes: Annotated[int, typer.Option(help="… and games for each of them.")] = 512,
    deals: Annotated[int, typer.Option(help="Held-out deals that it is judged on.")] = 1000,
    seed: Annotated[list[int], typer.Option(help="One best response each (repeatable).")] = [1],
    set_: Set = [],
    out: Out = None,
    resume: ResumedTraining = None,
    yes: Yes = False,
    json: AsJson = False,
) -> None:
    """Train a best response against a frozen player: a lower bound of how far it can be exploited."""
    if (target is None) == (resume is None):
        raise typer.BadParameter("name a player to exploit, or --resume a run; one of the two")
    check_alone(context, ("yes",))
    if resume is not None and rounds_in(resume) is not None:
        raise StoreError(f"{resume} is a training in rounds; go on with: {resumed('train', resume)}")
    if target is not None:
        given: dict[str, Any] = {
            "title": f"A best response to {target} on the {side} side",
            "training": {"updates": updates, "rollouts": {"episodes": episodes}},
            "evaluation": {"final": deals, "scripts": deals * 3 // 2},
            "seeds": seed,
        }
        made = best_response(target_of(target), side_of(side), given, set_)
        raise typer.Exit(_begin(console(), made, out, yes))
    assert resume is not None
    raise typer.Exit(_resume(console(), resume, yes))


def _show(console: Console, folder: Path) -> None:
    """Print the results of a training, or of what was learned from recorded games."""
    if (folder / LEARNED_FROM).is_file():
        found = read_learned(folder / LEARNED_FROM)
        show_learned(console, found)
        _print_learned([found])
    elif (spec := rounds_in(folder)) is None:
        show_training(console, folder)
    else:
        done = [learned_after(folder, number) for number in range(1, spec.rounds + 1)]
        if known := [numbers for numbers in done if numbers.is_file()]:
            show_learned(console, read_learned(known[-1]))
        _print_learned([read_learned(numbers) for numbers in known])
        show_progress(console, folder)


def _check_learning(context: typer.Context) -> None:
    """Refuse flags that learning from recorded games would ignore."""
    for name in ("seed", "set_"):
        if context.params[name]:
            raise typer.BadParameter(
                f"--from takes no {'--seed' if name == 'seed' else '--set'}: nothing is drawn"
            )


class _EmbeddingView(EmbeddingWatcher):
    """Embedding in the terminal. limits: tokens and USD. again: the command that goes on. named: it names the
    folder.
    """

    def __init__(
        self,
        console: Console,
        limits: tuple[int | None, float | None],
        yes: bool,
        again: str,
        named: bool = True,
    ) -> None:
        self.again = again
        self._console, self._limits, self._yes, self._named = console, limits, yes, named
        self._bar = bar(console)
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def ahead(self, calls: Sequence[CallsForecast]) -> None:
        """See `BatchWatcher`."""
        forecast_calls(self._console, calls, self._limits, self._yes, command_with_yes())

    def begun(self, path: Path) -> None:
        """See `BatchWatcher`."""
        if not self._named:
            self.again += f" --out {shlex.quote(str(path))}"
        set_resume_command(self.again)

    def news(self, words: str) -> None:
        """See `EmbeddingWatcher`."""
        say(self._console, words, "yellow")

    def progress(self, who: str, over: int, planned: int) -> None:
        """See `BatchWatcher`."""
        if self._task is None:
            self._bar.start()
            self._task = self._bar.add_task(who, total=planned)
        self._bar.update(self._task, completed=over)

    def stopped(self, error: ModelError) -> ExitCode:
        """Print why embedding stopped, and how to go on."""
        self._bar.stop()
        say(self._console, f"{error}. What was embedded is kept; go on with: {self.again}", "yellow")
        return ExitCode.NOT_OVER


def _learn(
    console: Console,
    runs: Sequence[Path],
    out: Path | None,
    embedder: str,
    limits: tuple[int | None, float | None],
    yes: bool,
) -> None:
    """Learn from recorded games, and print what that gains."""
    spec, again = embedder_given(embedder), shlex.join(["wolflab", *sys.argv[1:]])
    with checking("--tokens, --usd", BudgetSpec):
        BudgetSpec(tokens=limits[0], usd=limits[1])
    with _EmbeddingView(console, limits, yes, again, out is not None) as view:
        try:
            found = learn_from(runs, out, spec, limits=limits, watcher=view)
        except (ServerError, BudgetExceeded) as error:
            raise typer.Exit(view.stopped(error)) from None
    show_learned(console, found)
    _print_learned([found])


def _print_learned(found: Sequence[LearnedFrom]) -> None:
    """Print what was learned as JSON if that is wanted: a row for each time, or each round."""
    print_json({"learned": [{**asdict(one), "policy": str(one.policy)} for one in found]})


def _points(gain: Estimate) -> tuple[str, str]:
    """A gain and its interval, in points."""
    value = "–" if gain.value is None else f"{100 * gain.value:+.2f}"
    if gain.low is None or gain.high is None:
        return value, "–"
    return value, f"{100 * gain.low:+.1f} to {100 * gain.high:+.1f}"


def show_learned(console: Console, found: LearnedFrom) -> None:
    """Print what was learned from recorded games, and what that gains."""
    rows = [
        [f"{row.who}: {row.where}", *_points(row.gain), f"{row.gain.n:,}", f"{row.choices:.1f}"]
        for row in found.gains
    ]
    title = "Gain of one choice over the player's own, in points of the win rate, on other deals"
    heads = ("who chooses: where", "gain", "95 %", "choices", "a game")
    print_fitted(console, title, heads, rows)
    left = "; ".join(f"{reason}: {n:,}" for reason, n in found.left_out.items())
    said = [
        f"Learned from {found.choices:,} choices of {found.games:,} games, {found.deals:,} deals, among "
        f"candidates of {', '.join(found.models)}.",
        *([f"Left out: {left}."] if left else []),
        *_weights_in_words(found),
        *(
            ["All these games ended alike, so that the policy imitates its player."]
            if found.won in (0, 1)
            else []
        ),
        "An interval that holds 0 shows no gain. Only games tell whether the policy wins more: let it play.",
        f"Policy: {found.policy}",
    ]
    for line in said:
        console.print(plain(line), highlight=False, soft_wrap=True)


def _weights_in_words(found: LearnedFrom) -> list[str]:
    """Sentences on clipped weights, and on whole games."""
    said = []
    if found.clipped:
        by = "; ".join(f"{who}: {n:,}" for who, n in found.clipped.items())
        said.append(f"Importance weights above {found.clipped_at:g} were clipped, in so many choices: {by}.")
    for games in found.whole_games:
        of = f"of {games.games:,} games of the {games.where} {games.effective:.1f} would count"
        if games.gain is None:
            said.append(f"Whole games are not weighted: {of}, and at least {FEWEST_EFFECTIVE} are needed.")
        else:
            value, ends = _points(games.gain)
            said.append(f"In whole games, as learned, on other deals: {value} points ({ends}); {of}.")
    return said


def _begin_rounds(console: Console, spec: RoundsSpec, yes: bool) -> None:
    """Try the models, and print what all rounds will take; ask before a costly training."""
    preflight_models(spec.round(1, None))
    check_embedder(spec.embedder)
    with spec.ahead() as (experiment, games):
        forecast_first(console, experiment, yes, command_with_yes(), None, games, rehearse_rounds)


def _play_rounds(console: Console, folder: Path, spec: RoundsSpec, yes: bool) -> ExitCode:
    """Play and learn the rounds that are left."""
    with held(folder):
        for number in range(1, spec.rounds + 1):
            if policy_after(folder, number).exists():
                continue
            run = round_folder(folder, number)
            if run.exists():
                store = WatchedStore.resume(run)
                left = begin_round(spec, folder, number).budget
                changes = [f"budget.{name}={value}" for name, value in left if value is not None]
                beginning = prepare_resume(console, store, changes, yes)[0]
            else:
                store = WatchedStore.create(run, begin_round(spec, folder, number))
                beginning = Beginning()
            with store:
                begin_output(console, "train", store.experiment.title, folder)
                if not play_games(console, store, play_run, beginning, False, False):
                    print_reasons(console, [row for row in store.games() if not row.over])
                    budget = f", with a higher budget in {folder / TRAINING} if it is spent"
                    again = f"Some games are not over. Go on with: {resumed('train', folder)}{budget}"
                    console.print(plain(again), highlight=False, soft_wrap=True)
                    return ExitCode.NOT_OVER
            limits = spec.budget.tokens, spec.budget.usd
            with _EmbeddingView(console, limits, yes, resumed("train", folder)) as view:
                try:
                    found = learn_round(spec, folder, number, view)
                except (ServerError, BudgetExceeded) as error:
                    return view.stopped(error)
            show_learned(console, found)
        last = end_rounds(spec, folder)
    rounds = range(1, spec.rounds + 1)
    _print_learned([read_learned(learned_after(folder, number)) for number in rounds])
    console.print(f"Policy of all rounds: {plain(str(last))}", highlight=False, soft_wrap=True)
    return ExitCode.DONE


def _begin(console: Console, spec: TrainingSpec, out: Path | None, yes: bool) -> ExitCode:
    """Start a training, and run it."""
    beginning = forecast_training_first(console, spec, yes, command_with_yes())
    return _run(console, start_training(spec, out), beginning)


def _resume(console: Console, folder: Path, yes: bool) -> ExitCode:
    """Resume a training."""
    beginning = forecast_training_first(console, training_in(folder), yes, command_with_yes(), folder)
    return _run(console, folder, beginning)


def _run(console: Console, folder: Path, beginning: Beginning) -> ExitCode:
    if beginning.usd or beginning.tokens:
        with open_calls(folder) as store:
            beginning.keep(store)
    experiment = training_in(folder)
    command = "train" if experiment.opponent is None else "exploit"
    begin_output(console, command, experiment.title or experiment.name, folder)
    if not available():
        console.print(MISSING, highlight=False, soft_wrap=True, markup=False)
    updates = experiment.training.updates
    with bar(console) as shown:
        done = [len(log_of(seed_folder(folder, seed))) for seed in experiment.seeds]
        first = "cloning" if experiment.start is None else "first look"
        step_now = "updates" if any(done) else first
        task = shown.add_task(
            step_now,
            total=updates * len(experiment.seeds),
            completed=sum(max(0, lines - 1) for lines in done),
        )

        def watch(step: TrainingStep) -> None:
            nonlocal step_now
            if step.what == "update":
                shown.advance(task)
            last = "last look" if step.update == step.updates else "updates"
            step_now = first if step.what == "final" else last
            shown.update(task, description=step_now)
            look = _evaluation_line(step)
            if look:
                shown.console.print(look, highlight=False)
            if (unusable := step.line.get("unusable/replies", 0.0)) > _MANY_UNUSABLE:
                said = f"{unusable:.0%} of the replies could not be used"
                say(shown.console, f"seed {step.seed}, update {step.update}: {said}", "yellow")

        def games(over: int, planned: int, news: str) -> None:
            if news:
                say(shown.console, news, "yellow")
            elif planned:
                shown.update(task, description=f"{step_now}: {over:,} of {planned:,} games")

        try:
            run_training(folder, watch, games)
        except Stopped as stop:
            limits = f", with a higher budget in {folder / TRAINING} if it is spent"
            say(console, f"{stop}. Go on with: {resumed(command, folder)}{limits}")
            return ExitCode.NOT_OVER
    show_training(console, folder)
    return ExitCode.DONE


def _evaluation_line(step: TrainingStep) -> str:
    """A line for an evaluation on held-out deals; "" for any other update."""
    line = step.line
    parts = [
        f"{side} {how} {line[at]:.3f} ({line[f'{at}/gain/value']:+.3f})"
        for side in SIDES
        for how, name in _LOOKS.items()
        if (at := f"evaluation/{side}{name}") in line
    ]
    return f"seed {step.seed}, update {step.update}: {', '.join(parts)}" if parts else ""


def show_training(console: Console, folder: Path) -> None:
    """Print the verdicts and write the run's page."""
    experiment = training_in(folder)
    logs = {seed: log_of(seed_folder(folder, seed)) for seed in experiment.seeds}
    if not any(logs.values()):
        raise StoreError(
            f"{folder}: nothing has been trained yet; go on with: wolflab train --resume {folder}"
        )
    results = {seed: training_result(seed_folder(folder, seed)) for seed in experiment.seeds}
    print_json({"seeds": [{"seed": seed, "result": result} for seed, result in results.items()]})
    for side in SIDES:
        rows = _rows(experiment, side, results)
        if rows:
            console.print(_table(experiment, side, rows))
        beside = _beside_scripts(side, results)
        if beside:
            print_fitted(console, f"Gain over scripts as {side}", _SCRIPT_HEADS, beside)
    if said := _scripts_in_words(results):
        console.print(said, highlight=False, soft_wrap=True)
    if _bounds(experiment) and any(results.values()):
        console.print(_NEVER_BELOW, highlight=False, soft_wrap=True)
    console.print(f"Budget: {plain(_budget(experiment))}", highlight=False, soft_wrap=True)
    if (calls := calls_of(folder)) is not None:
        with RunOverview.open_for_reading(calls) as overview:
            say(console, f"Calls: {took_in_words(overview)}")
    drawn = curve(logs)
    write(folder / PAGE, render_training(experiment, drawn, logs, results).encode())
    if drawn is not None:
        drawn.save(folder / CURVE)
    console.print(f"Curve: {plain(str(folder / PAGE))}", highlight=False, soft_wrap=True)
    for seed in experiment.seeds:
        file = seed_folder(folder, seed) / POLICY
        if file.exists():
            console.print(f"Policy of seed {seed}: {plain(str(file))}", highlight=False, soft_wrap=True)


def _budget(experiment: TrainingSpec) -> str:
    """A training's budget in words. A best response is only as good as this."""
    made = experiment.training
    first = (
        f"cloning of {counted(made.cloning.episodes, 'game')}, {counted(made.cloning.epochs, 'time')} over"
        if experiment.start is None
        else f"begun at {experiment.start}"
    )
    updates, games = counted(made.updates, "update"), counted(made.rollouts.episodes, "game")
    return f"{updates} of {games}, {first}; for each seed"


def _bounds(experiment: TrainingSpec) -> bool:
    """Whether gains are measured against the target itself, and so bound how far it can be exploited."""
    return experiment.opponent is not None and experiment.evaluation.baseline is None


_NEVER_BELOW = (
    "Lower bound: the target can be exploited by at least so much, and by more if a better response exists. "
    "It is never below 0, since a copy of the target loses nothing: a best response that gains less than 0 "
    "has found nothing at this budget."
)


def _heads(experiment: TrainingSpec) -> list[str]:
    learner = "learner" if experiment.opponent is None else "best response"
    bounds = _bounds(experiment)
    heads = ["seed", "picks", learner, "target itself" if bounds else "baseline", "gain", "95 %"]
    return [*heads, *(["lower bound"] if bounds else []), "deals"]


def _rows(experiment: TrainingSpec, side: SideName, results: Mapping[int, Result]) -> list[list[str]]:
    """Two verdicts for each seed on one side: by a draw from π, and by the likeliest candidate."""
    return [
        [str(seed), how, *_cells(side_result, verdict["baseline"], _bounds(experiment))]
        for seed, result in results.items()
        if (verdict := result.get(side)) is not None
        for how, side_result in judged(verdict).items()
    ]


def _cells(side_result: SideResult, baseline: float, bounds: bool) -> list[str]:
    gain = side_result["gain"]
    value = gain["value"]
    bound = ["–" if value is None else f"{max(value, 0):.3f}"] if bounds else []
    wins = [f"{side_result['learner']:.3f}", f"{baseline:.3f}"]
    return [*wins, *_gain_cells(gain), *bound, str(gain["n"])]


def _gain_cells(gain: RateGain) -> list[str]:
    """A gain and its interval."""
    value, low, high = gain["value"], gain["low"], gain["high"]
    ends = "–" if low is None or high is None else f"{low:+.3f} to {high:+.3f}"
    return ["–" if value is None else f"{value:+.3f}", ends]


_SCRIPT_HEADS = ("seed: best", "it wins", "picks", "gain", "95 %")


def _beside_scripts(side: SideName, results: Mapping[int, Result]) -> list[list[str]]:
    """The gains over the best script and over the best position on one side, where they were measured."""
    rows = []
    for seed, result in results.items():
        if (verdict := result.get(side)) is not None and (beside := verdict.get("scripts")) is not None:
            for called, script in (("script", beside["script"]), ("position", beside["position"])):
                for how, one in script["learner"].items():
                    wins, gain = f"{script['wins']:.3f}", one["gain"]
                    rows.append([f"{seed}: {called} {script['name']}", wins, how, *_gain_cells(gain)])
    return rows


def _scripts_in_words(results: Mapping[int, Result]) -> str:
    """How the scripts were chosen and judged; "" if there were none."""
    for verdict in (verdict for result in results.values() for verdict in result.values()):
        if (beside := verdict.get("scripts")) is not None:
            deals = beside["script"]["gain"]["n"]
            few = "" if deals >= _ENOUGH else f" These are few: use {_ENOUGH:,} to see gains of a few points."
            return (
                f"The best script and the best position (docs/policy.md, Scripts) were chosen on "
                f"{counted(beside['chosen_on'], 'deal')}, and are judged on {deals:,} others.{few}"
            )
    return ""


_ENOUGH = 1500
"""Deals at which the interval of a gain reaches about 3 points to either side."""


def _table(experiment: TrainingSpec, side: SideName, rows: Sequence[Sequence[str]]) -> Table:
    shown = Table(title=f"Win rate as {side}, on held-out deals")
    for head in _heads(experiment):
        shown.add_column(head, justify="right", no_wrap=head == "picks")
    for row in rows:
        shown.add_row(*row)
    return shown


# -- the page -----------------------------------------------------------------------------------


def render_training(
    experiment: TrainingSpec,
    drawn: Picture | None,
    logs: Mapping[int, Sequence[Mapping[str, float]]],
    results: Mapping[int, Result],
) -> str:
    """The training as one self-contained page. drawn: its `curve`."""
    title = experiment.title or experiment.name
    figure = "<p>No looks yet.</p>" if drawn is None else on_page(drawn, _CAPTION).html
    sub = f'<p class="sub">{escape(experiment.source)}</p>'
    banner = prose.BANNER if experiment.built_in else ""
    return page(
        title,
        f'<header class="top"><div><h1>{escape(title)}</h1>{sub}</div></header>\n'
        f"{banner}\n<section><h2>Verdict</h2>{_verdict(experiment, results)}</section>\n"
        f"<section><h2>Curve</h2>{figure}</section>\n"
        f"<section><h2>Last update</h2>{_last(logs, experiment.built_in)}</section>\n"
        f"<section><h2>What was trained</h2><p>{escape(_budget(experiment))}.</p>"
        f"<pre tabindex=0>{escape(experiment.written())}</pre></section>\n",
    )


_CAPTION = (
    "Gain: win rate on held-out deals less the baseline's on the same ones, with 95 % intervals. Sampled: "
    "the learner draws from π, as in training; likeliest: it takes the likeliest candidate. The other panels "
    "are means over the updates between two points."
)


def _verdict(experiment: TrainingSpec, results: Mapping[int, Result]) -> str:
    rows = [[side, *row] for side in SIDES for row in _rows(experiment, side, results)]
    if not rows:
        return "<p>The last look at held-out deals is still to come.</p>"
    caption, checks = "Win rates on held-out deals, at the end", experiment.built_in
    shown = ReportTable(caption, ("side", *_heads(experiment)), rows, instrument=checks, left=[0, 2]).html
    beside = [[side, *row] for side in SIDES for row in _beside_scripts(side, results)]
    if beside:
        caption = "Gains over the best script and the best position, on held-out deals"
        heads = ("side", *_SCRIPT_HEADS)
        shown += ReportTable(caption, heads, beside, instrument=checks, left=[0, 1, 3]).html
        shown += f"<p>{escape(_scripts_in_words(results))}</p>" + _tried(results, checks)
    return shown + (f"<p>{_NEVER_BELOW}</p>" if _bounds(experiment) else "")


def _tried(results: Mapping[int, Result], instrument: bool) -> str:
    """The win rates by which the best scripts were chosen: the same for all seeds."""
    tried = {
        side: one["scripts"]["tried"]
        for result in results.values()
        for side, one in result.items()
        if "scripts" in one
    }
    names = next(iter(tried.values()))
    rows = [[name, *(f"{rates[name]:.3f}" for rates in tried.values())] for name in names]
    heads = ("script", *(f"wins as {side}" for side in tried))
    return ReportTable("All scripts, on the deals of the choice", heads, rows, instrument=instrument).html


def _last(logs: Mapping[int, Sequence[Mapping[str, float]]], instrument: bool) -> str:
    ends = {seed: lines[-1] for seed, lines in logs.items() if lines}
    names = sorted({name for line in ends.values() for name in line})
    rows = [
        [name, *(f"{line[name]:.4g}" if name in line else "–" for line in ends.values())] for name in names
    ]
    heads = ("", *(f"seed {seed}" for seed in ends))
    return ReportTable("What the log says of the last update", heads, rows, instrument=instrument).html


def curve(logs: Mapping[int, Sequence[Mapping[str, float]]]) -> Picture | None:
    """The learning curve with a line for each seed; None if there is nothing to draw."""
    charts = []
    looks = {
        f"evaluation/{side}{name}": f"Gain as {side}, {how}" for side in SIDES for how, name in _LOOKS.items()
    }
    for at, title in looks.items():
        if any(at in line for lines in logs.values() for line in lines):
            charts.append(Chart(title, tuple(_gain(seed, lines, at) for seed, lines in logs.items())))
    for name, title in _PANELS.items():
        if any(name in line for lines in logs.values() for line in lines):
            charts.append(Chart(title, tuple(_mean(seed, lines, name) for seed, lines in logs.items())))
    if not charts:
        return None
    return curves(
        "training", charts, "updates", "How the learner's play and its numbers changed with updates"
    )


_LOOKS = {"sampled": "", "likeliest": "/likeliest"}
"""How the learner picks a candidate → the suffix of the evaluation's keys in the log."""
_PANELS = {
    "loss/entropy": "Entropy of π (nats)",
    "ppo/kl": "KL of an update",
    "value/explained": "Returns' variance explained",
    "rate/decisions": "Decisions a second",
}


def _gain(seed: int, lines: Sequence[Mapping[str, float]], look: str) -> ChartLine:
    start = f"{look}/gain/"
    points = []
    for line in lines:
        if f"{start}value" in line:
            value, low, high = (line.get(start + name) for name in ("value", "low", "high"))
            points.append((line["update"], Estimate(value, low, high, 1, 0, "looks")))
    return ChartLine(f"seed {seed}", tuple(points))


def _mean(seed: int, lines: Sequence[Mapping[str, float]], name: str) -> ChartLine:
    """Means over groups of updates, so that a line has at most `_POINTS` points."""
    known = [(line["update"], line[name]) for line in lines if name in line]
    size = -(-len(known) // _POINTS) or 1
    points = []
    for at in range(0, len(known), size):
        part = known[at : at + size]
        mean = sum(value for _, value in part) / len(part)
        points.append((part[-1][0], Estimate(mean, None, None, len(part), 0, "updates")))
    return ChartLine(f"seed {seed}", tuple(points))
