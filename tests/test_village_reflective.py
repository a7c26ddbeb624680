"""`village` as a reflective player: what it knows travels through its texts, its knobs do what they say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import msgspec
import pytest

from marks import slow_except
from wolflab.agents.language import LanguageAgent
from wolflab.agents.recipes import RECIPES, Recipe
from wolflab.errors import ModelError
from wolflab.match.draws import Draws
from wolflab.match.play import Match, Played, run_now
from wolflab.match.play import play as play_match
from wolflab.match.player import Dealing, Player
from wolflab.models.base import Request, Response
from wolflab.models.embedders.embedder_catalog import resolve_embedder
from wolflab.models.village import Village
from wolflab.models.village.beliefs.graded_words import GRADES, grade_word, graded_sentence, views_of
from wolflab.models.village.speech.planted import ABILITY, BEHAVIOURS, PLANTS
from wolflab.models.village.thoughts.questions_to_oneself import topic_of
from wolflab.rules import (
    DOCTOR,
    EVERYONE,
    NO,
    PASS,
    PRESETS,
    ROLES,
    WITCH,
    YES,
    Action,
    Ask,
    Chose,
    DayBroke,
    Dealt,
    Learned,
    Pick,
    Ruleset,
    Said,
    VoteCounted,
    Winner,
    only,
    preset,
)
from wolflab.text.advice import ACT, CALL, HIDE, HOLD, TELL, advised
from wolflab.text.asking.reflective_prompts import questionnaire
from wolflab.text.asking.templates import phrases
from wolflab.text.notes import Reflected
from wolflab.text.questions import (
    Aids,
    AnswerQuestion,
    AskQuestions,
    ChooseQuestions,
    Decide,
    Extract,
    Interview,
    Judge,
    Line,
    Pairs,
    Plan,
    Question,
    Reflect,
    Situation,
    Task,
)
from wolflab.text.reading import Accusation, Claim, Defence, Report, read
from wolflab.text.replies.parse import parse
from wolflab.text.replies.parsed import Decided, Listed, Problem, Verdict, Written
from wolflab.text.replies.reflective_replies import TEXT_LIMIT

VILLAGE = Village()
NAMES = WITCH.names
HASHING = resolve_embedder("hashing")
Kept = tuple[str, Question, str]


# -- games ----------------------------------------------------------------------------------------


class _Listener:
    """A model that asks `village` and keeps what was asked and said."""

    instant = True
    typed = True

    def __init__(self, village: Village) -> None:
        self.name, self.village = village.name, village
        self.asks: list[Kept] = []

    async def generate(self, request: Request) -> Response:
        response = await self.village.generate(request)
        self.asks.append((request.key, request.question, response.text))
        return response

    def describe(self) -> dict[str, object]:
        return self.village.describe()

    async def close(self) -> None:
        """Nothing to close."""


def _play(village: Village, key: str, rules: Ruleset, recipe: Recipe) -> tuple[Played, list[Kept]]:
    listener, agent, draws = _Listener(village), LanguageAgent(recipe), Draws(f"{key}|main")

    def casting(dealing: Dealing) -> list[Player]:
        return [Player(agent, listener, {"messages": HASHING})] * rules.players

    return run_now(play_match(Match(rules, casting, draws, draws, {}, (), write=False))), listener.asks


@cache
def _games(rules: str, recipe: str = "reflective", count: int = 4) -> tuple[tuple[Played, list[Kept]], ...]:
    return tuple(_play(VILLAGE, f"r|{rules}|{n}", preset(rules), RECIPES[recipe]) for n in range(count))


def _asks(rules: str, recipe: str = "reflective", count: int = 4) -> Iterator[Kept]:
    for _, asks in _games(rules, recipe, count):
        yield from asks


@pytest.mark.parametrize("rules", slow_except(["witch"], PRESETS))
@pytest.mark.parametrize("recipe", ["reflective", "reflective-003"])
def test_every_reply_is_what_the_task_asks_for(rules: str, recipe: str) -> None:
    seen = Counter[str]()
    for _, question, text in _asks(rules, recipe):
        answer, task = parse(question, text), question.task
        seen[type(task).__name__] += 1
        match task:
            case ChooseQuestions() | AskQuestions():
                assert isinstance(answer, Listed), (task, text)
                assert len(answer.questions) == task.count
            case AnswerQuestion() | Reflect():
                assert isinstance(answer, Written), (task, text)
                assert 0 < len(answer.text) <= TEXT_LIMIT
                assert answer.text == text.strip()
            case Decide():
                assert isinstance(answer, Decided), (task, text)
                assert task.ask.allows(answer.action)
                assert answer.reasoning
    print(rules, recipe, dict(seen))
    assert set(seen) == {"ChooseQuestions", "AskQuestions", "AnswerQuestion", "Reflect", "Decide"}
    assert seen["AnswerQuestion"] == 7 * seen["Decide"]


def test_replies_depend_on_nothing_but_question_and_key() -> None:
    asks = list(_asks("witch"))
    fresh = Village()
    for key, question, text in reversed(asks):
        assert fresh.answer(question, key) == text
    for key, question, text in asks[::23]:
        copied = replace(question, situation=replace(question.situation))
        assert Village().answer(copied, key) == text


def test_the_same_messages_are_read_for_the_moment_of_the_question() -> None:
    """At night or by day, with gaps or without: whatever the same seat was asked about them before."""
    kept = [one for one in _asks("witch", count=2) if isinstance(one[1].task, AskQuestions | AnswerQuestion)]
    for key, question, text in kept[::2]:
        now, same = question.situation, Village()
        then = replace(now, phase="discussion" if now.phase == "night" else "night")
        before = same.answer(replace(question, situation=then), key)
        assert same.answer(question, key) == text
        assert same.answer(replace(question, situation=then), key) == before
        whole = same.posterior(now)
        assert same.posterior(now, recalled=True).wolf == Village().posterior(now, recalled=True).wolf
        assert whole.wolf == Village().posterior(now).wolf
        plan = replace(question, task=Plan(question.task.ask))  # type: ignore[union-attr]
        same.answer(replace(plan, layout="append"), key)
        assert same.answer(plan, key) == Village().answer(plan, key)


def test_questions_and_answers_are_varied() -> None:
    asked = Counter[str]()
    answered = Counter[str]()
    for _, question, text in _asks("witch"):
        if isinstance(question.task, AskQuestions):
            asked.update(text.split(" # "))
        elif isinstance(question.task, AnswerQuestion):
            answered[text] += 1
    print(len(asked), "questions,", len(answered), "answers; the most frequent:", asked.most_common(2))
    assert len(asked) >= 30
    assert asked.most_common(1)[0][1] < 0.25 * asked.total()
    assert len(answered) >= 60


@pytest.mark.slow
def test_graded_words_are_right_as_often_as_they_say() -> None:
    """Of the players that a village-side reflection calls "probably" a Werewolf, so many are, and so on."""
    right: dict[str, list[int]] = {}
    for done, asks in _games("witch", count=40):
        roles = {event.seat: event.role for event in done.log.events if isinstance(event, Dealt)}
        for _, question, text in asks:
            now = question.situation
            if not isinstance(question.task, Reflect) or now.pack:
                continue
            for seat, value in views_of(text, now.ruleset.names, now.seat).wolf.items():
                tally = right.setdefault(grade_word(value), [0, 0])
                tally[0] += 1
                tally[1] += ROLES[roles[seat]].wolf
    floors = [floor for floor, _, _ in GRADES] + [1000]
    words = [word for _, word, _ in GRADES]
    for word, (total, wolves) in sorted(right.items(), key=lambda item: words.index(item[0])):
        low, high = floors[words.index(word)] / 1000, floors[words.index(word) + 1] / 1000
        print(f"{word:22} {wolves / total:.2f} of {total}, bin {low:.2f} to {high:.2f}")
        if total >= 100:
            assert low - 0.12 <= wolves / total <= high + 0.12
    assert len(right) >= 8


@pytest.mark.slow
def test_each_part_of_the_way_matters() -> None:
    """Without its texts a reflective player has nothing but first impressions, and with them it deduces."""

    def wins(*without: str) -> float:
        recipe = replace(RECIPES["reflective"], without=without)
        games = [_play(VILLAGE, f"m|{n}", WITCH, recipe)[0] for n in range(24)]
        return sum(done.outcome.winner is Winner.VILLAGE for done in games) / len(games)

    whole, answers, nothing = wins(), wins("reflection"), wins("questions", "reflection")
    print(
        f"the village wins {whole:.2f}, without reflection {answers:.2f}, without questions too {nothing:.2f}"
    )
    assert whole > nothing + 0.25
    assert answers > nothing + 0.25


# -- hand-made situations -------------------------------------------------------------------------


def _said(seat: int, text: str) -> Said:
    return Said(seat, "discussion", text, EVERYONE)


def _line(position: int, event: object, day: int = 1, phase: str = "day") -> Line:
    return Line(position + 1, day, phase, event, position)  # type: ignore[arg-type]


def _now(
    *events: object,
    role: str = "Villager",
    seat: int = 0,
    pack: tuple[int, ...] = (),
    rules: Ruleset = WITCH,
    alive: tuple[int, ...] | None = None,
    day: int = 1,
    phase: str = "voting",
    start: int = 40,
) -> Situation:
    """Recent messages; `start` leaves room for older ones."""
    lines = tuple(_line(start + n, event, day) for n, event in enumerate(events))
    here = tuple(range(rules.players)) if alive is None else alive
    return Situation(rules, seat, role, pack, day, phase, here, None, facts=lines)


def _ask(kind: str = "vote", seat: int = 0, day: int = 1) -> Ask:
    everybody = tuple(Pick(s) for s in range(7))
    options: dict[str, tuple[Action, ...] | None] = {"statement": None, "antidote": (YES, NO)}
    phase = "discussion" if kind == "statement" else "voting" if kind == "vote" else "night"
    return Ask(f"{day}/{kind}/{seat}", seat, kind, phase, day, options.get(kind, (*everybody, PASS)))


def _put(
    village: Village, now: Situation, task: Task, key: str = "g|main|a|act|0", wording: str = "own"
) -> str:
    return village.answer(Question(now, task, wording=wording, layout="recall"), key)  # type: ignore[arg-type]


def _decided(village: Village, now: Situation, aids: Aids, key: str, kind: str = "vote") -> Action:
    question = Question(now, Decide(_ask(kind, now.seat, now.round), aids), layout="recall")
    answer = parse(question, village.answer(question, key))
    assert isinstance(answer, Decided), answer
    return answer.action


REPORT = "I am the Seer. I checked Player 5 last night, and they are a Werewolf."


def test_retrieved_messages_reach_the_vote_through_answer_and_reflection() -> None:
    """What was said long ago stands nowhere but in a retrieved message."""
    now, ask = _now(DayBroke(2, (6,), EVERYONE), alive=(0, 1, 2, 3, 4, 5), day=2), _ask(day=2)
    old = (_line(3, _said(1, REPORT)), _line(4, _said(3, "I suspect Player 5. Let's vote for Player 5.")))
    asked = "Is Player 5 a Werewolf?"
    ignorant = _put(VILLAGE, now, AnswerQuestion(ask, asked, ()))
    knowing = _put(VILLAGE, now, AnswerQuestion(ask, asked, old))
    assert 4 not in views_of(ignorant, NAMES, 0).wolf
    assert views_of(knowing, NAMES, 0).wolf[4] >= 570
    assert any(isinstance(act, Accusation) and act.target == 4 for act in read(knowing, NAMES, 0))
    blank = _put(VILLAGE, now, Reflect(ask, ((asked, ignorant),)))
    told = _put(VILLAGE, now, Reflect(ask, ((asked, knowing),)))
    assert 4 not in views_of(blank, NAMES, 0).wolf
    assert views_of(told, NAMES, 0).wolf[4] >= 570
    keys = [f"g{n}|main|a|act|0" for n in range(30)]
    assert all(_decided(VILLAGE, now, Aids(told), key) == Pick(4) for key in keys)
    assert all(_decided(VILLAGE, now, Aids(answers=((asked, knowing),)), key) == Pick(4) for key in keys)
    assert {_decided(VILLAGE, now, Aids(blank), key) for key in keys} != {Pick(4)}


def test_informative_lines_count_as_recent_ones_do() -> None:
    now, ask = _now(DayBroke(2, (6,), EVERYONE), alive=(0, 1, 2, 3, 4, 5), day=2), _ask(day=2)
    with_older = replace(now, informative=(_line(3, _said(1, REPORT)),))
    assert 4 not in views_of(_put(VILLAGE, now, Reflect(ask, ())), NAMES, 0).wolf
    assert views_of(_put(VILLAGE, with_older, Reflect(ask, ())), NAMES, 0).wolf[4] >= 430


def test_an_earlier_reflection_is_remembered_and_fades() -> None:
    ask, names = _ask(day=3), NAMES
    events: list[object] = [
        Reflected("Player 5 is almost certainly a Werewolf. Player 2 claims to be the Seer.")
    ]
    now = _now(*events, DayBroke(3, (), EVERYONE), day=3)
    said = views_of(_put(VILLAGE, now, Reflect(ask, ())), names, 0)
    assert 380 <= said.wolf[4] < 935
    assert said.claims[1] == "Seer"
    twice = _now(*events, Reflected("I need to hear more."), day=3)
    assert 4 not in views_of(_put(VILLAGE, twice, Reflect(ask, ())), names, 0).wolf


def test_deaths_that_are_out_of_sight_are_known_all_the_same() -> None:
    """Three are left and the game goes on, though no line tells who died: one Werewolf among two."""
    now = _now(_said(1, "Good morning, everyone."), alive=(0, 1, 2), day=4, rules=DOCTOR)
    whole = VILLAGE.posterior(now, recalled=True)
    assert whole.wolf[1] + whole.wolf[2] == pytest.approx(1)


def test_what_is_known_for_certain_beats_any_text() -> None:
    now = _now(Learned(0, 4, "not a Werewolf", only(0)), role="Seer")
    told = _put(VILLAGE, now, Reflect(_ask(), (("Who is it?", "Player 5 is certainly a Werewolf."),)))
    assert views_of(told, NAMES, 0).wolf[4] < 20
    picks = {
        _decided(VILLAGE, now, Aids("Player 5 is certainly a Werewolf."), f"g{n}|m|a|act|0")
        for n in range(20)
    }
    assert Pick(4) not in picks


@pytest.mark.parametrize("wording", ["own", "paper"])
@pytest.mark.parametrize("role", ["Werewolf", "Villager", "Seer", "Witch", "Guard"])
def test_every_predefined_question_is_understood_and_answered(role: str, wording: str) -> None:
    pack = (0, 3) if role == "Werewolf" else ()
    now = _now(DayBroke(1, (6,), EVERYONE), _said(1, REPORT), role=role, pack=pack)
    answers = set()
    for question in questionnaire(role, wording, now.ruleset):  # type: ignore[arg-type]
        assert topic_of(question) != "general", question
        text = _put(VILLAGE, now, AnswerQuestion(_ask(), question, ()), wording=wording)
        assert text.endswith(".")
        assert text.count(". ") <= 3
        answers.add(text)
    assert len(answers) >= 6


def test_a_question_about_somebody_is_answered_about_them() -> None:
    now = _now(DayBroke(1, (6,), EVERYONE), _said(1, REPORT))
    for asked in ("What is Player 5 up to?", "Do I believe Player 5?", "Player 5, friend or foe?"):
        assert "Player 5" in _put(VILLAGE, now, AnswerQuestion(_ask(), asked, ()))
    mine = _put(
        VILLAGE, _now(role="Werewolf", pack=(0, 4)), AnswerQuestion(_ask(), "Is Player 5 a Werewolf?", ())
    )
    assert "teammate" in mine


def test_other_authors_reflections_are_read_too() -> None:
    text = (
        "So far I strongly suspect Player 3 of being a werewolf. I trust Player 4, and Player 2 claims to be "
        "the seer. My check showed that Player 6 is a Werewolf."
    )
    views = views_of(text, NAMES, 0)
    assert views.wolf[2] >= 600
    assert views.wolf[3] <= 200
    assert views.wolf[5] >= 900
    assert views.claims == {1: "Seer"}


@pytest.mark.parametrize(("floor", "word", "value"), [row for row in GRADES if row[1]])
def test_graded_sentences_are_read_back(floor: int, word: str, value: int) -> None:
    assert grade_word(floor) == grade_word(value) == word
    for seats in ((2,), (1, 4), (0, 3, 6)):
        sentence = graded_sentence(word, [NAMES[seat] for seat in seats])
        assert views_of(sentence, NAMES, 5).wolf == dict.fromkeys(seats, value)
        acts = read(sentence, NAMES, 5)
        stance = Accusation if value > 300 else Defence
        assert {act.target for act in acts if isinstance(act, stance)} == set(seats), sentence


# -- not thinking, idling, taking advice ------------------------------------------------------------


def _shares(
    village: Village, now: Situation, aids: Aids, kind: str = "vote", n: int = 600
) -> dict[Action, float]:
    found = Counter(_decided(village, now, aids, f"g{i}|main|a|act|0", kind) for i in range(n))
    return {action: count / n for action, count in found.items()}


CLOSE = "Player 5 is probably a Werewolf. Player 3 is likely a Werewolf."


def test_without_thinking_a_close_call_is_blurred_and_no_reason_given() -> None:
    now, text = _now(), "Player 5 is almost certainly a Werewolf. Player 3 is very probably a Werewolf."
    assert _shares(VILLAGE, now, Aids(text)) == {Pick(4): 1.0}
    hasty = _shares(VILLAGE, now, Aids(text, think=False))
    print(hasty)
    assert 0.75 < hasty[Pick(4)] < 0.93
    question = Question(now, Decide(_ask(), Aids(CLOSE, think=False)), layout="recall")
    assert set(msgspec.json.decode(VILLAGE.answer(question, "g|m|a|act|0"))) == {"action"}


def test_idling_is_as_frequent_as_set_and_only_where_one_may_pass() -> None:
    idler = Village(idle=0.4)
    for kind in ("vote", "kill", "protect", "poison", "see"):
        now = _now(role="Werewolf", pack=(0, 3)) if kind == "kill" else _now()
        told = Aids("Player 5 is certainly a Werewolf.")
        assert PASS not in _shares(VILLAGE, now, told, kind, 100)
        assert _shares(idler, now, told, kind)[PASS] == pytest.approx(0.4, abs=0.06), kind
    must = Question(_now(), Decide(replace(_ask(), options=(Pick(1), Pick(4))), Aids(CLOSE)), layout="recall")
    for n in range(40):
        key = f"g{n}|m|a|act|0"
        assert idler.answer(must, key) == VILLAGE.answer(must, key)


ADVICE = "The best way for you in such a situation is to vote for somebody instead of passing."


def test_the_chance_to_act_on_a_suggestion_is_recovered() -> None:
    """The planted defect and its cure: passing falls as idle · (1 − chance to act)."""
    now = _now()
    for chance in (0.0, 0.5, 1.0):
        village = Village(idle=0.6, act_on_suggestion=chance)
        passed = _shares(village, now, Aids(CLOSE, ADVICE)).get(PASS, 0.0)
        print(f"act_on_suggestion {chance}: passes {passed:.3f}")
        assert passed == pytest.approx(0.6 * (1 - chance), abs=0.05)


def test_suggestions_change_nothing_at_chance_zero_and_random_ones_never() -> None:
    nonsense = "The best way for you is to " + " ".join(
        phrase.template for phrase in phrases("random_advice", 0).values()
    )
    for kind in ("vote", "protect", "poison", "see", "antidote", "statement"):
        now = _now(role="Witch", phase="night" if kind != "statement" else "discussion")
        for n in range(40):
            key = f"g{n}|main|a|act|0"
            for village, text in (
                (Village(idle=0.3), ADVICE),
                (Village(idle=0.3, act_on_suggestion=1.0), nonsense),
            ):
                plain = Question(now, Decide(_ask(kind), Aids(CLOSE)), layout="recall")
                told = Question(now, Decide(_ask(kind), Aids(CLOSE, text)), layout="recall")
                assert village.answer(plain, key) == village.answer(told, key), (kind, key)


@pytest.mark.parametrize(
    ("kind", "suggestion", "says"),
    [
        ("vote", "The best way for you to do under such reflection is to vote to kill someone.", ACT),
        ("vote", "The best way for you now is to observe and analyse the others.", HOLD),
        ("vote", "The best way for you is not to vote today.", HOLD),
        ("kill", "The best way for you is to kill a player who may be the Seer.", ACT),
        ("kill", "The best way for you is to pass.", HOLD),
        ("protect", "The best way for you is to choose someone to protect based on your analysis.", ACT),
        ("protect", "The best way for you is to protect somebody instead of passing.", ACT),
        ("protect", "The best way for you is to refrain from using your ability.", HOLD),
        ("poison", "The best way for you is to use your drugs wisely.", ACT),
        ("poison", "The best way for you is to keep the poison for later.", HOLD),
        ("antidote", "The best way for you is to use the antidote.", ACT),
        ("antidote", "The best way for you is to save your antidote.", HOLD),
        ("see", "The best way for you is to verify the identity of suspicious players.", ACT),
        ("see", "The best way for you is to use your ability.", ACT),
        ("statement", "The best way for you is to reveal your role to all.", TELL),
        ("statement", "The best way for you is to keep your role hidden.", HIDE),
        ("statement", "The best way for you is to hide who you are.", HIDE),
        ("statement", "The best way for you is to call for a vote against a suspect.", CALL),
        ("protect", "The best way for you is to vote for somebody.", ""),
        ("statement", "The best way for you is to look at the ceiling.", ""),
        ("lead", "The best way for you is to pass.", ""),
    ],
)
def test_suggestions_are_read(kind: str, suggestion: str, says: str) -> None:
    assert advised(suggestion, kind) == says


def test_advice_is_acted_on_in_every_kind() -> None:
    village, now = Village(act_on_suggestion=1.0), _now(role="Witch", phase="night")
    weak = "Player 5 is likely a Werewolf."
    use = "The best way for you is to use your poison on a suspect."
    assert _shares(village, now, Aids(weak), "poison", 40) == {PASS: 1.0}
    assert _shares(village, now, Aids(weak, use), "poison", 40) == {Pick(4): 1.0}
    keep = "The best way for you is to hold back and keep your antidote."
    assert _shares(village, now, Aids(weak), "antidote", 40) == {YES: 1.0}
    assert _shares(village, now, Aids(weak, keep), "antidote", 40) == {NO: 1.0}
    talk = _now(role="Guard", phase="discussion")

    def claims(suggestion: str) -> int:
        found = 0
        for n in range(60):
            question = Question(talk, Decide(_ask("statement"), Aids(weak, suggestion)), layout="recall")
            statement = msgspec.json.decode(village.answer(question, f"g{n}|m|a|act|0"))["statement"]
            found += any(isinstance(act, Claim) and act.role == "Guard" for act in read(statement, NAMES, 0))
        return found

    tell, hide = "The best way for you is to tell your role.", "The best way for you is to hide your role."
    assert (claims(tell), claims(hide)) == (60, 0)
    assert claims("") < 30


# -- drawing advice from past games -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "bad", "good", "says"),
    [
        ("vote", "I choose to pass.", ["I choose to vote for Player C."] * 3, ACT),
        (
            "vote",
            "I vote to eliminate Player C.",
            ["I choose to pass.", "I pass.", "I vote for Player B."],
            HOLD,
        ),
        ("vote", "I choose to vote for Player A.", ["I choose to vote for Player C."] * 3, ""),
        ("vote", "I choose to pass.", ["I choose to pass.", "I choose to vote for Player C."], ""),
        (
            "protect",
            "I choose to pass.",
            ["I protect Player B tonight.", "I choose to protect Player D."],
            ACT,
        ),
        ("see", "I will not check anybody.", ["I choose to see Player B."] * 4, ACT),
        ("poison", "I choose to poison Player A.", ["I choose to pass."] * 4, HOLD),
        ("antidote", "I choose not to use the antidote.", ["I choose to use the antidote."], ACT),
        ("antidote", "Yes.", ["No.", "No."], HOLD),
        ("statement", "I am the Seer.", ["I suspect Player B.", "Let me listen first."], HIDE),
        ("statement", "I have little to say.", ["As the Witch, I saved Player A."] * 2, TELL),
        ("statement", "I suspect Player B.", ["Let's vote for Player B.", "My vote goes to Player C."], CALL),
        ("lead", "I choose to let the player on my left speak first.", ["I choose to pass."], ""),
    ],
)
def test_advice_comes_from_what_the_good_ones_do(kind: str, bad: str, good: list[str], says: str) -> None:
    task = Extract(_ask(kind), "It is day 1, and I am a Villager.", bad, tuple(good))
    question = Question(_now(), task, layout="recall")
    answer = parse(question, VILLAGE.answer(question, "g|main|a|suggest|0"))
    assert isinstance(answer, Written)
    assert bool(answer.text) == bool(says)
    assert advised(answer.text, kind) == says


# -- planted behaviours -------------------------------------------------------------------------------


def _statement(village: Village, now: Situation, key: str, wording: str = "own") -> Decided:
    question = Question(
        now,
        Decide(_ask("statement", now.seat, now.round), Aids(CLOSE)),
        layout="recall",
        wording=wording,  # type: ignore[arg-type]
    )
    answer = parse(question, village.answer(question, key))
    assert isinstance(answer, Decided)
    return answer


def test_every_behaviour_has_enough_wordings() -> None:
    for name, bank in PLANTS.items():
        assert len(set(bank)) == len(bank) >= 6, name


@pytest.mark.parametrize("wording", ["own", "paper"])
def test_a_plant_is_added_to_what_is_said_and_told_in_the_reasoning(wording: str) -> None:
    now = _now(role="Guard", phase="discussion")
    village, planted = Village(plant={"night_speech": 0.4}), 0
    for n in range(400):
        key = f"g{n}|main|a|act|0"
        plain, shown = _statement(VILLAGE, now, key, wording), _statement(village, now, key, wording)
        assert shown.action.text.startswith(plain.action.text)  # type: ignore[union-attr]
        more = shown.action != plain.action
        assert shown.reasoning.endswith("(planted: night_speech)") == more
        planted += more
    assert planted / 400 == pytest.approx(0.4, abs=0.08)


def _scenes() -> Iterator[tuple[str, Situation]]:
    dead = VoteCounted(6, (), EVERYONE)
    first = (DayBroke(1, (), EVERYONE), _said(1, "Good morning, everyone."))
    later = (*first, dead, DayBroke(2, (), EVERYONE), _said(2, "I suspect Player 4."))
    six = (0, 1, 2, 3, 4, 5)
    for role, pack in (("Werewolf", (0, 3)), ("Villager", ()), ("Guard", ()), ("Seer", ())):
        yield role, _now(*first, role=role, pack=pack, phase="discussion")
        killed = (Chose(0, "kill", Pick(6), only(0, 3)),) if pack else ()
        mine = (_said(0, "I am a Villager."),)
        yield role, _now(*killed, *later, role=role, pack=pack, alive=six, day=2, phase="discussion")
        yield role, _now(*mine, *later, role=role, pack=pack, alive=six, day=2, phase="discussion")


def _new_sentences(name: str) -> Iterator[tuple[str, Situation, str]]:
    village = Village(plant={name: 1.0})
    for role, now in _scenes():
        for n in range(12):
            key = f"g{n}|main|a|act|0"
            plain, shown = _statement(VILLAGE, now, key), _statement(village, now, key)
            if shown.action != plain.action:
                said = shown.action.text.removeprefix(plain.action.text).strip()  # type: ignore[union-attr]
                yield role, now, said


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_every_behaviour_can_be_planted_in_varied_words(name: str) -> None:
    said = [text for _, _, text in _new_sentences(name)]
    print(name, len(said), len(set(said)))
    assert len(set(said)) >= 6
    assert not any("{" in text for text in said)


def test_plants_are_sensible_for_role_and_situation() -> None:
    for role, _, text in _new_sentences("camouflage"):
        (claim,) = [act for act in read(text, NAMES, 0) if isinstance(act, Claim)]
        assert claim.role != role
        assert not ROLES[claim.role].wolf
    for role, _, text in _new_sentences("bluffing"):
        claimed = [act.role for act in read(text, NAMES, 0) if isinstance(act, Claim)]
        assert claimed
        assert all(one != role and not ROLES[one].plain for one in claimed)
    for name in ("self_exposure", "cooperation", "sacrificing"):
        assert {role for role, _, _ in _new_sentences(name)} == {"Werewolf"}
    for _, now, text in _new_sentences("future_citation"):
        assert now.round == 1
        assert "Player 2" not in text  # who has spoken
    for _, now, text in _new_sentences("contradicts_record"):
        assert now.round == 2 or any(words in text for words in ("died", "voted out", "is dead")), text
    for _, _, text in _new_sentences("impossible_ability"):
        assert any(isinstance(act, Report) for act in read(text, NAMES, 0)), text
    assert all(
        role in ("Guard", "Seer")
        for role, _, text in _new_sentences("concealment")
        if text in PLANTS[ABILITY]
    )


# -- outside the game ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "claimed"), [("Werewolf", "Villager"), ("Seer", "Villager"), ("Villager", "Seer")]
)
def test_an_interview_gives_a_reason_in_character(role: str, claimed: str) -> None:
    now = _now(role=role, pack=(0, 3) if role == "Werewolf" else (), phase="discussion")
    texts = {
        _put(VILLAGE, now, Interview(_ask("interview"), claimed), f"g{n}|m|a|interview|0") for n in range(20)
    }
    for text in texts:
        assert role in text
        assert claimed in text
    assert len(texts) > 1 or role != "Werewolf"


def _verdict(now: Situation, kind: str, reply: str, *names: str) -> dict[str, bool]:
    criteria = tuple((name, f"the reply shows {name}") for name in names) or (
        ("reasonable", "it makes sense"),
    )
    question = Question(now, Judge(_ask(kind, now.seat, now.round), reply, criteria))
    answer = parse(question, VILLAGE.answer(question, "judge|x|a|judge|0"))
    assert isinstance(answer, Verdict), answer
    assert answer.reasoning
    return dict(answer.labels)


def test_the_judge_refuses_what_goes_against_what_the_player_knows() -> None:
    seer = _now(Learned(0, 4, "Werewolf", only(0)), Learned(0, 2, "not a Werewolf", only(0)), role="Seer")
    wolf = _now(role="Werewolf", pack=(0, 3))
    cases = [
        (seer, "vote", "vote for Player 5", True),
        (seer, "vote", "vote for Player 3", False),
        (seer, "vote", "do not vote", False),
        (seer, "see", "see Player 5", False),
        (wolf, "kill", "kill Player 4", False),
        (wolf, "kill", "kill Player 2", True),
        (wolf, "vote", "vote for Player 4", True),
        (_now(role="Guard"), "statement", "As the Guard, I protected Player 2 last night.", True),
        (_now(role="Guard"), "statement", "As the Guard, I checked Player 2: a Werewolf.", False),
        (wolf, "statement", "I am a Werewolf.", False),
        (wolf, "statement", "I am the Seer, and I saw that Player 2 is a Werewolf.", True),
        (_now(), "statement", "I heard footsteps in the night.", False),
    ]
    for now, kind, reply, good in cases:
        assert _verdict(now, kind, reply) == {"reasonable": good}, (kind, reply)


def test_the_judge_answers_every_criterion() -> None:
    wolf = _now(role="Werewolf", pack=(0, 3), phase="discussion")
    said = "I am a Villager. I trust Player 2. Let's vote for Player 5."
    assert _verdict(wolf, "statement", said, "trust", "camouflage", "leadership", "bluffing", "odd") == {
        "trust": True,
        "camouflage": True,
        "leadership": True,
        "bluffing": False,
        "odd": False,
    }


# -- settings -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"idle": 1.1}, "idle"),
        ({"act_on_suggestion": "yes"}, "act_on_suggestion"),
        ({"plant": {"camouflage": 2}}, "plant.camouflage"),
        ({"plant": {"juggling": 0.1}}, "juggling"),
        ({"plant": 0.1}, "plant"),
    ],
)
def test_settings_are_checked(settings: dict[str, object], word: str) -> None:
    with pytest.raises(ModelError, match=word):
        Village(**settings)


def test_knobs_are_told_where_they_are_set() -> None:
    assert "idle" not in VILLAGE.describe()["settings"]
    told = Village(idle=0.5, plant={"trust": 0.1, "bluffing": 0.2}).describe()["settings"]
    assert (told["idle"], told["plant"]) == (0.5, {"bluffing": 0.2, "trust": 0.1})
    assert "act_on_suggestion" not in told
    assert Village(idle=0.5).name == "village(idle=0.5)"


def test_invalid_replies_are_unusable_in_plain_text_too() -> None:
    broken = Village(invalid=1.0)
    pairs: Pairs = (("Who is it?", "I do not know."),)
    tasks: list[Task] = [
        ChooseQuestions(_ask(), ("Who?", "Why?"), 1),
        AskQuestions(_ask(), (), 1),
        AnswerQuestion(_ask(), "Who is it?", ()),
        Reflect(_ask(), pairs),
        Extract(_ask(), "x", "I choose to pass.", ("I choose to pass.",)),
        Interview(_ask(), "Seer"),
        Judge(_ask(), "vote for Player 2", (("reasonable", "x"),)),
        Decide(_ask(), Aids(CLOSE)),
    ]
    for task in tasks:
        question = Question(_now(), task, layout="recall")
        for n in range(8):
            assert isinstance(parse(question, broken.answer(question, f"g{n}|m|a|s|0")), Problem), task
