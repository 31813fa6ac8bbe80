"""A rating round at the lead's desk: planned from what ships, its balance seen, opened, closed and unblinded."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_lead_path import nothing_for_axe
from tests.processes.house import House

SLUG = "rated"
#: A project with two systems that have each summarised six clusters, and an evaluator.
PREPARED = f"""
from accounts.models import User
from projects.actions.people import add_member, create_project
from tests.evaluation.rating import build_runs
lead = User.objects.get(email='lead@example.org')
project = create_project(slug={SLUG!r}, name='Rated', by=lead)
build_runs(project, clusters=6, systems=('Alder', 'Birch'))
add_member(project=project, user=User.objects.get(email='evaluator@example.org'), role='evaluator', by=lead)
"""


def _narrow_and_wide(lead: Visit) -> None:
    """Nothing is wider than the page, and axe finds nothing, in both widths and schemes."""
    for width in (400, 1280):
        lead.page.set_viewport_size({"width": width, "height": 800})
        assert lead.page.evaluate("document.documentElement.scrollWidth") <= width
        nothing_for_axe(lead)


def _design(page: Page) -> str:
    return page.locator("section[aria-labelledby=design]").inner_text()


def test_a_lead_plans_opens_closes_and_unblinds_a_rating_round(house: House, visit: Callable[..., Visit]) -> None:
    house.manage("shell", "-v0", "-c", PREPARED)
    lead = visit("lead")
    page = lead.page
    page.set_default_timeout(20_000)
    lead.go(f"/projects/{SLUG}/rounds/new")
    # Four actions, from what ships: a name, the task, who rates, and off it goes.
    page.get_by_label("Name", exact=True).fill("First ratings")
    page.get_by_label("Rate summaries").check()
    expect(page.get_by_label("measure only")).to_be_checked()
    page.get_by_label("Eva").check()
    expect(page.locator("section[aria-labelledby=design] tbody tr")).to_have_count(2)
    assert "Each system comes 3 times at each place" in _design(page)
    _narrow_and_wide(lead)
    page.get_by_label("Alder").uncheck()
    expect(page.locator("section[aria-labelledby=design] tbody tr")).to_have_count(1)
    page.get_by_label("Reference summaries").check()
    page.get_by_label("Birch").uncheck()
    # What is wrong is said beside what it is about.
    expect(page.locator("fieldset", has_text="Summaries of").locator("xpath=..")).to_contain_text("runs of one level")
    page.get_by_label("Alder").check()
    page.get_by_label("Birch").check()
    page.get_by_label("Reference summaries").uncheck()
    page.get_by_role("button", name="Open round").click()
    page.wait_for_url(re.compile(rf"/projects/{SLUG}/rounds/\d+$"))

    design = page.locator("section[aria-labelledby=design]")
    expect(design).to_contain_text("Alder, Birch")
    expect(design.get_by_role("button", name="Unblind")).to_have_count(0)
    rater = visit("evaluator")
    expect(rater.page.locator("main")).to_contain_text("First ratings")

    # A run says why its outputs are hidden, and that nobody can lift that now.
    run = page.request.get(f"{lead.address}/api/v1/projects/{SLUG}/systems/").json()["results"][0]
    address = page.url
    lead.go(f"/projects/{SLUG}/systems/{run['id']}")
    page.locator("a[href*='/systems/runs/']").first.click()
    expect(page.locator("section[aria-labelledby=seals]")).to_contain_text("rated blindly in 'First ratings'")
    expect(page.get_by_role("button", name="Lift")).to_have_count(0)

    page.goto(address)
    page.get_by_role("button", name="Close round …").click()
    page.get_by_role("button", name="Close round", exact=True).click()
    page.get_by_role("button", name="Unblind …").click()
    asked = page.get_by_role("dialog", name="Unblind round")
    expect(asked).to_contain_text("cannot be taken back")
    nothing_for_axe(lead)
    asked.get_by_role("button", name="Unblind round").click()
    expect(design).to_contain_text("by Lea Lead")
    expect(design.get_by_role("link", name="Results")).to_be_visible()
    _narrow_and_wide(lead)
