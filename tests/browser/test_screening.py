"""Screening retrieved reviews by one key each, on a desktop and on a phone."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import violations
from tests.browser.work_page import SETTLED
from tests.processes.site import Site

OPEN = """
import json
from accounts.models import User
from annotation.models import Review
from projects.people.actions import add_member, create_project
from projects.models import Unit
from tests.builders import build_round
lead = User.objects.get(email='lead@example.org')
project = create_project(slug='screening', name='Screening', by=lead)
for n in range(3):
    unit = Unit.objects.create(project=project, type='review', key=str(26000000 + n), made_by=lead)
    abstract = 'AIM: To see what nepralin does.\\nRESULTS: ' + 'Nine trials of nepralin were included. ' * 20
    aim, results = abstract.index('To see'), abstract.index('Nine')
    sections = [dict(label='AIM', start=aim, end=results - 10), dict(label='RESULTS', start=results, end=len(abstract))]
    Review.objects.create(project=project, pmid=unit.key, unit=unit, title=f'Nepralin, review {n}', abstract=abstract,
                          sections=sections, topic='migraine', year=2020, is_retracted=n == 2)
person = add_member(project=project, user=User.objects.get(email='ann1@example.org'), role='annotator', by=lead)
round = build_round(project, [person], kind='screen', options=dict(inclusion_criteria='Adults with migraine.'))
print(json.dumps(round.pk))
"""
SAID = (
    "import json; from annotation.models import Screening; "
    "print(json.dumps(list(Screening.objects.order_by('unit').values_list('screening', flat=True))))"
)


def run(site: Site, code: str) -> object:
    return json.loads(site.manage("shell", "-v0", "-c", code).strip().splitlines()[-1])


def test_a_review_is_screened_by_one_key_and_the_reasons_key_excludes(site: Site, visit: Callable[..., Visit]) -> None:
    round = run(site, OPEN)
    at = visit("ann1", width=1280)
    at.go(f"/work/{round}")
    page = at.page
    expect(page.get_by_role("heading", name="Nepralin, review 0")).to_be_visible()
    expect(page.get_by_text("Adults with migraine.")).to_be_visible()
    expect(page.get_by_role("heading", name="RESULTS")).to_be_visible()
    page.wait_for_timeout(SETTLED)
    assert violations(at) == []
    page.keyboard.press("i")
    expect(page.get_by_role("heading", name="Nepralin, review 1")).to_be_visible()
    page.wait_for_timeout(SETTLED)
    page.keyboard.press("1")

    phone = visit("ann1", scheme="dark", width=400)
    phone.go(f"/work/{round}")
    expect(phone.page.get_by_text("Retracted.", exact=True)).to_be_visible()
    phone.page.wait_for_timeout(SETTLED)
    assert violations(phone) == []
    phone.page.get_by_role("button", name="retracted").click()
    expect(phone.page.locator("main")).to_contain_text("All done")
    assert run(site, SAID) == ["include", "not relevant", "retracted"]


CONTESTED = """
import json
from accounts.models import User
from projects.queue.actions import next_assignments
from projects.gold.actions import finish_round
from projects.people.actions import add_member
from projects.rounds.actions import close_round
from projects.models import Project
from tests.builders import answer, build_round
lead = User.objects.get(email='lead@example.org')
project = Project.objects.get(slug='contested')
users = [User.objects.get(email=f'{name}@example.org') for name in ('ann1', 'ann2')]
people = [project.members.filter(user=user).first() or add_member(project=project, user=user, role='annotator', by=lead)
          for user in users]
round = build_round(project, people, name='twice', kind='screen', overlap=2)
for user, said in zip(users, ('include', 'no studies')):
    while held := next_assignments(user=user, round=round):
        answer(user, held[0], dict(screening=said), kind='screen')
close_round(round=round, by=lead)
finish_round(round=round, by=lead)
print(json.dumps(round.pk))
"""


@pytest.mark.long
def test_adjudication_of_screening_prints_the_abstract_once(site: Site, visit: Callable[..., Visit]) -> None:
    run(site, OPEN.replace("slug='screening'", "slug='contested'"))
    round = run(site, CONTESTED)
    at = visit("lead", width=1280)
    at.go(f"/projects/contested/rounds/{round}/adjudicate")
    expect(at.page.get_by_role("group", name="Answers")).to_contain_text("included")
    expect(at.page.get_by_role("heading", name="Nepralin, review 0")).to_have_count(1)
    at.page.wait_for_timeout(SETTLED)
    assert violations(at) == []
