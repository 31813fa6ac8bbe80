"""Common to every page: skip link, page not found, heights of controls, printing."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import PROJECT, addresses, unnamed_controls, violations
from tests.browser.work_page import to_take

Visiting = Callable[..., Visit]


def test_small_screens_have_a_menu_button_and_a_skip_link(visit: Visiting) -> None:
    lead = visit("lead", width=400)
    page = lead.page
    lead.go(f"{PROJECT}/rounds")
    assert page.locator("header .bar").bounding_box()["height"] == 48  # type: ignore[index]
    assert page.locator("header").bounding_box()["height"] <= 49, "one row"  # type: ignore[index]
    button = page.get_by_role("button", name="Rounds")
    button.press("Enter")
    expect(button).to_have_attribute("aria-expanded", "true")
    pages = page.get_by_role("navigation", name="All pages")
    expect(pages.get_by_role("link", name="Rounds", exact=True)).to_have_attribute("aria-current", "page")
    assert violations(lead) + unnamed_controls(lead) == []
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    expect(pages).to_have_count(0)
    button.press("Enter")
    page.keyboard.press("Tab")
    expect(pages.get_by_role("link", name="Overview")).to_be_focused()
    pages.get_by_role("link", name="Releases").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Releases")
    expect(pages).to_have_count(0)
    lead.go(f"{PROJECT}/corpus?search=a")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to main content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    assert page.url.endswith("/corpus?search=a"), "the address, which may hold a unit's place, stays"
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('main').contains(document.activeElement)")


@pytest.mark.long
@pytest.mark.parametrize("width", [400, 1280])
def test_an_address_that_is_not_there_offers_ways_on(visit: Visiting, width: int) -> None:
    lead = visit("lead", width=width)
    lead.go(f"{PROJECT}/no-such-page")
    expect(lead.page.get_by_role("heading", level=1)).to_have_text("Not found")
    assert violations(lead) + unnamed_controls(lead) == []
    assert lead.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    main = lead.page.locator("main")
    for name in ("Corpus", "Rounds", "My work"):
        expect(main.get_by_role("link", name=name)).to_be_visible()
    main.get_by_role("searchbox").fill("effect")
    main.get_by_role("button", name="Search").click()
    lead.page.wait_for_url("**/corpus?search=effect")
    expect(lead.page.get_by_role("heading", level=1)).to_have_text("Corpus")
    lead.go(f"{PROJECT}/corpsu")
    expect(main.locator(".near").get_by_role("link")).to_have_text(["Corpus"])
    main.get_by_role("button", name="Find").click()
    expect(lead.page.get_by_role("dialog")).to_be_visible()
    lead.go("/no/such/page")
    expect(lead.page.get_by_role("heading", name="Projects")).to_be_visible()


@pytest.mark.long
def test_a_loading_page_shows_a_skeleton_in_its_main_part(visit: Visiting) -> None:
    lead = visit("lead")
    waiting: list[object] = []
    lead.page.route("**/api/v1/projects/sample/rounds/**", lambda route: waiting.append(route))
    lead.page.goto(f"{lead.address}{PROJECT}/rounds")
    expect(lead.page.locator("main .skeleton")).to_be_visible()
    expect(lead.page.get_by_role("status").filter(has_text="Loading")).to_have_count(1)
    assert violations(lead) == []


@pytest.mark.long
def test_a_figure_is_copied_and_saved_as_a_picture(visit: Visiting, tmp_path: Path) -> None:
    lead = visit("lead", scheme="dark")
    lead.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    lead.go(addresses(lead)["agreement"])
    export = lead.page.get_by_role("button", name=re.compile("^Export ?: Coefficients: polarity"))
    export.press("Enter")
    for key in ("ArrowDown", "ArrowUp", "ArrowDown"):
        lead.page.keyboard.press(key)
    expect(lead.page.get_by_role("button", name="Save as SVG").first).to_be_focused()
    assert violations(lead) == []
    lead.page.keyboard.press("Escape")
    expect(export).to_be_focused()
    expect(export).to_have_attribute("aria-expanded", "false")
    with lead.page.expect_download() as taken:
        to_take(lead.page, "Save as SVG", "Coefficients: polarity").click()
    taken.value.save_as(tmp_path / "figure.svg")
    drawing = (tmp_path / "figure.svg").read_text()
    assert drawing.startswith("<?xml")
    assert "rgb(255, 255, 255)" in drawing, "light, as it goes into a paper"
    # The library that makes PDFs is loaded only now; its fonts are in the file.
    with lead.page.expect_download() as taken:
        to_take(lead.page, "Save as PDF", "Coefficients: polarity").click()
    taken.value.save_as(tmp_path / "figure.pdf")
    assert (tmp_path / "figure.pdf").read_bytes().startswith(b"%PDF-1.7")
    with lead.page.expect_download() as taken:
        to_take(lead.page, "Save as PNG", "Coefficients: polarity").click()
    taken.value.save_as(tmp_path / "figure.png")
    picture = (tmp_path / "figure.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert int.from_bytes(picture[16:20], "big") == 4 * 357, "as wide as a column of a paper, not as the page"


@pytest.mark.long
@pytest.mark.parametrize("width", [400, 1280])
def test_no_tag_of_a_marked_text_reaches_into_the_line_above(visit: Visiting, width: int) -> None:
    """Between the marks of two lines there is room for a tag."""
    lead = visit("lead", width=width)
    for page in ("curate", "cluster"):
        lead.go(addresses(lead)[page])
        expect(lead.page.locator(".mark[data-tag]").first).to_be_visible()
        close = lead.page.evaluate("""() => [...document.querySelectorAll('p.text')].flatMap((text) => {
          const tagged = (m) => m.dataset.tag && getComputedStyle(m, '::before').display !== 'none'
          const boxes = [...text.querySelectorAll('.mark')].flatMap((m) => [...m.getClientRects()].map((r, i) =>
            ({ top: r.top - (tagged(m) && !i ? 10 : 0), bottom: r.bottom, line: Math.round(r.top) })))
          const below = (a, b) => b.line > a.line + 9 && b.top < a.bottom - 0.6
          return boxes.flatMap((a) => boxes.filter((b) => below(a, b)).map((b) => [a, b]))
        })""")
        assert close == [], page
