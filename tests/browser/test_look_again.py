"""A text is corrected in the browser: values of the old text are listed and confirmed, and nothing is lost."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import unnamed_controls, violations
from tests.processes.site import Site


def test_a_lead_corrects_a_text_and_confirms_its_label(visit: Callable[..., Visit]) -> None:
    lead = visit("lead")
    page = lead.page
    row = page.request.get(f"{lead.address}/api/v1/projects/sample/clusters/?page_size=3").json()["results"][-1]
    old = row["text"]
    lead.go(f"/projects/sample/corpus/{row['id']}")
    page.get_by_role("button", name="Correct the text of target").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Text", exact=True).fill(f"As was found, {old}")
    dialog.get_by_label("Reason").fill("Words were missing.")
    dialog.get_by_role("button", name="Save corrected text").click()
    expect(page.get_by_text("The text was corrected: confirm or redo its decisions")).to_be_visible()
    expect(page.get_by_text("1 earlier text")).to_be_visible()

    page.get_by_role("link", name="Needs review").last.click()
    page.wait_for_url("**/projects/sample/needs-review")
    item = page.locator("article.item")
    expect(item).to_have_count(1)
    expect(item).to_contain_text("Words were missing.")
    expect(item.locator("ins")).to_have_text("As was found,")
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        assert violations(lead) + unnamed_controls(lead) == [], scheme
    item.get_by_role("link", name=row["unit_name"], exact=True).click()
    page.wait_for_url(f"**/projects/sample/corpus/{row['id']}#*")
    page.go_back()
    expect(item).to_have_count(1)
    item.get_by_role("button", name="Confirm").click()
    expect(page.get_by_text("No stale labels")).to_be_visible()
    expect(page.get_by_text(f"Confirmed: {row['unit_name']}.")).to_be_visible()

    lead.go(f"/projects/sample/corpus/{row['id']}")
    expect(page.get_by_role("heading", name="Target", exact=True)).to_be_visible()
    expect(page.get_by_text("confirm or redo its decisions")).to_have_count(0)


#: A finding in the sample; nothing is wrong with it by itself.
FOUND = """
from django.utils import timezone
from annotation.models import Cluster, ConsistencyCheck, Proposition
from tests.builders import build_finding
cluster, *_ = Cluster.objects.filter(project__slug="sample")
ConsistencyCheck.objects.get_or_create(project=cluster.project, defaults={"at": timezone.now()})
build_finding(cluster.project, cluster.unit_id, rule="relation", reason="It would be contradiction.")
for n, claim in enumerate(Proposition.objects.filter(cluster=cluster).order_by("position")[:3], 1):
    reason = f"It sounds otherwise, {n}."
    build_finding(cluster.project, claim.unit_id, rule="differing labels", reason=reason, position=n)
"""


def test_findings_are_worked_through_with_the_keyboard(visit: Callable[..., Visit], site: Site) -> None:
    site.manage("shell", "-v0", "-c", FOUND)
    lead = visit("lead")
    page = lead.page
    target = page.request.get(f"{lead.address}/api/v1/projects/sample/clusters/?page_size=1").json()["results"][0]
    lead.go("/projects/sample/needs-review?tab=labels")
    item, current = page.locator("article.panel"), page.locator("article.current")
    left = page.get_by_role("search").locator("fieldset .n").first
    expect(item).to_have_count(4)
    groups = ["Relation contradicts the inputs 1", "One sentence, different labels 3"]
    expect(page.locator(".group h2")).to_have_text(groups)
    expect(current).to_have_count(1)
    expect(item.first).to_contain_text(target["text"])
    expect(item.first.locator("mark")).to_have_count(0)
    expect(item.nth(1).locator("mark")).to_have_text("improves")
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        assert violations(lead) + unnamed_controls(lead) == [], scheme

    page.keyboard.press("j")
    page.keyboard.press("j")
    second = item.nth(1).get_by_role("heading")
    expect(second).to_be_focused()
    expect(item.nth(1)).to_contain_class("current")
    expect(current).to_have_count(1)
    page.keyboard.press("d")
    page.keyboard.type("Meant so.")
    page.keyboard.press("Enter")
    expect(left).to_have_text("3")
    expect(item.nth(1)).to_contain_text("It sounds otherwise, 2.")
    expect(second).to_be_focused()
    page.keyboard.press("d")
    expect(page.get_by_label("Why is it correct?")).to_have_value("Meant so.")
    page.keyboard.press("Escape")
    expect(second).to_be_focused()
    page.keyboard.press("d")
    page.keyboard.press("Enter")
    expect(left).to_have_text("2")
    page.get_by_role("radio", name="Kept 2").check()
    expect(item).to_have_count(2)
    expect(current).to_contain_text("“Meant so.”")
