"""A flow of counts: a box for every stage, an arrow to the next, and beside it what left there and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from .svg import Drawing

#: As wide as a column of a paper.
WIDTH, BOX, GAP, LINE, PADDING = 480.0, 226.0, 26.0, 17.0, 10.0
ASIDE = 254.0
#: Characters in a line of a box.
LONGEST = 29


@dataclass(frozen=True)
class Box:
    """``words`` with their count, the lines under it, and beside it what left, under a heading; printed as given."""

    words: str
    lines: Sequence[str] = ()
    aside: str = ""
    aside_lines: Sequence[str] = ()


def flow_chart(title: str, note: str, boxes: Sequence[Box], *, palette: str) -> str:
    """An SVG file."""
    texts = [(_wrapped(box.words, box.lines), _wrapped(box.aside, box.aside_lines)) for box in boxes]
    heights = [max(_height(main), _height(aside)) for main, aside in texts]
    notes = wrap(note, 70)
    top = 34.0
    bottom = top + sum(heights) + GAP * max(0, len(boxes) - 1)
    drawing = Drawing(WIDTH, bottom + 20 + 16 * len(notes), palette)
    drawing.text(0, 20, title, size=14)
    for n, ((main, aside), height) in enumerate(zip(texts, heights, strict=True)):
        if n:
            drawing.arrow(BOX / 2, top - GAP, BOX / 2, top)
        _box(drawing, 0, top, height, main)
        if aside:
            drawing.arrow(BOX, top + height / 2, ASIDE, top + height / 2)
            _box(drawing, ASIDE, top, height, aside)
        top += height + GAP
    for n, words in enumerate(notes):
        drawing.text(0, bottom + 22 + 16 * n, words, "quiet", size=12)
    return drawing.document(title, "; ".join(_said(box) for box in boxes) or "nothing yet")


def _wrapped(head: str, lines: Sequence[str]) -> list[tuple[str, str]]:
    """(line, colour) of a box; none where it has nothing to say."""
    # A count stays whole: textwrap breaks no line at a space that does not break.
    first = [(line, "ink") for line in wrap(head.replace(" = ", "\u00a0=\u00a0"), LONGEST)]
    return first + [(part, "quiet") for line in lines for part in wrap(line, LONGEST, subsequent_indent="  ")]


def _height(lines: Sequence[object]) -> float:
    return 2 * PADDING + LINE * len(lines) - 4


def _box(drawing: Drawing, x: float, top: float, height: float, lines: Sequence[tuple[str, str]]) -> None:
    drawing.box(x, top, BOX, height)
    for n, (words, colour) in enumerate(lines):
        drawing.text(x + PADDING, top + PADDING + 10 + LINE * n, words, colour)


def _said(box: Box) -> str:
    parts = f" ({', '.join(box.lines)})" if box.lines else ""
    gone = f", of which left: {box.aside} ({', '.join(box.aside_lines)})" if box.aside else ""
    return f"{box.words}{parts}{gone}"
