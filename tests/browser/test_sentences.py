"""Sentences of abstracts on a desktop and on a phone: actions per abstract in both modes."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import violations
from tests.browser.test_screening import run
from tests.browser.work_page import SETTLED
from tests.processes.site import Site

OPEN = """
import json
from accounts.models import User
from annotation.formats.pubmed.record import compose_abstract
from annotation.models import Review
from projects.people.actions import add_member, create_project
from projects.models import Unit
from tests.builders import build_round
lead = User.objects.get(email='lead@example.org')
project = create_project(slug='sentences', name='Sentences', by=lead)
abstract, sections = compose_abstract([
    ('BACKGROUND', 'BACKGROUND', 'Migraine is a common cause of sick leave. We assessed whether nepralin prevents it.'),
    ('METHODS', 'METHODS', 'We searched four data bases up to 2023. Two people screened what was found. '
     'We took randomised trials of nepralin against placebo. Effects were put together by random effects.'),
    ('RESULTS', 'RESULTS', 'Nine trials with 1,204 adults were included. Days with migraine fell by 1.4 a month. '
     'Pain fell by 1.2 points in one trial, by 0.8 in another and by 0.1 in a third. Six trials found an effect.'),
    ('CONCLUSIONS', 'CONCLUSIONS', 'Nepralin reduces the days with migraine. There is no evidence on relapse.'),
])
for n in range(2):
    unit = Unit.objects.create(project=project, type='review', key=str(26000000 + n), made_by=lead)
    Review.objects.create(project=project, pmid=unit.key, unit=unit, title=f'Nepralin for migraine, review {n}',
                          abstract=abstract, sections=[section._asdict() for section in sections])
person = add_member(project=project, user=User.objects.get(email='ann1@example.org'), role='annotator', by=lead)
rounds = [build_round(project, [person], kind='sentences', name=task, options=dict(sentence_task=task))
          for task in ('sentence_classes', 'evidence_sentences')]
print(json.dumps([round.pk for round in rounds]))
"""
SAID = (
    "import json; from annotation.models import AbstractReading; "
    "print(json.dumps([[r.task, r.dropped, list(r.marks.order_by('sentence__number').values_list('label', flat=True))] "
    "for r in AbstractReading.objects.order_by('pk')]))"
)
CLOSE = """
import json
from accounts.models import User
from annotation.models import Review
from projects.gold.actions import finish_round
from projects.rounds.actions import close_round
from projects.models import Round
lead = User.objects.get(email='lead@example.org')
for round in Round.objects.filter(project__slug='sentences'):
    close_round(round=round, by=lead)
    finish_round(round=round, by=lead)
print(json.dumps(Review.objects.get(project__slug='sentences', pmid='26000000').pk))
"""
CLASSES = ["BACKGROUND", "GOAL", *["METHODS"] * 4, "METHODS", *["DETAILED_FINDINGS"] * 3, "EFFECT", "EFFECT"]
EVIDENCE = [*["neither"] * 7, "picked", "table data", "needs aggregation", "picked", "picked"]


def press(page: Page, keys: list[str]) -> int:
    """Press keys and return their number."""
    for key in keys:
        page.keyboard.press(key)
    return len(keys)


def test_twelve_sentences_take_thirteen_presses_and_evidence_no_more(site: Site, visit: Callable[..., Visit]) -> None:
    rounds = run(site, OPEN)
    assert isinstance(rounds, list)
    classes, evidence = rounds
    at = visit("ann1", width=1280)
    at.go(f"/work/{classes}")
    page = at.page
    expect(page.get_by_text("review 0")).to_be_visible()
    expect(page.get_by_role("option")).to_have_count(12)
    expect(page.get_by_role("group", name="RESULTS").get_by_role("option")).to_have_count(4)
    page.wait_for_timeout(SETTLED)
    assert violations(at) == []
    place = "e => [e.offsetTop, e.offsetHeight]"
    box = page.get_by_role("option").last.evaluate(place)
    assert press(page, list("123333344466")) == 12
    expect(page.get_by_text("Enter to complete the abstract")).to_be_visible()
    assert page.get_by_role("option").last.evaluate(place) == box, "no text moves when something is said"
    assert violations(at) == []
    page.keyboard.press("Enter")  # the thirteenth
    expect(page.get_by_text("review 1")).to_be_visible()

    at.go(f"/work/{evidence}")
    expect(page.get_by_text("Which sentences contain evidence?")).to_be_visible()
    page.wait_for_timeout(SETTLED)
    taken = press(page, [*["ArrowDown"] * 7, "p", "2", "4", "p", "p", "Enter"])
    assert taken == 13, "seven sentences that bear none, five that are picked or refused, and the end"
    expect(page.get_by_text("review 1")).to_be_visible()
    page.wait_for_timeout(SETTLED)
    press(page, ["d", "Enter"])
    expect(page.locator("main")).to_contain_text("All done")
    assert run(site, SAID) == [
        ["sentence_classes", "", CLASSES],
        ["evidence_sentences", "", EVIDENCE],
        ["evidence_sentences", "too many studies", []],
    ]

    phone = visit("ann1", scheme="dark", width=400)
    phone.go(f"/work/{classes}")
    expect(phone.page.get_by_text("review 1")).to_be_visible()
    phone.page.wait_for_timeout(SETTLED)
    choices = phone.page.get_by_role("group", name=re.compile("Sentence .* of 12"))
    for said in ["Background", "Goal", *["Methods"] * 5, *["Detailed findings"] * 3, "Effect", "Effect"]:
        choices.get_by_role("button", name=said).click()
    assert violations(phone) == []
    phone.page.get_by_role("option").first.click()
    expect(phone.page.get_by_role("group", name="Sentence 1 of 12")).to_be_visible()
    phone.page.get_by_role("button", name="Next").click()
    expect(phone.page.locator("main")).to_contain_text("All done")
    assert run(site, SAID)[-1] == ["sentence_classes", "", CLASSES]  # type: ignore[index]

    review = run(site, CLOSE)
    desktop = visit("lead", width=1280)
    desktop.go(f"/projects/sentences/reviews/{review}/curate")
    expect(desktop.page.get_by_role("button", name="New cluster from")).to_have_count(3)
    desktop.page.get_by_text("Background and target, from sentence classes").click()
    target = "Nepralin reduces the days with migraine. There is no evidence on relapse."
    expect(desktop.page.get_by_text(target, exact=True)).to_be_visible()
    desktop.page.get_by_role("button", name="Correct the text: Nepralin reduces").click()
    dialog = desktop.page.get_by_role("dialog")
    dialog.get_by_label("Text").fill("Nepralin reduces days with migraine.")
    dialog.get_by_label("Reason").fill("A word too much.")
    assert violations(desktop) == []
    dialog.get_by_role("button", name="Save corrected text").click()
    expect(desktop.page.get_by_role("button", name="Correct the text: Nepralin reduces days")).to_be_visible()
    expect(desktop.page.get_by_role("button", name="New cluster from")).to_have_count(3)
