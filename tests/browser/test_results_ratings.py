"""Human evaluation in Results as a lead reads it: a closed round of four systems, from the table to a paper."""

import gzip
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Locator, Page, Response, expect

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
#: Widths of one column and of both columns in millimetres, and points of the smallest letters.
COLUMN_MM, BOTH_MM, LEAST_POINTS = 84.0, 174.0, 7.99
#: Scripts and styles of a first load, compressed.
RESULTS_MAY_WEIGH = 120_000
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
    loaded: dict[str, int] = {}

    def weigh(response: Response) -> None:
        if response.url.endswith((".js", ".css")):
            loaded[response.url] = len(gzip.compress(response.body()))

    page.on("response", weigh)
    lead.go(f"/projects/{SLUG}/results")

    # Ratings and metrics in one row, raised letters, best values in bold, sorting by a click; too few reviews for
    # intervals.
    table = page.get_by_role("region", name="Table: Ratings of First ratings by system and criterion")
    expect(table.get_by_role("columnheader")).to_contain_text(["People", "Metrics", "System", "Coherence", "Relevance"])
    rows = table.locator("tbody tr")
    expect(rows.locator("th")).to_have_count(4, timeout=120_000)
    assert sorted(rows.locator("th").all_inner_texts()) == ["Alder", "Birch", "Cedar", "Dogwood"]
    assert 20_000 < sum(loaded.values()) <= RESULTS_MAY_WEIGH, loaded
    page.remove_listener("response", weigh)
    best = rows.first.get_by_role("cell").first
    expect(best.locator("strong")).to_have_text(re.compile(r"^4\.\d\d$"))
    expect(best.locator("sup")).to_contain_text("a")
    expect(best.locator("small")).to_have_text("no interval")
    expect(page.get_by_text(re.compile(r"Coherence.*: no reliable interval \(few reviews")).first).to_be_visible()
    rouge = rows.first.get_by_role("cell").nth(3)
    expect(rouge).to_have_text(re.compile(r"\d+\.\d\s.*no interval"))
    table.get_by_role("button", name="ROUGE-1 F1").click()
    expect(table.get_by_role("columnheader", name="ROUGE-1 F1")).to_have_attribute("aria-sort", "descending")
    scores = [float(row.get_by_role("cell").nth(3).inner_text().split()[0]) for row in rows.all()]
    assert scores == sorted(scores, reverse=True)

    # Criteria side by side: each axis fits its data, and every pair has its p.
    intervals = page.get_by_role("table", name="Coherence by system", exact=True)
    expect(intervals.get_by_role("row", name=re.compile(r"^Alder 4\.\d\d"))).to_have_count(1)
    ticks = [float(tick) for tick in intervals.locator("tfoot text").all_text_contents()]
    values = [float(cell.split()[0].rstrip(",")) for cell in intervals.locator("td.value").all_inner_texts()]
    assert min(ticks) > 1
    assert max(ticks) - min(ticks) <= max(values) - min(values) + 0.5
    differences = page.get_by_role("table", name="Differences: Factual consistency", exact=True)
    expect(differences.get_by_role("columnheader")).to_have_count(3)
    assert differences.locator("td.different").count() >= 1, "what is significant is shaded"
    expect(differences.locator("td.different").first).to_have_text(re.compile(r"^\+\d+, significant, p [<.]"))
    expect(page.get_by_text(re.compile(r"\d of 6 pairs differ"))).to_have_count(3)
    finding = page.get_by_role("region", name="Finding")
    expect(finding).to_contain_text("Paired permutation tests over")
    finding.get_by_role("button", name="Copy LaTeX").click()
    expect(finding.get_by_text("Copied", exact=True)).to_be_visible()
    assert r"\textbf{Alder}" in page.evaluate("navigator.clipboard.readText()")

    # Exports: the table in three formats, and a figure that fits a paper's column.
    own = to_take(page, "Save as CSV", "Systems: ratings and metrics")
    assert "Coherence CI reason" in _taken(page, own, tmp_path)
    to_take(page, "Copy as LaTeX", "Systems: ratings and metrics").click()
    expect(page.get_by_text("Copied", exact=True)).not_to_have_count(0)
    assert r"\textbf{" in page.evaluate("navigator.clipboard.readText()")
    assert "Alder" in _taken(page, page.get_by_role("link", name="All ratings (CSV)"), tmp_path)
    for name in ("Factual consistency by system", "Differences: Factual consistency"):
        _fits(ElementTree.fromstring(_taken(page, to_take(page, "Save as SVG", name), tmp_path)), COLUMN_MM)
    everything = page.get_by_label("Include ratings excluded by the declared rules")
    before = rows.all_inner_texts()
    everything.check()
    page.wait_for_function("before => document.body.innerText.indexOf(before) < 0", arg=before[0])
    everything.uncheck()
    page.wait_for_function("before => document.body.innerText.indexOf(before) >= 0", arg=before[0])
    assert rows.all_inner_texts() == before
    _narrow_and_wide(lead)

    # A cell of the correlations selects the plotted points, at either level.
    pairs = page.get_by_role("region", name="Table: Metric-human correlation in First ratings")
    page.get_by_label("Coefficient").select_option("spearman")
    cell = pairs.get_by_role("button", name=re.compile("^ROUGE-L F1 and Relevance: "))
    expect(cell).to_have_text(re.compile(r"\d\.\d\d.*no interval"))
    cell.click()
    expect(cell).to_have_attribute("aria-pressed", "true")
    points = _drawing(page, "ROUGE-L F1 and Relevance")
    expect(points.locator("path.thin")).to_have_count(40)
    page.get_by_role("radio", name="Systems", exact=True).check()
    expect(points.locator("path.edged")).to_have_count(4)
    assert len(set(points.locator("path.edged").evaluate_all("all => all.map(e => e.getAttribute('fill'))"))) == 4
    _fits(ElementTree.fromstring(_taken(page, to_take(page, "Save as SVG", "ROUGE-L F1 and"), tmp_path)), COLUMN_MM)

    # The raters: severity and speed.
    severity = page.get_by_role("table", name="Severity of raters: Factual consistency", exact=True)
    expect(severity.locator("tbody tr")).to_have_count(2)
    expect(page.get_by_role("region", name="Table: Raters of First ratings").locator("tbody tr")).to_have_count(2)

    # Example summaries for an appendix, chosen by their ratings.
    page.get_by_role("combobox", name="Criterion").select_option("coherence")
    page.get_by_role("combobox", name="Rating").select_option("5")
    coherence = page.locator("article").first.locator("dt", has_text="Coherence").locator("+ dd")
    expect(coherence).to_contain_text(re.compile(r"\b5\b"))
    _narrow_and_wide(lead)


def _fits(root: ElementTree.Element, most: float) -> None:
    width = float(root.attrib["width"].removesuffix("mm"))
    assert width <= most
    points = width / float(root.attrib["viewBox"].split()[2]) / 25.4 * 72
    letters = [each for each in root.iter() if each.tag.endswith("}text") and "".join(each.itertext()).strip()]
    assert letters
    assert min(float(each.attrib["font-size"].removesuffix("px")) for each in letters) * points >= LEAST_POINTS


#: What must not be in print: visible controls, letters below 8 points, numbers in two lines, and blocks that do not fit
#: on a page (247 mm) although they are not to be split.
PRINT_FAULTS = """() => {
  const faults = [], seen = e => e.checkVisibility() && e.getClientRects().length && !e.closest('.hidden')
  const controls = 'nav, header, [role=tab], select, button:not(td button, th button), .button'
  for (const e of document.querySelectorAll(controls))
    if (seen(e)) faults.push('control ' + e.textContent.trim())
  const walk = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT)
  for (let node; (node = walk.nextNode()); ) {
    const of = node.parentElement, text = node.textContent.trim()
    if (!text || of.closest('title') || !seen(of)) continue
    const scale = of.closest('svg')?.getScreenCTM().a ?? 1
    if (parseFloat(getComputedStyle(of).fontSize) * scale * 0.75 < 7.95) faults.push('small ' + text)
    const range = document.createRange()
    for (const found of node.textContent.matchAll(/[^\\s]*\\d[\\d.,%\\]]*/g)) {
      range.setStart(node, found.index)
      range.setEnd(node, found.index + found[0].length)
      const lines = new Set([...range.getClientRects()].map(r => Math.round(r.top)))
      if (lines.size > 1) faults.push('broken ' + found[0])
    }
  }
  for (const e of document.querySelectorAll('figure, .intervals, tr, article'))
    if (e.getBoundingClientRect().height > 247 / 25.4 * 96) faults.push('high ' + e.textContent.slice(0, 40))
  for (const e of document.querySelectorAll('main *'))
    if (seen(e) && e.getBoundingClientRect().right > innerWidth + 1) faults.push('wide ' + e.outerHTML.slice(0, 60))
  return faults
}"""


@pytest.mark.usefixtures("told")
def test_results_and_agreement_print_as_a_light_report(visit: Callable[..., Visit]) -> None:
    """A4, 180 mm between the margins: from a dark page too."""
    lead = visit("lead", scheme="dark")
    page = lead.page
    rounds = page.request.get(f"{lead.address}/api/v1/projects/{SLUG}/ratings/").json()
    for path, ready in (
        ("results", page.get_by_role("table", name="Coherence by system", exact=True)),
        (f"rounds/{rounds[0]['round']}/agreement", page.get_by_role("table", name=re.compile("^Coefficients: ")).first),
    ):
        page.set_viewport_size({"width": 680, "height": 900})
        lead.go(f"/projects/{SLUG}/{path}")
        expect(ready).to_be_visible(timeout=120_000)
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        if path == "results":
            expect(page.get_by_role("button", name=re.compile("^ROUGE-L F1 and Relevance: .*[0-9]"))).to_be_visible()
        assert page.evaluate(PRINT_FAULTS) == [], path
        printed = page.pdf(prefer_css_page_size=True, print_background=True)
        assert 2 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 12, path
        page.emulate_media(media="screen", color_scheme="dark")
