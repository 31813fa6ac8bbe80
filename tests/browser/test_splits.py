"""A lead splits the data set in the browser, reads what the parts share, and imports parts from a file."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import both_ways


@pytest.mark.long
def test_a_lead_splits_a_data_set_reads_its_leakage_and_discards_it(
    visit: Callable[..., Visit], tmp_path: Path
) -> None:
    lead = visit("lead")
    page = lead.page
    lead.go("/projects/sample/splits")
    # The form is open, because there is no split. Without a change, one press creates the split.
    expect(page.get_by_role("heading", name="New split")).to_be_visible()
    assert both_ways(lead) == []
    page.get_by_label("Parts, in percent").fill("train=60, dev=20, tests=10")
    expect(page.get_by_text("The shares sum to 90%")).to_be_visible()
    expect(page.get_by_role("button", name="Create split")).to_be_disabled()
    page.get_by_label("Parts, in percent").fill("train=50, test=50")
    page.get_by_role("button", name="Create split").click()
    shared = page.get_by_role("region", name="Shared by parts", exact=True)
    expect(shared.get_by_text("None", exact=True)).to_be_visible()
    expect(shared.get_by_role("row", name="Train, test 0 0")).to_be_visible()
    expect(page.get_by_role("region", name="Shares by stratum", exact=True)).to_contain_text("Target polarity")
    expect(page.get_by_role("region", name="Largest component")).to_contain_text("components")
    assert both_ways(lead) == []
    with page.expect_download() as download:
        page.get_by_role("link", name="Export CSV").click()
    lines = download.value.path().read_text().splitlines()
    assert lines[0] == "unit,review,part,component"
    # A file with faults names line and field; without them, its leakage is shown.
    path = tmp_path / "own.csv"
    units = [line.split(",")[0] for line in lines[1:]]
    path.write_text("unit,part\n" + "".join(f"{unit},part_{n % 2}\n" for n, unit in enumerate(units)) + "unheard,dev\n")
    page.get_by_role("button", name="New split").click()
    page.get_by_role("textbox", name="Name").fill("own")
    page.get_by_role("radio", name="From a file").check()
    page.get_by_label("File", exact=True).set_input_files(path)
    page.get_by_role("button", name="Create split").click()
    fault = page.get_by_role("row", name="unheard")
    expect(fault).to_contain_text(str(len(units) + 2))
    corrected = tmp_path / "corrected.csv"
    corrected.write_text(path.read_text().replace("unheard,dev\n", ""))
    page.get_by_label("File", exact=True).set_input_files(corrected)
    page.get_by_role("button", name="Create split").click()
    expect(page.get_by_role("tab", name="own")).to_have_attribute("aria-selected", "true")
    expect(shared.get_by_text("Leaks")).to_be_visible()
    shared.get_by_text("What they share").click()
    assert both_ways(lead) == []
    for name in ("own", "main"):
        page.get_by_role("button", name="Discard split").click()
        page.get_by_role("dialog").get_by_role("button", name="Discard").click()
        expect(page.get_by_role("dialog")).to_be_hidden()
        expect(page.get_by_role("tab", name=name)).to_have_count(0)
    expect(page.get_by_role("heading", name="No splits yet")).to_be_visible()
    assert lead.wrong == []
