"""Rounds of tuples and relations by keyboard only, checked by axe in both schemes and widths."""

import json
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import violations
from tests.browser.work_page import SETTLED
from tests.processes.site import Site

OPEN = """
import json
from accounts.models import User
from annotation.models import Cluster
from projects.curation.actions import correct
from projects.people.actions import add_member, create_project
from tests.builders import build_cluster, build_round, label_value
given = json.loads({given!r})
lead = User.objects.get(email='lead@example.org')
project = create_project(slug=given['slug'], name=given['slug'], by=lead)
member = project.members.get(user=lead)
for n in range(2):
    cluster = build_cluster(project, n, inputs=2)
    for claim, polarity in zip(cluster.propositions.order_by('position'), ('positive', 'positive', 'no effect')):
        correct(unit=claim.unit, kind='label', value=label_value(polarity), reason='', by=member)
person = add_member(project=project, user=User.objects.get(email='ann1@example.org'), role='annotator', by=lead)
options = dict(suggestions=True) if given['kind'] == 'discourse' else dict()
round = build_round(project, [person], kind=given['kind'], options=options, purpose='measure only')
print(json.dumps(round.pk))
"""
SAID = (
    "import json; from projects.models import Answer; from projects import kinds; "
    "rows = list(Answer.objects.filter(assignment__round={round}).order_by('assignment__position')); "
    "values = kinds.get({kind!r}).values(rows); print(json.dumps([values[r.pk] for r in rows]))"
)


def open_round(site: Site, kind: str) -> int:
    """Create a project with two clusters of labelled propositions, and a round of the kind."""
    given = json.dumps({"slug": f"rounds-of-{kind}", "kind": kind})
    return int(site.manage("shell", "-v0", "-c", OPEN.format(given=given)).strip().splitlines()[-1])


def said(site: Site, round: int, kind: str) -> list[dict[str, Any]]:
    out = site.manage("shell", "-v0", "-c", SAID.format(round=round, kind=kind))
    found: list[dict[str, Any]] = json.loads(out.strip().splitlines()[-1])
    return found


def test_tuples_and_relations_are_asked_and_answered_by_keyboard(site: Site, visit: Callable[..., Visit]) -> None:
    both = {kind: open_round(site, kind) for kind in ("tuple", "discourse")}
    page = visit("ann1", scheme="dark", width=400)
    for kind, heading in (("tuple", "Population"), ("discourse", "Do the inputs agree?")):
        page.go(f"/work/{both[kind]}")
        expect(page.page.get_by_text(heading).first).to_be_visible()
        assert violations(page) == []
        assert page.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "no sideways scroll"
    page.page.set_viewport_size({"width": 1280, "height": 800})
    a_relation_takes_one_key_and_a_suggestion_enter(site, page.page, both["discourse"])
    a_tuple_is_typed_and_saved_with_enter(site, page.page, both["tuple"])


def a_relation_takes_one_key_and_a_suggestion_enter(site: Site, page: Page, round: int) -> None:
    page.goto(f"{site.address}/work/{round}")
    expect(page.get_by_text("Suggested by input polarities: contradiction")).to_be_visible()
    strip = page.get_by_role("list", name="Polarities")
    expect(strip).to_contain_text("Input 1: positive")
    expect(strip).to_contain_text("Input 2: no effect")
    expect(strip).to_contain_text("Target: positive")
    page.wait_for_timeout(SETTLED)
    progress = page.locator(".progress").inner_text()
    page.keyboard.press("a")
    expect(page.locator(".progress")).not_to_have_text(progress)
    page.wait_for_timeout(SETTLED)
    page.keyboard.press("Enter")
    expect(page.get_by_text("All done")).to_be_visible()
    expect(page.locator(".saved")).to_contain_text("Saved")
    assert said(site, round, "discourse") == [
        {"relation": "agreement", "suggestion": "edited"},
        {"relation": "contradiction", "suggestion": "accepted"},
    ]


def a_tuple_is_typed_and_saved_with_enter(site: Site, page: Page, round: int) -> None:
    page.goto(f"{site.address}/work/{round}")
    expect(page.get_by_label("Population")).to_be_focused()
    page.wait_for_timeout(SETTLED)
    page.keyboard.press("Enter")
    expect(page.get_by_text("at least one element of the tuple")).to_be_visible()
    page.keyboard.type("[adults]")
    expect(page.get_by_text("implied", exact=True)).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.type("nepralin")
    expect(page.get_by_text("in the text", exact=True)).to_be_visible()
    page.get_by_label("Meaning of the blank comparator").select_option("placebo")
    page.get_by_label("Outcome").focus()
    page.keyboard.type("relapses")
    expect(page.get_by_text("reworded: not verbatim in the text")).to_be_visible()
    progress = page.locator(".progress").inner_text()
    page.keyboard.press("Enter")
    expect(page.locator(".progress")).not_to_have_text(progress)
    expect(page.get_by_label("Population")).to_be_focused()
    expect(page.get_by_label("Population")).to_have_value("")
    expect(page.locator(".saved")).to_contain_text("Saved")
    [value] = said(site, round, "tuple")
    assert {slot: value[slot]["text"] for slot in "pico"} == {
        "p": "[adults]",
        "i": "nepralin",
        "c": "",
        "o": "relapses",
    }
    assert value["c"]["stands_for"] == "placebo"
