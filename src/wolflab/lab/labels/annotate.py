"""Samples replies for labelling, with a key of their origins. `ui` makes the pages for raters.

The protocol is that of 003 §4.4.2: a number of replies of each variant, labelled as reasonable or not by
raters who do not know the variant.

Draws are keyed by deal, repeat and ask and not by condition, so variants are judged on the same cards and at
the same decisions as long as their games are equal.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import msgspec

from ...errors import StoreError, WolflabError
from ...files import read_file, write
from ...metrics.play import label_of, player_label
from ...record import GameRecord, PastTurn
from ...record.chain import hash_of
from ..runs.decisions import RecordedDecision, recorded_decisions, round_robin
from ..storage.store import GameRow, Store

PER_CONDITION = 50
"""Replies of each variant in 003 Fig. 4."""
KEY_FILE, KEY_FORMAT = "key.json", 2
_LOOKED_AT = 200
"""The number of games that are read for an error's list of what exists."""

_LETTERS = "bcdfghjkmnpqrstvwxz"
"""Letters of ids. Without vowels and digits, an id is no word, and no spreadsheet reads it as a number."""
_ID_LETTERS = 9


@dataclass(frozen=True, slots=True)
class KeyRow:
    """The origin of an item. variant: the condition; who: model and recipe; ask: its id.

    head: the last hash of the game's chain, which identifies the game; it changes when words are erased,
    which copies of the key elsewhere do not follow.
    """

    id: str
    variant: str
    game: int
    deal: int
    repeat: int
    ask: str
    who: str
    head: str = ""


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """The origins of all items, hidden from raters. run: the run's directory; rows: in the order of items."""

    run: str
    experiment: str
    seed: int
    rows: tuple[KeyRow, ...]

    @property
    def code(self) -> str:
        """An id of this set of items, for its files."""
        return _letters("\n".join(sorted(row.id for row in self.rows)), 6)

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants in the order of the experiment."""
        known = dict.fromkeys(row.variant for row in sorted(self.rows, key=lambda row: row.game))
        return tuple(known)


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample: the key, with rows in the raters' shuffled order, and the decision of each.

    short: (variant, number of replies) of variants with fewer replies than asked for.
    """

    key: AnswerKey
    decisions: tuple[RecordedDecision, ...]
    short: tuple[tuple[str, int], ...] = ()


# -- drawing ----------------------------------------------------------------------------------


def sample(
    store: Store,
    per_condition: int = PER_CONDITION,
    seed: int = 1,
    kinds: Collection[str] | None = None,
    recipes: Collection[str] | None = None,
) -> Sample:
    """Draw `per_condition` replies from the finished games of each condition.

    One reply is taken from each game in turn, in an order drawn by deal, so that as many deals as possible
    are used and long games weigh no more than short ones. kinds: only replies to these asks ("vote",
    "statement" …). recipes: only players with these (if a variant plays on one side only). Unusable replies
    count too; probes and players without a model do not. WolflabError if there is no such reply.
    """
    if per_condition < 1:
        raise WolflabError(f"annotate: got {per_condition} replies a condition; ask for 1 or more")
    chosen: dict[int, tuple[GameRow, GameRecord, set[str]]] = {}
    short = []
    for condition in store.experiment.conditions:
        rows = [row for row in store.games() if row.condition == condition and row.over]
        drawn = list(islice(round_robin(_replies(store, rows, seed, kinds, recipes)), per_condition))
        if len(drawn) < per_condition:
            short.append((condition, len(drawn)))
        for row, record, turn in drawn:
            chosen.setdefault(row.id, (row, record, set()))[2].add(turn.ask)
    if not chosen:
        raise WolflabError(_nothing(store, kinds, recipes))
    made = [
        (_key_row(store, row, decision, record, seed), decision)
        for _, (row, record, asks) in sorted(chosen.items())
        for decision in recorded_decisions(record, f"{store.path.name}, game {row.id}")
        if decision.turn.ask in asks
    ]
    made.sort(key=lambda pair: _rank(seed, "order", pair[0].id))
    keys = tuple(key for key, _ in made)
    if len({key.id for key in keys}) < len(keys):
        raise WolflabError(f"annotate: two replies got the same id under seed {seed}; take another seed")
    key = AnswerKey(str(store.path.absolute()), store.experiment.name, seed, keys)
    return Sample(key, tuple(decision for _, decision in made), tuple(short))


def _replies(
    store: Store,
    rows: Iterable[GameRow],
    seed: int,
    kinds: Collection[str] | None,
    recipes: Collection[str] | None,
) -> Iterator[list[tuple[GameRow, GameRecord, PastTurn]]]:
    """The replies of each game; games and replies are in an order drawn by the seed. Records are
    read lazily.
    """
    for row in sorted(rows, key=lambda row: _rank(seed, row.deal, row.repeat)):
        record = store.record(row.id)
        found = list(_candidates(record, kinds, recipes))
        found.sort(key=lambda past: _rank(seed, row.deal, row.repeat, past.ask))
        yield [(row, record, past) for past in found]


def _candidates(
    record: GameRecord, kinds: Collection[str] | None, recipes: Collection[str] | None
) -> Iterator[PastTurn]:
    """The replies that came from a model."""
    for turn in record.turns:
        if turn.seat < 0 or not turn.calls or (kinds is not None and turn.kind not in kinds):
            continue
        if recipes is None or label_of(record, turn).recipe in recipes:
            yield turn


def _nothing(store: Store, kinds: Collection[str] | None, recipes: Collection[str] | None) -> str:
    rows = [row for row in store.games() if row.over]
    if not rows:
        return f"{store.path} has no finished game to sample from; go on with: {store.command} --resume"
    turns = [turn for row in rows[:_LOOKED_AT] for turn in _candidates(store.record(row.id), None, None)]
    if not turns:
        return f"{store.path}: no model played here, so there is no reply to label"
    asked = f"of kind {', '.join(sorted(kinds))}" if kinds else ""
    played = f"by {', '.join(sorted(recipes))}" if recipes else ""
    wanted = " ".join(word for word in (asked, played) if word)
    known = []
    if kinds:
        known.append(f"its replies are of the kinds {', '.join(sorted({turn.kind for turn in turns}))}")
    if recipes:
        known.append(f"those who play are {', '.join(sorted(_recipes(store, rows)))}")
    return f"{store.path}: there is no reply {wanted}; {'; '.join(known)}"


def _recipes(store: Store, rows: Sequence[GameRow]) -> set[str]:
    """The recipes of a model's players."""
    records = [store.record(row.id) for row in rows[:_LOOKED_AT]]
    seats = [seat for record in records for seat in record.header.get("players", ())]
    return {label.recipe for label in map(player_label, seats) if label.model}


def _rank(*purpose: object) -> bytes:
    return blake2b("|".join(map(str, purpose)).encode(), digest_size=8, person=b"annotate").digest()


def _letters(text: str, length: int = _ID_LETTERS) -> str:
    number = int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
    letters = ""
    for _ in range(length):
        number, place = divmod(number, len(_LETTERS))
        letters += _LETTERS[place]
    return letters


def _key_row(store: Store, row: GameRow, decision: RecordedDecision, record: GameRecord, seed: int) -> KeyRow:
    turn, head = decision.turn, hash_of(record.lines[-1])
    place = (store.experiment.name, store.experiment.seed, row.condition, row.deal, row.repeat, turn.ask)
    # The id depends on the game's hash, so labels of another run of the experiment do not fit.
    code = _letters(f"{seed}|{'|'.join(map(str, place))}|{head}")
    who = str(label_of(record, turn))
    return KeyRow(code, row.condition, row.id, row.deal, row.repeat, turn.ask, who, head)


# -- the decisions of the sample ----------------------------------------------------------------------


def sampled_decisions(key: AnswerKey, store: Store) -> dict[str, RecordedDecision]:
    """Item id → its decision, rebuilt from the run. StoreError if the sample is from another run."""
    games = {row.id: row for row in store.games()}
    sampled: dict[str, RecordedDecision] = {}
    for game, group in groupby(sorted(key.rows, key=lambda row: row.game), key=lambda row: row.game):
        wanted = {row.ask: row for row in group}
        first = next(iter(wanted.values()))
        place = (first.variant, first.deal, first.repeat)
        row = games.get(game)
        if row is None or (row.condition, row.deal, row.repeat) != place:
            raise StoreError(
                f"{store.path} is not the run that this sample was drawn from (game {game} is another); "
                "name the right one with --run"
            )
        record = store.record(game)
        if first.head != hash_of(record.lines[-1]) and not record.erased:
            raise StoreError(
                f"{store.path} is not the run that this sample was drawn from: its game {game} was played "
                "otherwise (the same experiment, run again?); name the right one with --run"
            )
        for decision in recorded_decisions(record, f"{store.path.name}, game {game}"):
            if decision.ask.id in wanted:
                sampled[wanted[decision.ask.id].id] = decision
    lost = next((row for row in key.rows if row.id not in sampled), None)
    if lost is not None:
        raise StoreError(
            f"{store.path}, game {lost.game}: there is no reply to {lost.ask}; the run has been changed "
            "since the sample was drawn; draw a new one"
        )
    return sampled


# -- the key's file ---------------------------------------------------------------------------


def write_key(key: AnswerKey, directory: Path) -> Path:
    """Write key.json; WolflabError if it exists, because labels already given would be lost."""
    path = directory / KEY_FILE
    data = {"wolflab annotation key": KEY_FORMAT, **asdict(key)}
    if path.exists():
        raise WolflabError(f"{directory} already holds a sample ({KEY_FILE}); name another directory with -o")
    write(path, msgspec.json.format(msgspec.json.encode(data), indent=1) + b"\n")
    return path


def read_key(directory: Path) -> AnswerKey:
    """The key of the sample in `directory`; WolflabError if it is missing or damaged."""
    path = directory / KEY_FILE
    if not path.exists():
        raise WolflabError(
            f"{directory} holds no sample (no {KEY_FILE}); draw one with: wolflab annotate sample RUN -o DIR"
        )
    try:
        data: dict[str, Any] = msgspec.json.decode(read_file(path), type=dict[str, Any])
        version = data.pop("wolflab annotation key", None)
        if version == KEY_FORMAT:
            return msgspec.convert(data, AnswerKey)
    except (msgspec.MsgspecError, RecursionError) as error:  # RecursionError: brackets without end
        raise WolflabError(f"{path}: not the key of a sample ({error}); draw the sample again") from None
    raise WolflabError(
        f"{path}: format {str(version)[:20]}, this wolflab reads {KEY_FORMAT}; draw the sample again"
    )
