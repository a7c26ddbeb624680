"""`wolflab show`: a recorded game, one turn of it, its prompts, its tables of trust. Nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rich.console import Console
from rich.markup import escape

from ..errors import ExperimentError, RecordError
from ..lab.runs.again import again
from ..lab.runs.game import keys
from ..lab.runs.replay import requests
from ..lab.storage.place import Place
from ..lab.storage.store import GameRow, Store
from ..rules import Ruleset
from .terminal import show_record
from .trust import show_trust
from .turn import show_turn


def show(
    console: Console,
    store: Store,
    game: int,
    *,
    as_: str | None = None,
    thoughts: bool = False,
    prompts: bool = False,
    trust: bool = False,
    turn: str | None = None,
    without: Sequence[str] = (),
    step: str | None = None,
) -> None:
    """The command. ExperimentError for options that have nothing to say together."""
    _refuse(as_, thoughts, prompts, trust, turn, without, step)
    if trust:
        show_trust(console, store.record(game))
    elif turn is not None:
        show_turn_of(console, store, game, turn, without, prompts, as_, step)
    else:
        show_game(console, store, game, as_, thoughts, prompts, step)


def _refuse(
    as_: str | None,
    thoughts: bool,
    prompts: bool,
    trust: bool,
    turn: str | None,
    without: Sequence[str],
    step: str | None,
) -> None:
    given = {
        "--as": as_ is not None,
        "--thoughts": thoughts,
        "--prompts": prompts,
        "--turn": turn is not None,
        "--without": bool(without),
        "--step": step is not None,
    }
    if trust:
        for option, there in given.items():
            if there:
                raise ExperimentError(
                    f"--trust shows the whole game's tables of trust, and takes no {option}: leave one out"
                )
    if without and turn is None:
        raise ExperimentError("--without belongs to --turn: name the turn to be taken again")
    if step is not None and not prompts:
        raise ExperimentError("--step narrows --prompts down to one step: add --prompts")


def show_game(
    console: Console,
    store: Store,
    game: int,
    as_: str | None,
    thoughts: bool,
    prompts: bool,
    step: str | None = None,
) -> None:
    """A recorded game; with prompts, every request and reply after it (step: of that step alone)."""
    row = store.game(game)
    record = store.record(game)
    seat = None if as_ is None else seat_of(record.ruleset, as_)
    show_record(console, record, seat, thoughts)
    if prompts:
        _show_prompts(
            console, store, row.id, record.ruleset.names, lambda ask: seat in (None, _seat(ask)), step
        )


def show_turn_of(
    console: Console,
    store: Store,
    game: int,
    turn: str,
    without: Sequence[str],
    prompts: bool = False,
    as_: str | None = None,
    step: str | None = None,
) -> None:
    """One turn step by step (003 Table 4), and beside it the same turn with components removed.

    prompts: after it, every request and reply of the turn as it was played (step: of that step alone).
    as_: whose turn it is to be; ExperimentError where it is another's.
    """
    row = store.game(game)
    rules = store.record(game).ruleset
    if as_ is not None and seat_of(rules, as_) != _seat(turn):
        raise ExperimentError(
            f"--turn {turn} is not a turn of {as_}: the last number is the seat, from 0, and "
            f"{rules.names[seat_of(rules, as_)]} has seat {seat_of(rules, as_)}"
        )
    if without and any(not model.startswith("village") for model in store.came_to(game)):
        console.print("[dim]Its model is asked anew for the turn without a component.[/]")
    show_turn(console, rules, again(store, row, turn, without), without, _past(store, row))
    if prompts:
        if without:
            console.print("[dim]The prompts are those of the turn as it was played.[/]")
        _show_prompts(console, store, row.id, rules.names, lambda ask: ask == turn, step)


def _seat(ask: str) -> int | None:
    """The seat that an ask's id names."""
    last = ask.rpartition("/")[2]
    return int(last) if last.isdecimal() else None


def _past(store: Store, row: GameRow) -> Callable[[str], str]:
    """How to look at a decision that past games taught: by its id, the command that shows it.

    A pool taken in from a file may hold games of any run, and of theirs only their own names are known.
    """
    if any(one.pool is not None for one in store.experiment.experience(row.condition)):
        games: dict[str, int] = {}
    else:
        games = {
            f"{one.condition}|{keys(store.experiment, Place.of(one))[1]}": one.id for one in store.games()
        }

    def told(experience: str) -> str:
        game, _, ask = experience.rpartition("|")
        if game in games:
            return f"game {games[game]}, {ask}: wolflab show {store.path} {games[game]} --turn {ask}"
        return f"game {game} of the runs that the pool was made of, {ask}"

    return told


def seat_of(rules: Ruleset, name: str) -> int:
    """The seat of a player by its name, however that is spelled, or by its number."""
    for seat, known in enumerate(rules.names):
        if _bare(name) == _bare(known) or (
            name.isdigit() and known.endswith(name) and not known[: -len(name)][-1:].isdigit()
        ):
            return seat
    raise ExperimentError(f"--as {name}: there is no such player; the players are {', '.join(rules.names)}")


def _bare(name: str) -> str:
    """A name however it is spelled: "player_3" for "Player 3"."""
    return name.casefold().replace("_", " ")


# -- prompts ----------------------------------------------------------------------------------------


def _show_prompts(
    console: Console,
    store: Store,
    game: int,
    names: Sequence[str],
    wanted: Callable[[str], bool],
    step: str | None,
) -> None:
    """Requests and replies of a game's asks that are wanted; step: only those of this step ("answer/3")."""
    steps: dict[str, None] = {}

    def asked(key: str) -> bool:
        _, ask, rest = key.split("|", 2)
        if not wanted(ask):
            return False
        mine = rest.rpartition("|")[0]
        steps[mine] = None
        return step is None or step == mine or mine.startswith(f"{step}/")

    shown = 0
    kept = [call for call in store.call_rows(game) if call.get("messages")]
    for call in kept:
        if asked(call["key"]):
            _show_call(console, call["key"].split("|", 1)[1], call["messages"], call["text"])
            shown += 1
    filed = {} if kept else store.calls(game)
    for request in [] if kept else requests(store, store.game(game)):
        if asked(request.key):
            name = names[request.question.situation.seat]
            heading = f"{name} · {request.key.split('|', 1)[1]}"
            _show_call(console, heading, request.words.messages, filed[request.key].response.text)
            shown += 1
    if step is not None and not shown:
        there = ", ".join(steps) or "none"
        raise RecordError(f"--step {step}: there is no such step here; there are {there}")


def _show_call(console: Console, heading: str, prompt: Iterable[tuple[str, str]], reply: str) -> None:
    console.rule(heading, style="yellow")
    for role, text in (*((f"[yellow]{role}[/]", text) for role, text in prompt), ("[green]reply[/]", reply)):
        console.print(role)
        console.print(escape(text), highlight=False, soft_wrap=True)


__all__ = ["seat_of", "show", "show_game", "show_turn_of"]
