"""A small writer of SVG: lines, dots and words in one of two palettes, with a title and a description.

Nothing but elements and presentation attributes: no script, no style sheet, no address, so that a strict policy shows
it and a file of its own looks alike anywhere.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

#: The colours of the pages (`frontend/src/style/tokens.css`): contrast of words and dots is 4.5 and more on the ground.
PALETTES: Mapping[str, Mapping[str, str]] = {
    "light": {"ground": "#ffffff", "ink": "#1d2228", "quiet": "#535b64", "grid": "#dddad2", "mark": "#1c5aa0"},
    "dark": {"ground": "#1b1f23", "ink": "#e3e1db", "quiet": "#a7afb7", "grid": "#30363c", "mark": "#8dbbf0"},
}
#: How large a unit is in print: 480 fill a column of 8.5 cm, and letters of 12, the smallest, come to 6 points.
UNIT_MM = 85 / 480
#: A column of a paper, and what a phone shows of a page: letters are of one size in both.
WIDE, NARROW = 480.0, 340.0
_FONT = "system-ui, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
#: What XML 1.0 has no place for.
_UNFIT = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Look:
    """For what a picture is drawn: which theme (a key of `PALETTES`), and whether for a phone."""

    palette: str = "light"
    is_narrow: bool = False

    @property
    def width(self) -> float:
        return NARROW if self.is_narrow else WIDE

    def of_width(self, wide: float) -> float:
        """What takes ``wide`` units, or characters, of a column takes so many of this look's width."""
        return wide * self.width / WIDE


class Drawing:
    """A picture that is drawn on element by element; sizes in user units, y grows downwards."""

    def __init__(self, width: float, height: float, look: Look) -> None:
        self.width, self.height = width, height
        self.colours = PALETTES[look.palette]
        self._parts: list[str] = []

    def line(self, x1: float, y1: float, x2: float, y2: float, colour: str = "grid", width: float = 1) -> None:
        self._add("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=self.colours[colour], stroke_width=width)

    def box(self, x: float, y: float, width: float, height: float) -> None:
        colours = {"fill": self.colours["ground"], "stroke": self.colours["quiet"]}
        self._add("rect", x=x + 0.5, y=y, width=width - 1, height=height, rx=3, **colours)

    def arrow(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """Across or down, with its head at the second point."""
        self.line(x1, y1, x2, y2, "quiet")
        for side in (-4, 4):
            back = (x2 - 6, y2 + side) if x2 > x1 else (x2 + side, y2 - 6)
            self.line(*back, x2, y2, "quiet")

    def dot(self, x: float, y: float, radius: float = 5) -> None:
        self._add("circle", cx=x, cy=y, r=radius, fill=self.colours["mark"])

    def text(
        self, x: float, y: float, words: str, colour: str = "ink", anchor: str = "start", size: float = 13
    ) -> None:
        self._add("text", words, x=x, y=y, fill=self.colours[colour], text_anchor=anchor, font_size=size)

    def document(self, title: str, description: str) -> str:
        """The whole file. Readers of screens get title and description; the parts are hidden from them."""
        ground = f'<rect width="100%" height="100%" fill="{self.colours["ground"]}"/>'
        size = (
            f'width="{self.width * UNIT_MM:.2f}mm" height="{self.height * UNIT_MM:.2f}mm" '
            f'viewBox="0 0 {self.width:g} {self.height:g}"'
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family={quoteattr(_FONT)}>\n'
            f"<title>{_clean(title)}</title>\n<desc>{_clean(description)}</desc>\n"
            f'<g aria-hidden="true">\n{ground}\n' + "\n".join(self._parts) + "\n</g>\n</svg>\n"
        )

    def _add(self, name: str, words: str | None = None, **attributes: float | str) -> None:
        said = " ".join(
            f"{key.replace('_', '-')}={quoteattr(value if isinstance(value, str) else _short(value))}"
            for key, value in attributes.items()
        )
        self._parts.append(f"<{name} {said}/>" if words is None else f"<{name} {said}>{_clean(words)}</{name}>")


def _short(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _clean(words: str) -> str:
    return escape(_UNFIT.sub("\ufffd", words))


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers from at or below ``low`` to at or above ``high``, in steps of 1, 2 or 5 times a power of 10."""
    span = high - low if high > low else max(abs(high), 1.0)
    raw = span / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil((low + span) / step - 1e-9)
    return [i * step for i in range(first, last + 1)]


def within(value: float, marks: Sequence[float], x0: float, x1: float) -> float:
    """Where a value lies between the first tick at ``x0`` and the last at ``x1``."""
    return x0 + (value - marks[0]) / (marks[-1] - marks[0]) * (x1 - x0)
