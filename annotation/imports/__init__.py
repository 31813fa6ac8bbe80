"""Bringing in published data sets: one module (or package) a format, in the folder `imports/` of any app."""

# Every import goes the same way (annotation.actions.imports): `Format.read` goes through the whole file and names all
# its faults; `Parsed.compare` sets aside the items that the project has already; `Parsed.lay_out` makes rows of the
# rest, which are written in one short transaction. What is odd but no fault becomes a notice and is kept as it is.

from .formats import Ask, Format, Level, Notice, Parsed
from .registry import choices, discover, every, get

__all__ = ["Ask", "Format", "Level", "Notice", "Parsed", "choices", "discover", "every", "get"]
