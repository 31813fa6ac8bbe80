"""Every guide fits on two screens, and Help opens the guide of a page."""

from collections.abc import Callable

from playwright.sync_api import expect

from config.views import GUIDES
from tests.browser.conftest import Visit
from tests.browser.test_pages import PROJECT

TWO_SCREENS = 1600
END = "() => [...document.querySelectorAll('section')].at(-1).getBoundingClientRect().bottom + scrollY"
GO = "to => { history.pushState(null, '', to); dispatchEvent(new PopStateEvent('popstate')) }"


def test_every_guide_fits_on_two_screens(visit: Callable[..., Visit]) -> None:
    page = visit("lead").page
    too_long = {}
    for guide in GUIDES:
        page.evaluate(GO, f"/guide/{guide}")
        page.locator(f'nav [href="/guide/{guide}"][aria-current=page]').wait_for()
        page.locator("section h2").first.wait_for()
        if (height := page.evaluate(END)) > TWO_SCREENS:
            too_long[guide] = round(height)
    assert too_long == {}


def test_help_opens_the_guide_of_the_page(visit: Callable[..., Visit]) -> None:
    lead = visit("lead")
    lead.go(f"{PROJECT}/splits")
    lead.page.get_by_role("link", name="Help").click()
    expect(lead.page.get_by_role("heading", level=1)).to_have_text("Split a data set without leakage")
