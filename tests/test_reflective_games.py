"""Whole games of reflective players: alone and in a crowd, live and played back, interviewed and not; and
what a seat cannot know is in none of their prompts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

import test_leaks
import wolflab.rules.shielding as shielding
from marks import slow_except
from reflective_helpers import OWN, PAPER, Counting, ScriptedReflective, broad_pool, seated, step_of, written
from test_leaks import differing
from test_match import LateVillage, Tape, lines, match
from wolflab.agents.experience import Retriever
from wolflab.agents.recipes import RECIPES, Recipe
from wolflab.errors import CassetteMismatch
from wolflab.match import InterviewProbe, Played, StrawPoll, play, run_now
from wolflab.models.base import Request, Response
from wolflab.models.calls import Cassette
from wolflab.models.embedders.embedder import Vectors
from wolflab.models.embedders.hashing import HashingEmbedder
from wolflab.models.village import Village
from wolflab.record import GameRecord, read_record, verify
from wolflab.rules import DUTIES, EVERYONE, PRESETS, SHERIFF, WITCH, Ruleset, Said, Say
from wolflab.text.asking.prompts import messages
from wolflab.text.notes import Interviewed, Mistake, Reflected
from wolflab.text.questions import Interview as InterviewTask
from wolflab.text.questions import Question
from wolflab.text.reading import claimed_against

KINDS = ("statement", "vote", "last-words", "campaign", "elect", "lead", "succeed", *DUTIES)
SHORT = {name: rules.with_(max_rounds=2) for name, rules in PRESETS.items()}


def retriever(name: str) -> Retriever:
    return Retriever(broad_pool(PRESETS[name], KINDS), deal="t/0")


def recorded(played: Played) -> GameRecord:
    return read_record(*lines(played))


# -- one game, however it is played ---------------------------------------------------------------


@pytest.mark.parametrize("name", slow_except(["witch"], PRESETS))
@pytest.mark.parametrize(
    "recipe", [OWN, PAPER, OWN.with_(reflect={"in_turn": True})], ids=["own", "paper", "in turn"]
)
def test_the_same_records_alone_in_a_crowd_and_played_back(name: str, recipe: Recipe) -> None:
    """One after another without an event loop; several at once with replies and vectors that come late."""
    rules, taught = SHORT[name], retriever(name)
    probes = (StrawPoll(2),)
    tapes = [Tape() for _ in range(2)]

    async def crowd() -> list[Played]:
        late = seated(recipe, ScriptedReflective(waits=True), Counting(late=True), taught)
        games = (play(match(rules, late, seed, probes, tapes[seed])) for seed in range(2))
        return list(await asyncio.gather(*games))

    together = asyncio.run(crowd())
    calm = seated(recipe, ScriptedReflective(), Counting(), taught)
    for seed, crowded in enumerate(together):
        alone = run_now(play(match(rules, calm, seed, probes)))
        back = run_now(play(match(rules, seated(recipe, _Mute(), Counting(), taught), seed, probes,
                                  Cassette(tapes[seed].filed))))  # fmt: skip
        unpolled = run_now(play(match(rules, calm, seed)))
        assert lines(alone) == lines(crowded) == lines(back)
        assert lines(unpolled)[0] == lines(alone)[0]
        verify(recorded(alone))


class _Mute(ScriptedReflective):
    """A model that must not be asked."""

    async def generate(self, request: Request) -> Response:
        raise AssertionError(f"{request.key} was asked")


@pytest.mark.parametrize("name", slow_except(["witch"], PRESETS))
def test_village_thinks_the_same_alone_and_in_a_crowd(name: str) -> None:
    rules, taught = SHORT[name], retriever(name)
    probes = (StrawPoll(), InterviewProbe(camouflaged))

    async def crowd() -> list[Played]:
        late = seated(OWN, LateVillage(), Counting(late=True), taught)
        seeds = range(2)
        return list(await asyncio.gather(*(play(match(rules, late, seed, probes)) for seed in seeds)))

    calm = seated(OWN, Village(noise=0.1, invalid=0.05), Counting(), taught)
    for seed, crowded in enumerate(asyncio.run(crowd())):
        alone = run_now(play(match(rules, calm, seed, probes)))
        assert lines(alone) == lines(crowded)
        assert lines(run_now(play(match(rules, calm, seed))))[0] == lines(alone)[0]
        verify(recorded(alone))


def test_another_recipe_or_pool_is_noticed_on_playback() -> None:
    tape = Tape()
    rules, taught = SHORT["witch"], retriever("witch")
    run_now(play(match(rules, seated(OWN, ScriptedReflective(), retriever=taught), 1, call_cache=tape)))
    for recipe, given in (
        (OWN.with_(tips=True), taught),
        (OWN.with_(without=["rules"]), taught),
        (OWN.with_(reflect={"recent": 9}), taught),
        (OWN, None),
    ):
        changed = seated(recipe, _Mute(), retriever=given)
        with pytest.raises(CassetteMismatch, match="differs from the recorded one"):
            run_now(play(match(rules, changed, 1, call_cache=Cassette(tape.filed))))


def test_reflections_of_the_record_are_the_messages_of_the_prompts() -> None:
    model = ScriptedReflective()
    record = recorded(
        run_now(play(match(SHORT["witch"], seated(OWN.with_(reflect={"recent": 99}), model), 2)))
    )
    last = {request.question.situation.seat: request for request in model.requests}
    most = 0
    for seat, request in last.items():
        thoughts = [
            content.text
            for turn in record.turns
            if turn.seat == seat
            for _, content in turn.notes
            if isinstance(content, Reflected)
        ]
        events = [line.event for line in request.question.situation.lines]
        assert [one.text for one in events if isinstance(one, Reflected)] == thoughts[:-1]
        most = max(most, len(thoughts))
    assert most > 3


# -- the interview (003 A.4) ----------------------------------------------------------------------


def camouflaged(said: Said, role: str, rules: Ruleset) -> bool:
    return claimed_against(said.text, said.seat, role, rules) is not None


@pytest.mark.parametrize("name", slow_except(["witch"], PRESETS))
@pytest.mark.parametrize(
    "recipe", [OWN, PAPER, RECIPES["vanilla"], RECIPES["deductive-002"]], ids=lambda r: r.name
)
def test_whoever_speaks_as_if_it_had_another_role_is_asked_why(name: str, recipe: Recipe) -> None:
    rules = PRESETS[name].with_(max_rounds=3)
    heard = 0
    for seed in range(3):
        casting = seated(recipe, ScriptedReflective())
        record = recorded(run_now(play(match(rules, casting, seed, (InterviewProbe(camouflaged),)))))
        bare = run_now(play(match(rules, casting, seed)))
        assert record.lines == lines(bare)[0], "an interview changes nothing"
        expected = []
        for turn in record.turns:
            if turn.kind == "statement" and turn.invalid is None:
                assert isinstance(turn.action, Say)
                claimed = claimed_against(turn.action.text, turn.seat, record.roles[turn.seat], rules)
                if claimed is not None:
                    expected.append((f"{turn.round}/interview/{turn.seat}", turn.seat, claimed))
        asked = []
        for probe in record.probes:
            ((_, note),) = probe.notes
            assert isinstance(note, Interviewed)
            assert probe.action == Say(note.text)
            assert note.text.startswith("I called myself")
            last = record.events[probe.at - 1]
            assert isinstance(last, Said)
            assert last.seat == probe.seat, "at once, before anybody else is heard"
            asked.append((probe.ask, probe.seat, note.claimed))
        assert asked == expected
        heard += len(asked)
        verify(record)
    assert heard > 3


def test_silence_truth_and_last_words_bring_no_interview() -> None:
    def speak(text: str) -> Any:
        return lambda request: (
            f'{{"statement": "{text}"}}' if request.question.task.ask.options is None else None
        )

    for text in ("(silence)", "I agree with Player 3."):
        casting = seated(OWN, ScriptedReflective(spoil=speak(text)))
        assert not recorded(run_now(play(match(WITCH, casting, 1, (InterviewProbe(camouflaged),))))).probes
    record = recorded(
        run_now(play(match(WITCH, seated(OWN, ScriptedReflective()), 1, (InterviewProbe(camouflaged),))))
    )
    assert any(turn.kind == "last-words" for turn in record.turns)
    assert {probe.kind for probe in record.probes} == {"interview"}
    assert {probe.ask.split("/")[1] for probe in record.probes} == {"interview"}


def test_an_interviewed_reflective_player_has_its_own_messages_before_it() -> None:
    model = ScriptedReflective()
    run_now(play(match(WITCH, seated(OWN, model), 1, (InterviewProbe(camouflaged),))))
    asked = [one for one in model.requests if isinstance(one.question.task, InterviewTask)]
    assert asked
    for request in asked:
        told = messages(request.question)[1].content
        numbers = [int(line[1:].split("]")[0]) for line in told.splitlines() if line.startswith("[")]
        assert numbers == sorted(numbers)
        assert len(numbers) == numbers[-1] or len(numbers) >= 15
        own = request.question.situation.lines[-1].event
        assert isinstance(own, Said)
        assert own.seat == request.question.situation.seat
        assert any(isinstance(line.event, Reflected) for line in request.question.situation.lines)


def test_an_unusable_interview_is_no_event_of_the_game() -> None:
    def spoil(request: Request) -> str | None:
        return "..." if step_of(request) == "interview" else None

    casting = seated(OWN.with_(retries=1), ScriptedReflective(spoil=spoil))
    record = recorded(run_now(play(match(WITCH, casting, 1, (InterviewProbe(camouflaged),)))))
    assert record.probes
    for probe in record.probes:
        assert probe.invalid
        assert probe.action is None
        assert [type(note) for _, note in probe.notes] == [Mistake, Mistake]
    verify(record)


# -- what a seat cannot know ----------------------------------------------------------------------


class Hearing(test_leaks.Listening):
    """An `io` that keeps every prompt and thinks like `ScriptedReflective`."""

    async def generate(self, step: str, question: Question, *rest: Any) -> Response:
        await super().generate(step, question, *rest)
        return Response(written(Request(question, f"{self.ask.id}|{step}|0")) or '{"action": "do not vote"}')

    async def embed(self, what: str, texts: Sequence[str]) -> Vectors:
        return await HashingEmbedder().embed(texts)


@pytest.fixture
def listening(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twins are asked through `Hearing`, with experience to draw on."""
    agent = test_leaks.LanguageAgent
    taught = retriever("witch")
    monkeypatch.setattr(test_leaks, "Listening", Hearing)
    monkeypatch.setattr(test_leaks, "LanguageAgent", lambda recipe, policy: agent(recipe, taught))


@pytest.mark.usefixtures("listening")
@pytest.mark.parametrize("rules", slow_except([PRESETS["witch"]], PRESETS.values()), ids=list(PRESETS))
@pytest.mark.parametrize("recipe", [OWN, PAPER], ids=lambda recipe: recipe.name)
def test_twins_think_alike(rules: Ruleset, recipe: Recipe) -> None:
    compared, different = differing(rules, recipe, range(3))
    assert compared >= 100
    assert different == 0


@pytest.mark.usefixtures("listening")
def test_a_planted_leak_shows_in_what_is_thought(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shielding, "only", lambda *seats: EVERYONE)
    assert differing(SHERIFF, OWN, range(6))[1] > 0
