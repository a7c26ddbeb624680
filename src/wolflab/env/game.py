"""One game behind the environment: its learners, its events, the rewards of each seat.

`GameRunner` plays games one after another. `Game` is one of them, paused at a learner's turn or over. Other
modules make the observations from the views of `Game.log`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .. import __version__
from ..errors import ExperimentError
from ..match import Dealing, Draws, Match, Played, Player
from ..match.rewards import RewardPoints, Rewards
from ..models.base import Model, Request, Response
from ..models.calls import NO_CALL_CACHE, NoCallCache, StoredCall
from ..models.embedders.embedder import Embedder
from ..record import Turn
from ..rules import Action, Event, Log, Ruleset
from ..text.asking.sentences import capitalised, sentence
from .driving import Background, LearnerSeat, LearnerTurn, Put, Stepwise, pause
from .seating import Others, Seats, casting, other_players


class _Waits(ExperimentError):
    """A player of this game waits for something, so the game needs an event loop.

    At the deal, the runner catches this and deals again with a loop. A casting may also seat such a player
    later (a takeover by the Sheriff). Then the game cannot move to a loop, and the user sees the error.
    """

    def __init__(self) -> None:
        super().__init__(
            "others: a player that waits for a server took over a seat in a game that began without one; "
            "seat such a player from the start"
        )


class _Calls(NoCallCache):
    """The calls of one game, so that a copy of the game does not make them again."""

    def __init__(self, stored: Mapping[str, StoredCall]) -> None:
        self.stored = dict(stored)

    def get(self, request: Request) -> StoredCall | None:
        """The stored call, or None."""
        return self.stored.get(request.key)

    async def put(self, request: Request, digest: str, response: Response, model: Model) -> None:
        """Store the call."""
        self.stored[request.key] = StoredCall(digest, response)


class GameProgress(NamedTuple):
    """All that is needed to play a game again up to its present turn.

    key: "seed/deal"; "" if no game was begun. answers: of the learners, in order. earned: rewards by seat,
    not taken yet. calls: to models, if players wait for them.
    """

    key: str
    answers: tuple[Action, ...]
    earned: tuple[float, ...]
    calls: Mapping[str, StoredCall]


class Game:
    """See the module.

    learners: the seats that learn, ascending, after the deal. turn: the present turn of a learner; None at
    the end, when `played` is set. asked: whether a learner was asked anything yet. earned: rewards by seat
    that were not taken yet.
    """

    def __init__(
        self, ruleset: Ruleset, key: str, worth: RewardPoints, calls: Mapping[str, StoredCall] | None = None
    ) -> None:
        self.calls = _Calls(calls or {})
        self.answers: list[Action] = []
        self.ruleset, self.deal, self.draws = ruleset, Draws(key), Draws(f"{key}/0")
        self.log = Log(ruleset)
        self.rewards = Rewards(ruleset, worth)
        self.transcript: list[str] = []
        self.learners: tuple[int, ...] = ()
        self.turn: LearnerTurn | None = None
        self.played: Played | None = None
        self.asked = False
        self.earned = [0.0] * ruleset.players

    def watch(self, events: Sequence[Event], log: Log, turns: Sequence[Turn]) -> None:
        """`match.Match.watch`: keep the log, add up rewards, write the transcript."""
        self.log = log
        for gain in self.rewards.follow(events):
            for seat, points in enumerate(gain.seats):
                self.earned[seat] += points
        for event in log.events[len(self.transcript) :]:
            self.transcript.append(capitalised(sentence(event, None, self.ruleset), self.ruleset))

    def update(self, came: LearnerTurn | Played) -> None:
        """Set the present turn, or the end of the game."""
        if isinstance(came, LearnerTurn):
            self.turn, self.asked = came, True
        else:
            self.turn, self.played = None, came

    @property
    def progress(self) -> GameProgress:
        """The input of `GameRunner.restore`."""
        return GameProgress(self.deal.key, tuple(self.answers), tuple(self.earned), dict(self.calls.stored))

    def earnings(self) -> list[float]:
        """Rewards by seat since they were last taken."""
        earned, self.earned = self.earned, [0.0] * self.ruleset.players
        return earned


class GameRunner:
    """Plays games one at a time in the caller's thread, or, as soon as a player waits for something, on an
    event loop in another thread.
    """

    def __init__(self, ruleset: Ruleset, learners: Seats, others: Others, record: bool) -> None:
        self._ruleset, self._learners, self._record = ruleset, learners, record
        self._rest = other_players(others, ruleset)
        self._background: Background | None = None
        self._driver: Stepwise | Background | None = None
        self._services: dict[int, Model | Embedder] = {}
        """Models and embedders of the players so far, by identity; they may hold connections."""

    def begin(self, key: str, worth: RewardPoints, calls: Mapping[str, StoredCall] | None = None) -> Game:
        """Begin a game and play up to the first learner's turn. key: "seed/deal". calls: earlier calls of
        the game.
        """
        self.stop()
        if self._background is None:
            game = Game(self._ruleset, key, worth)
            self._driver = stepwise = Stepwise(self._match(game, pause, True))
            try:
                game.update(stepwise.start())
                return game
            except _Waits:
                self._background = Background()
        game = Game(self._ruleset, key, worth, calls)
        self._driver = self._background
        game.update(self._background.start(self._match(game, self._background.put, False)))
        return game

    def answer(self, game: Game, action: Action) -> None:
        """Answer the present turn of `game`, and play up to the next."""
        assert self._driver is not None
        game.update(self._driver.answer(action))
        game.answers.append(action)

    def restore(self, progress: GameProgress, worth: RewardPoints) -> Game:
        """Play a game again up to the turn of `progress`."""
        game = self.begin(progress.key, worth, progress.calls)
        for action in progress.answers:
            self.answer(game, action)
        game.earned = [*progress.earned]
        return game

    def _match(self, game: Game, put: Put, instant: bool) -> Match:
        me = Player(LearnerSeat(put))
        cast = casting(self._learners, self._rest, me)

        def seat(dealing: Dealing) -> list[Player]:
            players = list(cast(dealing))
            if instant and not all(player.instant for player in players):
                raise _Waits
            for player in players:
                used = [player.model, *player.embedders.values()]
                self._services |= {id(service): service for service in used if service is not None}
            game.learners = tuple(number for number, player in enumerate(players) if player is me)
            return players

        header = {"version": __version__}
        call_cache = NO_CALL_CACHE if instant else game.calls
        return Match(
            self._ruleset,
            seat,
            game.deal,
            game.draws,
            header,
            call_cache=call_cache,
            write=self._record,
            watch=game.watch,
        )

    def stop(self) -> None:
        """Stop the running game, if there is one."""
        if self._driver is not None:
            self._driver.stop()
            self._driver = None

    def close(self) -> None:
        """Stop the game, and close the connections of all models."""
        self.stop()
        if self._background is not None:
            for service in self._services.values():
                self._background.run(service.close())
            self._background.close()
            self._background = None
        self._services = {}
