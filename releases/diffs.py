"""What changed between two releases: rows added, removed and changed, file by file."""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from .manifest import NAME, SUMS

#: The columns that name a row, where it is not the first one.
KEYS = {"provenance/values.csv": 4}


@dataclass(frozen=True)
class FileDifference:
    """Counts of rows by key; for files without rows, whether the bytes are the same."""

    path: str
    added: int
    removed: int
    changed: int
    keys: tuple[str, ...]

    @property
    def same(self) -> bool:
        return not (self.added or self.removed or self.changed)


def differences(old: Path, new: Path) -> Iterator[FileDifference]:
    """One difference a file that either release has; the manifest and the list of hashes, which follow, left out."""
    paths = {p.relative_to(root).as_posix() for root in (old, new) for p in root.rglob("*") if p.is_file()} - {
        NAME,
        SUMS,
    }
    for path in sorted(paths):
        before, after = _rows(old, path), _rows(new, path)
        added, removed = sorted(after.keys() - before.keys()), sorted(before.keys() - after.keys())
        changed = sorted(key for key in before.keys() & after.keys() if before[key] != after[key])
        yield FileDifference(path, len(added), len(removed), len(changed), tuple([*changed, *added, *removed][:20]))


def _rows(folder: Path, name: str) -> dict[str, str]:
    """Digest by key: ``docid`` of JSONL, the first columns of CSV, the file itself otherwise."""
    path = folder / name
    if not path.exists():
        return {}
    if path.suffix == ".jsonl":
        with path.open(encoding="utf-8") as file:
            return {str(json.loads(line)["docid"]): _digest(line) for line in file}
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            width = KEYS.get(name, 1)
            return {" ".join(row[:width]): _digest(json.dumps(row)) for row in csv.reader(file)}
    return {path.name: sha256(path.read_bytes()).hexdigest()}


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
