"""Differences between two releases: rows added, removed and changed in each file, and the fields that changed.

Rows are compared by their digests in a temporary database on disk, so memory does not grow with them. Only rows that
differ are parsed. This module needs no Django.
"""

import csv
import json
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

from .dictionary import has_lines, table_of
from .folder import Altered, checked
from .manifest import SUMS, Entry
from .rows import lines_of
from .texts import TEXTS, is_hash, without_texts

MALFORMED = (ValueError, KeyError, StopIteration, TypeError, RecursionError, csv.Error)
#: Number of keys of a file that are listed.
LISTED = 20
ADDED, REMOVED, CHANGED = "added", "removed", "changed"
VALUES = "provenance/values.csv"
#: Fields whose values are points of a scale.
SCALES = {"polarity", "modality", "relation", "class", "derived", "as_evidence", "status", "split"}
#: Folders of the data set itself.
DATA = ("m3/", "ms2/", "mediqa_ans/", "abstracts/", "questions/", "written/", "columns/")
HEADER = "the header"
#: Fields of M3's level 3, as decisions name them.
_M3 = {
    "direction": "polarity",
    "direction_span": "polarity_cue",
    "modality": "modality",
    "modality_span": "modality_cue",
    "text": "text",
    "pmid": "study",
}
_M3_FIELD = re.compile(r"(?:input_studies\[(?P<n>\d+)\]\.source|target)_(?P<name>\w+)")
#: Fields of sentences, as decisions name them.
_SENTENCE = {"class": "sentence_classes", "as_evidence": "evidence_sentences"}


class Contents(Protocol):
    """A manifest, or the files of a release that is being written."""

    @property
    def entries(self) -> Sequence[Entry]: ...

    @property
    def without(self) -> Sequence[str]: ...


Release = tuple[Path, Contents]


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


@dataclass(frozen=True)
class FieldChange:
    """A field of a row, as people name it, before and after; with the decision that changed it, if it is known."""

    field: str
    before: str
    after: str
    decision: str = ""
    origin: str = ""
    reason: str = ""
    by: str = ""


@dataclass(frozen=True)
class RowChange:
    """A row that was added, removed or changed. Only changed rows have fields."""

    path: str
    key: str
    change: str
    fields: tuple[FieldChange, ...] = ()


def differences(old: Release, new: Release) -> Iterator[FileDifference]:
    """Yield one difference per file of either release, except the list of hashes.

    Files with equal hashes are not read. A difference is yielded only after the whole file has been checked against its
    hash. Raise `Altered`.
    """
    for path, one, other in _pairs(old, new):
        if one and other and one.sha256 == other.sha256:
            yield FileDifference(path, 0, 0, 0, ())
        else:
            with closing(_Comparison(old[0], one, new[0], other, _hides(old, new))) as found:
                counts = found.counts()
                keys = tuple(key for key, _ in found.listed(LISTED))
                yield FileDifference(path, counts[ADDED], counts[REMOVED], counts[CHANGED], keys)


def row_changes(old: Release, new: Release, paths: Sequence[str] | None = None) -> Iterator[RowChange]:
    """Yield the rows that differ, file by file and sorted by key, with the fields that changed. Raise `Altered`.

    ``paths``: only these files; by default all files of rows.
    """
    with closing(_Reasons(old, new)) as reasons:
        for path, one, other in _pairs(old, new):
            is_same = one and other and one.sha256 == other.sha256
            if is_same or not _has_rows(path) or (paths is not None and path not in paths):
                continue
            with closing(_Comparison(old[0], one, new[0], other, _hides(old, new))) as found:
                for key, change in found.listed():
                    yield RowChange(path, key, change, tuple(_fields(path, key, *found.rows(key), reasons)))


def data_files(old: Release, new: Release) -> list[str]:
    """Return the files of the data set itself. Answers, figures and provenance follow from what changed in them."""
    paths = {entry.path for _, contents in (old, new) for entry in contents.entries}
    return sorted(path for path in paths if path.startswith(DATA) and _has_rows(path))


def _pairs(old: Release, new: Release) -> Iterator[tuple[str, Entry | None, Entry | None]]:
    before, after = ({entry.path: entry for entry in contents.entries} for _, contents in (old, new))
    for path in sorted((before.keys() | after.keys()) - {SUMS}):
        yield path, before.get(path), after.get(path)


def _hides(old: Release, new: Release) -> bool:
    """Whether one of the releases has no texts. The rows of both are then compared without them."""
    return any(TEXTS in contents.without for _, contents in (old, new))


def _has_rows(path: str) -> bool:
    return table_of(path) is not None and has_lines(path)


class _Comparison:
    """The rows of a file that two releases do not share, by key."""

    def __init__(
        self, old: Path, before: Entry | None, new: Path, after: Entry | None, hides_texts: bool = False
    ) -> None:
        self._hides_texts = hides_texts
        # An empty name: SQLite keeps the database in a file that it removes, and in memory only what fits its cache.
        self._db = sqlite3.connect("")
        self._db.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -32000;"
            "CREATE TABLE before (digest BLOB PRIMARY KEY) WITHOUT ROWID;"
            "CREATE TABLE after (digest BLOB PRIMARY KEY) WITHOUT ROWID;"
            "CREATE TABLE rows (key TEXT PRIMARY KEY, before TEXT, after TEXT) WITHOUT ROWID;"
        )
        if before and after:
            self._db.executemany(
                "INSERT OR IGNORE INTO before VALUES (?)",
                ((_digest(raw),) for raw, _ in _rows(old, before, hides_texts)),
            )
            self._db.executemany(
                "INSERT OR IGNORE INTO after VALUES (?)", ((_digest(raw),) for raw, _ in _rows(new, after, hides_texts))
            )
        self._keep("after", "before", new, after)
        self._keep("before", "after", old, before)

    def _keep(self, side: str, other: str, folder: Path, entry: Entry | None) -> None:
        """Keep the rows of one release that the other one does not have."""
        known = f"SELECT 1 FROM {other} WHERE digest = ?"
        if entry is None:
            return
        for raw, parsed in _rows(folder, entry, self._hides_texts):
            if self._db.execute(known, (_digest(raw),)).fetchone() is None:
                try:
                    key, row = parsed()
                except MALFORMED:
                    raise _malformed(entry) from None
                self._db.execute(
                    f"INSERT INTO rows (key, {side}) VALUES (?, ?) ON CONFLICT DO UPDATE SET {side} = excluded.{side}",
                    (key, json.dumps(row)),
                )

    def counts(self) -> dict[str, int]:
        counted = "SELECT count(*) FROM rows WHERE before IS NULL", "SELECT count(*) FROM rows WHERE after IS NULL"
        added, removed = (self._db.execute(one).fetchone()[0] for one in counted)
        total = self._db.execute("SELECT count(*) FROM rows").fetchone()[0]
        return {ADDED: added, REMOVED: removed, CHANGED: total - added - removed}

    def listed(self, most: int = -1) -> Iterator[tuple[str, str]]:
        """Yield the keys and what happened to their rows: changed, added, then removed ones, each sorted."""
        what = f"CASE WHEN before IS NULL THEN '{ADDED}' WHEN after IS NULL THEN '{REMOVED}' ELSE '{CHANGED}' END"
        order = "after IS NULL, before IS NULL, key"
        yield from self._db.execute(f"SELECT key, {what} FROM rows ORDER BY {order} LIMIT ?", (most,))

    def rows(self, key: str) -> tuple[Any, Any]:
        """Return the row with a key before and after; None if there is none."""
        before, after = self._db.execute("SELECT before, after FROM rows WHERE key = ?", (key,)).fetchone()
        return before and json.loads(before), after and json.loads(after)

    def close(self) -> None:
        self._db.close()


class _Parsed(Protocol):
    def __call__(self) -> tuple[str, Any]: ...


def _rows(folder: Path, entry: Entry, hides_texts: bool) -> Iterator[tuple[str, _Parsed]]:
    """Yield each row as text, and a function that returns its key and content. Other files are one row."""
    pieces, table = checked(folder, entry), table_of(entry.path)
    if table is None or not _has_rows(entry.path):
        for _ in pieces:
            pass
        yield entry.sha256, lambda: (Path(entry.path).name, {"sha256": entry.sha256})
        return
    try:
        if entry.path.endswith(".jsonl"):
            for line in lines_of(pieces):
                if hides_texts:
                    line = json.dumps(without_texts(table, json.loads(line)))
                yield line, lambda line=line: _keyed(json.loads(line), table.key)
        else:
            reader = csv.reader(lines_of(pieces))
            header = next(reader)
            yield json.dumps(header), lambda: (HEADER, {"columns": ", ".join(header)})
            for cells in reader:
                row = dict(zip(header, cells, strict=True))
                if hides_texts:
                    row = without_texts(table, row)
                yield json.dumps(list(row.values())), lambda row=row: _keyed(row, table.key)
    except MALFORMED:
        raise _malformed(entry) from None


def _malformed(entry: Entry) -> Altered:
    return Altered(f"{entry.path}: the rows are not in the format of a release")


def _keyed(row: dict[str, Any], key: Sequence[str]) -> tuple[str, Any]:
    return " ".join(str(row[column]) for column in key), row


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()


class _Reasons:
    """The decisions of the newer release that the older one does not have, by unit and field."""

    def __init__(self, old: Release, new: Release) -> None:
        self._found: _Comparison | None = None
        one, other = (next((e for e in contents.entries if e.path == VALUES), None) for _, contents in (old, new))
        if other and not (one and one.sha256 == other.sha256):
            self._found = _Comparison(old[0], one, new[0], other, _hides(old, new))

    def of(self, type: str, unit: str, kind: str, field: str) -> dict[str, str]:
        """Return decision, origin, reason and person of a field; empty if its decision is not new."""
        if self._found is None:
            return {}
        try:
            _, row = self._found.rows(f"{type} {unit} {kind} {field}")
        except TypeError:
            return {}
        names = {"decision": "decision", "origin": "origin", "reason": "reason", "by": "decided_by"}
        return {name: row[column] for name, column in names.items()} if row else {}

    def close(self) -> None:
        if self._found:
            self._found.close()


def _fields(path: str, key: str, before: Any, after: Any, reasons: _Reasons) -> Iterator[FieldChange]:
    if before is None or after is None:
        return
    old, new = dict(_leaves(before)), dict(_leaves(after))
    for field in [*old, *(name for name in new if name not in old)]:
        if field == "input_text" or old.get(field) == new.get(field):
            continue  # M3's input_text repeats the texts of the inputs
        label, of = field, tuple[str, ...]()
        if path == "m3/level3.jsonl":
            label, of = _of_cluster(key, field)
        elif path == "abstracts/sentences.jsonl" and field in _SENTENCE:
            of = ("review", key.split(" ", 1)[0], "sentences", _SENTENCE[field])
        yield FieldChange(label, old.get(field, ""), new.get(field, ""), **(reasons.of(*of) if of else {}))


def _of_cluster(key: str, field: str) -> tuple[str, tuple[str, ...]]:
    """Return the name of a field of level 3 for people, and the type, unit, kind and field of its decision."""
    if field == "discourse_relation":
        return "relation", ("cluster", key, "discourse", "relation")
    match = _M3_FIELD.fullmatch(field)
    name = _M3.get(match["name"]) if match else None
    if match is None or name is None:
        return field, ()
    position = int(match["n"]) + 1 if match["n"] else 0
    label = f"input {position} {name}" if position else f"target {name}"
    return label, ("proposition", f"{key}/{position}", "label", name)


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each value of a row."""
    parts: Iterable[tuple[str, Any]]
    if isinstance(value, dict):
        parts = ((f"{path}.{name}" if path else name, each) for name, each in value.items())
    elif isinstance(value, list):
        parts = ((f"{path}[{n}]", each) for n, each in enumerate(value))
    else:
        yield path, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return
    for name, each in parts:
        yield from _leaves(each, name)


def in_words(change: RowChange, *, quotes: bool = True) -> str:
    """Return a change in one line: ``27096529_0: relation agreement -> contradiction (decision 7 by R0: reason)``.

    Without ``quotes`` only values of scales are printed, because a release may have to leave out texts.
    """
    if change.change != CHANGED:
        return f"{change.key}: {change.change}"
    fields = []
    for f in change.fields:
        is_shown = quotes or f.field.rpartition(" ")[2] in SCALES
        values = f"{_short(f.before)} -> {_short(f.after)}" if is_shown else "changed"
        fields.append(f"{f.field} {values}{_why(f)}")
    return f"{change.key}: {'; '.join(fields)}"


def _why(field: FieldChange) -> str:
    if not field.decision:
        return ""
    by = f" by {field.by}" if field.by else ""
    reason = f": {field.reason}" if field.reason and not is_hash(field.reason) else ""
    return f" (decision {field.decision}, {field.origin}{by}{reason})"


def _short(text: str, longest: int = 80) -> str:
    text = " ".join(text.split())
    return (text if len(text) <= longest else f"{text[:longest]}…") or "(empty)"
