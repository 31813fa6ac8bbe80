"""A text is corrected in the browser: what was said of the old one is listed, confirmed, and nothing is lost."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import unnamed_controls, violations


def test_a_lead_corrects_a_text_and_confirms_its_label(visit: Callable[..., Visit]) -> None:
    lead = visit("lead")
    page = lead.page
    row = page.request.get(f"{lead.address}/api/v1/projects/sample/clusters/?page_size=3").json()["results"][-1]
    old = row["text"]
    lead.go(f"/projects/sample/corpus/{row['id']}")
    page.get_by_role("button", name="Correct the text of target").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Text", exact=True).fill(f"As was found, {old}")
    dialog.get_by_label("Why is it changed?").fill("Words were missing.")
    dialog.get_by_role("button", name="Save corrected text").click()
    expect(page.get_by_text("The text was corrected: what was decided of the earlier one waits")).to_be_visible()
    expect(page.get_by_text("1 earlier text")).to_be_visible()

    page.get_by_role("link", name="Needs review").last.click()
    page.wait_for_url("**/projects/sample/look-again")
    item = page.locator("article.item")
    expect(item).to_have_count(1)
    expect(item).to_contain_text("Words were missing.")
    expect(item.locator("ins")).to_have_text("As was found,")
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        assert violations(lead) + unnamed_controls(lead) == [], scheme
    item.get_by_role("link", name=f"{row['key']}/0~2", exact=True).click()
    page.wait_for_url(f"**/projects/sample/corpus/{row['id']}#*")
    page.go_back()
    expect(item).to_have_count(1)
    item.get_by_role("button", name="Confirm").click()
    expect(page.get_by_text("Nothing is stale")).to_be_visible()
    expect(page.get_by_text(f"Confirmed: {row['key']}/0~2.")).to_be_visible()

    lead.go(f"/projects/sample/corpus/{row['id']}")
    expect(page.get_by_role("heading", name="Target", exact=True)).to_be_visible()
    expect(page.get_by_text("waits to be confirmed")).to_have_count(0)
