"""Read the files of a release (JSON lines and CSV) row by row, and collect the results of comparisons."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: Maximum number of differences that are listed. Further ones are only counted.
MAX_LISTED = 200
#: Relative tolerance of floats, and absolute tolerance near 0. Machines and NumPy releases differ slightly.
RELATIVE, ABSOLUTE = 1e-9, 1e-12


class InvalidRelease(Exception):
    """A file is missing or has another format. The message is a sentence that begins with the file's name."""


@dataclass
class Findings:
    """Results of the comparison.

    ``equal`` counts the equal figures of each file. ``not_recomputed`` lists figures that could have been recomputed,
    with reasons. ``not_recomputable`` lists figures that need more than the folder, such as the weights of a model.
    """

    equal: Counter[str] = field(default_factory=Counter)
    not_recomputed: list[str] = field(default_factory=list)
    not_recomputable: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    #: Number of differences that are not listed.
    unlisted: int = 0

    def add_difference(self, sentence: str) -> None:
        if len(self.differences) < MAX_LISTED:
            self.differences.append(sentence)
        else:
            self.unlisted += 1

    def compare(self, file: str, subject: str, printed: Any, recomputed: Any) -> None:
        """Compare plain values recursively. Each number is one figure."""
        for path, printed_value, recomputed_value in _leaves("", printed, recomputed):
            if _is_equal(printed_value, recomputed_value):
                self.equal[file] += isinstance(printed_value, int | float) and not isinstance(printed_value, bool)
            else:
                values = f"printed {_short_repr(printed_value)}, recomputed {_short_repr(recomputed_value)}"
                self.add_difference(f"{file}: {subject}{path}: {values}")

    @property
    def count(self) -> int:
        return len(self.differences) + self.unlisted


class _Missing:
    """Placeholder for a value that one side lacks."""


_MISSING = _Missing()


def _leaves(path: str, printed_value: Any, recomputed_value: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(printed_value, dict) and isinstance(recomputed_value, dict):
        for key in dict.fromkeys([*printed_value, *recomputed_value]):
            yield from _leaves(f"{path}, {key}", printed_value.get(key, _MISSING), recomputed_value.get(key, _MISSING))
    elif isinstance(printed_value, list | tuple) and isinstance(recomputed_value, list | tuple):
        if len(printed_value) != len(recomputed_value):
            yield f"{path}, length", len(printed_value), len(recomputed_value)
        for number, (printed_item, recomputed_item) in enumerate(
            zip(printed_value, recomputed_value, strict=False), start=1
        ):
            yield from _leaves(f"{path}, {_name(printed_item) or number}", printed_item, recomputed_item)
    else:
        yield path, printed_value, recomputed_value


def _name(value: Any) -> str:
    """Return the name of a row in a list, or ""."""
    return str(value["name"]) if isinstance(value, dict) and isinstance(value.get("name"), str) else ""


def _is_equal(printed_value: Any, recomputed_value: Any) -> bool:
    numbers = all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in (printed_value, recomputed_value)
    )
    if numbers and (isinstance(printed_value, float) or isinstance(recomputed_value, float)):
        return math.isclose(printed_value, recomputed_value, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return type(printed_value) is type(recomputed_value) and bool(printed_value == recomputed_value)


def _short_repr(value: Any) -> str:
    if value is _MISSING:
        return "nothing"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


MANIFEST = "manifest.json"


class Folder:
    """An unpacked release. Files that the manifest does not list are ignored."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            manifest = json.loads((path / MANIFEST).read_bytes())
            self.manifest: dict[str, Any] = manifest
            self.name = f"{manifest['project']} {manifest['version']}"
            self.listed = {str(entry["path"]) for entry in manifest["files"]}
        except OSError as error:
            raise InvalidRelease(
                f"{MANIFEST}: cannot be read ({error.strerror}), so the folder is not a release"
            ) from None
        except (ValueError, KeyError, TypeError, RecursionError):
            raise InvalidRelease(f"{MANIFEST}: not a manifest of a release") from None

    def has(self, name: str) -> bool:
        return name in self.listed

    def text(self, name: str) -> str:
        """Return the text of a file, or "" if the release lacks it. Raise `InvalidRelease` if it is unreadable."""
        if not self.has(name):
            return ""
        try:
            return (self.path / name).read_text(encoding="utf-8")
        except OSError as error:
            raise InvalidRelease(f"{name}: cannot be read ({error.strerror})") from None
        except ValueError:
            raise InvalidRelease(f"{name}: not UTF-8 text") from None

    def json(self, name: str) -> dict[str, Any]:
        """Return the object of a JSON file. Raise `InvalidRelease` for an invalid file."""
        try:
            content = json.loads(self.text(name))
        except (ValueError, RecursionError):
            content = None
        if not isinstance(content, dict):
            raise InvalidRelease(f"{name}: not a JSON object")
        return content

    def lines(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield the objects of a JSON-lines file; none if the release does not have it.

        Raise `InvalidRelease` if it is invalid.
        """
        if not self.has(name):
            return
        try:
            with (self.path / name).open(encoding="utf-8", newline="\n") as file:
                for line in file:
                    content = json.loads(line)
                    if not isinstance(content, dict):
                        raise ValueError
                    yield content
        except OSError as error:
            raise InvalidRelease(f"{name}: cannot be read ({error.strerror})") from None
        except (ValueError, RecursionError):
            raise InvalidRelease(f"{name}: a line is not a JSON object in UTF-8") from None

    def rows(self, name: str) -> Iterator[dict[str, str]]:
        """Yield the rows of a CSV file, if the release has it. Raise `InvalidRelease` for an invalid file."""
        if not self.has(name):
            return
        try:
            with (self.path / name).open(encoding="utf-8", newline="") as file:
                reader = csv.reader(file, strict=True)
                columns = next(reader)
                for row in reader:
                    yield dict(zip(columns, row, strict=True))
        except OSError as error:
            raise InvalidRelease(f"{name}: cannot be read ({error.strerror})") from None
        except (ValueError, csv.Error, StopIteration):
            raise InvalidRelease(f"{name}: not a UTF-8 CSV whose rows have the columns of the header") from None
