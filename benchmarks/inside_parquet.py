"""Write the Parquet files of a release, and the same rows with pyarrow alone, for `benchmarks.scale`."""

import csv
import itertools
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.inside_moving import peak_mb

#: Rows of a row group of the bare writer.
ROWS = 500


def write_parquet(out: str) -> dict[str, Any]:
    """Write the Parquet files beside the files of a release that has none, and return CPU time and bytes."""
    from releases.huggingface import writing

    folder = Path(out)
    paths = [str(path.relative_to(folder)) for path in sorted(folder.rglob("*")) if path.is_file()]
    cpu = time.process_time()
    configs = writing.write(folder, paths, {})
    size = sum(entry.size for config in configs for entry in config.splits.values())
    return {"parquet": time.process_time() - cpu, "parquet_bytes": size}


def bare_parquet(out: str) -> dict[str, Any]:
    """Write the same rows with `Table.from_pylist` and one writer per file, and return the CPU time of the writing.

    Rows are read in batches before; their time is not included. Columns of JSON are dumped, as Arrow cannot hold them.
    """
    from pyarrow import parquet as pq

    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    folder, spent = Path(out), 0.0
    with tempfile.TemporaryDirectory() as name:
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".csv", ".jsonl"):
                spent += _write_bare(pq, path, _schema(pq, folder, path), Path(name) / "bare.parquet")
    return {"cpu": spent, "peak_mb": peak_mb()}


def _schema(pq: Any, folder: Path, path: Path) -> Any:
    from releases.folders.dictionary import PARQUET
    from releases.huggingface.configs import find_table

    name = str(path.relative_to(folder))
    config, _ = find_table(name).placed(name)
    return pq.read_schema(next((folder / PARQUET / config).iterdir()))


def _write_bare(pq: Any, path: Path, schema: Any, to: Path) -> float:
    import pyarrow as pa

    spent, texts = 0.0, {field.name for field in schema if field.type == pa.string()}
    with (
        path.open(encoding="utf-8", newline="") as file,
        pq.ParquetWriter(to, schema, version="2.6", compression="zstd", compression_level=3) as writer,
    ):
        rows = _typed(csv.DictReader(file), schema) if path.suffix == ".csv" else map(json.loads, file)
        while batch := list(itertools.islice(rows, ROWS)):
            begun = time.process_time()
            for row in batch if path.suffix == ".jsonl" else []:
                for column in texts & row.keys():
                    if not isinstance(row[column], str | None):
                        row[column] = json.dumps(row[column], ensure_ascii=False)
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))
            spent += time.process_time() - begun
    return spent


def _typed(rows: Any, schema: Any) -> Iterator[dict[str, Any]]:
    """Yield rows of a CSV file with the values that the schema has."""
    import pyarrow as pa

    of_type: dict[Any, Any] = {pa.int64(): int, pa.float64(): float, pa.bool_(): "true".__eq__}
    convert = {field.name: of_type[field.type] for field in schema if field.type in of_type}
    for row in rows:
        for name, function in convert.items():
            row[name] = function(row[name]) if row.get(name) else None
        yield {name or "row": value for name, value in row.items()}
