"""Assigning inputs of a sentence to its propositions by keys and by touch; a curator sees disagreements."""

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
from annotation.models import Inclusion, Input, Level, Review, Study, Target
from projects.curation.actions import correct
from projects.people.actions import add_member, create_project
from projects.models import Member, Unit
from tests.builders import build_round
lead = User.objects.get(email='lead@example.org')
project = create_project(slug='assigning', name='Assigning', by=lead)
unit = Unit.objects.create(project=project, type='review', key='26000000', made_by=lead)
review = Review.objects.create(project=project, pmid=unit.key, unit=unit, title='Nepralin for migraine: a review')
own = Unit.objects.create(project=project, type='target sentence', key='26000000_0')
target = Target.objects.create(
    project=project, review=review, level=Level.SENTENCE, key=own.key, position=0, unit=own,
    text='Nepralin reduces attacks of migraine and improves sleep.')
texts = ['Nepralin reduced attacks of migraine.', 'Sleep improved on nepralin.',
         'Neither attacks nor sleep differed between the groups.', 'Attacks were fewer by a third.',
         'Patients on nepralin slept longer and had fewer attacks.']
for n, text in enumerate(texts, start=1):
    study = Study.objects.create(project=project, pmid=str(10000000 + n), title=f'Trial {n}')
    Inclusion.objects.create(review=review, study=study, position=n)
    Input.objects.create(target=target, study=study, position=n, text=text)
def slot(text):
    return dict(text=text, fragments=[])
rows = [dict(p=slot(''), i=slot('Nepralin'), c=slot('') | dict(stands_for='placebo'), o=slot(o))
        for o in ('attacks of migraine', 'sleep')]
by = Member.objects.get(project=project, user=lead)
correct(unit=own, kind='pico', value=dict(tuples=rows), reason='', by=by)
people = [add_member(project=project, user=User.objects.get(email=f'ann{n}@example.org'), role='annotator', by=lead)
          for n in (1, 2)]
print(json.dumps(build_round(project, people, kind='assign_evidence', overlap=2).pk))
"""
CLOSE = """
import json
from accounts.models import User
from projects.gold.actions import finish_round
from projects.rounds.actions import close_round
from projects.models import Round
lead = User.objects.get(email='lead@example.org')
round = Round.objects.get(project__slug='assigning', kind='assign_evidence')
close_round(round=round, by=lead)
finish_round(round=round, by=lead)
print(json.dumps(round.pk))
"""
REVIEW = """
import json
from annotation.models import Review
print(json.dumps(Review.objects.get(project__slug='assigning').pk))
"""
INPUTS = """
import json
from annotation.models import Proposition
rows = Proposition.objects.current().filter(cluster__project__slug='assigning', position__gte=1)
print(json.dumps([[p.cluster.key, p.text] for p in rows.in_corpus_order()]))
"""


def test_a_proposition_takes_a_key_for_all_and_one_for_each_exception(site: Site, visit: Callable[..., Visit]) -> None:
    round = run(site, OPEN)
    at = visit("ann1", width=1280)
    at.go(f"/work/{round}")
    page = at.page
    actions = 0

    def press(*keys: str) -> None:
        nonlocal actions
        page.wait_for_timeout(SETTLED)
        for key in keys:
            page.keyboard.press(key)
        actions += len(keys)

    inputs = page.get_by_role("option")
    expect(inputs).to_have_count(5)
    expect(page.locator("dd").get_by_text("attacks of migraine")).to_be_visible()
    page.wait_for_timeout(SETTLED)
    assert violations(at) == []
    place = "e => [e.offsetTop, e.offsetHeight]"
    box = inputs.last.evaluate(place)
    press("a", "2")
    expect(page.get_by_text("4 of 5 ticked")).to_be_visible()
    assert inputs.last.evaluate(place) == box, "no text moves when one is ticked"
    assert violations(at) == []
    press("Enter")
    expect(page.locator("dd").get_by_text("sleep")).to_be_visible()
    assert actions == 3
    actions = 0
    press("Enter")
    expect(page.get_by_text("No text is ticked.")).to_be_visible()
    press("ArrowDown", "Space", "3", "5", "Enter")
    expect(page.locator("main")).to_contain_text("All done")

    phone = visit("ann2", scheme="dark", width=400)
    phone.go(f"/work/{round}")
    for ticked in (("Nepralin reduced", "Neither attacks", "Attacks were", "Patients on"), ("Sleep improved",)):
        phone.page.wait_for_timeout(SETTLED)
        for name in ticked:
            phone.page.get_by_role("option", name=name).click()
        assert violations(phone) == []
        phone.page.get_by_role("button", name="Next").click()
        phone.page.wait_for_timeout(SETTLED)
    expect(phone.page.locator("main")).to_contain_text("All done")

    run(site, CLOSE)
    attacks = [
        "Nepralin reduced attacks of migraine.",
        "Neither attacks nor sleep differed between the groups.",
        "Attacks were fewer by a third.",
        "Patients on nepralin slept longer and had fewer attacks.",
    ]
    assert run(site, INPUTS) == [["26000000_0", text] for text in attacks]
    desktop = visit("lead", width=1280)
    desktop.go(f"/projects/assigning/rounds/{round}/adjudicate")
    expect(desktop.page.get_by_role("listitem").filter(has_text="Sleep improved on nepralin.").first).to_be_visible()
    assert violations(desktop) == []
    curated(desktop, run(site, REVIEW))


def curated(desktop: Visit, review: object) -> None:
    """Below the grids of a cluster: decide the contested, correct the current value; the rows follow."""
    page = desktop.page
    desktop.go(f"/projects/assigning/reviews/{review}/curate")
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name="Add evidence of: PMID 26000000, conclusion 2").click()
    expect(dialog.get_by_role("option")).to_have_count(5)
    dialog.get_by_role("option", name="Sleep improved").click()
    assert violations(desktop) == []
    dialog.get_by_role("button", name="Save").click()
    rows = page.get_by_role("grid", name="Propositions of PMID 26000000, conclusion 2").get_by_role("row")
    expect(rows.filter(has_text="Sleep improved on nepralin.")).to_have_count(1)
    page.get_by_role("button", name="Correct evidence of: PMID 26000000, conclusion 1").click()
    dialog.get_by_role("option", name="Patients on").click()
    dialog.get_by_role("button", name="Continue").click()
    dialog.get_by_label("Reason, stored in the history").fill("It is about sleep.")
    dialog.get_by_role("button", name="Save correction").click()
    rows = page.get_by_role("grid", name="Propositions of PMID 26000000, conclusion 1").get_by_role("row")
    expect(rows.filter(has_text="Patients on nepralin")).to_have_count(0)
    expect(rows.filter(has_text="Attacks were fewer by a third.")).to_have_count(1)
    assert violations(desktop) == []
