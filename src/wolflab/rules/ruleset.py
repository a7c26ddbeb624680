"""The rules as data: one frozen, validated object, and six presets (three papers, three tournament games).

Every rule on which they differ is a field (`switches.py`). No other code asks which paper a game follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from functools import cached_property
from types import MappingProxyType

from ..defaults import non_default_values
from ..errors import RulesetError
from .duties import Role, When
from .naming import check_role_names
from .roles import ROLES
from .switches import Switches

MIN_PLAYERS, MAX_PLAYERS = 5, 12
WORDINGS = 100
"""The number of wordings of a prompt, the one as written included."""


@dataclass(frozen=True)
class Ruleset(Switches):
    """The switches, checked, and values that follow from them.

    Raises `RulesetError`, which names the field, for values that contradict each other. `fields.from_plain`
    checks the types when a file or a record is read.
    """

    def __post_init__(self) -> None:
        object.__setattr__(self, "roles", MappingProxyType(dict(self.roles)))
        object.__setattr__(self, "never_sheriff", tuple(self.never_sheriff))
        self._check_values()
        self._check_roles()
        self._check_together()
        self._check_named()
        check_role_names(self.role_names, self.player_name, [name for name, n in self.roles.items() if n])
        object.__setattr__(self, "role_names", MappingProxyType(dict(self.role_names)))

    def _check_values(self) -> None:
        before, number, after = self.player_name.partition("{}")
        if not number or set("{}") & set(before + after) or not self.player_name.isprintable():
            words = "write one line with one {} for the number and no other braces"
            raise RulesetError("player_name", f"got {self.player_name!r}; {words}")
        if self.first_player not in (0, 1):
            raise RulesetError("first_player", f"got {self.first_player}; players are counted from 0 or 1")
        if self.max_rounds < 1:
            raise RulesetError("max_rounds", f"got {self.max_rounds}; a game has at least one round")
        if not 0 <= self.wording < WORDINGS:
            raise RulesetError("wording", f"got {self.wording}; use 0 to {WORDINGS - 1}")

    def _check_roles(self) -> None:
        for role, count in self.roles.items():
            if role not in ROLES:
                raise RulesetError("roles", f"unknown role {role!r}; known are {', '.join(sorted(ROLES))}")
            if count < 0:
                raise RulesetError("roles", f"{role}: got {count}; use 0 seats or more")
        if not MIN_PLAYERS <= self.players <= MAX_PLAYERS:
            raise RulesetError("roles", f"{self.players} players; a game has {MIN_PLAYERS} to {MAX_PLAYERS}")
        wolves = sum(n for r, n in self.roles.items() if ROLES[r].wolf)
        if not 0 < wolves < self.players - wolves:
            raise RulesetError(
                "roles",
                f"{wolves} of {self.players} are Werewolves; there must be one or more, and fewer than half",
            )
        if self.count("Guard") and self.count("Doctor"):
            raise RulesetError("roles", "Guard and Doctor are the same duty under two names; use one of them")

    def _check_together(self) -> None:
        kinds = {role.plain for role in self.cast if not role.wolf}
        if self.wolves_win.startswith("no_villager") and True not in kinds:
            raise RulesetError("wolves_win", f"{self.wolves_win!r} needs a plain Villager in the roles")
        if self.wolves_win == "no_villager_or_no_ability" and False not in kinds:
            raise RulesetError("wolves_win", f"{self.wolves_win!r} needs a role with an ability in the roles")
        if self.speaking_order == "sheriff_side" and self.sheriff == "none":
            raise RulesetError("speaking_order", "'sheriff_side' needs a Sheriff; set sheriff")
        if self.sheriff_role is not None:
            if not self.draws_in_secret:
                raise RulesetError(
                    "sheriff_role",
                    "only a seat drawn with the deal can be tied to a role; set sheriff: assigned",
                )
            if not self.count(self.sheriff_role):
                raise RulesetError("sheriff_role", f"nobody is dealt {self.sheriff_role!r}")
        if self.pass_competes and not self.may_abstain:
            raise RulesetError("pass_competes", "'pass' cannot win where nobody may abstain; set may_abstain")

    def _check_named(self) -> None:
        """Check that named players exist, and that a player who may be Sheriff is always left."""
        for field, named in (("stops_without", [self.stops_without]), ("never_sheriff", self.never_sheriff)):
            for name in named:
                if name is not None and name not in self.names:
                    known = ", ".join(self.names)
                    raise RulesetError(field, f"there is no player {name!r}; known are {known}")
        if self.never_sheriff and self.sheriff == "none":
            raise RulesetError("never_sheriff", "there is no Sheriff; set sheriff")
        # While a game goes on, a Werewolf and the others whom the win condition counts are alive.
        fewest = 2 if self.wolves_win in ("no_villager", "no_others") else 3
        barred = self.players - self.eligible.bit_count()
        if barred >= fewest:
            raise RulesetError(
                "never_sheriff",
                f"{barred} players are named, and nobody could be Sheriff when only they are left; name "
                f"{fewest - 1} at most",
            )
        if self.sheriff_role is not None and self.count(self.sheriff_role) <= barred:
            raise RulesetError(
                "sheriff_role",
                f"players of never_sheriff may hold every card of the {self.sheriff_role}; name fewer there",
            )
        most = min(self.players - 1, self.players - barred)
        if self.elects and not 1 <= self.candidates <= most:
            raise RulesetError("candidates", f"got {self.candidates}; use 1 to {most}")

    # -- what follows from the switches ---------------------------------------------------

    @cached_property
    def players(self) -> int:
        """The number of seats."""
        return sum(self.roles.values())

    @property
    def elects(self) -> bool:
        """Whether candidates run for Sheriff and players vote."""
        return self.sheriff in ("elected", "contested")

    @property
    def draws_in_secret(self) -> bool:
        """Whether chance draws the future Sheriff with the deal."""
        return self.sheriff in ("assigned", "contested")

    @cached_property
    def cast(self) -> tuple[Role, ...]:
        """The roles in play, in the order given."""
        return tuple(ROLES[name] for name, n in self.roles.items() if n)

    @cached_property
    def due(self) -> frozenset[When]:
        """The times at which a role of the cast has a duty."""
        return frozenset(duty.when for role in self.cast for duty in role.duties)

    @cached_property
    def shooter(self) -> Role | None:
        """The role that a shot reveals: the only role in the cast that shoots; None for none or several."""
        shooters = [role for role in self.cast if role.shoots]
        return shooters[0] if len(shooters) == 1 else None

    @cached_property
    def wolves(self) -> int:
        """The number of Werewolves."""
        return sum(n for name, n in self.roles.items() if ROLES[name].wolf)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The players' names by seat."""
        return tuple(self.player_name.format(s + self.first_player) for s in range(self.players))

    @cached_property
    def eligible(self) -> int:
        """Bit mask of the seats that may be Sheriff."""
        return sum(1 << seat for seat, name in enumerate(self.names) if name not in self.never_sheriff)

    def seat(self, name: str) -> int:
        """The seat of the player called `name` (ValueError if there is none)."""
        return self.names.index(name)

    def with_(self, **changes: object) -> Ruleset:
        """A copy with some switches changed; an unknown field is a `RulesetError`."""
        known = [f.name for f in fields(self)]
        for name in changes:
            if name not in known:
                raise RulesetError(name, f"there is no such switch; known are {', '.join(known)}")
        return replace(self, **changes)  # type: ignore[arg-type]

    def as_dict(self) -> dict[str, object]:
        """Every switch as a plain value; `Ruleset(**d)` is the same ruleset."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        plain = {"roles": dict(self.roles), "role_names": dict(self.role_names)}
        return values | plain | {"never_sheriff": list(self.never_sheriff)}

    def stated(self) -> dict[str, object]:
        """As `as_dict`, without switches at their defaults (see `wolflab.defaults`); `Ruleset(**d)` is the
        same ruleset.
        """
        plain = self.as_dict()
        return {name: plain[name] for name in non_default_values(self)}

    @cached_property
    def _key(self) -> tuple[object, ...]:
        """Every switch. The order of roles counts: it is the order of dealing and of asks."""
        values = self.as_dict() | {
            "roles": tuple(self.roles.items()),
            "role_names": tuple(sorted(self.role_names.items())),
            "never_sheriff": self.never_sheriff,
        }
        return tuple(values.values())

    @cached_property
    def _hash(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Ruleset) and self._hash == other._hash and self._key == other._key

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[object, tuple[dict[str, object]]]:
        return _rebuild, (self.stated(),)


def _rebuild(values: dict[str, object]) -> Ruleset:
    return Ruleset(**values)  # type: ignore[arg-type]


SHERIFF = Ruleset(
    name="sheriff",
    roles={"Werewolf": 2, "Villager": 3, "Seer": 1, "Guard": 1},
    seer_learns="role",
    seer_may_see_self=True,
    speaking_order="sheriff_side",
    may_vote_self=True,
    max_rounds=6,
    tell_horizon=False,
    tell_stand_in=False,
    sheriff="elected",
)
"""002: a Sheriff leads the discussion."""

WITCH = Ruleset(
    name="witch",
    roles={"Werewolf": 2, "Villager": 2, "Seer": 1, "Guard": 1, "Witch": 1},
    player_name="Player {}",
    wolf_agreement="plurality",
    wolves_may_pass=True,
    guard_may_repeat=False,
    guard_may_pass=True,
    seer_may_see_self=True,
    seer_may_pass=True,
    unusable_night_reply="pass",
    speaking_order="random_game",
    votes="open",
    may_vote_self=True,
    pass_competes=True,
    last_words="voted_out",
    wolves_win="no_villager",
    max_rounds=12,
    tell_horizon=False,
    tell_stand_in=False,
)
"""003: Guard and Witch, open votes, last words."""

DOCTOR = Ruleset(
    name="doctor",
    roles={"Werewolf": 2, "Villager": 3, "Seer": 1, "Doctor": 1},
    first_player=0,
    wolf_agreement="last",
    wolves_may_target_self=False,
    wolves_may_target_pack=False,
    tie="random",
    max_rounds=10,
    tell_horizon=False,
    tell_stand_in=False,
)
"""004: Doctor, random ties."""

NINE = Ruleset(
    name="nine",
    roles={"Werewolf": 3, "Villager": 3, "Seer": 1, "Witch": 1, "Hunter": 1},
    wolf_agreement="plurality",
    wolves_may_pass=True,
    witch_may_use_both=False,
    unusable_night_reply="pass",
    last_words="voted_out",
    wolves_win="no_villager_or_no_ability",
    max_rounds=12,
    tell_horizon=False,
    tell_stand_in=False,
)
"""The usual tournament game of nine."""

TEN = NINE.with_(
    name="ten",
    roles={"Werewolf": 3, "Villager": 3, "Seer": 1, "Witch": 1, "Hunter": 1, "Idiot": 1},
)
"""The usual tournament game of ten: with an Idiot."""

TWELVE = NINE.with_(
    name="twelve",
    roles={"Werewolf": 4, "Villager": 4, "Seer": 1, "Witch": 1, "Hunter": 1, "Guard": 1},
    guard_may_repeat=False,
    guard_may_pass=True,
    shield_and_antidote="kills",
)
"""The usual tournament game of twelve: with a Guard."""

_ABOUT: Mapping[Ruleset, str] = {
    SHERIFF: "a Sheriff is elected and leads the village",
    WITCH: "with Witch and Guard; open votes and last words",
    DOCTOR: "with Seer and Doctor; the shortest rules",
    NINE: "the usual tournament game, with Witch and Hunter",
    TEN: "with an Idiot too, who stays when voted out, without a vote",
    TWELVE: "the large tournament game, with a Guard too",
}

PRESETS: Mapping[str, Ruleset] = MappingProxyType({rules.name: rules for rules in _ABOUT})
"""Every preset by name."""

SUMMARIES: Mapping[str, str] = MappingProxyType({rules.name: about for rules, about in _ABOUT.items()})
"""What is particular about each preset, in a few words for people who choose one."""


def preset(name: str) -> Ruleset:
    """The ruleset of that name; RulesetError lists the known ones."""
    if not isinstance(name, str) or name not in PRESETS:
        near = get_close_matches(str(name), PRESETS, 1)
        meant = f"did you mean {near[0]}?" if near else f"known are {', '.join(PRESETS)}"
        raise RulesetError("rules", f"there is no preset {name!r}; {meant}")
    return PRESETS[name]


__all__ = [
    "DOCTOR",
    "MAX_PLAYERS",
    "MIN_PLAYERS",
    "NINE",
    "PRESETS",
    "SHERIFF",
    "SUMMARIES",
    "TEN",
    "TWELVE",
    "WITCH",
    "Ruleset",
    "preset",
]
