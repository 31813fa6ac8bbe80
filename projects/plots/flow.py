"""A flow of counts: a box for every stage, an arrow to the next, and beside it what left there and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from .svg import Drawing, Look

#: In a column of a paper: what is narrower has its share of it.
BOX, ASIDE = 226.0, 254.0
GAP, LINE, PADDING = 26.0, 17.0, 10.0
#: Characters in a line of the title and of the note; how wide one is in a box.
HEAD_LINE, NOTE_LINE, LETTER = 62, 70, 7.0


@dataclass(frozen=True)
class Box:
    """``words`` with their count, the lines under it, and beside it what left, under a heading; printed as given."""

    words: str
    lines: Sequence[str] = ()
    aside: str = ""
    aside_lines: Sequence[str] = ()


def flow_chart(title: str, note: str, boxes: Sequence[Box], look: Look) -> str:
    """An SVG file."""
    width, aside_at = look.of_width(BOX), look.of_width(ASIDE)
    longest = int((width - 2 * PADDING) / LETTER)
    texts = [(_wrapped(box.words, box.lines, longest), _wrapped(box.aside, box.aside_lines, longest)) for box in boxes]
    heights = [max(_height(main), _height(aside)) for main, aside in texts]
    notes = wrap(note, int(look.of_width(NOTE_LINE)))
    headings = wrap(title, int(look.of_width(HEAD_LINE)))
    top = 16.0 + 18 * len(headings)
    bottom = top + sum(heights) + GAP * max(0, len(boxes) - 1)
    drawing = Drawing(look.width, bottom + 20 + 16 * len(notes), look)
    for n, words in enumerate(headings):
        drawing.text(0, 20 + 18 * n, words, size=14)
    for n, ((main, aside), height) in enumerate(zip(texts, heights, strict=True)):
        if n:
            drawing.arrow(width / 2, top - GAP, width / 2, top)
        _box(drawing, 0, top, (width, height), main)
        if aside:
            drawing.arrow(width, top + height / 2, aside_at, top + height / 2)
            _box(drawing, aside_at, top, (width, height), aside)
        top += height + GAP
    for n, words in enumerate(notes):
        drawing.text(0, bottom + 22 + 16 * n, words, "quiet", size=12)
    return drawing.document(title, "; ".join(_said(box) for box in boxes) or "nothing yet")


def _wrapped(head: str, lines: Sequence[str], longest: int) -> list[tuple[str, str]]:
    """(line, colour) of a box; none where it has nothing to say."""
    # A count stays whole: textwrap breaks no line at a space that does not break.
    first = [(line, "ink") for line in wrap(head.replace(" = ", "\u00a0=\u00a0"), longest)]
    return first + [(part, "quiet") for line in lines for part in wrap(line, longest, subsequent_indent="  ")]


def _height(lines: Sequence[object]) -> float:
    return 2 * PADDING + LINE * len(lines) - 4


def _box(drawing: Drawing, x: float, top: float, size: tuple[float, float], lines: Sequence[tuple[str, str]]) -> None:
    drawing.box(x, top, *size)
    for n, (words, colour) in enumerate(lines):
        drawing.text(x + PADDING, top + PADDING + 10 + LINE * n, words, colour)


def _said(box: Box) -> str:
    parts = f" ({', '.join(box.lines)})" if box.lines else ""
    gone = f", of which left: {box.aside} ({', '.join(box.aside_lines)})" if box.aside else ""
    return f"{box.words}{parts}{gone}"
