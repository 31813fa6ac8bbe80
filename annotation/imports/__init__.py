"""Bringing in published data sets: one module (or package) a format, listed here by name.

Every import goes the same way (annotation.actions.imports): `Format.read` goes through the whole file and names all
its faults; `Parsed.compare` sets aside the items that the project has already; `Parsed.insert` writes the rest in the
caller's one short transaction. What is odd but no fault becomes a notice and is kept as it is.
"""

from .counterfactuals import Counterfactuals
from .formats import Format
from .m3 import M3

FORMATS: dict[str, Format] = {format.key: format for format in (M3(), Counterfactuals())}

__all__ = ["FORMATS"]
