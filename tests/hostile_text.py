"""Texts that make a pattern work hard, derived from the pattern, and what they cost in steps.

Python's `re` tries every way in which a text can be read. A pattern is compiled here to a small program
(`Program`). As an automaton the program tells which words can be read in two ways over and over (`hostile`).
As a backtracking matcher it counts what such a text costs (`Program.steps`). Steps are the same on every
machine. What the automaton leaves out (looks ahead and behind, atomic groups) the matcher knows.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

MANY = 8
"""A repetition that may go on as often as this, or for ever, is a loop."""
LETTERS = "".join(map(chr, range(32, 127))) + "\n\té’“–·•。一"
"""Letters that words are made of, beside those of the pattern itself."""
JUNK = "¤"
"""A sign that nearly no pattern reads."""
GROWTH = 5.0
"""How many times as much a text of twice the length may cost."""
CAP = 100_000
"""Steps beyond which a text that short takes too many."""
TEXTS = 150
"""Texts that are tried for a pattern."""


class Text(NamedTuple):
    """A hostile text: `pump` is repeated."""

    prefix: str
    pump: str
    suffix: str

    def of(self, times: int) -> str:
        return self.prefix + self.pump * times + self.suffix


class Cost(NamedTuple):
    """Steps of a text and of one with twice the repetitions; None: more than `GROWTH` times as many."""

    text: Text
    once: int
    twice: int | None

    @property
    def growth(self) -> float:
        return float("inf") if self.twice is None else self.twice / self.once


class Letters:
    """The letters that one element of a pattern reads."""

    def __init__(self, op: Any, value: Any, flags: int) -> None:
        self._op, self._value = op, value
        self._any_case, self._any_line = bool(flags & re.IGNORECASE), bool(flags & re.DOTALL)
        self._known: dict[str, bool] = {}

    def __contains__(self, letter: str) -> bool:
        known = self._known.get(letter)
        if known is None:
            forms = {letter, *(f for f in (letter.lower(), letter.upper()) if self._any_case and len(f) == 1)}
            known = self._known[letter] = any(self._reads(form) for form in forms)
        return known

    def _reads(self, letter: str) -> bool:
        match self._op:
            case sre.ANY:
                return letter != "\n" or self._any_line
            case sre.LITERAL:
                return bool(ord(letter) == self._value)
            case sre.NOT_LITERAL:
                return bool(ord(letter) != self._value)
        negated: bool = self._value[0][0] is sre.NEGATE
        return negated != any(self._item(op, value, letter) for op, value in self._value)

    def _item(self, op: Any, value: Any, letter: str) -> bool:
        match op:
            case sre.LITERAL:
                return bool(ord(letter) == value)
            case sre.RANGE:
                return bool(value[0] <= ord(letter) <= value[1])
            case sre.CATEGORY:
                return _category(value, letter)
        return False


def _in_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _category(category: Any, letter: str) -> bool:
    name = str(category)
    if "WORD" in name:
        inside = _in_word(letter)
    else:
        inside = letter.isdecimal() if "DIGIT" in name else letter.isspace()
    return inside != ("_NOT_" in name)


class Program:
    """A pattern as instructions.

    Each is a tuple. ("one", letters) reads a letter. ("fork", targets) tries its targets in order. ("look",
    start, after, width, wanted) tries a part that ends with "end": ahead (width None) or behind. ("atomic",
    start, after) takes the first match of a part and no other. ("mark", loop) and ("moved", loop) leave a
    loop that reads nothing. ("at", what) and ("same", group) are as in `re`; ("save", place) notes where a
    group begins or ends.
    """

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        source = pattern.pattern
        self.source: str = source.decode("latin-1") if isinstance(source, bytes) else source
        tree = _parser.parse(self.source, pattern.flags & ~re.UNICODE)
        self.flags = pattern.flags
        self.code: list[tuple[Any, ...]] = []
        self._literal: set[str] = set()
        self._shared: dict[tuple[str, str, int], Letters] = {}
        self._add(tree, self.flags)
        self.code.append(("end",))
        self._forks: dict[tuple[int, str], tuple[int, ...]] = {}

    # -- compiling -----------------------------------------------------------------------------

    def _put(self, *instruction: Any) -> int:
        self.code.append(instruction)
        return len(self.code) - 1

    def _add(self, tree: Any, flags: int) -> None:
        for op, value in tree:
            match op:
                case sre.LITERAL | sre.NOT_LITERAL | sre.ANY | sre.IN:
                    if op is sre.LITERAL:
                        self._literal.add(chr(value))
                    elif op is sre.IN:
                        self._literal.update(chr(item) for kind, item in value if kind is sre.LITERAL)
                    key = (str(op), str(value), int(flags))
                    self._put("one", self._shared.setdefault(key, Letters(op, value, flags)))
                case sre.AT:
                    lines = {sre.AT_BEGINNING: sre.AT_BEGINNING_LINE, sre.AT_END: sre.AT_END_LINE}
                    self._put("at", lines.get(value, value) if flags & re.MULTILINE else value)
                case sre.SUBPATTERN:
                    group, on, off, inner = value
                    if group is not None:
                        self._put("save", 2 * group)
                    self._add(inner, (flags | on) & ~off)
                    if group is not None:
                        self._put("save", 2 * group + 1)
                case sre.BRANCH:
                    self._branches([(part, flags) for part in value[1]])
                case sre.MAX_REPEAT | sre.MIN_REPEAT:
                    self._repeat(value, flags, lazy=op is sre.MIN_REPEAT)
                case sre.POSSESSIVE_REPEAT | sre.ATOMIC_GROUP:
                    at = self._put()
                    if op is sre.ATOMIC_GROUP:
                        self._add(value, flags)
                    else:
                        self._repeat(value, flags, lazy=False)
                    self._put("end")
                    self.code[at] = ("atomic", at + 1, len(self.code))
                case sre.ASSERT | sre.ASSERT_NOT:
                    direction, inner = value
                    at = self._put()
                    self._add(inner, flags)
                    self._put("end")
                    width = inner.getwidth()[0] if direction < 0 else None
                    self.code[at] = ("look", at + 1, len(self.code), width, op is sre.ASSERT)
                case sre.GROUPREF:
                    self._put("same", value)
                case sre.FAILURE:
                    self._put("fork", ())
                case _:
                    raise NotImplementedError(f"{op} in {self.source!r}")

    def _branches(self, parts: list[tuple[Any, int]]) -> None:
        at, starts, jumps = self._put(), [], []
        for part, flags in parts:
            starts.append(len(self.code))
            self._add(part, flags)
            jumps.append(self._put())
        self.code[at] = ("fork", tuple(starts))
        for jump in jumps:
            self.code[jump] = ("fork", (len(self.code),))

    def _repeat(self, repeat: Any, flags: int, *, lazy: bool) -> None:
        least, most, body = repeat
        endless = most is sre.MAXREPEAT or most >= MANY
        for _ in range(min(least, MANY)):
            self._add(body, flags)
        if endless:
            head = self._put()
            empty = body.getwidth()[0] == 0
            if empty:
                self._put("mark", head)
            self._add(body, flags)
            if empty:
                self._put("moved", head)
            self._put("fork", (head,))
            ways = (head + 1, len(self.code))
            self.code[head] = ("fork", ways[::-1] if lazy else ways)
            return
        heads = []
        for _ in range(most - least):
            heads.append(self._put())
            self._add(body, flags)
        for head in heads:
            ways = (head + 1, len(self.code))
            self.code[head] = ("fork", ways[::-1] if lazy else ways)

    # -- matching, in steps --------------------------------------------------------------------

    def steps(self, text: str, most: int) -> int | None:
        """What it takes to find every match in `text`, as `re.finditer` does; None: more than `most`."""
        try:
            self.spans(text, most)
        except TooManyStepsError:
            return None
        return most - self._left

    def spans(self, text: str, most: int = 10**9) -> list[tuple[int, int]]:
        """The matches in `text` that are not empty. Raises `TooManyStepsError`."""
        self._left = most
        at, found = 0, []
        while at <= len(text):
            self._left -= 1
            end = self._run(0, text, at)
            if end is not None and end > at:
                found.append((at, end))
            at = at + 1 if end is None or end == at else end
        return found

    def _run(self, start: int, text: str, at: int) -> int | None:
        """Where the part from `start` on ends that is matched at `at`."""
        code, forks, length = self.code, self._forks, len(text)
        back: list[tuple[int, int, tuple[tuple[int, int], ...]]] = []
        pc, saved = start, ()  # type: int, tuple[tuple[int, int], ...]
        left = self._left
        while True:
            left -= 1
            if left < 0:
                raise TooManyStepsError
            instruction = code[pc]
            kind = instruction[0]
            if kind == "one":
                ok = at < length and text[at] in instruction[1]
                at, pc = at + 1, pc + 1
            elif kind == "fork":
                key = (pc, text[at] if at < length else "")
                ways = forks.get(key)
                if ways is None:
                    ways = forks[key] = tuple(way for way in instruction[1] if self._may(way, key[1]))
                ok = bool(ways)
                if ok:
                    pc = ways[0]
                    back.extend([(way, at, saved) for way in ways[:0:-1]])
            elif kind == "end":
                self._left = left
                return at
            elif kind == "at":
                ok, pc = _border(instruction[1], text, at), pc + 1
            elif kind in ("look", "atomic"):
                self._left = left
                if kind == "atomic":
                    end = self._run(instruction[1], text, at)
                    ok, at = end is not None, at if end is None else end
                else:
                    width = instruction[3] or 0
                    end = None if width > at else self._run(instruction[1], text, at - width)
                    ok = (end is not None) == instruction[4]
                pc, left = instruction[2], self._left
            elif kind == "same":
                places = dict(saved)
                word = text[places.get(2 * instruction[1], 0) : places.get(2 * instruction[1] + 1, 0)]
                ok, at, pc = text.startswith(word, at), at + len(word), pc + 1
            elif kind == "moved":
                ok, pc = dict(saved)[-instruction[1] - 1] != at, pc + 1
            else:
                if kind == "mark" or self._refers:
                    place = -instruction[1] - 1 if kind == "mark" else instruction[1]
                    saved = (*(pair for pair in saved if pair[0] != place), (place, at))
                ok, pc = True, pc + 1
            if not ok:
                if not back:
                    self._left = left
                    return None
                pc, at, saved = back.pop()

    @cached_property
    def _refers(self) -> bool:
        return any(instruction[0] == "same" for instruction in self.code)

    def _may(self, pc: int, letter: str) -> bool:
        """Whether what begins at `pc` may read `letter` next, as far as one letter tells (`re` looks too)."""
        for _ in range(9):
            kind = self.code[pc][0]
            if kind == "one":
                return letter in self.code[pc][1] if letter else False
            if kind != "save":
                return True
            pc += 1
        return True

    # -- as an automaton -----------------------------------------------------------------------

    @cached_property
    def alphabet(self) -> str:
        return "".join(dict.fromkeys([*sorted(self._literal), *LETTERS]))

    @cached_property
    def letters_of(self) -> dict[int, int]:
        """By state: the letters of the alphabet that lead to it, as bits.

        An instruction that reads a letter is two states: twice its place, and one more for letters of words.
        """
        in_word = sum(1 << bit for bit, letter in enumerate(self.alphabet) if _in_word(letter))
        bits = {
            letters: sum(1 << bit for bit, letter in enumerate(self.alphabet) if letter in letters)
            for letters in self._shared.values()
        }
        found = {}
        for pc, instruction in enumerate(self.code):
            if instruction[0] == "one":
                for state, kept in ((2 * pc, ~in_word), (2 * pc + 1, in_word)):
                    if bits[instruction[1]] & kept:
                        found[state] = bits[instruction[1]] & kept
        return found

    @cached_property
    def _nexts(self) -> dict[int, dict[tuple[int, bool | None], int]]:
        return {pc: self._next(pc + 1) for pc in (-1, *(state // 2 for state in self.letters_of))}

    @cached_property
    def last(self) -> frozenset[int]:
        """The states behind which nothing more has to be read."""
        end = len(self.code) - 1
        return frozenset(
            state for state in self.letters_of if any(pc == end for pc, _ in self._nexts[state // 2])
        )

    @cached_property
    def follow(self) -> dict[int, dict[int, int]]:
        """By state: the states after it, and in how many ways (1, or 2 for more). -2: before all.

        Looks ahead and behind are left out, and atomic groups try every way: more is read so than by `re`.
        """
        nexts = self._nexts
        return {
            state: {
                after: ways
                for (pc, border), ways in nexts[state // 2].items()
                for after in (2 * pc, 2 * pc + 1)
                if after in self.letters_of and border in (None, (after - state) % 2 == 1)
            }
            for state in (-2, *self.letters_of)
        }

    @cached_property
    def _back_from(self) -> dict[int, int]:
        """By the end of an atomic part: where it goes on."""
        return {instruction[2] - 1: instruction[2] for instruction in self.code if instruction[0] == "atomic"}

    def _next(self, start: int) -> dict[tuple[int, bool | None], int]:
        """What reads the next letter from `start` on, whether a word's border has to be before it (None: no
        matter), and in how many ways it is reached."""
        ways: dict[tuple[int, bool | None], int] = {}
        waiting: list[tuple[int, frozenset[int], bool | None]] = [(start, frozenset(), None)]
        budget = 20_000
        while waiting and budget:
            pc, seen, border = waiting.pop()
            budget -= 1
            if pc in seen:
                continue
            instruction = self.code[pc]
            match instruction[0]:
                case "one":
                    ways[pc, border] = min(2, ways.get((pc, border), 0) + 1)
                case "fork":
                    deeper = seen | {pc} if len(instruction[1]) > 1 else seen
                    waiting.extend((way, deeper, border) for way in instruction[1])
                case "end" if pc not in self._back_from:
                    ways[pc, None] = 1
                case "end":
                    waiting.append((self._back_from[pc], seen, border))
                case "atomic":
                    waiting.append((instruction[1], seen, border))
                case "look":
                    waiting.append((instruction[2], seen, border))
                case "at" if instruction[1] in (sre.AT_BOUNDARY, sre.AT_NON_BOUNDARY):
                    wanted = instruction[1] is sre.AT_BOUNDARY
                    if border in (None, wanted):
                        waiting.append((pc + 1, seen, wanted))
                case "at" if instruction[1] in (sre.AT_BEGINNING, sre.AT_BEGINNING_STRING) and start:
                    pass
                case _:
                    waiting.append((pc + 1, seen, border))
        return ways

    def letter(self, *states: int) -> str:
        """A letter that all these states read; empty where there is none."""
        bits = -1
        for state in states:
            bits &= self.letters_of[state]
        return self.alphabet[(bits & -bits).bit_length() - 1] if bits else ""


class TooManyStepsError(Exception):
    """A text takes more steps than are counted."""


def _border(kind: Any, text: str, at: int) -> bool:
    match kind:
        case sre.AT_BEGINNING | sre.AT_BEGINNING_STRING:
            return at == 0
        case sre.AT_BEGINNING_LINE:
            return at == 0 or text[at - 1] == "\n"
        case sre.AT_END:
            return at == len(text) or text[at:] == "\n"
        case sre.AT_END_LINE:
            return at == len(text) or text[at] == "\n"
        case sre.AT_END_STRING:
            return at == len(text)
    before, after = at > 0 and _in_word(text[at - 1]), at < len(text) and _in_word(text[at])
    return (before != after) == (kind is sre.AT_BOUNDARY)


# -- words that can be read in two ways ----------------------------------------------------------------


def _loops(program: Program) -> list[frozenset[int]]:
    """The strongly connected parts of the automaton (Tarjan, without recursion), in order of the pattern."""
    follow = program.follow
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    on: set[int] = set()
    stack: list[int] = []
    found = []
    for root in follow:
        if root in index:
            continue
        work = [(root, iter(follow[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while work:
            state, after = work[-1]
            for other in after:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on.add(other)
                    work.append((other, iter(follow[other])))
                    break
                if other in on:
                    low[state] = min(low[state], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[state])
                if low[state] == index[state]:
                    part = set()
                    while True:
                        other = stack.pop()
                        on.discard(other)
                        part.add(other)
                        if other == state:
                            break
                    if len(part) > 1 or state in follow[state]:
                        found.append(frozenset(part))
    return sorted(found, key=min)


def _walk(
    program: Program, starts: Iterable[tuple[int, ...]], goal: Any, inside: Any, most: int = 4000
) -> str | None:
    """The shortest word, not empty, on which all states of a tuple move together from a start to a `goal`.

    inside: by place in the tuple, the states that may be gone through. most: tuples that are looked at.
    """
    follow = program.follow
    waiting = deque((start, "") for start in starts)
    seen: set[tuple[int, ...]] = set()
    while waiting and most:
        most -= 1
        states, word = waiting.popleft()
        for after in _together(program, [follow[state] for state in states], inside):
            letter = program.letter(*after)
            if goal(after):
                return word + letter
            if after not in seen:
                seen.add(after)
                waiting.append((after, word + letter))
    return None


def _together(program: Program, options: list[dict[int, int]], inside: Any) -> Iterator[tuple[int, ...]]:
    letters = program.letters_of
    partial: list[tuple[tuple[int, ...], int]] = [((), -1)]
    for place, ways in enumerate(options):
        allowed = inside[place]
        partial = [
            ((*states, state), bits & letters[state])
            for states, bits in partial
            for state in ways
            if (allowed is None or state in allowed) and bits & letters[state]
        ]
    return (states for states, _ in partial)


def _ambiguous(program: Program, loop: frozenset[int], most: int = 12) -> Iterator[str]:
    """Words that lead from a state of the loop to itself in two ways: the cost doubles with each."""
    follow, found = program.follow, 0
    inside = (loop, loop)
    for state in sorted(loop):
        nexts = {other: ways for other, ways in follow[state].items() if other in loop}
        twice = [(other, other) for other, ways in nexts.items() if ways > 1]
        pairs = [pair for pair in _together(program, [nexts, nexts], inside) if pair[0] < pair[1]]
        for pair in (*twice, *pairs):
            first = program.letter(*pair)
            meet = first if pair in twice else None
            if meet is None:
                rest = _walk(program, [pair], lambda after: after[0] == after[1], inside, 300)
                meet = None if rest is None else first + rest
            if meet is None:
                continue
            end = _ends(program, state, meet, loop)
            home = (
                "" if state in end else _walk(program, [(s,) for s in end], {(state,)}.__contains__, (loop,))
            )
            if home is not None:
                yield meet + home
                found += 1
                if found == most:
                    return


def _ends(program: Program, state: int, word: str, loop: frozenset[int]) -> list[int]:
    """The states of a loop to which a word leads from `state`."""
    states = {state}
    for letter in word:
        bit = 1 << program.alphabet.index(letter)
        states = {
            after
            for one in states
            for after in program.follow[one]
            if after in loop and program.letters_of[after] & bit
        }
    return sorted(states)


def _shared(program: Program, one: frozenset[int], two: frozenset[int], most: int = 6) -> Iterator[str]:
    """Words on which the automaton may stay in one loop, stay in a later one, or go from one to the other."""
    leaving = sorted(state for state in one if any(after not in one for after in program.follow[state]))
    found = 0
    for state in leaving[:12]:
        for other in sorted(two)[:12]:
            word = _walk(
                program,
                [(state, state, other)],
                {(state, other, other)}.__contains__,
                (one, None, two),
                400,
            )
            if word is not None:
                yield word
                found += 1
                if found == most:
                    return


def _cycles(program: Program, loop: frozenset[int], most: int = 12) -> Iterator[str]:
    """Words of a loop: for each of its states the shortest that leads back to it."""
    known = set()
    for state in sorted(loop):
        word = _walk(program, [(state,)], {(state,)}.__contains__, (loop,))
        turned = min((word[k:] + word[:k] for k in range(len(word))), default="") if word else ""
        if word and turned not in known:
            known.add(turned)
            yield word
            if len(known) == most:
                return


def hostile(program: Program) -> Iterator[Text]:
    """Texts that may cost a pattern much: what its loops read in two ways, or two of its loops read alike."""
    loops = _loops(program)
    for place, loop in enumerate(loops):
        before = _walk(program, [(-2,)], lambda after, loop=loop: after[0] in loop, (None,)) or ""
        rest = _rest(program, loop)
        suspect = [*_ambiguous(program, loop)]
        for later in loops[place + 1 :]:
            suspect += _shared(program, loop, later)
        for pump in dict.fromkeys(suspect):
            for prefix in dict.fromkeys((before[:-1], "")):
                for suffix in (JUNK, "dog", rest[:-1] + JUNK):
                    yield Text(prefix, pump, suffix)
        for pump in _cycles(program, loop):
            if pump not in suspect:
                yield Text(before[:-1], pump, rest[:-1] + JUNK)


def _rest(program: Program, loop: frozenset[int]) -> str:
    """What the pattern reads from a loop to its end."""
    starts = [(state,) for state in sorted(loop)]
    return _walk(program, starts, lambda after: after[0] in program.last, (None,)) or JUNK


# -- what they cost ------------------------------------------------------------------------------------


def cost(program: Program, text: Text) -> Cost:
    """What a text costs, and one with twice the repetitions, at a length that tells how the cost grows."""
    times = max(2, 48 // len(text.pump))
    once = program.steps(text.of(times), CAP)
    while once is not None:
        twice = program.steps(text.of(2 * times), int(GROWTH * once))
        found = Cost(text, once, twice)
        if twice is None or twice > CAP // 4 or found.growth < 2.4:
            return found
        times, once = 2 * times, twice
    return Cost(text, CAP, None)


def worst(pattern: re.Pattern[Any]) -> Cost | None:
    """The text whose cost grows most when it is twice as long, or the first that runs away; None: nothing is
    repeated in the pattern.
    """
    program, most = Program(pattern), None
    for text in islice(hostile(program), TEXTS):
        found = cost(program, text)
        if most is None or found.growth > most.growth:
            most = found
        if most.growth > GROWTH:
            break
    return most
