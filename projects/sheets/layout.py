"""The columns of a round's sheet: which slot a row is, what it shows, what is asked, and the outs."""

from .. import kinds
from ..kinds import Column, Kind, Sheet
from ..models import Round

#: What names the slot and says what was on the table when the sheet was written. Not to be changed by hand.
KEYS = (Column("assignment", 11), Column("revision", 9), Column("shown", 7), Column("unit", 18))


def sheet_of(round: Round) -> Sheet:
    """The sheet of a round; ValueError where its kind has none."""
    kind = kind_of(round)
    if (found := kind.sheet_of(round)) is None:
        raise ValueError(f"{kind.title} cannot be done in a spreadsheet.")
    return found


def outs(kind: Kind) -> tuple[Column, ...]:
    """What may be said instead of an answer, or beside it."""
    return (
        Column("skip", 14, tuple(r.code for r in kind.skip_reasons), "Instead of an answer: why it cannot be given."),
        Column("flag", 7, ("yes",), "'yes' sends the unit to the curator."),
        Column("comment", 40),
    )


def asked(round: Round) -> tuple[Column, ...]:
    """The columns that a person fills in."""
    return (*sheet_of(round).asked, *outs(kind_of(round)))


def left_out(round: Round) -> list[str]:
    """Columns that other rounds of the kind ask for: nothing is to stand in them."""
    names = {column.name for column in sheet_of(round).asked}
    usual = kind_of(round).sheet
    return [column.name for column in usual.asked if column.name not in names] if usual else []


def columns(round: Round) -> tuple[Column, ...]:
    """All columns in order."""
    return (*KEYS, *sheet_of(round).shown, *asked(round))


def kind_of(round: Round) -> Kind:
    return kinds.get(round.kind)
