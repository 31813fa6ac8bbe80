"""Labelling a proposition with two keys in a round without cues; the page shows nothing about cues."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import violations
from tests.browser.work_page import SETTLED
from tests.processes.site import Site

OPEN = """
import json
from accounts.models import User
from projects.people.actions import add_member, create_project
from tests.builders import build_cluster, build_round
lead = User.objects.get(email='lead@example.org')
project = create_project(slug='without-cues', name='Without cues', by=lead)
build_cluster(project, inputs=3)
person = add_member(project=project, user=User.objects.get(email='ann1@example.org'), role='annotator', by=lead)
print(json.dumps(build_round(project, [person], options=dict(with_cues=False), purpose='measure only').pk))
"""
SAID = """
import json
from annotation.models import Cue, Label
mine = Label.objects.filter(answer__assignment__round__project__slug='without-cues')
print(json.dumps([sorted(mine.values_list('polarity', 'modality')), Cue.objects.filter(label__in=mine).count()]))
"""


def run(site: Site, code: str) -> object:
    return json.loads(site.manage("shell", "-v0", "-c", code).strip().splitlines()[-1])


@pytest.mark.long
def test_two_keys_label_a_proposition_and_the_page_asks_for_no_cue(site: Site, visit: Callable[..., Visit]) -> None:
    round = run(site, OPEN)
    at = visit("ann1", width=1280)
    at.go(f"/work/{round}")
    page = at.page
    expect(page.get_by_text("Cues are not required.")).to_be_visible()
    expect(page.get_by_text("cue", exact=False)).to_have_count(1)
    assert violations(at) == []
    progress = page.locator(".progress")
    for keys in (("s", "2"), ("4",)):
        page.wait_for_timeout(SETTLED)
        before = progress.inner_text()
        for key in keys:
            page.keyboard.press(key)
        expect(progress).not_to_have_text(before)
    phone = visit("ann1", scheme="dark", width=400)
    phone.go(f"/work/{round}")
    expect(phone.page.get_by_text("Cues are not required.")).to_be_visible()
    assert violations(phone) == []
    for value in ("weak", "negative"):
        phone.page.wait_for_timeout(SETTLED)
        phone.page.get_by_role("radio", name=value).click()
    expect(phone.page.locator(".progress")).to_contain_text("4 of 4")
    assert run(site, SAID) == [[["n/a", "no evidence"], ["negative", "weak"], ["no effect", "moderate"]], 0]
