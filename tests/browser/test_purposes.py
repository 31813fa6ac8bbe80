"""Practice, correction and questions before a round, by keyboard, and what the lead then reads."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import violations
from tests.browser.work_page import SETTLED
from tests.processes.site import Site

NO_CUES = {"cues": "ignore"}
OPEN = """
import json
from accounts.models import User
from projects.curation.actions import correct
from projects.guidelines.actions import write_guideline
from projects.people.actions import add_member, create_project
from projects import kinds
from tests.builders import build_cluster, build_round, label_value
given = json.loads({given!r})
lead = User.objects.get(email='lead@example.org')
project = create_project(slug=given['slug'], name=given['slug'], by=lead)
member = project.members.get(user=lead)
for n in range(2):
    cluster = build_cluster(project, n, inputs=0)
    value = label_value('no effect', 'moderate', polarity_cue=[(0, 7)])
    correct(unit=cluster.propositions.get().unit, kind='label', value=value, reason='Neither says so.', by=member)
if given.get('questions'):
    text = kinds.get('label').guideline
    write_guideline(project=project, kind='label', text=text, questions=given['questions'], by=lead)
person = add_member(project=project, user=User.objects.get(email='ann1@example.org'), role='annotator', by=lead)
made = []
for plan in given['rounds']:
    if plan.get('requires_practice') is not None:
        plan['requires_practice'] = made[plan['requires_practice']]
    made.append(build_round(project, [person], **plan).pk)
print(json.dumps(made))
"""


def opened(site: Site, slug: str, *rounds: dict[str, Any], questions: Any = ()) -> list[int]:
    """Create a project with two labelled propositions and these rounds; return their ids."""
    given = json.dumps({"slug": slug, "rounds": rounds, "questions": questions})
    said = site.manage("shell", "-v0", "-c", OPEN.format(given=given)).strip().splitlines()[-1]
    found: list[int] = json.loads(said)
    return found


def press(page: Page, keys: str) -> None:
    """Press keys on a text that accepts them."""
    page.wait_for_selector("[role=listbox]")
    page.wait_for_timeout(SETTLED)
    for key in keys.split():
        page.keyboard.press(key)


def test_practice_shows_expected_values_and_opens_the_next_round(site: Site, visit: Callable[..., Visit]) -> None:
    terms = {"pass_mark": 50, "tries": 2, "attempts": 2}
    practice, real = opened(
        site,
        "practice-desk",
        {"name": "practice", "purpose": "practice", "terms": terms, "policy": NO_CUES},
        {"name": "real", "purpose": "gold", "requires_practice": 0},
    )
    desktop = visit("ann1", width=400)
    page = desktop.page
    desktop.go(f"/work/{real}")
    expect(page.get_by_role("heading", name="Required practice")).to_be_visible()
    assert violations(desktop) == []
    page.get_by_role("link", name="Start practice").press("Enter")
    expect(page.get_by_text("expected values appear after each answer")).to_be_visible()
    expect(page.get_by_role("button", name="Skip")).to_have_count(0)
    press(page, "d 2 Enter")
    expect(page.get_by_role("heading", name="Not yet right")).to_be_visible()
    expect(page.get_by_text("Neither says so.")).to_have_count(0)
    assert violations(desktop) == []
    page.keyboard.press("Enter")
    expect(page.get_by_text("Last try. Enter saves it.")).to_be_visible()
    press(page, "a Enter")
    expect(page.get_by_role("heading", name="Wrong")).to_be_visible()
    expect(page.get_by_role("cell", name="no effect", exact=True)).to_be_visible()
    expect(page.get_by_text("Neither says so.").first).to_be_visible()
    assert violations(desktop) == []
    page.get_by_role("button", name="Polarity: is the effect good or bad?").press("Enter")
    expect(page.get_by_role("heading", name="Polarity: is the effect good or bad?")).to_be_focused()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Next").press("Enter")
    press(page, "s 2 Enter")
    expect(page.get_by_role("heading", name="Right", exact=True)).to_be_visible()
    page.keyboard.press("Enter")
    expect(
        page.get_by_text("Attempt 1: 1 of 2 units right in their last try (50%), pass mark 50%: passed.")
    ).to_be_visible()
    assert violations(desktop) == []
    desktop.go(f"/work/{real}")
    page.wait_for_selector("[role=listbox]")
    lead = visit("lead")
    lead.go(f"/projects/practice-desk/rounds/{practice}")
    expect(lead.page.get_by_text("1 of 1 passed.")).to_be_visible()
    expect(lead.page.get_by_role("cell", name="1 of 2 (50%)")).to_be_visible()
    assert violations(lead) == []


def test_a_value_is_confirmed_with_one_key_and_corrected_with_two(site: Site, visit: Callable[..., Visit]) -> None:
    (round,) = opened(site, "review-desk", {"name": "second look", "purpose": "review and correct"})
    desktop = visit("ann1")
    page = desktop.page
    desktop.go(f"/work/{round}")
    expect(page.get_by_text("The current value is filled in.")).to_be_visible()
    assert violations(desktop) == []
    before = page.locator(".progress").inner_text()
    press(page, "Enter")
    expect(page.locator(".progress")).not_to_have_text(before)
    press(page, "d Enter")
    expect(page.get_by_role("heading", name="All done")).to_be_visible()
    expect(page.locator(".saved")).to_contain_text("Saved")
    for key in ("z", "Control+z"):
        page.keyboard.press(key)
        page.wait_for_selector("[role=listbox]")
        press(page, "Enter")
        expect(page.get_by_role("heading", name="All done")).to_be_visible()
    expect(page.locator(".saved")).to_contain_text("Saved")
    lead = visit("lead")
    lead.go(f"/projects/review-desk/rounds/{round}/agreement")
    expect(lead.page.get_by_text("1 of 2 corrected")).to_be_visible()
    expect(lead.page.get_by_text("Do not cite these figures as inter-annotator agreement.")).to_be_visible()
    assert violations(lead) == []


@pytest.mark.long
@pytest.mark.parametrize(("kind", "keys"), [("tuple", "Enter"), ("discourse", "Enter")])
def test_values_of_other_tasks_are_confirmed_with_one_key_too(
    site: Site, visit: Callable[..., Visit], kind: str, keys: str
) -> None:
    code = f"""
import json
from accounts.models import User
from projects.curation.actions import correct
from projects.people.actions import add_member, create_project
from tests.builders import build_cluster, build_round
lead = User.objects.get(email='lead@example.org')
project = create_project(slug='review-{kind}', name='r', by=lead)
member = project.members.get(user=lead)
cluster = build_cluster(project, 0)
blank = dict(text='', fragments=[])
tuple_ = dict(p=blank, i=dict(blank, text='nepralin'), c=dict(blank, stands_for=''), o=blank)
value = tuple_ if '{kind}' == 'tuple' else dict(relation='agreement')
correct(unit=cluster.unit, kind='{kind}', value=value, reason='So.', by=member)
person = add_member(project=project, user=User.objects.get(email='ann1@example.org'), role='annotator', by=lead)
print(json.dumps(build_round(project, [person], kind='{kind}', purpose='review and correct').pk))
"""
    round = int(site.manage("shell", "-v0", "-c", code).strip().splitlines()[-1])
    desktop = visit("ann1")
    desktop.go(f"/work/{round}")
    expect(desktop.page.get_by_text("The current value is filled in.")).to_be_visible()
    desktop.page.wait_for_timeout(SETTLED)
    desktop.page.keyboard.press(keys)
    expect(desktop.page.get_by_role("heading", name="All done")).to_be_visible()
    expect(desktop.page.locator(".saved")).to_contain_text("Saved")
    lead = visit("lead")
    lead.go(f"/projects/review-{kind}/rounds/{round}/agreement")
    expect(lead.page.get_by_text("0 of 1 corrected")).to_be_visible()


@pytest.mark.long
def test_questions_come_first_and_after_two_tries_the_lead_lets_one_in(site: Site, visit: Callable[..., Visit]) -> None:
    questions = [
        {"question": "What is polarity?", "options": ["a rise", "benefit or harm"], "right": 1, "explanation": "Of I."}
    ]
    (round,) = opened(site, "question-desk", {"name": "asked", "asks_questions": True}, questions=questions)
    desktop = visit("ann1", width=400, scheme="dark")
    page = desktop.page
    desktop.go(f"/work/{round}")
    for said in ("You have two tries.", "One try left"):
        expect(page.get_by_text(said)).to_be_visible()
        assert violations(desktop) == []
        page.get_by_role("radio", name="a rise").press("Space")
        page.get_by_role("radio", name="a rise").press("Enter")
    expect(page.get_by_text("ask the lead of the project to let you in")).to_be_visible()
    expect(page.get_by_text("Of I.")).to_be_visible()
    lead = visit("lead")
    lead.go(f"/projects/question-desk/rounds/{round}")
    expect(lead.page.get_by_text("0 of 1, then 0 of 1")).to_be_visible()
    assert violations(lead) == []
    lead.page.get_by_role("button", name="Let in").press("Enter")
    expect(lead.page.get_by_text("let in by the lead")).to_be_visible()
    desktop.go(f"/work/{round}")
    page.wait_for_selector("[role=listbox]")


@pytest.mark.long
def test_a_lead_writes_questions_and_opens_rounds_for_these_purposes(site: Site, visit: Callable[..., Visit]) -> None:
    opened(site, "purpose-desk", {"name": "practice one", "purpose": "practice"})
    lead = visit("lead")
    page = lead.page
    lead.go("/projects/purpose-desk/guidelines")
    page.get_by_role("button", name="Write next version").press("Enter")
    page.get_by_role("tab", name="Questions").click()
    page.get_by_role("button", name="Add question").press("Enter")
    page.get_by_label("Question", exact=True).fill("What is polarity?")
    page.get_by_label("Question 1, option 1").fill("a rise")
    page.get_by_label("Question 1, option 2").fill("benefit or harm")
    page.get_by_role("radio").nth(1).check()
    assert violations(lead) == []
    page.get_by_role("button", name="Save new version").press("Enter")
    expect(page.get_by_text("1 question, which a round can ask")).to_be_visible()
    lead.go("/projects/purpose-desk/rounds/new")
    page.get_by_label("Name").fill("the real one")
    page.get_by_role("radio", name="Practice").check()
    expect(page.get_by_label("Pass mark (%)")).to_have_value("80")
    expect(page.get_by_label("People per unit")).to_have_count(0)
    assert violations(lead) == []
    page.get_by_role("radio", name="Gold standard").check()
    page.get_by_label("Required practice").select_option(label="practice one, 0 passed")
    page.get_by_label("Ask the guideline's questions first").check()
    page.get_by_role("group", name="People of the round").get_by_role("checkbox").first.check()
    page.get_by_role("button", name="Open round").press("Enter")
    about = page.get_by_role("region", name="Settings")
    expect(about).to_contain_text(re.compile(r"Required practice\s*practice one"))
    expect(page.get_by_role("heading", name="Prerequisites")).to_be_visible()
    expect(about).to_contain_text(re.compile(r"Questions before the round\s*1, two tries"))
