"""A review of MS^2 from the corpus to its evidence and a study of it, on a desktop and on a phone."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.annotation.ms2_files import reference, review, study
from tests.browser.conftest import Visit
from tests.browser.test_pages import violations
from tests.processes.site import Site


@pytest.mark.long
def test_a_review_shows_its_pairs_evidence_and_studies(site: Site, visit: Callable[..., Visit], tmp_path: Path) -> None:
    file = tmp_path / "reviews.jsonl"
    studies = [study(), study(reference("12", metadata={"YEAR": None, "SO": "A Journal", "AU": []}))]
    file.write_text(json.dumps(review(included_studies=studies)) + "\n")
    site.manage("import_data", "ms2", str(file), "--project", "ms2-pages", "--create", "--lead", "lead@example.org")
    for at in (visit("lead"), visit("lead", scheme="dark", width=400)):
        page = at.page
        at.go("/projects/ms2-pages/corpus")
        expect(page.get_by_role("row", name="Drug A for pain").get_by_text("Machine only")).to_be_visible()
        page.get_by_role("link", name="Drug A for pain").click()
        expect(page.get_by_role("heading", name="Effects: 2 outcomes")).to_be_visible()
        expect(page.get_by_text("2 studies, 2004, 1 of unknown year")).to_be_visible()
        expect(page.get_by_text("Weak evidence: 0 of 4 scores")).to_be_visible()
        page.get_by_text("5 sentences").click()
        text = page.locator(".frame .text").last
        expect(text).to_have_text(
            "Pain is common . We ask whether Drug A lowers pain in adults . Trials were sought . Drug A lowers pain "
            "Death is not affected ."
        )
        page.get_by_role("button", name="0 of 2 agree").click()
        expect(page.get_by_role("heading", name="drug a → pain")).to_be_visible()
        assert violations(at) == []
        page.get_by_role("button", name="Abstract of Trial 11").click()
        expect(page.get_by_role("dialog").get_by_text("Adults had less pain .")).to_be_visible()
        page.get_by_role("link", name="Open the study").click()
        expect(page.get_by_role("heading", name="Drug A for pain: review 7")).to_be_visible()
        expect(page.get_by_text("Includes the study")).to_be_visible()
        assert violations(at) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("innerWidth")
