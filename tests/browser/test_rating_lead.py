"""A lead plans a rating round from shipped protocols, checks its balance, opens, closes and unblinds it."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_lead_path import nothing_for_axe
from tests.browser.test_rating import Rating
from tests.processes.site import Site

RATERS = ("Eva Evaluator", "Anna Annotator", "Ben Annotator")
SYSTEMS = ("Alder", "Birch", "Cedar", "Dogwood")
SLUG, CALIBRATED = "rated", "calibrated"
#: A project with systems that have summarised all clusters, and three raters.
PREPARED = """
from accounts.models import User
from projects.people.actions import add_member, create_project
from tests.evaluation.rating_rounds import SYSTEMS, build_runs
lead = User.objects.get(email='lead@example.org')
project = create_project(slug=SLUG, name='Rated', by=lead)
build_runs(project, clusters=CLUSTERS, systems=list(SYSTEMS)[:MANY])
for who in ('evaluator', 'ann1', 'ann2'):
    add_member(project=project, user=User.objects.get(email=f'{who}@example.org'), role='evaluator', by=lead)
"""
#: True effects plus noise for three simulated raters with different severities.
RATED = """
from accounts.models import User
from projects.models import Round
from tests.evaluation.rating_rounds import rate_all, rater_by_quality
round = Round.objects.get(pk=ROUND)
for n, who in enumerate(('evaluator', 'ann1', 'ann2')):
    rate_all(User.objects.get(email=f'{who}@example.org'), round, rater_by_quality(n, severity=0.3 * (n - 1)))
"""


def prepare(site: Site, slug: str, clusters: int, systems: int = 2) -> None:
    code = PREPARED.replace("SLUG", repr(slug)).replace("CLUSTERS", str(clusters)).replace("MANY", str(systems))
    site.manage("shell", "-v0", "-c", code)


def _narrow_and_wide(lead: Visit) -> None:
    """No horizontal scrolling and no axe violations, in both widths and schemes."""
    for width in (400, 1280):
        lead.page.set_viewport_size({"width": width, "height": 800})
        assert lead.page.evaluate("document.documentElement.scrollWidth") <= width
        nothing_for_axe(lead)


def _design(page: Page) -> str:
    return page.get_by_role("region", name="Design", exact=True).inner_text()


def test_a_lead_plans_opens_closes_and_unblinds_a_rating_round(site: Site, visit: Callable[..., Visit]) -> None:
    """30 clusters x 4 systems x 3 simulated raters with known effects, severity and noise."""
    prepare(site, SLUG, clusters=30, systems=4)
    lead = visit("lead")
    page = lead.page
    page.set_default_timeout(20_000)
    lead.go(f"/projects/{SLUG}/rounds/new")
    # Four actions with a shipped protocol: name, task, raters, open.
    page.get_by_label("Name", exact=True).fill("First ratings")
    page.get_by_label("Rate summaries").check()
    expect(page.get_by_label("reliability study")).to_be_checked()
    page.get_by_label("People per unit").fill("3")
    for who in RATERS:
        page.get_by_label(who).check()
    expect(page.get_by_role("region", name="Design", exact=True).locator("tbody tr")).to_have_count(4)
    expect(page.get_by_role("region", name="Design", exact=True)).to_contain_text("times at each position")
    _narrow_and_wide(lead)
    page.get_by_label("Alder").uncheck()
    expect(page.get_by_role("region", name="Design", exact=True).locator("tbody tr")).to_have_count(3)
    page.get_by_label("Reference summaries").check()
    for system in SYSTEMS[1:]:
        page.get_by_label(system).uncheck()
    # Errors are shown beside their field.
    summaries = page.locator("fieldset", has=page.get_by_label("Reference summaries"))
    expect(summaries.locator("xpath=..")).to_contain_text("systems of one level")
    for system in SYSTEMS:
        page.get_by_label(system).check()
    page.get_by_label("Reference summaries").uncheck()
    page.get_by_role("button", name="Open round").click()
    page.wait_for_url(re.compile(rf"/projects/{SLUG}/rounds/\d+$"))

    design = page.get_by_role("region", name="Design", exact=True)
    expect(design).to_contain_text("Alder, Birch, Cedar, Dogwood")
    expect(page.get_by_role("button", name="Unblind")).to_have_count(0)
    rater = visit("evaluator")
    expect(rater.page.locator("main")).to_contain_text("First ratings")

    # A run shows why its outputs are hidden, and that the embargo cannot be lifted now.
    run = page.request.get(f"{lead.address}/api/v1/projects/{SLUG}/systems/").json()["results"][0]
    address = page.url
    lead.go(f"/projects/{SLUG}/systems/{run['id']}")
    page.locator("a[href*='/systems/runs/']").first.click()
    expect(page.get_by_role("region", name="Hidden from")).to_contain_text("rated blindly in 'First ratings'")
    expect(page.get_by_role("button", name="Lift")).to_have_count(0)

    site.manage("shell", "-v0", "-c", RATED.replace("ROUND", address.rsplit("/", 1)[1]))
    page.goto(address)
    page.get_by_role("button", name="Close round …").click()
    page.get_by_role("button", name="Close round", exact=True).click()
    page.get_by_role("button", name="Unblind …").click()
    asked = page.get_by_role("dialog", name="Unblind round")
    expect(asked).to_contain_text("cannot be undone")
    nothing_for_axe(lead)
    asked.get_by_role("button", name="Unblind round").click()
    expect(design).to_contain_text("by Lea Lead")
    _narrow_and_wide(lead)
    design.get_by_role("link", name="Results").click()
    # A worker has computed the figures; the order is that of the effects, and neighbours differ.
    table = page.get_by_role("region", name="Table: Ratings of First ratings by system and criterion")
    rows = table.locator("tbody tr")
    expect(rows.locator("th")).to_have_text(["Alder", "Birch", "Cedar", "Dogwood"], timeout=120_000)
    letters = [rows.nth(n).get_by_role("cell").first.locator("sup").inner_text().split()[-1] for n in range(4)]
    assert letters == ["a", "b", "c", "d"]
    raters = page.get_by_role("region", name="Table: Raters of First ratings").locator("tbody tr")
    expect(raters).to_have_count(3)
    assert all("30" in row for row in raters.all_inner_texts())


def _opened(lead: Visit, name: str, person: str, address: str = "", **fields: str) -> int:
    """Plan and open a rating round and go to its page; return its id."""
    page = lead.page
    lead.go(address or f"/projects/{CALIBRATED}/rounds/new")
    page.get_by_label("Name", exact=True).fill(name)
    if not address:
        page.get_by_label("Rate summaries").check()
    if purpose := fields.pop("purpose", ""):
        page.get_by_label(purpose).first.check()
    if "Tolerance" in fields:
        page.get_by_text("Advanced: seed").click()
    for label, value in fields.items():
        field = page.get_by_label(label.replace("_", " "))
        field.select_option(label=value) if label.startswith("Required") else field.fill(value)
    page.get_by_label(person).check()
    page.get_by_role("button", name="Open round").click()
    page.wait_for_url(re.compile(rf"/projects/{CALIBRATED}/rounds/\d+$"))
    return int(page.url.rsplit("/", 1)[1])


@pytest.mark.long
def test_raters_are_calibrated_by_the_pages_alone(site: Site, visit: Callable[..., Visit]) -> None:
    """The lead's gold, practice with a pass mark and tolerance, feedback, and the round that requires it."""
    prepare(site, CALIBRATED, clusters=3)
    lead, rater = visit("lead"), visit("evaluator")
    page = lead.page
    page.set_default_timeout(20_000)
    gold = _opened(lead, "Gold pages", "Lea Lead", purpose="gold")
    Rating(lead, gold).open().through("5 4 1 Enter 5 4 1 Enter Enter " * 3).until_saved()
    lead.go(f"/projects/{CALIBRATED}/rounds/{gold}")
    page.get_by_role("button", name="Close round …").click()
    page.get_by_role("button", name="Close round", exact=True).click()
    confirm = page.get_by_role("button", name="Confirm 3 pages")
    for _ in range(120):
        # Decisions are formed by a worker.
        if confirm.count():
            break
        page.wait_for_timeout(500)
        lead.go(f"/projects/{CALIBRATED}/rounds/{gold}")
    page.get_by_label("Reason", exact=True).fill("Two studies say so.")
    confirm.click()
    expect(page.get_by_text("Confirmed.")).to_be_visible()
    expect(page.get_by_role("region", name="Gold for practice")).to_contain_text(
        "3 pages of this round can be used for practice"
    )
    _narrow_and_wide(lead)
    begins = page.get_by_role("link", name="New practice round with 3 pages").get_attribute("href") or ""
    practice = _opened(lead, "Practice", "Eva Evaluator", begins, **{"Pass mark": "60", "Tolerance": "1"})
    real = _opened(lead, "The round", "Eva Evaluator", Required_practice="Practice, 0 passed")

    rater.go(f"/work/{real}")
    expect(rater.page.locator("main")).to_contain_text("Practice")
    at = Rating(rater, practice).open().through("1 1 2 Enter 1 1 2 Enter Enter")
    expect(rater.page.get_by_text("Two studies say so.").first).to_be_visible()
    # One point off is correct here.
    next_button = at.page.get_by_label("Feedback").get_by_role("button", name="Next")
    for _ in range(2):
        expect(next_button).to_be_visible()
        at.page.keyboard.press("Enter")
        at.ready().through("5 5 1 Enter 5 5 1 Enter Enter")
    expect(next_button).to_be_visible()
    at.page.keyboard.press("Enter")
    expect(rater.page.get_by_text("Passed").first).to_be_visible()
    Rating(rater, real).open()
