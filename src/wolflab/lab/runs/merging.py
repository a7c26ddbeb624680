"""Merges the runs of shards into one run, as if it had been played at once.

Games have their numbers from the plan, so that a shard's games are those of the whole run: their records,
rows and calls are copied as they are, whatever the order. Half-played games come with their calls. What no
shard can know is left to the merged run: deals in place of void ones, and games that nobody has played.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from ... import __version__
from ...errors import ExperimentError, StoreError
from ...files import copy_file, read_file
from ..experience import run_pools
from ..plans import policies, registration
from ..plans.experiment import Experiment
from ..plans.numbering import NumberOf, numbering
from ..plans.shards import Shard
from ..storage.store import Store
from .replay import check_place
from .runner import plan_further, planned_games
from .tournament_games import is_tournament, start_tournament, tournament_in


@dataclass(frozen=True, slots=True)
class FoundShard:
    """A shard's run. experiment: of the shard; shard: its number."""

    path: Path
    experiment: Experiment
    shard: Shard
    wolflab: str

    def __str__(self) -> str:
        return f"{self.path} (shard {self.shard})"


def shards_in(paths: Sequence[Path]) -> list[FoundShard]:
    """The shards in these directories, by number. StoreError for a run that is none, and for shards that are
    not of one run.
    """
    found = []
    for path in paths:
        with Store.open_for_reading(path) as store:
            shard = store.experiment.shard
            if shard is None:
                raise StoreError(
                    f"{path} is no shard: it was begun without --shard; name the directories of shards alone"
                )
            found.append(FoundShard(path, store.experiment, shard, store.begun.wolflab))
    found.sort(key=lambda one: one.shard.number)
    for one, other in pairwise(found):
        _check_alike(one, other)
    return found


def missing_shards(found: Sequence[FoundShard]) -> list[Shard]:
    """The shards of a run that are not among those found."""
    there, of = {one.shard.number for one in found}, found[0].shard.of
    return [Shard(number=number, of=of) for number in range(1, of + 1) if number not in there]


def _check_alike(one: FoundShard, other: FoundShard) -> None:
    """StoreError unless two shards are different ones of one run."""
    both = f"{one} and {other}"
    if one.shard.of != other.shard.of:
        raise StoreError(f"{both} belong to different divisions; name the shards of one")
    if difference := _difference(one.experiment, other.experiment):
        raise StoreError(f"{both} are of two experiments: {difference}; name the shards of one")
    if one.shard.number == other.shard.number:
        raise StoreError(f"{both} have the same games; name one of the two")
    if one.wolflab != other.wolflab:
        raise StoreError(
            f"{both} were begun by two versions of Wolflab, {one.wolflab} and {other.wolflab}; play one of "
            "them again with the other's version"
        )


def _difference(one: Experiment, other: Experiment) -> str:
    """What is played otherwise in two experiments; "" if nothing is."""
    if one.name != other.name:
        return f"their names are {one.name} and {other.name}"
    if [*one.conditions] != [*other.conditions]:
        return f"their conditions are {', '.join(one.conditions)} and {', '.join(other.conditions)}"
    for name in one.conditions:
        if one.identity(name) != other.identity(name):
            return f"other rules, players, seed, strata or probes decide the games of {name}"
        if one.planned(name) != other.planned(name):
            return f"they plan other games of {name}"
    return ""


def merge_shards(paths: Sequence[Path], out: Path, partial: bool = False) -> list[Shard]:
    """Merge the runs of shards into the run in `out`, which is made if it is not there, and plan what is due
    after them. Returns the shards that the run lacks.

    What `out` has of these shards is not added again. partial: some shards may be missing; they can be added
    later, as long as `out` has not begun their games itself. Raises ExperimentError if shards are missing,
    and StoreError for shards that do not belong together, for a damaged record, and for a shard that is being
    played. A new run is then not begun.
    """
    found = shards_in(paths)
    if found[0].wolflab != __version__:
        raise StoreError(
            f"{found[0]} was begun by Wolflab {found[0].wolflab}, and this is {__version__}; merge shards "
            "with the version that played them"
        )
    new = not (out / "run.sqlite").is_file()
    with _merged_run(found[0], out) as run:
        try:
            lacking = [one for one in missing_shards(found) if run.meta(_mark(one)) is None]
            if lacking and not partial:
                raise ExperimentError(
                    f"shards {', '.join(map(str, lacking))} are missing; name them too, or add --partial: "
                    "the merged run can then play their games"
                )
            number = numbering(run.experiment)
            run.plan(planned_games(run.experiment), number)
            _copy_files([one.path for one in found], out)
            run.take_over(_checked(found, run, number))
        except BaseException:
            if new:  # so that nobody goes on with a run that lacks what the shards have
                for half in out.glob("run.sqlite*"):
                    half.unlink()
            raise
        plan_further(run, number)
        return lacking


def _mark(shard: Shard) -> str:
    """The key in `meta` of a shard that was merged."""
    return f"shard {shard}"


def _merged_run(first: FoundShard, out: Path) -> Store:
    """The run to merge into, begun or opened. StoreError for a run of something else."""
    experiment = first.experiment.whole()
    if (out / "run.sqlite").is_file():
        run = Store.resume(out)
        if run.experiment.shard is not None or _difference(run.experiment, experiment):
            run.close()
            raise StoreError(f"{out} is another run than that of {first}; name a new directory with --out")
        return run
    with Store.open_for_reading(first.path) as store:
        if is_tournament(store):
            return start_tournament(out, tournament_in(store), experiment)
    return Store.create(out, experiment)


def _checked(found: Sequence[FoundShard], run: Store, number: NumberOf) -> Iterator[Store]:
    """The stores of the shards that the run lacks, each checked, and open while it is taken over."""
    begun = {
        (row.condition, row.deal, row.repeat)
        for row in run.games()
        if row.status != "planned" or run.game_totals(row.id)
    }
    for one in found:
        with Store.resume(one.path) as store:  # so that nobody plays it meanwhile
            progress, kept = store.progress_digest(), run.meta(_mark(one.shard))
            if kept == progress:
                continue
            if kept is not None:
                raise StoreError(
                    f"{one} has been played on since it was merged into {run.path}; merge the shards anew, "
                    "into a new directory"
                )
            places = _places(one.experiment)
            if not begun.isdisjoint(places):
                raise StoreError(
                    f"{run.path} has begun games of {one} itself, so that they would be there twice; merge "
                    "the shards anew, into a new directory"
                )
            _check_games(one, store, places, number)
            yield store
            run.remember(_mark(one.shard), progress)


def _places(experiment: Experiment) -> set[tuple[str, int, int]]:
    """All games that a shard may have, forks too."""
    return {(name, *place) for name in experiment.conditions for place in experiment.places(name)}


def _check_games(
    one: FoundShard, store: Store, places: Iterable[tuple[str, int, int]], number: NumberOf
) -> None:
    """StoreError for a game that is not of the shard; RecordError for a damaged or another game's record."""
    for row in store.games():
        place = row.condition, row.deal, row.repeat
        where = f"{one}, game {row.id}"
        if place not in places or number(*place) != row.id:
            raise StoreError(f"{where}: it is no game of this shard; copy the run back")
        if row.over:
            check_place(store, row, store.record(row.id), where)


def _copy_files(shards: Sequence[Path], out: Path) -> None:
    """Copy what runs keep beside their games: policies, pools from files, a registration. StoreError if two
    shards have different ones under one name.
    """
    kept = out / policies.FOLDER
    digests = policies.digests_in(kept)
    for shard in shards:
        folders = (shard / policies.FOLDER, shard / run_pools.FOLDER)
        files = [file for folder in folders for file in sorted(folder.glob("*"))]
        for file in (*files, shard / registration.FILE):
            own = out / file.relative_to(shard)
            if file.name == policies.DIGESTS or not file.is_file():
                continue
            if not own.exists():
                copy_file(file, own)
            elif read_file(own) != read_file(file):
                raise StoreError(
                    f"{file} is another file than {own}, of another shard; copy the right one back"
                )
        digests |= policies.digests_in(shard / policies.FOLDER)
    if digests:
        policies.write_digests(kept, digests)
