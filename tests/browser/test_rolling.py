"""A rolling round: opened without units, and refreshed by its lead."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_curate import lines, make_review
from tests.browser.test_pages import unnamed_controls, violations
from tests.processes.site import Site


@pytest.mark.long
def test_a_rolling_round_opened_without_units_takes_in_later_ones(
    visit: Callable[..., Visit], site: Site, tmp_path: Path
) -> None:
    make_review(site, "rolling", lines()[2])
    lead = visit("lead")
    page = lead.page
    lead.go("/projects/rolling/rounds/new?rolling=true&kind=label")
    page.get_by_label("Name", exact=True).fill("As they come")
    page.get_by_role("group", name="People of the round").get_by_role("checkbox").first.check()
    later = page.get_by_label("Add new units")
    expect(later).to_be_checked()
    later.uncheck()
    expect(page.get_by_role("button", name="Open round")).to_be_disabled()
    later.check()
    expect(page.get_by_text("the selection of units, people per unit")).to_be_visible()
    page.get_by_role("button", name="Open round").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("As they come")
    expect(page.get_by_text("added while the round is open")).to_be_visible()
    assert violations(lead) == []
    assert unnamed_controls(lead) == []
    line = lines()[0]
    (tmp_path / "more.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    site.manage("import_data", "m3", str(tmp_path / "more.jsonl"), "--project", "rolling")
    page.get_by_role("button", name="Add new units").click()
    units = page.locator("main .header")
    expect(units).to_contain_text(f"{1 + len(line['input_studies'])} \N{MULTIPLICATION SIGN}")
