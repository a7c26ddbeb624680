"""Erases a person's words from a run, from files made of it, and from more folders.

The words themselves are deleted last, so that an interrupted command can be run again and still knows what to
search for. Words that were sent to servers cannot be recalled; the run keeps the receivers, so that they can
be named later too.
"""

from __future__ import annotations

import os
import re
import shlex
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from ...errors import StoreError, Unavailable
from ...files import read_file, remove, target_name, text_in, write
from ...models.servers.addresses import host_of
from ...rules import Say
from ..experience.pool_file import erase_in_pool, is_pool
from ..plans.served import is_elsewhere, is_served, servers_of
from ..storage.call_store import CallStore
from ..storage.quotes import Quotes
from ..storage.store import GameRow, Place, Store, asker
from .game import rules_of

_REPORT, _TOURNAMENT = "wolflab report {}", "wolflab tournament --show {}"
_MADE = {
    "report.html": _REPORT,
    "report.json": _REPORT,
    "tournament.html": _TOURNAMENT,
    "tournament.json": _TOURNAMENT,
    "replay": "wolflab replay {} GAME",
    "exported": "wolflab export {}",
}
"""Files and folders of a run that a command can make again."""
_REMOVED = {
    ".parquet": "wolflab export RUN --format data",
    ".eval": "wolflab export RUN --format inspect",
    ".words.jsonl": "wolflab export RUN --format records",
}
"""Suffixes of files that are removed if they contain the words, because nothing in them can be replaced."""
_NO_WORDS = (".png", ".pdf", ".npy", ".npz", ".safetensors", ".pt", ".lock", "experiment.yaml", "study.yaml")
_SENT = "sent before words were erased"
_CHAINED = '{"h":"'
"""The start of a record's line; its hash comes next."""
_HASH = re.compile(r"\b[0-9a-f]{32}\b")

Found = Sequence[tuple[GameRow, int]]
"""A person's games, and the seat in each."""


class SentTo(msgspec.Struct, frozen=True, array_like=True):
    """A receiver of prompts that contained the words. host: "" if not known. calls: their number, by game or
    other asker; for an embedder, texts.
    """

    name: str
    host: str
    calls: dict[str, int]

    @property
    def left(self) -> bool:
        """Whether the receiver is on another machine."""
        return is_elsewhere(self.host)


@dataclass
class Erased:
    """What was erased, and what was not. statements: of the person. calls: prompts and replies of models.
    removed: path → the command that writes it again, "" for an unfinished file. replaced: files in which the
    words were replaced. repeated: game → the number of others' statements and notes that repeat the words.
    unread: files and links that were not searched: no text, too large, damaged, or outside the folder.
    """

    statements: int = 0
    calls: int = 0
    removed: dict[Path, str] = field(default_factory=dict)
    replaced: list[Path] = field(default_factory=list)
    repeated: Counter[int] = field(default_factory=Counter)
    unread: list[Path] = field(default_factory=list)
    sent: list[SentTo] = field(default_factory=list)


def erase_said(store: Store, found: Found, also: Sequence[Path] = ()) -> Erased:
    """Erase a person's statements at these seats. also: more folders to search.

    Raises StoreError, before anything is erased, for a file that cannot be searched now. Raises it also while
    another program reads the run: the words are then erased, but may still be on the disk.
    """
    for folder in also:
        if not folder.is_dir():
            raise StoreError(f"{folder}: there is no such folder; check its name")
    said = [(row, seat, store.said(row.id, seat)) for row, seat in found]
    quotes = Quotes(
        (rules_of(store.experiment, Place.of(row)).names[seat], text)
        for row, seat, words in said
        for text in words.values()
    )
    done = Erased()
    for folder in (store.path, *also):
        done.removed |= _remove_unfinished(folder)
    if quotes.texts:
        rows = [row for row, _ in found]
        _keep_sent(store, store.sent(quotes, {asker(row.id) for row in rows}) | store.embedded())
        saw = _games_that_saw(store, rows)
        hashes: dict[str, str] = {}
        for game, requests in store.requests_containing(quotes, saw).items():
            hashes |= store.hashes_after_removal(game, requests)
        for row in rows:
            hashes |= store.hashes_after_removal(row.id)
        seals = {seal for _, _, words in said for seal in words}
        search = _Search(store, quotes, seals, hashes, done)
        done.removed |= remove_made(store.path)
        for folder in (store.path, *also):
            search.folder(folder)
        done.repeated = _repeated(store, found, quotes)
        done.calls += store.forget_quotes(quotes, saw)
        store.forget_vectors()
    done.statements = sum(store.erase_words(row, seat) for row, seat in found)
    store.scrub()
    done.sent = _sent_before(store)
    return done


def _sent_before(store: CallStore) -> list[SentTo]:
    """The receivers of words that were erased from a run earlier."""
    kept = store.meta(_SENT)
    return [] if kept is None else msgspec.json.decode(kept, type=list[SentTo])


def _keep_sent(store: Store, sent: Mapping[str, Mapping[str, int]]) -> None:
    """Keep the receivers of the words in a run. sent: model → asker → calls; models of this process are left
    out.
    """
    known = {one.name: one for one in _sent_before(store)}
    hosts = servers_of(store.experiment)
    for name, calls in sent.items():
        if is_served(name):
            most = Counter(calls) | Counter(known[name].calls if name in known else {})
            known[name] = SentTo(name, hosts.get(name, host_of(name)), dict(most))
    kept = [known[name] for name in sorted(known)]
    store.remember(_SENT, msgspec.json.encode(kept).decode(), anew=True)


def _games_that_saw(store: Store, said: Sequence[GameRow]) -> set[str]:
    """The games whose agents may have seen the words: those in which they were said, and those with
    experience. Equal words in other games are a coincidence.
    """
    casts = {name: store.experiment.cast(name).values() for name in store.experiment.conditions}
    learns = {name for name, cast in casts.items() if any(spec.experience is not None for spec in cast)}
    return {asker(row.id) for row in (*said, *store.games()) if row in said or row.condition in learns}


def _repeated(store: Store, found: Found, quotes: Quotes) -> Counter[int]:
    """Finished game → the number of others' replies and notes that repeat the words."""
    counts: Counter[int] = Counter()
    for row, seat in found:
        record = store.record(row.id) if row.over else None
        for turn in (*record.turns, *record.probes) if record else ():
            if turn.seat != seat:
                texts = [msgspec.json.encode(note).decode() for _, note in turn.notes]
                texts += [turn.action.text] if isinstance(turn.action, Say) else []
                counts[row.id] += sum(text in quotes for text in texts)
    return +counts


def remove_made(run: Path) -> dict[Path, str]:
    """Remove files that a command can make again, and links or pipes of these names: path → the command. The
    target of a link stays.
    """
    made = {run / name: command for name, command in _MADE.items() if os.path.lexists(run / name)}
    for path in made:
        remove(path)
    return {path: command.format(shlex.quote(str(run))) for path, command in made.items()}


def _remove_unfinished(folder: Path) -> dict[Path, str]:
    """Remove unfinished files and folders of killed processes: words in them may be cut or packed. A process
    that writes there now has to start again.
    """
    removed: dict[Path, str] = {}
    for path in sorted(folder.rglob("*.part")):
        name = target_name(path)
        if name and not name.endswith(_NO_WORDS):
            remove(path)
            removed[path] = ""
    return removed


@dataclass(frozen=True)
class _Search:
    """Removes words of a run from files. seals: of the words. hashes: old → new hashes of the run's records;
    exports contain them, and label sets name games by them.
    """

    store: Store
    quotes: Quotes
    seals: set[str]
    hashes: Mapping[str, str]
    done: Erased

    def folder(self, folder: Path) -> None:
        """Search every file in a folder. Runs inside the run's own folder are separate runs and are
        skipped.
        """
        run = self.store.path
        found = sorted(folder.rglob("*"))
        files = [path for path in found if path.is_file() and not path.is_symlink()]
        self.done.unread += [path for path in found if path.is_symlink()]  # links lead to files of others
        if folder == run:
            others = {path.parent for path in files if path.name == "experiment.yaml"} - {run}
        else:
            others = set() if folder.resolve().is_relative_to(run.resolve()) else {run}
        for path in files:
            if others.isdisjoint(path.parents) and path.is_file():
                try:
                    self._search(path)
                except Unavailable:
                    raise
                except StoreError:  # it can never be read
                    self.done.unread.append(path)

    def _search(self, path: Path) -> None:
        if path.name.startswith("run.sqlite"):
            if path.name == "run.sqlite" and path.parent.resolve() != self.store.path.resolve():
                self._calls(path.parent)
        elif is_pool(path):
            if erase_in_pool(path, self.quotes):
                self.done.replaced.append(path)
        elif not path.name.endswith(_NO_WORDS):
            self._file(path)

    def _calls(self, folder: Path) -> None:
        """Calls of a judge or of another run, perhaps a copy."""
        kind = Store if (folder / "experiment.yaml").is_file() else CallStore
        with kind.resume(folder) as calls:
            saw, copied = None, []
            if isinstance(calls, Store):
                copied = calls.games_with_seals(self.seals)
                saw = _games_that_saw(calls, [row for row, _ in copied])
                if copied:
                    self.done.removed |= remove_made(folder)
                    calls.forget_vectors()
            sent = calls.sent(self.quotes)
            _keep_sent(self.store, {model: {str(folder): sum(by.values())} for model, by in sent.items()})
            self.done.calls += calls.forget_quotes(self.quotes, saw)
            if isinstance(calls, Store):
                for row, seat in copied:  # last: they identify the copy
                    calls.erase_words(row, seat)
            calls.scrub()  # also after an interrupted erasure

    def _file(self, path: Path) -> None:
        data = read_file(path)
        for ending, command in _REMOVED.items():
            if path.name.endswith(ending):
                texts = _packed_texts(path, data)
                if texts is None:
                    self.done.unread.append(path)
                elif any(
                    text in self.quotes or not self.seals.isdisjoint(_HASH.findall(text)) for text in texts
                ):
                    remove(path)
                    self.done.removed[path] = command
                return
        try:
            text, encoding = text_in(data)
        except ValueError:
            text, encoding = "\0", "utf-8"
        if "\0" in text or text.encode(encoding) != data:
            self.done.unread.append(path)
            return
        after = self.quotes.without(text)
        if not text.startswith(_CHAINED) or text[len(_CHAINED) :][:32] in self.hashes:
            after = _HASH.sub(lambda hash: self.hashes.get(hash[0], hash[0]), after)
        if after != text:  # a record of another game stays: its lines are chained
            write(path, after.encode(encoding))
            self.done.replaced.append(path)


def _packed_texts(path: Path, data: bytes) -> Iterable[str] | None:
    """The texts in a file that may be removed; None if it cannot be read here."""
    if path.suffix == ".jsonl":
        return [data.decode("utf-8", "replace")]
    try:
        if path.suffix == ".parquet":
            from pyarrow import parquet

            rows = parquet.read_table(path).to_pylist()
            return (msgspec.json.encode(row, enc_hook=str).decode() for row in rows)
        with zipfile.ZipFile(path) as packed:
            return [packed.read(name).decode("utf-8", "replace") for name in packed.namelist()]
    except (ImportError, ValueError, OSError, zipfile.BadZipFile, NotImplementedError):
        return None
