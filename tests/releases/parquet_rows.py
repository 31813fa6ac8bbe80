"""Compare loaded rows of a release with its JSONL and CSV files, without the code that wrote them."""

import csv
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pyarrow import parquet as pq

from releases.folders.dictionary import PARQUET, table_of
from releases.folders.folder import read

Row = Mapping[str, Any]


def source_rows(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        if path.suffix == ".jsonl":
            yield from map(json.loads, file)
        else:
            csv.field_size_limit(sys.maxsize)
            yield from csv.DictReader(file)


def is_same(loaded: Any, source: Any, *, is_csv: bool) -> bool:
    """Whether a loaded value is that of a file. An empty cell is no value, unless it is text."""
    if not is_csv:
        is_json = isinstance(loaded, str) and not isinstance(source, str)
        return bool((json.loads(loaded) if is_json else loaded) == source)
    if loaded is None or source == "":
        return source == "" and loaded in (None, "")
    if isinstance(loaded, bool):
        return bool(source == str(loaded).lower())
    return loaded == source or (not isinstance(loaded, str) and loaded == type(loaded)(source))


def differences(loaded: Iterable[Row], source: Iterable[Row], *, is_csv: bool) -> Iterator[str]:
    """Yield the fields that differ; rows are compared in their order."""
    for number, (one, other) in enumerate(zip(loaded, source, strict=True), start=1):
        others = json.loads(one.get("others") or "{}") if not is_csv and "others" not in other else {}
        for name in {*one, *(name or "row" for name in other)} - ({"others"} if others else set()):
            value = other.get("" if name == "row" and "" in other else name, "" if is_csv else None)
            if not is_same(one.get(name, others.get(name)), value, is_csv=is_csv):
                yield f"row {number}, {name}: {one.get(name)!r}, but {value!r}"


def sources_of(folder: Path) -> dict[str, dict[str, str]]:
    """Return the file of rows of each split of each configuration; splits of one file have the same file."""
    entries = [entry.path for entry in read(folder).entries]
    files = [path for path in entries if path.endswith((".csv", ".jsonl"))]
    by_config: dict[str, dict[str, str]] = {}
    for path in entries:
        if path.endswith(".parquet"):
            _, config, split = path.removesuffix(".parquet").split("/")
            named = [file for file in files if file.rpartition(".")[0].replace("/", "_").replace("-", "_") == config]
            if not named:
                named = [file for file in files if (table := table_of(file)) and table.placed(file) == (config, split)]
            assert len(named) == 1, path
            by_config.setdefault(config, {})[split] = named[0]
    return by_config


def assert_same_rows(folder: Path) -> None:
    """Every file that has rows has one configuration, whose Parquet files have the same rows."""
    by_config = sources_of(folder)
    rows = {entry.path: entry.rows for entry in read(folder).entries}
    files = {path for path, n in rows.items() if path.endswith((".csv", ".jsonl")) and n}
    assert {file for splits in by_config.values() for file in splits.values()} == files
    for config, splits in by_config.items():
        for split, file in splits.items():
            path = f"{PARQUET}/{config}/{split}.parquet"
            loaded = pq.ParquetFile(folder / path).read().to_pylist()
            assert len(loaded) == rows[path]
            if list(splits.values()).count(file) == 1:
                found = list(differences(loaded, source_rows(folder / file), is_csv=file.endswith(".csv")))
                assert found == [], f"{path}: {found[:5]}"
