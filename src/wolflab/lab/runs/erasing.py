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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from ...errors import NotNow, StoreError
from ...files import read_file, remove, target_name, text_in, write
from ...models.servers.providers import host_of
from ...rules import Say
from ..experience.erasing import erase_in_pool, is_pool
from ..plans.served import is_served, servers_of
from ..storage.call_store import CallStore
from ..storage.quotes import Quotes
from ..storage.store import GameRow, Store, asker

REPORTS = {
    "report": "wolflab report {}",
    "tournament": "wolflab tournament --show {}",
}
"""Files of a run that are written again by a command: `NAME.html` and `NAME.json`."""
FOLDERS = {"replay": "wolflab replay {} GAME", "exported": "wolflab export {}"}
"""The same of folders."""
_PACKED = {".parquet": "wolflab export RUN --as data", ".eval": "wolflab export RUN --to inspect"}
"""Files that are removed if they hold the words: nothing in them can be replaced."""
_NO_WORDS = (".png", ".pdf", ".npy", ".npz", ".safetensors", ".pt", ".lock", "experiment.yaml", "study.yaml")
_SENT = "sent before words were erased"
_CHAINED = '{"h":"'
"""How a line of a record begins; its hash comes next."""
_HASH = re.compile(r"\b[0-9a-f]{32}\b")
_LOCAL = ("localhost", "127.", "[::1]")

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
        return not self.host.startswith(_LOCAL)


@dataclass
class Erased:
    """What was erased, and what was not. statements: of the person; short: those that are not looked for in
    other files. removed: path → the command that writes it again, "" for a file that was never finished.
    replaced: path → places. pools: path → experiences. repeated: game → how many things that others said or
    noted repeat the words. unread: files and links that were not looked into: no text, too large, damaged, or
    elsewhere.
    """

    statements: int = 0
    short: int = 0
    prompts: int = 0
    replies: int = 0
    vectors: int = 0
    removed: dict[Path, str] = field(default_factory=dict)
    replaced: dict[Path, int] = field(default_factory=dict)
    pools: dict[Path, int] = field(default_factory=dict)
    repeated: dict[int, int] = field(default_factory=dict)
    unread: list[Path] = field(default_factory=list)
    sent: list[SentTo] = field(default_factory=list)


def erase_said(store: Store, found: Found, also: Sequence[Path] = ()) -> Erased:
    """Erase what a person said at these seats. also: further folders to look through.

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
    done = Erased(short=quotes.short)
    for folder in (store.path, *also):
        done.removed |= _remove_unfinished(folder)
    if quotes.texts:
        games = {asker(row.id) for row, _ in found}
        sent = _Sent(store)
        sent.keep(store.sent(quotes, games) | store.embedded())
        seals = {seal for _, _, words in said for seal in words}
        hearers = _hearers(store, [row for row, _ in found])
        folders = _Folders(done, quotes, seals, _hashes(store, found, quotes, hearers), sent)
        done.removed |= remove_made(store.path)
        for folder in (store.path, *also):
            folders.look_through(folder, store.path)
        done.repeated = _repeated(store, found, quotes)
        prompts, replies = store.forget_quotes(quotes, hearers)
        done.prompts, done.replies = done.prompts + prompts, done.replies + replies
        done.vectors += store.forget_vectors()
    done.statements = sum(store.erase_words(row, seat) for row, seat in found)
    store.scrub()
    done.sent = sent_before(store)
    return done


def _hashes(store: Store, found: Found, quotes: Quotes, hearers: set[str]) -> dict[str, str]:
    """Hashes in records, and what they will be once no request's hash tells of the words."""
    forgets: dict[int, set[str] | None] = {**store.requests_holding(quotes, hearers)}
    forgets |= {row.id: None for row, _ in found}
    return {
        old: now
        for game, requests in forgets.items()
        for old, now in store.hashes_without(game, requests).items()
    }


# -- what left the machine --------------------------------------------------------------------


def sent_before(store: CallStore) -> list[SentTo]:
    """Who was sent words that were erased from a run since."""
    kept = store.meta(_SENT)
    return [] if kept is None else msgspec.json.decode(kept, type=list[SentTo])


class _Sent:
    """Remembers in a run whom words were sent to, before nobody can tell it any more."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._hosts = servers_of(store.experiment)

    def keep(self, sent: Mapping[str, Mapping[str, int]]) -> None:
        """sent: calls by model and by where they were made; those of what runs here are left out."""
        known = {one.name: one for one in sent_before(self._store)}
        for name, calls in sent.items():
            if not is_served(name):
                continue
            before = known[name].calls if name in known else {}
            most = {where: max(n, before.get(where, 0)) for where, n in calls.items()}
            known[name] = SentTo(name, self._hosts.get(name, host_of(name)), before | most)
        kept = [known[name] for name in sorted(known)]
        self._store.remember(_SENT, msgspec.json.encode(kept).decode(), anew=True)


# -- others' words ----------------------------------------------------------------------------


def _hearers(store: Store, said: Sequence[GameRow]) -> set[str]:
    """The games whose agents may have heard the words: those in which they were said, and those that take in
    experience. Whoever says the same elsewhere has it from nobody.
    """
    casts = {name: store.experiment.cast(name).values() for name in store.experiment.conditions}
    learns = {name for name, cast in casts.items() if any(spec.experience is not None for spec in cast)}
    return {asker(row.id) for row in (*said, *store.games()) if row in said or row.condition in learns}


def _repeated(store: Store, found: Found, quotes: Quotes) -> dict[int, int]:
    """How many replies and notes of others repeat them, in each of those games that is over."""
    counts: dict[int, int] = {}
    for row, seat in found:
        if not row.over:
            continue
        record = store.record(row.id)
        for turn in (*record.turns, *record.probes):
            if turn.seat == seat:
                continue
            texts = [msgspec.json.encode(note).decode() for _, note in turn.notes]
            if isinstance(turn.action, Say):
                texts.append(turn.action.text)
            if n := sum(map(quotes.repeated_in, texts)):
                counts[row.id] = counts.get(row.id, 0) + n
    return counts


# -- files ------------------------------------------------------------------------------------


def remove_made(run: Path) -> dict[Path, str]:
    """Remove what a command makes of a run again, and a link or a pipe of that name: path → that command.
    What a link leads to stays.
    """
    removed: dict[Path, str] = {}
    pages = {f"{name}.{ending}": command for name, command in REPORTS.items() for ending in ("html", "json")}
    for name, command in {**pages, **FOLDERS}.items():
        path = run / name
        if not os.path.lexists(path):
            continue
        remove(path)
        removed[path] = command.format(shlex.quote(str(run)))
    return removed


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


class _Folders:
    """What lies in folders. seals: of the words. hashes: see `_hashes`; exports hold them, and label sets
    name games by them.
    """

    def __init__(
        self, done: Erased, quotes: Quotes, seals: set[str], hashes: Mapping[str, str], sent: _Sent
    ) -> None:
        self.done, self.quotes, self.seals, self.hashes, self.sent = done, quotes, seals, hashes, sent

    def look_through(self, folder: Path, run: Path) -> None:
        """Take the words out of every file in a folder. run: the one whose words they are. Runs within it are
        runs of their own, and passed over where it is looked through itself.
        """
        found = sorted(folder.rglob("*"))
        links = [path for path in found if path.is_symlink()]
        files = [path for path in found if path.is_file() and path not in links]
        self.done.unread += links  # what they lead to is somebody else's
        own = folder == run
        others = {path.parent for path in files if path.name == "experiment.yaml"} - {run} if own else {run}
        if not own and folder.resolve().is_relative_to(run.resolve()):
            others = set()
        for path in files:
            if not others.isdisjoint(path.parents) or not path.is_file():
                continue
            try:
                self._look_into(path, run)
            except NotNow:
                raise
            except StoreError:  # it never can be
                self.done.unread.append(path)

    def _look_into(self, path: Path, run: Path) -> None:
        if path.name.startswith("run.sqlite"):
            if path.name == "run.sqlite" and path.parent.resolve() != run.resolve():
                self._calls(path.parent)
        elif is_pool(path):
            if n := erase_in_pool(path, self.quotes):
                self.done.pools[path] = n
        elif not path.name.endswith(_NO_WORDS):
            self._file(path)

    def _calls(self, folder: Path) -> None:
        """Calls of a judge, or of another run, perhaps a copy."""
        kind = Store if (folder / "experiment.yaml").is_file() else CallStore
        with kind.resume(folder) as calls:
            hearers, copied = None, []
            if isinstance(calls, Store):
                copied = calls.saying(self.seals)
                hearers = _hearers(calls, [row for row, _ in copied])
                if copied:
                    self.done.removed |= remove_made(folder)
                    self.done.vectors += calls.forget_vectors()
            sent = calls.sent(self.quotes)
            self.sent.keep({model: {str(folder): sum(by.values())} for model, by in sent.items()})
            prompts, replies = calls.forget_quotes(self.quotes, hearers)
            if isinstance(calls, Store):
                for row, seat in copied:  # last: by them it is known to be a copy
                    calls.erase_words(row, seat)
            calls.scrub()  # also after an erasure that was broken off
        self.done.prompts += prompts
        self.done.replies += replies

    def _file(self, path: Path) -> None:
        data = read_file(path)
        if path.suffix in _PACKED:
            held = _unpacked(path)
            if held is None:
                self.done.unread.append(path)
            elif any(text in self.quotes for text in held):
                remove(path)
                self.done.removed[path] = _PACKED[path.suffix]
            return
        wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
        if b"\0" in data and not wide:
            self.done.unread.append(path)
            return
        try:
            text, encoding = text_in(data)
        except ValueError:
            self.done.unread.append(path)
            return
        if not wide and text.encode(encoding) != data:
            text, encoding = data.decode("latin-1"), "latin-1"  # what is not erased stays to the byte
        places = len(self.quotes.spans(text))
        after = self.quotes.without(text)
        if path.name.endswith(".words.jsonl"):  # an export of what people said
            lines = after.splitlines(keepends=True)
            after = "".join(line for line in lines if not any(seal in line for seal in self.seals))
            places = max(places, len(lines) - after.count("\n"))
        after, changed = self._hashed_anew(after)
        places += changed
        if after != text:
            write(path, after.encode(encoding))
            self.done.replaced[path] = places

    def _hashed_anew(self, text: str) -> tuple[str, int]:
        """The text with the hashes as they will be, and how many are others. A line of a record that is none
        of these stays: the next ones are chained to it.
        """
        changed = 0

        def now(found: re.Match[str]) -> str:
            nonlocal changed
            hash = self.hashes.get(found[0], found[0])
            changed += hash != found[0]
            return hash

        lines = text.split("\n")
        for at, line in enumerate(lines):
            if not line.startswith(_CHAINED) or line[len(_CHAINED) :][:32] in self.hashes:
                lines[at] = _HASH.sub(now, line)
        return "\n".join(lines), changed


def _unpacked(path: Path) -> Iterator[str] | None:
    """The texts in a file that others' programs pack; None where it cannot be read here."""
    if path.suffix == ".parquet":
        try:
            from pyarrow import parquet
        except ImportError:
            return None
        try:
            rows = parquet.read_table(path).to_pylist()
        except (ValueError, OSError):
            return None
        return (msgspec.json.encode(row, enc_hook=str).decode() for row in rows)
    try:
        with zipfile.ZipFile(path) as packed:
            return iter([packed.read(name).decode("utf-8", "replace") for name in packed.namelist()])
    except (zipfile.BadZipFile, NotImplementedError):
        return None
