"""Thinking before acting, in words, and acting on those words (chain of thought; ReCon, by 004 §5.1).

A plan has graded suspicions (`graded_words`) and the aim of its author. An action follows the plan's text
alone: suspicions are read back from it, and so is the aim, if it has the words below. A plan of another
author is read for its suspicions, like any text.

From the others' perspective a plan becomes more careful: nobody is accused flatly without a check, a Werewolf
does not defend its teammate, and an accused player claims a role.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ....rules import ROLES, Action, Ask, Ruleset
from ....text.reading import with_roles_marked
from ....text.replies.chosen_action import read_action
from ..beliefs.graded_words import grade_word, graded_sentence, views_of
from ..choices.choosing_by_habit import ChosenOption
from ..scene import TableScene
from ..speech.phrases import Point, phrase, role_with_article

_AIMS = {
    "open": "greet the others",
    "quiet": "say that I know little yet",
    "claim": "say that I am {what}",
    "saw": "tell that I saw {who}, {what}",
    "saw before": "tell that I saw {who} earlier, {what}",
    "protect": "tell that I protected {who}",
    "accuse 3": "accuse {who} flatly",
    "accuse 2": "say that I suspect {who}",
    "accuse 1": "hint at {who}",
    "liar": "call {who} a liar",
    "defend": "speak up for {who}",
    "propose": "call for a vote against {who}",
    "agree": "agree with {who}",
    "campaign": "run for Sheriff",
    "summary": "sum up as the Sheriff",
    "recommend": "recommend a vote against {who}",
    "close": "ask for the others' views",
    "farewell": "say farewell",
}
_STATEMENT, _CHOICE = "In my statement I mean to ", "My choice: "
_MEANT = re.compile(re.escape(_STATEMENT) + r"([^.]+)\.")
_CHOSEN = re.compile(re.escape(_CHOICE) + r"([^.]+)\.")
_SPOKEN_OF = 5
"""Maximum of sentences on the others' sides: the strongest suspicions and trusts."""


def plan_in_words(scene: TableScene, aim: str) -> str:
    """The plan from the player's own perspective: its role, its judgements of the others, its aim."""
    groups: dict[str, list[str]] = {}
    for seat in sorted(scene.others(), key=lambda seat: -abs(scene.suspicion[seat] - 300)):
        word = grade_word(scene.suspicion[seat])
        if word:
            groups.setdefault(word, []).append(scene.name(seat))
    sides = [graded_sentence(word, names) for word, names in groups.items()][:_SPOKEN_OF]
    me = role_with_article(scene.situation.role, scene.situation.ruleset)
    return " ".join([f"I am {me}.", *sides, aim])


def aim_of_choice(option: str, why: str) -> str:
    """The part of a plan that says what will be chosen."""
    return f"{why} {_CHOICE}{option}."


def aim_of_statement(points: Sequence[Point], ruleset: Ruleset) -> str:
    """The part of a plan that says what will be said."""
    aims = (phrase(point, _AIMS[point.kind], ruleset) for point in points if point.kind in _AIMS)
    return f"{_STATEMENT}{'; '.join(aims)}."


# -- from the others' perspective ----------------------------------------------------------------------


def plan_seen_by_others(scene: TableScene, earlier: str, points: Sequence[Point]) -> str:
    """The earlier plan, how it would look to others, and the new aim. points: of the earlier plan."""
    thoughts = _MEANT.sub("", earlier).strip()
    careful, look = _careful(scene, points)
    parts = (thoughts, look, aim_of_statement(careful, scene.situation.ruleset))
    return " ".join(part for part in parts if part)


def _careful(scene: TableScene, points: Sequence[Point]) -> tuple[list[Point], str]:
    proven = any(point.kind == "saw" for point in points)
    careful: list[Point] = []
    looks: list[str] = []
    for point in points:
        if point.kind == "defend" and point.who in scene.pack:
            name = scene.name(point.who)
            looks.append(f"To the others we would look like a pair if I spoke up for {name}.")
        elif point.kind == "accuse 3" and not proven:
            careful.append(Point("accuse 2", point.who))
            looks.append("To the others a flat accusation without a proof would look rash.")
        else:
            careful.append(point)
    against, role = scene.accusers(scene.me), _harmless_role(scene)
    silent = not scene.node.claims[scene.me] and not any(point.kind == "claim" for point in careful)
    if against and role and silent:
        kinds = [point.kind for point in careful]
        place = next((i for i, kind in enumerate(kinds) if kind not in ("open", "summary")), len(kinds))
        careful.insert(place, Point("claim", None, role))
        looks.append(f"{scene.name(against[0])} suspects me, so the others want to hear what I am.")
    return careful or [Point("quiet")], " ".join(looks) or "The others should find nothing odd in that."


def _harmless_role(scene: TableScene) -> str:
    """The role to claim when accused: the true one, or a plain one for a Werewolf."""
    rules = scene.situation.ruleset
    if not scene.wolf:
        return scene.situation.role
    return next((role for role in rules.roles if ROLES[role].plain and rules.count(role)), "")


# -- acting on a plan ---------------------------------------------------------------------------


def apply_plan(scene: TableScene, plan: str) -> None:
    """Replace `scene`'s suspicions by those in the plan; certain knowledge stays."""
    rules = scene.situation.ruleset
    views = views_of(with_roles_marked(plan, rules), rules.names, scene.me)
    known = {scene.me, *scene.pack, *scene.summary.learned}
    for seat in views.wolf.keys() - known:
        scene.suspicion[seat] = views.wolf[seat]
    for seat in views.role.keys() - known:
        scene.thought[seat], scene.sure[seat] = views.role[seat]


def planned_choice(scene: TableScene, ask: Ask, plan: str) -> ChosenOption | None:
    """The option that the plan chooses, if it has `village`'s words for it."""
    choices = _CHOSEN.findall(plan)
    action: Action | str = read_action(choices[-1], ask, scene.situation.ruleset) if choices else ""
    return None if isinstance(action, str) else (action, "")


@lru_cache(1 << 12)
def planned_points(plan: str, ruleset: Ruleset) -> tuple[Point, ...]:
    """The points that the plan aims at; none if it lacks `village`'s words for them."""
    statements = _MEANT.findall(plan)
    aims = statements[-1].split("; ") if statements else []
    return tuple(point for aim in aims for point in _points_of(aim.strip(), ruleset))


@lru_cache(32)
def _patterns(ruleset: Ruleset) -> tuple[tuple[str, re.Pattern[str]], ...]:
    who = "|".join(re.escape(name) for name in sorted(ruleset.names, key=len, reverse=True))
    return tuple(
        (
            kind,
            re.compile(
                re.escape(template)
                .replace(r"\{who\}", f"(?P<who>{who})")
                .replace(r"\{what\}", "(?P<what>.+)")
            ),
        )
        for kind, template in _AIMS.items()
    )


def _points_of(aim: str, ruleset: Ruleset) -> list[Point]:
    """The points of an aim."""
    for kind, pattern in _patterns(ruleset):
        match = pattern.fullmatch(aim)
        if match:
            blanks = match.groupdict()
            seat = ruleset.names.index(blanks["who"]) if "who" in blanks else None
            what = blanks.get("what", "")
            role = next((role for role in ROLES if what == role_with_article(role, ruleset)), what)
            return [Point(kind, seat, role)]
    return []
