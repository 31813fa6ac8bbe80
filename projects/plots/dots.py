"""A dot and its interval for every row: one figure by system."""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from ..tables.writing import number
from .svg import Drawing, ticks, within

#: Names stand above their lines, whole: systems are often told apart by how their names end.
LEFT, RIGHT, WIDTH, LINE, TOP = 10.0, 290.0, 480.0, 46.0, 32.0
#: Where a name is longer it loses its middle.
LONGEST = 64
NOTE_LINE = 74


@dataclass(frozen=True)
class Dot:
    """``value`` is None exactly where ``undefined`` says why; ``ci`` may lack (a single review)."""

    name: str
    value: float | None
    ci: tuple[float, float] | None
    n: int
    undefined: str = ""


def dot_plot(title: str, note: str, dots: Sequence[Dot], *, decimals: int, palette: str) -> str:
    """An SVG file. The axis begins at 0 unless something lies below it, and holds every interval whole."""
    values = [v for dot in dots if dot.value is not None for v in (dot.value, *(dot.ci or ()))]
    marks = ticks(min(0.0, *values), max(values)) if values else ticks(0, 1)
    bottom = TOP + LINE * len(dots)
    notes, heading = wrap(note, NOTE_LINE), title if len(title) <= LONGEST else f"{title[: LONGEST - 1]}\u2026"
    drawing = Drawing(WIDTH, bottom + 48 + 16 * len(notes), palette)
    drawing.text(0, 20, heading, size=14)
    places = 0 if marks[1] - marks[0] >= 1 else 1 if marks[1] - marks[0] >= 0.1 else 2
    for mark in marks:
        drawing.text(within(mark, marks, LEFT, RIGHT), bottom + 18, number(mark, places), "quiet", "middle", 12)
    for i, dot in enumerate(dots):
        _row(drawing, dot, TOP + LINE * i, marks, decimals)
    for i, words in enumerate(notes):
        drawing.text(0, bottom + 44 + 16 * i, words, "quiet", size=12)
    return drawing.document(title, "; ".join(f"{dot.name}: {said(dot, decimals)}" for dot in dots) or "nothing yet")


def said(dot: Dot, decimals: int) -> str:
    if dot.value is None:
        return f"undefined: {dot.undefined}"
    ci = f" [{number(dot.ci[0], decimals)}, {number(dot.ci[1], decimals)}]" if dot.ci else ""
    return f"{number(dot.value, decimals)}{ci}, n = {dot.n}"


def _row(drawing: Drawing, dot: Dot, top: float, marks: Sequence[float], decimals: int) -> None:
    half = LONGEST // 2
    name = dot.name if len(dot.name) <= LONGEST else f"{dot.name[:half]}\u2026{dot.name[1 - half :]}"
    drawing.text(0, top + 17, name)
    y = top + 34
    drawing.line(LEFT, y, RIGHT, y)
    for mark in marks:
        x = within(mark, marks, LEFT, RIGHT)
        drawing.line(x, y - 8, x, y + 8)
    if dot.value is None:
        drawing.text(RIGHT + 16, y + 4, said(dot, decimals), "quiet", size=12)
        return
    if dot.ci:
        drawing.line(within(dot.ci[0], marks, LEFT, RIGHT), y, within(dot.ci[1], marks, LEFT, RIGHT), y, "mark", 2)
    drawing.dot(within(dot.value, marks, LEFT, RIGHT), y)
    drawing.text(RIGHT + 16, y + 4, said(dot, decimals), size=12)
