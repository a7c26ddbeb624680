"""`village`: a function of its question and key, exact in its posterior, calibrated, and strong enough."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import islice, permutations

import msgspec
import numpy as np
import pytest
from village_fit import FITTED_ON, Game, calibration, fit, play, wins

from marks import slow_except, with_slow
from wolflab.errors import ModelError
from wolflab.match.probes import StrawPoll
from wolflab.models.base import Request
from wolflab.models.village import Village
from wolflab.models.village.beliefs.guesses import BINS, confidence
from wolflab.models.village.beliefs.posterior import PosteriorEstimator
from wolflab.models.village.beliefs.worlds import worlds
from wolflab.models.village.parameters import shipped_parameters
from wolflab.models.village.scene import table_scene
from wolflab.rules import (
    DOCTOR,
    EVERYONE,
    NINE,
    PASS,
    PRESETS,
    SHERIFF,
    WITCH,
    Action,
    Ask,
    DayBroke,
    Event,
    Learned,
    Pick,
    Revealed,
    Ruleset,
    Said,
    SheriffNamed,
    Shot,
    Voted,
    VotesSet,
    Winner,
    facts_of,
    only,
    preset,
)
from wolflab.text.notes import Belief
from wolflab.text.questions import Decide, Deduce, Line, Question, Rate, Situation
from wolflab.text.reading import Accusation, Claim, Suggestion, read
from wolflab.text.replies.parse import parse
from wolflab.text.replies.parsed import Decided, Judged, Problem, RatedReply

VILLAGE = Village()


def _everyone(village: Village) -> Callable[[int, str], Village | None]:
    return lambda seat, role: village


@cache
def _games(name: str, count: int | None = None) -> tuple[Game, ...]:
    """60 games if no `count` is given, 12 of the large casts."""
    rules = preset(name)
    seeds = range(count or (60 if rules.players < 9 else 12))
    return tuple(play(rules, f"kept|{name}|{n}", _everyone(VILLAGE), keep=True) for n in seeds)


def _situation(rules: Ruleset, seat: int, role: str, *events: Event, pack: tuple[int, ...] = ()) -> Situation:
    lines = tuple(Line(n + 1, 1, "day", event, n) for n, event in enumerate(events))
    known = facts_of(rules, events)
    return Situation(rules, seat, role, pack, 1, "voting", known.living, known.sheriff, facts=lines)


def _ask(seat: int, *targets: int, kind: str = "vote") -> Ask:
    return Ask(f"1/{kind}/{seat}", seat, kind, "voting", 1, tuple(Pick(t) for t in targets))


def _said(seat: int, text: str, where: str = "discussion") -> Said:
    return Said(seat, where, text, EVERYONE)


# -- the contract -------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", slow_except(["sheriff"], PRESETS))
def test_every_reply_is_what_the_question_asks_for(rules: str) -> None:
    kinds = Counter[str]()
    for game in _games(rules):
        for _, question, text in game.asks:
            if not isinstance(question.task, Decide):
                continue
            answer = parse(question, text)
            assert isinstance(answer, Decided), (question.task, text)
            assert question.task.ask.allows(answer.action)
            assert answer.reasoning
            kinds[question.task.ask.kind] += 1
        for situation, reply in islice(game.deductions(), 20):
            targets = tuple(preset(rules).seat(name) for name in reply)
            ask = _ask(situation.seat, *targets)
            question = Question(situation, Deduce(ask, targets, (*preset(rules).roles, "Uncertain")))
            judged = parse(question, VILLAGE.answer(question, "k||a|b|0"))
            assert isinstance(judged, Judged)
            assert [j.target for j in judged.judgements] == list(targets)
            assert not judged.rejected
            numbers = {line.number for line in situation.lines}
            assert all(set(j.evidence) <= numbers for j in judged.judgements)
            rated = parse(
                Question(situation, Rate(ask, targets)),
                VILLAGE.answer(Question(situation, Rate(ask, targets)), "k||a|b|0"),
            )
            assert isinstance(rated, RatedReply)
            assert set(rated.scores) == set(targets)
    print(rules, dict(kinds))
    assert kinds["kill"]
    assert kinds["vote"]
    assert kinds["statement"]


def test_replies_depend_on_nothing_but_question_and_key() -> None:
    asks = [ask for game in _games("sheriff", 6) for ask in game.asks]
    fresh = Village()
    for key, question, text in reversed(asks):
        assert fresh.answer(question, key) == text
    for key, question, text in asks[::7]:
        copied = replace(question, situation=replace(question.situation))
        assert Village().answer(copied, key) == text
    key, question, text = asks[3]
    response = asyncio.run(fresh.generate(Request(question, key)))
    assert response.text == text


def test_one_target_a_call_says_what_all_at_once_do() -> None:
    for game in _games("sheriff", 6):
        for situation, _ in game.deductions():
            targets = tuple(seat for seat in situation.alive if seat != situation.seat)
            ask, guesses = _ask(situation.seat, *targets), (*SHERIFF.roles, "Uncertain")
            question = Question(situation, Deduce(ask, targets, guesses))
            together = parse(question, VILLAGE.answer(question, "k"))
            assert isinstance(together, Judged)
            for judgement in together.judgements:
                alone = Question(situation, Deduce(ask, (judgement.target,), guesses, ("confidence",)))
                answer = parse(alone, VILLAGE.answer(alone, "k"))
                assert isinstance(answer, Judged)
                (one,) = answer.judgements
                assert (one.role, one.confidence) == (judgement.role, judgement.confidence)
                assert not one.evidence
                assert not one.reasoning


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"skil": 1}, "skil"),
        ({"skill": -1}, "skill"),
        ({"noise": 1.5}, "noise"),
        ({"noise": True}, "noise"),
        ({"phrases": "c"}, "phrases"),
        ({"heed_sheriff": 1}, "heed_sheriff"),
        ({"claim_floor": 1}, "claim_floor"),
        ({"invalid": "often"}, "invalid"),
        ({"follow_sheriff": 2}, "follow_sheriff"),
    ],
)
def test_settings_are_checked(settings: dict[str, object], word: str) -> None:
    with pytest.raises(ModelError, match=word):
        Village(**settings)


def test_it_describes_itself() -> None:
    told = Village(noise=0.25).describe()
    assert told["settings"]["noise"] == 0.25
    assert told["parameters"] == shipped_parameters().digest
    assert Village(noise=0.25).name == "village(noise=0.25)"
    assert Village().name == "village"


def test_an_unknown_style_is_refused() -> None:
    question = Question(_situation(DOCTOR, 0, "Villager"), Decide(_ask(0, 1, 2)), style="grumpy")
    with pytest.raises(ModelError, match="grumpy"):
        VILLAGE.answer(question, "k")


# -- the posterior ------------------------------------------------------------------------------

SMALL = DOCTOR.with_(name="small", roles={"Werewolf": 1, "Villager": 2, "Seer": 1, "Doctor": 1})


def test_the_posterior_is_exact() -> None:
    """The same sum, spelt out over all permutations of the cards with Python integers."""
    events = (
        DayBroke(1, (), EVERYONE),
        _said(1, "I am the Seer. I checked player_3 last night, and they are a Werewolf."),
        _said(2, "I think player_1 is a Werewolf. I trust player_4."),
        _said(3, "I am the Seer. Let's vote for player_1."),
        Voted(1, 3, "eliminate", EVERYONE),
        Voted(2, 1, "eliminate", EVERYONE),
    )
    situation = _situation(SMALL, 0, "Villager", *events)
    got = VILLAGE.posterior(situation)
    weights = got.summary.node.weights.astype(int)
    cards = [name for name, n in SMALL.roles.items() for _ in range(n)]
    roles = list(SMALL.roles)
    totals: dict[tuple[str, ...], float] = {}
    for deal in set(permutations(cards)):
        if deal[0] != "Villager":
            continue
        index = [roles.index(role) for role in deal]
        nats = sum(int(weights[a, index[a], b, index[b]]) for a in range(1, 5) for b in range(5))
        totals[deal] = float(np.exp(nats * shipped_parameters().scale / 1e6))
    whole = sum(totals.values())
    for seat in range(5):
        for at, role in enumerate(roles):
            chance = sum(p for deal, p in totals.items() if deal[seat] == role) / whole
            assert got.marginals[seat][at] == pytest.approx(chance, abs=1e-9)


def test_what_a_seat_knows_for_certain_is_certain() -> None:
    looked = _situation(
        SHERIFF, 0, "Seer", Learned(0, 3, "Guard", only(0)), Learned(0, 4, "Werewolf", only(0))
    )
    got = VILLAGE.posterior(looked)
    assert got.marginals[3][got.roles.index("Guard")] == pytest.approx(1)
    assert got.wolf[4] == pytest.approx(1)
    assert got.marginals[0][got.roles.index("Seer")] == pytest.approx(1)
    aloud = VILLAGE.posterior(_situation(WITCH, 0, "Villager", Learned(1, 4, "not a Werewolf", EVERYONE)))
    assert aloud.wolf[4] == pytest.approx(0), "a look of which everybody learns"
    wolf = VILLAGE.posterior(_situation(SHERIFF, 2, "Werewolf", pack=(2, 5)))
    assert [round(p, 6) for p in wolf.wolf] == [0, 0, 1, 0, 0, 1, 0]
    dead = DayBroke(1, (6,), EVERYONE)
    assert VILLAGE.posterior(_situation(DOCTOR, 0, "Villager", dead)).wolf[6] == pytest.approx(0)
    shown = _situation(SHERIFF, 0, "Villager", dead, Revealed(6, "Werewolf", EVERYONE))
    assert VILLAGE.posterior(shown).wolf[6] == pytest.approx(1)


def test_a_floor_makes_a_claim_tell_less_of_its_speaker() -> None:
    """A Werewolf that says it is the Doctor: the floor replaces −4000, and nothing where nobody claims."""
    claims = _situation(DOCTOR, 0, "Villager", _said(1, "I am the Doctor."))
    chances = [Village(claim_floor=floor).posterior(claims).wolf[1] for floor in (None, -4000, -500, 0)]
    assert chances[0] == chances[1] < 0.06
    assert chances[1] < chances[2] < chances[3]
    others = _situation(DOCTOR, 0, "Villager", _said(1, "I think player_3 is a Werewolf."))
    assert Village(claim_floor=0).posterior(others).wolf == VILLAGE.posterior(others).wolf
    assert Village(claim_floor=-500).describe()["settings"] == {"claim_floor": -500}


def test_that_the_game_goes_on_is_evidence() -> None:
    """Three are left, so exactly one Werewolf is among the other two, and the dead hold the other."""
    events = (DayBroke(1, (3,), EVERYONE), DayBroke(2, (4, 5, 6), EVERYONE))
    got = VILLAGE.posterior(_situation(SHERIFF, 0, "Villager", *events))
    assert got.wolf[1] + got.wolf[2] == pytest.approx(1)


def test_a_dying_hunter_does_not_know_yet_that_the_game_goes_on() -> None:
    """One Werewolf is dead, three players are left: at the vote the other is known to be among them."""
    rules = Ruleset(name="hunted", roles={"Werewolf": 2, "Villager": 4, "Hunter": 1})
    events = (DayBroke(1, (3, 4, 5, 6), EVERYONE), Revealed(3, "Werewolf", EVERYONE))
    leaving = replace(_situation(rules, 6, "Hunter", *events), phase="departure")
    assert 0.1 < sum(VILLAGE.posterior(leaving).wolf[:3]) < 0.95
    assert sum(VILLAGE.posterior(_situation(rules, 0, "Villager", *events)).wolf[:3]) == pytest.approx(1)
    talked = replace(_situation(rules, 6, "Hunter", *events, _said(0, "Good morning.")), phase="departure")
    assert sum(VILLAGE.posterior(talked).wolf[:3]) == pytest.approx(1)


def test_a_shot_tells_who_was_the_hunter() -> None:
    shot = Shot(4, 5, EVERYONE)
    got = VILLAGE.posterior(_situation(NINE, 0, "Villager", DayBroke(1, (4,), EVERYONE), shot))
    assert got.marginals[4][got.roles.index("Hunter")] == pytest.approx(1)
    assert got.wolf[4] == pytest.approx(0)


@pytest.mark.parametrize(("role", "shot"), [("Werewolf", Pick(2)), ("Villager", PASS)])
def test_a_hunter_shoots_who_is_more_likely_a_werewolf_than_not(role: str, shot: Action) -> None:
    situation = _situation(NINE, 8, "Hunter", DayBroke(1, (8,), EVERYONE))
    ask = Ask("1/shoot/8", 8, "shoot", "departure", 1, (*map(Pick, range(8)), PASS))
    believed = (Belief(2, role, 9, 6, (), "It says so."),)
    question = Question(replace(situation, phase="departure"), Decide(ask), believed)
    answer = parse(question, VILLAGE.answer(question, "k||a|b|0"))
    assert isinstance(answer, Decided)
    assert answer.action == shot


@pytest.mark.parametrize("rules", with_slow(PRESETS, ["twelve"]))
def test_the_truth_is_never_held_to_be_impossible(rules: str) -> None:
    """What counts as certain holds in every game: else a seat would be sure of something false."""
    for game in _games(rules)[:8]:
        for situation, _ in game.deductions():
            got = VILLAGE.posterior(situation)
            truth = [got.roles.index(role) for role in game.roles]
            assert all(got.marginals[seat][role] > 0 for seat, role in enumerate(truth))


def test_statements_are_read_as_text() -> None:
    def wolf(text: str) -> float:
        events = (DayBroke(1, (6,), EVERYONE), _said(1, text))
        return VILLAGE.posterior(_situation(DOCTOR, 0, "Villager", *events)).wolf[3]

    neutral = wolf("Good morning, everyone.")
    reports = (
        "I am the Seer. I checked player_3 last night, and they are a Werewolf.",
        "As the Seer, I looked into player_3 and discovered that player_3 is a wolf.",
    )
    for report in reports:
        assert wolf(report) > neutral + 0.2
    assert wolf("I am the Seer. I checked player_3 last night, and they are not a Werewolf.") < neutral - 0.1
    assert wolf('{"report": {"target": 3, "result": "Werewolf"}}') == pytest.approx(neutral, abs=0.02)


def test_skill_zero_leaves_the_prior() -> None:
    events = (DayBroke(1, (), EVERYONE), _said(1, "I am the Seer. I saw player_3: a Werewolf."))
    got = Village(skill=0.0).posterior(_situation(DOCTOR, 0, "Villager", *events))
    assert got.wolf[1:] == pytest.approx([1 / 3] * 6)


@pytest.mark.parametrize(
    "roles",
    [
        {"Werewolf": 1, "Villager": 3, "Seer": 1},
        {"Werewolf": 3, "Villager": 3, "Seer": 1, "Guard": 1, "Witch": 1},
        {"Werewolf": 4, "Villager": 5, "Seer": 1, "Guard": 1, "Witch": 1},
        {"Werewolf": 3, "Villager": 9},
    ],
)
def test_any_cast_is_judged(roles: dict[str, int]) -> None:
    rules = DOCTOR.with_(name="odd", roles=roles)
    events = (
        DayBroke(1, (0,), EVERYONE),
        _said(2, "I am the Seer. I checked player_3 last night, and they are a Werewolf."),
    )
    got = VILLAGE.posterior(_situation(rules, 1, "Villager", *events))
    for row in got.marginals:
        assert sum(row) == pytest.approx(1, abs=1e-5)
    for at, (_, count) in enumerate(roles.items()):
        assert sum(row[at] for row in got.marginals) == pytest.approx(count, rel=0.35)
    assert sum(got.wolf) == pytest.approx(roles["Werewolf"], abs=1e-4)


def test_worlds_are_all_and_only_the_deals() -> None:
    cast = tuple(SHERIFF.roles.items())
    assert worlds(cast, 0, "Villager", ()).size == 180
    assert worlds(cast, 0, "Seer", ()).size == 60
    assert worlds(cast, 0, "Werewolf", (0, 4)).size == 20
    assert worlds(tuple({"Werewolf": 4, "Villager": 5, "Seer": 1, "Guard": 1, "Witch": 1}.items()), 0,
                  "Villager", ()).merged  # fmt: skip


# -- calibration and strength ---------------------------------------------------------------------

TOLERANCE = 0.06
"""How far the share of right guesses may lie outside its confidence's bin (docs/village.md)."""


def test_confidence_is_monotone_in_probability() -> None:
    assert [confidence(p) for p in (0.41, *BINS)] == [5, 6, 7, 8, 9, 10]


def test_confidence_is_calibrated() -> None:
    edges = (0.4, *BINS, 1.0)
    pooled = [[0, 0] for _ in range(6)]
    for rules in FITTED_ON:
        table = calibration([(rules, game) for game in _games(rules.name)])
        for group in ("Werewolf", "other"):
            for level, (guesses, right, _) in enumerate(table[group]):
                pooled[level][0] += guesses
                pooled[level][1] += right
    for level, (guesses, right) in enumerate(pooled):
        share = right / max(guesses, 1)
        low, high = edges[level], edges[level + 1]
        print(f"confidence {level + 5}: P(right) {share:.3f} of {guesses}, bin {low:.2f} to {high:.2f}")
        assert guesses >= 100
        assert low - TOLERANCE <= share <= high + TOLERANCE


@pytest.mark.slow
def test_strength_on_equal_deals() -> None:
    """Four cells of the doctor preset, the same deals in each; 2,000 a cell by ``village_fit --strength``."""
    count = 200
    floor = 100 * wins(DOCTOR, 2 * count, None, None)
    good = 100 * wins(DOCTOR, count, VILLAGE, None)
    bad = 100 * wins(DOCTOR, count, None, VILLAGE)
    both = 100 * wins(DOCTOR, count, VILLAGE, VILLAGE)
    print(f"village wins: random/random {floor}, village/random {good}, random/village {bad}, both {both} %")
    assert 8 <= floor <= 18
    assert good - floor >= 25
    assert bad <= 8
    assert 20 <= both <= 80


@pytest.mark.parametrize("rules", ["sheriff", "witch"])
def test_both_sides_win_sometimes(rules: str) -> None:
    winners = Counter(game.winner for game in _games(rules))
    assert winners[Winner.VILLAGE] >= 3
    assert winners[Winner.WEREWOLVES] >= 3


@pytest.mark.slow
def test_deduction_helps_the_village() -> None:
    helped, alone = (wins(DOCTOR, 150, VILLAGE, VILLAGE, deduces=deduces) for deduces in (True, False))
    assert helped > alone + 0.1


# -- the knobs --------------------------------------------------------------------------------------


def _leads(recommended: str) -> Situation:
    return _situation(
        SHERIFF, 0, "Villager",
        DayBroke(1, (), EVERYONE), SheriffNamed(6, "elected", EVERYONE),
        _said(1, "I suspect player_4."), _said(2, "I trust player_4."),
        _said(6, f"As your Sheriff, let me sum up. I recommend that we all vote for {recommended}."),
    )  # fmt: skip


def _vote(village: Village, situation: Situation, key: str) -> int:
    question = Question(situation, Decide(_ask(0, 1, 2, 3, 4, 5, 6)))
    answer = parse(question, village.answer(question, key))
    assert isinstance(answer, Decided)
    assert isinstance(answer.action, Pick)
    return answer.action.seat


def test_the_planted_chance_to_follow_is_recovered() -> None:
    village = Village(follow_sheriff=0.6, heed_sheriff=False)
    plain = Village(heed_sheriff=False)
    followed = undecided = 0
    for n in range(800):
        key = f"g{n}|main|1/vote/0|act|0"
        if _vote(plain, _leads("player_6"), key) != 5:
            undecided += 1
            followed += _vote(village, _leads("player_6"), key) == 5
    print(f"followed {followed} of {undecided}")
    assert followed / undecided == pytest.approx(0.6, abs=0.06)
    always = Village(follow_sheriff=1.0)
    assert all(_vote(always, _leads("player_3"), f"g{n}|main|1/vote/0|act|0") == 2 for n in range(50))


def test_without_heed_the_sheriffs_words_weigh_nothing() -> None:
    deaf, open_eared = Village(heed_sheriff=False), Village()
    targets = (1, 2, 3, 4, 5, 6)
    guesses = (*SHERIFF.roles, "Uncertain")
    heard = False
    for n in range(60):
        key = f"g{n}|main|1/vote/0|act|0"
        assert _vote(deaf, _leads("player_2"), key) == _vote(deaf, _leads("player_6"), key)
        heard = heard or _vote(open_eared, _leads("player_2"), key) != _vote(
            open_eared, _leads("player_6"), key
        )
    deduced = [deaf.posterior(_leads(name)).marginals for name in ("player_2", "player_6")]
    assert deduced[0] == deduced[1]
    assert heard
    question = Question(_leads("player_2"), Deduce(_ask(0, *targets), targets, guesses))
    assert open_eared.answer(question, "k") != deaf.answer(question, "k")


def _turned(village: Village, games: int = 25) -> tuple[int, int]:
    """Straw polls before the Sheriff's statement against the votes after it: (changed, compared)."""
    changed = compared = 0
    for n in range(games):
        game = play(SHERIFF, f"null|{n}", _everyone(village), keep=True, probes=(StrawPoll(),))
        said = {key.rsplit("|", 3)[1]: text for key, q, text in game.asks if isinstance(q.task, Decide)}
        for ask, text in said.items():
            if "/straw/" in ask:
                polled, voted = (parse_action(t) for t in (text, said[ask.replace("/straw/", "/vote/")]))
                compared += 1
                changed += polled != voted
    return changed, compared


def parse_action(text: str) -> str:
    action = msgspec.json.decode(text)["action"]
    assert isinstance(action, str)
    return action


def test_the_null_changes_no_vote_and_the_default_some() -> None:
    """With `heed_sheriff` false nothing is heard between poll and vote, so every vote stays."""
    changed, compared = _turned(Village(heed_sheriff=False))
    assert compared > 100
    assert changed == 0
    changed, compared = _turned(Village())
    print(f"{changed} of {compared} votes turned")
    assert changed > 0


def _statements(style: str | None, count: int = 40) -> Iterator[tuple[str, tuple[object, ...]]]:
    for n in range(count):
        game = play(DOCTOR, f"style|{n}", _everyone(VILLAGE), style=style)
        for event in game.events:
            if isinstance(event, Said) and event.where == "discussion":
                yield game.roles[event.seat], read(event.text, DOCTOR.names, event.seat)


def _rate(style: str | None, kind: type | tuple[type, ...]) -> float:
    found = [any(isinstance(act, kind) for act in acts) for _, acts in _statements(style)]
    return sum(found) / len(found)


@pytest.mark.slow
def test_styles_show() -> None:
    hostile = (Accusation, Suggestion)
    accuse = {style: _rate(style, hostile) for style in ("quiet_follower", "default", "aggressive_accuser")}
    claim = {style: _rate(style, Claim) for style in ("secretive", "default", "proactive")}
    print("accusing", accuse, "claiming", claim)
    assert accuse["quiet_follower"] + 0.1 < accuse["default"] < accuse["aggressive_accuser"] - 0.1
    assert claim["secretive"] + 0.05 < claim["default"] < claim["proactive"] - 0.05
    assert _rate(None, Claim) == claim["default"]


def test_invalid_replies_are_unusable_and_as_frequent_as_set() -> None:
    village = Village(invalid=0.3)
    bad = total = 0
    for game in _games("sheriff", 10):
        for key, question, _ in game.asks:
            total += 1
            bad += isinstance(parse(question, village.answer(question, key)), Problem)
    print(f"{bad} of {total} unusable")
    assert bad / total == pytest.approx(0.3, abs=0.06)
    targets = (1, 2)
    question = Question(_leads("player_2"), Deduce(_ask(0, *targets), targets, (*SHERIFF.roles, "Uncertain")))
    for n in range(40):
        judged = parse(question, Village(invalid=1.0).answer(question, f"g{n}|main|a|deduce|0"))
        assert isinstance(judged, Problem) or len(judged.judgements) < 2  # type: ignore[union-attr]


def test_noise_makes_choices_random() -> None:
    noisy = Village(noise=1.0)
    votes = Counter(_vote(noisy, _leads("player_2"), f"g{n}|main|1/vote/0|act|0") for n in range(600))
    assert set(votes) == {1, 2, 3, 4, 5, 6}
    assert min(votes.values()) > 60


def test_phrase_banks_are_kept_apart() -> None:
    words = {}
    for bank in "ab":
        village = Village(phrases=bank)
        game = play(DOCTOR, "bank|1", _everyone(village))
        words[bank] = {e.text for e in game.events if isinstance(e, Said)}
    assert not words["a"] & words["b"]


@pytest.mark.parametrize("bank", ["a", "b"])
def test_without_a_vote_nobody_announces_one(bank: str) -> None:
    """Idiots whose cards lie open speak on, and accuse."""
    roles = {"Werewolf": 2, "Villager": 1, "Seer": 1, "Idiot": 6}
    rules = preset("ten").with_(roles=roles, wolves_win="parity")
    village, said = Village(phrases=bank, skill=0), list[str]()
    for number in range(15):
        voteless = set[int]()
        for event in play(rules, f"idiots|{number}", _everyone(village)).events:
            if isinstance(event, VotesSet):
                voteless.add(event.seat)
            if isinstance(event, Said) and event.seat in voteless and event.where == "discussion":
                said.append(event.text)
    assert len(said) > 20
    assert not [text for text in said if "My vote" in text or "I will vote" in text]
    assert any("suspect" in text or "Werewolf" in text for text in said)


def test_who_has_no_vote_is_no_support() -> None:
    """But it spoke, and that is said."""
    rules = preset("ten")
    against = [_said(seat, "player_2 is a Werewolf.") for seat in (6, 7, 8)]
    shown = (VotesSet(6, 0, EVERYONE), VotesSet(7, 0, EVERYONE))
    found = []
    for votes in ((), shown):
        situation = _situation(rules, 0, "Werewolf", *votes, *against, pack=(0, 4, 5))
        question = Question(situation, Decide(_ask(0, *range(1, 10))))
        summary = PosteriorEstimator(shipped_parameters(), 1.0).summary(situation)
        scene = table_scene(question, summary, shipped_parameters(), "k||a|b|0")
        found.append((scene.support(1), scene.support_sentence(1)[:8]))
    assert found == [(3, "3 others"), (1, "3 others")]


# -- fitting ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_fitting_is_reproducible_and_says_where_it_comes_from() -> None:
    assert fit(4, 2, "test") == fit(4, 2, "test")
    assert fit(4, 1, "test") != fit(4, 1, "other")
