"""Text in cells. A spreadsheet program takes a cell that begins like a formula for one; ours never does.

What people open in a spreadsheet is *neutralised*: an apostrophe before a text that would be run. Reading takes exactly
that apostrophe away again, so that every text comes back as it went out. Data files (JSON lines, the answers of a
release) are exact and never neutralised: they are read by programs (docs/decisions).
"""

#: What a formula begins with in the usual programs, full-width forms and the two characters that shift cells included.
#: The apostrophe itself is among them, so that taking one away is always right.
_RUNS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20", "'")


def neutral(text: str) -> str:
    """The text as it is put into a cell that people open."""
    return f"'{text}" if text.startswith(_RUNS) else text


def restored(cell: str) -> str:
    """The text that `neutral` was given."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_RUNS) else cell


def flag(value: bool) -> str:
    """Yes or no, as data files and tables that are brought in have it."""
    return "true" if value else "false"
