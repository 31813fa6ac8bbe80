"""The Results page: missing scores are computed by a button, tables fill, and everything can be exported."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_lead_path import nothing_for_axe
from tests.browser.work_page import to_take
from tests.processes.site import Site, until

RESULTS = "/projects/sample/results"
#: Longer than any scoring here, on a busy machine.
SOON = 60_000


@pytest.fixture(scope="module")
def summaries(site: Site) -> None:
    """A system whose summaries were created by command."""
    site.manage(
        "shell",
        "-v0",
        "-c",
        "from projects.models import Project; from generation.systems.actions import create_system, make_version;"
        "p = Project.objects.get(slug='sample'); lead = p.members.filter(role='lead').first().user;"
        "s = create_system(project=p, name='Lead & two', description='', by=lead);"
        "make_version(system=s, config={'backend': 'extractive', 'decoding': {'sentences': 2}}, note='', by=lead)",
    )
    site.manage("generate", "--project", "sample", "--system", "Lead & two")


@pytest.mark.usefixtures("summaries")
def test_a_lead_scores_missing_runs_and_downloads_the_table(visit: Callable[..., Visit], tmp_path: Path) -> None:
    lead = visit("lead")
    page = lead.page
    lead.go(RESULTS)
    missing = page.get_by_role("region", name="Missing from Overlap")
    page.get_by_role("button", name="Score missing").click()
    table = page.get_by_role("region", name="Table: Overlap")
    row = table.get_by_role("row", name="Lead & two")
    expect(row.get_by_role("cell").nth(4)).to_have_text(re.compile(r"^\d+\.\d"), timeout=SOON)
    expect(missing.get_by_text("Missing: ROUGE of")).to_have_count(0)
    expect(missing.get_by_text(re.compile(r"Missing: BERTScore of .*Lead & two \(proposition\)"))).to_be_visible()
    nothing_for_axe(lead)
    with page.expect_download() as taken:
        to_take(page, "Save as CSV", "Overlap").click()
    taken.value.save_as(tmp_path / "table.csv")
    assert taken.value.suggested_filename == "sample-m3-4.csv"
    figure = re.findall(r"^\d+\.\d", row.get_by_role("cell").nth(4).inner_text())[0]
    line = next(line for line in (tmp_path / "table.csv").read_text().splitlines() if line.startswith("Lead & two"))
    assert f"{float(line.split(',')[5]):.1f}" == figure
    # A finding without a test says so; each column has its own axis, and files fit a paper at any width of the page.
    finding = page.get_by_role("region", name="Finding")
    if finding.count():
        expect(finding).to_contain_text("Descriptive")
    name = "Overlap with the target (M3, Table 4): ROUGE-1"
    drawn = page.get_by_role("table", name=name, exact=True)
    expect(drawn.get_by_role("row", name=re.compile(f"Lead & two.*{re.escape(figure)}"))).to_have_count(1)
    page.set_viewport_size({"width": 400, "height": 800})
    for way, ending in (("Save as SVG", "svg"), ("Save as SVG, dark", "dark.svg"), ("Save as Vega-Lite", "vl.json")):
        with page.expect_download() as taken:
            to_take(page, way, name).click()
        taken.value.save_as(tmp_path / f"plot.{ending}")
    assert 'width="83.96mm"' in (tmp_path / "plot.svg").read_text()
    assert "rgb(27, 31, 35)" in (tmp_path / "plot.dark.svg").read_text()
    names = [row["name"] for row in json.loads((tmp_path / "plot.vl.json").read_text())["data"]["values"]]
    assert any("Lead & two" in each for each in names)


@pytest.mark.long
@pytest.mark.usefixtures("summaries")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_single_summaries_can_be_sorted_and_missing_scores_requested(visit: Callable[..., Visit], scheme: str) -> None:
    lead = visit("lead", scheme=scheme)
    page = lead.page
    lead.go(RESULTS)
    page.get_by_text("Custom scoring").click()
    form = page.locator("form").filter(has=page.get_by_label("Metric"))
    form.get_by_label("Metric").select_option("copying")
    form.get_by_label("ROUGE against").select_option("best")
    form.get_by_role("button", name="by Copying").click()
    page.get_by_role("tab", name="Copying").click()
    expect(page).to_have_url(re.compile(r"view=m3-6"))
    row = page.get_by_role("region", name="Table: Copying").get_by_role("row", name="Lead & two")
    # An extractive system copies everything.
    expect(row.get_by_role("cell").nth(6)).to_contain_text("100.0", timeout=SOON)
    page.locator("summary", has_text="Single summaries").click()
    single = page.get_by_role("region", name="Table: Scores of single summaries")
    page.get_by_role("combobox", name="By").select_option("copying")
    expect(page).to_have_url(re.compile("by=copying"))
    page.reload()
    sort = single.get_by_role("button", name="ROUGE-1 recall against inputs")
    sort.click()
    expect(single.get_by_role("columnheader", name="ROUGE-1 recall against inputs")).to_have_attribute(
        "aria-sort", "descending"
    )

    def values() -> list[float]:
        cells = single.locator("tbody tr td:nth-child(6)").all_inner_texts()
        return [float(cell) for cell in cells if cell[:1].isdigit()]

    # The header shows the order at once; the rows come from the server.
    until(lambda: len(values()) > 2 and values() == sorted(values(), reverse=True), "the rows are sorted", 20)
    nothing_for_axe(lead)
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.long
@pytest.mark.usefixtures("summaries")
def test_systems_stand_two_by_two_below_their_table_and_are_called_as_they_read(
    site: Site, visit: Callable[..., Visit]
) -> None:
    site.manage(
        "shell",
        "-v0",
        "-c",
        "from projects.models import Project; from generation.systems.actions import create_system, make_version;"
        "p = Project.objects.get(slug='sample'); lead = p.members.filter(role='lead').first().user;"
        "s = create_system(project=p, name='First & one', description='', by=lead);"
        "make_version(system=s, config={'backend': 'extractive', 'decoding': {'sentences': 1}}, note='', by=lead)",
    )
    site.manage("generate", "--project", "sample", "--system", "First & one")
    site.manage("score", "--project", "sample", "--metric", "rouge")
    lead = visit("lead")
    page = lead.page
    lead.go(f"{RESULTS}?view=m3-4")
    pairs = page.get_by_role("region", name="Table: Pairwise differences: overlap")
    expect(pairs.get_by_role("row", name="ROUGE-1 F1")).to_contain_text("First & one")
    expect(page.get_by_role("tab")).to_have_text(["Overlap", "Copying", "Probe", "Direction", "Texts", "Data"])
    nothing_for_axe(lead)
    # Voice control uses the visible text of buttons.
    only = {"runOnly": {"type": "rule", "values": ["label-content-name-mismatch"]}}
    assert Axe().run(page, options=only).response["violations"] == []
    with page.expect_download() as taken:
        to_take(page, "Save as CSV", "Pairwise differences: overlap with the target").click()
    assert taken.value.suggested_filename == "sample-m3-4-pairs.csv"
