"""Write the Parquet files of a release from its files of rows. Only workers and commands import this module.

Rows are read from the files that were just written, so that both have the same values. The bytes of a Parquet file
depend on its rows and on the version of pyarrow only. Memory use does not depend on the number of rows.
"""

import csv
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet as pq

from api.problems import Refused

from ..folders.dictionary import has_lines
from ..folders.dictionary.table import BOOL, FLOAT, INT, JSON, TEXT, WHOLE, WITHOUT_PART, Type, column_of, split_of
from ..folders.manifest import Entry, entry_of
from ..sources.parts import possible_keys
from .configs import (
    COMPRESSION,
    FORMAT_VERSION,
    GROUP_CHARACTERS,
    GROUP_ROWS,
    LEVEL,
    Config,
    columns_of,
    find_table,
    path_of,
)

VERSION: str = pa.__version__
#: (number of characters of a row in its file, cells).
Row = tuple[int, Sequence[Any]]
_PLAIN = {TEXT: pa.string(), JSON: pa.string(), INT: pa.int64(), FLOAT: pa.float64(), BOOL: pa.bool_()}
_FLAGS = {"": None, "true": True, "false": False}
#: Values of the cells of a CSV file. A column that the file lacks is None.
_FROM_CELL: dict[str, Callable[[str | None], Any]] = {
    INT: lambda cell: int(cell) if cell else None,
    FLOAT: lambda cell: float(cell) if cell else None,
    BOOL: lambda cell: _FLAGS[cell or ""],
    JSON: lambda cell: cell or None,
}


def write(folder: Path, paths: Sequence[str], parts: Mapping[str, str]) -> list[Config]:
    """Write the Parquet files of the files of rows among ``paths``, and return the configurations.

    ``parts`` has the part of each unit and review, by key; rows of other units are in the split `WITHOUT_PART`. A
    configuration without parts has the split `WHOLE`. A file without rows has no configuration, because `datasets`
    cannot load an empty split. Raise `Refused` for a value of another type than declared.
    """
    configs: dict[str, Config] = {}
    for path in filter(has_lines, paths):
        table = find_table(path)
        name, part = table.placed(path)
        while not part and name in configs:  # splits a-b and a_b
            name += "_2"
        config = configs.setdefault(name, Config(name, table))
        config.sources[path] = part
        config.columns |= columns_of(table, _header(folder, path) if path.endswith(".csv") else None)
    for config in configs.values():
        for path, part in config.sources.items():
            config.splits |= _write_file(folder, path, config, part, {} if part else parts)
    return [config for config in configs.values() if config.splits]


def _header(folder: Path, path: str) -> list[str]:
    with (folder / path).open(encoding="utf-8", newline="") as file:
        header = next(csv.reader(file, strict=True))
    if len(set(header)) < len(header):
        raise Refused(f"{path}: two columns have the same name, which Parquet does not allow.")
    return header


def _write_file(folder: Path, path: str, config: Config, part: str, parts: Mapping[str, str]) -> dict[str, Entry]:
    """Write the rows of one file to the splits that they belong to."""
    keys = [list(config.columns).index(name) for name in config.table.unit] if parts else []
    writers: dict[str, _Writer] = {}
    with ExitStack() as stack:

        def writer(split: str) -> _Writer:
            target = folder / path_of(config.name, split)
            return stack.enter_context(_Writer(target, config.columns, path))

        file = stack.enter_context((folder / path).open(encoding="utf-8", newline=""))
        rows = _csv(file, config) if path.endswith(".csv") else _jsonl(file, config, path)
        for number, (size, cells) in enumerate(rows, start=1):
            split = _part(cells, keys, parts) if keys else part or WHOLE
            if split not in writers:
                writers[split] = writer(split)
            writers[split].add(number, size, cells)
    if list(writers) == [WITHOUT_PART]:
        writers = {WHOLE: writers[WITHOUT_PART]}
        (folder / path_of(config.name, WITHOUT_PART)).rename(folder / path_of(config.name, WHOLE))
    return {split: entry_of(folder, path_of(config.name, split), one.rows) for split, one in writers.items()}


def _part(cells: Sequence[Any], keys: Sequence[int], parts: Mapping[str, str]) -> str:
    """Return the split of a row: the part of its unit, or else of the review of the unit."""
    for place in keys:
        for key in possible_keys(cells[place]):
            if key in parts:
                return split_of(parts[key])
    return WITHOUT_PART


def _csv(file: Any, config: Config) -> Iterator[Row]:
    """Yield the cells of each row in the order of the columns. A column that only another part has is empty."""
    # A cell may have a whole document. The limit holds for the process, and protects readers of uploaded files.
    usual = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        reader = csv.reader(file, strict=True)
        header = [column_of(name) for name in next(reader)]
        absent = [name for name in config.columns if name not in header]
        order = [header.index(name) if name in header else len(header) for name in config.columns]
        for cells in reader:
            size = sum(map(len, cells))
            yield size, [[*cells, None][place] for place in order] if absent else cells
    finally:
        csv.field_size_limit(usual)


def _jsonl(file: Any, config: Config, path: str) -> Iterator[Row]:
    """Yield the fields of each line in the order of the columns. A missing field is None."""
    names = list(config.table.columns)
    known = frozenset(names)
    for line in file:
        row = json.loads(line)
        cells = [row.get(name) for name in names]
        if config.table.others:
            cells.append({name: value for name, value in row.items() if name not in known} or None)
        elif not row.keys() <= known:
            raise Refused(f"{path}: fields without a description: {', '.join(sorted(row.keys() - known))}.")
        yield len(line), cells


class _Writer:
    """One Parquet file. Rows are collected until the row group is full."""

    def __init__(self, path: Path, columns: Mapping[str, Type], source: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.source, self.columns = source, columns
        is_csv = source.endswith(".csv")
        self.converters = [_converter(type, is_csv) for type in columns.values()]
        self.schema = pa.schema([(name, arrow_type(type)) for name, type in columns.items()])
        self.writer = pq.ParquetWriter(
            path, self.schema, version=FORMAT_VERSION, compression=COMPRESSION, compression_level=LEVEL
        )
        self.pending: list[Sequence[Any]] = []
        self.size = self.rows = self.first = 0

    def __enter__(self) -> "_Writer":
        return self

    def __exit__(self, error: type[BaseException] | None, *args: Any) -> None:
        if error is None:
            self._flush()
        self.writer.close()

    def add(self, number: int, size: int, cells: Sequence[Any]) -> None:
        """Add a row. ``number`` is its number in the source file, for messages."""
        if not self.pending:
            self.first = number
        self.pending.append(cells)
        self.size += size
        self.rows += 1
        if len(self.pending) >= GROUP_ROWS or self.size >= GROUP_CHARACTERS:
            self._flush()

    def _flush(self) -> None:
        if not self.pending:
            return
        arrays = []
        for field, convert, cells in zip(self.schema, self.converters, zip(*self.pending, strict=True), strict=True):
            try:
                arrays.append(pa.array(map(convert, cells) if convert else cells, field.type, size=len(cells)))
            except (ValueError, TypeError, KeyError, OverflowError, pa.ArrowException) as error:
                raise Refused(
                    f"{self.source}, rows from {self.first}: a value of {field.name} is not of the declared type "
                    f"{self.columns[field.name]} ({error}). Release without Parquet, and report this."
                ) from None
        self.writer.write_table(pa.Table.from_arrays(arrays, schema=self.schema), row_group_size=GROUP_ROWS)
        self.pending, self.size = [], 0


def arrow_type(type: Type) -> pa.DataType:
    """Return the Arrow type of a column."""
    if isinstance(type, list):
        return pa.list_(arrow_type(type[0]))
    if isinstance(type, dict):
        return pa.struct([(name, arrow_type(of)) for name, of in type.items()])
    return _PLAIN[type]


def _converter(type: Type, is_csv: bool) -> Callable[[Any], Any] | None:
    """Return the function that makes a value of an Arrow array from a cell; None if the cell is the value."""
    if is_csv:
        return _FROM_CELL.get(type)
    if type == JSON:
        return lambda value: None if value is None else json.dumps(value, ensure_ascii=False)
    record = type[0] if isinstance(type, list) else type
    if isinstance(record, dict):
        return _exact(record.keys(), is_list=isinstance(type, list))
    return None


def _exact(names: Any, *, is_list: bool) -> Callable[[Any], Any]:
    """Return a check that objects have these fields, because Arrow silently drops others."""

    def check(value: Any) -> Any:
        for one in value if is_list else [value]:
            if one.keys() != names:
                raise ValueError(f"fields {', '.join(one)}")
        return value

    return check
