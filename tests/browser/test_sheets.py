"""A lead downloads units as a sheet in the browser and uploads the filled sheet."""

import csv
import io
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import unnamed_controls, violations
from tests.browser.work_page import answers_of, open_round
from tests.processes.site import Site


@pytest.mark.long
def test_a_sheet_is_exported_and_imported_and_its_faults_are_named(visit: Callable[..., Visit], site: Site) -> None:
    texts = [f"The drug number {n} worked well." for n in range(4)]
    round = open_round(site, "sheets", texts)
    lead = visit("lead")
    page = lead.page
    lead.go(f"/projects/sheets/rounds/{round}")
    page.get_by_text("Download or upload a sheet").click()
    away = page.get_by_role("region", name="Offline sheets")
    away.locator("select").first.select_option(index=1)
    away.locator("select").last.select_option("csv")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download sheet").click()
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8-sig"))))
    assert [r["text"] for r in rows] == texts
    for row in rows:
        row |= {"polarity": "positive", "modality": "strong", "modality_cue": "well"}
    rows[1]["polarity"] = "postive"
    body = io.StringIO()
    writer = csv.DictWriter(body, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    sheet = {"name": "filled.csv", "mimeType": "text/csv", "buffer": body.getvalue().encode()}
    page.get_by_label("Filled sheet").set_input_files(sheet)  # type: ignore[arg-type]
    page.get_by_role("button", name="Check sheet").click()
    expect(page.get_by_text("3 rows of 4 will become answers.")).to_be_visible(timeout=30_000)
    expect(page.get_by_role("row", name="'postive' is not one of")).to_be_visible()
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        assert violations(lead) + unnamed_controls(lead) == [], scheme
    page.get_by_role("button", name="Store 3 answers without faults").click()
    expect(page.get_by_text("3 answers stored.")).to_be_visible(timeout=30_000)
    assert len(answers_of(site, round)) == 3


@pytest.mark.long
def test_labels_made_elsewhere_become_a_closed_round(visit: Callable[..., Visit], site: Site) -> None:
    open_round(site, "outside", ["The drug worked well.", "The drug did nothing."])
    lead = visit("lead", width=400)
    page = lead.page
    lead.go("/projects/outside/rounds")
    page.get_by_text("Import external labels").click()
    lines = [
        "unit,rater,polarity,polarity_cue,modality,modality_cue",
        "DEMO0000_0/0,Ada,positive,worked well,moderate,",
        "DEMO0001_0/0,Ada,no effect,did nothing,moderate,",
    ]
    sheet = {"name": "labels.csv", "mimeType": "text/csv", "buffer": "\n".join(lines).encode()}
    page.get_by_label("File").set_input_files(sheet)  # type: ignore[arg-type]
    page.get_by_role("button", name="Check file").click()
    expect(page.get_by_text("2 labels of 2 units")).to_be_visible(timeout=30_000)
    page.get_by_label("Name of the round").fill("Made outside")
    assert violations(lead) + unnamed_controls(lead) == []
    page.get_by_role("button", name="Store 2 labels").click()
    expect(page.get_by_role("link", name="Made outside", exact=True)).to_be_visible(timeout=30_000)
