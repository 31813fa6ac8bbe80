"""The columns of a round's sheet: which slot a row is, what it shows, what is asked, and the outs."""

from .. import kinds
from ..kinds import Column, Kind, Sheet
from ..models import Round

#: What names the slot and says what was on the table when the sheet was written. Not to be changed by hand.
KEYS = (Column("assignment", 11), Column("revision", 9), Column("shown", 7), Column("unit", 18))


def sheet_of(kind: Kind) -> Sheet:
    """The kind's sheet; ValueError for a kind that has none."""
    if kind.sheet is None:
        raise ValueError(f"{kind.title} cannot be done in a spreadsheet.")
    return kind.sheet


def outs(kind: Kind) -> tuple[Column, ...]:
    """What may be said instead of an answer, or beside it."""
    return (
        Column("skip", 14, tuple(r.code for r in kind.skip_reasons), "Instead of an answer: why it cannot be given."),
        Column("flag", 7, ("yes",), "'yes' sends the unit to the curator."),
        Column("comment", 40),
    )


def asked(kind: Kind) -> tuple[Column, ...]:
    """The columns that a person fills in."""
    return (*sheet_of(kind).asked, *outs(kind))


def columns(kind: Kind) -> tuple[Column, ...]:
    """All columns in order."""
    return (*KEYS, *sheet_of(kind).shown, *asked(kind))


def kind_of(round: Round) -> Kind:
    return kinds.get(round.kind)
