"""Data tables as Arrow, pandas, polars, Parquet and JSON lines.

pyarrow, pandas and polars are the extra `data`, imported only where they are used. Rows are processed in
batches, so a run of any size is written with little memory; a table of pandas or polars is in memory
completely.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ...errors import StoreError
from ...files import atomic_write
from .columns import Column, ColumnKind, DataRow, columns_of
from .rows import DataSource, data_rows

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

BATCH = 8192
"""The number of rows in a batch."""
_ARROW: Mapping[ColumnKind, str] = {
    "integer": "int64",
    "number": "float64",
    "text": "string",
    "yes or no": "bool_",
}
_PANDAS: Mapping[ColumnKind, str] = {"integer": "Int64", "number": "Float64", "yes or no": "boolean"}


@dataclass(frozen=True, slots=True)
class DataTable:
    """One data table of a run. It is read lazily."""

    name: str
    source: DataSource

    @property
    def columns(self) -> tuple[Column, ...]:
        """Its columns and their meanings."""
        return columns_of(self.name, self.source.texts)

    def with_texts(self) -> DataTable:
        """The table with prompts and replies (`calls`), and people's words (`statements`, `answers`)."""
        return replace(self, source=self.source._replace(texts=True))

    def rows(self) -> Iterator[DataRow]:
        """The rows as dicts."""
        return (row for _, row in data_rows(self.source, [self.name]))

    def batches(self) -> Iterator[pyarrow.RecordBatch]:
        """Arrow batches of up to `BATCH` rows, for a run that does not fit into memory."""
        yield from _batches(self.columns, self.rows())

    def arrow(self) -> pyarrow.Table:
        """The table in Arrow."""
        return needed("pyarrow").Table.from_batches(self.batches(), arrow_schema(self.columns))

    def pandas(self) -> pandas.DataFrame:
        """The table in pandas. Empty values are `pandas.NA`, so that integers stay integers."""
        pandas_ = needed("pandas")
        frame = self.arrow().to_pandas()
        kinds = {column.name: _PANDAS[column.kind] for column in self.columns if column.kind in _PANDAS}
        made: pandas.DataFrame = pandas_.DataFrame(frame).astype(kinds)
        return made

    def polars(self) -> polars.DataFrame:
        """The table in polars."""
        made: polars.DataFrame = needed("polars").from_arrow(self.arrow())
        return made


def check_packages() -> None:
    """Raise StoreError if `write_data` lacks a package."""
    needed("pyarrow")


def write_data(source: DataSource, tables: Sequence[str], folder: Path) -> list[Path]:
    """Write these tables to `folder`, as Parquet and as JSON lines. Every record is read once."""
    parquet = needed("pyarrow.parquet")
    written = [folder / f"{name}.{ending}" for name in tables for ending in ("parquet", "jsonl")]
    waiting: dict[str, list[DataRow]] = {name: [] for name in tables}
    with ExitStack() as stack:
        halves = {path: stack.enter_context(atomic_write(path)) for path in written}
        lines = {name: stack.enter_context(halves[folder / f"{name}.jsonl"].open("wb")) for name in tables}
        columns = {name: columns_of(name, source.texts) for name in tables}
        files = {
            name: stack.enter_context(
                parquet.ParquetWriter(halves[folder / f"{name}.parquet"], arrow_schema(columns[name]))
            )
            for name in tables
        }

        def put(name: str) -> None:
            for batch in _batches(columns[name], waiting[name]):
                files[name].write_batch(batch)
            waiting[name].clear()

        for name, row in data_rows(source, tables):
            lines[name].write(msgspec.json.encode(row) + b"\n")
            waiting[name].append(row)
            if len(waiting[name]) == BATCH:
                put(name)
        for name in tables:
            put(name)
    return written


def arrow_schema(columns: Sequence[Column]) -> pyarrow.Schema:
    """The schema in Arrow; a column's meaning and unit are its field's metadata."""
    arrow = needed("pyarrow")
    types = [getattr(arrow, _ARROW[column.kind])() for column in columns]
    told = [{"meaning": column.meaning, "unit": column.unit} for column in columns]
    return arrow.schema(
        [
            arrow.field(column.name, kind, metadata=words)
            for column, kind, words in zip(columns, types, told, strict=True)
        ]
    )


def _batches(columns: Sequence[Column], rows: Iterable[DataRow]) -> Iterator[pyarrow.RecordBatch]:
    arrow, schema = needed("pyarrow"), arrow_schema(columns)
    some: list[DataRow] = []
    for row in rows:
        some.append(row)
        if len(some) == BATCH:
            yield arrow.RecordBatch.from_pylist(some, schema)
            some = []
    if some:
        yield arrow.RecordBatch.from_pylist(some, schema)


def needed(package: str) -> Any:
    """A package of the extra; StoreError if it is not installed."""
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != package.partition(".")[0]:
            raise
        raise StoreError(
            f"{package.partition('.')[0]} is not installed, and tables of data need it; install it with: "
            "pip install 'wolflab[data]'"
        ) from None
