"""A person's words are erased: from a run, from what was made of it, and from further folders.

The words themselves go last. So whoever is stopped in the middle runs the same command again: it still
knows what to look for. What was sent to servers cannot be called back; to whom it was sent is kept in the
run, so that it can be told later too.
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
from ...models.servers.providers import host_of
from ...rules import Say
from ..experience.pool_file import erase_in_pool, is_pool
from ..plans.served import is_elsewhere, is_served, servers_of
from ..storage.call_store import CallStore
from ..storage.quotes import Quotes
from ..storage.store import GameRow, Store, asker

_REPORT, _TOURNAMENT = "wolflab report {}", "wolflab tournament --show {}"
_MADE = {
    "report.html": _REPORT,
    "report.json": _REPORT,
    "tournament.html": _TOURNAMENT,
    "tournament.json": _TOURNAMENT,
    "replay": "wolflab replay {} GAME",
    "exported": "wolflab export {}",
}
"""Files and folders of a run that a command makes again."""
_REMOVED = {
    ".parquet": "wolflab export RUN --as data",
    ".eval": "wolflab export RUN --to inspect",
    ".words.jsonl": "wolflab export RUN --as records",
}
"""Files that are removed if they hold the words, by how their names end: nothing in them can be replaced."""
_NO_WORDS = (".png", ".pdf", ".npy", ".npz", ".safetensors", ".pt", ".lock", "experiment.yaml", "study.yaml")
_SENT = "sent before words were erased"
_CHAINED = '{"h":"'
"""How a line of a record begins; its hash comes next."""
_HASH = re.compile(r"\b[0-9a-f]{32}\b")

Found = Sequence[tuple[GameRow, int]]
"""A person's games, and the seat in each."""


class SentTo(msgspec.Struct, frozen=True, array_like=True):
    """Who was sent prompts that held the words. host: "" where it is not known. calls: how many, by the run's
    game, or by where else they were made; of an embedder, texts.
    """

    name: str
    host: str
    calls: dict[str, int]

    @property
    def left(self) -> bool:
        """Whether it is on another machine."""
        return is_elsewhere(self.host)


@dataclass
class Erased:
    """What was erased, and what was not. statements: of the person. calls: prompts and replies of models.
    removed: path → the command that writes it again, "" for a file that was never finished. replaced: files
    in which the words were replaced. repeated: game → how many things that others said or noted repeat the
    words. unread: files and links that were not searched: no text, too large, damaged, or elsewhere.
    """

    statements: int = 0
    calls: int = 0
    removed: dict[Path, str] = field(default_factory=dict)
    replaced: list[Path] = field(default_factory=list)
    repeated: Counter[int] = field(default_factory=Counter)
    unread: list[Path] = field(default_factory=list)
    sent: list[SentTo] = field(default_factory=list)


def erase_said(store: Store, found: Found, also: Sequence[Path] = ()) -> Erased:
    """Erase what a person said at these seats. also: further folders to search.

    Raises StoreError, with all words still there, for a file that cannot be searched now; and with them gone
    from all but the disk, while another program reads the run.
    """
    for folder in also:
        if not folder.is_dir():
            raise StoreError(f"{folder}: there is no such folder; check its name")
    said = [(row, seat, store.said(row.id, seat)) for row, seat in found]
    quotes = Quotes(
        (store.experiment.ruleset(row.condition).names[seat], text)
        for row, seat, words in said
        for text in words.values()
    )
    done = Erased()
    for folder in (store.path, *also):
        done.removed |= _remove_unfinished(folder)
    if quotes.texts:
        rows = [row for row, _ in found]
        _keep_sent(store, store.sent(quotes, {asker(row.id) for row in rows}) | store.embedded())
        hearers = _hearers(store, rows)
        hashes: dict[str, str] = {}
        for game, requests in store.requests_holding(quotes, hearers).items():
            hashes |= store.hashes_without(game, requests)
        for row in rows:
            hashes |= store.hashes_without(row.id)
        seals = {seal for _, _, words in said for seal in words}
        search = _Search(store, quotes, seals, hashes, done)
        done.removed |= remove_made(store.path)
        for folder in (store.path, *also):
            search.folder(folder)
        done.repeated = _repeated(store, found, quotes)
        done.calls += store.forget_quotes(quotes, hearers)
        store.forget_vectors()
    done.statements = sum(store.erase_words(row, seat) for row, seat in found)
    store.scrub()
    done.sent = _sent_before(store)
    return done


def _sent_before(store: CallStore) -> list[SentTo]:
    """Who was sent words that were erased from a run since."""
    kept = store.meta(_SENT)
    return [] if kept is None else msgspec.json.decode(kept, type=list[SentTo])


def _keep_sent(store: Store, sent: Mapping[str, Mapping[str, int]]) -> None:
    """Keep in a run who was sent the words. sent: calls by model and by where they were made; those of models
    that run here are left out.
    """
    known = {one.name: one for one in _sent_before(store)}
    hosts = servers_of(store.experiment)
    for name, calls in sent.items():
        if is_served(name):
            most = Counter(calls) | Counter(known[name].calls if name in known else {})
            known[name] = SentTo(name, hosts.get(name, host_of(name)), dict(most))
    kept = [known[name] for name in sorted(known)]
    store.remember(_SENT, msgspec.json.encode(kept).decode(), anew=True)


def _hearers(store: Store, said: Sequence[GameRow]) -> set[str]:
    """The games whose agents may have heard the words: those in which they were said, and those that take in
    experience. Whoever says the same elsewhere has it from nobody.
    """
    casts = {name: store.experiment.cast(name).values() for name in store.experiment.conditions}
    learns = {name for name, cast in casts.items() if any(spec.experience is not None for spec in cast)}
    return {asker(row.id) for row in (*said, *store.games()) if row in said or row.condition in learns}


def _repeated(store: Store, found: Found, quotes: Quotes) -> Counter[int]:
    """How many replies and notes of others repeat them, in each of those games that is over."""
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
    """Remove what a command makes of a run again, and a link or a pipe of that name: path → that command.
    What a link leads to stays.
    """
    made = {run / name: command for name, command in _MADE.items() if os.path.lexists(run / name)}
    for path in made:
        remove(path)
    return {path: command.format(shlex.quote(str(run))) for path, command in made.items()}


def _remove_unfinished(folder: Path) -> dict[Path, str]:
    """Remove files and folders that were never finished, since their process was killed: words in them may
    be cut, or packed. Whoever writes there at this moment has to write again.
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
    """Takes words of a run out of files. seals: of the words. hashes: in records of the run → what they will
    be; exports hold them, and label sets name games by them.
    """

    store: Store
    quotes: Quotes
    seals: set[str]
    hashes: Mapping[str, str]
    done: Erased

    def folder(self, folder: Path) -> None:
        """Search every file in a folder. Runs within the run's own folder are runs of their own, and passed
        over there.
        """
        run = self.store.path
        found = sorted(folder.rglob("*"))
        files = [path for path in found if path.is_file() and not path.is_symlink()]
        self.done.unread += [path for path in found if path.is_symlink()]  # they lead to what is another's
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
        """Calls of a judge, or of another run, perhaps a copy."""
        kind = Store if (folder / "experiment.yaml").is_file() else CallStore
        with kind.resume(folder) as calls:
            hearers, copied = None, []
            if isinstance(calls, Store):
                copied = calls.games_with_seals(self.seals)
                hearers = _hearers(calls, [row for row, _ in copied])
                if copied:
                    self.done.removed |= remove_made(folder)
                    calls.forget_vectors()
            sent = calls.sent(self.quotes)
            _keep_sent(self.store, {model: {str(folder): sum(by.values())} for model, by in sent.items()})
            self.done.calls += calls.forget_quotes(self.quotes, hearers)
            if isinstance(calls, Store):
                for row, seat in copied:  # last: by them it is known to be a copy
                    calls.erase_words(row, seat)
            calls.scrub()  # also after an erasure that was broken off

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
    """The texts in one of the files that are removed; None where it cannot be read here."""
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
