"""The steps of a reflective player before its response (003 §3.3–3.4, Table 4), one method each.

Recall → questions → answers → reflection → suggestion; the response is the last step of every recipe. If the
reply of a step is unusable, the turn goes on with a default (the first L questions, no answer, no reflection,
no suggestion); every such reply is noted.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..models.base import Sampling
from ..rules import Said
from ..text.asking.reflective_prompts import questionnaire
from ..text.asking.templates import phrases
from ..text.masking import mask
from ..text.notes import Answered, Asked, Recalled, Reflected, Suggested
from ..text.questions import (
    Aids,
    AnswerQuestion,
    AskQuestions,
    ChooseQuestions,
    Extract,
    Line,
    Pairs,
    Reflect,
    Situation,
)
from ..text.replies.parsed import Listed, Written
from .deliberation import Deliberation, Findings, Notes
from .experience import choose
from .recall import Messages, messages_seen, retrieve
from .recipes import Reflection


async def reflect(turn: Deliberation, stage: Reflection) -> Findings:
    """All steps before the response."""
    return await _ReflectionSteps(turn, stage).steps()


def recalled(turn: Deliberation, stage: Reflection) -> Situation:
    """The situation of a reflective player in this turn, from O and V (003 §3.3)."""
    memory, without, seat = messages_seen(turn.view), turn.recipe.without, turn.memory.seat
    recent = memory.recent(stage.recent if "recent" not in without else 0)
    older = memory.informative(stage.informative, len(recent)) if "informative" not in without else []
    talk = [isinstance(line.event, Said) and line.event.seat != seat for line in recent]
    return Situation(
        turn.view.ruleset,
        seat,
        turn.memory.role,
        turn.memory.pack,
        turn.ask.round,
        turn.ask.phase,
        turn.memory.alive,
        turn.memory.sheriff,
        facts=tuple(line for line, said in zip(recent, talk, strict=True) if not said),
        pending=tuple(line for line, said in zip(recent, talk, strict=True) if said),
        informative=tuple(older),
    )


class _ReflectionSteps:
    """The steps of one turn."""

    def __init__(self, turn: Deliberation, stage: Reflection) -> None:
        self.turn, self.recipe, self.stage = turn, turn.recipe, stage
        self.memory: Messages = messages_seen(turn.view)
        self.sampling = Sampling(stage.temperature, self.recipe.max_tokens)

    def has(self, component: str) -> bool:
        """Whether the recipe has this component of 003 §4.4.1."""
        return component not in self.recipe.without

    async def steps(self) -> Findings:
        """See the module."""
        now = self.recall()
        answers: Pairs = ()
        if self.has("questions"):
            chosen = await self.chosen(now) if self.has("predefined") else ()
            free = await self.free(now, chosen)
            self.turn.notes.append(("questions", Asked(chosen, free)))
            answers = await self.answers(now, (*chosen, *free))
        reflection = await self.reflection(now, answers) if self.has("reflection") else ""
        suggestion = ""
        if self.turn.retriever is not None and self.has("suggestion") and self.has("reflection"):
            suggestion = await self.suggestion(now, reflection)
        kept = () if self.has("reflection") else answers
        return Findings(now, aids=Aids(reflection, suggestion, kept, self.has("reasoning")))

    def recall(self) -> Situation:
        """O and V (003 §3.3, freshness and informativeness) as the situation of the turn, and their note."""
        now = recalled(self.turn, self.stage)
        recent = tuple(sorted(line.position for line in (*now.facts, *now.pending)))
        self.turn.notes.append(("recall", Recalled(recent, _places(now.informative))))
        return now

    async def chosen(self, now: Situation) -> tuple[str, ...]:
        """L of the role's nine questions; the first L if the reply is unusable."""
        listed, count = questionnaire(now.role, self.recipe.wording, now.ruleset), self.stage.chosen
        if count >= len(listed) or not count:
            return listed[:count]
        task = ChooseQuestions(self.turn.ask, listed, count)
        answer = await self.turn.put("questions/choose", now, task, self.turn.notes, sampling=self.sampling)
        return answer.questions if isinstance(answer, Listed) else listed[:count]

    async def free(self, now: Situation, chosen: tuple[str, ...]) -> tuple[str, ...]:
        """M questions of the player's own; L if there is no predefined set (003 §4.4.1)."""
        count = self.stage.free if self.has("predefined") else self.stage.chosen
        if not count:
            return ()
        task = AskQuestions(self.turn.ask, chosen, count)
        answer = await self.turn.put("questions/ask", now, task, self.turn.notes, sampling=self.sampling)
        return answer.questions if isinstance(answer, Listed) else ()

    async def answers(self, now: Situation, questions: Sequence[str]) -> Pairs:
        """(question, answer) from the messages retrieved for it (003 Eq. 1); empty answers are left out. The
        calls are concurrent, unless the recipe shows earlier answers to later questions.
        """
        turn = self.turn
        messages = await retrieve(turn.view, self.memory, questions, self.stage.retrieve, turn.io)
        pairs: list[tuple[str, str]] = []

        async def answer(number: int, earlier: Pairs) -> tuple[Notes, str]:
            notes: Notes = []
            task = AnswerQuestion(turn.ask, questions[number], tuple(messages[number]), earlier)
            step = f"answer/{number + 1}"
            given = await turn.put(step, now, task, notes, sampling=self.sampling)
            text = given.text if isinstance(given, Written) else ""
            notes.append((step, Answered(questions[number], text, _places(messages[number]))))
            return notes, text

        if self.stage.in_turn:
            results = []
            for number, question in enumerate(questions):
                results.append(await answer(number, tuple(pairs)))
                if results[-1][1]:
                    pairs.append((question, results[-1][1]))
        else:
            results = await turn.io.gather(answer(number, ()) for number in range(len(questions)))
        turn.notes += [note for notes, _ in results for note in notes]
        return tuple((q, text) for q, (_, text) in zip(questions, results, strict=True) if text)

    async def reflection(self, now: Situation, answers: Pairs) -> str:
        """R (003 Eq. 2); it becomes a message of this seat."""
        task = Reflect(self.turn.ask, answers)
        answer = await self.turn.put("reflect", now, task, self.turn.notes, sampling=self.sampling)
        if not isinstance(answer, Written):
            return ""
        self.turn.notes.append(("reflect", Reflected(answer.text)))
        return answer.text

    async def suggestion(self, now: Situation, reflection: str) -> str:
        """S: advice from past games with the same role and kind of ask (003 Eq. 6 and 7)."""
        turn, retriever = self.turn, self.turn.retriever
        assert retriever is not None
        if not reflection:
            turn.notes.append(("suggest", Suggested("", why="there is no reflection to look it up by")))
            return ""
        masked = mask(reflection, now.ruleset.names)
        vector = (await turn.io.embed("experience", (masked,)))[0]
        hits = retriever.search(vector, now.role, turn.ask.kind)
        picked = choose(hits, retriever.good, retriever.window)
        if picked is None:
            why = "fewer than two are near enough" if len(hits) < 2 else "no score among them is a good one"
            turn.notes.append(("suggest", Suggested("", len(hits), why=why)))
            return ""
        task = Extract(
            turn.ask, masked, picked.bad.response, tuple(example.response for example in picked.good)
        )
        answer = await turn.put("suggest", now, task, turn.notes, sampling=self.sampling)
        text = answer.text if isinstance(answer, Written) else ""
        if text and self.stage.advice == "random":
            text = self._random(len(text.split()))
        good = tuple(example.id for example in picked.good)
        why = "" if text else "the reply could not be used"
        if isinstance(answer, Written) and not text:
            why = "the model found no useful one"
        turn.notes.append(("suggest", Suggested(text, len(hits), picked.bad.id, good, why)))
        return text

    def _random(self, count: int) -> str:
        """Unrelated advice of `count` words, as a placebo."""
        bank = [phrase.template for phrase in phrases("random_advice", 0).values()]
        text: list[str] = ["The", "best", "way", "for", "you", "is", "to"]
        number = 0
        while len(text) < count:
            text += bank[self.turn.io.draw(f"suggest/random/{number}", len(bank))].split()
            number += 1
        return " ".join(text[:count]).rstrip(",;.") + "."


def _places(lines: Sequence[Line]) -> tuple[int, ...]:
    return tuple(line.position for line in lines)
