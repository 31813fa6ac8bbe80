"""A lead trains a tiny model in the browser, cancels it, continues, and uses it as a version."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import both_ways
from tests.browser.test_screening import run
from tests.generation.tiny_models import build
from tests.processes.site import Site

MAKE = """
import json
from pathlib import Path
from django.conf import settings
from accounts.models import User
from generation.systems.actions import create_system, request_version
from generation.models import Version
from projects.people.actions import create_project
from tests.processes.site import until
from tests.generation.findings import import_findings
lead = User.objects.get(email='lead@example.org')
project = create_project(slug='trained', name='Trained', by=lead)
import_findings(project, Path(settings.DATA_DIR) / 'findings.jsonl')
config = {'backend': 'seq2seq', 'level': 'proposition', 'seed': 1, 'model': {'model': 'tiny-bart', 'device': 'cpu'}}
request_version(system=create_system(project=project, name='BART', by=lead), config=config, by=lead)
until(lambda: Version.objects.filter(system__project=project).exists(), 'a worker makes the version')
print(json.dumps(0))
"""


@pytest.mark.long
def test_a_lead_trains_cancels_continues_and_uses_a_model(site: Site, visit: Callable[..., Visit]) -> None:
    pytest.importorskip("accelerate")
    build("bart", site.folder / "models" / "tiny-bart", is_trainable=True)
    run(site, MAKE)
    lead = visit("lead")
    page = lead.page
    lead.go("/projects/trained/trainings")
    page.get_by_role("link", name="New training").first.click()
    page.get_by_label("Name").fill("BART on findings")
    page.get_by_label("Version").select_option("BART v1")
    page.get_by_label("Updates between evaluations").fill("20")
    page.get_by_label("Maximum target tokens").fill("32")
    page.get_by_text("More settings").click()
    page.get_by_label("Maximum updates").fill("160")
    page.get_by_role("button", name="Start training").click()

    expect(page.get_by_role("heading", name="BART on findings")).to_be_visible()
    expect(page.get_by_text("tokens/s", exact=False)).to_be_visible()
    log = page.get_by_role("region", name="Newest events")
    expect(log).to_contain_text("Checkpoint written.")
    expect(page.get_by_role("heading", name="Loss by update")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("The training was cancelled")).to_be_visible()
    expect(page.get_by_text(re.compile("Last checkpoint: update [0-9]+0."))).to_be_visible()
    assert both_ways(lead) == []
    page.get_by_role("button", name="Continue").click()

    expect(page.get_by_text("Done", exact=True)).to_be_visible()
    expect(page.get_by_text(re.compile(r"^160 updates\."))).to_be_visible()
    expect(log).to_contain_text("stored.")
    expect(page.get_by_role("region", name="Log", exact=True)).to_contain_text(
        re.compile("Continued at update [0-9]+0 ")
    )
    settings = page.get_by_role("region", name="Settings", exact=True)
    expect(settings).to_contain_text("Base modeltiny-bart")
    expect(settings).to_contain_text("Maximum updates160")
    assert both_ways(lead) == []
    page.get_by_role("button", name="Use as version").click()
    page.get_by_label("Name of the system").fill("BART, trained")
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page).to_have_url(re.compile("/projects/trained/systems$"))
    expect(page.get_by_text("BART, trained").first).to_be_visible()
