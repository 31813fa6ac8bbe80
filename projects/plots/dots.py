"""A dot and its interval for every row: one figure by system."""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from ..tables.writing import number
from .svg import Drawing, Look, ticks, within

TOP = 32.0
#: Characters in a line of names and of the note, in a column of a paper.
NAME_LINE, NOTE_LINE = 64, 74


@dataclass(frozen=True)
class Row:
    """Where things stand in the row of one system. Names stand above their lines, whole where they can: systems are
    often told apart by how their names end, so that a longer one loses its middle."""

    left: float
    right: float
    height: float
    #: What is said of the dot, below the row's top.
    said_at: tuple[float, float]
    longest: int


def row_of(look: Look) -> Row:
    """What is said of a dot stands beside its line, or below it where there is no room."""
    longest = int(look.of_width(NAME_LINE))
    if look.is_narrow:
        return Row(10, look.width - 14, 64, (0, 57), longest)
    return Row(10, 276, 46, (290, 38), longest)


@dataclass(frozen=True)
class Dot:
    """``value`` is None exactly where ``undefined`` says why; ``ci`` may lack (a single review)."""

    name: str
    value: float | None
    ci: tuple[float, float] | None
    n: int
    undefined: str = ""


def dot_plot(title: str, note: str, dots: Sequence[Dot], look: Look, *, decimals: int) -> str:
    """An SVG file. The axis begins at 0 unless something lies below it, and holds every interval whole."""
    values = [v for dot in dots if dot.value is not None for v in (dot.value, *(dot.ci or ()))]
    marks = ticks(min(0.0, *values), max(values)) if values else ticks(0, 1)
    row = row_of(look)
    bottom = TOP + row.height * len(dots)
    notes = wrap(note, int(look.of_width(NOTE_LINE)))
    heading = title if len(title) <= row.longest else f"{title[: row.longest - 1]}\u2026"
    drawing = Drawing(look.width, bottom + 48 + 16 * len(notes), look)
    drawing.text(0, 20, heading, size=14)
    places = 0 if marks[1] - marks[0] >= 1 else 1 if marks[1] - marks[0] >= 0.1 else 2
    for mark in marks:
        drawing.text(within(mark, marks, row.left, row.right), bottom + 18, number(mark, places), "quiet", "middle", 12)
    for i, dot in enumerate(dots):
        _draw(drawing, row, dot, TOP + row.height * i, marks, decimals)
    for i, words in enumerate(notes):
        drawing.text(0, bottom + 44 + 16 * i, words, "quiet", size=12)
    return drawing.document(title, "; ".join(f"{dot.name}: {said(dot, decimals)}" for dot in dots) or "nothing yet")


def said(dot: Dot, decimals: int) -> str:
    if dot.value is None:
        return f"undefined: {dot.undefined}"
    ci = f" [{number(dot.ci[0], decimals)}, {number(dot.ci[1], decimals)}]" if dot.ci else ""
    return f"{number(dot.value, decimals)}{ci}, n = {dot.n}"


def _without_middle(name: str, longest: int) -> str:
    half = longest // 2
    return name if len(name) <= longest else f"{name[:half]}\u2026{name[half + 1 - longest :]}"


def _draw(drawing: Drawing, row: Row, dot: Dot, top: float, marks: Sequence[float], decimals: int) -> None:
    drawing.text(0, top + 17, _without_middle(dot.name, row.longest))
    y = top + 34
    drawing.line(row.left, y, row.right, y)
    for mark in marks:
        x = within(mark, marks, row.left, row.right)
        drawing.line(x, y - 8, x, y + 8)
    x, below = row.said_at
    drawing.text(x, top + below, said(dot, decimals), "quiet" if dot.value is None else "ink", size=12)
    if dot.value is None:
        return
    if dot.ci:
        ends = [within(end, marks, row.left, row.right) for end in dot.ci]
        drawing.line(ends[0], y, ends[1], y, "mark", 2)
    drawing.dot(within(dot.value, marks, row.left, row.right), y)
