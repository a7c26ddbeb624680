"""Choices among candidates in finished games, as a policy sees them, with the probabilities of the choice.

A choice's observation follows from its seat's view and notes, so no model is asked again; only its texts are
to be embedded (`embedding`). A choice is left out if it has one candidate, if the model's own choice was
unusable (the first candidate stood in), or if nothing was drawn, so that the others had no chance (see
`recipes.Exploration`); and if it is there already: in a copy of the run, or in the game that a fork goes on
from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np

from ...agents.base import IO
from ...agents.choosing import noted_choice, policy_texts
from ...agents.deducing import recorded_findings
from ...agents.deliberation import Deliberation
from ...agents.policy.checkpoint import Source, most_candidates
from ...agents.policy.features import player_vector, stack
from ...agents.policy.policy import Float32s, Observation
from ...agents.recipes import Proposal, Recipe
from ...errors import ExperimentError
from ...policy.offline import LoggedChoices
from ...record import GameRecord
from ...record.chain import hash_of
from ...rules import ROLES, Side
from ..runs.decisions import RecordedDecision, recorded_decisions
from ..storage.store import Store


class _Choice(NamedTuple):
    """One choice. texts: of the observation, then of each candidate."""

    texts: Sequence[str]
    player: Float32s
    players: int
    shares: Sequence[float]
    action: int
    own: int | None
    won: float
    deal: str
    game: str


@dataclass
class RecordedChoices:
    """The choices of finished runs, before their texts are embedded. left_out: reason → number of choices.
    models, rules, sources: of the candidates. most: the largest number of candidates that a player could
    have. ends: the last hash of each game that was read.
    """

    choices: list[_Choice] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    models: set[str] = field(default_factory=set)
    rules: set[str] = field(default_factory=set)
    sources: set[Source] = field(default_factory=set)
    most: int = 0
    ends: set[str] = field(default_factory=set)

    @property
    def games(self) -> int:
        """The number of games with a choice."""
        return len({choice.game for choice in self.choices})

    @property
    def deals(self) -> int:
        """The number of their deals."""
        return len({choice.deal for choice in self.choices})

    @property
    def texts(self) -> list[str]:
        """All texts that a policy reads, each once."""
        return list(dict.fromkeys(text for choice in self.choices for text in choice.texts))

    def logged(self, vectors: Mapping[str, Float32s]) -> LoggedChoices:
        """The choices as arrays. vectors: of each of `texts`."""
        return _arrays(self.choices, vectors, self.most)


ONE_CANDIDATE = "one candidate alone"
NOT_TOLD = "the record does not tell the probabilities of the draw"
STOOD_IN = "the model's choice was unusable"
NOTHING_DRAWN = "nothing was drawn, so that the other candidates had no chance"
THERE_ALREADY = "the choice is in another of these games already"


def recorded_choices(runs: Sequence[Path], side: Side | None = None) -> RecordedChoices:
    """The choices of all finished games of these runs. side: whose choices; None: both sides'.

    Raises ExperimentError if they have none to learn from, and says why; StoreError for a folder that is no
    run.
    """
    found = RecordedChoices()
    for run in runs:
        with Store.open_for_reading(run) as store:
            _read(store, found, side)
    if not found.choices:
        where = ", ".join(str(run) for run in runs)
        raise ExperimentError(f"{where}: {_nothing(found)}")
    if len(found.sources) > 1:
        raise ExperimentError(
            "these runs have candidates that a model proposed, and fixed intents; a policy learns one of the "
            "two: name runs of one recipe"
        )
    return found


def _nothing(found: RecordedChoices) -> str:
    if not found.left_out:
        return (
            "no finished game has a choice among candidates; play with a recipe that proposes several, such "
            "as diverse"
        )
    told = "; ".join(f"{reason}: {n}" for reason, n in found.left_out.most_common())
    remedy = "propose.explore, such as --set others.recipe.propose.explore.share=0.2"
    if found.left_out.keys() == {ONE_CANDIDATE}:
        remedy = "several candidates, such as --set others.recipe.propose.candidates=3"
    return f"no choice can be learned from ({told}); play with {remedy}"


def _read(store: Store, found: RecordedChoices, side: Side | None) -> None:
    for row in store.games("done"):
        record = store.record(row.id)
        game, shared = hash_of(record.lines[-1]), record.shared
        known = game in found.ends
        found.ends.add(game)
        for decision in recorded_decisions(record, f"{store.path.name}, game {row.id}"):
            if side is not None and ROLES[record.roles[decision.ask.seat]].side is not side:
                continue
            seen = _choice(record, decision, game, known or decision.ask.id in shared)
            if isinstance(seen, str):
                found.left_out[seen] += 1
            elif seen is not None:
                player = record.player(decision.ask.seat, decision.turn.at)
                stage = cast(Proposal, Recipe.of(player["recipe"]).propose)
                found.choices.append(seen)
                found.rules.add(record.ruleset.name)
                found.models.add(str(player["model"]["name"]))
                found.sources.add(stage.source)
                found.most = max(found.most, most_candidates(stage, record.ruleset))


def _choice(record: GameRecord, decision: RecordedDecision, game: str, already: bool) -> _Choice | str | None:
    """The choice of a turn; the reason why it is left out; None for a turn without candidates. already: it is
    there already.
    """
    turn, ask, ruleset = decision.turn, decision.ask, record.ruleset
    stated = record.player(ask.seat, turn.at)["recipe"]
    candidates, chosen, drawn, shares = noted_choice(turn.notes, stated)
    if not candidates or chosen is None:
        return None
    if already:
        return THERE_ALREADY
    if len(candidates) == 1:
        return ONE_CANDIDATE
    if drawn.stand_in:
        return STOOD_IN
    if not shares and chosen.probabilities:
        return NOT_TOLD
    if not shares or min(shares) <= 0:
        return NOTHING_DRAWN
    # No stage is run, so that nothing is asked through `io`.
    past = Deliberation(Recipe.of(stated), decision.view, ask, cast(IO, None), None, None)
    findings = recorded_findings(past, turn.notes)
    side = ROLES[record.roles[ask.seat]].side
    village_won = None if record.outcome is None else record.outcome.village_won
    return _Choice(
        policy_texts(ask, findings, candidates),
        player_vector(decision.view, ask, past.memory, findings.judged),
        ruleset.players,
        shares,
        chosen.number,
        drawn.own,
        float(village_won is (side is Side.VILLAGE)) if village_won is not None else 0.0,
        record.header["deal"],
        game,
    )


def _arrays(choices: Sequence[_Choice], vectors: Mapping[str, Float32s], most: int) -> LoggedChoices:
    seen = [
        Observation(
            choice.player,
            vectors[choice.texts[0]],
            np.stack([vectors[text] for text in choice.texts[1:]]),
            choice.players,
        )
        for choice in choices
    ]
    batch = stack(seen, max(choice.players for choice in choices), most)
    shares = np.zeros(batch.mask.shape)
    for row, choice in enumerate(choices):
        shares[row, : len(choice.shares)] = np.array(choice.shares) / sum(choice.shares)
    deals = {deal: number for number, deal in enumerate(dict.fromkeys(choice.deal for choice in choices))}
    games = {game: number for number, game in enumerate(dict.fromkeys(choice.game for choice in choices))}
    return LoggedChoices(
        batch.player,
        batch.candidates,
        batch.mask,
        shares,
        np.array([choice.action for choice in choices]),
        np.array([-1 if choice.own is None else choice.own for choice in choices]),
        np.array([choice.won for choice in choices]),
        np.array([deals[choice.deal] for choice in choices]),
        np.array([games[choice.game] for choice in choices]),
    )
