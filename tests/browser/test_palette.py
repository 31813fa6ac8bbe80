"""The command palette finds any page by name, by keyboard."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import PROJECT, unnamed_controls, violations

Visiting = Callable[..., Visit]


def test_the_palette_opens_objects_by_name_and_escape_restores_the_focus(visit: Visiting) -> None:
    lead = visit("lead", scheme="dark", width=400)
    page = lead.page
    clusters = page.request.get(f"{lead.address}/api/v1/projects/sample/clusters/").json()["results"]
    lead.go(f"{PROJECT}/rounds")
    page.keyboard.press("Control+k")
    field = page.get_by_role("dialog").get_by_role("combobox")
    expect(field).to_be_focused()
    options = page.get_by_role("dialog").get_by_role("option")
    expect(options.first).to_have_attribute("aria-selected", "true")
    expect(options.filter(has_text="round").first).to_be_visible()
    assert violations(lead) + unnamed_controls(lead) == []
    field.fill(clusters[0]["key"])
    found = options.filter(has_text="cluster")
    expect(found.first).to_contain_text(clusters[0]["unit_name"])
    expect(page.get_by_role("status").filter(has_text=re.compile(r"^\d+ match"))).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    field.fill("page")
    page.keyboard.press("ArrowDown")
    chosen = page.locator("[role=option][aria-selected=true]")
    assert field.get_attribute("aria-activedescendant") == chosen.get_attribute("id")
    field.fill("corpus")
    page.keyboard.press("Enter")
    page.wait_for_url("**/corpus")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.set_viewport_size({"width": 1280, "height": 800})
    button = page.get_by_role("button", name="Find")
    button.click()
    expect(page.get_by_role("dialog").get_by_role("combobox")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(button).to_be_focused()


@pytest.mark.long
def test_the_key_is_left_to_an_open_dialog_and_to_who_is_not_signed_in(visit: Visiting) -> None:
    annotator = visit("ann1")
    annotator.page.get_by_role("link", name=re.compile("^(Begin|Continue)")).first.click()
    annotator.page.get_by_role("button", name="Keys").click()
    annotator.page.keyboard.press("Control+k")
    expect(annotator.page.get_by_role("dialog")).to_have_count(1)
    expect(annotator.page.get_by_role("dialog").get_by_role("combobox")).to_have_count(0)
    annotator.page.keyboard.press("Escape")
    annotator.page.keyboard.press("Control+k")
    expect(annotator.page.get_by_role("dialog").get_by_role("combobox")).to_be_focused()
    nobody = visit()
    nobody.go("/sign-in")
    nobody.page.keyboard.press("Control+k")
    expect(nobody.page.get_by_role("dialog")).to_have_count(0)
