"""The files of a release, read as scripts read them: JSON lines and CSV, a row at a time."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from measures.again.findings import Unusable

MANIFEST = "manifest.json"


class Folder:
    """An unpacked release. What its manifest does not list is not looked at."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            manifest = json.loads((path / MANIFEST).read_bytes())
            self.name = f"{manifest['project']} {manifest['version']}"
            self.listed = {str(entry["path"]) for entry in manifest["files"]}
        except OSError as error:
            raise Unusable(f"{MANIFEST}: it cannot be read ({error.strerror}), so this is no release") from None
        except (ValueError, KeyError, TypeError, RecursionError):
            raise Unusable(f"{MANIFEST}: it is no manifest of a release") from None

    def has(self, name: str) -> bool:
        return name in self.listed

    def lines(self, name: str) -> Iterator[dict[str, Any]]:
        """The objects of a file of JSON lines; nothing where the release has no such file. Raises `Unusable`."""
        if not self.has(name):
            return
        try:
            with (self.path / name).open(encoding="utf-8", newline="\n") as file:
                for line in file:
                    found = json.loads(line)
                    if not isinstance(found, dict):
                        raise ValueError
                    yield found
        except OSError as error:
            raise Unusable(f"{name}: it cannot be read ({error.strerror})") from None
        except (ValueError, RecursionError):
            raise Unusable(f"{name}: a line of it is no JSON object in UTF-8") from None

    def rows(self, name: str) -> Iterator[dict[str, str]]:
        """The rows of a CSV file by column; nothing where the release has no such file. Raises `Unusable`."""
        if not self.has(name):
            return
        try:
            with (self.path / name).open(encoding="utf-8", newline="") as file:
                reader = csv.reader(file, strict=True)
                columns = next(reader)
                for row in reader:
                    yield dict(zip(columns, row, strict=True))
        except OSError as error:
            raise Unusable(f"{name}: it cannot be read ({error.strerror})") from None
        except (ValueError, csv.Error, StopIteration):
            raise Unusable(f"{name}: it is no CSV in UTF-8 whose rows have the columns of its header") from None
