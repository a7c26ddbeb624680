"""`village`, the built-in player: a model that answers typed questions offline.

Its reply is a function of the request's question, its own settings and the request's key, and of
nothing else: it never sees a view or a prompt, and keeps nothing but caches. It is an instrument: what
it shows about recipes is how it was built (``docs/village.md``).
"""

from __future__ import annotations

from typing import Any

import msgspec

from ...errors import ModelError
from ...rules import SHIELDS, Ask, Pick
from ...text.advice import ACT, HOLD, advised
from ...text.asking.disguise import disguised
from ...text.asking.options import label
from ...text.asking.sentences import a_role
from ...text.intents import chosen as meant
from ...text.questions import (
    AnswerQuestion,
    AskQuestions,
    Choose,
    ChooseQuestions,
    Decide,
    Deduce,
    Extract,
    Interview,
    Judge,
    Plan,
    Propose,
    Question,
    Rate,
    Reflect,
    Situation,
)
from ...text.replies.reflective import is_free
from ..base import Chat, Request, Response
from .beliefs.guesses import deduce, rate
from .beliefs.outlook import Outlook, Outlooks
from .beliefs.posterior import Posterior, Thinker
from .choices import candidates
from .choices.choosing_by_habit import ChosenOption, at_random, choose, favoured, insisted, passed, shunning
from .draws import KeyedDraws
from .interview_and_judge import interviewed, verdict
from .parameters import VERSION, Parameters, shipped
from .scene import TableScene, scene
from .settings import Settings
from .speech.planting import planted
from .speech.speaking_by_habit import advised_plan, plan
from .speech.speaking_by_intent import intended
from .speech.wording import speak
from .thoughts import advice, plans
from .thoughts.answers_to_oneself import answer as answered
from .thoughts.answers_to_oneself import reflection
from .thoughts.questions_to_oneself import asked, chosen

_encode = msgspec.json.encode
RECALLED = "recall"
"""The layout of questions whose situation has gaps: a reflective player's."""


class Village:
    """The built-in player; implements `models.base.Model`.

    skill: how far evidence counts (0: hardly, 1: as fitted, at most 2). noise: chance that a choice is
    a random legal one. phrases: bank of wording, "a", "b" or "ab". follow_sheriff: chance that the vote
    goes to whom the Sheriff's statement of the day recommends. heed_sheriff: False makes the sitting
    Sheriff's statements carry no weight (the strict null). invalid: chance that a reply is unusable
    text. idle: chance that it passes where it may (the planted defect). act_on_suggestion: chance that it
    does what a suggestion from past games says. plant: behaviour → chance that a statement shows it on
    top. favour, favour_rate: a seat that Werewolves like to kill on the first night, and by what chance;
    shun, shun_rate: one that they leave alone then; expect, expect_rate: one that a Doctor or Guard likes to
    shield then. parameters: other fitted tables than the shipped ones (for fitting and for tests).
    Raises ModelError for unknown settings and for values out of range.
    """

    name = "village"
    instant = True
    typed = True

    def __init__(self, *, parameters: Parameters | None = None, **settings: Any) -> None:
        self.settings = Settings.of(settings)
        self.parameters = shipped() if parameters is None else parameters
        changed = self.settings.changed()
        self.name = "village" + (f"({', '.join(changed)})" if changed else "")
        skill = round(1000 * self.settings.skill)
        self._thinker = Thinker(self.parameters, skill, self.settings.heed_sheriff)
        self._outlooks = Outlooks(self._thinker)
        self._looked: tuple[Question, str, TableScene] | None = None
        """The scene of the last turn that put several questions; the question and key it was made for."""

    def posterior(self, situation: Situation, recalled: bool = False) -> Posterior:
        """What `Deduce` answers from: the posterior over roles in that situation, for analysis and tests.

        recalled: the situation is a reflective player's, with gaps.
        """
        return self._thinker.posterior(situation, recalled)

    def outlook(self, situation: Situation) -> Outlook:
        """What the answers of a reflective player start from, for analysis and tests."""
        return self._outlooks.outlook(situation)

    async def generate(self, request: Request) -> Response:
        """The reply to the request's question."""
        if isinstance(request.asked, Chat):
            raise ModelError(
                f"call {request.key}: village, the built-in player, answers the game's own questions and no "
                "plain words; name another model"
            )
        question = request.asked
        return Response(disguised(self.answer(question, request.key), question.situation.ruleset))

    def answer(self, question: Question, key: str) -> str:
        """`generate` without the envelope."""
        reply = self._reply(question, key)
        text = reply if isinstance(reply, str) else _encode(reply).decode()
        invalid = self.settings.invalid
        if invalid:
            draws = KeyedDraws(key)
            if draws.chance("invalid", 1000 * invalid):
                return _spoil(text, question, draws)
        return text

    def _reply(self, question: Question, key: str) -> dict[str, Any] | str:
        now, task = question.situation, question.task
        match task:
            case Deduce():
                return deduce(question, task, self._posterior(question))
            case Rate():
                return rate(question, task, self._posterior(question))
            case Decide():
                return self._decide(question, task, key)
            case Plan():
                return self._plan(question, task, key)
            case Propose():
                return self._propose(question, task, key)
            case Choose():
                return self._choose(question, task, key)
            case ChooseQuestions():
                return chosen(task, KeyedDraws(key))
            case AskQuestions():
                return asked(task, self._outlooks.outlook(now), KeyedDraws(key))
            case AnswerQuestion(ask, asked_, messages, _):
                return answered(ask, asked_, self._outlooks.widened(now, messages), KeyedDraws(key))
            case Reflect(ask, answers):
                return reflection(ask, answers, self._outlooks.outlook(now), KeyedDraws(key))
            case Extract():
                return advice.suggestion(task, KeyedDraws(key))
            case Interview():
                return interviewed(now, task, KeyedDraws(key))
            case Judge():
                return verdict(now, task, self._posterior(question))

    def _posterior(self, question: Question) -> Posterior:
        return self.posterior(question.situation, question.layout == RECALLED)

    # -- decisions ------------------------------------------------------------------------

    def _decide(self, question: Question, task: Decide, key: str) -> dict[str, Any] | str:
        around = self._look(question, key)
        if task.plan:
            plans.recall(around, task.plan)
        says = self._advice(around, task)
        if task.ask.options is None:
            field = "statement"
            why, text = self._speech(around, task, says)
        else:
            field = "action"
            action, why = self._planned(around, task) or self._act(around, task.ask, says)
            text = label(action, task.ask.kind, question.situation.ruleset)
        thinks = task.aids is None or task.aids.think
        thinks = (thinks and not task.plan and task.intent is None) or "(planted:" in why
        if not is_free(question):
            return {"reasoning": why, field: text} if thinks else {field: text}
        if not thinks:
            return text
        return f"My step by step thought process: {why}\nMy concise talking content: {text}"

    def _look(self, question: Question, key: str) -> TableScene:
        survey = self._thinker.survey(question.situation, question.layout == RECALLED)
        return scene(question, survey, self.parameters, key)

    def _turn(self, question: Question, key: str) -> TableScene:
        """The scene in which the player would act, whichever of the turn's questions is put."""
        key = candidates.own_key(key)
        if self._looked is not None:
            last, made_for, around = self._looked
            same = last.situation is question.situation and last.beliefs == question.beliefs
            if same and made_for == key and last.style == question.style:
                return around
        around = self._look(question, key)
        self._looked = question, key, around
        return around

    def _own(self, around: TableScene, ask: Ask) -> tuple[str, str]:
        """Why, and the statement or the option's label: the reply to `Decide` under the turn's key."""
        if ask.options is None:
            return self._speech(around, Decide(ask), "")
        action, why = self._act(around, ask, "")
        return why, label(action, ask.kind, around.situation.ruleset)

    def _propose(self, question: Question, task: Propose, key: str) -> dict[str, Any]:
        around, ask, draws = self._turn(question, key), task.ask, KeyedDraws(key)
        if ask.options is not None:
            made = candidates.options(around, ask, task.count, self._act(around, ask, ""), draws)
            rules = around.situation.ruleset
            told = [{"reasoning": why, "action": label(action, ask.kind, rules)} for action, why in made]
            return {"candidates": told}
        if task.earlier:
            bank = self.settings.phrases
            why, text = candidates.statement(around, ask, task.earlier, bank, draws)
        else:
            why, text = self._speech(around, Decide(ask), "")
        return {"reasoning": why, "statement": text}

    def _choose(self, question: Question, task: Choose, key: str) -> dict[str, Any]:
        around = self._turn(question, key)
        _, own = self._own(around, task.ask)
        number, why = candidates.taken(around, task.ask, task.candidates, own, KeyedDraws(key))
        return {"reasoning": why, "choice": number + 1}

    def _plan(self, question: Question, task: Plan, key: str) -> str:
        around, rules = self._turn(question, key), question.situation.ruleset
        if task.ask.options is None:
            points = plan(around, task.ask.kind)
            if task.perspective == "others":
                meant = plans.meant_points(task.earlier, rules) or points
                return plans.seen_by_others(around, task.earlier, meant)
            return plans.thought(around, plans.aim_of_statement(points, rules))
        if task.perspective == "others" and plans.meant_choice(around, task.ask, task.earlier):
            return task.earlier
        action, why = self._act(around, task.ask, "")
        return plans.thought(around, plans.aim_of_choice(label(action, task.ask.kind, rules), why))

    def _planned(self, around: TableScene, task: Decide) -> ChosenOption | None:
        """The option that an intent or a plan has settled on."""
        if task.intent is not None:
            action = meant(task.intent, task.ask)
            return None if action is None else (action, "")
        return plans.meant_choice(around, task.ask, task.plan) if task.plan else None

    def _advice(self, around: TableScene, task: Decide) -> str:
        """What the suggestion in the request says, if it is acted on; else empty."""
        if task.aids is None or not task.aids.suggestion or not self.settings.act_on_suggestion:
            return ""
        says = advised(task.aids.suggestion, task.ask.kind)
        acts = says and around.draws.chance("act on suggestion", 1000 * self.settings.act_on_suggestion)
        return says if acts else ""

    def _speech(self, around: TableScene, task: Decide, says: str) -> tuple[str, str]:
        """Why, and the statement."""
        kind, rules = task.ask.kind, around.situation.ruleset
        if task.intent is not None:
            points = intended(around, task.intent, kind)
        else:
            points = (list(plans.meant_points(task.plan, rules)) if task.plan else []) or plan(around, kind)
        if says:
            points = advised_plan(around, points, says)
        text = speak(points, rules, self.settings.phrases, around.draws)
        aims = ", ".join(dict.fromkeys(point.kind.split()[0] for point in points))
        why = f"I am {a_role(around.situation.role)}. My plan for this statement: {aims}."
        if self.settings.plant and kind == "statement":
            for name, sentence in planted(around, self.settings.plant, text):
                text, why = f"{text} {sentence}", f"{why} (planted: {name})"
        return why, text

    def _act(self, around: TableScene, ask: Ask, says: str) -> ChosenOption:
        settings = self.settings
        if settings.noise and around.draws.chance("noise", 1000 * settings.noise):
            return at_random(around, ask)
        leaning = self._leaning(around, ask)
        if leaning is not None:
            return leaning
        if settings.follow_sheriff and ask.kind == "vote" and around.me != around.situation.sheriff:
            target = around.recommended()
            if (
                target is not None
                and Pick(target) in (ask.options or ())
                and around.draws.chance("follow", 1000 * settings.follow_sheriff)
            ):
                return Pick(target), f"I follow the Sheriff's recommendation: {around.name(target)}."
        if says == ACT:
            action, why = insisted(around, ask)
            return action, f"Past games advise me to act. {why}"
        idles = settings.idle and ask.kind != "antidote" and around.draws.chance("idle", 1000 * settings.idle)
        if says == HOLD or idles:
            held = passed(around, ask)
            if held is not None:
                return held
        if settings.shun is not None and ask.kind == "kill":
            ask = shunning(around, ask, settings.shun, settings.shun_rate)
        return choose(around, ask)

    def _leaning(self, around: TableScene, ask: Ask) -> ChosenOption | None:
        """What a planted bias of the first night leads to."""
        settings = self.settings
        if settings.favour is not None and ask.kind == "kill":
            return favoured(around, ask, settings.favour, settings.favour_rate)
        if settings.expect is not None and ask.kind in SHIELDS:
            return favoured(around, ask, settings.expect, settings.expect_rate)
        return None

    def describe(self) -> dict[str, Any]:
        """Version, digest of the fitted parameters, settings."""
        return {
            "name": self.name,
            "model": "village",
            "version": VERSION,
            "parameters": self.parameters.digest,
            "settings": self.settings.described(),
        }

    async def close(self) -> None:
        """Nothing to close."""


def _spoil(text: str, question: Question, draws: KeyedDraws) -> str:
    """An unusable reply, of one of the kinds that language models produce."""
    if is_free(question):
        return ""  # any words would do where plain text is asked for
    kind = draws.below(4, "spoil")
    if kind == 0:  # of several candidates not even the first may be left whole
        return text[: len(text) // (12 if isinstance(question.task, Propose) else 2)]
    if kind == 1:
        return "I would rather not say anything about that."
    if kind == 2:
        return ""
    match question.task:
        case Propose() | Choose():
            return _encode({"reasoning": "An odd idea.", "candidates": [], "choice": 99}).decode()
        case Decide(ask) if ask.options is not None:
            return _encode({"reasoning": "An odd idea.", "action": "do a handstand"}).decode()
        case Decide():
            return _encode({"reasoning": "An odd idea.", "speech": 1}).decode()
        case _:
            return _encode({"nobody": {"role": "Innkeeper", "confidence": "high"}}).decode()
