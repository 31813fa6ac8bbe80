"""Rating pages: by keyboard, with counted actions, in each rater's order, without losing anything."""

import gzip
import json
import re
import uuid
from collections.abc import Callable
from typing import Any, Self

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import violations
from tests.browser.work_page import SETTLED, WorkPage
from tests.processes.site import Site

Visiting = Callable[..., Visit]
#: Limit of the Rate page's JavaScript until its first text, in gzipped bytes.
RATE_MAY_WEIGH = 72_000
GUIDELINE, M3, PAIR = "shipped:guideline", "shipped:m3-table-5", "shipped:preference"
BEST_WORST = "shipped:best-worst"
SOURCE_HAS_FOCUS = "() => Boolean(document.activeElement.closest('.studies'))"
OPEN = """
import json
from accounts.models import User
from projects.people.actions import add_member, create_project
from tests.evaluation.rating_rounds import SYSTEMS, build_runs, open_rating
given = json.loads({given!r})
lead = User.objects.get(email='lead@example.org')
project = create_project(slug=given['slug'], name=given['slug'], by=lead)
users = [User.objects.get(email=e) for e in given['people']]
people = [add_member(project=project, user=u, role='evaluator', by=lead) for u in users]
runs = build_runs(project, given['sources'], list(SYSTEMS)[:given['systems']])
print(json.dumps(open_rating(project, people, runs, given['protocol']).pk))
"""
STORED = (
    "import json; from projects.models import Answer; from projects import kinds; "
    "rows = list(Answer.objects.filter(assignment__round={round}).order_by('received_at')); "
    "values = kinds.get('{kind}').values(rows); print(json.dumps([values[a.pk] for a in rows if a.pk in values]))"
)
RATE = """
from accounts.models import User
from projects.models import Round
from tests.evaluation.rating_rounds import rate_all
user = User.objects.get(email='evaluator@example.org')
print(rate_all(user, Round.objects.get(pk={round}), most={most}))
"""
#: Positions of everything that must not move during rating.
BOXES = """() => [...document.querySelectorAll(
  '.asked, .asked label, .evidence, .actions button, .saved, .studies, .texts button')]
  .map(e => { const b = e.getBoundingClientRect();
    return [b.left, b.top + scrollY, b.width, b.height].map(Math.round).join() })"""

#: Heights of the questions' texts with a long text in each.
HEIGHTS_OF_LONG_QUESTIONS = """() => {
  const questions = [...document.querySelectorAll('.asked p > span')].map(e => [e, [...e.childNodes]])
  questions.forEach(([e]) => e.replaceChildren('Long. '.repeat(60)))
  const found = questions.map(([e]) => [e.parentElement.clientHeight, e.parentElement.scrollHeight])
  questions.forEach(([e, texts]) => e.replaceChildren(...texts))
  return found }"""


def open_rating(site: Site, protocol: str, *people: str, sources: int = 2, systems: int = 4) -> int:
    """Open a round in its own project; return its id."""
    given = {
        "slug": f"rating-{uuid.uuid4().hex[:12]}",
        "people": [f"{p}@example.org" for p in people or ("evaluator",)],
        "sources": sources,
        "systems": systems,
        "protocol": protocol,
    }
    return int(site.manage("shell", "-v0", "-c", OPEN.format(given=json.dumps(given))).strip().splitlines()[-1])


class Rating(WorkPage):
    """A person on a rating page."""

    def ready(self) -> Self:
        self.page.wait_for_selector(".asked")
        self.page.wait_for_timeout(SETTLED)
        return self

    def next(self, keys: str) -> Self:
        before = self.progress()
        self.press(keys)
        expect(self.page.locator(".progress")).not_to_have_text(before)
        self.page.wait_for_timeout(SETTLED)
        return self

    def through(self, keys: str) -> Self:
        """Press keys as a person does: after Enter the next text ignores keys for a moment."""
        for key in keys.split():
            self.press(key)
            self.page.wait_for_timeout(SETTLED if key == "Enter" else 20)
        return self

    def shown(self) -> str:
        return str(self.page.locator(".right [role=listbox]").evaluate("e => e.textContent"))

    def marked(self) -> str:
        """Return the question that keys act on, which has the focus."""
        return str(self.page.evaluate("document.activeElement.querySelector('b')?.textContent ?? ''"))

    def orders(self) -> list[list[str]]:
        """Return the texts of the held pages in order."""
        reply = self.page.request.get(f"{self.visit.address}/api/v1/rounds/{self.round}/next/").json()
        return [[text["key"] for text in card["texts"]] for card in reply["fetched"]]

    def scrolled(self) -> int:
        return int(self.page.evaluate("Math.round(scrollY)"))


def stored(site: Site, round: int, kind: str = "rate") -> list[dict[str, Any]]:
    """Return the values of a round's answers."""
    found: list[dict[str, Any]] = json.loads(
        site.manage("shell", "-v0", "-c", STORED.format(round=round, kind=kind)).strip().splitlines()[-1]
    )
    return found


def values(text: dict[str, Any]) -> dict[str, str]:
    return {s["criterion"]: "N/A" if s["na"] else s["value"] for s in text["said"]}


def test_a_guideline_round_takes_four_presses_a_summary_and_never_scrolls(visit: Visiting, site: Site) -> None:
    """10 clusters x 4 systems: the first two and the last page by keyboard, the others by a simulated rater."""
    at = Rating(visit("evaluator"), open_rating(site, GUIDELINE, sources=10)).open()
    boxes = at.page.evaluate(BOXES)
    for visible, whole in at.page.evaluate(HEIGHTS_OF_LONG_QUESTIONS):
        assert visible <= 44 < whole, "a long question takes two lines and scrolls"
    seen = []
    for source in range(3):
        if source == 2:
            at.until_saved()
            made = site.manage("shell", "-v0", "-c", RATE.format(round=at.round, most=7))
            assert made.strip().splitlines()[-1] == "7"
            at.page.reload()
            at.ready()
            expect(at.page.locator(".progress")).to_contain_text("10 of 10")
        for _summary in range(4):
            seen.append(at.shown())
            at.press("5 4 1")
            assert at.page.evaluate(BOXES)[:20] == boxes[:20], "an answer moves nothing"
            assert at.scrolled() == 0
            at.through("Enter")
        expect(at.page.get_by_role("button", name="Final check")).to_have_attribute("aria-current", "step")
        if source < 2:
            before = at.progress()
            at.press("Enter")
            expect(at.page.locator(".progress")).not_to_have_text(before)
            at.page.wait_for_timeout(SETTLED)
    at.press("Enter")
    expect(at.page.locator("main")).to_contain_text("All done")
    assert at.presses == 3 * (4 * 4 + 1)
    assert len(set(seen)) == 12
    at.until_saved()
    found = stored(site, at.round)
    assert len(found) == 10
    assert [values(text) for page in [*found[:2], found[-1]] for text in page["texts"]] == [
        {"coherence": "5", "relevance": "4", "consistency": "consistent"}
    ] * 12


@pytest.mark.long
def test_the_last_look_shows_what_an_answer_was(visit: Visiting, site: Site) -> None:
    at = Rating(visit("evaluator"), open_rating(site, GUIDELINE, sources=1, systems=2)).open()
    at.through("5 4 1 Enter 2 2 2 Enter ArrowRight 1")
    expect(at.page.locator(".look").first).to_contain_text("was 4")
    at.through("Enter").until_saved()
    assert values(stored(site, at.round)[0]["texts"][0])["relevance"] == "1"


@pytest.mark.long
def test_enter_names_what_is_missing_and_undo_goes_back_across_summaries(visit: Visiting, site: Site) -> None:
    at = Rating(visit("evaluator"), open_rating(site, GUIDELINE)).open()
    first = at.shown()
    at.through("5 Enter")
    expect(at.page.get_by_text("Relevance is not answered yet.")).to_be_visible()
    assert at.marked() == "Relevance"
    at.through("4 1 Enter")
    assert at.shown() != first
    at.through("z")
    assert at.shown() == first
    assert at.page.locator(".asked input:checked").count() == 3


@pytest.mark.long
def test_m3_takes_seven_keys_plus_one_per_element_and_three_per_hallucination(visit: Visiting, site: Site) -> None:
    at = Rating(visit("evaluator"), open_rating(site, M3, sources=3, systems=1)).open()
    counted = []
    for keys in ("1 1 1 1 1 1 Enter", "1 2 1 1 1 1 1 Enter", "1 1 1 1 t f n h 1 Enter"):
        at.presses = 0
        before = at.progress()
        at.through(keys)
        expect(at.page.locator(".progress")).not_to_have_text(before)
        counted.append(at.presses)
    assert counted == [7, 8, 10]
    at.until_saved()
    same, slot, marked = (page["texts"][0] for page in stored(site, at.round))
    # The target states no population.
    assert values(same) == {
        "claim": "yes",
        "population": "N/A",
        "intervention": "same",
        "comparator": "same",
        "outcome": "same",
        "polarity": "same",
        "modality": "same",
        "hallucination": "none",
        "repetition": "none",
    }
    assert values(slot) == values(same) | {"population": "different"}
    [span] = next(s for s in marked["said"] if s["criterion"] == "hallucination")["spans"]
    assert span["quote"].lower().startswith("n")


@pytest.mark.long
def test_no_claim_prefills_dependent_answers_visibly(visit: Visiting, site: Site) -> None:
    at = Rating(visit("evaluator"), open_rating(site, M3, sources=1, systems=1)).open()
    boxes = at.page.evaluate(BOXES)
    at.press("2")
    expect(at.page.locator(".asked .prefilled")).to_have_count(2)
    assert at.page.evaluate(BOXES) == boxes
    at.through("1 1 1 Enter").until_saved()
    assert at.presses == 5
    said = {s["criterion"]: s for s in stored(site, at.round)[0]["texts"][0]["said"]}
    assert (said["polarity"]["na"], said["polarity"]["prefilled"]) == (True, True)
    assert (said["modality"]["value"], said["modality"]["prefilled"]) == ("different", True)


@pytest.mark.long
def test_a_pairwise_comparison_takes_one_key(visit: Visiting, site: Site) -> None:
    at = Rating(visit("evaluator"), open_rating(site, PAIR, sources=1, systems=3)).open()
    for key in ("ArrowLeft", "2", "ArrowUp"):
        at.next(key)
    assert at.presses == 3
    at.until_saved()
    found = stored(site, at.round, "compare")
    assert [page["said"][0]["choice"] for page in found] == [found[0]["left"], found[1]["right"], "tie"]


def test_the_best_and_the_worst_of_four_take_two_keys_or_two_clicks(visit: Visiting, site: Site) -> None:
    at = Rating(visit("evaluator"), open_rating(site, BEST_WORST, sources=2, systems=4)).open()
    at.through("r ArrowDown")
    assert at.page.evaluate(SOURCE_HAS_FOCUS)
    at.through("Escape e")
    assert not at.page.evaluate(SOURCE_HAS_FOCUS)
    expect(at.page.get_by_role("button", name="Examples")).to_have_attribute("aria-expanded", "true")
    at.through("Escape 2 4").next("Enter")
    at.page.get_by_role("group", name="Choice, summary 1").get_by_role("button").last.click()
    at.press("Enter")
    expect(at.page.get_by_text("The best is not chosen yet")).to_be_visible()
    at.page.get_by_role("group", name="Choice, summary 3").get_by_role("button").first.click()
    at.press("Enter")
    at.until_saved()
    first, second = (
        [values(text)["best-worst"] for text in page["texts"]] for page in stored(site, at.round, "best_worst")
    )
    assert first == ["neither", "best", "neither", "worst"]
    assert second == ["worst", "neither", "best", "neither"]


@pytest.mark.long
def test_evidence_reasons_and_marks_by_keyboard_and_by_mouse_arrive(visit: Visiting, site: Site) -> None:
    at = Rating(visit("evaluator"), open_rating(site, GUIDELINE, sources=1, systems=2)).open()
    at.through("5 4 2 t f s q r q w")
    at.page.keyboard.type("4 is not in it")
    at.through("Enter")
    expect(at.page.locator(".chip q").first).to_be_visible()
    word = at.page.locator(".right [role=option]").first
    word.dblclick()
    at.page.wait_for_timeout(60)
    at.page.get_by_role("button", name="Quote", exact=True).click()
    at.through("Enter 2 2 2 Enter Enter").until_saved()
    said = stored(site, at.round)[0]["texts"][0]["said"][2]
    assert said["reason"] == "4 is not in it"
    assert [q["in"] for q in said["quotes"]] == ["summary", "source", "summary"]


@pytest.mark.long
def test_examples_lie_over_the_source_and_the_keys_go_on(visit: Visiting, site: Site) -> None:
    at = Rating(visit("evaluator"), open_rating(site, GUIDELINE)).open()
    boxes = at.page.evaluate(BOXES)
    at.press("e")
    expect(at.page.get_by_role("region", name="Examples")).to_contain_text("Coherence")
    at.press("5")
    expect(at.page.get_by_role("region", name="Examples")).to_contain_text("Relevance")
    assert at.page.evaluate(BOXES) == boxes
    at.press("/")
    at.page.keyboard.type("nepralin 5")
    assert at.page.locator(".asked input:checked").count() == 1


@pytest.mark.long
def test_a_reload_keeps_everything_of_an_unfinished_page(visit: Visiting, site: Site) -> None:
    at = Rating(visit("evaluator"), open_rating(site, GUIDELINE)).open()
    at.through("5 4 1 Enter 2 t f r q")
    second = at.shown()
    at.page.wait_for_timeout(300)
    at.page.reload()
    at.ready()
    assert at.shown() == second
    assert at.page.locator(".asked input:checked").count() == 1
    expect(at.page.locator(".chip")).to_have_count(1)
    at.through("z z z")
    assert at.shown() != second


def test_a_page_rated_offline_is_stored_and_sent_later(visit: Visiting, site: Site) -> None:
    at = Rating(visit("evaluator"), open_rating(site, GUIDELINE, systems=2)).open()
    at.through("5")
    at.page.wait_for_timeout(300)
    at.page.route("**/api/v1/answers/**", lambda route: route.abort("internetdisconnected"))
    at.through("4 1 Enter 2 2 2 Enter Enter")
    expect(at.page.locator(".saved")).to_contain_text("1 answer stored")
    assert stored(site, at.round) == []
    at.page.unroute("**/api/v1/answers/**")
    at.through("5 4 1 Enter 2 2 2 Enter Enter")
    at.until_saved()
    assert len(stored(site, at.round)) == 2


@pytest.mark.long
def test_an_ended_session_asks_to_sign_in_and_loses_nothing(visit: Visiting, site: Site) -> None:
    password = "a long enough phrase 18"
    code = "from accounts.models import User; u = User.objects.get(email='evaluator@example.org'); "
    # The first sign-in by a link ends an unverified password.
    visit("evaluator")
    site.manage("shell", "-v0", "-c", code + f"u.set_password({password!r}); u.save()")
    at = Rating(visit("evaluator"), open_rating(site, GUIDELINE, systems=2)).open()
    site.manage(
        "shell", "-v0", "-c", "from django.contrib.sessions.models import Session; Session.objects.all().delete()"
    )
    at.through("5 4 1 Enter 2 2 2 Enter Enter")
    dialog = at.page.locator("dialog[open]")
    expect(dialog).to_be_visible()
    dialog.get_by_label("Password").fill(password)
    dialog.get_by_role("button", name="Sign in").click()
    at.until_saved()
    assert len(stored(site, at.round)) == 1


@pytest.mark.long
def test_a_second_tab_shows_both_versions_and_the_person_decides(visit: Visiting, site: Site) -> None:
    at = Rating(visit("evaluator"), open_rating(site, PAIR, sources=2, systems=2)).open()
    other = at.page.context.new_page()
    other.goto(at.page.url)
    other.wait_for_selector(".asked")
    other.wait_for_timeout(SETTLED)
    other.keyboard.press("ArrowLeft")
    expect(other.locator(".saved")).to_contain_text("Saved")
    at.page.bring_to_front()
    at.press("ArrowRight")
    expect(at.page.locator(".refused")).to_contain_text("newer revision")
    at.ready().press("Enter")
    at.until_saved()
    left, right = (page["said"][0]["choice"] for page in stored(site, at.round, "compare"))
    assert left != right


def test_a_server_killed_in_mid_page_and_a_second_tab_lose_nothing_and_keep_the_order(
    visit: Visiting, site: Site
) -> None:
    at = Rating(visit("evaluator"), open_rating(site, GUIDELINE, sources=2, systems=3)).open()
    first, second = at.orders()
    at.through("5 4 1 Enter 2")
    site.kill_web()
    at.through("2 2 Enter 4 4 1 Enter Enter")
    expect(at.page.locator(".saved")).to_contain_text("1 answer stored")
    at.through("5 4 1 Enter 3")
    shown = at.shown()
    at.page.wait_for_timeout(300)
    site.start_web()
    at.page.reload()
    at.ready()
    assert (at.shown(), at.page.locator(".asked input:checked").count()) == (shown, 1), "a page half rated is as it was"
    assert at.orders() == [second], "what was rated while nobody served is not asked again"
    other = Rating(Visit(at.page.context.new_page(), site.address), at.round).open()
    # A page half rated in one tab continues in another.
    other.through("3 1 Enter 1 1 1 Enter Enter").until_saved()
    at.page.bring_to_front()
    at.through("4 1 Enter 2 2 2 Enter Enter")
    expect(at.page.locator(".refused")).to_contain_text("newer revision")
    at.page.wait_for_selector(".look")
    at.page.wait_for_timeout(SETTLED)
    at.through("Enter").until_saved()
    said = stored(site, at.round)
    assert [[text["text"] for text in page["texts"]] for page in said] == [first, second, second]
    assert [[values(text)["relevance"] for text in page["texts"]] for page in said] == [
        ["4", "2", "4"],
        ["4", "3", "1"],
        ["4", "4", "2"],
    ]


class Thumb:
    """A person with a phone: taps only visible controls, and swipes to others."""

    def __init__(self, page: Page) -> None:
        self.page, self.taps, self.swipes = page, 0, 0

    def tap(self, what: Locator) -> None:
        self.page.wait_for_timeout(SETTLED)
        box, seen = what.bounding_box(), self.page.viewport_size
        assert box
        assert seen
        assert min(box["width"], box["height"]) >= 40, "as large as a finger"
        if box["y"] < 0 or box["y"] + box["height"] > seen["height"]:
            self.swipes += 1
        what.tap()
        self.taps += 1
        assert self.page.evaluate("document.documentElement.scrollWidth") <= seen["width"]
        expect(self.page.locator("kbd").filter(visible=True)).to_have_count(0)


@pytest.mark.long
def test_a_round_is_rated_by_thumb_on_a_phone(visit: Visiting, site: Site) -> None:
    at = Rating(visit("evaluator", width=400, height=800, touch=True), open_rating(site, GUIDELINE, systems=2)).open()
    thumb = Thumb(at.page)
    for _source in range(2):
        for _summary in range(2):
            for name, option in {"Coherence": 3, "Relevance": 4, "Factual consistency": 0}.items():
                thumb.tap(at.page.get_by_role("radiogroup", name=name).locator(".options label").nth(option))
            thumb.tap(at.page.get_by_role("button", name="Next"))
        expect(at.page.get_by_role("button", name="Final check")).to_have_attribute("aria-current", "step")
        thumb.tap(at.page.get_by_role("button", name="Next"))
    expect(at.page.get_by_text("All done")).to_be_visible()
    assert (thumb.taps, thumb.swipes) == (2 * (2 * 4 + 1), 1), (
        "four taps a summary, one at the last look; one swipe, to the first question below a source"
    )
    at.until_saved()
    assert [values(text) for page in stored(site, at.round) for text in page["texts"]] == [
        {"coherence": "4", "relevance": "5", "consistency": "consistent"}
    ] * 4


def no_sideways_scroll(person: Visit) -> None:
    size = person.page.viewport_size
    assert size
    for width in (size["width"], 640, 320):
        person.page.set_viewport_size({"width": width, "height": 700})
        assert person.page.evaluate("document.documentElement.scrollWidth") <= width
    person.page.set_viewport_size(size)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), pytest.param("dark", 400, marks=pytest.mark.long)])
def test_a_rating_page_is_accessible(visit: Visiting, site: Site, scheme: str, width: int) -> None:
    person = visit("evaluator", scheme=scheme, width=width)
    at = Rating(person, open_rating(site, GUIDELINE, sources=1, systems=2)).open()
    no_sideways_scroll(person)
    found = violations(person)
    at.through("e 5")
    at.page.wait_for_timeout(300)
    found += violations(person)
    at.through("e 4 1 t f r q Escape Enter 2 2 2 Enter")
    expect(at.page.locator(".look")).to_have_count(2)
    found += violations(person)
    at = Rating(person, open_rating(site, M3, sources=1, systems=1)).open()
    no_sideways_scroll(person)
    at.through("2 t f r h")
    found += violations(person)
    at = Rating(person, open_rating(site, PAIR, sources=1, systems=2)).open()
    no_sideways_scroll(person)
    assert found + violations(person) == []


def test_the_rate_page_weighs_what_it_may(visit: Visiting, site: Site) -> None:
    """All JavaScript from the address of a page to its first text, compressed."""
    round = open_rating(site, GUIDELINE, sources=1)
    evaluator = visit("evaluator")
    loaded: dict[str, int] = {}
    evaluator.page.on(
        "response", lambda r: loaded.update({r.url: len(gzip.compress(r.body()))}) if r.url.endswith(".js") else None
    )
    evaluator.go(f"/work/{round}")
    expect(evaluator.page.locator(".asked").first).to_be_visible()
    assert sum(loaded.values()) <= RATE_MAY_WEIGH, loaded
    print(f"{sum(loaded.values())} bytes", re.sub(r"https?://[^/]*", "", str(loaded)))
