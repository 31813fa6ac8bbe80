"""A lead plans a round with a pilot, closes the pilot, and opens a round whose bar is not met."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import violations
from tests.processes.site import Site

#: An open pilot of 40 units that two people have answered, who differ in every fifth; a round waits for it.
MADE = """
import json
from accounts.models import User
from measures.agreement.bars import Bar
from projects.gates.actions import GatePlan
from projects.people.actions import add_member, create_project
from projects.queue.actions import next_assignments
from projects.rounds.planning import RoundPlan
from projects.rounds.preparing import begin_round
from tests.builders import answer, build_cluster, build_round, label_value
lead = User.objects.get(email='lead@example.org')
project = create_project(slug='gates', name='Gates', by=lead)
for n in range(40):
    build_cluster(project, n, inputs=0)
users = [User.objects.get(email=f'ann{n}@example.org') for n in (1, 2)]
people = [add_member(project=project, user=user, role='annotator', by=lead) for user in users]
pilot = build_round(project, people, name='Pilot 1', overlap=2, purpose='measure only')
values = ('positive', 'negative', 'no effect')
for second, user in enumerate(users):
    n = 0
    while slots := next_assignments(user=user, round=pilot):
        differs = second and n % 5 == 0
        answer(user, slots[0], label_value(values[(n + differs) % 3]))
        n += 1
strict = RoundPlan(name='Strict', kind='label', purpose='gold', overlap=2, people=[p.pk for p in people],
                   gate=GatePlan(pilot.pk, Bar('polarity', 'ac1', 'lower bound', 0.95, 0)))
print(json.dumps([pilot.pk, begin_round(project=project, plan=strict, by=lead).pk]))
"""


@pytest.mark.long
def test_a_round_opens_with_its_pilot_or_for_a_reason(site: Site, visit: Callable[..., Visit]) -> None:
    pilot, strict = json.loads(site.manage("shell", "-v0", "-c", MADE).strip().splitlines()[-1])
    at = visit("lead")
    page = at.page
    at.go("/projects/gates/rounds/new?kind=label")
    page.get_by_label("Name", exact=True).fill("Main")
    page.get_by_role("checkbox", name="Anna Annotator").check()
    page.get_by_text("Pilot: none").click()
    page.get_by_label("Pilot round").select_option(str(pilot))
    page.get_by_label("Bar", exact=True).fill("0.3")
    page.get_by_label("Assumed true value").fill("0.2")
    expect(page.get_by_text("No n reaches it: the assumed value 0.20 is not above the bar 0.30.")).to_be_visible()
    page.get_by_label("Assumed true value").fill("0.8")
    expect(page.get_by_text("the expected 97% lower bound reaches 0.30")).to_be_visible()
    assert violations(at) == []
    page.get_by_role("button", name="Plan round").click()
    expect(page.get_by_role("heading", name="Waits for its pilot")).to_be_visible()
    expect(page.get_by_role("button", name="Discard round")).to_be_visible()
    main = page.url

    at.go(f"/projects/gates/rounds/{pilot}?close=1")
    page.get_by_role("dialog").get_by_role("button", name="Close round").click()
    expect(page.get_by_text("Closed", exact=True).first).to_be_visible()
    at.go(f"/projects/gates/rounds/{strict}")
    expect(page.get_by_text("The bar is not met.")).to_be_visible()
    expect(page.get_by_text("the bar is read against the lower bound of the 97% interval")).to_be_visible()
    assert violations(at) == []
    at.go("/projects/gates")
    expect(page.get_by_text("Strict").first).to_be_visible()
    at.go("/projects/gates/rounds")
    expect(page.get_by_text("needs AC1 of polarity: 97% lower bound 0.95")).to_be_visible()
    page.get_by_role("link", name="Decide").first.click()
    page.get_by_role("button", name="Open anyway …").click()
    page.get_by_label("Reason").fill("The guideline was changed.")
    assert violations(at) == []
    page.get_by_role("button", name="Open round").click()
    expect(page.get_by_text("“The guideline was changed.”")).to_be_visible()
    page.goto(main)
    expect(page.get_by_text("The bar was met.")).to_be_visible()
    expect(page.get_by_text("Open", exact=True).first).to_be_visible()
