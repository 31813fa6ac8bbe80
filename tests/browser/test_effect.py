"""Effects of interventions on a desktop and on a phone: keys per pair."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import violations
from tests.browser.test_screening import run
from tests.browser.work_page import SETTLED
from tests.processes.site import Site

OPEN = """
import json
from accounts.models import User
from annotation.models import EffectPair, Review
from projects.people.actions import add_member, create_project
from projects.models import Unit
from tests.builders import build_round
lead = User.objects.get(email='lead@example.org')
project = create_project(slug='effects', name='Effects', by=lead)
text = ' '.join(f'Nepralin lowered attacks in trial number {n}.' for n in range(1, 13))
unit = Unit.objects.create(project=project, type='review', key='26000000', made_by=lead)
review = Review.objects.create(project=project, pmid=unit.key, unit=unit, title='Nepralin for migraine', abstract=text)
for n, outcome in enumerate(['attacks', 'nausea', 'pain', 'sleep']):
    EffectPair.objects.create(review=review, position=n, intervention='nepralin', outcome=outcome)
person = add_member(project=project, user=User.objects.get(email='ann1@example.org'), role='annotator', by=lead)
print(json.dumps(build_round(project, [person], kind='effect', options=dict(effect_texts='both')).pk))
"""
SAID = (
    "import json; from annotation.models import JudgedEffect; "
    "print(json.dumps(list(JudgedEffect.objects.order_by('pk').values_list('direction', 'sentence__number'))))"
)


def test_a_pair_takes_three_keys_at_most(site: Site, visit: Callable[..., Visit]) -> None:
    round = run(site, OPEN)
    at = visit("ann1", width=1280)
    at.go(f"/work/{round}")
    page = at.page
    outcome = page.locator("dd").nth(1)
    for name, keys in (("attacks", ["a", "1", "2"]), ("nausea", ["1", "s"]), ("pain", ["0"])):
        expect(outcome).to_have_text(name)
        page.wait_for_timeout(SETTLED)
        if name == "attacks":
            assert violations(at) == []
        for key in keys:
            page.keyboard.press(key)
    expect(outcome).to_have_text("sleep")

    phone = visit("ann1", scheme="dark", width=400)
    phone.go(f"/work/{round}")
    expect(phone.page.locator("dd").nth(1)).to_have_text("sleep")
    phone.page.wait_for_timeout(SETTLED)
    phone.page.get_by_role("option").nth(2).click()
    assert violations(phone) == []
    phone.page.get_by_role("button", name="increased").click()
    expect(phone.page.locator("main")).to_contain_text("All done")
    assert run(site, SAID) == [["decreased", 12], ["no difference", 1], ["not reported", None], ["increased", 3]]
