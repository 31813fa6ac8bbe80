"""Suggestions of a model: made, shown in part of a round to two people, and reported, in the browser."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import violations
from tests.browser.work_page import SETTLED, WorkPage
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


def work(visit: Visit, round: int) -> dict[str, int]:
    """Confirm, change and reject suggestions in turn, and answer blind units."""
    at, counts = WorkPage(visit, round).open(), {"shown": 0, "blind": 0}
    page = at.page
    while not page.get_by_text("All done").count():
        if not page.locator(HATCHED).count():
            counts["blind"] += 1
            picture(page, "work-blind")
            at.next("s 2 Enter")
            continue
        picture(page, f"work-shown-{counts['shown'] % 3}")
        counts["shown"] += 1
        if counts["shown"] % 3 == 1:
            at.next("Enter")
        elif counts["shown"] % 3 == 2:
            at.press("3")
            expect(page.get_by_text("Changed suggestion")).to_be_visible()
            picture(page, "work-changed")
            at.next("Enter")
        else:
            at.press("q")
            expect(page.get_by_text("Suggestion rejected")).to_be_visible()
            page.wait_for_timeout(SETTLED)
            picture(page, "work-rejected")
            at.next("s 2 Enter")
    return counts


@pytest.mark.long
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
    page.get_by_role("textbox", name="Model").fill("lab-bert")
    page.get_by_role("textbox", name="Name").fill("Ours")
    page.get_by_label("JSON Lines file").set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("12 suggestions stored.")).to_be_visible()
    assert not violations(lead)
    picture(page, "suggestions")
    page.get_by_role("link", name="New round with Ours").click()
    expect(page.get_by_label("Suggestions by a model")).to_be_visible()
    page.get_by_label("Name", exact=True).fill("with suggestions")
    for person in ("Anna Annotator", "Ben Annotator"):
        page.get_by_label(person).check()
    page.get_by_label("People per unit").fill("2")
    picture(page, "new-round")
    page.get_by_role("button", name="Open round").click()
    page.wait_for_url(re.compile(r"/rounds/\d+$"))
    round = int(page.url.rsplit("/", 1)[1])
    total = {"shown": 0, "blind": 0}
    for who in ("ann1", "ann2"):
        counts = work(visit(who), round)
        assert sum(counts.values()) == 12
        total = {part: total[part] + counts[part] for part in total}
    assert total["shown"]
    assert total["blind"]
    for scheme, width in (("light", 1280), ("dark", 400)):
        reader = visit("lead", scheme=scheme, width=width)
        reader.go(f"/projects/suggested/rounds/{round}")
        expect(reader.page.get_by_text("equal the suggestion:")).to_be_visible()
        expect(reader.page.get_by_text(f"{total['shown']} answers").first).to_be_visible()
        picture(reader.page, f"report-{scheme}-{width}")
        assert not violations(reader)
