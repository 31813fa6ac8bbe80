"""What a judge is worth, as a lead reads it in *Results*: a guideline round of ten clusters and four systems."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_lead_path import nothing_for_axe
from tests.processes.site import Site

SLUG = "judged"
PREPARED = f"""
from accounts.models import User
from django.core.management import call_command
from projects.people.actions import add_member, create_project
from tests.evaluation.judged_rounds import extended, judge_by_quality, judge_round
from tests.evaluation.rating_rounds import build_runs, close_rating_round
lead = User.objects.get(email='lead@example.org')
project = create_project(slug={SLUG!r}, name='Judged', by=lead)
raters = [User.objects.get(email=f'{{who}}@example.org') for who in ('evaluator', 'ann1', 'ann2')]
for user in raters:
    add_member(project=project, user=user, role='evaluator', by=lead)
design = close_rating_round(project, lead, raters, build_runs(project, clusters=40), name='Ten clusters', sample=10)
judge_round(design, judge_by_quality(), judge_set=extended(design))
call_command('compute_ratings', '--project', {SLUG!r})
"""


@pytest.fixture(scope="module")
def judged(site: Site) -> None:
    site.manage("shell", "-v0", "-c", PREPARED)


@pytest.mark.usefixtures("judged")
def test_a_lead_reads_in_one_sentence_what_a_judge_is_worth(visit: Callable[..., Visit]) -> None:
    lead = visit("lead")
    page = lead.page
    lead.go(f"/projects/{SLUG}/results")
    section = page.get_by_role("region", name="Models as judges")
    sentence = section.get_by_text("replace a rater for Coherence").first
    expect(sentence).to_be_visible()
    table = section.get_by_role("region", name="Table: Agreement of Quill v1 with people")
    expect(table.get_by_role("row")).to_have_count(4)
    expect(section.get_by_role("region", name="Table: Biases of Quill v1")).to_contain_text("Coherence")
    expect(section.get_by_role("table", name="Coherence: people, and people with the judge")).to_contain_text(
        "Alder, with judge"
    )
    for width in (400, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        nothing_for_axe(lead)
