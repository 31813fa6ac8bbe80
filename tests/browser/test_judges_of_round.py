"""What a judge is worth, as a lead reads it in *Results*: a guideline round of ten clusters and four systems."""

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_lead_path import nothing_for_axe
from tests.browser.test_rating_lead import RATED, RATERS, prepare
from tests.evaluation.judge_endpoint import well
from tests.generation.endpoint import serving
from tests.processes.site import Site

SLUG, WHOLE = "judged", "judged-whole"
CRITERIA = ("Coherence", "Relevance", "Factual consistency")
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


@pytest.mark.long
def test_a_round_is_judged_closed_and_released_with_its_sentences(site: Site, visit: Callable[..., Visit]) -> None:
    """From the plan of the round to the release: three simulated raters, and one judge behind a stub endpoint."""
    prepare(site, WHOLE, clusters=10, systems=4)
    lead = visit("lead")
    page = lead.page
    lead.go(f"/projects/{WHOLE}/rounds/new")
    page.get_by_label("Name", exact=True).fill("Ten clusters")
    page.get_by_label("Rate summaries").check()
    page.get_by_label("People per unit").fill("3")
    for who in RATERS:
        page.get_by_label(who).check()
    expect(page.get_by_role("region", name="Design", exact=True).locator("tbody tr")).to_have_count(4)
    page.get_by_role("button", name="Open round").click()
    page.wait_for_url(re.compile(rf"/projects/{WHOLE}/rounds/\d+$"))
    round = page.url
    site.manage("shell", "-v0", "-c", RATED.replace("ROUND", round.rsplit("/", 1)[1]))

    with serving() as stub:
        stub.reply = well
        # Ten actions, five of them to add the endpoint.
        lead.go(f"/projects/{WHOLE}/judges")
        page.get_by_text("Add an endpoint").click()
        page.get_by_label("Name", exact=True).fill("Stub")
        page.get_by_label("Address").fill(stub.url)
        page.get_by_label("Models, separated by commas").fill("tiny-instruct")
        page.get_by_role("button", name="Add endpoint").click()
        expect(page.get_by_text("Stay inside")).to_be_visible()
        page.get_by_role("link", name="New judge").first.click()
        expect(page.get_by_role("combobox", name="Model")).to_have_value("tiny-instruct")
        page.get_by_label("Name", exact=True).fill("Quill")
        page.get_by_role("button", name="Create judge").click()
        expect(page.get_by_role("region", name="Run on a round")).to_contain_text("No text leaves")
        nothing_for_axe(lead)
        page.get_by_role("button", name="Start run").click()
        expect(page.get_by_role("region", name="Progress")).to_contain_text("10 of 10 answers")
        expect(page.get_by_text("Values are shown with the results")).to_be_visible()
        nothing_for_axe(lead)

    page.goto(round)
    page.get_by_role("button", name="Close round …").click()
    page.get_by_role("button", name="Close round", exact=True).click()
    page.get_by_role("button", name="Unblind …").click()
    page.get_by_role("dialog", name="Unblind round").get_by_role("button", name="Unblind round").click()
    page.get_by_role("region", name="Design", exact=True).get_by_role("link", name="Results").click()
    section = page.get_by_role("region", name="Models as judges")
    expect(section).to_contain_text(f"replace a rater for {CRITERIA[0]}", timeout=120_000)
    said = section.inner_text()
    sentences = [
        found.group() for name in CRITERIA if (found := re.search(rf"[^\n]*replace a rater for {name}[^\n]*", said))
    ]
    assert len(sentences) == len(CRITERIA)
    nothing_for_axe(lead)

    lead.go(f"/projects/{WHOLE}/releases")
    page.get_by_role("button", name="Freeze 1.0.0").click()
    page.get_by_role("dialog").get_by_role("button", name="Freeze anyway").click()
    page.get_by_role("link", name="1.0.0", exact=True).first.click()
    page.get_by_role("button", name="judges/").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="judges/worth.jsonl").click()
    [row] = map(json.loads, download.value.path().read_text().splitlines())
    released = [each["sentence"] for each in row["figures"]["criteria"]]
    assert [one for one in released if any(one in shown for shown in sentences)] == released
    with page.expect_download() as download:
        page.get_by_role("link", name="methods.md", exact=True).click()
    text = " ".join(download.value.path().read_text().split())
    assert all(one in text for one in released)
