"""The tutorial of a kind: a short introduction, three units to try, then the first real one; once, also on a phone."""

import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import EXPERIENCED, PEOPLE, Visit
from tests.browser.test_pages import violations
from tests.browser.work_page import SETTLED, open_round
from tests.processes.site import Site

TEXTS = [f"Nepralin had no significant association with relapse in study {n}." for n in range(1, 4)]
#: Simulated reading at 240 words a minute, and seconds per key or tap.
WORDS_A_SECOND, ACTION = 4.0, 0.7
MOST = 90.0
KEYS = {"positive": "a", "no effect": "s", "moderate": "2", "no evidence": "4"}
UNSEEN = f"from accounts.models import User; User.objects.filter(email='{PEOPLE['ann1']}').update(preferences={{}})"


@pytest.fixture
def newcomer(site: Site) -> Iterator[str]:
    """A person who has not seen any tutorial; reset afterwards."""
    site.manage("shell", "-v0", "-c", UNSEEN)
    yield "ann1"
    site.manage("shell", "-v0", "-c", EXPERIENCED)


@dataclass
class Robot:
    """A person who reads everything before each step, by keyboard or touch."""

    page: Page
    touch: bool
    words: int = 0
    actions: int = 0

    @property
    def seconds(self) -> float:
        return self.words / WORDS_A_SECOND + self.actions * ACTION

    def read(self, *where: str) -> None:
        for selector in where:
            self.words += sum(len(text.split()) for text in self.page.locator(selector).all_inner_texts())

    def press(self, button: str) -> None:
        self.actions += 1
        found = self.page.get_by_role("button", name=button)
        found.tap() if self.touch else self.page.keyboard.press("Enter")

    def say(self, first: int, last: int, *values: str) -> None:
        """Mark a range of words and give the values by key or touch."""
        self.page.wait_for_selector("[role=listbox]")
        self.page.wait_for_timeout(SETTLED)
        self.read("[role=listbox]", "dl")
        if self.touch:
            for word in dict.fromkeys((first, last)):
                self.page.locator(f"#w{word}").tap()
                self.actions += 1
            for value in values:
                self.page.get_by_role("radio", name=re.compile(f"^{value}")).tap()
        else:
            # A click sets the cursor, two select the word, and Shift with an arrow extends the selection.
            self.page.locator(f"#w{first}").click(click_count=1 if last > first else 2)
            self.page.wait_for_timeout(100)
            keys = ["Shift+ArrowRight"] * (last - first)
            self.actions += 1 + len(keys)
            for key in [*keys, *(KEYS[value] for value in values)]:
                self.page.keyboard.press(key)
        self.actions += len(values)


def walk(robot: Robot, visit: Visit) -> None:
    """Go from the first page to the first saved label."""
    page = robot.page
    expect(page.get_by_role("heading", name="Introduction")).to_be_visible()
    assert violations(visit) == []
    robot.read(".brief")
    robot.press("Try three units")
    units: list[tuple[int, int, tuple[str, ...]]] = [
        (1, 1, ("positive", "moderate")),
        (2, 4, ("no effect", "moderate")),
        (2, 3, ("no evidence",)),
    ]
    for n, (first, last, values) in enumerate(units):
        robot.say(first, last, *values)
        expect(page.get_by_role("heading", name="As expected", exact=True)).to_be_visible()
        robot.read(".introduction p:not(:has(q))")
        if not n:
            assert violations(visit) == []
        robot.press("Next" if n < 2 else "Begin")
    expect(page.get_by_role("heading", name="Last answers")).to_be_visible()
    robot.say(2, 4, "no effect", "moderate")
    expect(page.locator(".saved")).to_have_text(re.compile(r"^Saved \d\d:\d\d:\d\d$"))
    # A wrong cue would be visible.
    expect(page.locator(".before")).to_contain_text("“no significant association”")


def test_an_annotator_is_introduced_by_keyboard_in_less_than_ninety_seconds_and_once(
    visit: Callable[..., Visit], site: Site, newcomer: str
) -> None:
    round = open_round(site, f"new-{uuid.uuid4().hex[:8]}", TEXTS)
    one = visit(newcomer)
    one.go(f"/work/{round}")
    robot = Robot(one.page, touch=False)
    walk(robot, one)
    print(f"keyboard: {robot.words} words, {robot.actions} actions, {robot.seconds:.0f} s")
    assert robot.seconds < MOST
    one.page.wait_for_timeout(SETTLED)
    one.go(f"/work/{round}")
    expect(one.page.locator("[role=listbox]")).to_have_text(TEXTS[1])
    # The guideline is shown beside the text with the decisions in view; the setting is stored for the person.
    one.page.keyboard.press("g")
    one.page.get_by_role("button", name="Pin").click()
    again = visit(newcomer)
    again.go(f"/work/{round}")
    expect(again.page.get_by_role("complementary", name="Guideline")).to_be_visible()
    assert violations(again) == []
    aside = again.page.get_by_role("complementary", name="Decision").bounding_box()
    assert aside is not None
    assert aside["x"] + aside["width"] <= 1280
    again.page.get_by_role("button", name="Unpin").click()
    expect(again.page.get_by_role("complementary", name="Guideline")).to_have_count(0)


@pytest.mark.long
def test_a_volunteer_is_introduced_on_a_phone_in_less_than_ninety_seconds(
    visit: Callable[..., Visit], site: Site
) -> None:
    slug = f"new-{uuid.uuid4().hex[:8]}"
    round = open_round(site, slug, TEXTS)
    lead = visit("lead")
    lead.go(f"/projects/{slug}/rounds/{round}")
    lead.page.locator("summary", has_text="Create links").click()
    lead.page.get_by_label("Labels, one per line").fill("Phone")
    lead.page.get_by_role("button", name="Make 1 link").click()
    phone = visit(width=400, height=800, touch=True)
    phone.page.goto(lead.page.get_by_label("Link of Phone").input_value())
    phone.page.get_by_role("button", name="Agree and start").tap()
    robot = Robot(phone.page, touch=True)
    walk(robot, phone)
    print(f"touch: {robot.words} words, {robot.actions} actions, {robot.seconds:.0f} s")
    assert robot.seconds < MOST
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 400
    assert not phone.page.locator("kbd:visible").count(), "no keys where there is no keyboard"
    expect(phone.page.get_by_text("Tap a word, tap another to extend")).to_be_visible()
    # Missing values are reported in view on small screens.
    phone.page.set_viewport_size({"width": 400, "height": 500})
    phone.page.wait_for_timeout(SETTLED)
    for value in ("positive", "strong"):
        phone.page.get_by_role("radio", name=value).tap()
    expect(phone.page.get_by_text("No polarity cue for 'positive'")).to_be_in_viewport(ratio=1)
