"""The tables of the papers, made from the data base; one module each, listed by key."""

from .building import TableOf
from .m3_4 import OverlapTable
from .m3_6 import CopyingTable
from .m3_7 import ProbeTable
from .ms2 import DirectionTable
from .texts import TextsTable

_EVERY: tuple[TableOf, ...] = (OverlapTable(), CopyingTable(), ProbeTable(), DirectionTable(), TextsTable())
_TABLES: dict[str, TableOf] = {table.key: table for table in _EVERY}


def get(key: str) -> TableOf:
    """A table by its key; KeyError where there is none."""
    return _TABLES[key]


def every() -> tuple[TableOf, ...]:
    return _EVERY
