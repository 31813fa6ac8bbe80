"""Rows of the release's CSV files: UTF-8, LF, texts exactly as they are stored."""

import csv
import io
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from projects.sheets.cells import flag as flag

BATCH = 1000


def line(cells: Iterable[Any]) -> bytes:
    """One row. A text with a carriage return makes the whole row quoted: bare, readers would take it for a line end."""
    cells = list(cells)
    out = io.StringIO()
    bare = any(isinstance(cell, str) and "\r" in cell for cell in cells)
    csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL if bare else csv.QUOTE_MINIMAL).writerow(cells)
    return out.getvalue().encode()


def time(value: datetime) -> str:
    """UTC to the microsecond, whatever the data base's own form."""
    return value.astimezone(UTC).isoformat(timespec="microseconds")
