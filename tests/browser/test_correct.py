"""The dialog to correct a value on the page of a cluster."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_curate import Visiting
from tests.browser.test_screening import run
from tests.processes.site import Site

CLUSTER = """
import json
from accounts.models import User
from pathlib import Path
from tempfile import mkdtemp
from projects.people.actions import create_project
from tests.annotation.m3_files import import_records, cluster, source, write
lead = User.objects.get(email='lead@example.org')
project = create_project(slug='SLUG', name='Corrected', by=lead)
import_records(project, write(Path(mkdtemp()) / 'level3.jsonl', [cluster('26258610_0', [source()])]))
print(json.dumps(project.clusters.get().pk))
"""


def begin(desktop: Visit, polarity: str) -> None:
    """Choose a polarity in the dialog and continue to the reason."""
    page = desktop.page
    page.get_by_role("button", name="Correct the label of target").click()
    page.get_by_role("dialog").get_by_text(polarity, exact=True).first.click()
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Reason, stored in the history").fill("It says so.")


@pytest.mark.long
def test_a_correction_over_a_newer_value_is_refused_and_shows_that_value(site: Site, visit: Visiting) -> None:
    path = f"/projects/corrected/corpus/{run(site, CLUSTER.replace('SLUG', 'corrected'))}"
    first, second = visit("lead"), visit("lead")
    for desktop in (first, second):
        desktop.go(path)
    begin(first, "negative")
    begin(second, "no effect")
    first.page.get_by_role("button", name="Save correction").click()
    expect(first.page.get_by_role("dialog")).to_have_count(0)
    dialog = second.page.get_by_role("dialog")
    dialog.get_by_role("button", name="Save correction").click()
    expect(dialog.get_by_role("alert")).to_contain_text("have changed since they were shown to you")
    expect(dialog).to_contain_text(re.compile("Current value: . negative"))
    dialog.get_by_role("button", name="Save correction").click()
    expect(second.page.get_by_role("dialog")).to_have_count(0)
    expect(second.page.get_by_text("no effect").first).to_be_visible()


@pytest.mark.long
def test_a_cue_is_shown_whole_on_a_phone(site: Site, visit: Visiting) -> None:
    desktop = visit("lead", width=400)
    desktop.go(f"/projects/narrow/corpus/{run(site, CLUSTER.replace('SLUG', 'narrow'))}")
    desktop.page.get_by_role("button", name="Correct the label of target").click()
    cue = desktop.page.get_by_role("dialog").locator(".cue .quote")
    expect(cue).to_have_text("reduces")
    assert cue.evaluate("e => [e.scrollWidth - e.clientWidth, e.scrollHeight - e.clientHeight]") == [0, 0]
