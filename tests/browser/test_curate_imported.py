"""Correcting imported data on the curate page: a tuple, a label, a cue, a relation and an evidence pair."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.annotation.m3_files import as_bytes, cluster, plain, source
from tests.annotation.pubmed_files import article, as_xml
from tests.browser.test_curate import Hands, Visiting, cell, unsaved
from tests.browser.test_screening import run
from tests.processes.site import Site

PMID, STUDY = "26258610", "90000501"
CLUSTER = cluster(
    f"{PMID}_0",
    [
        source(pmid=STUDY),
        source(
            "Relapse was similar with nepralin and placebo.",
            "90000502",
            source_direction="no effect",
            source_modality="moderate",
            source_direction_span="similar",
            source_modality_span="",
        ),
    ],
    discourse_relation="contradiction",
)
TARGET = "Nepralin may reduce relapse in adults."
SENTENCE = plain(f"{PMID}_0", TARGET, (STUDY, "Relapse was rarer on nepralin."))
ABSTRACT = (
    ("RESULTS", "RESULTS", "Relapse was rarer on nepralin."),
    ("CONCLUSIONS", "CONCLUSIONS", "Nepralin may prevent relapse."),
)
#: An evidence round creates the pair of target and study; it closes before anybody answers.
PAIR = """
import json
from accounts.models import User
from annotation.models import Review
from projects.rounds.actions import close_round
from projects.models import Project
from tests.builders import build_round
project = Project.objects.get(slug='brought')
lead = User.objects.get(email='lead@example.org')
close_round(round=build_round(project, list(project.members.all()), kind='evidence'), by=lead)
print(json.dumps(Review.objects.get(project=project, pmid='26258610').pk))
"""


def bring(site: Site, folder: Path, format: str, name: str, content: bytes, *options: str) -> None:
    path = folder / name
    path.write_bytes(content)
    site.manage("import_data", format, str(path), "--project", "brought", *options)


def save(page: Page, reason: str, saved: str) -> None:
    page.keyboard.press("Control+s")
    field = page.get_by_label("Reason for changing a current value")
    expect(field).to_be_focused()
    expect(field).to_have_value("")
    page.keyboard.type(reason)
    page.keyboard.press("Enter")
    unsaved(page, saved)


def type_into(page: Page, grid: str, row: int, title: str, text: str) -> None:
    cell(page, grid, row, title).click()
    Hands(page).press("Enter", "Control+a")
    page.keyboard.type(text)
    Hands(page).press("Enter")


@pytest.mark.long
def test_every_imported_value_can_be_corrected(site: Site, visit: Visiting, tmp_path: Path) -> None:
    bring(site, tmp_path, "m3", "level3.jsonl", as_bytes([CLUSTER]), "--create", "--lead", "lead@example.org")
    bring(site, tmp_path, "m3", "level2.jsonl", as_bytes([SENTENCE]))
    studies = as_xml([article(STUDY, title="Nepralin for relapse.", parts=ABSTRACT, types=["Journal Article"])])
    bring(site, tmp_path, "pubmed", "studies.xml", studies, "--level", "studies", "--review", PMID)
    review = run(site, PAIR)
    lead = visit("lead")
    page = lead.page
    lead.go(f"/projects/brought/reviews/{review}/curate")

    # The tuple, while a label of the same cluster is incomplete: it waits, and causes no conflict later.
    cell(page, "Propositions of", 2, "Modality").click()
    page.keyboard.press("Delete")
    type_into(page, "PICO tuple", 0, "Outcome", "[death]")
    unsaved(page, "2 changes not saved")
    save(page, "It is about death.", "1 change not saved, stored in this browser")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(cell(page, "PICO tuple", 0, "Outcome")).to_contain_text("[death]")
    # That label, the cue of another one, and the relation.
    cell(page, "Propositions of", 2, "Modality").click()
    page.keyboard.press("3")
    hands = Hands(page)
    cell(page, "Propositions of", 1, "Polarity cue").click()
    hands.press("Enter")
    expect(page.locator("dialog [role=listbox]")).to_be_focused()
    hands.mark("may reduce", "a")
    hands.press("Enter")
    expect(page.locator("dialog[open]")).to_have_count(0)
    cell(page, "PICO tuple", 0, "Relation").click()
    page.keyboard.press("a")
    unsaved(page, "3 changes not saved")
    save(page, "Read again.", "3 changes saved")
    # The tuple again.
    type_into(page, "PICO tuple", 0, "Population", "adults")
    save(page, "They are adults.", "1 change saved")

    # The evidence: first where the file gave a text, then where a curator has decided.
    dialog = page.get_by_role("dialog")
    page.get_by_text("1 study, 0 decided").click()
    page.get_by_role("button", name=f"Add evidence of: {TARGET} ({STUDY})").click()
    dialog.get_by_role("option", name="Relapse was rarer on nepralin.").click()
    page.keyboard.press("Enter")
    expect(page.get_by_text("evidence: sentence 1")).to_be_visible()
    page.get_by_role("button", name=f"Correct evidence of: {TARGET} ({STUDY})").click()
    dialog.get_by_role("option", name="Relapse was rarer on nepralin.").click()
    dialog.get_by_role("option", name="Nepralin may prevent relapse.").click()
    dialog.get_by_role("button", name="Continue").click()
    dialog.get_by_label("Reason, stored in the history").fill("The other one says it.")
    dialog.get_by_role("button", name="Save correction").click()
    expect(page.get_by_text("evidence: sentence 2")).to_be_visible()

    page.reload()
    expect(cell(page, "PICO tuple", 0, "Outcome")).to_contain_text("[death]")
    expect(cell(page, "PICO tuple", 0, "Population")).to_contain_text("adults")
    expect(cell(page, "PICO tuple", 0, "Relation")).to_contain_text("agreement")
    expect(cell(page, "Propositions of", 1, "Polarity cue")).to_contain_text("may reduce")
    expect(cell(page, "Propositions of", 2, "Modality")).to_contain_text("weak")
    expect(page.get_by_text("1 source text")).to_be_visible()
    unsaved(page, "All changes saved")
