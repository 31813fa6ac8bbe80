"""Differences between two releases: rows added, removed and changed in each file. This module needs no Django."""

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from .dictionary import has_lines, table_of
from .folder import Altered, checked
from .manifest import SUMS, Entry, Manifest
from .rows import lines_of

Release = tuple[Path, Manifest]


@dataclass(frozen=True)
class FileDifference:
    """Counts of rows by key. A file without rows counts as one row."""

    path: str
    added: int
    removed: int
    changed: int
    keys: tuple[str, ...]

    @property
    def same(self) -> bool:
        return not (self.added or self.removed or self.changed)


def differences(old: Release, new: Release) -> Iterator[FileDifference]:
    """Yield one difference per file of either release, except the list of hashes.

    Files with equal hashes are not read. A difference is yielded only after the whole file has been checked against its
    hash. Raise `Altered`.
    """
    before, after = ({entry.path: entry for entry in manifest.entries} for _, manifest in (old, new))
    for path in sorted((before.keys() | after.keys()) - {SUMS}):
        one, other = before.get(path), after.get(path)
        if one and other and one.sha256 == other.sha256:
            yield FileDifference(path, 0, 0, 0, ())
        else:
            yield _difference(path, _rows(old[0], one), _rows(new[0], other))


def _difference(path: str, before: dict[str, str], after: dict[str, str]) -> FileDifference:
    added, removed = sorted(after.keys() - before.keys()), sorted(before.keys() - after.keys())
    changed = sorted(key for key in before.keys() & after.keys() if before[key] != after[key])
    return FileDifference(path, len(added), len(removed), len(changed), tuple([*changed, *added, *removed][:20]))


def _rows(folder: Path, entry: Entry | None) -> dict[str, str]:
    """Return the digest of each row by its key from the dictionary; for unknown files, the digest of the file."""
    if entry is None:
        return {}
    pieces, table = checked(folder, entry), table_of(entry.path) if has_lines(entry.path) else None
    try:
        if table and entry.path.endswith(".jsonl"):
            return {_key(json.loads(line), table.key): _digest(line) for line in lines_of(pieces)}
        if table:
            reader = csv.reader(lines_of(pieces))
            header = next(reader)
            places = [header.index(name) for name in table.key]
            rows = {" ".join(row[place] for place in places): _digest(json.dumps(row)) for row in reader}
            return {"the header": _digest(json.dumps(header))} | rows
    except (ValueError, KeyError, IndexError, StopIteration, TypeError, RecursionError, csv.Error):
        raise Altered(f"{entry.path}: the rows are not in the format of a release") from None
    for _ in pieces:
        pass
    return {Path(entry.path).name: entry.sha256}


def _key(row: dict[str, object], fields: Sequence[str]) -> str:
    return " ".join(str(row[field]) for field in fields)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
