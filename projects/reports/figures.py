"""Figures of tables as Vega-Lite specifications. Each figure is built next to its table."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from textwrap import wrap
from typing import Any

from django.utils.text import slugify

from .table import Cell, Table
from .writing import words

Spec = dict[str, Any]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
#: In pixels of 1/96 inch. A figure fills a column of a paper (84 mm); text of 10.7 pixels prints at 8 points.
WIDTH, PADDING = 301, 8
SMALL, NORMAL = 10.7, 11
#: The first font is part of the renderer, so that its output does not depend on the machine's fonts.
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
INK, QUIET, GRID, MARK = "#1d2228", "#535b64", "#dddad2", "#1c5aa0"
#: Characters in a line of the title, in a line of the note, and in a name or reason above its interval.
TITLE_LINE, NOTE_LINE, NAME_LINE = 48, 55, 32
#: Characters that XML does not allow. They make the renderer abort the process.
_INVALID = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class IntervalPlot:
    """A dot and an interval for each named cell. The axis includes 0."""

    key: str
    title: str
    note: str
    rows: Sequence[tuple[str, Cell]]

    @property
    def description(self) -> str:
        return "; ".join(f"{name}: {_text(cell)}" for name, cell in self.rows) or "no figures"

    @cached_property
    def spec(self) -> Spec:
        """The Vega-Lite specification, with its data."""
        y = {"field": "row", "type": "ordinal", "axis": None}
        x = {
            "field": "value",
            "type": "quantitative",
            "title": None,
            "scale": {"zero": True, "nice": True},
            "axis": {"tickCount": 5, "grid": True, "domain": False, "ticks": False},
        }
        text = {"type": "text", "baseline": "middle", "yOffset": -10, "fontSize": NORMAL}
        layers = [
            {
                "mark": {"type": "rule", "yOffset": 5, "strokeWidth": 1.5, "color": MARK},
                "encoding": {"x": x | {"field": "low"}, "x2": {"field": "high"}, "y": y},
            },
            {
                "mark": {"type": "point", "yOffset": 5, "filled": True, "size": 40, "opacity": 1, "color": MARK},
                "encoding": {"x": x, "y": y},
            },
            {"mark": text | {"align": "left"}, "encoding": {"x": {"value": 0}, "y": y, "text": {"field": "name"}}},
            {
                "mark": text | {"align": "right", "fontSize": SMALL, "color": QUIET},
                "encoding": {"x": {"value": WIDTH}, "y": y, "text": {"field": "text"}},
            },
        ]
        data = {"values": [_row(i, name, cell) for i, (name, cell) in enumerate(self.rows)]}
        return _document(self, {"data": data, "height": {"step": 38}, "layer": layers})


@dataclass(frozen=True)
class Box:
    """One stage of a flow chart.

    ``words`` includes the count. ``lines`` are printed below it. ``aside`` is what left this stage, and
    ``aside_lines`` are the reasons.
    """

    words: str
    lines: Sequence[str] = ()
    aside: str = ""
    aside_lines: Sequence[str] = ()


@dataclass(frozen=True)
class FlowChart:
    """A flow chart: a box for each stage, an arrow to the next one, and a box for what left the stage."""

    key: str
    title: str
    note: str
    boxes: Sequence[Box]

    #: Width of a box and left edge of the second column; gap between boxes; height of a line; inner padding.
    BOX, ASIDE, GAP, LINE, INNER = 142, 159, 17, 14, 6
    #: Characters in a line of a box.
    BOX_LINE = 23

    @property
    def description(self) -> str:
        return "; ".join(map(_stage_text, self.boxes)) or "no stages"

    @cached_property
    def spec(self) -> Spec:
        """The Vega-Lite specification: rectangles, lines of text and arrows at computed positions."""
        boxes: list[Spec] = []
        texts: list[Spec] = []
        arrows: list[Spec] = []
        top = 0
        for n, box in enumerate(self.boxes):
            columns = [(0, self._lines(box.words, box.lines)), (self.ASIDE, self._lines(box.aside, box.aside_lines))]
            height = 2 * self.INNER + self.LINE * max(len(lines) for _, lines in columns)
            if n:
                x = self.BOX // 2
                arrows.append({"x": x, "y": top - self.GAP, "x2": x, "y2": top - 2, "shape": "triangle-down"})
            if columns[1][1]:
                y = top + height // 2
                arrows.append({"x": self.BOX, "y": y, "x2": self.ASIDE - 2, "y2": y, "shape": "triangle-right"})
            for x, lines in columns:
                if lines:
                    boxes.append({"x": x, "y": top, "x2": x + self.BOX, "y2": top + height})
                for i, (line, colour) in enumerate(lines):
                    y = top + self.INNER + self.LINE * i + self.LINE // 2
                    texts.append({"x": x + self.INNER, "y": y, "text": line, "colour": colour})
            top += height + self.GAP
        height = max(top - self.GAP, 1)
        at = {"x": _position("x", [0, WIDTH]), "y": _position("y", [height, 0])}
        to = {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
        ends = {"x": at["x"] | {"field": "x2"}, "y": at["y"] | {"field": "y2"}}
        filled = {"field": "colour", "type": "nominal", "scale": None}
        shape = {"field": "shape", "type": "nominal", "scale": None}
        layers = [
            {
                "data": {"values": boxes},
                "encoding": at | to,
                "mark": {"type": "rect", "fill": "white", "stroke": QUIET, "strokeWidth": 0.7, "cornerRadius": 2},
            },
            {
                "data": {"values": arrows},
                "encoding": at | to,
                "mark": {"type": "rule", "color": QUIET, "strokeWidth": 0.7},
            },
            {
                "data": {"values": arrows},
                "encoding": ends | {"shape": shape},
                "mark": {"type": "point", "filled": True, "size": 16, "opacity": 1, "color": QUIET},
            },
            {
                "data": {"values": texts},
                "encoding": at | {"text": {"field": "text"}, "color": filled},
                "mark": {"type": "text", "align": "left", "baseline": "middle", "fontSize": NORMAL},
            },
        ]
        return _document(self, {"height": height, "layer": layers})

    def _lines(self, head: str, lines: Sequence[str]) -> list[tuple[str, str]]:
        """Return (line, colour) for each line of a box. Empty if the box has no text."""
        # textwrap does not break at a no-break space, so a count stays with its last word.
        first = [(line, INK) for line in wrap(head.replace(" = ", "\u00a0=\u00a0"), self.BOX_LINE)]
        below = [re.sub(r": (?=[\d,]+$)", ":\u00a0", line) for line in lines]
        return first + [(part, QUIET) for line in below for part in wrap(line, self.BOX_LINE, subsequent_indent="  ")]


@dataclass(frozen=True)
class YearPlot:
    """Counts by year: a panel of bars for each series, with its own scale."""

    key: str
    title: str
    note: str
    #: (year, count) by name of the series.
    series: Mapping[str, Sequence[tuple[int, int]]]

    @property
    def description(self) -> str:
        named = (
            f"{name}: {', '.join(f'{year}: {n}' for year, n in rows)}" for name, rows in self.series.items() if rows
        )
        return "; ".join(named) or "no years"

    @cached_property
    def spec(self) -> Spec:
        """The Vega-Lite specification, with its data."""
        years = [year for rows in self.series.values() for year, _ in rows] or [0]
        x = {
            "field": "year",
            "type": "quantitative",
            "title": None,
            "scale": {"domain": [min(years) - 1, max(years) + 1], "nice": False, "zero": False},
            "axis": {"format": "d", "tickMinStep": 1, "tickCount": 6, "grid": False},
        }
        y = {"field": "count", "type": "quantitative", "title": None, "axis": {"tickCount": 4}}
        panel = {"field": "series", "type": "nominal", "sort": None, "title": None}
        values = [{"series": name, "year": year, "count": n} for name, rows in self.series.items() for year, n in rows]
        content = {
            "data": {"values": values},
            # The labels of the axes are beside the panels.
            "width": WIDTH - 60,
            "height": 80,
            "mark": {"type": "bar", "width": 3, "color": MARK},
            "encoding": {"x": x, "y": y, "row": panel | {"header": {"labelFontSize": NORMAL, "labelColor": INK}}},
            "resolve": {"scale": {"y": "independent"}},
        }
        return _document(self, content)


Figure = IntervalPlot | FlowChart | YearPlot


def interval_plots(table: Table) -> list[Figure]:
    """Return a plot for each column that has intervals, or reasons why they are withheld."""
    labels = [at for at, column in enumerate(table.columns) if not column.numeric]
    plots: list[Figure] = []
    for at, column in enumerate(table.columns):
        cells = [row[at] for row in table.rows]
        if not any(cell.ci or cell.ci_reason for cell in cells):
            continue
        rows = [
            (", ".join(str(row[i].value) for i in labels if row[i].value), row[at])
            for row in table.rows
            if not isinstance(row[at].value, str)
        ]
        plots.append(IntervalPlot(slugify(column.title), f"{table.title}: {column.title}", table.caption, rows))
    return plots


def _document(figure: Figure, content: Spec) -> Spec:
    title = {
        "text": wrap(figure.title, TITLE_LINE) or "",
        "subtitle": wrap(figure.note, NOTE_LINE),
        "anchor": "start",
        "frame": "group",
        "color": INK,
        "subtitleColor": QUIET,
        "fontSize": 12,
        "subtitleFontSize": SMALL,
        # Use one font weight only: with two fonts the PDF is not reproducible, because their order varies.
        "fontWeight": "normal",
    }
    config = {
        "font": FONT,
        "view": {"stroke": None},
        "text": {"color": INK},
        "axis": {"labelFontSize": SMALL, "labelColor": QUIET, "gridColor": GRID, "gridWidth": 0.6},
    }
    spec = {
        "$schema": SCHEMA,
        "description": f"{figure.title}. {figure.description}",
        "title": title,
        "width": WIDTH,
        "padding": PADDING,
        "background": "white",
        "config": config,
        **content,
    }
    cleaned: Spec = _without_invalid(spec)
    return cleaned


def _without_invalid(value: Any) -> Any:
    if isinstance(value, str):
        return _INVALID.sub("?", value)
    if isinstance(value, Mapping):
        return {key: _without_invalid(each) for key, each in value.items()}
    return [_without_invalid(each) for each in value] if isinstance(value, list | tuple) else value


def _position(field: str, domain: Sequence[float]) -> Spec:
    scale = {"domain": domain, "nice": False, "zero": False}
    return {"field": field, "type": "quantitative", "axis": None, "scale": scale}


def _row(number: int, name: str, cell: Cell) -> Spec:
    low, high = cell.ci or (None, None)
    text = _text(cell) if cell.value is not None else _shortened(_text(cell))
    # The reason is in the note, because it does not fit next to the name.
    text = text.replace(f"({cell.ci_reason})", "no interval") if cell.ci_reason else text
    return {"row": number, "name": _shortened(name), "value": cell.value, "low": low, "high": high, "text": text}


def _text(cell: Cell) -> str:
    if cell.value is None:
        return f"undefined: {cell.undefined}"
    return f"{words(cell)} ({cell.ci_reason})" if cell.ci_reason else words(cell)


def _shortened(text: str) -> str:
    """Shorten to `NAME_LINE` characters by cutting the middle, because system names often differ at their ends."""
    half = NAME_LINE // 2
    return text if len(text) <= NAME_LINE else f"{text[:half]}\u2026{text[half + 1 - NAME_LINE :]}"


def _stage_text(box: Box) -> str:
    parts = f" ({', '.join(box.lines)})" if box.lines else ""
    excluded = f", of which left: {box.aside} ({', '.join(box.aside_lines)})" if box.aside else ""
    return f"{box.words}{parts}{excluded}"
