"""Ratio, DC, their variants and nulls, on games whose numbers are known by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from statistics import mean, pvariance

import pytest

from metrics_helpers import ONE_DAY, ROLES_7, belief, deduced, done, game, votes
from wolflab.agents.base import IO, Invalid, Reply
from wolflab.match import OpinionProbe, StrawPoll
from wolflab.metrics import leadership as lead
from wolflab.metrics import summarise
from wolflab.metrics.days import Day, days_of
from wolflab.metrics.rows import row_of
from wolflab.rules import PASS, SHERIFF, Action, Ask, Say, View, pick
from wolflab.text.notes import Rated

SHERIFF_SEAT = 2
FOLLOWERS = (0, 1, 3, 4, 5, 6)


def only_day(record: object) -> Day:
    (day,) = days_of(record)  # type: ignore[arg-type]
    return day


def test_two_of_six_followers_convert() -> None:
    straw = {0: 1, 1: 4, 3: 6, 4: 6, 5: 1, 6: 4}
    real = {**straw, 0: 4, 3: 4, 2: 4}
    day = only_day(game(votes(straw, real)))
    assert (day.sheriff, day.alive, day.followers) == (2, tuple(range(7)), FOLLOWERS)
    assert day.votes == real
    assert day.straws == {"straw": straw}
    assert lead.dc(day) == pytest.approx(1 / 3)
    assert lead.dc_by_n(day) == pytest.approx(2 / 7)
    assert lead.dc_sheriff_voted(day) == pytest.approx(1 / 3)
    assert lead.votes_changed(day) == pytest.approx(1 / 3)


def test_who_lives_without_a_vote_is_none_of_the_others_of_dc_and_judges_all_the_same() -> None:
    """Seat 3 has no vote; the Sheriff recommends to vote it out."""
    straw = {0: 1, 1: 4, 4: 6, 5: 1, 6: 4}
    real = {**straw, 0: 4, 4: 4, 2: 4}
    usual = only_day(game(votes({}, {}, "We should all vote for player_4 today.")))
    ratings = {0: {1: 3, 2: 3, 3: 6}, 3: {0: 3, 2: 9}}
    day = replace(usual, votes=real, straws={"straw": straw, "straw2": straw}, ratings=ratings)
    assert (day.alive, day.followers) == (tuple(range(7)), (0, 1, 4, 5, 6))
    assert lead.dc(day) == pytest.approx(2 / 5)
    assert lead.dc_by_n(day) == pytest.approx(2 / 6)
    assert lead.dc_retest(day) == 0
    assert lead.votes_changed(day) == pytest.approx(2 / 5)
    assert lead.recommended(day) == 3
    assert lead.dc_words(day) == 0
    assert lead.ratio(day) == pytest.approx(6 / 4)
    assert lead.peer_ratio_of_role([day], "Villager") == pytest.approx((3 / 5.25 + 6 / 3) / 2)
    null = lead.ratio_null_of_game([day])
    assert null is not None
    assert null[0] == pytest.approx((3 / 9 + 3 / 5.25 + 1.5 + 6 / 3 + 3 * 1.5) / 7)
    mute = replace(day, votes={seat: target for seat, target in real.items() if seat != SHERIFF_SEAT})
    assert [one(mute) for one in (lead.dc, lead.dc_by_n, lead.dc_sheriff_voted, lead.dc_retest)] == [None] * 4
    assert lead.votes_changed(mute) == pytest.approx(2 / 5)
    assert lead.dc_words(mute) == 0
    assert lead.dc_others(mute) is not None


def test_following_is_not_counted_of_those_who_agreed_already() -> None:
    straw = dict.fromkeys(FOLLOWERS, 4)
    day = only_day(game(votes(straw, {**straw, 2: 4})))
    assert lead.dc(day) == 0
    assert lead.votes_changed(day) == 0


def test_sheriff_abstains_and_two_drop_their_vote() -> None:
    straw = {0: 1, 1: 4, 3: 6, 4: 6, 5: None, 6: 4}
    real = {**straw, 0: None, 3: None, 2: None}
    day = only_day(game(votes(straw, real)))
    assert lead.dc(day) == pytest.approx(1 / 3)
    assert lead.dc_sheriff_voted(day) == 0


def test_an_unusable_straw_vote_is_no_vote() -> None:
    straw = {0: 1, 1: 4, 3: 6, 4: 6, 5: 1, 6: 4}
    usual = votes(straw, {**straw, 2: 4, 5: 4})

    def script(view: View, ask: Ask, io: IO) -> Action | Invalid | None:
        if ask.id == "1/straw/5":
            return Invalid("prose")
        return usual(view, ask, io)  # type: ignore[return-value]

    day = only_day(game(script))
    assert day.straws["straw"][5] is None
    assert lead.dc(day) == pytest.approx(1 / 6)


def test_ratio_leaves_out_what_was_never_judged() -> None:
    """m towards the Sheriff {4, 8, 8, 8, 8} and one rater without a judgement, all others 8: 0.9."""
    towards = {0: 4, 1: 8, 3: 8, 4: 8, 5: 8}

    def script(view: View, ask: Ask, io: IO) -> Reply | None:
        if ask.kind != "vote" or "/straw" in ask.id:
            return None
        found = [belief(j, 8) for j in FOLLOWERS if j != ask.seat]
        if ask.seat in towards:
            m = towards[ask.seat]
            found.append(belief(2, m, *(("Werewolf", 7) if m == 4 else ())))
        return Reply(PASS, deduced(*found))

    day = only_day(game(script))
    assert lead.ratio(day) == pytest.approx(7.2 / 8) == pytest.approx(0.9)
    assert lead.ratio_village(day) == pytest.approx(1.0)  # the doubter of seat 0 is a Werewolf


def test_older_judgements_stand_in_where_the_vote_has_none() -> None:
    def script(view: View, ask: Ask, io: IO) -> Reply | None:
        if ask.kind == "statement" and ask.seat == 0:
            return Reply(Say("well"), deduced(belief(2, 9), belief(1, 5), final=False))
        if ask.kind == "vote" and "/straw" not in ask.id and ask.seat == 0:
            return Reply(PASS, deduced(belief(1, 7)))
        return None

    day = only_day(game(script))
    assert day.matrix() == {(0, 2): 9, (0, 1): 7}
    assert lead.ratio(day) == pytest.approx(9 / 7)


def test_rules_for_m_differ_only_for_a_werewolfs_guess_werewolf() -> None:
    def script(view: View, ask: Ask, io: IO) -> Reply | None:
        if ask.kind != "vote" or "/straw" in ask.id:
            return None
        if ask.seat == 0:  # a Werewolf sure of its teammate, recorded as trust
            return Reply(PASS, deduced(belief(6, 10, "Werewolf", 10), belief(2, 6, "Uncertain", 9)))
        if ask.seat == 1:
            return Reply(PASS, deduced(belief(6, 1, "Werewolf", 10)))
        return None

    day = only_day(game(script))
    uncertain = (0, 2)
    assert day.matrix("paper") == {(0, 6): 1, uncertain: 6, (1, 6): 1}
    assert day.matrix("wolf_exception") == {(0, 6): 10, uncertain: 6, (1, 6): 1}
    assert day.matrix("recorded") == {(0, 6): 10, uncertain: 6, (1, 6): 1}


def test_raters_that_do_not_deduce_are_read_from_the_probe() -> None:
    def script(view: View, ask: Ask, io: IO) -> Reply | None:
        if ask.kind == "rate":
            return Reply(PASS, (("rate", Rated({2: 9, 1: 6, 3: 6, 0: 12})),))
        return None

    day = only_day(game(script, probes=(OpinionProbe(),)))
    assert day.ratings[4] == {2: 9, 1: 6, 3: 6}  # 12 is no score
    assert lead.ratio(day) == pytest.approx(1.5)
    assert lead.dc(day) is None  # nobody was polled


def test_improvement_compares_the_straw_polls_beliefs_with_the_votes() -> None:
    def script(view: View, ask: Ask, io: IO) -> Reply | None:
        if ask.kind == "vote" and ask.seat in (1, 3):
            return Reply(PASS, deduced(belief(2, 5 if "/straw" in ask.id else 8)))
        return None

    day = only_day(game(script))
    assert day.matrix_before() == {(1, 2): 5, (3, 2): 5}
    assert lead.improvement(day) == pytest.approx(0.6)


def test_straw_beliefs_never_enter_the_votes() -> None:
    def script(view: View, ask: Ask, io: IO) -> Reply | None:
        if "/straw" in ask.id:
            return Reply(PASS, deduced(belief(2, 5)))
        return None

    assert only_day(game(script)).matrix() == {}


def test_retest_and_other_players_votes_are_nulls_of_dc() -> None:
    straw = {0: 1, 1: 4, 3: 6, 4: 6, 5: 1, 6: 4}
    again = {**straw, 5: 4}
    real = {**straw, 0: 4, 3: 4, 2: 4}

    def script(view: View, ask: Ask, io: IO) -> Action | None:
        if ask.kind == "vote":
            table = again if "/straw2/" in ask.id else straw if "/straw/" in ask.id else real
            return pick(table[ask.seat])
        return None

    day = only_day(game(script, probes=(StrawPoll(times=2),)))
    assert lead.dc(day) == pytest.approx(2 / 6)
    assert lead.dc_retest(day) == pytest.approx(1 / 6)
    assert lead.minus(lead.dc, lead.dc_retest)(day) == pytest.approx(1 / 6)
    # everybody else's vote in turn, seats 0 and 3 having come to 4: towards 0 converts 3, towards 1 both …
    assert lead.dc_others(day) == pytest.approx((1 + 2 + 1 + 0 + 0 + 2) / 30)


def test_without_a_second_poll_the_retest_is_missing() -> None:
    assert lead.dc_retest(only_day(game(votes({}, {})))) is None


@pytest.mark.parametrize(
    ("said", "whom"),
    [
        ("I suggest we vote for player_5.", 4),
        ("player_7 is a Werewolf.", 6),
        ("I suspect player_1, but let us vote for player_5 today.", 4),
        ("Nothing is clear yet.", None),
        ("We should vote for player_1 or vote for player_5.", None),
    ],
)
def test_recommendation_is_read_from_words(said: str, whom: int | None) -> None:
    assert lead.recommended(only_day(game(votes({}, {}, said)))) == whom


def test_dc_towards_the_recommended_player_and_persuasion() -> None:
    straw = {0: 6, 1: 4, 3: 1, 4: 1, 5: 1, 6: 1}
    real = {**straw, 3: 6, 5: 6, 2: 4}
    record = game(votes(straw, real, "I suggest we vote for player_7."))
    day = only_day(record)
    assert lead.recommended(day) == 6
    assert lead.dc_words(day) == pytest.approx(2 / 5)  # of seats 0, 1, 3, 4, 5
    assert lead.dc_words(day, wolf=True) == pytest.approx(2 / 5)
    assert lead.dc_words(day, wolf=False) is None
    assert lead.persuasion_counts(day) == (5, 1, 3)
    summary = summarise([done(record)])
    rate = summary.conditions[0].measures["persuasion"]
    assert rate.value == pytest.approx((3 / 5 - 1 / 5) / (1 - 1 / 5))
    assert summary.conditions[0].measures["persuasion_other"].value is None


def test_standing_and_peers() -> None:
    """Everybody believes the Villager Sheriff (seat 1) 9, the other Villagers 6, the rest 6."""

    def script(view: View, ask: Ask, io: IO) -> Reply | None:
        if ask.kind == "vote" and "/straw" not in ask.id:
            return Reply(PASS, deduced(*(belief(j, 9 if j == 1 else 6) for j in range(7) if j != ask.seat)))
        return None

    day = only_day(game(script, sheriff=1))
    assert lead.ratio(day) == pytest.approx(1.5)
    other = 6 / ((5 * 9 + 5 * 4 * 6 + 5 * 6 - 5 * 6 + 5 * 6) / 30)  # seat 1's raters: five rate it 9
    assert lead.ratio_of_seat(day, 3) == pytest.approx(other)
    assert lead.ratio_over_peers(day) == pytest.approx(1.5 - other)
    assert lead.ratio_over_peers(only_day(game(script, sheriff=2))) is None  # the only Seer


def test_a_void_game_is_counted_and_gives_no_number() -> None:
    def script(view: View, ask: Ask, io: IO) -> Action | None:
        return pick(2) if ask.kind == "kill" else None

    record = game(script)
    assert days_of(record) == ()
    void = done(record)
    assert void.status == "void"
    row = summarise([void]).conditions[0]
    assert (row.counts.planned, row.counts.void, row.counts.done) == (1, 1, 0)
    assert row.measures["rounds"].value is None
    assert row.measures["village_win"].value is None


def test_days_are_averaged_within_a_game_and_roles_follow_the_days_sheriff() -> None:
    """An elected Sheriff, voted out on day 1, hands over; the attacked Guard shields itself every night."""
    rules = SHERIFF.with_(max_rounds=2)

    def script(view: View, ask: Ask, io: IO) -> Action | Reply | None:
        if ask.kind == "elect":
            assert ask.options is not None
            return next(option for option in ask.options if option != pick(4))
        if ask.kind == "kill":
            return pick(4)
        if ask.kind == "succeed":
            return pick(5 if ask.seat != 5 else 3)
        if ask.kind == "vote" and ask.round == 1:
            leader = next(e.seat for e in view.events if type(e).__name__ == "SheriffNamed")
            if "/straw" in ask.id:
                return PASS
            return pick(leader)
        return None

    record = game(script, ruleset=rules)
    first, second = days_of(record)
    assert first.sheriff is not None
    assert first.out == first.sheriff
    assert second.sheriff == (5 if first.sheriff != 5 else 3)
    assert first.sheriff not in second.alive
    assert lead.dc(first) == 1.0
    assert lead.dc(second) == 0.0
    assert lead.mean_over_days([first, second], lead.dc) == 0.5
    assert lead.mean_over_days([first, second], lead.dc, record.roles[second.sheriff]) == (
        0.0 if record.roles[second.sheriff] != record.roles[first.sheriff] else 0.5
    )


def test_null_of_ratio_holds_when_everybody_is_alike_and_not_when_the_sheriff_is_believed() -> None:
    def script(edge: int) -> object:
        def one(view: View, ask: Ask, io: IO) -> Reply | None:
            if ask.kind != "vote" or "/straw" in ask.id:
                return None
            scores = {
                j: 5 + io.draw(f"m/{j}", 3) + (edge if j == 2 else 0) for j in range(7) if j != ask.seat
            }
            return Reply(PASS, deduced(*(belief(j, m) for j, m in scores.items())))

        return one

    def null(edge: int) -> lead.RatioNull:
        games = [done(game(script(edge), key=str(k)), k) for k in range(12)]  # type: ignore[arg-type]
        found = summarise(games).conditions[0].ratio_null
        assert found is not None
        return found

    flat, raised = null(0), null(2)
    assert flat.p is not None
    assert flat.p > 0.05
    assert flat.low is not None
    assert flat.high is not None
    assert flat.low < 1 < flat.high
    assert raised.p is not None
    assert raised.p < 0.01
    assert lead.ratio_null_of_games(0, 0.0, 0.0, 0.0).mean is None
    few, enough = (lead.ratio_null_of_games(n, float(n), 0.1 * n, 1.2 * n) for n in (9, 10))
    assert few.p is None
    assert few.low is not None, "its mean and range are told"
    assert enough.p is not None
    assert lead.ratio_null_of_games(10, 10.0, 0.0, 10.0).p == 1, "every order of the seats gives this mean"


@pytest.mark.parametrize("never", [(), (5, 6)])
def test_the_null_of_ratio_is_the_mean_over_all_ways_to_lay_the_label(never: tuple[int, ...]) -> None:
    """By going through every order of the seats: the first that lives, and may lead, bears the label."""

    def script(view: View, ask: Ask, io: IO) -> Action | Reply | None:
        if ask.kind == "kill":
            return pick({1: 1, 2: 3}[ask.round])
        if ask.kind != "vote" or "/straw" in ask.id:
            return None
        living = [j for j in view.facts.living if j != ask.seat]
        return Reply(PASS, deduced(*(belief(j, 1 + io.draw(f"m/{j}", 10)) for j in living)))

    rules = ONE_DAY.with_(max_rounds=2, never_sheriff=[ONE_DAY.names[seat] for seat in never])
    record = game(script, ruleset=rules)
    found = days_of(record)
    assert [len(day.alive) for day in found] == [6, 5]
    values = []
    for order in permutations(seat for seat in range(7) if seat not in never):
        bearers = [next(seat for seat in order if seat in day.alive) for day in found]
        stands = [lead.ratio_of_seat(day, seat) for day, seat in zip(found, bearers, strict=True)]
        assert None not in stands
        values.append(sum(stands) / 2)  # type: ignore[arg-type]
    exact = lead.ratio_null_of_game(found, record.ruleset.eligible)
    assert exact is not None
    assert exact[0] == pytest.approx(mean(values))
    assert exact[1] == pytest.approx(pvariance(values))
    assert exact[2] == pytest.approx(lead.mean_over_days(found, lead.ratio))
    kept = row_of(record).ratio_null
    assert kept == exact, "the report counts it so"


def test_a_vote_that_was_not_finished_is_left_out() -> None:
    record = game(votes({}, {}))
    cut = next(k for k, event in enumerate(record.events) if type(event).__name__ == "VoteCounted")
    del record.events[cut - 1 :]
    assert days_of(record) == ()


def test_the_helpers_game_is_what_it_says() -> None:
    record = game(votes({}, {}), sheriff=4)
    assert record.roles == ROLES_7
    assert record.ruleset == ONE_DAY
    assert only_day(record).sheriff == 4
