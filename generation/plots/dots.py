"""A dot and its interval for every row: one figure by system."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..tables.writing import number
from .svg import Drawing, ticks, within

LEFT, RIGHT, WIDTH, LINE, TOP = 300.0, 640.0, 860.0, 30.0, 44.0
#: Names are cut so that they end before the axis.
LONGEST = 44


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
    drawing = Drawing(WIDTH, bottom + 60, palette)
    drawing.text(0, 20, title, size=15)
    places = 0 if marks[1] - marks[0] >= 1 else 1 if marks[1] - marks[0] >= 0.1 else 2
    for mark in marks:
        x = within(mark, marks, LEFT, RIGHT)
        drawing.line(x, TOP - 8, x, bottom)
        drawing.text(x, bottom + 18, number(mark, places), "quiet", "middle", 12)
    for i, dot in enumerate(dots):
        _row(drawing, dot, TOP + LINE * i + LINE / 2, marks, decimals)
    drawing.text(0, bottom + 48, note, "quiet", size=12)
    return drawing.document(title, "; ".join(f"{dot.name}: {said(dot, decimals)}" for dot in dots) or "nothing yet")


def said(dot: Dot, decimals: int) -> str:
    if dot.value is None:
        return f"undefined: {dot.undefined}"
    ci = f" [{number(dot.ci[0], decimals)}, {number(dot.ci[1], decimals)}]" if dot.ci else ""
    return f"{number(dot.value, decimals)}{ci}, n = {dot.n}"


def _row(drawing: Drawing, dot: Dot, y: float, marks: Sequence[float], decimals: int) -> None:
    name = dot.name if len(dot.name) <= LONGEST else f"{dot.name[: LONGEST - 1]}\u2026"
    drawing.text(0, y + 4, name)
    if dot.value is None:
        drawing.text(LEFT + 8, y + 4, said(dot, decimals), "quiet")
        return
    if dot.ci:
        drawing.line(within(dot.ci[0], marks, LEFT, RIGHT), y, within(dot.ci[1], marks, LEFT, RIGHT), y, "mark", 2)
    drawing.dot(within(dot.value, marks, LEFT, RIGHT), y)
    drawing.text(RIGHT + 16, y + 4, said(dot, decimals), size=12)
