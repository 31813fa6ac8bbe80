"""Splitting sentences into PICO tuples with few actions: mouse and keys, touch, and on the curate page."""

import json
from collections.abc import Callable
from statistics import median
from typing import Any

from playwright.sync_api import Locator, expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import violations
from tests.browser.work_page import SETTLED
from tests.processes.site import Site

TEXTS = [
    "In adults with asthma, nepralin lowered relapse compared with dorsalin.",
    "Nepralin improved sleep and lowered pain.",
    "However, they did not change pain in those above sixty.",
    "All agents were well tolerated in the short term.",
    "Patients with gout relapsed less often on nepralin.",
    "Carriers of rs0000001[A] had early relapses.",
    "Dorsalin had no effect on sleep.",
]
OPEN = """
import json
from accounts.models import User
from annotation.curation.actions import add_review
from projects.people.actions import add_member, create_project
from projects.models import Member
from tests.builders import build_round
lead = User.objects.get(email='lead@example.org')
project = create_project(slug='splitting', name='Splitting', by=lead)
by = Member.objects.get(project=project, user=lead)
rows = [dict(text=text, inputs=[]) for text in json.loads({texts!r})]
review = add_review(project=project, pmid='27000001', title='Nepralin', abstract='', sentences=rows, by=by)
person = add_member(project=project, user=User.objects.get(email='ann1@example.org'), role='annotator', by=lead)
round = build_round(project, [person], kind='pico')
print(json.dumps([round.pk, review.pk]))
"""
SAID = """
import json
from projects import kinds
from projects.models import Answer
answers = list(Answer.objects.filter(assignment__round={round}).order_by('assignment__position'))
values = kinds.get('pico').values([a.pk for a in answers])
print(json.dumps([[[row[s]['text'] or row[s].get('stands_for', '') for s in 'pico'] for row in values[a.pk]['tuples']]
                  for a in answers]))
"""
CLUSTERS = """
import json
from annotation.models import Cluster
found = Cluster.objects.filter(project__slug='splitting').order_by('position')
print(json.dumps([[s.text for s in c.pico.order_by('id')] for c in found]))
"""


def run(site: Site, code: str) -> Any:
    return json.loads(site.manage("shell", "-v0", "-c", code).strip().splitlines()[-1])


class Annotator:
    """Counts a person's actions: a selection, a key, and a typed text each."""

    def __init__(self, visit: Visit, within: Locator | None = None) -> None:
        self.page, self.within = visit.page, within or visit.page.locator("main")
        self.actions = 0

    def select(self, words: str) -> None:
        """Drag over these words with the mouse."""
        box = self.within.get_by_role("listbox")
        drawn = box.locator(".word").all_inner_texts()
        said = words.split()
        at = next(n for n in range(len(drawn)) if [w.strip(",.") for w in drawn[n : n + len(said)]] == said)
        first = box.locator(".word").nth(at).bounding_box()
        last = box.locator(".word").nth(at + len(said) - 1).bounding_box()
        assert first
        assert last
        self.page.mouse.move(first["x"] + 1, first["y"] + first["height"] / 2)
        self.page.mouse.down()
        self.page.mouse.move(last["x"] + last["width"] - 1, last["y"] + last["height"] / 2, steps=3)
        self.page.mouse.up()
        self.page.wait_for_timeout(30)
        self.actions += 1

    def press(self, keys: str) -> None:
        for key in keys.split():
            self.page.keyboard.press(key)
            self.actions += 1

    def write(self, slot: str, text: str) -> None:
        self.press(slot)
        self.page.keyboard.type(text)
        self.actions += 1
        self.press("Enter")

    def tuple(self) -> int:
        """Return the actions since the last tuple."""
        done, self.actions = self.actions, 0
        return done

    def next(self) -> None:
        before = self.within.get_by_role("listbox").inner_text()
        self.press("Enter")
        expect(self.page.get_by_text(before, exact=True).and_(self.page.get_by_role("listbox"))).to_have_count(0)
        self.page.wait_for_timeout(SETTLED)


def test_real_shaped_tuples_take_few_actions_and_touch_splits_too(site: Site, visit: Callable[..., Visit]) -> None:
    round, review = run(site, OPEN.format(texts=json.dumps(TEXTS)))
    at = visit("ann1", width=1280)
    at.go(f"/work/{round}")
    at.page.get_by_role("listbox").wait_for()
    at.page.wait_for_timeout(SETTLED)
    annotator, counts = Annotator(at), []
    annotator.select("nepralin")
    annotator.select("relapse")
    annotator.select("dorsalin")
    annotator.select("adults with asthma")
    assert violations(at) == []
    annotator.next()
    counts.append(annotator.tuple())

    annotator.select("Nepralin")
    annotator.select("sleep")
    counts.append(annotator.tuple())
    annotator.press("n")
    expect(at.page.get_by_text("same as proposition 1: change an element")).to_be_visible()
    annotator.press("Enter")
    expect(at.page.get_by_text("Proposition 2 equals proposition 1.")).to_be_visible()
    annotator.actions -= 1  # it was refused, so an experienced person does not press it
    annotator.select("pain")
    annotator.next()
    second = annotator.tuple()
    counts.append(second)

    annotator.write("i", "nepralin tablets")
    expect(at.page.get_by_text("[nepralin tablets]").first).to_be_visible()
    annotator.select("pain")
    annotator.select("those above sixty")
    annotator.press("p")
    annotator.next()
    counts.append(annotator.tuple())

    annotator.write("i", "anti-VEGF agents")
    annotator.select("tolerated")
    annotator.press("1")
    annotator.next()
    counts.append(annotator.tuple())

    annotator.write("o", "often relapsed")
    annotator.select("nepralin")
    annotator.select("Patients with gout")
    annotator.press("p")
    annotator.next()
    counts.append(annotator.tuple())

    annotator.select("rs0000001[A]")
    annotator.select("early relapses")
    annotator.next()
    counts.append(annotator.tuple())
    assert counts == [5, 2, 3, 7, 6, 7, 3]
    assert median(counts) <= 6
    assert second <= 3

    phone = visit("ann1", scheme="dark", width=400, touch=True)
    phone.go(f"/work/{round}")
    phone.page.get_by_role("listbox").wait_for()
    phone.page.wait_for_timeout(SETTLED)
    phone.page.locator(".word", has_text="Dorsalin").tap()
    phone.page.get_by_role("button", name="Intervention").first.tap()
    phone.page.locator(".word", has_text="sleep").tap()
    phone.page.get_by_role("button", name="Outcome").first.tap()
    phone.page.get_by_role("button", name="none", exact=True).tap()
    assert violations(phone) == []
    phone.page.get_by_role("button", name="Next").tap()
    expect(phone.page.locator("main")).to_contain_text("All done")
    assert run(site, SAID.format(round=round)) == [
        [["adults with asthma", "nepralin", "dorsalin", "relapse"]],
        [["", "Nepralin", "", "sleep"], ["", "Nepralin", "", "pain"]],
        [["those above sixty", "[nepralin tablets]", "", "pain"]],
        [["", "[anti-VEGF] agents", "placebo", "tolerated"]],
        [["Patients with gout", "nepralin", "", "often relapsed"]],
        [["", "rs0000001[A]", "", "early relapses"]],
        [["", "Dorsalin", "none", "sleep"]],
    ]

    curator = visit("lead", width=1280)
    curator.go(f"/projects/splitting/reviews/{review}/curate")
    curator.page.get_by_role("button", name="Add PICO tuples of: Dorsalin had").click()
    dialog = curator.page.get_by_role("dialog")
    dialog.get_by_role("listbox").wait_for()
    curator.page.wait_for_timeout(SETTLED)
    at_dialog = Annotator(curator, dialog)
    at_dialog.select("Dorsalin")
    at_dialog.select("sleep")
    assert violations(curator) == []
    at_dialog.press("Enter")
    expect(curator.page.get_by_text("PICO tuples: Dorsalin → sleep")).to_be_visible()
    expect(curator.page.get_by_role("grid").first).to_contain_text("Dorsalin")
    assert run(site, CLUSTERS) == [["", "Dorsalin", "", "sleep"]]
