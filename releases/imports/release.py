"""Import M3's levels from a release without texts: each text is found in the sources by its SHA-256."""

import csv
import json
import sqlite3
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from annotation.formats.m3.records import JOIN
from annotation.formats.m3.stream import M3Stream
from annotation.imports.format import Format, Level
from annotation.imports.reading import Line
from api.problems import Refused
from projects.uploads.faults import Faults
from projects.uploads.files import Source

from ..folders.texts import hash_of, is_hash


class ReleaseWithoutTexts(Format):
    key = "release"
    title = "Release of Concord: M3's levels, with texts from their sources (folder)"
    levels = (Level("1", "document"), Level("2", "sentence"), Level("3", "proposition", ("clusters",)))
    streams = is_for_command = True

    def __init__(self, texts: Path | None = None) -> None:
        self._texts = texts

    def with_answers(self, about: Mapping[str, str]) -> Format:
        path = Path(about.get("source", ""))
        super().with_answers({key: value for key, value in about.items() if key != "source"})
        if not about.get("source") or not path.exists():
            raise Refused.field("source", "State the file or folder with the texts: --source PATH.")
        return ReleaseWithoutTexts(path)

    def files_of(self, folder: Path, level: str) -> list[Path]:
        levels = [each.key for each in self.levels if level in ("", each.key)]
        return [path for each in levels if (path := folder / "m3" / f"level{each}.jsonl").is_file()]

    def stream(self, level: str, name: str = "") -> M3Stream:
        return _Restored(level, self._texts)


class _Restored(M3Stream):
    """The items of a level with their texts. A text that no source has is a fault of its item."""

    def __init__(self, level: str, path: Path | None) -> None:
        super().__init__(level)
        self._path = path
        # An empty name: SQLite keeps the database in a file that it removes, and in memory only what fits its cache.
        self._db = sqlite3.connect("")
        self._db.execute("CREATE TABLE texts (hash TEXT PRIMARY KEY, text TEXT) WITHOUT ROWID")

    def begin(self, sources: Sequence[Source], faults: Faults) -> None:
        texts = _texts_in(self._path) if self._path else iter(())
        self._db.executemany("INSERT OR IGNORE INTO texts VALUES (?, ?)", ((hash_of(text), text) for text in texts))

    def restored(self, line: Line, file: str, faults: Faults) -> Line:
        try:
            row = json.loads(line.text)
            fault = partial(self._lacking, str(row["docid"]), partial(faults.add, file, line.number))
            self._restore(row, "target", "", fault)
            for n, study in enumerate(row["input_studies"]):
                self._restore(study, "source", f"input_studies[{n}].", fault)
            joined = JOIN.join(study["source_text"] for study in row["input_studies"])
            if row["input_text"] == hash_of(joined):
                row["input_text"] = joined
        except (ValueError, KeyError, TypeError, AttributeError):
            return line  # M3's reader reports what is wrong
        return line._replace(text=json.dumps(row, ensure_ascii=False))

    def _restore(self, row: dict[str, Any], side: str, path: str, fault: Any) -> None:
        text = f"{side}_text"
        for name in (text, f"{side}_modality_span", f"{side}_direction_span"):
            if is_hash(row.get(name, "")):
                # A corrected cue is in no source, but in its text.
                found = self._find(row[name]) or (name != text and _part_of(row[text], row[name])) or None
                if found is None:
                    fault(f"{path}{name}")
                else:
                    row[name] = found

    def _find(self, hash: str) -> str | None:
        found = self._db.execute("SELECT text FROM texts WHERE hash = ?", (hash,)).fetchone()
        return found and str(found[0])

    @staticmethod
    def _lacking(docid: str, add: Any, field: str) -> None:
        add(field, f"{docid}: no text of the source has the SHA-256 of the release")


def _part_of(text: str, hash: str) -> str | None:
    """Return the part of a text with this hash."""
    ends = range(1, len(text) + 1)
    return next((text[at:end] for end in ends for at in range(end) if hash_of(text[at:end]) == hash), None)


def _texts_in(path: Path) -> Iterator[str]:
    """Yield each string of the JSON lines, and each cell of the CSV files, of a file or folder."""
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.suffix not in (".jsonl", ".csv") or not file.is_file():
            continue
        try:
            with file.open(encoding="utf-8-sig", newline="") as lines:
                if file.suffix == ".csv":
                    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
                    yield from (cell for cells in csv.reader(lines) for cell in cells)
                else:
                    yield from (text for line in lines for text in _strings(json.loads(line)))
        except (OSError, ValueError, csv.Error) as error:
            raise Refused.field("source", f"{file} cannot be read: {error}.") from None


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)
