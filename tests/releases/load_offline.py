"""Load every configuration of a release with `datasets`, and every record set with `mlcroissant`, without network.

Run as a script in a new process: `python -m tests.releases.load_offline FOLDER CACHE`. It prints one line per
configuration and record set: its name, the number of rows, and the first difference from the JSONL or CSV file.
"""

import json
import os
import socket
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from tests.releases.parquet_rows import Row, differences, source_rows, sources_of


def _no_network(*args: Any) -> NoReturn:
    raise AssertionError(f"a connection to {args[1:]} was attempted")


def of_parts(folder: Path, config: str, loaded: Mapping[str, Iterable[Row]]) -> Iterator[tuple[str, int, str]]:
    """Yield name, number of rows and first difference of each split.

    Splits of one file are compared with the rows of that file that have their keys.
    """
    files = sources_of(folder)[config]
    yield from ((split, -1, "not loaded") for split in files.keys() - loaded.keys())
    by_split = {split: list(rows) for split, rows in loaded.items()}
    for file in set(files.values()):
        n = sum(len(rows) for split, rows in by_split.items() if files[split] == file)
        if n != sum(1 for _ in source_rows(folder / file)):
            yield file, n, "the splits of this file have another number of rows"
    for split, rows in by_split.items():
        file = files[split]
        source = list(source_rows(folder / file))
        if list(files.values()).count(file) > 1:
            source = of_these(source, rows)
        try:
            found = next(differences(rows, source, is_csv=file.endswith(".csv")), "")
        except ValueError:
            found = f"{len(rows)} rows, but {len(source)}"
        yield split, len(rows), found


def of_these(source: Iterable[Row], rows: Iterable[Row]) -> list[Row]:
    """Return the rows of a file that a split has, in the order of the file: by their first text that is a key."""
    names = [
        name
        for name in ("docid", "answer", "summary", "unit", "review", "question", "target")
        if name in next(iter(rows))
    ]
    keys = {str(row[names[0]]) for row in rows}
    return [row for row in source if str(row[names[0]]) in keys]


def with_datasets(folder: Path, cache: Path) -> Iterator[tuple[str, int, str]]:
    import datasets

    datasets.disable_progress_bars()
    names = datasets.get_dataset_config_names(str(folder))
    assert set(names) == set(sources_of(folder)), names
    default = datasets.load_dataset(str(folder), cache_dir=str(cache))
    yield "default", len(default), ""
    for name in names:
        loaded = datasets.load_dataset(str(folder), name, cache_dir=str(cache))
        yield from ((f"{name}/{split}", n, found) for split, n, found in of_parts(folder, name, loaded))


def plain(value: Any, prefix: str) -> Any:
    """Return a value of a record with names of columns instead of ids, and texts instead of bytes."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, dict):
        return {name.rpartition("/")[2]: plain(one, prefix) for name, one in value.items()}
    if isinstance(value, list):
        return [plain(one, prefix) for one in value]
    return value.item() if hasattr(value, "item") else value


def with_mlcroissant(folder: Path) -> Iterator[tuple[str, int, str]]:
    import mlcroissant

    dataset = mlcroissant.Dataset(str(folder / "croissant.json"))
    issues = dataset.metadata.ctx.issues
    assert not issues.errors, issues.report()
    by_config: dict[str, dict[str, list[Row]]] = {}
    for record_set in dataset.metadata.record_sets:
        config, _, split = record_set.id.partition("/")
        fields = {field.id: field.source.extract.column for field in record_set.fields if field.source.extract.column}
        records: list[Row] = [
            {fields.get(name, name.rpartition("/")[2]): plain(value, record_set.id) for name, value in record.items()}
            for record in dataset.records(record_set.id)
        ]
        by_config.setdefault(config, {})[split or "full"] = records
    assert set(by_config) == set(sources_of(folder))
    for config, loaded in by_config.items():
        yield from ((f"{config}/{split}", n, found) for split, n, found in of_parts(folder, config, loaded))


def main(folder: Path, cache: Path) -> None:
    os.environ |= {"HF_HUB_OFFLINE": "1", "HF_HOME": str(cache), "CROISSANT_CACHE": str(cache)}
    socket.socket.connect = socket.socket.connect_ex = _no_network  # type: ignore[method-assign]
    found = {"datasets": list(with_datasets(folder, cache)), "mlcroissant": list(with_mlcroissant(folder))}
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
