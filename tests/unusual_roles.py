"""Roles that break what shipped roles keep: whoever lives has one vote and speaks once a day, and whoever
is out stays out.

Texts of files for a copy of the package: a Phoenix (comes back once), an Orator (speaks once more, before all
others) and a Mayor (may show its card; its vote counts twice from then on). What a role's file cannot say,
`ENGINE` adds to the copy's engine. The Idiot, who lives on without a vote, ships.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import wolflab

_HEAD = '''
"""A role of the tests."""

from ..actions import NO, YES
from ..duties import Duty
from ..events import EVERYONE, Revealed
from ..outcome import Side
from . import Role

'''

PHOENIX = """
def options(state, seat):
    return () if state.memory.get((seat, "rose")) else (YES, NO)


def act(state, seat, action):
    state.remember(seat, "rose", True)
    return (state.bring_back(seat),) if action == YES else ()


DUTY = Duty("rise", "come back", "came back", options, act, when="departure")
ROLE = Role("Phoenix", "Phoenixes", Side.VILLAGE, lambda rules: "the Phoenix may come back once", (DUTY,))
"""

ORATOR = """
ROLE = Role("Orator", "Orators", Side.VILLAGE, lambda rules: "the Orator also speaks before all others")
"""

MAYOR = """
def options(state, seat):
    return () if state.memory.get((seat, "shown")) else (YES, NO)


def act(state, seat, action):
    if action == NO:
        return ()
    state.remember(seat, "shown", True)
    return (Revealed(seat, "Mayor", EVERYONE), state.set_votes(seat, 2))


DUTY = Duty("show", "show your card", "showed the card", options, act, when="day")
ROLE = Role("Mayor", "Mayors", Side.VILLAGE, lambda rules: "a Mayor may show its card to vote twice", (DUTY,))
"""

ROLES: Mapping[str, str] = {
    name: _HEAD.lstrip() + text
    for name, text in {"phoenix": PHOENIX, "orator": ORATOR, "mayor": MAYOR}.items()
}

ENGINE = '''

# -- what the tests add ---------------------------------------------------------------------

_fix_order_usually = _fix_order


def _fix_order(s, others):
    """Orators speak before all others, and in their turn."""
    _fix_order_usually(s, others)
    s.queue = (*(seat for seat in s.queue if s.roles[seat].name == "Orator"), *s.queue)


def _open_discussion_of_orators(s, events):
    """The second ask of one seat has an id of its own."""
    _open_discussion(s, events)
    if s.asks and s.roles[s.asks[0].seat].name == "Orator" and s.asks[0].seat not in s.queue[1:]:
        s.asks = (s.cache.ask("statement", "discussion", s.round, s.queue[0], None, None, f"{s.queue[0]}/2"),)


PHASES["discussion"] = _Phase(_open_discussion_of_orators, _take_discussion)
'''


def package_with_unusual_roles(root: Path) -> Path:
    """A copy of the package that has these roles, below `root`; what stands in PYTHONPATH for it."""
    package = root / "wolflab"
    shutil.copytree(Path(wolflab.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in ROLES.items():
        (package / "rules" / "roles" / f"{name}.py").write_text(text, encoding="utf-8")
    engine = package / "rules" / "engine.py"
    engine.write_text(engine.read_text(encoding="utf-8") + ENGINE, encoding="utf-8")
    return root
