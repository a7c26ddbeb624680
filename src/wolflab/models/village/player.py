"""`village`, the built-in player: a model that answers typed questions offline.

Its reply is a function of the request's question, its own settings and the request's key, and of
nothing else: it never sees a view or a prompt, and keeps nothing but caches. It is an instrument: what
it shows about recipes is how it was built (``docs/village.md``).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

import msgspec

from ...errors import ModelError
from ...rules import Pick
from ...text.options import label
from ...text.questions import Decide, Deduce, Question, Rate, Situation
from ...text.sentences import a_role
from ..base import Request, Response
from .acting import at_random, choose
from .deducing import deduce, rate
from .draws import Draws
from .parameters import VERSION, Parameters, shipped
from .phrases import BANKS
from .posterior import Posterior, Thinker
from .scene import Scene, scene
from .speech import speak
from .talk import plan

_encode = msgspec.json.encode


@dataclass(frozen=True, slots=True)
class Settings:
    """The knobs; see `Village`. ModelError for values out of range."""

    skill: float = 1.0
    noise: float = 0.0
    phrases: str = "a"
    follow_sheriff: float = 0.0
    heed_sheriff: bool = True
    invalid: float = 0.0

    def __post_init__(self) -> None:
        for name in ("noise", "follow_sheriff", "invalid"):
            _number(name, getattr(self, name), 1.0)
        _number("skill", self.skill, 2.0)
        if self.phrases not in BANKS:
            raise ModelError(f"village: phrases is {self.phrases!r}; use one of {', '.join(BANKS)}")
        if not isinstance(self.heed_sheriff, bool):
            raise ModelError(f"village: heed_sheriff is {self.heed_sheriff!r}; use true or false")


def _number(name: str, value: object, top: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= top:
        raise ModelError(f"village: {name} is {value!r}; use a number from 0 to {top:g}")


class Village:
    """The built-in player; implements `models.base.Model`.

    skill: how far evidence counts (0: hardly, 1: as fitted, at most 2). noise: chance that a choice is
    a random legal one. phrases: bank of wording, "a", "b" or "ab". follow_sheriff: chance that the vote
    goes to whom the Sheriff's statement of the day recommends. heed_sheriff: False makes the sitting
    Sheriff's statements carry no weight (the strict null). invalid: chance that a reply is unusable
    text. parameters: other fitted tables than the shipped ones (for fitting and for tests).
    Raises ModelError for unknown settings and for values out of range.
    """

    name = "village"
    instant = True

    def __init__(self, *, parameters: Parameters | None = None, **settings: Any) -> None:
        known = [field.name for field in fields(Settings)]
        for name in settings:
            if name not in known:
                raise ModelError(f"village: there is no setting {name!r}; known are {', '.join(known)}")
        self.settings = Settings(**settings)
        self.parameters = shipped() if parameters is None else parameters
        changed = [
            f"{field.name}={getattr(self.settings, field.name)}"
            for field in fields(Settings)
            if getattr(self.settings, field.name) != field.default
        ]
        self.name = "village" + (f"({', '.join(changed)})" if changed else "")
        skill = round(1000 * self.settings.skill)
        self._thinker = Thinker(self.parameters, skill, self.settings.heed_sheriff)

    def posterior(self, situation: Situation) -> Posterior:
        """What `Deduce` answers from: the posterior over roles in that situation, for analysis and tests."""
        return self._thinker.posterior(situation)

    async def generate(self, request: Request) -> Response:
        """The reply to the request's question."""
        return Response(self.answer(request.question, request.key))

    def answer(self, question: Question, key: str) -> str:
        """`generate` without the envelope."""
        invalid = self.settings.invalid
        if invalid:
            draws = Draws(key)
            if draws.chance("invalid", 1000 * invalid):
                return _spoil(_encode(self._reply(question, key)).decode(), question, draws)
        return _encode(self._reply(question, key)).decode()

    def _reply(self, question: Question, key: str) -> dict[str, Any]:
        match question.task:
            case Deduce() as task:
                return deduce(question, task, self._thinker.posterior(question.situation))
            case Rate() as task:
                return rate(question, task, self._thinker.posterior(question.situation))
            case Decide(ask):
                survey = self._thinker.survey(question.situation)
                around = scene(question, survey, self.parameters, key)
                if ask.options is None:
                    return self._speech(around, ask.kind)
                action, why = self._act(around, ask)
                return {"reasoning": why, "action": label(action, ask.kind, question.situation.ruleset)}

    def _speech(self, around: Scene, kind: str) -> dict[str, Any]:
        points = plan(around, kind)
        text = speak(points, around.situation.ruleset, self.settings.phrases, around.draws)
        aims = ", ".join(dict.fromkeys(point.kind.split()[0] for point in points))
        return {
            "reasoning": f"I am {a_role(around.situation.role)}. My plan for this statement: {aims}.",
            "statement": text,
        }

    def _act(self, around: Scene, ask: Any) -> Any:
        settings = self.settings
        if settings.noise and around.draws.chance("noise", 1000 * settings.noise):
            return at_random(around, ask)
        if settings.follow_sheriff and ask.kind == "vote" and around.me != around.situation.sheriff:
            target = around.recommended()
            if (
                target is not None
                and Pick(target) in ask.options
                and around.draws.chance("follow", 1000 * settings.follow_sheriff)
            ):
                return Pick(target), f"I follow the Sheriff's recommendation: {around.name(target)}."
        return choose(around, ask)

    def describe(self) -> dict[str, Any]:
        """Version, digest of the fitted parameters, settings."""
        return {
            "name": self.name,
            "model": "village",
            "version": VERSION,
            "parameters": self.parameters.digest,
            "settings": asdict(self.settings),
        }

    async def close(self) -> None:
        """Nothing to close."""


def _spoil(text: str, question: Question, draws: Draws) -> str:
    """An unusable reply, of one of the kinds that language models produce."""
    kind = draws.below("spoil", 4)
    if kind == 0:
        return text[: len(text) // 2]
    if kind == 1:
        return "I would rather not say anything about that."
    if kind == 2:
        return ""
    match question.task:
        case Decide(ask) if ask.options is not None:
            return _encode({"reasoning": "An odd idea.", "action": "do a handstand"}).decode()
        case Decide():
            return _encode({"reasoning": "An odd idea.", "speech": 1}).decode()
        case _:
            return _encode({"nobody": {"role": "Innkeeper", "confidence": "high"}}).decode()
