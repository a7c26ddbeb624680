"""Experience as a player meets it: masked names, what is near enough, what is shown of it."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experience_helpers import experience, unit
from wolflab.agents.experience import (
    ChosenExperiences,
    Experience,
    Hit,
    Pool,
    Threshold,
    choose,
)
from wolflab.errors import ModelError
from wolflab.rules import DOCTOR, SHERIFF, WITCH, Ruleset
from wolflab.text.masking import mask, mask_pair, mask_together

MADE_BY = {"name": "made up", "version": "1"}
NEAR = Threshold(0.85)

# -- masking --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "masked"),
    [
        ("Player 3 trusts player_5.", "Player A trusts Player B."),
        ("player_5 trusts Player 3.", "Player B trusts Player A."),
        (
            "PLAYER 2, player-2, player2, Player #2 and P2",
            "Player A, Player A, Player A, Player A and Player A",
        ),
        ("Player number 4 and player no. 1", "Player B and Player A"),
        ("player three's vote", "Player A's vote"),
        ("Players 2, 3 and 5 voted.", "Player A, Player B and Player C voted."),
        ("players 2, 4, or 6", "Player A, Player B, or Player C"),
        ("Player 1/2", "Player A/Player B"),
        # no players: numbers that are counted, bare numbers, players who do not exist
        ("Player 2, 3 days ago, and 4 votes", "Player A, 3 days ago, and 4 votes"),
        ("I trust 3, it is day 2.", "I trust 3, it is day 2."),
        ("Player 12 is nobody, and Player 30 too.", "Player 12 is nobody, and Player 30 too."),
        ("Player 2.5 and P2P", "Player A.5 and P2P"),
        ("the player I trust", "the player I trust"),
        ("", ""),
        # a player who came under a letter stays another than those with numbers
        ("Player A is not Player 3.", "Player B is not Player A."),
    ],
)
@pytest.mark.parametrize("rules", [SHERIFF, WITCH], ids=lambda rules: rules.name)
def test_names_become_letters(said: str, masked: str, rules: Ruleset) -> None:
    assert mask(said, rules.names) == masked


def test_players_counted_from_zero() -> None:
    assert mask("player_0, player_6 and player_7", DOCTOR.names) == "Player A, Player B and player_7"


def test_odd_names() -> None:
    names = SHERIFF.with_(player_name="Seat-{} (guest)").names
    assert mask("Seat-3 (guest) and seat 5 (guest)", names) == "Player A and Player B"
    assert mask("3 reasons to doubt 3 (human)", SHERIFF.with_(player_name="{} (human)").names) == (
        "3 reasons to doubt 3 (human)"
    )
    with pytest.raises(ValueError, match="seat 1 holds no number"):
        mask("x", ("player_1", "Bob"))
    with pytest.raises(TypeError):
        mask("x", "player_1")


def test_a_player_has_one_letter_in_both_texts() -> None:
    pair = mask_pair("Player 5 watched Player 3.", "I vote Player 5. Not Player 2!", WITCH.names)
    assert pair == ("Player B watched Player A.", "I vote Player B. Not Player C!")


words = st.lists(
    st.sampled_from(
        [
            *WITCH.names,
            "player_2",
            "P4",
            "players 1, 2 and 7",
            "voted",
            "for",
            "and",
            "3",
            "Player 9",
            ", ",
            ". ",
        ]
    ),
    max_size=12,
).map(" ".join)


@given(words, words)
def test_masking_is_the_same_with_and_without_what_follows(first: str, second: str) -> None:
    """A stored reflection reads as the same reflection does when it is searched with."""
    alone = mask(first, WITCH.names)
    together = mask_together((first, second), WITCH.names)
    assert together[0] == alone
    assert mask_together(together, WITCH.names) == together
    assert not re.search(r"player[ _][1-7]\b", " ".join(together), re.IGNORECASE)


@given(words, st.permutations(range(7)))
def test_masked_texts_do_not_tell_who_sat_where(text: str, seats: list[int]) -> None:
    """Players under other names, in the same order, mask to the same text."""
    order = sorted(seats[:3])
    names = [WITCH.names[seat] for seat in order]
    told = "{0} saw {2}; {1} voted for {0}. " + re.sub(r"[Pp]layers?[ _]\d|P\d|\d", "", text)
    assert mask(told.format(*names), WITCH.names) == mask(told.format(*WITCH.names[:3]), WITCH.names)


# -- what is shown --------------------------------------------------------------------------


def hits(*scores: int) -> list[Hit]:
    """Hits of these scores, the best first."""
    return [Hit(experience(n, score=score), 0.99 - n / 100) for n, score in enumerate(scores)]


def scores(chosen: ChosenExperiences | None) -> tuple[int, list[int]]:
    assert chosen is not None
    return chosen.bad.score, [one.score for one in chosen.good]


def test_the_worst_and_those_around_the_median() -> None:
    # The median of all is 994; 995 and 993 are equally near it, and the more similar comes first.
    assert scores(choose(hits(995, 3, 997, 994, 993, 990, 996), 3)) == (3, [994, 995, 993])
    assert scores(choose(hits(4, 996))) == (4, [996])


def test_the_least_similar_of_several_worst_is_the_bad_one() -> None:
    found = hits(4, 996, 4, 995)
    chosen = choose(found)
    assert chosen is not None
    assert chosen.bad == found[2].experience
    assert found[0].experience in chosen.good
    same = [Hit(experience(n, score=4), 0.9) for n in range(3)]
    assert choose(same) == (same[2].experience, (same[0].experience, same[1].experience))


def test_the_released_codes_window() -> None:
    found = hits(992, 995, 994, 3, 993, 995, 994, 993, 996)
    assert scores(choose(found, 5, (993, 995))) == (3, [995, 994, 993, 995, 994])
    assert choose(hits(992, 996, 3), 5, (993, 995)) is None
    # the worst is not among the good, even if it is in the window
    assert scores(choose(hits(993, 994, 995), 5, (993, 995))) == (993, [994, 995])


def test_too_few_to_choose_from() -> None:
    assert choose([]) is None
    assert choose(hits(995)) is None
    with pytest.raises(ValueError, match="1 or more"):
        choose(hits(1, 2), 0)


# -- what is near enough --------------------------------------------------------------------


def brute_force(
    experiences: list[Experience],
    vectors: np.ndarray,
    query: np.ndarray,
    epsilon: float,
    limit: int,
    deal: str | None,
) -> list[Hit]:
    """003 Eq. 6 word for word, each product summed exactly."""
    found = [
        Hit(one, float(np.einsum("d,d->", vector.astype(float), query.astype(float))))
        for one, vector in zip(experiences, vectors, strict=True)
        if one.deal != deal
    ]
    near = [hit for hit in found if hit.similarity > epsilon]
    return sorted(near, key=lambda hit: -hit.similarity)[:limit]


@pytest.mark.parametrize("distinct", [60, 600], ids=["many equal", "all different"])
def test_search_finds_exactly_the_nearest(distinct: int) -> None:
    vectors = unit(600)[np.random.default_rng(1).integers(0, distinct, 600) if distinct < 600 else slice(600)]
    experiences = [experience(n) for n in range(600)]
    pool = Pool.of(experiences, vectors, MADE_BY, NEAR)
    for n, query in enumerate(unit(12, seed=2)):
        epsilon = (0.0, 0.5, 0.6, 0.7)[n % 4]
        limit = (1, 7, 50, 1000)[n // 3]
        deal = (None, "s/3", "s/5", "nowhere")[n % 4]
        found = pool.search(query, "Guard", "protect", epsilon, limit, deal)
        expected = brute_force(experiences, vectors, query, epsilon, limit, deal)
        assert [hit.experience for hit in found] == [hit.experience for hit in expected]
        assert [hit.similarity for hit in found] == pytest.approx([hit.similarity for hit in expected])
        assert expected or epsilon == 0.7


def test_above_means_above() -> None:
    vectors = np.eye(3, dtype=np.float32)[[0, 1]]
    pool = Pool.of([experience(0), experience(1)], vectors, MADE_BY, NEAR)
    query = np.array([0.5, 1.0, 0.0], np.float32)
    assert [hit.similarity for hit in pool.search(query, "Guard", "protect", 0.49)] == [1.0, 0.5]
    assert [hit.similarity for hit in pool.search(query, "Guard", "protect", 0.5)] == [1.0]
    assert pool.search(query, "Guard", "protect", 1.0) == ()
    assert pool.search(np.zeros(3, np.float32), "Guard", "protect", 0.0) == ()


def test_equal_ones_come_in_stored_order() -> None:
    vectors = unit(3)[[0, 1, 2] * 70]
    pool = Pool.of([experience(n) for n in range(210)], vectors, MADE_BY, NEAR)
    found = pool.search(vectors[1], "Guard", "protect", 0.0, 100)
    assert [hit.experience.ask for hit in found[:70]] == [f"1/protect/{n}" for n in range(1, 210, 3)]
    assert all(a.similarity >= b.similarity for a, b in pairwise(found))


def test_other_roles_and_other_decisions_are_not_found() -> None:
    experiences = [
        experience(0),
        experience(1, role="Witch", kind="poison"),
        experience(2, kind="vote"),
        experience(3, role="Witch", kind="vote"),
    ]
    pool = Pool.of(experiences, unit(1)[[0] * 4], MADE_BY, NEAR)
    query = unit(1)[0]
    for one in experiences:
        assert [hit.experience for hit in pool.search(query, *one.key, 0.5)] == [one]
    assert pool.search(query, "Guard", "poison", 0.5) == ()
    assert pool.search(query, "Seer", "see", 0.5) == ()


@given(st.integers(0, 59), st.integers(1, 60))
def test_nothing_comes_from_the_games_own_deal(place: int, limit: int) -> None:
    """The contamination guard: whatever is near, a barred deal gives nothing."""
    experiences = [experience(n) for n in range(60)]
    pool = Pool.of(experiences, unit(60), MADE_BY, NEAR)
    own = experiences[place]
    hits = pool.search(unit(60)[place], "Guard", "protect", -1, limit, own.deal)
    assert not [hit for hit in hits if hit.experience.deal == own.deal]
    assert len(hits) == min(limit, 50)


def test_a_vector_of_another_length_is_refused() -> None:
    pool = Pool.of([experience()], unit(1), MADE_BY, NEAR)
    with pytest.raises(ModelError, match=r"vectors of 24 numbers.*shape \(3,\).*'made up'"):
        pool.search(np.zeros(3, np.float32), "Guard", "protect", 0.5)
    with pytest.raises(ValueError, match="1 or more"):
        pool.search(unit(1)[0], "Guard", "protect", 0.5, limit=0)
    with pytest.raises(ModelError, match="ε is nan"):
        Threshold(float("nan"))


# -- what a pool says of itself -------------------------------------------------------------


def test_the_digest_is_of_everything_that_can_be_found() -> None:
    experiences, vectors = [experience(n) for n in range(9)], unit(9)
    pool = Pool.of(experiences, vectors, MADE_BY, NEAR)
    assert pool.digest == Pool.of(experiences, vectors.copy(), dict(MADE_BY), Threshold(0.5)).digest
    assert pool.digest == pool.tuned(Threshold(0.1)).digest
    others = [
        Pool.of(experiences, vectors, MADE_BY | {"version": "2"}, NEAR),
        Pool.of(experiences[::-1], vectors[::-1], MADE_BY, NEAR),
        Pool.of(experiences, vectors[::-1], MADE_BY, NEAR),
        Pool.of(experiences[1:], vectors[1:], MADE_BY, NEAR),
    ]
    for field in fields(Experience):
        value = getattr(experiences[4], field.name)
        changed = replace(experiences[4], **{field.name: value + ("x" if isinstance(value, str) else 1)})
        others.append(Pool.of([*experiences[:4], changed, *experiences[5:]], vectors, MADE_BY, NEAR))
    assert len({pool.digest, *(one.digest for one in others)}) == len(others) + 1


def test_a_pool_describes_itself() -> None:
    pool = Pool.of([experience(n) for n in range(4)], unit(4), MADE_BY, Threshold(0.3, 0.2, 0.19))
    assert len(pool) == 4
    assert pool.describe() == {
        "digest": pool.digest,
        "experiences": 4,
        "embedder": MADE_BY,
        "epsilon": 0.3,
        "share": 0.2,
    }
    assert list(pool.experiences()) == [experience(n) for n in range(4)]
    assert pool.tuned(NEAR).epsilon == 0.85
    assert experience(3).id == "s/0/0|1/protect/3"


def test_equal_vectors_are_kept_once() -> None:
    pool = Pool.of([experience(n) for n in range(6)], unit(3)[[0, 1, 0, 2, 1, 0]], MADE_BY, NEAR)
    block = pool.blocks["Guard", "protect"]
    assert (block.vectors == unit(3)).all()
    assert block.rows.tolist() == [0, 1, 0, 2, 1, 0]
    with pytest.raises(ValueError, match="2 experiences for vectors"):
        Pool.of([experience(0), experience(1)], unit(1), MADE_BY, NEAR)
