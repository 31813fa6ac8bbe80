"""A guideline changes what *weak* means: the lead writes it, a person revisits the units, and the release says so."""

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import violations
from tests.browser.test_purposes import press
from tests.processes.site import Site

SLUG = "weak-desk"
OPEN = f"""
from accounts.models import User
from projects.people.actions import add_member, create_project
from tests.projects.test_concerns import MODERATE, STRONG, WEAK, Fixture
lead = User.objects.get(email='lead@example.org')
project = create_project(slug='{SLUG}', name='Weak desk', by=lead)
people = [
    add_member(project=project, user=User.objects.get(email=f'{{who}}@example.org'), role='annotator', by=lead)
    for who in ('ann1', 'ann2', 'evaluator')
]
values = {{'one': [WEAK], 'two': [MODERATE, WEAK, MODERATE], 'three': [STRONG]}}
Fixture(project, people).round('First', 'a', values, policy={{'cues': 'ignore'}})
"""
#: The same person confirms what is left; then the round closes and a release is written.
FINISH = f"""
import json, tempfile
from pathlib import Path
from projects.gold.actions import finish_round
from projects.models import Project
from projects.queue import queries
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from releases.publishing.actions import write_release
from tests.builders import answer
project = Project.objects.get(slug='{SLUG}')
round = project.rounds.get(purpose='review and correct')
person = project.members.get(user__email='ann1@example.org')
while held := next_assignments(user=person.user, round=round):
    card = queries.cards(round, held[:1])[0]
    answer(person.user, held[0], card['value'], references=card['references'])
close_round(round=round, by=None)
round.refresh_from_db()
finish_round(round=round, by=None)
with tempfile.TemporaryDirectory() as folder:
    write_release(project=project, version='1.0.0', out=Path(folder) / 'release')
    print(json.dumps((Path(folder) / 'release' / 'guidelines.jsonl').read_text().splitlines()))
"""


@pytest.mark.long
def test_a_change_of_weak_is_written_revisited_and_released(site: Site, visit: Callable[..., Visit]) -> None:
    site.manage("shell", "-v0", "-c", OPEN)
    lead = visit("lead")
    page = lead.page
    lead.go(f"/projects/{SLUG}/guidelines")
    page.get_by_role("button", name="Write next version").click()
    page.get_by_label("Guideline, in Markdown").fill("# Modality\n\n*May* is weak only with a hedge.")
    page.get_by_role("radio", name="Some fields and values").check()
    page.get_by_role("group", name="modality", exact=True).get_by_role("checkbox", name="weak").check()
    expect(page.get_by_text("Concerns 2 units: 1 current, 1 only answered.")).to_be_visible()
    page.get_by_label("Reason for the change").fill("Raters read may in two ways.")
    assert violations(lead) == []
    page.get_by_role("button", name="Save new version").click()
    expect(page.get_by_text("Concerns modality: Weak.")).to_be_visible()
    expect(page.get_by_text("0 of 2")).to_be_visible()
    page.get_by_role("button", name="Open correction round").click()
    expect(page.get_by_role("checkbox", name=re.compile("Ann"), checked=True)).to_have_count(2)
    assert violations(lead) == []
    page.get_by_role("button", name="Open round").click()
    opened = page.get_by_role("status").get_by_role("link", name="Correction after guideline 2")
    round = int(str(opened.get_attribute("href")).rsplit("/", 1)[1])
    expect(page.get_by_text("2 units in open rounds under this version.")).to_be_visible()

    person = visit("ann1")
    person.go(f"/work/{round}")
    expect(person.page.get_by_text("The current value is filled in.")).to_be_visible()
    before = person.page.locator(".progress").inner_text()
    press(person.page, "1 Enter")
    expect(person.page.locator(".progress")).not_to_have_text(before)

    written = site.manage("shell", "-v0", "-c", FINISH).strip().splitlines()[-1]
    first, second = (json.loads(line) for line in json.loads(written))
    assert (first["version"], first["scope"]) == (1, None)
    assert (second["concerned"], second["revisited"], second["changed"]) == (2, 2, 1)
    [change] = second["changes"]
    assert (change["field"], change["after"], change["units"]) == ("modality", "strong", 1)
    lead.go(f"/projects/{SLUG}/guidelines")
    expect(page.get_by_text("2 of 2")).to_be_visible()
    expect(page.get_by_text(re.compile("1 of 2.*→ Strong 1"))).to_be_visible()
    expect(page.get_by_text("Correction after guideline 2 (closed)")).to_be_visible()
    assert violations(lead) == []
