"""Suggestions of a model: made, shown in part of a round to two people, and reported, in the browser."""

import json
import os
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import violations
from tests.browser.work_page import SETTLED
from tests.processes.site import Site

PROJECT = """
import json
from accounts.models import User
from projects.models import Unit
from projects.people.actions import add_member, create_project
from tests.builders import build_cluster
lead = User.objects.get(email='lead@example.org')
project = create_project(slug='suggested', name='Suggested', by=lead)
for n in range(6):
    build_cluster(project, n, inputs=1)
members = [add_member(project=project, user=User.objects.get(email=f'{who}@example.org'), role='annotator', by=lead)
           for who in ('ann1', 'ann2')]
print(json.dumps([unit.key for unit in Unit.objects.filter(project=project, type='proposition').order_by('pk')]))
"""
HATCHED = ".chip:has-text('Suggested by a model')"


def picture(page: Page, name: str) -> None:
    """Save a picture where PICTURES names a folder."""
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def work(visit: Visit, round: str) -> dict[str, int]:
    """Confirm, change and reject suggestions in turn, and answer blind units."""
    page, counts = visit.page, {"shown": 0, "blind": 0}
    visit.go(f"/work/{round}")
    while True:
        page.wait_for_timeout(SETTLED)
        expect(page.locator("[role=listbox], h2:has-text('All done')").first).to_be_visible()
        if page.get_by_role("heading", name="All done").is_visible():
            return counts
        page.wait_for_selector("[role=listbox]")
        before = page.locator("header").inner_text()
        if page.locator(HATCHED).count():
            counts["shown"] += 1
            picture(page, f"work-shown-{counts['shown']}")
            if counts["shown"] % 3 == 1:
                page.keyboard.press("Enter")
            elif counts["shown"] % 3 == 2:
                page.keyboard.press("3")
                expect(page.get_by_text("Changed suggestion")).to_be_visible()
                page.keyboard.press("Enter")
            else:
                page.keyboard.press("q")
                expect(page.get_by_text("Suggestion rejected")).to_be_visible()
                page.wait_for_timeout(SETTLED)
                picture(page, "work-rejected")
                for key in ("s", "2", "Enter"):
                    page.keyboard.press(key)
        else:
            counts["blind"] += 1
            picture(page, "work-blind")
            for key in ("s", "2", "Enter"):
                page.keyboard.press(key)
        page.wait_for_function("before => document.querySelector('header').innerText !== before", arg=before)


def test_a_lead_uploads_suggestions_two_people_work_with_them_and_the_round_reports_anchoring(
    site: Site, visit: Callable[..., Visit], tmp_path: Path
) -> None:
    keys = json.loads(site.manage("shell", "-v0", "-c", PROJECT).strip().splitlines()[-1])
    file = tmp_path / "ours.jsonl"
    value = {"polarity": "no effect", "modality": "strong"}
    file.write_text("".join(json.dumps({"unit": key, "value": value}) + "\n" for key in keys))
    lead = visit("lead")
    page = lead.page
    lead.go("/projects/suggested/suggestions")
    page.get_by_text("File", exact=True).click()
    page.get_by_label("Model").fill("lab-bert")
    page.get_by_label("Name", exact=True).fill("Ours")
    page.get_by_label("JSON Lines file").set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("12 suggestions stored.")).to_be_visible()
    assert not violations(page)
    picture(page, "suggestions")
    page.get_by_role("link", name="New round with Ours").click()
    expect(page.get_by_label("Suggestions by a model")).to_be_visible()
    page.get_by_label("Name", exact=True).fill("with suggestions")
    for person in ("Ann1", "Ann2"):
        page.get_by_label(person).check()
    page.get_by_label("People per unit").fill("2")
    picture(page, "new-round")
    page.get_by_role("button", name="Open round").click()
    page.wait_for_url("**/rounds/*")
    round = page.url.rsplit("/", 1)[1]
    total = {"shown": 0, "blind": 0}
    for who in ("ann1", "ann2"):
        counts = work(visit(who), round)
        assert sum(counts.values()) == 12
        total = {part: total[part] + counts[part] for part in total}
    assert total["shown"]
    assert total["blind"]
    for scheme in ("light", "dark"):
        for width in (1280, 400):
            reader = visit("lead", scheme=scheme, width=width)
            reader.go(f"/projects/suggested/rounds/{round}")
            report = reader.page.get_by_role("region", name="Suggestions by a model")
            expect(reader.page.get_by_text("equal the suggestion:")).to_be_visible()
            expect(reader.page.get_by_text(f"{total['shown']} answers").first).to_be_visible()
            assert report
            picture(reader.page, f"report-{scheme}-{width}")
            assert not violations(reader.page)
