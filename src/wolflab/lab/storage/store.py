"""Stores a run of games: their plan, their status and their records.

A run is a directory that can be copied: the resolved `experiment.yaml`, `run.sqlite`, and exports on request.
`call_store` stores the calls and holds the lock. A finished game is one blob (`packing`) in a table of its
own, so that listing games reads none; it includes the calls of instant models.
"""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, Self, cast

from ...errors import StoreError
from ...fields import LARGEST_TEXT, read_yaml
from ...files import make_folder, write
from ...metrics.rows import Status
from ...models.calls import StoredCall
from ...record import GameRecord, read_record
from ...record.sealed import NO_WORDS, SealedWords, WordsBySeal
from ...text.digest import FORGOTTEN
from ...text.people import decode_answer
from ...text.replies.parse import READING
from ...usage import CallTotals, Usage
from ..plans.experiment import Experiment
from ..plans.loading import load_experiment
from ..plans.meanings import FIRST, MEANINGS, with_meanings
from ..plans.numbering import NumberOf
from ..plans.specs import PERSON
from .call_store import BEGUN, LATENESS, NAMED_BLOCKS, CallStore
from .embedding_cache import copy_vectors
from .packing import Packed, Unpacked, forgotten, pack, totals_by_model, unpack
from .quotes import Quotes
from .run_files import has_table, locked, must_be_new, readable, transaction, unlocked, writer

_SCHEMA = """
CREATE TABLE IF NOT EXISTS games (
  id INTEGER PRIMARY KEY, condition TEXT NOT NULL, deal INTEGER NOT NULL, repeat INTEGER NOT NULL,
  status TEXT NOT NULL DEFAULT 'planned', error TEXT,
  seconds REAL, UNIQUE (condition, deal, repeat));
CREATE TABLE IF NOT EXISTS records (game INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS rows (game INTEGER PRIMARY KEY, version TEXT NOT NULL, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS words (
  game INTEGER NOT NULL, seal TEXT NOT NULL, seat INTEGER NOT NULL, salt TEXT NOT NULL, text TEXT NOT NULL,
  UNIQUE (game, seal));
CREATE TABLE IF NOT EXISTS sittings (
  game INTEGER NOT NULL, seat INTEGER NOT NULL, person TEXT NOT NULL, session INTEGER NOT NULL,
  place INTEGER NOT NULL, PRIMARY KEY (game, seat));
"""
_KEEP_ROW = "INSERT OR REPLACE INTO rows VALUES (?, ?, ?)"
_TAKEN_OVER = {
    **dict.fromkeys(("calls", "likeliest", "tiers", "attempts", "totals", "records", "rows"), "INSERT"),
    **dict.fromkeys(("blocks", "adaptations", "meta"), "INSERT OR IGNORE"),
    "games": "INSERT OR REPLACE",
}
"""The tables of a run that is merged into another; see `Store.take_over`."""
_ASKER = "game/"
_OF_GAMES = "FROM games JOIN totals ON totals.asker = 'game/' || games.id"
_MEANINGS, _READING = "meanings", "reading"
_MEANINGS_BEFORE = "recipes"
"""The name under which older runs have the version."""
_ASKERS_OVER = "SELECT 'game/' || id FROM games WHERE status IN ('done', 'void')"
_PRUNED_AT_ONCE = 1000
"""The number of games whose prompts are deleted in one transaction."""
_SAID = """model = 'person' AND text LIKE '{"said":%' AND text NOT LIKE '{"said":""%'"""
_LIMIT = re.compile(r"^((?:[^=]*\.)?max_tokens)=")
"""The changes that set the limit of a model's replies."""
GIVEN_UP = "given up: words were erased on request"
"""The error of an unfinished game some of whose words were erased."""


class GameRow(NamedTuple):
    """One planned game. status: planned, done, void, unfinished or failed."""

    id: int
    condition: str
    deal: int
    repeat: int
    status: Status
    error: str | None

    @property
    def over(self) -> bool:
        """Whether it was played to the end and has a record; true for void games."""
        return self.status in ("done", "void")


@dataclass(frozen=True, slots=True)
class Place:
    """Identifies a game of an experiment."""

    condition: str
    deal: int
    repeat: int

    @classmethod
    def of(cls, row: GameRow) -> Place:
        """The place of a stored game."""
        return cls(row.condition, row.deal, row.repeat)


class StudySitting(NamedTuple):
    """The person at a seat of a study's game. person: the study's name for them ("p07"). session: the number
    of their visit, from 1. place: the number of the game among theirs, from 1; 0 for the training game.
    """

    game: int
    seat: int
    person: str
    session: int
    place: int


class StoredRow(NamedTuple):
    """A game's encoded `MeasureRow`. version: see `metrics.rows.row_version`."""

    version: str
    data: bytes


class Store(CallStore):
    """See the module. Open it with `create`, `resume` or `open_for_reading`."""

    schema = CallStore.schema + _SCHEMA

    @classmethod
    def create(
        cls,
        path: Path,
        experiment: Experiment,
        beside: Mapping[str, str] | None = None,
        facts: Mapping[str, str] | None = None,
    ) -> Self:
        """Start a run in an empty directory. beside: more files, by name. facts: the first content of `meta`.
        The run exists only once all are written.
        """
        must_be_new(path)
        if len(experiment.written()) > LARGEST_TEXT // 4:
            read_yaml(experiment.written())  # refuse a file that is too large to be read again
        make_folder(path)
        lock = locked(path)
        try:
            must_be_new(path)  # check again: another process may have been faster
            for name, text in {**(beside or {}), "experiment.yaml": experiment.written()}.items():
                write(path / name, with_meanings(text).encode())
            try:
                return cls._writer(path, lock, {_MEANINGS: MEANINGS, _READING: READING, **(facts or {})})
            except BaseException:
                for half in path.glob("run.sqlite*"):  # so that the run can be started again
                    half.unlink()
                raise
        except BaseException:
            unlocked(lock)
            raise

    @classmethod
    def resume(cls, path: Path, changes: Sequence[str] = ()) -> Self:
        """See `CallStore.resume`. changes: of the run's file, as for `--set`; StoreError for one that changes
        what is played.
        """
        store = super().resume(path)
        try:
            if changes:
                store.change(store.changed(changes))
        except BaseException:
            store.close()
            raise
        return store

    def changes_now(self, changes: Sequence[str]) -> list[str]:
        """The changes as they apply to a resumed run: a limit of replies decides what is played, so a new one
        applies only to replies that timed out.
        """
        if not self.changed_condition(self._with(changes)):
            return list(changes)
        return [_LIMIT.sub(r"\1_after_timeout=", change) for change in changes]

    def _with(self, changes: Sequence[str]) -> Experiment:
        return load_experiment(self.path / "experiment.yaml", changes, meanings=self.meanings)

    def changed(self, changes: Sequence[str]) -> Experiment:
        """The experiment with these changes; see `resume`."""
        changed = self._with(self.changes_now(changes))
        if decided := self.changed_condition(changed):
            raise StoreError(
                f"--set {' --set '.join(changes)}: it decides what is played in condition {decided!r} of "
                f"{self.path}, whose games would no longer compare; a run that goes on can change its "
                "budget, its concurrency, how many games it has, and how its servers are reached"
            )
        return changed.model_copy(update={"title": self.experiment.title})

    def changed_condition(self, changed: Experiment) -> str:
        """The first condition whose games would differ from this run's; "" if none would."""
        begun = self.experiment
        for name in begun.conditions:
            if name not in changed.conditions or changed.identity(name) != begun.identity(name):
                return name
        return ""

    def change(self, changed: Experiment) -> None:
        """Write the changed experiment to the run's file."""
        write(self.path / "experiment.yaml", with_meanings(changed.written()).encode())
        del self.experiment

    @cached_property
    def experiment(self) -> Experiment:
        """The experiment of the run's file; StoreError if the file is missing."""
        return _experiment(self.path, self.meanings)

    @property
    def meanings(self) -> str:
        """The version of what names mean when the run began (`lab.plans.meanings`)."""
        return self.meta(_MEANINGS) or self.meta(_MEANINGS_BEFORE) or FIRST

    @property
    def read_as_now(self) -> bool:
        """Whether the version that began the run reads replies as this one."""
        return self.meta(_READING) == READING

    def _check_version(self) -> None:
        super()._check_version()
        played = {name for (name,) in self._db.execute("SELECT DISTINCT condition FROM games")}
        unknown = sorted(played - self.experiment.conditions.keys())  # also fails for a run without its file
        if unknown:
            raise StoreError(
                f"{self.path / 'experiment.yaml'}: there is no condition {unknown[0]!r}, and the run has "
                "games of it; copy the right file back"
            )

    def _check_begun(self) -> None:
        """Refuse to continue with a changed experiment (a condition may be added)."""
        for condition in self.experiment.conditions:
            now, key = self.experiment.identity(condition), f"condition {condition}"
            self.remember(key, now)
            if self.meta(key) != now:
                file = self.path / "experiment.yaml"
                raise StoreError(
                    f"{file}: condition {condition!r} was changed since the run began; its games "
                    "would no longer compare; undo the change, or start a new run"
                )

    # -- games ----------------------------------------------------------------------------

    def plan(self, games: Sequence[tuple[str, int, int]], number: NumberOf | None = None) -> None:
        """Add games (condition, deal, repeat) that are not planned yet. number: gives each game's number;
        without it, or where another game has that number (the plan was changed), the next free one.
        """
        with self._transaction():
            self._db.executemany(
                "INSERT OR IGNORE INTO games (id, condition, deal, repeat) SELECT "
                "CASE WHEN EXISTS (SELECT 1 FROM games WHERE id = :id) THEN NULL ELSE :id END, "
                ":condition, :deal, :repeat",
                [
                    {
                        "id": None if number is None else number(condition, deal, repeat),
                        "condition": condition,
                        "deal": deal,
                        "repeat": repeat,
                    }
                    for condition, deal, repeat in games
                ],
            )

    def plan_seated(self, condition: str, deal: int, people: Sequence[StudySitting]) -> int:
        """Plan one more game of a deal for people, and keep their seats, in one transaction. people: their
        `game` is filled in. Returns the game's number.
        """
        with self._transaction():
            asked = "SELECT max(repeat) FROM games WHERE condition = ? AND deal = ?"
            last = self._db.execute(asked, (condition, deal)).fetchone()[0]
            game = self._db.execute(
                "INSERT INTO games (condition, deal, repeat) VALUES (?, ?, ?)",
                (condition, deal, 0 if last is None else last + 1),
            ).lastrowid
            assert game is not None
            sittings = [sitting._replace(game=game) for sitting in people]
            self._db.executemany("INSERT INTO sittings VALUES (?, ?, ?, ?, ?)", sittings)
        return game

    def sittings(self) -> list[StudySitting]:
        """The people of a study's games, in order of games; empty for a run that is no study."""
        rows = self._db.execute("SELECT game, seat, person, session, place FROM sittings ORDER BY game, seat")
        return [StudySitting(*row) for row in rows]

    def orphaned_games(self) -> list[int]:
        """Numbers of games that are not in the run, but have a record, a row or calls."""
        asked = "SELECT DISTINCT CAST(substr(asker, 6) AS INTEGER) FROM totals WHERE asker LIKE 'game/%'"
        tables = " UNION ".join(f"SELECT game FROM {table}" for table in ("records", "rows", "sittings"))
        query = f"SELECT * FROM ({tables} UNION {asked}) WHERE game NOT IN (SELECT id FROM games) ORDER BY 1"
        return [number for (number,) in self._db.execute(query)]

    def games(self, status: str | None = None) -> list[GameRow]:
        """All games, or those of one status, in order of id."""
        return self._games("WHERE status = ? ORDER BY id", status) if status else self._games("ORDER BY id")

    def games_of_page(self, first: int, most: int) -> list[GameRow]:
        """The games from index `first` on, in order of id, at most `most`."""
        return self._games("ORDER BY id LIMIT ? OFFSET ?", most, first)

    def stopped(self) -> list[GameRow]:
        """The games that are not over and have an error, in order of id."""
        return self._games("WHERE error != '' AND status NOT IN ('done', 'void') ORDER BY id")

    def _games(self, which: str, *values: str | int) -> list[GameRow]:
        rows = self._db.execute(
            f"SELECT id, condition, deal, repeat, status, error FROM games {which}", values
        )
        kept = sys.intern  # a run has few conditions, and may have 100,000 games
        return [
            GameRow(number, kept(condition), deal, repeat, cast(Status, kept(state)), error)
            for number, condition, deal, repeat, state, error in rows
        ]

    def count_games(self) -> Counter[str]:
        """The number of games of each status."""
        return Counter(dict(self._db.execute("SELECT status, count(*) FROM games GROUP BY status")))

    def games_timed(self) -> tuple[int, float]:
        """The number of games that are over and took a known time, and the mean of their seconds."""
        query = "SELECT count(*), total(seconds) FROM games WHERE status IN ('done', 'void') AND seconds > 0"
        n, seconds = self._db.execute(query).fetchone()
        return n, seconds / max(n, 1)

    def game(self, number: int) -> GameRow:
        """The game of that number; StoreError says which exist."""
        row = self._db.execute(
            "SELECT id, condition, deal, repeat, status, error FROM games WHERE id = ?",
            (min(number, 2**63 - 1),),
        ).fetchone()
        if row is None:
            n, last = self._db.execute("SELECT count(*), max(id) FROM games").fetchone()
            which = f"1 to {last}" if n == last else f"those that wolflab show {self.path} lists"
            raise StoreError(f"{self.path} has no game {number}; its games are {which}")
        return GameRow(*row)

    def seconds(self, number: int) -> float | None:
        """How long a game took to play; None if it is not over or not known."""
        found = self._db.execute("SELECT seconds FROM games WHERE id = ?", (number,)).fetchone()
        return None if found is None else found[0]

    def keep(
        self,
        game: int,
        status: str,
        packed: Packed,
        row: StoredRow | None = None,
        words: WordsBySeal = NO_WORDS,
        seconds: float | None = None,
    ) -> None:
        """Store a finished game in one transaction: its record, people's words, its uncommitted calls, and
        its row.
        """
        with self._transaction():
            self._insert(asker(game), packed.rest)
            self._add(asker(game), packed.totals)
            self._db.execute("INSERT OR REPLACE INTO records VALUES (?, ?)", (game, packed.data))
            if row is not None:
                self._db.execute(_KEEP_ROW, (game, *row))
            for seal, said in words.items():
                self._db.execute("INSERT OR REPLACE INTO words VALUES (?, ?, ?, ?, ?)", (game, seal, *said))
            self._db.execute(
                "UPDATE games SET status = ?, error = NULL, seconds = ? WHERE id = ?", (status, seconds, game)
            )

    def stop(self, game: int, status: str, error: str) -> None:
        """Store the status and error of a game that stopped: unfinished (resumable) or failed."""
        error = "".join(letter if letter.isprintable() or letter == "\n" else "�" for letter in error)
        with self._transaction():
            self._db.execute("UPDATE games SET status = ?, error = ? WHERE id = ?", (status, error, game))

    def record(self, game: int) -> GameRecord:
        """The record of a finished game, its chains checked."""
        unpacked = self._unpacked(game)
        if unpacked is None:
            row = self.game(game)
            if row.over:
                raise StoreError(
                    f"{self._where(game)}: its record is missing from run.sqlite; copy the run back"
                )
            raise StoreError(
                f"game {game} of {self.path} is {row.status} and has no record yet; "
                f"go on with: {self.command} --resume {self.path}"
            )
        return read_record(unpacked.lines, unpacked.probes, self._where(game), self._words(game))

    @property
    def command(self) -> str:
        """The command that plays this run's games, which differs for people."""
        return "wolflab play" if self.has_people else "wolflab run"

    @property
    def has_people(self) -> bool:
        """Whether people are among its players."""
        experiment = self.experiment
        return any(
            spec.recipe == PERSON for name in experiment.conditions for spec in experiment.cast(name).values()
        )

    def _words(self, game: int) -> WordsBySeal:
        """People's words in a game, by seal."""
        rows = self._db.execute("SELECT seal, seat, salt, text FROM words WHERE game = ?", (game,))
        return {seal: SealedWords(*said) for seal, *said in rows}

    def _unpacked(self, game: int) -> Unpacked | None:
        row = self._db.execute("SELECT data FROM records WHERE game = ?", (game,)).fetchone()
        return None if row is None else unpack(row[0], self._where(game))

    def _where(self, game: int) -> str:
        return f"{self.path.name}, game {game}"

    def said(self, game: int, seat: int) -> dict[str, str]:
        """A person's statements at a seat of a game that are kept, by seal or call."""
        kept = {seal: words.text for seal, words in self._words(game).items() if words.seat == seat}
        rows = self._db.execute(
            f"SELECT text FROM calls WHERE asker = ? AND key LIKE ? AND {_SAID}", _answers(game, seat)
        )
        answers = [decode_answer(text) for (text,) in rows]
        brought = [SealedWords(seat, answer.salt, answer.said or "") for answer in answers if answer]
        # a call has the typed text; the words have the cleaned text that was sealed
        return kept | {words.seal: words.text for words in brought}

    def erase_words(self, row: GameRow, seat: int) -> int:
        """Erase a person's statements at a seat of a game: the words, their calls, and every prompt of the
        game. Returns the number of statements; without any, nothing is changed.

        The record's lines stay, including what agents say in them. An unfinished game is given up: its calls
        are deleted. `lab.runs.erasing` handles repetitions of the words.
        """
        who = asker(row.id)
        with self._transaction():
            gone = self._db.execute("DELETE FROM words WHERE game = ? AND seat = ?", (row.id, seat)).rowcount
            brought = self._db.execute(
                f"UPDATE calls SET text = '' WHERE asker = ? AND key LIKE ? AND {_SAID}",
                _answers(row.id, seat),
            ).rowcount
            if brought and not row.over:
                for table in ("calls", "likeliest"):
                    self._db.execute(f"DELETE FROM {table} WHERE asker = ?", (who,))
                self._db.execute(
                    "UPDATE games SET status = 'failed', error = ? WHERE id = ?", (GIVEN_UP, row.id)
                )
            if gone or brought:
                query = "UPDATE calls SET blocks = NULL, request = ? WHERE asker = ?"
                self._db.execute(query, (FORGOTTEN, who))
                self._keep_without_requests(row.id)
                # The row was counted with the words.
                self._db.execute("DELETE FROM rows WHERE game = ?", (row.id,))
                self._drop_blocks()
        return max(gone, brought)

    def _keep_without_requests(self, game: int, requests: Collection[str] | None = None) -> None:
        """Store the record without the hashes of these requests, or (None) of all. See
        `packing.forgotten`.
        """
        unpacked = self._unpacked(game)
        if unpacked is not None:
            data = unpacked.without_requests(requests).data
            self._db.execute("UPDATE records SET data = ? WHERE game = ?", (data, game))

    def requests_containing(
        self, quotes: Quotes, askers: Collection[str] | None = None
    ) -> dict[int, set[str]]:
        """Game → hashes of its requests whose kept prompts contain these words. askers: see
        `forget_quotes`.
        """
        games: dict[int, set[str]] = {}
        for _, who, request in self._holding(quotes):
            if who.startswith(_ASKER) and (askers is None or who in askers):
                games.setdefault(int(who.removeprefix(_ASKER)), set()).add(request)
        return games

    def hashes_after_removal(self, game: int, requests: Collection[str] | None = None) -> dict[str, str]:
        """Old hash → new hash, of requests and lines, when the hashes of these requests (None: all) are
        removed from a game's record. Empty without a record.
        """
        unpacked = self._unpacked(game)
        return {} if unpacked is None else forgotten(unpacked.lines, unpacked.probes, requests)[2]

    @cached_property
    def erased(self) -> bool:
        """Whether words of people were erased from the run."""
        if self._db.execute("SELECT 1 FROM games WHERE error = ?", (GIVEN_UP,)).fetchone():
            return True
        return self.has_people and any(self.record(row.id).erased for row in self.games() if row.over)

    def forget_quotes(self, quotes: Quotes, askers: Collection[str] | None = None) -> int:
        """See `CallStore.forget_quotes`; a reply that is packed with a game is removed completely."""
        with self._transaction():
            for game, requests in self.requests_containing(quotes, askers).items():
                self._keep_without_requests(game, requests)
        n = super().forget_quotes(quotes, askers)
        for (game,) in self._db.execute("SELECT game FROM records").fetchall():
            unpacked = self._unpacked(game) if askers is None or asker(game) in askers else None
            calls = list(unpacked.calls().values()) if unpacked else []
            kept = [call for call in calls if call.response.text not in quotes]
            if unpacked is not None and len(kept) < len(calls):
                packed = pack(unpacked.lines, unpacked.probes, kept)
                with self._transaction():
                    self._db.execute("UPDATE records SET data = ? WHERE game = ?", (packed.data, game))
                n += len(calls) - len(kept)
        return n

    def games_with_seals(self, seals: Collection[str]) -> list[tuple[GameRow, int]]:
        """The games and seats that have these seals."""
        query = "SELECT DISTINCT game, seat FROM words WHERE seal IN (SELECT value FROM json_each(?))"
        found = self._db.execute(query, (json.dumps([*seals]),)).fetchall()
        return [(self.game(game), seat) for game, seat in found]

    def embedded(self) -> dict[str, dict[str, int]]:
        """The number of embedded texts, by embedder, in the shape of `sent`."""
        if not has_table(self._db, "embeddings"):
            return {}
        query = "SELECT description, count(*) FROM embedders JOIN embeddings ON embedder = id GROUP BY id"
        return {json.loads(told)["name"]: {"": n} for told, n in self._db.execute(query)}

    def forget_vectors(self) -> None:
        """Empty the cache of vectors: it is not known which ones are of erased words. Their cost stays
        counted.
        """
        if has_table(self._db, "embeddings"):
            with self._transaction():
                self._db.execute("DELETE FROM embeddings")

    # -- pruning --------------------------------------------------------------------------

    def prunable(self) -> tuple[int, int]:
        """The number of stored prompts of finished games, and the bytes that `prune` and `scrub` free: of
        their parts that no other prompt has, and of what was deleted from the file before.
        """
        of_games = f"FROM calls WHERE blocks IS NOT NULL AND asker IN ({_ASKERS_OVER})"
        n, names = self._db.execute(f"SELECT count(*), total(length(blocks)) {of_games}").fetchone()
        needed = f"{NAMED_BLOCKS} AND asker NOT IN ({_ASKERS_OVER})"
        query = f"SELECT total(length(hash) + length(text)) FROM blocks WHERE hash NOT IN ({needed})"
        parts = self._db.execute(query).fetchone()[0]
        query = "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size"
        return n, int(names + parts) + self._db.execute(query).fetchone()[0]

    def prune(self) -> None:
        """Delete the prompts of finished games. Hashes of requests stay, so that a replay, which makes the
        prompts again, is checked as before. It may be interrupted, and called again.
        """
        over = [row.id for row in self.games() if row.over]
        for at in range(0, len(over), _PRUNED_AT_ONCE):
            with self._transaction():
                self._db.executemany(
                    "UPDATE calls SET blocks = NULL WHERE blocks IS NOT NULL AND asker = ?",
                    [(asker(game),) for game in over[at : at + _PRUNED_AT_ONCE]],
                )
        with self._transaction():
            self._drop_blocks()

    # -- merging --------------------------------------------------------------------------

    def take_over(self, runs: Iterable[Store]) -> None:
        """Add the games of other runs of the same plan, with all that was stored with them, in one
        transaction. No game may have been begun in two of them, or in this one.
        """
        with self._transaction():
            for other in runs:
                for table, insert in _TAKEN_OVER.items():
                    columns = self._db.execute(f"SELECT * FROM {table} LIMIT 0").description
                    values = ", ".join("?" * len(columns))
                    self._db.executemany(f"{insert} INTO {table} VALUES ({values})", other._rows(table))
                copy_vectors(other._db, self._db)
                self.remember(BEGUN, min(self.begun.date, other.begun.date), anew=True)
                if float(other.meta(LATENESS) or 0) > float(self.meta(LATENESS) or 0):
                    self.remember(LATENESS, str(other.meta(LATENESS)), anew=True)

    def _rows(self, table: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a table, in the order in which they were written."""
        with readable(self.path):  # so that an error names the run that is read
            yield from self._db.execute(f"SELECT * FROM {table}")

    def progress_digest(self) -> str:
        """A hash of which games are over and of what was spent; it differs once a run has gone on."""
        parts = (
            "SELECT id, status, error FROM games",
            "SELECT * FROM totals",
            "SELECT * FROM attempts",
        )
        found = [self._db.execute(part).fetchall() for part in parts]
        return blake2b(json.dumps(found).encode(), digest_size=16).hexdigest()

    # -- rows -----------------------------------------------------------------------------

    def version(self, game: int) -> str | None:
        """The version of a game's stored row, or None."""
        found = self._db.execute("SELECT version FROM rows WHERE game = ?", (game,)).fetchone()
        return None if found is None else found[0]

    def stored_row(self, game: int) -> StoredRow | None:
        """The stored row of a game, or None."""
        kept = self._db.execute("SELECT version, data FROM rows WHERE game = ?", (game,)).fetchone()
        return None if kept is None else StoredRow(*kept)

    def store_rows(self, rows: Mapping[int, StoredRow]) -> None:
        """Store rows that were counted again. If the run cannot be written, they are counted each time."""
        try:
            with closing(writer(self.path / "run.sqlite")) as db, transaction(db):
                db.executemany(_KEEP_ROW, [(game, *row) for game, row in rows.items()])
        except sqlite3.Error:
            pass

    # -- calls ----------------------------------------------------------------------------

    def calls(self, game: int) -> dict[str, StoredCall]:
        """The committed calls of a game, by key; before them, for a fork, those of its parent."""
        unpacked, parent = self._unpacked(game), self.parent(Place.of(self.game(game)))
        held = unpacked.calls().values() if unpacked else ()
        own = {call.key: StoredCall(call.request, call.response) for call in held} | self.filed(asker(game))
        return own if parent is None else self.borrowed(parent) | own

    def borrowed(self, parent: GameRow) -> dict[str, StoredCall]:
        """The calls of a game as its forks have them."""
        return {key: replace(call, borrowed=True) for key, call in self.calls(parent.id).items()}

    def parent(self, place: Place) -> GameRow | None:
        """The game that a fork goes on from; None for a game that is no fork. StoreError if it is missing."""
        fork = self.experiment.fork(place.condition)
        if fork is None:
            return None
        at = (fork.games_of, place.deal, place.repeat // fork.continuations)
        row = self._db.execute(
            "SELECT id, condition, deal, repeat, status, error FROM games "
            "WHERE condition = ? AND deal = ? AND repeat = ?",
            at,
        ).fetchone()
        if row is None:
            raise StoreError(
                f"{self.path}: the game of {at[0]} (deal {at[1]}, repeat {at[2]}) that others go on from is "
                "missing; copy the run back"
            )
        return GameRow(*row)

    def calls_with_prompts(self, game: int) -> Iterator[dict[str, Any]]:
        """Every call of a game with prompt (if kept), usage and latency."""
        unpacked = self._unpacked(game)
        return self.calls_with_prompts_of(asker(game), unpacked.calls().values() if unpacked else ())

    def committed_keys(self, game: int) -> list[str]:
        """The keys of a game's calls that are rows, in the order of commits."""
        rows = self._db.execute("SELECT key FROM calls WHERE asker = ? ORDER BY rowid", (asker(game),))
        return [key for (key,) in rows]

    def game_totals(self, game: int) -> dict[str, CallTotals]:
        """The totals of a game's calls, by model."""
        return self.spent_by(asker(game)).get(asker(game), {})

    def summed_totals(self, game: int) -> dict[str, CallTotals]:
        """The same totals, summed from the calls, packed ones included."""
        unpacked = self._unpacked(game)
        packed = unpacked.calls() if unpacked else {}
        alone = set(self.committed_keys(game))  # a row with the same reply as a packed call appears in both
        held = (call for key, call in packed.items() if key not in alone)
        return totals_by_model(held, self.summed_totals_of(asker(game)))

    def usage_by_seat(self, game: int) -> dict[int, dict[str, list[Usage]]]:
        """The usage of each call of a game, by seat and model. Calls without tokens may be left out."""
        rows = self._db.execute(
            "SELECT key, model, prompt_tokens, completion_tokens, cached_tokens, cost FROM calls "
            "WHERE asker = ?",
            (asker(game),),
        )
        used = {key: (model, Usage(*figures)) for key, model, *figures in rows}
        every = sum(total.usage.tokens for total in self.game_totals(game).values())
        if every > sum(usage.tokens for _, usage in used.values()) and (unpacked := self._unpacked(game)):
            packed = unpacked.calls().items()
            used = {key: (call.model, call.response.usage) for key, call in packed} | used
        found: dict[int, dict[str, list[Usage]]] = {}
        for key, (model, usage) in used.items():
            seat = int(key.split("|")[1].split("/")[2])
            found.setdefault(seat, {}).setdefault(model, []).append(usage)
        return found

    def spent_by_condition(self) -> dict[str, dict[str, CallTotals]]:
        """The totals of the calls of each condition's games, by model."""
        rows = self._db.execute(
            "SELECT condition, model, sum(calls), sum(prompt_tokens), sum(completion_tokens), "
            f"sum(cached_tokens), sum(cost), sum(latency) {_OF_GAMES} GROUP BY condition, model"
        )
        spent: dict[str, dict[str, CallTotals]] = {}
        for condition, model, n, *usage, latency in rows:
            spent.setdefault(condition, {})[model] = CallTotals(n, Usage(*usage), latency)
        return spent

    def costless_by_condition(self) -> dict[str, dict[str, Usage]]:
        """The usage of the calls with cost 0 of each condition's games, by model."""
        found: dict[str, dict[str, Usage]] = {}
        for table, where in (
            ("totals", f"{_OF_GAMES} WHERE totals.cost = 0"),
            # of a game with other calls of the model, which cost something
            (
                "calls",
                f"{_OF_GAMES} JOIN calls USING (asker, model) WHERE totals.cost != 0 AND calls.cost = 0",
            ),
        ):
            sums = ", ".join(f"sum({table}.{name}_tokens)" for name in ("prompt", "completion", "cached"))
            query = f"SELECT condition, model, {sums} {where} GROUP BY condition, model"
            for condition, model, *used in self._db.execute(query):
                by = found.setdefault(condition, {})
                by[model] = by.get(model, Usage()) + Usage(*used)
        return found

    def askers_outside_games(self) -> list[str]:
        """The askers with totals that are no games of the run."""
        query = "SELECT DISTINCT asker FROM totals WHERE asker NOT IN (SELECT 'game/' || id FROM games)"
        return [who for (who,) in self._db.execute(query)]

    def costless_calls(self, game: int) -> dict[str, Usage]:
        """The usage of a game's calls with cost 0, by model."""
        return self.costless(asker(game)).get(asker(game), {})


def _answers(game: int, seat: int) -> tuple[str, str]:
    """The asker and the pattern of keys of a person's answers at a seat."""
    return asker(game), f"%/{seat}|answer|%"


def asker(game: int) -> str:
    """The name of a game as an asker."""
    return f"{_ASKER}{game}"


def _experiment(path: Path, meanings: str) -> Experiment:
    file = path / "experiment.yaml"
    if not file.is_file():
        raise StoreError(f"{path} is an incomplete run: experiment.yaml is missing; copy it back")
    return load_experiment(file, meanings=meanings)
