"""A lead plans a reliability study on one page by keyboard and reads its results."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import violations
from tests.processes.site import Site

BUILD = """
import json
from accounts.models import User
from projects.people.actions import add_member, create_project
from tests.annotation.test_reliability_study import build_corpus
lead = User.objects.get(email='lead@example.org')
project = create_project(slug={slug!r}, name='Reliability', by=lead)
build_corpus(project, lead, targets={targets})
for who in ('ann1', 'ann2', 'evaluator'):
    add_member(project=project, user=User.objects.get(email=f'{{who}}@example.org'), role='annotator', by=lead)
print(json.dumps(project.pk))
"""
PLAY = """
import json
from accounts.models import User
from annotation.models import ReliabilityStudy
from tests.annotation.test_reliability_study import play
lead = User.objects.get(email='lead@example.org')
study = ReliabilityStudy.objects.get(project__slug={slug!r})
play(study, list(study.project.members.filter(role='annotator').order_by('pk')), lead)
print(json.dumps(study.pk))
"""


def run(site: Site, code: str) -> object:
    return json.loads(site.manage("shell", "-v0", "-c", code).strip().splitlines()[-1])


def test_a_study_is_planned_as_a_round_and_its_table_is_read_there(site: Site, visit: Callable[..., Visit]) -> None:
    run(site, BUILD.format(slug="reliable", targets=4))
    at = visit("lead", width=1280)
    at.go("/projects/reliable/reliability")
    page = at.page
    page.wait_for_url("**/rounds/new?purpose=reliability")
    expect(page.get_by_label("Targets to label")).to_have_value("5")
    expect(page.get_by_label("Target sentences to match")).to_have_value("4")
    expect(page.get_by_label("Reliability study")).to_be_checked()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Reliability study 1")
    assert violations(at) == []
    for box in page.get_by_role("group", name="People of the round").get_by_role("checkbox").all():
        if "annotator" in box.locator("xpath=..").inner_text():
            box.focus()
            page.keyboard.press("Space")
    expect(page.get_by_text("27 answers, 9 each")).to_be_visible()
    page.get_by_role("button", name="Open study").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Reliability study 1: labels")
    study = page.get_by_role("region", name="Reliability study", exact=True)
    expect(study.get_by_role("link", name="Reliability study 1: matches")).to_be_visible()
    expect(page.get_by_text("undefined: its round is open").first).to_be_attached()
    assert violations(at) == []

    run(site, PLAY.format(slug="reliable"))
    phone = visit("lead", scheme="dark", width=400)
    phone.page.goto(page.url)
    table = phone.page.get_by_role("region", name="Reliability study", exact=True).get_by_role("table")
    for name in ("Polarity", "Modality", "Match"):
        expect(table.get_by_role("row").filter(has_text=name)).to_have_count(1)
    expect(table.get_by_role("row").filter(has_text="Match")).to_contain_text("25.0")
    assert violations(phone) == []
    assert phone.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "no sideways scroll"


@pytest.mark.long
@pytest.mark.parametrize("width", [1280])
def test_without_evidence_the_page_plans_a_study_of_labels_only(
    site: Site, visit: Callable[..., Visit], width: int
) -> None:
    run(site, BUILD.format(slug="labels-alone", targets=0))
    at = visit("lead", width=width)
    at.go("/projects/labels-alone/reliability")
    page = at.page
    expect(
        page.get_by_text(
            "The study will have labels only. The project has no target sentences. Import or select some first."
        )
    ).to_be_visible()
    expect(page.get_by_label("Target sentences to match")).to_have_count(0)
    page.get_by_label("People per unit").fill("2")
    for box in page.get_by_role("group", name="People of the round").get_by_role("checkbox").all()[:3]:
        box.check()
    page.get_by_role("button", name="Open study").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Reliability study 1: labels")
    told = page.get_by_text("No matches: The project has no target sentences. Import or select some first.").locator(
        "visible=true"
    )
    expect(told).to_have_count(1)
    assert violations(at) == []
