"""Rewriting a target by keyboard: drafts by one key, an edited one, one that does not apply; actions are counted."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import violations
from tests.browser.work_page import SETTLED
from tests.processes.site import Site, until

OPEN = """
import json
from accounts.models import User
from annotation.models import PicoFragment, PicoElement
from projects.curation.actions import correct
from projects.people.actions import add_member, create_project
from projects.models import Member
from tests.builders import build_cluster, build_round
lead = User.objects.get(email='lead@example.org')
project = create_project(slug='rewriting', name='Rewriting', by=lead)
by = Member.objects.get(project=project, user=lead)
text = 'In adults with migraine, oral nepralin significantly reduces relapse more than placebo after three months.'
for n in range(2):
    cluster = build_cluster(project, n, inputs=0, text=text)
    element = PicoElement.objects.get(cluster=cluster, element='o')
    PicoFragment.objects.create(element=element, position=0, start=text.index('relapse'), end=text.index(' more'))
    cue = [dict(start=text.index('reduces'), end=text.index(' relapse'), quote='reduces')]
    value = dict(polarity='positive', modality='moderate', polarity_cue=cue, modality_cue=[])
    correct(unit=cluster.propositions.get(position=0).unit, kind='label', value=value, reason='', by=by)
person = add_member(project=project, user=User.objects.get(email='ann1@example.org'), role='annotator', by=lead)
print(json.dumps(build_round(project, [person], kind='counterfactual').pk))
"""
SAID = (
    "import json; from annotation.models import Rewriting; print(json.dumps(list(Rewriting.objects"
    ".filter(unit__project__slug='rewriting').order_by('id').values_list('kind', 'text', 'origin', 'rule', 'reason'))))"
)


def run(site: Site, code: str) -> list[list[str]]:
    found: list[list[str]] = json.loads(site.manage("shell", "-v0", "-c", code).strip().splitlines()[-1])
    return found


class Hands:
    """Counts actions: a key, a selection, and a typed text each."""

    def __init__(self, page: Page) -> None:
        self.page, self.actions = page, 0

    def press(self, key: str) -> None:
        self.page.wait_for_timeout(SETTLED)
        self.page.keyboard.press(key)
        self.actions += 1

    def type(self, text: str) -> None:
        self.page.keyboard.insert_text(text)
        self.actions += 1

    def at(self, title: str) -> None:
        expect(self.page.get_by_role("heading", name=title, exact=True)).to_be_visible()


def test_a_target_is_rewritten_from_its_drafts_in_at_most_four_actions_a_kind(
    site: Site, visit: Callable[..., Visit]
) -> None:
    at = visit("ann1", width=1280)
    round = run(site, OPEN)
    at.go(f"/work/{round}")
    page, hands = at.page, Hands(at.page)
    copy = page.get_by_label("Your text")
    hands.at("Negation")
    expect(page.get_by_text("+ positive, moderate")).to_be_visible()
    assert violations(at) == []
    hands.press("Enter")
    hands.at("Antonym")
    assert hands.actions == 1, "a good draft: Enter alone"

    # Changed words of the outcome cause a warning at the word, not a refusal.
    hands.press("e")
    assert copy.evaluate("e => e.value.slice(e.selectionStart, e.selectionEnd)") == "increases"
    copy.fill(copy.input_value().replace("relapse", "relief"))
    expect(page.get_by_text("changes words of the outcome")).to_be_visible()
    expect(page.get_by_text("2 of 5 words")).to_be_visible()
    expect(page.locator("[data-warning]")).to_have_attribute("data-warning", "! Outcome")
    page.keyboard.press("Control+Enter")
    hands.at("No effect")

    hands.actions = 0
    hands.press("2")
    hands.press("e")
    hands.type("fails to reduce")
    page.keyboard.press("Control+Enter")
    assert hands.actions + 1 <= 4, "another draft, edited, accepted"
    hands.at("No evidence")
    hands.press("z")
    hands.at("No effect")
    hands.press("Enter")

    hands.at("No evidence")
    hands.press("x")
    page.wait_for_timeout(SETTLED)
    hands.press("4")
    hands.at("Modality")
    hands.press("Enter")
    # The second target is shown, so the first is complete.
    hands.at("Negation")
    expect(page.locator(".saved")).to_contain_text("Saved")
    said = run(site, SAID)
    assert [(kind, origin, rule, reason) for kind, _, origin, rule, reason in said] == [
        ("negation", "drafted", "not added", ""),
        ("antonym", "edited", "antonym", ""),
        ("no effect", "edited", "effect to no effect", ""),
        ("no evidence", "", "", "too many words"),
        ("modality", "drafted", "hedge added", ""),
    ]
    assert "may significantly reduce" in said[-1][1]

    phone = visit("ann1", scheme="dark", width=400)
    phone.go(f"/work/{round}")
    expect(phone.page.get_by_role("heading", name="Negation")).to_be_visible()
    assert violations(phone) == []
    assert phone.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


CURATED = """
import json
from accounts.models import User
from projects.people.actions import create_project
from tests.builders import build_cluster
lead = User.objects.get(email='lead@example.org')
project = create_project(slug='curated-texts', name='Curated texts', by=lead)
print(json.dumps(build_cluster(project, 900, inputs=1, text='Nepralin reduces relapse.').review_id))
"""


@pytest.mark.long
def test_a_curator_writes_counterfactuals_in_the_cell_of_their_target(site: Site, visit: Callable[..., Visit]) -> None:
    at = visit("lead", width=1280)
    at.go(f"/projects/curated-texts/reviews/{run(site, CURATED)}/curate")
    page, hands = at.page, Hands(at.page)
    grid = page.get_by_role("grid", name="Propositions of DEMO0900_0")
    cell = grid.locator("[role=row][aria-rowindex='2'] [role=gridcell][data-title='Counterfactuals']")
    cell.click()
    page.keyboard.press("Enter")
    hands.at("Negation")
    expect(page.get_by_role("button", name="“not” added")).to_be_visible()
    for title in ("Antonym", "No effect", "No evidence", "Modality"):
        hands.press("Enter")
        hands.at(title)
    hands.press("Enter")
    expect(cell).to_contain_text("5 texts")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved")).to_be_visible()
    code = (
        "import json; from annotation.models import Counterfactual; "
        "print(json.dumps(list(Counterfactual.objects.current().filter(target__cluster__key='DEMO0900_0')"
        ".in_corpus_order().values_list('kind', 'text'))))"
    )
    until(lambda: run(site, code), "what was saved is in force")
    assert run(site, code)[0] == ["negation", "Nepralin does not reduce relapse."]
