"""Configurations of a release: which rows each has, and the file of each split. This module does not need pyarrow."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..folders.dictionary import PARQUET, Table, table_of
from ..folders.dictionary.table import JSON, OTHERS, Type, column_of
from ..folders.manifest import Entry

#: Configuration that is loaded if none is named: the first of these that the release has.
DEFAULTS = ("m3_level3", "m3_level2", "m3_level1", "ms2_reviews", "mslr_inputs", "written_summaries")
#: Order of splits in the card; others follow by name.
SPLITS = ("train", "dev", "validation", "test")


@dataclass
class Config:
    """One configuration. ``columns`` are the columns of its files with their types; ``splits`` are its files."""

    name: str
    table: Table
    #: Files of rows that it is written from, with their parts; an empty part if the file is not that of a part.
    sources: dict[str, str] = field(default_factory=dict)
    columns: dict[str, Type] = field(default_factory=dict)
    splits: dict[str, Entry] = field(default_factory=dict)

    @property
    def in_order(self) -> list[tuple[str, Entry]]:
        known = {name: place for place, name in enumerate(SPLITS)}
        return sorted(self.splits.items(), key=lambda split: (known.get(split[0], len(known)), split[0]))

    def meaning(self, column: str) -> str:
        """Return the description of a column."""
        named = {column_of(name): text for name, text in self.table.columns.items()}
        return named.get(column, self.table.others)


def path_of(config: str, split: str) -> str:
    return f"{PARQUET}/{config}/{split}.parquet"


def columns_of(table: Table, names: Sequence[str] | None = None) -> dict[str, Type]:
    """Return the columns of a Parquet file with their types. ``names``: the header, if the file is CSV."""
    if names is not None:
        return {column_of(name): table.type_of(name) for name in names}
    return {name: table.type_of(name) for name in table.columns} | ({OTHERS: JSON} if table.others else {})


def default_of(configs: Sequence[Config]) -> Config | None:
    """Return the configuration that is loaded if none is named."""
    by_name = {config.name: config for config in configs}
    first = next((by_name[name] for name in DEFAULTS if name in by_name), None)
    return first or next(iter(configs), None)


def parquet_settings(version: str) -> dict[str, Any]:
    """Return how the Parquet files were written, for the manifest. ``version`` is that of pyarrow."""
    return {
        "pyarrow": version,
        "format_version": FORMAT_VERSION,
        "compression": COMPRESSION,
        "compression_level": LEVEL,
        "row_group": {"rows": GROUP_ROWS, "characters": GROUP_CHARACTERS},
    }


FORMAT_VERSION, COMPRESSION, LEVEL = "2.6", "zstd", 3
#: A row group ends after this number of rows, or as soon as its rows have this number of characters in the source file.
#: Both depend on the rows only, so that the bytes of a file do, too; the second bounds the memory.
GROUP_ROWS, GROUP_CHARACTERS = 10_000, 4_000_000


def find_table(path: str) -> Table:
    """Return the table of a file of rows. Every file of rows is described."""
    table = table_of(path)
    if table is None:
        raise ValueError(f"{path} is not described in the dictionary of files")
    return table
