"""Encode cells, times and rows of the CSV files of a release."""

import csv
import io
from collections.abc import Iterable
from typing import Any

from projects.spreadsheets.cells import flag as flag

from ..sources.times import utc_time as utc_time

BATCH = 1000


def csv_row(cells: Iterable[Any]) -> bytes:
    """Return one row of a CSV file.

    If a text contains a carriage return, all cells are quoted. Otherwise readers would take it for a line end.
    """
    cells = list(cells)
    out = io.StringIO()
    bare = any(isinstance(cell, str) and "\r" in cell for cell in cells)
    csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL if bare else csv.QUOTE_MINIMAL).writerow(cells)
    return out.getvalue().encode()
