"""The records of a file, one per PMID, in a temporary file on disk: the newest version may be the last in the file."""

import pickle
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from sql.temporary import temporary_database

from .record import Record

REPEATED = "record repeated in the file"
OLDER = "older version of a record"


class Item(NamedTuple):
    """A record of a file.

    ``reviews``: the reviews that include it, with the line that says so. ``skipped``: kind of notice and line of each
    other record with the same PMID.
    """

    record: Record
    reviews: Mapping[str, int]
    skipped: tuple[tuple[str, int], ...]


class Spool:
    """Records by PMID."""

    def __init__(self) -> None:
        self._rows = temporary_database(
            "CREATE TABLE records (number INTEGER PRIMARY KEY, pmid TEXT UNIQUE, version INTEGER,"
            " line INTEGER, row BLOB);"
            "CREATE TABLE reviews (pmid TEXT, review TEXT, line INTEGER, PRIMARY KEY (pmid, review)) WITHOUT ROWID;"
            "CREATE TABLE skipped (pmid TEXT, kind TEXT, line INTEGER);"
            "CREATE INDEX skipped_of ON skipped (pmid)"
        )

    def add(self, record: Record, reviews: Iterable[str], *, are_studies: bool) -> None:
        """Add a record. The newest version of each article is kept, and of equal versions the first."""
        found = self._rows.execute("SELECT version, line FROM records WHERE pmid = ?", (record.pmid,)).fetchone()
        row = pickle.dumps(record._replace(citations=dict(record.citations)))
        links = ((record.pmid, review, record.line) for review in reviews)
        added = self._rows.executemany("INSERT OR IGNORE INTO reviews VALUES (?, ?, ?)", links).rowcount
        if found is None:
            values = (record.pmid, record.version, record.line, row)
            self._rows.execute("INSERT INTO records (pmid, version, line, row) VALUES (?, ?, ?, ?)", values)
            return
        version, line = found
        if record.version > version:
            change = "UPDATE records SET version = ?, line = ?, row = ? WHERE pmid = ?"
            self._rows.execute(change, (record.version, record.line, row, record.pmid))
            self._skip(record.pmid, OLDER, line)
        elif record.version < version:
            self._skip(record.pmid, OLDER, record.line)
        elif not (are_studies and added > 0):
            self._skip(record.pmid, REPEATED, record.line)

    def _skip(self, pmid: str, kind: str, line: int) -> None:
        self._rows.execute("INSERT INTO skipped VALUES (?, ?, ?)", (pmid, kind, line))

    def remove(self, pmids: Iterable[str]) -> None:
        for table in ("records", "reviews", "skipped"):
            self._rows.executemany(f"DELETE FROM {table} WHERE pmid = ?", [(pmid,) for pmid in pmids])

    def __len__(self) -> int:
        count: int = self._rows.execute("SELECT count(*) FROM records").fetchone()[0]
        return count

    def count_reviews(self) -> int:
        count: int = self._rows.execute("SELECT count(DISTINCT review) FROM reviews").fetchone()[0]
        return count

    def items(self) -> Iterator[Item]:
        """Yield the records in the order of the file."""
        for pmid, row in self._rows.execute("SELECT pmid, row FROM records ORDER BY number"):
            of = (pmid,)
            reviews = self._rows.execute("SELECT review, line FROM reviews WHERE pmid = ? ORDER BY line, review", of)
            skipped = self._rows.execute("SELECT kind, line FROM skipped WHERE pmid = ? ORDER BY line", of)
            yield Item(pickle.loads(row), dict(reviews.fetchall()), tuple(skipped.fetchall()))
