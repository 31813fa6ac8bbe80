"""Figures: their specifications, and the files that commands render."""

import builtins
import json
from typing import Any
from xml.etree import ElementTree

import pytest
from django.core.management import CommandError, call_command

from projects.models import Project
from projects.reports.figures import Box, FlowChart, IntervalPlot, YearPlot, interval_plots
from projects.reports.rendering import Format, RendererMissing, render
from projects.reports.table import Cell, Column, Table

PLOT = IntervalPlot(
    "rouge-1",
    "ROUGE-1 F1",
    "Means. " * 30,
    [
        (f"{'A long name ' * 9}one", Cell(20.5, 1, (18.0, 23.0), n=381)),
        (f"{'A long name ' * 9}two", Cell(14.0, 1, ci_reason="few reviews", n=5)),
        ('<script>alert("1")</script> & \x08\ud800', Cell(None, undefined="not scored yet")),
    ],
)
FLOW = FlowChart(
    "flow",
    "How it came to be",
    "A note.",
    [
        Box("Found (n = 10)", ["from searches: 10"], "Excluded (n = 4)", ["Not relevant to the topic: 4"]),
        Box("Included (n = 6)"),
    ],
)
YEARS = YearPlot("years", "Years", "A note.", {"Reviews": [], "Studies": [(1993, 1), (2004, 4)]})
SVG = "{http://www.w3.org/2000/svg}"


def test_intervals_have_a_row_each_with_names_that_stay_apart() -> None:
    rows = PLOT.spec["data"]["values"]
    assert [(row["low"], row["value"], row["high"]) for row in rows] == [
        (18.0, 20.5, 23.0),
        (None, 14.0, None),
        (None, None, None),
    ]
    assert [row["text"] for row in rows] == [
        "20.5 [18.0, 23.0] (n = 381)",
        "14.0 (n = 5) no interval",
        "undefined: not scored yet",
    ]
    assert len({row["name"] for row in rows}) == 3
    assert PLOT.description.endswith("14.0 (n = 5) (few reviews); " + f"{PLOT.rows[2][0]}: undefined: not scored yet")


def test_a_table_has_a_plot_for_each_column_with_intervals() -> None:
    table = Table(
        "t",
        "Overlap",
        "Means.",
        [Column("System", False), Column("Level", False), Column("n"), Column("ROUGE-1")],
        [
            [Cell("Lead"), Cell("document"), Cell(3), Cell(20.5, 1, (18.0, 23.0))],
            [Cell("MMR"), Cell(""), Cell(3), Cell(None, undefined="not scored yet")],
        ],
    )
    [plot] = interval_plots(table)
    assert isinstance(plot, IntervalPlot)
    assert (plot.key, plot.title) == ("rouge-1", "Overlap: ROUGE-1")
    assert [name for name, _ in plot.rows] == ["Lead, document", "MMR"]


@pytest.mark.parametrize("figure", [PLOT, FLOW, YEARS], ids=["intervals", "flow", "years"])
@pytest.mark.parametrize(
    ("format", "begins"), [("svg", b"<svg"), ("pdf", b"%PDF"), ("png", b"\x89PNG"), ("vega", b"{")]
)
def test_a_figure_is_rendered_to_the_same_bytes_each_time(figure: Any, format: Format, begins: bytes) -> None:
    found = render(figure, format)
    assert found.startswith(begins)
    assert found == render(figure, format)


def test_a_rendered_figure_fills_a_column_and_holds_all_of_it() -> None:
    root = ElementTree.fromstring(render(PLOT, "svg"))
    assert 310 <= float(root.attrib["width"]) <= 325, "84 mm at 96 pixels per inch"
    assert len([path for path in root.iter(f"{SVG}path") if path.get("aria-roledescription") == "point"]) == 2
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert '<script>alert("1")</script> & ??' in texts, "characters that XML does not allow would end the process"
    assert min(float(t.attrib["font-size"].removesuffix("px")) for t in root.iter(f"{SVG}text")) >= 8, "6 points"
    boxes = ElementTree.fromstring(render(FLOW, "svg"))
    said = " ".join("".join(text.itertext()) for text in boxes.iter(f"{SVG}text"))
    assert all(part in said for part in ("Found (n\u00a0=\u00a010)", "Excluded (n\u00a0=\u00a04)", "Included"))


def without_renderer(name: str, *args: Any, _real: Any = builtins.__import__, **kwargs: Any) -> Any:
    if name == "vl_convert":
        raise ImportError(name)
    return _real(name, *args, **kwargs)


def test_without_the_renderer_the_chart_specification_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtins, "__import__", without_renderer)
    assert json.loads(render(FLOW, "vega")) == FLOW.spec
    with pytest.raises(RendererMissing, match=r"pip install -r requirements/figures\.txt"):
        render(FLOW, "svg")


@pytest.mark.django_db
def test_the_command_writes_figures_or_says_what_to_install(
    project: Project, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = {"project": project.slug, "table": ["flow"], "out": tmp_path}
    call_command("tables", format="svg", **asked)
    assert (tmp_path / "flow.svg").read_bytes().startswith(b"<svg")
    with pytest.raises(CommandError, match="--out"):
        call_command("tables", project=project.slug, format="pdf")
    monkeypatch.setattr(builtins, "__import__", without_renderer)
    call_command("tables", format="vega", **asked)
    assert json.loads((tmp_path / "flow.vl.json").read_text())["$schema"].endswith("vega-lite/v6.json")
    with pytest.raises(CommandError, match="pip install"):
        call_command("tables", format="png", **asked)
    capsys.readouterr()
