"""`village`, the built-in player: a model that answers typed questions offline.

Its reply is a function of the request's question, its own settings and the request's key, and of nothing
else: it never sees a view or a prompt, and stores nothing but caches. It is an instrument: its results on
recipes follow from how it was built (``docs/village.md``).
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
from ...text.asking.wording import wants_reasoning
from ...text.intents import chosen as intended_action
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
from ...text.replies.reflective_replies import is_free
from ..base import Chat, Request, Response, settings_of
from .beliefs.guesses import guessed_roles, rated_reliability
from .beliefs.outlook import outlook_of, widened
from .beliefs.posterior import Posterior, PosteriorEstimator
from .choices.candidates import candidate_taken, option_candidates, own_key, statement_candidate
from .choices.choosing_by_habit import (
    ChosenOption,
    choose_by_habit,
    choose_to_act,
    favoured_seat,
    hold_back,
    without_shunned,
)
from .draws import KeyedDraws
from .interview_and_judge import interview_answer, judge_reply
from .parameters import VERSION, Parameters, shipped_parameters
from .scene import TableScene, table_scene
from .settings import VillageSettings
from .speech.phrases import speak
from .speech.planted import planted_sentences
from .speech.speaking_by_habit import follow_advice, plan_statement, with_own_vote_only
from .speech.speaking_by_intent import intended_statement
from .thoughts.advice import suggestion_from
from .thoughts.answers_to_oneself import answer_to_oneself, reflection
from .thoughts.plans import (
    aim_of_choice,
    aim_of_statement,
    apply_plan,
    plan_in_words,
    plan_seen_by_others,
    planned_choice,
    planned_points,
)
from .thoughts.questions_to_oneself import chosen_questions, further_questions

_encode = msgspec.json.encode
RECALLED = "recall"
"""The layout of questions whose situation has gaps: a reflective player's."""


class Village:
    """The built-in player; implements `models.base.Model`.

    skill: how far evidence counts (0: hardly, 1: as fitted, at most 2). noise: chance that a choice is a
    random legal one. phrases: bank of wording, "a", "b" or "ab". follow_sheriff: chance that the vote follows
    the recommendation in the Sheriff's statement of the day. heed_sheriff: False ignores the sitting
    Sheriff's statements (the strict null). claim_floor: the least log-likelihood, in milli-nats, of a
    Werewolf's new claim of a village role; None is as fitted. invalid: chance that a reply is unusable text.
    idle: chance that it passes where it may (the planted defect). act_on_suggestion: chance that it follows a
    suggestion from past games. plant: behaviour → chance that a statement shows it in addition. favour,
    favour_rate: a seat that Werewolves kill on the first night, and the chance; shun, shun_rate: one that
    they do not attack then; expect, expect_rate: one that a Doctor or Guard shields then.
    parameters: other fitted tables than the shipped ones (for fitting and for tests). Raises ModelError for
    unknown settings and for values out of range.
    """

    name = "village"
    instant = True
    typed = True

    def __init__(self, *, parameters: Parameters | None = None, **settings: Any) -> None:
        self.settings = settings_of(VillageSettings, "model 'village'", settings)
        self.parameters = shipped_parameters() if parameters is None else parameters
        changed = self.settings.changed()
        self.name = "village" + (f"({', '.join(changed)})" if changed else "")
        skill = round(1000 * self.settings.skill)
        floor = self.settings.claim_floor
        read_with = self.parameters if floor is None else self.parameters.with_claim_floor(floor)
        self._estimator = PosteriorEstimator(read_with, skill, self.settings.heed_sheriff)
        self._turn_scene: tuple[Question, str, TableScene] | None = None
        """The scene of the last turn with several questions, and its question and key."""

    def posterior(self, situation: Situation, recalled: bool = False) -> Posterior:
        """The posterior over roles in that situation, from which `Deduce` is answered; for analysis and
        tests.

        recalled: the situation is a reflective player's, with gaps.
        """
        return self._estimator.posterior(situation, recalled)

    async def generate(self, request: Request) -> Response:
        """The reply to the request's question."""
        if isinstance(request.asked, Chat):
            raise ModelError(
                f"call {request.key}: village, the built-in player, answers the game's own questions and no "
                "plain words; name another model"
            )
        text = self.answer(request.asked, request.key)
        return Response(disguised(text, request.asked.situation.ruleset))

    def answer(self, question: Question, key: str) -> str:
        """The text of `generate`'s response."""
        reply = self._reply(question, key)
        text = reply if isinstance(reply, str) else _encode(reply).decode()
        draws = KeyedDraws(key)
        return (
            _spoil(text, question, draws) if draws.chance("invalid", 1000 * self.settings.invalid) else text
        )

    def _reply(self, question: Question, key: str) -> dict[str, Any] | str:
        now, task, draws = question.situation, question.task, KeyedDraws(key)
        match task:
            case Deduce():
                return guessed_roles(now, task, self._posterior(question))
            case Rate():
                return rated_reliability(now, task, self._posterior(question))
            case Decide():
                return self._decide(question, task, key)
            case Plan():
                return self._plan(question, task, key)
            case Propose():
                return self._propose(question, task, key)
            case Choose():
                return self._choose(question, task, key)
            case ChooseQuestions():
                return chosen_questions(task, draws)
            case AskQuestions():
                return further_questions(task, outlook_of(self._estimator, now), draws)
            case AnswerQuestion(ask, to_oneself, messages, _):
                return answer_to_oneself(ask, to_oneself, widened(self._estimator, now, messages))
            case Reflect(ask, answers):
                return reflection(ask, answers, outlook_of(self._estimator, now), draws)
            case Extract():
                return suggestion_from(task, draws)
            case Interview():
                return interview_answer(now, task, draws)
            case Judge():
                return judge_reply(now, task, self._posterior(question))

    def _posterior(self, question: Question) -> Posterior:
        return self.posterior(question.situation, question.layout == RECALLED)

    # -- decisions ------------------------------------------------------------------------

    def _decide(self, question: Question, task: Decide, key: str) -> dict[str, Any] | str:
        scene = self._scene(question, key)
        if task.plan:
            apply_plan(scene, task.plan)
        advice = self._advice(scene, task)
        if task.ask.options is None:
            field = "statement"
            why, text = self._speech(scene, task, advice)
        else:
            field = "action"
            action, why = self._planned(scene, task) or self._act(scene, task.ask, advice)
            text = label(action, task.ask.kind, question.situation.ruleset)
        thinks = wants_reasoning(task) or "(planted:" in why
        if not is_free(question):
            return {"reasoning": why, field: text} if thinks else {field: text}
        if not thinks:
            return text
        return f"My step by step thought process: {why}\nMy concise talking content: {text}"

    def _scene(self, question: Question, key: str) -> TableScene:
        summary = self._estimator.summary(question.situation, question.layout == RECALLED)
        return table_scene(question, summary, self.parameters, key)

    def _scene_of_turn(self, question: Question, key: str) -> TableScene:
        """The scene in which the player would act, the same for all questions of the turn."""
        key = own_key(key)
        if self._turn_scene is not None:
            last, last_key, scene = self._turn_scene
            same = last.situation is question.situation and last.beliefs == question.beliefs
            alike = last.style == question.style and last.layout == question.layout
            if same and alike and last_key == key:
                return scene
        scene = self._scene(question, key)
        self._turn_scene = question, key, scene
        return scene

    def _propose(self, question: Question, task: Propose, key: str) -> dict[str, Any]:
        scene, ask, draws = self._scene_of_turn(question, key), task.ask, KeyedDraws(key)
        if ask.options is not None:
            candidates = option_candidates(scene, ask, task.count, self._act(scene, ask), draws)
            rules = question.situation.ruleset
            offered = [{"reasoning": why, "action": label(act, ask.kind, rules)} for act, why in candidates]
            return {"candidates": offered}
        if task.earlier:
            why, text = statement_candidate(scene, ask, task.earlier, self.settings.phrases, draws)
        else:
            why, text = self._speech(scene, Decide(ask))
        return {"reasoning": why, "statement": text}

    def _choose(self, question: Question, task: Choose, key: str) -> dict[str, Any]:
        scene, ask = self._scene_of_turn(question, key), task.ask
        if ask.options is None:
            _, own = self._speech(scene, Decide(ask))
        else:
            own = label(self._act(scene, ask)[0], ask.kind, question.situation.ruleset)
        number, why = candidate_taken(scene, ask, task.candidates, own, KeyedDraws(key))
        return {"reasoning": why, "choice": number + 1}

    def _plan(self, question: Question, task: Plan, key: str) -> str:
        scene, ask, rules = self._scene_of_turn(question, key), task.ask, question.situation.ruleset
        if ask.options is None:
            points = plan_statement(scene, ask.kind)
            if task.perspective == "others":
                return plan_seen_by_others(scene, task.earlier, planned_points(task.earlier, rules) or points)
            return plan_in_words(scene, aim_of_statement(points, rules))
        if task.perspective == "others" and planned_choice(scene, ask, task.earlier):
            return task.earlier
        action, why = self._act(scene, ask)
        return plan_in_words(scene, aim_of_choice(label(action, ask.kind, rules), why))

    def _planned(self, scene: TableScene, task: Decide) -> ChosenOption | None:
        """The option that an intent or a plan chooses, if any."""
        if task.intent is not None:
            action = intended_action(task.intent, task.ask)
            return None if action is None else (action, "")
        return planned_choice(scene, task.ask, task.plan)

    def _advice(self, scene: TableScene, task: Decide) -> str:
        """The advice of the request's suggestion, if it is followed; else ""."""
        if task.aids is None or not scene.draws.chance(
            "act on suggestion", 1000 * self.settings.act_on_suggestion
        ):
            return ""
        return advised(task.aids.suggestion, task.ask.kind)

    def _speech(self, scene: TableScene, task: Decide, advice: str = "") -> tuple[str, str]:
        """(reason, statement)."""
        kind, rules = task.ask.kind, scene.situation.ruleset
        if task.intent is not None:
            points = intended_statement(scene, task.intent, kind)
        else:
            points = list(planned_points(task.plan, rules)) or plan_statement(scene, kind)
        points = with_own_vote_only(scene, follow_advice(scene, points, advice))
        text = speak(points, rules, self.settings.phrases, scene.draws)
        aims = ", ".join(dict.fromkeys(point.kind.split()[0] for point in points))
        why = f"I am {a_role(scene.situation.role)}. My plan for this statement: {aims}."
        if kind == "statement":
            for name, sentence in planted_sentences(scene, self.settings.plant, text):
                text, why = f"{text} {sentence}", f"{why} (planted: {name})"
        return why, text

    def _act(self, scene: TableScene, ask: Ask, advice: str = "") -> ChosenOption:
        settings, draws = self.settings, scene.draws
        if draws.chance("noise", 1000 * settings.noise):
            return draws.one("random", ask.options or ()), "I go with my gut this time."
        leaning = self._leaning(scene, ask)
        if leaning is not None:
            return leaning
        if settings.follow_sheriff and ask.kind == "vote" and scene.me != scene.situation.sheriff:
            target = scene.recommended()
            offered = target is not None and Pick(target) in (ask.options or ())
            if target is not None and offered and draws.chance("follow", 1000 * settings.follow_sheriff):
                return Pick(target), f"I follow the Sheriff's recommendation: {scene.name(target)}."
        if advice == ACT:
            action, why = choose_to_act(scene, ask)
            return action, f"Past games advise me to act. {why}"
        idles = ask.kind != "antidote" and draws.chance("idle", 1000 * settings.idle)
        held = hold_back(ask) if advice == HOLD or idles else None
        if held is not None:
            return held
        if settings.shun is not None and ask.kind == "kill":
            ask = without_shunned(scene, ask, settings.shun, settings.shun_rate)
        return choose_by_habit(scene, ask)

    def _leaning(self, scene: TableScene, ask: Ask) -> ChosenOption | None:
        """The choice by a planted bias of the first night, if any."""
        settings = self.settings
        if settings.favour is not None and ask.kind == "kill":
            return favoured_seat(scene, ask, settings.favour, settings.favour_rate)
        if settings.expect is not None and ask.kind in SHIELDS:
            return favoured_seat(scene, ask, settings.expect, settings.expect_rate)
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
    if kind == 0:  # even the first of several candidates must be cut
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
