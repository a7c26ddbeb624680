"""Takes a recorded turn again, with a component of the player removed (003 §4.4.1, Table 4).

The seat has the same view as then; its model is called again, and nothing is stored.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...agents.base import Invalid, Reply
from ...agents.language import LanguageAgent
from ...errors import ModelRefused, RecordError, ServerError
from ...match import Dealing, Draws, LiveIO, Player, concurrently
from ...models.calls import NO_CALL_CACHE
from ...models.catalog import check_model
from ...record import GameRecord
from ...rules import Action, facts_of
from ...text.notes import Content
from ..storage.store import GameRow, Place, Store
from .casting import PlayerBuilder
from .decisions import RecordedDecision, recorded_decisions


@dataclass(frozen=True, slots=True)
class RetakenTurn:
    """A recorded turn, and the same turn taken again.

    action, invalid, notes: of the new turn; all None if nothing was removed.
    """

    decision: RecordedDecision
    action: Action | None = None
    invalid: str | None = None
    notes: tuple[tuple[str, Content], ...] | None = None


NEAR = 8
"""The number of similar turns that an error lists."""


def decision_of(record: GameRecord, turn: str, where: str) -> RecordedDecision:
    """The recorded turn of an ask ("2/vote/3"); RecordError lists the most similar ones."""
    by_ask = {decision.ask.id: decision for decision in recorded_decisions(record, where)}
    if turn not in by_ask:
        given = turn.split("/")

        def unlike(ask: str) -> int:
            round, kind = ask.split("/")[:2]
            return 2 * (kind not in given) + (round != given[0])

        near = sorted(by_ask, key=unlike)
        more = f" (and {len(near) - NEAR} more)" if len(near) > NEAR else ""
        raise RecordError(
            f"{where}: there is no turn {turn!r}; a turn is round/kind/seat, seats from 0, such as "
            f"{', '.join(near[:NEAR])}{more}"
        )
    return by_ask[turn]


def retake_turn(store: Store, row: GameRow, turn: str, without: Sequence[str] = ()) -> RetakenTurn:
    """A recorded turn, and the same with components removed from its player.

    Raises RecordError for an unknown turn, for a player that does not reflect, and for a component that it
    does not have; ServerError if the model cannot be reached.
    """
    record = store.record(row.id)
    decision = decision_of(record, turn, f"{store.path.name}, game {row.id}")
    if not without:
        return RetakenTurn(decision)
    try:
        reply = asyncio.run(_retaken(store, row, record, decision, without))
    except (ServerError, ModelRefused, BaseExceptionGroup) as error:
        first: BaseException = error
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        if not isinstance(first, ServerError | ModelRefused):
            raise
        reason = _RESUME.sub("", str(first))
        raise ServerError(
            f"{reason}; the turn was not taken again, and the run is as it was: try when the model answers"
        ) from None
    if isinstance(reply.action, Invalid):
        return RetakenTurn(decision, None, reply.action.reason, reply.notes)
    return RetakenTurn(decision, reply.action, None, reply.notes)


async def _retaken(
    store: Store, row: GameRow, record: GameRecord, decision: RecordedDecision, without: Sequence[str]
) -> Reply:
    builder = PlayerBuilder(store.experiment, store.path, reading=True)
    try:
        player = _player(builder, row, record, decision)
        agent = player.agent
        if not isinstance(agent, LanguageAgent) or agent.recipe.reflect is None:
            raise RecordError(
                f"{decision.ask.id}: {record.ruleset.names[decision.ask.seat]} does not reflect, so that "
                "nothing can be removed; see a turn of a player with the recipe reflective"
            )
        for component in without:
            _must_have(agent, component, record.ruleset.names[decision.ask.seat])
        less = agent.recipe.with_(without=tuple(dict.fromkeys((*agent.recipe.without, *without))))
        if player.model is not None:
            await check_model(player.model)  # otherwise every call would first be retried
        io = LiveIO(
            decision.ask,
            player.model,
            NO_CALL_CACHE,
            Draws(record.header["play"]),
            concurrently,
            player.embedders,
        )
        return await replace(player, agent=LanguageAgent(less, agent.retriever)).agent.reply(
            decision.view, decision.ask, io
        )
    finally:
        await builder.close()


_RESUME = re.compile(r"[;:] (?:the run can be resumed|resume (?:the run )?later)\Z")
"""The end of errors that makes sense only for a run."""


def _must_have(agent: LanguageAgent, component: str, name: str) -> None:
    """RecordError for a component that the player does not have: both turns would be the same."""
    gone = agent.recipe.without
    if component in gone:
        why = f"plays without {component} already"
    elif component == "predefined" and "questions" in gone:
        why = "asks itself no questions, so that there are no predefined ones to remove"
    elif component == "suggestion" and (agent.retriever is None or "reflection" in gone):
        why = "has no suggestions from past games in this game to remove"
    else:
        return
    raise RecordError(f"--without {component}: {name} {why}; name another component")


def _player(builder: PlayerBuilder, row: GameRow, record: GameRecord, decision: RecordedDecision) -> Player:
    """The player of the seat at that time: an elected or drawn Sheriff may have been replaced."""
    then = facts_of(record.ruleset, record.events[: decision.turn.at])
    sheriff = then.sheriffs[0] if then.sheriffs else then.intended
    dealing = Dealing(record.roles, sheriff, record.header["deal"], record.header["play"])
    return builder.casting(Place.of(row))(dealing)[decision.ask.seat]
