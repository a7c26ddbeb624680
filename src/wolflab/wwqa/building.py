"""Build a question set: draw situations, ask kinds, prove answers, balance labels, separate splits. Yes/no
and choice items about situations come in pairs with the same words, names apart, and different answers. So
neither words nor length predict an answer. Items about the rules are balanced by their frames. Training and
validation have nothing that a test set holds out.
"""

from __future__ import annotations

import random
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from hashlib import blake2b
from itertools import accumulate, cycle, islice
from typing import Literal, NamedTuple, get_args, get_type_hints

import msgspec

from ..errors import RulesetError, WolflabError
from ..rules import Ruleset
from ..rules.engine import outcome_of_state
from .asking import rules_in_words
from .items import Item, Split, rules_as_plain
from .kinds import KINDS
from .kinds.kind import QuestionKind, Value
from .situations import (
    AskedAbout,
    Games,
    GameSituation,
    Impossible,
    Query,
    changes,
    check_fits,
    put_back,
)
from .wordings import ItemWording, right_answer, worded, wordings

SHARES: Mapping[Split, float] = {
    "train": 0.45,
    "validation": 0.05,
    "situations": 0.125,
    "wordings": 0.125,
    "kinds": 0.125,
    "ruleset": 0.125,
}
"""The share of each split."""

RULE_SHARE = 1 / 3
"""The share of items about the rules themselves, if a split has both categories (002's files: 1,012 and
541).
"""

KINDS_HELD_OUT = 1 / 6
"""The share of kinds that are kept out of training."""

_TRIES = 400
"""Failed draws in a row after which a kind is given up."""

_MANY_TRIES = 4000
"""The same, at the beginning, for a kind with two answers and no pair yet."""


class Case(NamedTuple):
    """A question before it has words."""

    situation: GameSituation
    asked: AskedAbout
    value: Value


Unasked = Literal["never comes up", "one answer", "no pair"]
"""Why a kind is not asked: these rules have no such question, have only one answer to it, or gave no pair
with equal words and different answers.
"""


@dataclass(frozen=True)
class Built:
    """A question set.

    items: in random order. held_out: kinds kept out of training. unasked: other kinds without items, each
    with the reason. short: splits with too few items, (made, wanted).
    """

    items: tuple[Item, ...]
    unasked: Mapping[str, Unasked]
    held_out: tuple[str, ...]
    short: Mapping[Split, tuple[int, int]]


def build_items(
    rules: Ruleset,
    n: int,
    seed: int,
    watch: Callable[[int, int], None] = lambda made, wanted: None,
    kinds: Collection[str] = (),
    shares: Mapping[Split, float] = SHARES,
    most_wordings: int | None = None,
) -> Built:
    """About `n` items of these rules; the same seed gives the same items.

    watch: called with (items made, items wanted). kinds: only these, none of them held out; empty: all.
    shares: of `n`, by split. most_wordings: the most tellings and frames of a kind, drawn by the seed, in all
    splits except that of new wordings; None: all. WolflabError if the rules give fewer than half of the
    items.
    """
    for name in kinds:
        if name not in KINDS:
            near = get_close_matches(name, KINDS, 1)
            guess = f"did you mean {near[0]!r}?" if near else "see them with wolflab wwqa kinds"
            raise WolflabError(f"there is no kind {name!r}; {guess}")
    return _Builder(rules, n, seed, watch, kinds, shares, most_wordings).build()


class _Builder:
    def __init__(
        self,
        rules: Ruleset,
        n: int,
        seed: int,
        watch: Callable[[int, int], None],
        kinds: Collection[str],
        shares: Mapping[Split, float],
        most_wordings: int | None = None,
    ) -> None:
        self.most_wordings = most_wordings
        self.rules, self.n, self.seed, self.watch = rules, n, seed, watch
        left = {split: share for split, share in shares.items() if not kinds or split != "kinds"}
        self.shares = {split: share / sum(left.values()) for split, share in left.items()}
        self.rng = random.Random(f"wwqa/{seed}")
        self.items: dict[tuple[str, frozenset[str], str], Item] = {}
        games = Games(rules, f"{seed}")
        self.sources = {
            name: _Source(kind, games, self.shares, f"{seed}/{name}")
            for name, kind in KINDS.items()
            if name in kinds or not kinds
        }
        self.chosen = bool(kinds)

    def build(self) -> Built:
        unasked = {name: source.missing() for name, source in self.sources.items()}
        asked = [name for name, reason in unasked.items() if reason is None]
        held_out: list[str] = []
        for names in _by_category(asked):
            if names and not self.chosen:
                held_out += sorted(self.rng.sample(names, max(1, round(len(names) * KINDS_HELD_OUT))))
        known = [name for name in asked if name not in held_out]
        for split, share in self.shares.items():
            if split == "ruleset":
                self._other_rules(known, round(self.n * share))
            else:
                self._fill(split, held_out if split == "kinds" else known, round(self.n * share))
        left_out = {name: reason for name, reason in unasked.items() if reason is not None}
        if not asked:
            reasons = ", ".join(f"{name} ({reason})" for name, reason in left_out.items())
            raise WolflabError(f"these rules give no question: {reasons}; take other kinds or other rules")
        if len(self.items) < self.n / 2:
            few = self.n < 20  # too few for all splits: pairs stay together
            how = "ask for more with --n" if few else "ask for fewer with --n, or for more kinds"
            raise WolflabError(f"these rules gave {len(self.items)} of {self.n} items; {how}")
        items = list(self.items.values())
        splits = Counter(item.split for item in items)
        wanted = {split: round(self.n * share) for split, share in self.shares.items()}
        short = {split: (splits[split], n) for split, n in wanted.items() if splits[split] < n - 1}
        self.rng.shuffle(items)
        return Built(tuple(items), left_out, tuple(held_out), short)

    def _fill(self, split: Split, names: Iterable[str], n: int) -> None:
        about_rules, about_situations = _by_category(names)
        share = 0.0 if split == "situations" else RULE_SHARE if about_situations else 1.0
        made = self._spread(split, about_rules, round(n * share))
        self._spread(split, about_situations, n - made)

    def _spread(self, split: Split, names: list[str], n: int) -> int:
        """Add about `n` items, evenly over kinds. Returns their number."""
        made, waiting = 0, self.rng.sample(names, len(names))
        while waiting and made < n:
            for name in [*waiting]:
                if made >= n:
                    break
                added = self._add(split, KINDS[name])
                if not added:
                    waiting.remove(name)
                made += added
            self.watch(len(self.items), self.n)
        return made

    def _add(self, split: Split, kind: QuestionKind) -> int:
        """Add one more group of items of that kind. Returns its size, 0 if there is none."""
        for _ in range(30):
            group = self.sources[kind.name].group(split)
            if group is None:
                return 0
            wording = self.rng.choice(self._wordings(kind, split))
            items = self._worded(split, kind, group, wording, [self.rules] * len(group))
            if self._keep(items):
                return len(group)
        return 0

    def _wordings(self, kind: QuestionKind, split: Split) -> list[ItemWording]:
        """The wordings of a kind in a split."""
        found, most = wordings(kind, split == "wordings"), self.most_wordings
        if split == "wordings" or most is None or most >= len(found):
            return found
        return random.Random(f"{self.seed}/wordings/{kind.name}").sample(found, most)

    def _keep(self, items: list[Item]) -> bool:
        """Add these items; False if one exists already, perhaps with its options in another order."""
        new = {(item.question, frozenset(item.choices), str(item.rules)): item for item in items}
        if len(new) < len(items) or new.keys() & self.items.keys():
            return False
        self.items |= new
        return True

    def _worded(
        self, split: Split, kind: QuestionKind, group: list[Case], wording: ItemWording, rules: list[Ruleset]
    ) -> list[Item]:
        """The items of one group, in one wording. For yes/no items about rules the frame is chosen for
        balance.
        """
        if kind.setting is None and kind.form == "yes_no":
            wording = wording._replace(frame=self._frame(kind, group[0].value, split))
        same = self.rng.getrandbits(32)
        items = []
        for at, (case, under) in enumerate(zip(group, rules, strict=True)):
            rng = random.Random(f"{same}" if split == "ruleset" else f"{same}/{at}")
            items.append(_item(under, kind, case, wording, rng, split))
        if len(group) > 1:
            pair = blake2b("".join(item.id for item in items).encode(), digest_size=6).hexdigest()
            items = [msgspec.structs.replace(item, pair=pair) for item in items]
        return items

    def _frame(self, kind: QuestionKind, value: Value, split: Split) -> int:
        """A frame under which Yes and No come up equally often."""
        wanted = self.rng.random() < 0.5
        frames = sorted({wording.frame for wording in wordings(kind, split == "wordings")})
        return self.rng.choice(
            [at for at in frames if (kind.frames[at].startswith("!")) == (wanted != value)]
        )

    # -- another ruleset --------------------------------------------------------------------------

    def _other_rules(self, names: list[str], n: int) -> None:
        """Pairs in the same words under two other rulesets: one has the answer of `rules`, one another."""
        own = rules_in_words(self.rules)
        others = [other for other in variants(self.rules).values() if rules_in_words(other) != own]
        games = {other: Games(other, f"{self.seed}/other/{at}") for at, other in enumerate(others)}
        fruitful: dict[str, list[Ruleset]] = {name: [] for name in names}
        misses, made = Counter[str](), 0
        order = cycle(self.rng.sample(names, len(names)))
        while made < n:
            name = next((name for name in islice(order, len(names)) if misses[name] < _TRIES), None)
            if name is None:
                return
            known = fruitful[name]
            for _ in range(40):
                other = self.rng.choice(known if known and self.rng.random() < 0.7 else others)
                added = self._same_words(KINDS[name], other, others, games)
                if added:
                    known.append(other)
                    made += added
                    misses[name] = 0
                    break
                misses[name] += 1
            self.watch(len(self.items), self.n)

    def _same_words(
        self, kind: QuestionKind, other: Ruleset, others: list[Ruleset], games: Mapping[Ruleset, Games]
    ) -> int:
        """Two items in the same words under two other rulesets; 0 where this draw gives none."""
        cases = _cases(kind, games[other], self.rng)
        usual = engine_answer(kind, self.rules, cases[0].situation, cases[0].asked) if cases else None
        if usual is None or usual == cases[0].value or not _fits_words(kind, self.rules, cases[0].situation):
            return 0
        case = cases[0]
        alike = (
            another
            for another in self.rng.sample(others, min(8, len(others)))
            if another.names == self.rules.names
            and _fits_words(kind, another, case.situation)
            and engine_answer(kind, another, case.situation, case.asked) == usual
            and _may_ask(kind, another, case)
        )
        second = next(alike, None)
        if second is None or not _offers_both(kind, case, usual, (other, second)):
            return 0
        wording = self.rng.choice(self._wordings(kind, "ruleset"))
        group = [case, case._replace(value=usual)]
        items = self._worded("ruleset", kind, group, wording, [other, second])
        return 2 if items[0].question == items[1].question and self._keep(items) else 0


def _by_category(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """The kinds about rules, and those about situations."""
    kinds = [KINDS[name] for name in names]
    return [k.name for k in kinds if k.setting is None], [k.name for k in kinds if k.setting is not None]


def _fits_words(kind: QuestionKind, rules: Ruleset, situation: GameSituation) -> bool:
    """Whether these rules ask for every told action (except shots, which are told as a precaution). An order
    of turns is told only if one is drawn.
    """
    drawn = {"order": rules.speaking_order.startswith("random"), "voting": rules.votes == "open"}
    if situation.order and not drawn.get(situation.moment, False):
        return False
    if kind.setting is None:
        return True
    try:
        if situation.round > rules.max_rounds or (
            situation.roles and outcome_of_state(put_back(rules, situation))
        ):
            return False
        asked = Query(rules, situation, {}).playout(situation, *kind.setting.filled).asks
    except Impossible:
        return False
    posed = {(ask.kind, ask.seat) for ask, _ in asked}
    return all(told == "shoot" or (told, seat) in posed for told, seat, _ in situation.told)


def _may_ask(kind: QuestionKind, rules: Ruleset, case: Case) -> bool:
    """Whether the question may be asked under these rules; of situations `_fits_words` tells it."""
    if kind.setting is not None:
        return True
    return case.asked in [*kind.answer.asks(_as_asked(kind, rules), case.situation, random.Random(0))]


def _offers_both(kind: QuestionKind, case: Case, usual: Value, under: tuple[Ruleset, Ruleset]) -> bool:
    offered = [
        kind.options(rules, case.situation, case.asked, value, random.Random(0)).keys()
        for rules, value in zip(under, (case.value, usual), strict=True)
    ]
    return offered[0] == offered[1]


def _split_of(situation: GameSituation, shares: Mapping[Split, float]) -> Split:
    """The split of a situation: the same for equal ones, with frequencies equal to the shares."""
    splits = [split for split in shares if split not in ("kinds", "ruleset")]
    total = sum(shares[split] for split in splits)
    ends = list(accumulate(shares[split] / total for split in splits))
    digest = blake2b(msgspec.msgpack.encode(situation), digest_size=4).digest()
    return splits[min(bisect(ends, int.from_bytes(digest, "big") / 2**32), len(splits) - 1)]


class _Source:
    """Cases of one kind under one ruleset: in pairs that differ only in the answer, or one by one. They are
    drawn when needed, and kept until their split asks for them.
    """

    def __init__(self, kind: QuestionKind, games: Games, shares: Mapping[Split, float], seed: str) -> None:
        self.kind, self.games, self.shares = kind, games, shares
        self.rng = random.Random(seed)
        self.matched = kind.setting is not None and kind.form != "open" and kind.matched
        self._waiting: dict[object, list[Case]] = {}
        self._ready: dict[Split | None, list[list[Case]]] = {}
        self._values: set[str] = set()

    def missing(self) -> Unasked | None:
        """Why there are no cases; None if there are some."""
        for _ in range(_MANY_TRIES // _TRIES):
            if self._more(lambda: any(self._ready.values())):
                return None
            if len(self._values) < 2:
                return "one answer" if self._values else "never comes up"
        return "no pair"

    def group(self, split: Split) -> list[Case] | None:
        """The next cases for a split; None if there are no more."""
        of_split = None if self.kind.setting is None else split

        def ready() -> list[list[Case]]:
            if split == "kinds":  # all cases of a held-out kind are for that test
                return next((groups for groups in self._ready.values() if groups), [])
            return self._ready.get(of_split, [])

        return ready().pop(0) if self._more(lambda: bool(ready())) else None

    def _more(self, enough: Callable[[], bool]) -> bool:
        for _ in range(_TRIES):
            if enough():
                return True
            self._try()
        return enough()

    def _try(self) -> None:
        for case in _cases(self.kind, self.games, self.rng, 6 if self.matched else 1):
            split = None if self.kind.setting is None else _split_of(case.situation, self.shares)
            self._values.add(str(case.value))
            ready = self._ready.setdefault(split, [])
            if len(ready) >= _MOST_WAITING:
                continue
            if not self.matched:
                ready.append([case])
                continue
            waiting = self._waiting.setdefault((split, _shape(case, self.kind)), [])
            other = next((other for other in waiting if other.value != case.value), None)
            if other is not None:
                waiting.remove(other)
                ready.append([case, other])
            elif len(waiting) < _MOST_WAITING:
                waiting.append(case)


_MOST_WAITING = 50
"""The most cases, or groups, that wait for a partner or for their split; others are dropped."""


def _cases(kind: QuestionKind, games: Games, rng: random.Random, most: int = 1) -> list[Case]:
    """Up to `most` cases about one situation; perhaps none."""
    rules = games.rules
    situation = GameSituation("night", 1, rules.players)
    if kind.setting is not None:
        drawn = kind.setting.draw(games)
        if drawn is None:
            return []
        situation = drawn
    asks = list(kind.answer.asks(_as_asked(kind, rules), situation, rng))
    values = [
        (asked, engine_answer(kind, rules, situation, asked))
        for asked in rng.sample(asks, min(most, len(asks)))
    ]
    return [Case(situation, asked, value) for asked, value in values if value is not None]


def _as_asked(kind: QuestionKind, rules: Ruleset) -> Ruleset:
    """The rules for a kind. A kind about the rules themselves uses any players as examples, so rules about a
    certain player are removed.
    """
    named = rules.never_sheriff or rules.stops_without
    return rules.with_(never_sheriff=(), stops_without=None) if named and kind.setting is None else rules


def engine_answer(
    kind: QuestionKind, rules: Ruleset, situation: GameSituation, asked: AskedAbout
) -> Value | None:
    """The engine's answer; None if these rules do not allow the situation, or do not decide the answer."""
    return _answered(kind, rules, situation, asked)[0]


def _answered(
    kind: QuestionKind, rules: Ruleset, situation: GameSituation, asked: AskedAbout
) -> tuple[Value | None, Query]:
    """The engine's answer, and the query with its derivation."""
    query = Query(_as_asked(kind, rules), situation, asked)
    try:
        if kind.setting is not None:
            check_fits(rules, situation)
        return kind.answer.value(query), query
    except Impossible:
        return None, query


def _shape(case: Case, kind: QuestionKind) -> object:
    """A case without its names: cases of one shape have the same words."""
    s = case.situation
    told = Counter((of, target if isinstance(target, str) else "seat") for of, _, target in s.told)
    words = tuple(sorted((key, word) for key, word in case.asked.items() if isinstance(word, str)))
    seats = tuple(sorted(case.asked.items())) if kind.same_seats else ()
    potions = [((seat, what) in s.spent, what) for seat in s.witches for what in ("antidote", "poison")]
    return (
        (s.round, len(s.dead), len(s.candidates), len(s.order), len(s.shielded)),
        (s.sheriff is None, s.sheriff in s.dead, s.intended is None, tuple(sorted(s.roles))),
        tuple(sorted(potions)),
        tuple(sorted(told.items())),
        tuple(sorted(Counter(target for of, _, target in s.told if of == "vote").values())),
        words,
        seats,
    )


def difficulty(kind: QuestionKind, rules: Ruleset, case: Case) -> int:
    """The number of told facts that change the answer when changed alone."""
    return sum(
        any(engine_answer(kind, rules, changed, case.asked) not in (None, case.value) for changed in ways)
        for ways in changes(rules, case.situation)
    )


def _item(
    rules: Ruleset, kind: QuestionKind, case: Case, wording: ItemWording, rng: random.Random, split: Split
) -> Item:
    told = worded(rules, kind, case.situation, case.asked, case.value, wording, rng)
    rule = kind.setting is None
    facts = None if rule else msgspec.json.decode(msgspec.json.encode(case.situation))
    return Item(
        question=told.question,
        answer=told.answer,
        form=kind.form,
        choices=told.choices,
        answer_type=kind.answer_type,
        category="rule" if rule else "situation",
        kind=kind.name,
        wording=str(wording),
        split=split,
        rules=rules_as_plain(rules),
        situation="" if rule else blake2b(msgspec.json.encode(facts), digest_size=6).hexdigest(),
        difficulty=None if rule else difficulty(kind, rules, case),
        facts=facts,
        asked=dict(case.asked),
        value=told.value,
        derivation=_answered(kind, rules, case.situation, case.asked)[1].derivation,
    )


def proved(item: Item) -> bool | None:
    """Whether the engine still gives the item's answer; None for an item that was not built. False for
    damaged data.
    """
    if item.kind not in KINDS or item.rules is None or item.asked is None:
        return None
    try:
        assert item.ruleset is not None
        return _holds(item, KINDS[item.kind], item.ruleset, item.asked)
    except (
        Impossible,
        WolflabError,
        msgspec.MsgspecError,
        AssertionError,
        LookupError,
        TypeError,
        ValueError,
    ):
        return False


def _holds(item: Item, kind: QuestionKind, rules: Ruleset, asked: AskedAbout) -> bool:
    situation = GameSituation("night", 1, rules.players)
    if item.facts is not None:
        situation = msgspec.convert(item.facts, GameSituation)
    value = engine_answer(kind, rules, situation, asked)
    frame, telling, _ = map(int, item.wording.split("."))
    if isinstance(value, bool) and kind.frames[frame].startswith("!"):
        value = not value
    if value is None or value != item.value:
        return False
    return right_answer(rules, kind, situation, asked, value, telling, random.Random(0))[0] == item.answer


# -- rulesets nearby ---------------------------------------------------------------------------------------


_NO_SWITCHES = {"name", "roles", "player_name", "first_player", "role_names", "wording", "sheriff_role"}
_NO_SWITCHES |= {"never_sheriff", "stops_without", "tell_stop", "tell_horizon", "tell_stand_in"}
"""Fields of a ruleset that `variants` does not change."""


def variants(rules: Ruleset) -> dict[str, Ruleset]:
    """The rulesets that differ from `rules` in one switch, by the switch and its value. Names stay as they
    are.
    """
    found: dict[str, Ruleset] = {}
    hints = get_type_hints(Ruleset)
    for field in fields(Ruleset):
        name, now = field.name, getattr(rules, field.name)
        if name in _NO_SWITCHES:
            continue
        values: Iterable[object] = get_args(hints[name])
        if isinstance(now, bool):
            values = (not now,)
        elif isinstance(now, int):
            values = (now - 1, now + 1, now + 2)
        for value in values:
            if value != now:
                try:
                    changed = rules.with_(**{name: value}).with_(name=f"{rules.name}, {name}: {value}")
                except RulesetError:
                    continue
                found[f"{name}: {value}"] = changed
    return found
