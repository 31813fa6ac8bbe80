"""The tables of the papers, made from the data base; one module each, listed by key."""

from .building import TableOf
from .m3_4 import OverlapTable
from .m3_6 import CopyingTable
from .m3_7 import ProbeTable
from .m3_7_wide import CommonProbeTable, WideProbeTable
from .ms2 import DirectionTable
from .pairs import PairsTable, ProbePairsTable
from .texts import TextsTable

_EVERY: tuple[TableOf, ...] = (
    OverlapTable(), PairsTable("m3-4", "Two by two: overlap with the target", ("rouge", "bertscore")),
    CopyingTable(), PairsTable("m3-6", "Two by two: copying from the inputs", ("copying",)),
    ProbeTable(), WideProbeTable(), CommonProbeTable(), ProbePairsTable(), DirectionTable(), TextsTable(),
)  # fmt: skip
_TABLES: dict[str, TableOf] = {table.key: table for table in _EVERY}


def get(key: str) -> TableOf:
    """A table by its key; KeyError where there is none."""
    return _TABLES[key]


def every() -> tuple[TableOf, ...]:
    return _EVERY
