"""Human evaluation in Results as a lead reads it: a closed round of four systems, from the table to a paper."""

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_lead_path import nothing_for_axe
from tests.browser.work_page import to_take
from tests.processes.site import Site

SLUG = "told"
#: Four systems with known quality; one rater fails one attention check; with ROUGE.
PREPARED = f"""
from django.core.management import call_command
from accounts.models import User
from projects.people.actions import add_member, create_project
from projects.models import Round
from tests.evaluation.rating_rounds import build_runs, close_rating_round, rater_by_quality
lead = User.objects.get(email='lead@example.org')
project = create_project(slug={SLUG!r}, name='Told', by=lead)
raters = [User.objects.get(email=f'{{who}}@example.org') for who in ('evaluator', 'ann1')]
for user in raters:
    add_member(project=project, user=user, role='evaluator', by=lead)
options = {{'checks': 50, 'exclude_checks': 0}}
runs = build_runs(project, clusters=10, tail=lambda n: ' Relapse was rare.' * (n % 3))
call_command('score', '--project', {SLUG!r}, '--metric', 'rouge')
# Whatever texts the secret degrades: one rater misses no check, the other one some, and is left out by the rule.
choose = lambda n: rater_by_quality(n, degraded='' if n == 0 else 'Alder')
close_rating_round(project, lead, raters, runs, choose=choose, name='First ratings', options=options)
call_command('compute_ratings', '--project', {SLUG!r})
"""
#: In print: millimetres per unit, and points of the smallest letters.
COLUMN_MM, LEAST_POINTS = 85.0, 6.0
#: Drawings adapt to the available width after a moment.
DRAWN_WHOLE = """() => [...document.querySelectorAll('figure > .frame')]
  .every((e) => innerWidth < 400 || e.scrollWidth <= e.clientWidth + 1)"""


@pytest.fixture(scope="module")
def told(site: Site) -> None:
    site.manage("shell", "-v0", "-c", PREPARED)


def _narrow_and_wide(lead: Visit) -> None:
    """No horizontal scrolling and no axe violations, in both widths and schemes."""
    for width in (320, 400, 1280):
        lead.page.set_viewport_size({"width": width, "height": 800})
        assert lead.page.evaluate("document.documentElement.scrollWidth") <= width
        lead.page.wait_for_function(DRAWN_WHOLE)
        if width != 320:
            nothing_for_axe(lead)


def _drawing(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=f"Figure: {name}", exact=True).locator("svg")


def _taken(page: Page, link: Locator, folder: Path) -> str:
    with page.expect_download() as taken:
        link.click()
    taken.value.save_as(folder / taken.value.suggested_filename)
    return (folder / taken.value.suggested_filename).read_text()


@pytest.mark.usefixtures("told")
def test_a_lead_reads_rating_results_and_exports_them(visit: Callable[..., Visit], tmp_path: Path) -> None:
    lead = visit("lead")
    page = lead.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    lead.go(f"/projects/{SLUG}/results")

    # Ratings and metrics in one row, raised letters, best values in bold, sorting by a click; too few reviews for
    # intervals.
    table = page.get_by_role("region", name="Table: Ratings of First ratings by system and criterion")
    expect(table.get_by_role("columnheader")).to_contain_text(["People", "Metrics", "System", "Coherence", "Relevance"])
    rows = table.locator("tbody tr")
    expect(rows.locator("th")).to_have_text(["Alder", "Birch", "Cedar", "Dogwood"], timeout=120_000)
    best = rows.first.get_by_role("cell").first
    expect(best.locator("strong")).to_have_text(re.compile(r"^4\.\d\d$"))
    expect(best.locator("sup")).to_contain_text("a")
    expect(best.locator("small")).to_have_text("no interval")
    expect(page.get_by_text(re.compile(r"Coherence.*: no reliable interval \(few reviews")).first).to_be_visible()
    rouge = rows.first.get_by_role("cell").nth(3)
    expect(rouge).to_have_text(re.compile(r"\d+\.\d\s.*no interval"))
    table.get_by_role("button", name="ROUGE-1 F1").click()
    expect(table.get_by_role("columnheader", name="ROUGE-1 F1")).to_have_attribute("aria-sort", "descending")
    assert rows.locator("th").all_inner_texts() != ["Alder", "Birch", "Cedar", "Dogwood"]

    # One criterion at a time: the axis is its whole scale, and every pair has its p.
    dots = _drawing(page, "Coherence by system")
    expect(dots).to_have_attribute("aria-label", re.compile(r"^Alder: 4\.\d\d .*a; Birch: "))
    assert dots.locator("text.quiet").all_text_contents()[:5] == ["1", "2", "3", "4", "5"]
    page.get_by_role("radio", name="Factual consistency").check()
    differences = _drawing(page, "Differences: Factual consistency")
    expect(differences).to_have_attribute("aria-label", re.compile(r"Alder minus Dogwood: \d+, p [=<] \.\d+"))
    assert differences.locator("rect.ramp").count() >= 1, "what is significant is shaded"
    expect(page.get_by_text(re.compile(r"\d of 6 pairs differ"))).to_be_visible()

    # Exports: the table in three formats, and a figure that fits a paper's column.
    own = to_take(page, "Save as CSV", "Systems: ratings and metrics")
    assert "Coherence CI reason" in _taken(page, own, tmp_path)
    to_take(page, "Copy as LaTeX", "Systems: ratings and metrics").click()
    expect(page.get_by_text("Copied", exact=True)).to_be_visible()
    assert r"\textbf{" in page.evaluate("navigator.clipboard.readText()")
    assert "Alder" in _taken(page, page.get_by_role("link", name="All ratings (CSV)"), tmp_path)
    for name in ("Factual consistency by system", "Differences: Factual consistency"):
        _fits_a_column(ElementTree.fromstring(_taken(page, to_take(page, "Save as SVG", name), tmp_path)))
    everything = page.get_by_label("Include ratings excluded by the declared rules")
    before = rows.all_inner_texts()
    everything.check()
    page.wait_for_function("before => document.body.innerText.indexOf(before) < 0", arg=before[0])
    everything.uncheck()
    page.wait_for_function("before => document.body.innerText.indexOf(before) >= 0", arg=before[0])
    assert rows.all_inner_texts() == before
    _narrow_and_wide(lead)

    # A cell of the correlations selects the plotted points, at either level.
    page.get_by_role("radio", name="Metric-human correlation").check()
    expect(page).to_have_url(re.compile("part=metrics"))
    pairs = page.get_by_role("region", name="Table: Metric-human correlation in First ratings")
    page.get_by_label("Coefficient").select_option("spearman")
    cell = pairs.get_by_role("button", name=re.compile("^ROUGE-L F1 and Relevance: "))
    expect(cell).to_have_text(re.compile(r"\d\.\d\d.*no interval"))
    cell.click()
    expect(cell).to_have_attribute("aria-pressed", "true")
    points = _drawing(page, "ROUGE-L F1 and Relevance")
    expect(points.locator("path.thin")).to_have_count(40)
    page.get_by_role("radio", name="Systems").check()
    expect(points.locator("path.edged")).to_have_count(4)
    assert len(set(points.locator("path.edged").evaluate_all("all => all.map(e => e.getAttribute('fill'))"))) == 4
    _fits_a_column(ElementTree.fromstring(_taken(page, to_take(page, "Save as SVG", "ROUGE-L F1 and"), tmp_path)))
    _narrow_and_wide(lead)

    # The raters: severity and speed.
    page.get_by_role("radio", name="Raters", exact=True).check()
    expect(_drawing(page, "Severity of raters: Factual consistency")).to_have_attribute("aria-label", re.compile(r"; "))
    expect(page.get_by_role("region", name="Table: Raters of First ratings").locator("tbody tr")).to_have_count(2)

    # Example summaries for an appendix, chosen by their ratings.
    page.get_by_role("radio", name="Examples").check()
    page.get_by_role("combobox", name="Criterion").select_option("coherence")
    page.get_by_role("combobox", name="Rating").select_option("5")
    coherence = page.locator("article").first.locator("dt", has_text="Coherence").locator("+ dd")
    expect(coherence).to_contain_text(re.compile(r"\b5\b"))
    _narrow_and_wide(lead)


def _fits_a_column(root: ElementTree.Element) -> None:
    width = float(root.attrib["width"].removesuffix("mm"))
    assert width <= COLUMN_MM
    points = width / float(root.attrib["viewBox"].split()[2]) / 25.4 * 72
    letters = [each for each in root.iter() if each.tag.endswith("}text") and "".join(each.itertext()).strip()]
    assert letters
    assert min(float(each.attrib["font-size"].removesuffix("px")) for each in letters) * points >= LEAST_POINTS
