"""A lead starts a reading with a tiny classifier, cancels one, sees what it gave and the scores, and withdraws it."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from annotation.models import SENTENCE_CLASSES
from tests.browser.conftest import Visit
from tests.browser.test_generation import narrow_too, no_worker
from tests.browser.test_lead_path import nothing_for_axe
from tests.browser.test_screening import run
from tests.generation.tiny_encoders import build
from tests.processes.site import Site

OPEN = """
import json
from accounts.models import User
from annotation.models import Review
from projects.curation.actions import correct
from projects.models import Unit
from projects.people.actions import create_project
lead = User.objects.get(email='lead@example.org')
project = create_project(slug='readings', name='Readings', by=lead)
for n in range(40):
    unit = Unit.objects.create(project=project, type='review', key=str(26000000 + n), made_by=lead)
    Review.objects.create(project=project, pmid=unit.key, unit=unit, title=f'Nepralin {n}',
                          abstract='Nepralin is new. We gave nepralin to adults. Pain fell.')
print(json.dumps(project.pk))
"""
DECIDE = """
import json
from annotation.models import Review
from annotation.clusters.sentences import split
from projects.curation.actions import correct
from projects.models import Member, Project
from projects.stored_figures.actions import compute_and_store
project = Project.objects.get(slug='readings')
review = Review.objects.get(project=project, pmid='26000000')
split([review])
said = [dict(number=n, said='EFFECT') for n in (1, 2, 3)]
correct(unit=review.unit, kind='sentences', value=dict(sentence_classes=said), reason='Read.',
        by=Member.objects.get(project=project, role='lead'))
compute_and_store(project=project)
print(json.dumps(0))
"""


@pytest.mark.long
def test_a_lead_reads_texts_cancels_sees_scores_and_withdraws(site: Site, visit: Callable[..., Visit]) -> None:
    pytest.importorskip("torch")
    run(site, OPEN)
    models = site.folder / "models"
    build("bert", models / "classes", labels=SENTENCE_CLASSES, positions=128)
    build("bert", models / "others", labels=("GOOD", "BAD"), positions=128)
    lead = visit("lead")
    page = lead.page
    lead.go("/projects/readings/readings")
    nothing_for_axe(lead)
    folder = page.get_by_role("combobox", name="Model", exact=True)
    start = page.get_by_role("button", name="Read texts")
    page.get_by_role("combobox", name="Task").select_option("sentences")
    folder.select_option("others")
    expect(page.get_by_text("The folder has the labels GOOD, BAD.")).to_be_visible()
    expect(start).to_be_disabled()
    folder.select_option("classes")
    expect(page.get_by_text("40 texts to read")).to_be_visible()

    with no_worker(site):
        start.click()
        expect(page.get_by_text("Queued …").or_(page.get_by_text("Waiting for a worker"))).to_be_visible()
        expect(start).to_be_disabled()
        narrow_too(lead)
        page.get_by_role("button", name="Cancel").click()
        expect(start).to_be_enabled()
        expect(page.get_by_text("No model has read texts here")).to_be_visible()
    start.click()
    expect(page.get_by_text("Last time, classes read 40 texts of 40.")).to_be_visible(timeout=120_000)
    row = page.get_by_role("row").filter(has_text="classes")
    expect(row).to_contain_text("40")
    nothing_for_axe(lead)
    narrow_too(lead)

    run(site, DECIDE)
    lead.go("/projects/readings/results")
    page.get_by_role("tab", name=re.compile("Machine readings compared")).click()
    scores = page.get_by_role("region", name=re.compile("Table: Machine readings compared"))
    expect(scores.get_by_role("row").filter(has_text="EFFECT").first).to_contain_text("3")
    for column in ("n", "Precision", "Recall", "F1"):
        expect(scores.get_by_role("columnheader", name=re.compile(column)).first).to_be_visible()

    lead.go("/projects/readings/readings")
    page.get_by_text(re.compile("On a worker.s machine")).click()
    page.get_by_label("Model", exact=True).fill("elsewhere")
    page.get_by_role("button", name="Read texts").click()
    expect(page.get_by_text("There is no folder 'elsewhere'")).to_be_visible(timeout=60_000)
    page.get_by_role("button", name=re.compile("Withdraw …")).click()
    page.get_by_role("dialog").get_by_role("button", name="Withdraw").click()
    expect(page.get_by_text("No model has read texts here")).to_be_visible(timeout=60_000)
