"""Populations, interventions and outcomes in abstracts, on a desktop and on a phone; and MS^2's published sample."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import violations
from tests.browser.test_screening import run
from tests.browser.work_page import SETTLED
from tests.processes.site import Site

SAMPLE = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "ms2" / "sample.json"
OPEN = """
import json
from pathlib import Path
from accounts.models import User
from annotation.models import MachineReading, Review
from projects.people.actions import add_member, create_project
from projects.models import Import, Unit
from django.utils import timezone
from measures.pio import untag
from tests.builders import build_round
given = json.loads({given!r})
lead = User.objects.get(email='lead@example.org')
project = create_project(slug=given['slug'], name='Entities', by=lead)
tagged = json.loads(Path(given['file']).read_text())['abstract'] if given['file'] else given['text']
text, tags = untag(tagged)
imported = Import.objects.create(project=project, format='ms2', file_name='reviews.jsonl', sha256='a' * 64, size=1,
                                 counts={{}}, report={{}}, created_by=lead, created_at=timezone.now())
for n in range(given['reviews']):
    unit = Unit.objects.create(project=project, type='review', key=str(26000000 + n), made_by=lead)
    review = Review.objects.create(project=project, pmid=unit.key, unit=unit, abstract=text,
                                   title=f'Nepralin, review {{n}}')
    MachineReading.objects.create(task='pio', review=review, values=dict(tags=tags), imported=imported)
person = add_member(project=project, user=User.objects.get(email='ann1@example.org'), role='annotator', by=lead)
round = build_round(project, [person], kind='entity', options=dict(abstracts='both', suggest_spans=given['suggest']))
print(json.dumps([round.pk, text]))
"""
SAID = """
import json
from annotation.models import EntitySpan
print(json.dumps(list(EntitySpan.objects.filter(reading__unit__project__slug={slug!r}).order_by('pk')
                      .values_list('element', 'quote', 'suggestion'))))
"""
TAGGED = (
    "BACKGROUND We asked whether <int> nepralin </int> lowers the <out> risk of <pop> hip fracture </out> in women "
    "</pop> over 65 years . RESULTS <out> Hip fracture </out> was rare . 😀 "
)
WORDS = """() => [...document.querySelectorAll('[role=listbox] .word')].map(e => e.textContent)"""
#: The number of bars that are drawn, apart from the edges of hatched ones and the patterns.
BARS = """() => new Set([...document.querySelectorAll('.frame svg > rect.bar')]
  .map(b => ['p', 'i', 'o'].find(e => b.classList.contains(e)) + b.getAttribute('y') + b.getAttribute('x'))).size"""


GIVEN: dict[str, Any] = {"slug": "entities", "file": "", "text": TAGGED, "reviews": 3, "suggest": False}


def opened(site: Site, **given: Any) -> tuple[int, str]:
    opened: Any = run(site, OPEN.format(given=json.dumps(GIVEN | given)))
    return opened[0], opened[1]


def press(page: Page, keys: Sequence[str]) -> None:
    for key in keys:
        page.keyboard.press(key)


def stored(page: Page) -> str:
    text: str = page.locator(".frame .text").evaluate("e => e.textContent")
    return text


def test_spans_cross_nest_move_and_go_by_keyboard_alone(site: Site, visit: Callable[..., Visit]) -> None:
    round, text = opened(site)
    at = visit("ann1", width=1280)
    at.go(f"/work/{round}")
    page = at.page
    expect(page.get_by_role("heading", name="Which words name")).to_be_visible()
    page.wait_for_timeout(SETTLED)
    assert stored(page) == text
    assert violations(at) == []
    spans = page.locator(".spans li button")
    # "risk of hip fracture" is an outcome, and the population that crosses it begins inside it.
    press(page, ["f", "r", *["Shift+ArrowRight"] * 3, "o"])
    expect(spans).to_have_text(["OOutcome risk of hip fracture"])
    press(page, ["ArrowLeft", *["Shift+ArrowRight"] * 3, "p"])
    press(page, ["ArrowLeft", "ArrowLeft", "i"])
    expect(spans).to_have_count(3)
    expect(page.get_by_text("3 spans at the cursor")).to_be_visible()
    press(page, ["Tab", "Shift+ArrowRight"])
    expect(page.locator(".chosen q")).to_have_text("fracture in")
    press(page, ["e", "Shift+ArrowLeft"])
    expect(page.locator(".chosen q")).to_have_text("hip fracture in")
    press(page, ["Backspace"])
    expect(spans).to_have_count(2)
    press(page, ["z", "z", "z"])
    expect(page.locator(".spans li button").filter(has_text="Intervention")).to_have_text("IIntervention fracture")
    assert stored(page) == text
    press(page, ["Backspace", "Enter"])
    expect(page.get_by_text("Nepralin, review 1")).to_be_visible()
    page.wait_for_timeout(SETTLED)

    # By mouse: a drag from below a word back to another, then a button; and a click on a line chooses its span.
    first = page.locator(".word", has_text="nepralin").first
    last = page.locator(".word", has_text="lowers").first
    last.hover()
    end = last.bounding_box()
    assert end
    page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2 + 18)
    page.mouse.down()
    first.hover()
    page.mouse.up()
    page.get_by_role("button", name="Intervention").first.click()
    expect(spans).to_have_text(["IIntervention nepralin lowers"])
    box = first.bounding_box()
    assert box
    page.mouse.click(box["x"] + 10, box["y"] + box["height"] / 2 + 18)
    expect(page.locator(".chosen q")).to_have_text("nepralin lowers")
    page.reload()
    expect(spans).to_have_text(["IIntervention nepralin lowers"])
    page.wait_for_timeout(SETTLED)
    page.keyboard.press("Enter")

    phone = visit("ann1", scheme="dark", width=400)
    phone.go(f"/work/{round}")
    expect(phone.page.get_by_text("Nepralin, review 2")).to_be_visible()
    phone.page.wait_for_timeout(SETTLED)
    phone.page.locator(".word", has_text="nepralin").first.dblclick()
    phone.page.get_by_role("button", name="Intervention").first.click()
    assert violations(phone) == []
    phone.page.get_by_role("button", name="Next").click()
    expect(phone.page.locator("main")).to_contain_text("All done")
    assert run(site, SAID.format(slug="entities")) == [
        ["p", "hip fracture in women", ""],
        ["o", "risk of hip fracture", ""],
        ["i", "nepralin lowers", ""],
        ["i", "nepralin", ""],
    ]


@pytest.mark.skipif(not SAMPLE.exists(), reason="shared/data/ms2/sample.json is absent")
def test_every_span_of_the_published_sample_is_drawn_and_accepted_by_one_key(
    site: Site, visit: Callable[..., Visit]
) -> None:
    round, text = opened(site, slug="ms2-sample", file=str(SAMPLE), reviews=1, suggest=True)
    at = visit("ann1", width=1280)
    at.go(f"/work/{round}")
    page = at.page
    expect(page.get_by_role("heading", name="24 spans 24 undecided")).to_be_visible()
    page.wait_for_timeout(SETTLED)
    assert stored(page) == text
    assert page.evaluate(BARS) >= 24
    assert violations(at) == []
    press(page, ["n", *["a"] * 24])
    expect(page.get_by_text("No suggestion left.")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_contain_text("All done")
    said = run(site, SAID.format(slug="ms2-sample"))
    assert isinstance(said, list)
    assert (len(said), {outcome for *_, outcome in said}) == (24, {"accepted"})
