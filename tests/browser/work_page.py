"""Helpers for the Work page: pressing keys, reading texts, measuring positions."""

import json
import re
from dataclasses import dataclass, field
from typing import Any, Self

from playwright.sync_api import Locator, Page, Request, expect

from tests.browser.conftest import Visit
from tests.processes.site import Site

#: Longer than the time in which a new text accepts no value key.
SETTLED = 200
KEYS = {"space": " ", "S→": "Shift+ArrowRight", "S←": "Shift+ArrowLeft", "→": "ArrowRight", "←": "ArrowLeft"}
BOXES = """() => [...document.querySelectorAll(
  'aside input, aside button, .actions button, .saved, [role=listbox], .word, .reads, .help, .tuple dd')]
  .filter(e => !e.closest('.cue')).map(e => { const b = e.getBoundingClientRect();
    return [Math.round(b.left), Math.round(b.top + scrollY), Math.round(b.width)].join() })"""
OPEN_ROUND = """
import json
from projects.models import Member, Project
from projects.people.actions import add_member, create_project
from accounts.models import User
from tests.builders import build_cluster, build_round
given = json.loads({given!r})
lead = User.objects.get(email='lead@example.org')
project = create_project(slug=given['slug'], name=given['slug'], by=lead)
for n, text in enumerate(given['texts']):
    build_cluster(project, n, inputs=0, text=text)
users = [User.objects.get(email=e) for e in given['people']]
people = [add_member(project=project, user=u, role='annotator', by=lead) for u in users]
round = build_round(project, people, name='desk', overlap=given['overlap'], purpose='measure only')
print(json.dumps(round.pk))
"""


def to_take(page: Page, way: str, figure: str = "") -> Locator:
    """Return an export button of a figure (one column wide) or table, after opening its list."""
    button = page.get_by_role("button", name=re.compile(f"^Export ?: .*{re.escape(figure)}")).first
    if button.get_attribute("aria-expanded") == "false":
        button.press("Enter")
    return button.locator("xpath=..").locator("li > *").filter(has_text=re.compile(f"^{re.escape(way)}:")).first


def open_round(site: Site, slug: str, texts: list[str], *people: str, overlap: int = 1) -> int:
    """Create a project with one proposition per text and open a round over it; return the round's id."""
    given = json.dumps({"slug": slug, "texts": texts, "people": people or ["ann1@example.org"], "overlap": overlap})
    return int(site.manage("shell", "-v0", "-c", OPEN_ROUND.format(given=given)).strip().splitlines()[-1])


def answers_of(site: Site, round: int) -> list[dict[str, Any]]:
    """Return every revision of every answer of a round."""
    code = (
        "import json; from projects.models import Answer; from projects import kinds; "
        f"rows = list(Answer.objects.filter(assignment__round={round}).select_related('assignment').order_by("
        "'assignment__position', 'assignment_id', 'revision')); values = kinds.get('label').values(rows); "
        "print(json.dumps([{'position': a.assignment.position, 'revision': a.revision, 'outcome': a.outcome, "
        "'unit': a.assignment.unit.key, 'reason': a.reason, 'comment': a.comment, 'flag': a.flag, "
        "'value': values.get(a.pk)} for a in rows]))"
    )
    found: list[dict[str, Any]] = json.loads(site.manage("shell", "-v0", "-c", code).strip().splitlines()[-1])
    return found


@dataclass
class WorkPage:
    """A person on the Work page of a round."""

    visit: Visit
    round: int
    presses: int = 0
    requests: list[Request] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("request", lambda r: self.requests.append(r) if "/api/" in r.url else None)

    @property
    def page(self) -> Page:
        return self.visit.page

    def open(self) -> Self:
        self.page.goto(f"{self.visit.address}/work/{self.round}")
        return self.ready()

    def ready(self) -> Self:
        """Wait for a text, and until it accepts value keys."""
        self.page.wait_for_selector("[role=listbox]")
        self.page.wait_for_timeout(SETTLED)
        return self

    def press(self, keys: str) -> Self:
        """Press keys separated by spaces; `S→` is Shift with the arrow."""
        for key in keys.split():
            self.page.keyboard.press(KEYS.get(key, key))
            self.presses += 1
        return self

    def next(self, keys: str) -> Self:
        """Press keys that complete the unit, and wait for the next text or the end."""
        before = self.progress()
        self.press(keys)
        expect(self.page.locator(".progress").or_(self.page.get_by_text("All done"))).not_to_have_text(before)
        self.page.wait_for_timeout(SETTLED)
        return self

    def progress(self) -> str:
        return self.page.locator(".progress").inner_text()

    def reopen(self, which: int = 0) -> Self:
        """Open one of the last answers again."""
        self.page.locator(".below li button").nth(which).click()
        return self.ready()

    def text(self) -> str:
        return str(self.page.locator("[role=listbox]").evaluate("e => e.textContent"))

    def said(self) -> str:
        return self.page.locator(".saved").inner_text().strip()

    def checked(self) -> tuple[str | None, str | None]:
        """Return the selected polarity and modality."""
        values = self.page.locator("aside input:checked, .groups input:checked").evaluate_all(
            "all => [...new Set(all)].map(e => [e.closest('fieldset').id || e.name, e.value])"
        )
        by: dict[str, str] = dict(values)
        polarity = next((v for k, v in by.items() if "polarity" in k), None)
        modality = next((v for k, v in by.items() if "modality" in k), None)
        return polarity, modality

    def cues(self) -> list[str]:
        return [c.strip("“”") for c in self.page.locator(".cue q").all_inner_texts()]

    def boxes(self) -> list[str]:
        found: list[str] = self.page.evaluate(BOXES)
        return found

    def word_box(self, index: int) -> tuple[float, float]:
        box = self.page.locator(f"#w{index}").bounding_box()
        assert box
        # A third into the word, in whole pixels, as with a real mouse.
        return round(box["x"] + box["width"] / 3), round(box["y"] + box["height"] / 2)

    def drag(self, first: int, last: int) -> Self:
        """Select words with one mouse action: a drag, or a double click on one word."""
        if first == last:
            self.page.mouse.dblclick(*self.word_box(first))
        else:
            self.page.mouse.move(*self.word_box(first))
            self.page.mouse.down()
            # A browser draws a selection frame by frame; an instant drag selects nothing.
            self.page.wait_for_timeout(30)
            self.page.mouse.move(*self.word_box(last), steps=5)
            self.page.wait_for_timeout(50)
            self.page.mouse.up()
        # Nobody moves from the mouse to a key in less than this.
        self.page.wait_for_timeout(60)
        self.presses += 1
        return self

    def until_saved(self) -> Self:
        expect(self.page.locator(".saved")).to_have_text(re.compile(r"^Saved \d\d:\d\d:\d\d$"))
        return self

    def until_text(self, text: str) -> Self:
        """Wait until this text is shown and accepts value keys."""
        shown = "text => document.querySelector('[role=listbox]')?.textContent === text"
        self.page.wait_for_function(shown, arg=text)
        self.page.wait_for_timeout(SETTLED)
        return self

    def sent(self) -> list[dict[str, Any]]:
        """Return the bodies of the answers sent so far."""
        return [json.loads(r.post_data or "{}") for r in self.requests if r.method == "PUT"]
