"""`village` weighing what to do: candidates that are legal, different and known by their strategy, its own
first; a choice that stays its own; plans that are followed; intents that are carried out; planted biases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

import msgspec
import pytest

from marks import slow_except
from wolflab.agents.language import LanguageAgent
from wolflab.agents.recipes import RECIPES
from wolflab.errors import ModelError
from wolflab.match import Match, Player, play, run_now
from wolflab.match.draws import Draws
from wolflab.models.base import Request, Response
from wolflab.models.village import Village
from wolflab.models.village.choices.candidates import in_order, own_key
from wolflab.models.village.choices.choosing_by_strategy import CHOICES, VILLAGE_VOTES, WOLF_VOTES
from wolflab.models.village.draws import KeyedDraws
from wolflab.models.village.speech.phrases import Point
from wolflab.models.village.speech.speaking_by_strategy import HONEST, LYING
from wolflab.models.village.thoughts.plans import aim_of_statement, planned_points
from wolflab.rules import (
    DOCTOR,
    EVERYONE,
    NO,
    PASS,
    PRESETS,
    ROLES,
    SHERIFF,
    YES,
    Ask,
    DayBroke,
    Event,
    Learned,
    PackMet,
    Pick,
    Ruleset,
    Said,
    Winner,
    facts_of,
    only,
)
from wolflab.text.asking.options import label
from wolflab.text.intents import HIDE, IDLE, Intent, intents, possible
from wolflab.text.notes import Belief, Candidate
from wolflab.text.questions import Choose, Decide, Line, Plan, Propose, Question, Situation
from wolflab.text.reading import Accusation, Claim, Report, Suggestion, read
from wolflab.text.replies.parse import parse
from wolflab.text.replies.parsed import Decided, Preferred, Problem, Proposals, Written

VILLAGE = Village()
Call = tuple[str, Question, str]
"""(key, question, reply)."""


class _Listener:
    """A model that asks `village` and keeps what was said. prefer: reasonings of candidates to choose."""

    instant = True
    typed = True

    def __init__(self, village: Village, prefer: Sequence[str] | None = None) -> None:
        self.name, self.village, self.prefer = village.name, village, prefer
        self.calls: list[Call] = []

    async def generate(self, request: Request) -> Response:
        task, text = request.question.task, self.village.answer(request.question, request.key)
        if isinstance(task, Choose) and self.prefer is not None:
            liked = [
                n for n, one in enumerate(task.candidates) if one.reasoning.startswith(tuple(self.prefer))
            ]
            text = msgspec.json.encode({"choice": liked[0] + 1 if liked else 1}).decode()
        self.calls.append((request.key, request.question, text))
        return Response(text)

    def describe(self) -> dict[str, object]:
        return self.village.describe()

    async def close(self) -> None:
        pass


def _play(rules: Ruleset, deal: str, seat: Callable[[str], Player]) -> tuple[Winner, list[Event]]:
    draws = Draws(f"{deal}|main")
    done = run_now(
        play(Match(rules, lambda now: [seat(r) for r in now.roles], draws, draws, {}, write=False))
    )
    return done.outcome.winner, list(done.log.events)


@cache
def _calls(recipe: str, rules: str, games: int, village: Village = VILLAGE) -> tuple[Call, ...]:
    """Every call of some games of one recipe against itself."""
    listener = _Listener(village)
    player = Player(LanguageAgent(RECIPES[recipe]), listener)
    for n in range(games):
        _play(PRESETS[rules], f"strategic|{n}", lambda role: player)
    return tuple(listener.calls)


def _of(recipe: str, task: type, games: int = 12, rules: str = "doctor") -> Iterator[Call]:
    return (call for call in _calls(recipe, rules, games) if isinstance(call[1].task, task))


def _situation(
    seat: int,
    role: str,
    *events: Event,
    pack: tuple[int, ...] = (),
    rules: Ruleset = DOCTOR,
    day: int = 1,
    phase: str = "discussion",
) -> Situation:
    lines = tuple(Line(n + 1, day, "day", event, n) for n, event in enumerate(events))
    alive = facts_of(rules, events).living
    return Situation(rules, seat, role, pack, day, phase, alive, None, facts=lines)


def _ask(seat: int, *targets: int, kind: str = "vote", passing: bool = False) -> Ask:
    phase = {"vote": "voting", "statement": "discussion"}.get(kind, "night")
    options = (*(Pick(t) for t in targets), *((PASS,) if passing else ()))
    return Ask(f"1/{kind}/{seat}", seat, kind, phase, 1, None if kind == "statement" else options)


def _said(seat: int, text: str) -> Said:
    return Said(seat, "discussion", text, EVERYONE)


def _key(game: int, ask: Ask, step: str) -> str:
    return f"g{game}|main|{ask.id}|{step}|0"


# -- the contract -------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", slow_except(["doctor"], PRESETS))
@pytest.mark.parametrize("recipe", ["diverse", "cot", "recon"])
def test_every_reply_can_be_used(recipe: str, rules: str) -> None:
    kinds = Counter[str]()
    for _, question, text in _calls(recipe, rules, 12):
        task, answer = question.task, parse(question, text)
        assert not isinstance(answer, Problem), (task, text)
        kinds[type(task).__name__] += 1
        match task:
            case Propose(ask, count, earlier):
                assert isinstance(answer, Proposals)
                actions = [one.action for one in answer.candidates]
                assert len(set(actions)) == len(actions) == min(count, len(ask.options or range(count)))
                assert all(ask.allows(action) for action in actions)
                assert all(one.reasoning for one in answer.candidates)
                assert not {label(one, ask.kind, PRESETS[rules]) for one in actions} & {
                    c.action for c in earlier
                }
            case Choose(_, candidates):
                assert isinstance(answer, Preferred)
                assert answer.number < len(candidates)
            case Plan():
                assert isinstance(answer, Written)
            case Decide(ask, plan=plan):
                assert isinstance(answer, Decided)
                assert ask.allows(answer.action)
                assert bool(answer.reasoning) == (not plan)
            case _:
                pass
    assert kinds["Plan" if recipe != "diverse" else "Choose"] > 50


def test_replies_depend_on_nothing_but_question_and_key() -> None:
    """A turn's questions share what they have in common; in which order they come does not matter."""
    calls = [*_of("diverse", Propose, 4), *_of("diverse", Choose, 4), *_of("recon", Plan, 4)]
    fresh = Village()
    for key, question, text in reversed(calls):
        assert fresh.answer(question, key) == text
    for key, question, text in calls[::7]:
        assert Village().answer(replace(question, situation=replace(question.situation)), key) == text


def test_what_a_turn_shares_is_made_for_its_beliefs_and_style() -> None:
    """One situation, one key, other beliefs or another style: other replies, whatever was asked before."""
    now, ask = _situation(0, "Villager", *_TALK), _ask(0, 1, 2, 3, 4, 5, 6)
    speak, same = _ask(0, kind="statement"), Village()
    for n in range(20):
        for seat in (1, 2, 4):
            question = Question(now, Propose(ask, 2), (Belief(seat, "Werewolf", 9, 2),))
            answer = parse(question, same.answer(question, _key(n, ask, "propose")))
            assert isinstance(answer, Proposals)
            assert answer.candidates[0].action == Pick(seat)
        for style in (None, "aggressive_accuser", "quiet_follower"):
            styled = Question(now, Propose(speak, 1), style=style)
            key = _key(n, speak, "propose/1")
            assert same.answer(styled, key) == Village().answer(styled, key)


@pytest.mark.parametrize("task", ["propose", "choose", "plan"])
def test_unusable_replies_are_unusable(task: str) -> None:
    village = Village(invalid=1.0)
    calls = [*_of("diverse", Propose, 4), *_of("diverse", Choose, 4), *_of("recon", Plan, 4)]
    seen = 0
    for key, question, _ in calls:
        if type(question.task).__name__.lower() == task:
            seen += 1
            assert isinstance(parse(question, village.answer(question, key)), Problem)
    assert seen > 50


# -- candidates -----------------------------------------------------------------------------------


def test_the_first_candidate_is_what_it_would_do_without_others() -> None:
    count = 0
    for key, question, text in _of("diverse", Propose):
        task = question.task
        assert isinstance(task, Propose)
        if task.earlier:
            continue
        plain = replace(question, task=Decide(task.ask))
        decided, proposed = parse(plain, VILLAGE.answer(plain, own_key(key))), parse(question, text)
        assert isinstance(proposed, Proposals)
        assert proposed.candidates[0] == decided
        count += 1
    assert count > 200


def test_taking_the_first_every_time_plays_the_deductive_games() -> None:
    def party(recipe: str, prefer: Sequence[str] | None) -> Player:
        return Player(LanguageAgent(RECIPES[recipe]), _Listener(VILLAGE, prefer))

    diverse, deductive = party("diverse", ()), party("deductive-004", None)
    for n in range(10):
        games = [_play(DOCTOR, f"first|{n}", lambda role, one=one: one) for one in (diverse, deductive)]  # type: ignore[misc]
        assert games[0] == games[1]


def test_statements_differ_in_what_they_say_and_strategies_are_used_once() -> None:
    marks = [one.mark for one in (*HONEST, *LYING)]
    for _, question, text in _of("diverse", Propose):
        task, now = question.task, question.situation
        assert isinstance(task, Propose)
        if not task.earlier:
            continue
        reply = msgspec.json.decode(text)
        heard = [frozenset(read(one.action, now.ruleset.names, now.seat)) for one in task.earlier]
        assert frozenset(read(reply["statement"], now.ruleset.names, now.seat)) not in heard
        used = [one for one in marks if any(one in earlier.reasoning for earlier in task.earlier)]
        assert not any(one in reply["reasoning"] for one in used)


def _proposed(situation: Situation, ask: Ask, count: int, keys: int = 150) -> Counter[str]:
    """The reasonings' beginnings of all candidates, under so many keys; statements one after the other."""
    found = Counter[str]()
    for n in range(keys):
        if ask.options is not None:
            question = Question(situation, Propose(ask, count))
            made = msgspec.json.decode(VILLAGE.answer(question, _key(n, ask, "propose")))["candidates"]
        else:
            made = []
            for step in range(1, count + 1):
                told = tuple(Candidate(one["statement"], one["reasoning"]) for one in made)
                question = Question(situation, Propose(ask, 1, told))
                made.append(msgspec.json.decode(VILLAGE.answer(question, _key(n, ask, f"propose/{step}"))))
        found.update(one["reasoning"] for one in made)
    return found


_TALK = (
    DayBroke(1, (), EVERYONE),
    _said(5, "I am the Seer. I checked player_3 last night, and they are a Werewolf."),
    _said(6, "I think player_0 is a Werewolf. I suspect player_1."),
    _said(4, "I suspect player_2. I trust player_6."),
)


def _talk(rules: Ruleset) -> tuple[Event, ...]:
    """The same talk where the players have other names."""

    def named(text: str) -> str:
        for seat, name in enumerate(DOCTOR.names):
            text = text.replace(name, f"<{seat}>")
        for seat, name in enumerate(rules.names):
            text = text.replace(f"<{seat}>", name)
        return text

    return tuple(_said(one.seat, named(one.text)) if isinstance(one, Said) else one for one in _TALK)


@pytest.mark.parametrize(
    ("role", "pack", "speeches"),
    [("Doctor", (), HONEST), ("Seer", (), HONEST), ("Werewolf", (0, 1), LYING), ("Werewolf", (0, 2), LYING)],
)
def test_every_strategy_of_speech_comes_up(
    role: str, pack: tuple[int, ...], speeches: Sequence[object]
) -> None:
    found = _proposed(_situation(0, role, *_TALK, pack=pack), _ask(0, kind="statement"), 3)
    seen = {one.name for one in (*HONEST, *LYING) if any(r.startswith(one.mark) for r in found)}
    assert seen == {one.name for one in speeches}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("kind", "role", "pack", "wanted"),
    [
        ("vote", "Villager", (), {"accuser", "doubt", "majority", "nothing", "second", "silent", "third"}),
        ("vote", "Werewolf", (0, 1), {"accuser", "harmless", "mate", "nothing", "seer", "victim"}),
        ("kill", "Werewolf", (0, 1), {"accuser", "quiet", "unguarded", "trusted"}),
        ("save", "Doctor", (), {"self", "target", "trusted"}),
        ("see", "Seer", (), {"accuser", "influential", "quiet"}),
        ("poison", "Witch", (), {"accuser", "doubt", "first", "second"}),
        ("antidote", "Witch", (), {"keep"}),
    ],
)
def test_strategies_of_choice_come_up(kind: str, role: str, pack: tuple[int, ...], wanted: set[str]) -> None:
    """All of them but those that are what the player would do anyway, and so come first."""
    rules = PRESETS["witch"] if role == "Witch" else DOCTOR
    now = _situation(0, role, *_talk(rules), pack=pack, day=2, rules=rules, phase="night")
    mine = (0,) if kind == "save" else ()
    ask = _ask(0, *mine, 1, 2, 3, 4, 5, 6, kind=kind, passing=kind in ("vote", "poison"))
    if kind == "antidote":
        ask = replace(ask, options=(YES, NO))
    found = _proposed(now, ask, 8, 60)
    menu = (WOLF_VOTES if pack else VILLAGE_VOTES) if kind == "vote" else CHOICES[kind]
    assert {one.name for one in menu if any(r.startswith(one.mark) for r in found)} >= wanted


def test_orders_follow_the_weights() -> None:
    first = Counter(in_order("abc", (6, 3, 1), KeyedDraws(f"o{n}"))[0] for n in range(2000))
    assert first["a"] / 2000 == pytest.approx(0.6, abs=0.04)
    assert first["b"] / 2000 == pytest.approx(0.3, abs=0.04)
    assert sorted(in_order(range(40), [1] * 40, KeyedDraws("long"))) == list(range(40))


def test_styles_and_phrases_apply_to_further_candidates() -> None:
    now, ask = _situation(0, "Werewolf", *_TALK, pack=(0, 1)), _ask(0, kind="statement")
    first = (Candidate("I have little to go on yet.", "…"),)

    def share(style: str | None, mark: str, **settings: object) -> float:
        village = Village(**settings)
        question = Question(now, Propose(ask, 1, first), style=style)
        return sum(mark in village.answer(question, _key(n, ask, "propose/2")) for n in range(300)) / 300

    lie = LYING[0].mark
    assert share("quiet_follower", lie) < share(None, lie) - 0.05 < share("aggressive_accuser", lie) - 0.1
    assert share(None, "I am certain that player") > 0
    assert share(None, "I am certain that player", phrases="b") == 0


# -- keeping to what was said -----------------------------------------------------------------------


def test_candidates_never_contradict_what_their_speaker_has_claimed() -> None:
    """Whatever is chosen. A claim holds (but a hidden ability may come out), and so does a false check."""
    anything = [one.mark for one in (*LYING, *HONEST)]
    for order in (anything, anything[::-1]):
        listener = _Listener(VILLAGE, order)
        player = Player(LanguageAgent(RECIPES["diverse"]), listener)
        for n in range(12):
            _play(DOCTOR, f"consistent|{n}", lambda role, one=player: one)  # type: ignore[misc]
        later = [
            call for call in listener.calls if isinstance(call[1].task, Propose) and call[1].task.earlier
        ]
        assert len(later) > 200
        for _, question, text in later:
            _consistent(question.situation, msgspec.json.decode(text)["statement"])


def _consistent(now: Situation, text: str) -> None:
    names, me = now.ruleset.names, now.seat
    before = [
        act
        for line in now.lines
        if isinstance(line.event, Said) and line.event.seat == me
        for act in read(line.event.text, names, me)
        if act.speaker == me
    ]
    acts = [act for act in read(text, names, me) if act.speaker == me]
    told = [act.role for act in before if isinstance(act, Claim) and not act.denied]
    for claim in (act for act in acts if isinstance(act, Claim)):
        honest = claim.role == now.role and not ROLES[now.role].wolf
        assert honest or not told or claim.role == told[-1], (told, text)
    checks = {act.target: act.what for act in before if isinstance(act, Report) and act.kind == "see"}
    made = [act for act in acts if isinstance(act, Report) and act.kind == "see"]
    for report in made:
        assert checks.get(report.target, report.what) == report.what, (checks, text)
    assert len({*checks, *(report.target for report in made)}) <= now.round
    good = {target for target, what in checks.items() if what != "Werewolf"}
    assert not any(isinstance(act, Accusation) and act.target in good for act in acts), (checks, text)


def test_a_false_seer_tells_a_new_check_the_next_day() -> None:
    mine = _said(0, "I am the Seer. I checked player_4 last night, and they are a Werewolf.")
    now = _situation(
        0, "Werewolf", DayBroke(1, (), EVERYONE), mine, DayBroke(2, (), EVERYONE), pack=(0, 1), day=2
    )
    ask, told = _ask(0, kind="statement"), Counter[int]()
    for n in range(80):
        question = Question(now, Propose(ask, 1, (Candidate("I will listen to the others first.", "…"),)))
        reply = msgspec.json.decode(VILLAGE.answer(question, _key(n, ask, "propose/2")))
        if reply["reasoning"].startswith(LYING[0].mark):
            reports = [a for a in read(reply["statement"], DOCTOR.names, 0) if isinstance(a, Report)]
            assert (4, "Werewolf") in [(a.target, a.what) for a in reports]
            told.update(a.target for a in reports)
    assert set(told) - {4}
    assert 1 not in told


@pytest.mark.parametrize(("role", "pack"), [("Werewolf", (0, 1)), ("Villager", ())])
def test_nobody_accuses_whom_they_cleared_or_checks_twice_in_a_night(
    role: str, pack: tuple[int, ...]
) -> None:
    """After a false report on day 1, asked again on day 1."""
    mine = _said(0, "I am the Seer. I checked player_4 last night, and they are not a Werewolf.")
    crowd = tuple(_said(seat, "I suspect player_4. Let's vote for player_4.") for seat in (2, 3, 5))
    ask = _ask(0, kind="statement")
    now = _situation(0, role, DayBroke(1, (), EVERYONE), mine, *crowd, pack=pack)
    for n in range(150):
        question = Question(now, Propose(ask, 1, (Candidate("I will listen to the others first.", "…"),)))
        reply = msgspec.json.decode(VILLAGE.answer(question, _key(n, ask, "propose/2")))
        _consistent(now, reply["statement"])


# -- choosing -----------------------------------------------------------------------------------


def test_its_choice_is_mostly_its_own() -> None:
    kept = Counter[bool]()
    for _, question, text in _of("diverse", Choose, 30):
        task = question.task
        assert isinstance(task, Choose)
        if task.ask.options is None:
            kept[msgspec.json.decode(text)["choice"] == 1] += 1
    print(kept)
    assert kept[True] / kept.total() == pytest.approx(0.85, abs=0.05)


def test_its_choice_does_not_go_by_the_order() -> None:
    for key, question, text in _of("diverse", Choose, 6):
        task = question.task
        assert isinstance(task, Choose)
        turned = replace(question, task=replace(task, candidates=task.candidates[::-1]))
        if "naturally" in text:
            again = msgspec.json.decode(VILLAGE.answer(turned, key))["choice"]
            assert again == len(task.candidates) + 1 - msgspec.json.decode(text)["choice"]


def test_among_others_words_it_takes_the_nearest() -> None:
    """In words of another author: the vote by its judgement, the statement by what is read in it."""
    beliefs = (Belief(3, "Werewolf", 9, 2), *(Belief(seat, "Villager", 8, 8) for seat in (1, 2, 4, 5, 6)))
    now, ask = _situation(0, "Villager", *_TALK[:2]), _ask(0, 1, 2, 3, 4, 5, 6)
    offered = (Candidate("vote for player_1"), Candidate("vote for player_4"), Candidate("vote for player_3"))
    votes = Counter(_choice(Question(now, Choose(ask, offered), beliefs), ask, n) for n in range(200))
    assert votes[2] > 150
    speak = _ask(0, kind="statement")
    offered = (
        Candidate("player_2 is surely a wolf."),
        Candidate("I am sure that player_3 is one of the wolves."),
    )
    said = Counter(_choice(Question(now, Choose(speak, offered), beliefs), speak, n) for n in range(200))
    assert said[1] > said[0] + 40


def _choice(question: Question, ask: Ask, n: int) -> int:
    answer = parse(question, VILLAGE.answer(question, _key(n, ask, "choose")))
    assert isinstance(answer, Preferred)
    return answer.number


@pytest.mark.slow
def test_what_is_chosen_matters() -> None:
    """Open speech against silence, on the same deals: the candidates span what decides games."""
    deductive = Player(LanguageAgent(RECIPES["deductive-004"]), VILLAGE)

    def wins(name: str) -> int:
        mark = next(one.mark for one in HONEST if one.name == name)
        player = Player(LanguageAgent(RECIPES["diverse"]), _Listener(VILLAGE, [mark]))
        games = (
            _play(DOCTOR, f"span|{n}", lambda role: deductive if ROLES[role].wolf else player)
            for n in range(60)
        )
        return sum(winner is Winner.VILLAGE for winner, _ in games)

    opened, silent = wins("open"), wins("conceal")
    print(f"open {opened}, silent {silent} of 60")
    assert opened > silent + 6


# -- plans ----------------------------------------------------------------------------------------


def _decide(plan: str, now: Situation, ask: Ask, n: int = 0) -> Decided:
    question = Question(now, Decide(ask, plan=plan))
    answer = parse(question, VILLAGE.answer(question, _key(n, ask, "act")))
    assert isinstance(answer, Decided)
    return answer


def test_a_plan_is_followed() -> None:
    now, ask = _situation(0, "Villager", *_TALK), _ask(0, 1, 2, 3, 4, 5, 6, passing=True)
    speak = _ask(0, kind="statement")
    for seat in (1, 2, 4, 6):
        meant = f"I am a Villager. My choice: vote for player_{seat}."
        assert _decide(meant, now, ask).action == Pick(seat)
        strange = (
            f"player_{seat} contradicts everyone. I am sure that player_{seat} is a Werewolf. Let them go."
        )
        assert _decide(strange, now, ask).action == Pick(seat)
        said = _decide(f"In my statement I mean to say that I suspect player_{seat}.", now, speak).action
        acts = read(said.text, DOCTOR.names, 0)  # type: ignore[union-attr]
        assert [act.target for act in acts if isinstance(act, Accusation)] == [seat]


def test_what_a_plan_means_to_say_is_read_back() -> None:
    points = (
        Point("open"), Point("claim", None, "Seer"), Point("saw", 3, "Werewolf"),
        Point("saw before", 2, "not a Werewolf"), Point("protect", 1), Point("accuse 3", 3),
        Point("accuse 2", 4), Point("accuse 1", 5), Point("liar", 6), Point("defend", 1), Point("propose", 3),
        Point("agree", 2), Point("recommend", 3), Point("summary"), Point("campaign"), Point("close"),
        Point("farewell"), Point("quiet"), Point("claim", None, "Villager"),
    )  # fmt: skip
    for rules in (DOCTOR, SHERIFF, PRESETS["witch"]):
        assert planned_points(f"So far. {aim_of_statement(points, rules)} Done.", rules) == points
    assert planned_points("I will say nothing of that.", DOCTOR) == ()


def test_thinking_first_changes_little_by_itself() -> None:
    """A plan carries the same first impressions that `vanilla` acts on."""
    same = total = 0
    for key, question, text in _of("cot", Plan):
        if question.task.ask.options is None:
            continue
        ask = question.task.ask
        alone = replace(question, task=Decide(ask))
        planned = replace(question, task=Decide(ask, plan=text))
        total += 1
        decided = [parse(one, VILLAGE.answer(one, own_key(key))) for one in (alone, planned)]
        same += decided[0].action == decided[1].action  # type: ignore[union-attr]
    assert total > 150
    assert same == total


def test_the_others_eyes_make_a_werewolf_careful() -> None:
    now = _situation(0, "Werewolf", *_TALK, pack=(0, 1))
    speak = _ask(0, kind="statement")
    rash = "I am a Werewolf. In my statement I mean to accuse player_4 flatly; speak up for player_1."
    question = Question(now, Plan(speak, "others", rash))
    text = VILLAGE.answer(question, _key(0, speak, "plan/others"))
    assert planned_points(text, DOCTOR) == (Point("claim", None, "Villager"), Point("accuse 2", 4))
    assert text.startswith("I am a Werewolf.")
    calm = "In my statement I mean to say that I suspect player_4."
    quiet = _situation(0, "Werewolf", _TALK[0], pack=(0, 1))
    text = VILLAGE.answer(Question(quiet, Plan(speak, "others", calm)), _key(0, speak, "plan/others"))
    assert planned_points(text, DOCTOR) == (Point("accuse 2", 4),)


# -- intents ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "pack"), [("Seer", ()), ("Doctor", ()), ("Villager", ()), ("Werewolf", (0, 1))]
)
def test_intents_are_carried_out(role: str, pack: tuple[int, ...]) -> None:
    looked = (Learned(0, 2, "not a Werewolf", only(0)),) if role == "Seer" else ()
    now, ask = _situation(0, role, *looked, *_TALK, pack=pack), _ask(0, kind="statement")
    for n, intent in enumerate(one for one in intents(DOCTOR) if possible(one, ask, now.alive)):
        question = Question(now, Decide(ask, intent=intent))
        answer = parse(question, VILLAGE.answer(question, _key(n, ask, "act")))
        assert isinstance(answer, Decided)
        assert not answer.reasoning
        acts = [act for act in read(answer.action.text, DOCTOR.names, 0) if act.speaker == 0]  # type: ignore[union-attr]
        claims = {act.role for act in acts if isinstance(act, Claim)}
        reports = [(act.target, act.what) for act in acts if isinstance(act, Report) and act.kind == "see"]
        match intent.kind:
            case "idle":
                assert not acts
            case "target":
                assert {act.target for act in acts} == {intent.seat}
                assert {type(act) for act in acts} == {Accusation, Suggestion}
            case "claim":
                assert claims == {intent.role}
                assert bool(reports) == (intent.role == "Seer")
                assert role != "Seer" or not reports or reports == [(2, "not a Werewolf")]
                assert not {target for target, _ in reports} & {0, *pack}
            case "hide":
                assert not claims
                assert not reports


def test_an_intent_to_choose_is_a_choice() -> None:
    ask = _ask(0, 1, 2, 3, passing=True)
    now = _situation(0, "Villager", *_TALK)
    for intent, action in ((Intent("target", seat=2), Pick(2)), (IDLE, PASS)):
        question = Question(now, Decide(ask, intent=intent))
        answer = parse(question, VILLAGE.answer(question, _key(0, ask, "act")))
        assert isinstance(answer, Decided)
        assert answer.action == action
    assert possible(HIDE, ask, now.alive) is False


# -- planted biases ---------------------------------------------------------------------------------


def _first_night(kind: str, **settings: object) -> tuple[Village, Situation, Ask]:
    village = Village(**settings)
    if kind == "kill":
        now = _situation(0, "Werewolf", PackMet((0, 4), only(0, 4)), pack=(0, 4), phase="night")
        return village, now, _ask(0, 1, 2, 3, 5, 6, kind="kill")
    return village, _situation(0, "Doctor", phase="night"), _ask(0, 0, 1, 2, 3, 4, 5, 6, kind="save")


@pytest.mark.parametrize(("kind", "knob"), [("kill", "favour"), ("save", "expect")])
def test_the_planted_favourite_is_recovered(kind: str, knob: str) -> None:
    village, now, ask = _first_night(kind, **{knob: 3, f"{knob}_rate": 0.6})
    plain, _, _ = _first_night(kind)
    decided, first, chosen, left = Counter[int](), Counter[int](), Counter[int](), Counter[int]()
    for n in range(600):
        act = Question(now, Decide(ask))
        decided[_seat(parse(act, village.answer(act, _key(n, ask, "act"))))] += 1
        propose = Question(now, Propose(ask, 3))
        made = parse(propose, village.answer(propose, _key(n, ask, "propose")))
        assert isinstance(made, Proposals)
        first[_seat(made.candidates[0])] += 1
        left.update(_seat(one) for one in made.candidates[1:])
        offered = tuple(Candidate(label(one.action, kind, DOCTOR), one.reasoning) for one in made.candidates)
        choose = Question(now, Choose(ask, offered))
        answer = parse(choose, village.answer(choose, _key(n, ask, "choose")))
        assert isinstance(answer, Preferred)
        chosen[_seat(made.candidates[answer.number])] += 1
    usual = Counter(
        _seat(parse(act, plain.answer(act, _key(n, ask, "act"))))
        for n in range(600)
        for act in [Question(now, Decide(ask))]
    )
    print(decided, first, chosen, left, usual)
    rate = 0.6 + 0.4 * usual[3] / 600
    assert decided == first
    assert decided[3] / 600 == pytest.approx(rate, abs=0.06)
    assert usual[3] / 600 < 0.3
    assert chosen[3] > 0.8 * decided[3]
    assert min(left[seat] for seat in (1, 2, 5, 6)) > 60


def _seat(answer: object) -> int:
    assert isinstance(answer, Decided)
    assert isinstance(answer.action, Pick)
    return answer.action.seat


def test_a_favourite_is_for_the_first_night_and_nobodys_packmate() -> None:
    village, now, ask = _first_night("kill", favour=3, favour_rate=1.0)
    later = replace(now, round=2)
    picks = {_act(village, later, ask, n) for n in range(60)}
    assert len(picks) > 2
    packed = replace(now, pack=(0, 3))
    assert 3 not in {
        _act(village, packed, replace(ask, options=(Pick(1), Pick(2), Pick(3))), n) for n in range(40)
    }
    leaning, other = Village(favour=3, favour_rate=0.5), replace(ask, seat=4)
    pairs = [(_act(leaning, now, ask, n), _act(leaning, replace(now, seat=4), other, n)) for n in range(300)]
    assert sum(pair == (3, 3) for pair in pairs) / 300 > 0.42  # a pack leans as one


def test_a_shunned_seat_is_left_alone_on_the_first_night() -> None:
    village, now, ask = _first_night("kill", shun=3, shun_rate=1.0)
    plain, _, _ = _first_night("kill", shun=3, shun_rate=0.0)
    assert {_act(village, now, ask, n) for n in range(80)} == {1, 2, 5, 6}
    assert 3 in {_act(plain, now, ask, n) for n in range(80)}
    assert 3 in {_act(village, replace(now, round=2), ask, n) for n in range(80)}
    alone = replace(ask, options=(Pick(3),))
    assert _act(village, now, alone, 0) == 3  # where nobody else may be chosen


def _act(village: Village, now: Situation, ask: Ask, n: int) -> int:
    question = Question(now, Decide(ask))
    return _seat(parse(question, village.answer(question, _key(n, ask, "act"))))


def test_biases_are_off_unless_set_and_checked() -> None:
    assert "favour" not in Village().describe()["settings"]
    assert Village(favour=2).describe()["settings"]["favour"] == 2
    for settings in (
        {"favour": -1},
        {"expect": "player_1"},
        {"favour_rate": 2},
        {"favour": True},
        {"shun": 1.0},
    ):
        with pytest.raises(ModelError, match=next(iter(settings))):
            Village(**settings)


def test_noise_is_in_candidates_and_choices() -> None:
    noisy, now, ask = _first_night("save", noise=1.0)
    firsts, chosen = Counter[int](), Counter[int]()
    for n in range(400):
        made = parse(q := Question(now, Propose(ask, 7)), noisy.answer(q, _key(n, ask, "propose")))
        assert isinstance(made, Proposals)
        firsts[_seat(made.candidates[0])] += 1
        offered = tuple(Candidate(label(one.action, "save", DOCTOR)) for one in made.candidates)
        answer = parse(q := Question(now, Choose(ask, offered)), noisy.answer(q, _key(n, ask, "choose")))
        assert isinstance(answer, Preferred)
        chosen[_seat(made.candidates[answer.number])] += 1
    assert min(firsts.values()) > 30
    assert min(chosen.values()) > 25
