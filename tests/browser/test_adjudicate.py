"""A curator adjudicates a round of three people by keyboard; the people read the decisions on their answers."""

import json
import re
import uuid
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import unnamed_controls, violations
from tests.processes.site import Site
from tests.projects.planted_round import POLARITIES

SAMPLE = Path(__file__).resolve().parents[2] / "annotation" / "sample" / "level3.jsonl"
UNITS, CONTESTED = 30, 10
#: Longer than the time in which a new unit accepts no key.
SETTLED = 200
PLANT = """
import json
from accounts.models import User
from projects.people.actions import add_member
from projects.models import Member, Project
from tests.projects.planted_round import planted_round
project = Project.objects.get(slug={slug!r})
lead = User.objects.get(email='lead@example.org')
names = ('ann1', 'ann2', 'evaluator')
users = [User.objects.get(email=name + '@example.org') for name in names]
people = [add_member(project=project, user=user, role='annotator', by=lead) for user in users]
round, contested = planted_round(project, people, units={units})
print(json.dumps([round.pk, contested]))
"""
STATE = """
import json
from projects.gold.queries import current_values
from projects.models import Answer, Decision, Unit
units = list(Unit.objects.filter(project__slug={slug!r}, type='proposition').order_by('pk'))
values = current_values(units, 'label')
made = Decision.objects.filter(unit__in=units, origin='decided by a curator').order_by('pk')
print(json.dumps([
    {{str(unit): value for unit, value in values.items()}},
    [[d.unit_id, d.field, d.answer.author.user.email, d.reason] for d in made.select_related('answer__author__user')],
]))
"""


def told(site: Site, code: str) -> Any:
    return json.loads(site.manage("shell", "-v0", "-c", code).strip().splitlines()[-1])


class AtTheDesk:
    """Counts actions: key presses and typed texts."""

    def __init__(self, page: Page) -> None:
        self.page, self.actions = page, 0

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)
        self.actions += 1

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)
        self.actions += 1

    def shown(self) -> str:
        return self.page.locator(".about strong").inner_text()

    def left(self) -> int:
        return int(self.page.locator("main .progress").inner_text().split()[0])

    def until_left(self, n: int) -> None:
        expect(self.page.locator("main .progress")).to_have_text(f"{n} left")
        # Keys are ignored at first, and on a busy machine the text comes after the count.
        self.page.wait_for_timeout(2 * SETTLED)


@pytest.fixture
def planted(site: Site) -> tuple[str, int, list[int]]:
    """A project with the sample's propositions, a closed round of 30 of them, and the contested units."""
    slug = f"adjudged-{uuid.uuid4().hex[:6]}"
    site.manage("import_data", "m3", str(SAMPLE), "--project", slug, "--create", "--lead", "lead@example.org")
    round, contested = told(site, PLANT.format(slug=slug, units=UNITS))
    return slug, round, contested


def test_a_round_is_adjudicated_by_keyboard_in_two_actions_a_unit(
    visit: Callable[..., Visit], site: Site, planted: tuple[str, int, list[int]]
) -> None:
    slug, _, contested = planted
    before, made = told(site, STATE.format(slug=slug))
    assert made == []
    assert len(contested) == CONTESTED
    lead = visit("lead")
    lead.go(f"/projects/{slug}")  # a contested unit is one action from the project's page
    lead.page.get_by_role("region", name="Needs you").get_by_role("link", name="Adjudicate").focus()
    lead.page.keyboard.press("Enter")
    at = AtTheDesk(lead.page)
    expect(lead.page.get_by_role("article")).to_have_count(3)
    at.until_left(CONTESTED)
    assert "Ann" not in lead.page.get_by_role("group", name="Answers").inner_text()
    # If the polarity is contested, so is its cue.
    expect(lead.page.locator("dt.contested")).to_have_count(6)
    counts = []
    taken: dict[str, str] = {}
    for n in range(len(contested)):
        at.actions, key = 0, str(n % 3 + 1)
        shown = at.shown()
        taken[shown] = lead.page.get_by_role("article").nth(n % 3).locator("dd").first.inner_text()
        if n == 0:  # no reason was given yet
            at.press(key)
            at.press("b")
            at.type("The cue decides (2.3)")
            at.press("Enter")
        elif n == 3:  # another value: the kind's editor, with the reason first
            at.press("w")
            lead.page.wait_for_selector("[role=listbox]")
            at.press("q")
            for key in ("a", "2", "Enter"):  # the expected cue is omitted
                at.press(key)
            taken[shown] = "+ positive"
        elif n % 2:
            at.press("q")
            at.press(key)
        else:
            at.press(key)
            at.press("q")
        counts.append(at.actions)
        if n < len(contested) - 1:
            at.until_left(len(contested) - n - 1)
    expect(lead.page.get_by_role("heading", name="Queue empty")).to_be_visible()
    print(f"actions: median {median(counts)}, from {min(counts)} to {max(counts)}: {sorted(counts)}")
    assert median(counts) <= 2
    # Everything was sent.
    lead.page.reload()
    expect(lead.page.get_by_role("heading", name="Queue empty")).to_be_visible()

    after, made = told(site, STATE.format(slug=slug))
    assert {unit for unit, *_ in made} == set(contested)
    assert {reason for *_, reason in made} == {"The cue decides (2.3)"}
    # An adopted answer keeps its author, recognisable by the planted polarity.
    people = dict(zip(POLARITIES, ("ann1", "ann2", "evaluator"), strict=True))
    own = [unit for unit, field, email, _ in made if field == "polarity" and email == "lead@example.org"]
    assert [after[str(unit)]["polarity"] for unit in own] == ["positive"]
    for unit, _, email, _ in made:
        assert unit in own or email == f"{people[after[str(unit)]['polarity']]}@example.org"
    assert {u: v for u, v in after.items() if int(u) not in contested} == {
        u: v for u, v in before.items() if int(u) not in contested
    }
    assert len(taken) == len(contested)
    said = sorted(words.split(" ", 1)[1] for words in taken.values())
    assert sorted(after[str(unit)]["polarity"] for unit in contested) == said

    # Decisions on one's own answers are shown after the round.
    person = visit("ann1")
    person.go("/")
    closed = person.page.get_by_text("closed round")
    if not person.page.get_by_role("heading", name="planted").first.is_visible():
        closed.click()
    person.page.get_by_text("Decisions on your answers").first.click()
    expect(person.page.get_by_text("The cue decides (2.3)").first).to_be_visible()
    assert violations(person) + unnamed_controls(person) == []


@pytest.mark.long
def test_undo_skip_reopen_and_the_pages_for_screen_readers(
    visit: Callable[..., Visit], site: Site, planted: tuple[str, int, list[int]]
) -> None:
    slug, round, _ = planted
    lead = visit("lead")
    page = lead.page
    lead.go(f"/projects/{slug}/rounds/{round}/adjudicate")
    at = AtTheDesk(page)
    at.until_left(CONTESTED)
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        assert violations(lead) + unnamed_controls(lead) == [], scheme
    first = at.shown()
    at.press("k")
    expect(page.locator(".about strong")).not_to_have_text(first)
    page.wait_for_timeout(SETTLED)
    second = at.shown()
    at.press("1")
    at.press("b")
    at.type("So.")
    at.press("Enter")
    at.until_left(CONTESTED - 1)
    third = at.shown()
    at.press("w")
    page.wait_for_selector("[role=listbox]")
    assert violations(lead) + unnamed_controls(lead) == []
    at.press("Escape")
    at.press("z")
    at.until_left(CONTESTED)
    assert at.shown() == second != third
    # Names are shown on request until the page is left.
    page.get_by_label("Show names").check()
    expect(page.get_by_role("group", name="Answers")).to_contain_text("Anna")
    at.press("Escape")
    at.press("2")
    # *Save* gives the reason that is typed beside it.
    page.get_by_placeholder("eason").fill("The cue decides.")
    page.get_by_role("button", name="Save").click()
    at.until_left(CONTESTED - 1)
    page.get_by_role("combobox", name="Show").select_option("decided")
    expect(page.locator(".about strong")).to_have_text(second)
    # A decision is replaced only after it is reopened.
    for take in page.get_by_role("button", name="Take: answer").all():
        expect(take).to_be_disabled()
    page.get_by_role("button", name="Reopen").click()
    page.get_by_role("dialog").get_by_label("Reason").fill("The guideline changed.")
    page.get_by_role("dialog").get_by_role("button", name="Reopen").click()
    at.until_left(CONTESTED)
    page.get_by_text("History", exact=True).click()
    expect(page.get_by_role("row").filter(has_text="The guideline changed.").first).to_be_visible()
    page.set_viewport_size({"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == 400, "nothing widens a narrow page"
    folded = page.locator("details.drawn")
    assert folded.count() == page.locator("article").count() - 1, "the text stands once"
    page.get_by_role("button", name="Adopt in bulk").click()
    expect(page.get_by_role("dialog")).to_contain_text(f"{CONTESTED} contested units")
    box, words = page.get_by_label("Break ties"), page.get_by_text(re.compile("^Break ties at random"))
    left, right = box.bounding_box(), words.bounding_box()
    assert left
    assert right
    assert left["x"] + left["width"] <= right["x"], "side by side"
    assert violations(lead) + unnamed_controls(lead) == []
    page.set_viewport_size({"width": 1280, "height": 800})
    page.get_by_label("Minimum agreement").select_option(index=0)
    page.get_by_label("Break ties").check()
    page.get_by_label("Reason", exact=True).fill("Drawn.")
    page.get_by_role("button", name=f"Adopt {CONTESTED} units").click()
    expect(page.get_by_role("heading", name="Queue empty")).to_be_visible()
    page.get_by_role("button", name="Undo").first.click()
    at.until_left(CONTESTED)

    # Units that somebody else decided later in the queue are skipped, with a message.
    queue = page.request.get(f"{lead.address}/api/v1/rounds/{round}/adjudication/").json()["rows"]
    another = visit("lead")
    another.go(f"/projects/{slug}/rounds/{round}/adjudicate?unit={queue[2]['unit']}")
    there = AtTheDesk(another.page)
    there.until_left(CONTESTED)
    there.press("1")
    there.press("q")
    there.until_left(CONTESTED - 1)
    for _ in range(2):
        page.get_by_role("button", name="Skip K").click()
        page.wait_for_timeout(SETTLED)
    expect(page.locator(".about strong")).to_have_text(queue[3]["unit_name"])
    at.until_left(CONTESTED - 1)
    page.get_by_role("status").get_by_role("button", name=f"Show {queue[2]['unit_name']}").click()
    expect(page.get_by_text("Decided by a curator.")).to_be_visible()
