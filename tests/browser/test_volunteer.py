"""A volunteer on a tablet: from the link to the last of eight propositions, by touch only."""

import re
import uuid
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import unnamed_controls, violations
from tests.browser.work_page import SETTLED, open_round
from tests.processes.site import Site

UNITS = 8
TEXTS = [f"Nepralin had no significant association with relapse in study {n}." for n in range(1, UNITS + 1)]
SMALL = """() => [...document.querySelectorAll('button, a, summary, label:has(input), select')]
  .filter(e => e.checkVisibility() && !e.closest('.prose') && !e.hasAttribute('aria-hidden'))
  .map(e => [e.textContent.trim(), Math.round(e.getBoundingClientRect().height)]).filter(([, high]) => high < 44)"""


@pytest.fixture
def tablet(visit: Callable[..., Visit]) -> Callable[[], Visit]:
    """A touch device without stored data."""
    return lambda: visit(width=820, height=1180, touch=True)


def links_of(lead: Visit, slug: str, round: int) -> None:
    lead.go(f"/projects/{slug}/rounds/{round}")
    lead.page.locator("summary", has_text="Create links").click()


def address_of(page: Page, label: str) -> str:
    return page.get_by_label(label).input_value()


def take(page: Page, link: str) -> None:
    """Open a link, consent, and wait for the first proposition."""
    page.goto(link)
    expect(page.get_by_role("heading", name="Withdrawing")).to_be_visible()
    page.get_by_role("button", name="Agree and start").tap()


def say(page: Page, cue: bool) -> None:
    """Answer a proposition: with cues by tapping words, or with values and Next."""
    page.wait_for_selector("[role=listbox]")
    page.wait_for_timeout(SETTLED)
    before = page.locator("[role=listbox]").text_content()
    if cue:
        page.locator("#w2").tap()  # no
        page.locator("#w4").tap()  # ... to association
    page.get_by_label("no effect").tap()
    page.get_by_label("moderate").tap()
    if not cue:
        expect(page.get_by_text("No polarity cue")).to_be_visible()
        page.get_by_role("button", name="Next").tap()
    gone = "text => document.querySelector('[role=listbox]')?.textContent !== text"
    page.wait_for_function(gone, arg=before)


def test_a_volunteer_labels_on_a_tablet_in_two_sittings_and_the_lead_sees_it(
    visit: Callable[..., Visit], tablet: Callable[[], Visit], site: Site
) -> None:
    slug = f"take-{uuid.uuid4().hex[:8]}"
    round = open_round(site, slug, TEXTS)
    lead = visit("lead")
    links_of(lead, slug, round)
    lead.page.get_by_label("Labels, one per line").fill("Volunteer 1")
    lead.page.get_by_role("button", name="Create 1 link").click()
    link = address_of(lead.page, "Link of Volunteer 1")
    assert re.match(rf"{re.escape(site.address)}/take#\S{{20,}}$", link)
    assert violations(lead) + unnamed_controls(lead) == []

    first = tablet()
    take(first.page, link)
    first.page.wait_for_url(f"{site.address}/work/{round}")
    first.page.get_by_role("button", name="Skip").tap()
    for n in range(UNITS // 2):
        say(first.page, cue=n % 2 == 0)
        if n == 0:
            assert first.page.evaluate(SMALL) == [], "targets lower than 44 px"
    expect(first.page.locator(".saved")).to_have_text(re.compile(r"^Saved \d\d:\d\d:\d\d$"))
    first.page.context.close()

    second = tablet()
    second.page.goto(link)
    second.page.get_by_role("button", name="Continue").tap()
    for n in range(UNITS // 2):
        say(second.page, cue=n % 2 == 0)
    expect(second.page.get_by_role("heading", name="All done")).to_be_visible(timeout=20_000)
    second.page.get_by_role("link", name="My work", exact=True).last.tap()
    expect(second.page.get_by_text("All done for now. Thank you")).to_be_visible()
    expect(second.page.get_by_role("heading", name="Projects")).to_have_count(0)
    assert violations(second) + unnamed_controls(second) == []

    lead.page.reload()
    row = lead.page.get_by_role("region", name="Participant links").get_by_role("row", name="Volunteer 1")
    expect(row).to_contain_text("done")
    cells = row.get_by_role("cell").all_inner_texts()
    assert re.fullmatch(r"R-\w{4}", cells[1])
    assert re.match(r"\d+ \w+ \d{4}, \d\d:\d\d", cells[2]), "when they agreed"
    assert cells[3] == str(UNITS)
    assert re.fullmatch(r"\d+ s", cells[5]), "pace"


@pytest.mark.long
def test_a_shared_link_gives_personal_links_that_end_with_revocation(
    visit: Callable[..., Visit], tablet: Callable[[], Visit], site: Site
) -> None:
    slug = f"take-{uuid.uuid4().hex[:8]}"
    round = open_round(site, slug, TEXTS[:4])
    lead = visit("lead")
    links_of(lead, slug, round)
    lead.page.get_by_label("shared: one link for several people").check()
    lead.page.get_by_label("Labels, one per line").fill("Seminar")
    lead.page.get_by_label("Consent text").fill("## Withdrawing\n\nYou *can*.")
    lead.page.get_by_role("button", name="Preview").click()
    expect(lead.page.locator("em", has_text="can")).to_be_visible()
    lead.page.get_by_role("button", name="Create 1 shared link").click()
    link = address_of(lead.page, "Link of Seminar")

    tablet_user = tablet()
    tablet_user.page.goto(link)
    tablet_user.page.get_by_role("button", name="Decline").tap()
    expect(tablet_user.page.get_by_text("nothing was stored")).to_be_visible()
    tablet_user.page.get_by_role("button", name="Back to the text").tap()
    assert violations(tablet_user) + unnamed_controls(tablet_user) == []
    tablet_user.page.get_by_role("button", name="Agree and start").tap()
    own = address_of(tablet_user.page, "Your personal link")
    assert own != link
    tablet_user.page.get_by_role("link", name="Start").tap()
    tablet_user.page.get_by_role("button", name="Skip").tap()
    say(tablet_user.page, cue=False)

    lead.page.reload()
    lead.page.locator("summary", has_text="Create links").click()
    lead.page.get_by_label("Consent text").fill("## Withdrawing\n\nYou still can.")
    lead.page.get_by_role("button", name="Apply to all links").click()
    expect(lead.page.get_by_text("Saved for all links of the round")).to_be_visible()
    tablet_user.page.goto(f"{site.address}/work/{round}")
    expect(tablet_user.page.get_by_role("alert")).to_contain_text("has changed")
    tablet_user.page.get_by_role("link", name="My work").first.tap()
    tablet_user.page.get_by_role("button", name="Agree and continue").tap()
    tablet_user.page.get_by_role("button", name="Withdraw …").tap()
    tablet_user.page.get_by_role("button", name="Withdraw", exact=True).tap()
    expect(tablet_user.page.get_by_text("You have withdrawn. Thank you")).to_be_visible()
    lead.page.reload()
    rows = lead.page.get_by_role("region", name="Participant links").get_by_role("row")
    expect(rows.filter(has_text="withdrawn")).to_contain_text("Seminar · R-")
    expect(rows.nth(1)).to_contain_text("shared: 1 of 20 places taken")

    lead.page.get_by_role("button", name="Revoke Seminar", exact=True).click()
    lead.page.get_by_role("button", name="Revoke", exact=True).click()
    expect(rows.filter(has_text="revoked")).to_have_count(2)
    tablet_user.page.reload()
    expect(tablet_user.page.get_by_text("You participated by link in this browser")).to_be_visible()
    tablet_user.page.goto(own)
    expect(tablet_user.page.get_by_role("alert")).to_contain_text("is invalid, expired or revoked")
