"""`WerewolfAEC`: PettingZoo's agent-environment cycle with one agent for each seat and one `step` for each
decision.

`match.play` has the rules, the order of play and the treatment of replies; this module translates.
Simultaneous asks are put to the agents in turn, and no agent sees the others' answers before all have
answered. Dead agents stay until the end, when every agent gets its side's result.

Only this file extends PettingZoo's class, so it imports the package at its top.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict
from secrets import randbits
from typing import Any, Literal, Self

import gymnasium
import numpy as np
from gymnasium.utils import EzPickle
from pettingzoo import AECEnv  # type: ignore[import-untyped]
from pettingzoo.utils import wrappers  # type: ignore[import-untyped]

from ..errors import ExperimentError, IllegalReply
from ..match import Played
from ..match.rewards import D2, RewardPoints
from ..models.village.speech.phrases import BANKS
from ..rules import PASS, Ask, Ruleset, View, preset
from ..text.asking.options import labels
from ..text.replies.chosen_action import read_action
from .actions import WORDS, ActionTable, Mask
from .checks import check_choice, check_type, checked_number
from .game import Game, GameProgress, GameRunner
from .seating import Learners, Others, agents_of, checked_seats
from .text_observation import ALPHABET, text_length, text_observation
from .vector import Vector, VectorLayout, encode

SeatObservation = dict[str, Any]
"""``observation``: float32 (layout.size,); ``action_mask``: int8 (n,); ``text``: str, unless left out."""


UNSHAPED = RewardPoints(win=1, kill=0, found=0, saved=0, out=0, vote=0)
"""Rewards for a win or a loss alone."""
SHAPED = RewardPoints(**{name: points / D2.win for name, points in asdict(D2).items()})
"""The rewards of 004 D.2, divided by that of a win."""


_PROBE = "options"
"""An entry of `options` that PettingZoo's `api_test` passes, so it must be accepted."""


class WerewolfAEC(AECEnv, EzPickle):  # type: ignore[misc]
    """The environment without wrappers. An illegal action raises IllegalReply and changes nothing.

    rules: a preset's name or a Ruleset. learners, others: the seats that `step` controls, and the other
    players (see `seating`). shaping: small rewards during the game, beside 1 for a win and -1 for a loss:
    True for those of 004 D.2. text: the content of the text observation: "new" since the agent last acted,
    "all", or "none". text_limit: its length in characters (None: 4096, or more if the rules need more).
    rounds: the number of rounds in the vector. bank: the phrases for intents ("a", "b" or "ab"). record: keep
    the record of each finished game (`played.writer`).

    Raises RulesetError or ExperimentError for invalid settings. `step`, `observe`, `last` and `answer` raise
    ExperimentError while no game is played: before `reset`, after the end or `close`, and after an error that
    stopped the game.
    """

    metadata = {  # noqa: RUF012 (PettingZoo's own form)
        "name": "werewolf_v0",
        "render_modes": ["human", "ansi"],
        "is_parallelizable": False,
    }

    def __init__(
        self,
        rules: str | Ruleset = "doctor",
        *,
        learners: Learners = None,
        others: Others = None,
        shaping: bool | RewardPoints = False,
        text: Literal["new", "all", "none"] = "new",
        text_limit: int | None = None,
        rounds: int = 3,
        bank: str = "ab",
        record: bool = False,
        render_mode: str | None = None,
    ) -> None:
        EzPickle.__init__(
            self,
            rules,
            learners=learners,
            others=others,
            shaping=shaping,
            text=text,
            text_limit=text_limit,
            rounds=rounds,
            bank=bank,
            record=record,
            render_mode=render_mode,
        )
        self.ruleset = rules if isinstance(rules, Ruleset) else preset(rules)
        learners = checked_seats(learners, others, self.ruleset)
        check_type("shaping", shaping, (bool, RewardPoints), "True, False, or RewardPoints")
        check_choice("text", text, ("new", "all", "none"))
        check_choice("bank", bank, tuple(BANKS))
        check_type("record", record, bool, "True or False")
        check_choice("render_mode", render_mode, (None, "human", "ansi"))
        rounds = checked_number("rounds", rounds, 1, 256)
        self._text, self._text_limit, self._bank = text, text_length(text_limit, text, self.ruleset), bank
        self.render_mode = render_mode
        self.layout = VectorLayout(self.ruleset, rounds)
        self.table = ActionTable(self.ruleset)
        self.possible_agents = list(agents_of(self.ruleset))
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.observation_spaces = {agent: self._space() for agent in self.possible_agents}
        self.action_spaces = {
            agent: gymnasium.spaces.Discrete(len(self.table)) for agent in self.possible_agents
        }
        size = self.layout.size * self.ruleset.players
        self.state_space = gymnasium.spaces.Box(-1.0, 1.0, (size,), np.float32)
        self.agents: list[str] = []
        self._shaping = SHAPED if shaping is True else (shaping or UNSHAPED)
        self._seed: int | None = None
        self._number = -1
        self._runner = GameRunner(self.ruleset, learners, others, record)
        self._game = Game(self.ruleset, "", UNSHAPED)
        self._seen = [0] * self.ruleset.players
        self._words: str | None = None
        self._shown: Mask | None = None
        self._printed = 0

    def __getstate__(self) -> dict[str, Any]:
        """The settings (by EzPickle), the other attributes, and the progress of the game. A running game
        cannot be pickled, since players may wait in it; it is played again instead.
        """
        now = {name: value for name, value in vars(self).items() if name not in ("_runner", "_game")}
        return {**super().__getstate__(), "now": now, "game": self._game.progress}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.update(state["now"])
        progress: GameProgress = state["game"]
        try:
            if progress.key:
                self._game = self._runner.restore(progress, self._shaping)
        except BaseException:
            self.close()
            raise
        if not self.agents:
            self._runner.close()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """An independent copy in the same state. Objects in the settings are shared: players keep nothing
        between turns, and models keep connections by event loop.
        """
        memo |= {id(given): given for given in (*self._ezpickle_args, *self._ezpickle_kwargs.values())}
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        made.__setstate__(deepcopy(self.__getstate__(), memo))
        return made

    def __copy__(self) -> Self:
        return deepcopy(self)

    def _space(self) -> gymnasium.spaces.Dict:
        spaces: dict[str, gymnasium.spaces.Space[Any]] = {
            "observation": gymnasium.spaces.Box(-1.0, 1.0, (self.layout.size,), np.float32),
            "action_mask": gymnasium.spaces.Box(0, 1, (len(self.table),), np.int8),
        }
        if self._text != "none":
            spaces["text"] = gymnasium.spaces.Text(self._text_limit, min_length=0, charset=ALPHABET)
        return gymnasium.spaces.Dict(spaces)

    # -- PettingZoo's interface -----------------------------------------------------------

    def observation_space(self, agent: str) -> gymnasium.spaces.Dict:
        """The space of `observe`: always the same object for an agent."""
        self._seat(agent)  # refuses an unknown name
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Discrete:
        """`Discrete(len(table))`: always the same object for an agent."""
        self._seat(agent)  # refuses an unknown name
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal and play up to the first learner's turn.

        seed: an integer that determines the games. The first is the game of deal 0 and repeat 0 of an
        experiment with that seed; each further reset without a seed plays the next deal. options: "deal" (an
        integer) chooses the deal. Raises ExperimentError for other values and options; the present game then
        goes on unchanged.
        """
        if seed is not None:
            first, deal = checked_number("reset: seed", seed), 0
        else:  # drawn here, so that copies of an environment that was never reset differ
            first, deal = randbits(63) if self._seed is None else self._seed, self._number + 1
        if options is not None:
            check_type("reset: options", options, Mapping, "a mapping such as {'deal': 3}")
            if unknown := set(options) - {"deal", _PROBE}:
                raise ExperimentError(
                    f"reset: options: got {min(unknown, key=str)!r}; use 'deal', the only one"
                )
            deal = checked_number("reset: deal", options.get("deal", deal), 0)
        self._seed, self._number = first, deal
        self.agents = []  # if the new game cannot begin, there is none
        self._seen = [0] * self.ruleset.players
        self._words, self._shown, self._printed = None, None, 0
        self._game = self._runner.begin(f"{self._seed}/{self._number}", self._shaping)
        self.agents = [self.possible_agents[seat] for seat in self._game.learners]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._skip_agent_selection = None
        self.agent_selection = self.agents[0]
        self._set_turn()

    def step(self, action: int | str | None) -> None:
        """Answer for `agent_selection`, and play up to the next learner's turn or the end.

        action: a number that the mask allows, or a text as in `answer`; None for finished agents. Raises
        IllegalReply for other values.
        """
        self._playing("step")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        chosen = self._legal(self.answer(action) if isinstance(action, str) else action)
        self._clear_rewards()
        self._cumulative_rewards[agent] = 0.0
        if self._game.turn is None:
            self._finish()  # the one idle turn of learners who were never asked
            self._set_infos()
        else:
            view, ask = self._game.turn
            self._seen[view.seat] = len(view.events)
            meant = self.table.meant(chosen, ask, self._words, self._bank, self._game.draws)
            self._words = self._shown = None
            agents, self.agents = self.agents, []  # no game is left if this fails
            self._runner.answer(self._game, meant)
            self.agents = agents
            self._set_turn()
        earned = self._game.earnings()  # the first step gets all rewards before it
        self.rewards = {agent: earned[self._seat(agent)] for agent in self.agents}
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> SeatObservation:
        """The agent's present observation. Its mask is all 0 unless it is the agent's turn."""
        self._playing("observe")
        seat = self._seat(agent)
        vector, view = self._vector(seat)
        mask = self._mask() if agent == self.agent_selection else self.table.mask(None)
        if agent == self.agent_selection:
            self._shown = mask
        seen: SeatObservation = {"observation": vector, "action_mask": mask}
        if self._text != "none":
            since = 0 if self._text == "all" else self._seen[seat]
            seen["text"] = text_observation(view, self._asked(seat), since, self._text_limit)
        return seen

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Observation (or None), reward since the last action, terminated, truncated and info of
        `agent_selection`.
        """
        self._playing("last")
        now: tuple[Any, float, bool, bool, dict[str, Any]] = super().last(observe)
        return now

    def state(self) -> Vector:
        """float32 (P × layout.size,): the vectors of all seats in order, for centralised training."""
        return np.concatenate([self._vector(seat)[0] for seat in range(self.ruleset.players)])

    def render(self) -> str | None:
        """Return ("ansi") or print ("human") the moderator's transcript so far, secrets included."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() needs a render_mode: 'ansi' or 'human'")
            return None
        lines = self._game.transcript
        if self.render_mode == "ansi":
            return "\n".join(lines)
        for line in lines[self._printed :]:
            print(line)
        self._printed = len(lines)
        return None

    def close(self) -> None:
        """Stop the game, and close the connections of its models."""
        self.agents = []
        self._runner.close()

    # -- beyond it ------------------------------------------------------------------------

    @property
    def played(self) -> Played | None:
        """The finished game with its log and, if `record` is set, its writer; None before the end."""
        return self._game.played

    def answer(self, words: str) -> int:
        """The number of the action that `words` mean for `agent_selection`, for wrappers, which take numbers
        alone. It is legal from now on, also in the mask that the agent observed last.

        words: one of the labels in ``infos[agent]["options"]``, in any spelling that
        `text.replies.chosen_action` reads; or a statement, if one is asked for. Raises IllegalReply for words
        that mean no option, and changes nothing.
        """
        self._playing("answer")
        agent = self.agent_selection
        ask = self._asked(self._seat(agent))
        if not isinstance(words, str):
            raise IllegalReply(f"{agent}: answer got {words!r}; use a text")
        if ask is None:
            raise IllegalReply(f"{agent} is done and has nothing to answer; step with None")
        if ask.options is not None:
            meant = read_action(words, ask, self.ruleset)
            if isinstance(meant, str):
                raise IllegalReply(f"{agent}: {meant}")
            return self.table.at[meant]
        self._words = words
        if self._shown is not None:
            self._shown[-1] = 1
        return self.table.number(WORDS)

    def question(self) -> Ask | None:
        """The ask to `agent_selection`, as a language agent gets it; None at the end."""
        return None if self._game.turn is None else self._game.turn.ask

    def view(self, agent: str) -> View:
        """The agent's view, as a language agent gets it."""
        return self._game.log.view(self._seat(agent))

    # -- progress of the game -------------------------------------------------------------

    def _set_turn(self) -> None:
        """Select the agent whose turn it is, or finish."""
        turn = self._game.turn
        if turn is not None:
            self.agent_selection = self.possible_agents[turn.ask.seat]
        elif self._game.asked:
            self._finish()
        self._set_infos()

    def _finish(self) -> None:
        """Terminate all agents."""
        self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.agents[0]

    def _set_infos(self) -> None:
        """Set `infos`: name, kind of ask, options in words; at the end role and result."""
        played = self._game.played
        self.infos = {}
        for agent in self.agents:
            seat = self._seat(agent)
            ask = self._asked(seat)
            self.infos[agent] = {
                "name": self.ruleset.names[seat],
                "ask": "" if ask is None else ask.kind,
                "options": () if ask is None else labels(ask, self.ruleset),
            }
            if self.terminations[agent] and played is not None:
                self.infos[agent] |= {
                    "role": self._game.log.facts.roles[seat],
                    "winner": played.outcome.winner.value,
                    "reason": played.outcome.reason.value,
                }

    # -- small things ---------------------------------------------------------------------

    def _playing(self, call: str) -> None:
        if not self.agents:
            raise ExperimentError(f"{call}: no game is being played; call reset(seed=...) first")

    def _seat(self, agent: str) -> int:
        seat = self._seats.get(agent) if isinstance(agent, str) else None
        if seat is None:
            raise ExperimentError(f"there is no agent {agent!r}; use one of {', '.join(self._seats)}")
        return seat

    def _question(self, seat: int) -> Ask | None:
        turn = self._game.turn
        return turn.ask if turn is not None and turn.ask.seat == seat else None

    def _asked(self, seat: int) -> Ask | None:
        """The ask that the agent in `seat` has to answer: the game's, or that of an idle turn (no kind)."""
        agent = self.possible_agents[seat]
        idle = self._game.turn is None and agent == self.agent_selection and not self.terminations[agent]
        return Ask("", seat, "", "", 0, (PASS,)) if idle else self._question(seat)

    def _vector(self, seat: int) -> tuple[Vector, View]:
        view = self._game.log.view(seat)
        return encode(view, self._question(seat), self.layout), view

    def _mask(self) -> Mask:
        """The mask of `agent_selection`."""
        seat = self._seat(self.agent_selection)
        return self.table.mask(
            self._asked(seat), self._game.log.view(seat).facts.living, self._words is not None
        )

    def _legal(self, action: Any) -> int:
        """The action as a number; IllegalReply if the mask does not allow it."""
        try:
            chosen = int(action)
        except (TypeError, ValueError, OverflowError):
            chosen = -1
        mask = self._mask()
        if not 0 <= chosen < len(mask) or chosen != action:
            raise IllegalReply(f"{self.agent_selection}: action {action!r}; use 0 to {len(mask) - 1}")
        if not mask[chosen]:
            asked = self.infos[self.agent_selection]["ask"] or "nothing"
            legal = ", ".join(self.table.names[n] for n in np.flatnonzero(mask))
            raise IllegalReply(
                f"{self.agent_selection} is asked for {asked}: action {chosen} "
                f"({self.table.names[chosen]}) is not legal; legal are {legal}"
            )
        return chosen


class _InWords(wrappers.OrderEnforcingWrapper):  # type: ignore[misc]
    """PettingZoo's outermost wrapper; words become numbers before the others see them."""

    def step(self, action: int | str | None) -> None:
        super().step(self.env.answer(action) if isinstance(action, str) else action)


def env(**settings: Any) -> Any:
    """`WerewolfAEC` in PettingZoo's usual wrappers: an illegal number ends the game with -1 for its agent."""
    wrapped: Any = WerewolfAEC(**settings)
    wrapped = wrappers.TerminateIllegalWrapper(wrapped, illegal_reward=-1)
    wrapped = wrappers.AssertOutOfBoundsWrapper(wrapped)
    return _InWords(wrapped)
