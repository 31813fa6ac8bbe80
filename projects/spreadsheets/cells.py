"""Text in cells: protection against formulas, numbers, and missing values.

Files for spreadsheet programs are *neutralised*: a text that would run as a formula gets a leading apostrophe. Reading
one of Concord's own files removes exactly that apostrophe, so that every text is restored. In other files an
apostrophe is text. Data files (JSON lines, the answers of a release) are read by programs and never neutralised.
"""

import re
from math import isfinite

#: Characters that start a formula in common programs, including full-width forms and characters that shift cells.
#: The apostrophe is included, so that removing one is always correct.
_RUNS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20", "'")
_NUMBER = re.compile(r"[-+\u2212]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][-+]?\d{1,3})?", re.ASCII)
#: Values that programs write for a missing value. "n/a" and "NA" are excluded, because raters use them as answers.
_MISSING = ("nan", "-nan", "<na>", "#n/a", "null")
#: Values that spreadsheet programs write for a failed formula.
_ERRORS = ("#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!")


def neutral(text: str) -> str:
    """Return the neutralised text for a cell of a spreadsheet."""
    return f"'{text}" if text.startswith(_RUNS) else text


def restored(cell: str) -> str:
    """Return the original text of a cell that `neutral` wrote."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_RUNS) else cell


def number(cell: str) -> float | None:
    """Return the finite number of a cell, or None. Accepts ASCII digits with a decimal point or comma."""
    text = cell.strip()
    value = float(text.replace(",", ".").replace("\u2212", "-")) if _NUMBER.fullmatch(text) else None
    return value if value is not None and isfinite(value) else None


def number_text(value: float) -> str:
    """Return a number as text with the 15 digits that spreadsheet programs store. Zero has no sign.

    An integer beyond the range of these programs is infinite.
    """
    try:
        return f"{value + 0.0:.15g}"
    except OverflowError:
        return "inf" if value > 0 else "-inf"


def has_decimal_comma(cell: str) -> bool:
    return "," in cell and number(cell) is not None


def is_missing(cell: str) -> bool:
    """Return whether a cell contains a missing value as programs write it, such as ``nan``."""
    return cell.strip().casefold() in _MISSING


def is_error(cell: str) -> bool:
    """Return whether a cell contains the error of a failed formula."""
    return cell.strip() in _ERRORS


def column_name(cell: str) -> str:
    """Return a column name in lower case with normalised spaces."""
    return " ".join(cell.replace("\ufeff", "").split()).casefold()


def flag(value: bool) -> str:
    """Return "true" or "false", as in data files and imported tables."""
    return "true" if value else "false"
