"""Keys of an input method (Japanese, Chinese, Korean) submit and close nothing during composition."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import PROJECT
from tests.browser.work_page import WorkPage, open_round
from tests.processes.site import Site

Visiting = Callable[..., Visit]

WORD = "にほん"
#: How a key arrives during composition: consumed by the input method, or passed on.
CONSUMED = {"type": "rawKeyDown", "windowsVirtualKeyCode": 229}
PASSED_ON = {"type": "keyDown", "windowsVirtualKeyCode": 13, "text": "\r"}
ESCAPE = {"type": "keyDown", "windowsVirtualKeyCode": 27}
FINDING = """
from django.utils import timezone
from annotation.models import Cluster, ConsistencyCheck
from tests.builders import build_finding
cluster, *_ = Cluster.objects.filter(project__slug="sample")
ConsistencyCheck.objects.get_or_create(project=cluster.project, defaults={"at": timezone.now()})
build_finding(cluster.project, cluster.unit_id, rule="relation", reason="It would be contradiction.")
"""


def compose(page: Page, key: str, modifiers: int = 0) -> None:
    """Compose a word in the focused field and press a key before it is finished."""
    input_method = page.context.new_cdp_session(page)
    input_method.send("Input.imeSetComposition", {"text": WORD, "selectionStart": 3, "selectionEnd": 3})
    for about in (CONSUMED, PASSED_ON) if key == "Enter" else (ESCAPE,):
        input_method.send("Input.dispatchKeyEvent", {"key": key, "code": key, "modifiers": modifiers, **about})
        input_method.send("Input.dispatchKeyEvent", {"key": key, "code": key, "type": "keyUp"})
    input_method.detach()


def stays(page: Page, field: Locator, key: str = "Enter", modifiers: int = 0) -> None:
    """Assert that a key pressed during a composition leaves the page and the field as they were and sends nothing."""
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method != "GET" else None)
    before = page.url
    expect(field).to_be_focused(timeout=5000)
    compose(page, key, modifiers)
    page.wait_for_timeout(300)
    expect(field).to_be_focused(timeout=2000)
    expect(field).to_have_value(re.compile(WORD), timeout=2000)
    assert (page.url, sent) == (before, [])


@pytest.mark.long
@pytest.mark.parametrize("key", ["Enter", "Escape"])
def test_composed_characters_stay_in_the_reason_of_a_correction(visit: Visiting, key: str) -> None:
    lead = visit("lead")
    page = lead.page
    row = page.request.get(f"{lead.address}/api/v1/projects/sample/clusters/?page_size=1").json()["results"][0]
    lead.go(f"{PROJECT}/corpus/{row['id']}")
    page.get_by_role("button", name="Correct the text of target").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Text", exact=True).fill(f"As was found, {row['text']}")
    reason = dialog.get_by_label("Reason")
    reason.focus()
    stays(page, reason, key)


@pytest.mark.long
@pytest.mark.parametrize("key", ["Enter", "Escape"])
def test_composed_characters_stay_in_the_reason_for_a_finding(visit: Visiting, site: Site, key: str) -> None:
    site.manage("shell", "-v0", "-c", FINDING)
    lead = visit("lead")
    lead.go(f"{PROJECT}/consistency")
    lead.page.keyboard.press("j")
    lead.page.keyboard.press("d")
    stays(lead.page, lead.page.get_by_label("Why is it correct?"), key)


@pytest.mark.long
def test_composed_characters_stay_in_a_comment(visit: Visiting, site: Site) -> None:
    work = WorkPage(visit("ann1"), open_round(site, "composed", ["Nepralin reduces attacks of migraine."])).open()
    work.press("m")
    comment = work.page.get_by_label("For the curator")
    stays(work.page, comment, modifiers=2)
    stays(work.page, comment, "Escape")


@pytest.mark.long
@pytest.mark.parametrize("key", ["Enter", "Escape"])
def test_composed_characters_stay_in_the_palette(visit: Visiting, key: str) -> None:
    lead = visit("lead")
    lead.go(f"{PROJECT}/rounds")
    lead.page.keyboard.press("Control+k")
    stays(lead.page, lead.page.get_by_role("dialog").get_by_role("combobox"), key)


@pytest.mark.long
@pytest.mark.parametrize("key", ["Enter", "Escape"])
def test_composed_characters_stay_in_a_cell_of_a_grid(visit: Visiting, key: str) -> None:
    lead = visit("lead")
    page = lead.page
    clusters = page.request.get(f"{lead.address}/api/v1/projects/sample/clusters/").json()["results"]
    lead.go(f"{PROJECT}/reviews/{clusters[0]['review']['id']}/curate")
    cell = page.locator("[role=grid][aria-label^='PICO tuple']").first.locator("[role=gridcell][data-title='Outcome']")
    cell.first.click()
    page.keyboard.press("Enter")
    page.keyboard.press("Control+a")
    stays(page, page.locator("[role=grid] :is(input, textarea):focus"), key)
