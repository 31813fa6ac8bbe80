"""The ten numbered checks of the interaction design (INTERACTION, section 4)."""

import random
import re
import uuid
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.work_page import WorkPage, answers_of, open_round
from tests.processes.site import Site, until

Visiting = Callable[..., Visit]
EFFECTS = (
    "The pooled evidence confirmed that, compared with placebo, nepralin was associated with equivalent effects on "
    "relapse at 1 year and with a higher risk of systemic serious adverse events."
)
NEITHER = "Neither nepralin nor placebo had a significant association with the occurrence of relapse of any type."
ASTRAL = "For 𝛽-carotene, naïve patients and Icare® PRO the risk of relapse was not significantly reduced by nepralin."
PLAIN = "Nepralin was noninferior to placebo for relapse at 1 year with similar safety profiles."


@pytest.fixture
def work(visit: Visiting, site: Site) -> Callable[..., WorkPage]:
    """``work([texts])``: ann1 on the Work page of a new round over these texts."""

    def make(texts: list[str], **options: object) -> WorkPage:
        slug = f"work-{uuid.uuid4().hex[:12]}"
        return WorkPage(visit("ann1", **options), open_round(site, slug, texts)).open()

    return make


def test_1_and_7_seven_keys_save_a_label_with_its_cue_and_undo_reverts_the_last_step(
    work: Callable[..., WorkPage], site: Site
) -> None:
    at = work([EFFECTS, PLAIN])
    at.next("f e f e S→ s 2")
    assert at.text() == PLAIN
    at.until_saved()
    (stored,) = answers_of(site, at.round)
    assert (stored["value"]["polarity"], stored["value"]["modality"]) == ("no effect", "moderate")
    assert [f["quote"] for f in stored["value"]["polarity_cue"]] == ["equivalent effects"]
    at.press("z").ready()
    assert at.text() == EFFECTS
    assert at.checked() == ("no effect", None)
    assert at.cues() == ["equivalent effects"]
    at.next("3 Enter").until_saved()
    revisions = answers_of(site, at.round)
    assert [(a["revision"], a["value"]["modality"]) for a in revisions] == [(1, "moderate"), (2, "weak")]


@pytest.mark.parametrize("width", [1280, 320])
def test_2_and_9_no_mark_or_message_moves_anything_and_nothing_scrolls_sideways(
    work: Callable[..., WorkPage], width: int
) -> None:
    at = work([NEITHER, EFFECTS], width=width)
    still = at.boxes()
    for keys in ("f h", "S→", "S→", "3", "s", "f n", "space", "f h"):
        at.press(keys)
        assert at.boxes() == still, keys
        if keys == "s":
            expect(at.page.locator(".say")).to_contain_text("No polarity cue for")
    at.press("Escape")
    assert at.boxes() == still
    assert at.page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.long
def test_3_the_text_in_the_page_is_the_stored_text_with_every_mark_on(work: Callable[..., WorkPage]) -> None:
    at = work([ASTRAL, PLAIN])
    at.next("f n f n S→ S→ s f r space f n 3").reopen()
    assert at.text() == ASTRAL
    assert len(at.cues()) == 2
    assert at.page.locator(".mark").count() >= 3


@pytest.mark.long
def test_4_marks_are_distinguishable_without_colour(work: Callable[..., WorkPage]) -> None:
    """Kinds of marks differ in where they are drawn (fill, line above, line below), values in a glyph or word."""
    at = work([PLAIN, EFFECTS])
    at.next("f n f n s f n f n 3").reopen()  # the same word as both cues, in a text with I, C and O marked
    tags = at.page.locator("[role=listbox] .mark").evaluate_all(
        "all => all.map(e => getComputedStyle(e, '::before').content + getComputedStyle(e, '::after').content)"
    )
    shown = " ".join(tags)
    for sign in ("=", "weak", "I", "C", "O"):
        assert sign in shown, (sign, tags)
    # No two kinds are drawn in the same place, so that identical cues are both visible.
    drawn = at.page.locator("[role=listbox] .mark").evaluate_all("all => all.map(e => e.className)")
    both = [c for c in drawn if {"fill", "over"} <= set(c.split())]
    assert both, drawn


@pytest.mark.long
def test_5_no_order_of_keys_gives_na_without_no_evidence_or_the_reverse(work: Callable[..., WorkPage]) -> None:
    at = work([NEITHER] * 3)
    chance = random.Random(5)
    for _ in range(120):
        at.press(
            chance.choice(["a", "s", "d", "1", "2", "3", "4", "z", "f h", "→", "S→", "Backspace", "space", "Escape"])
        )
        if not at.page.locator("[role=listbox]").count():
            break
        polarity, modality = at.checked()
        if polarity and modality:
            assert (polarity == "n/a") == (modality == "no evidence")
        assert not (polarity == "n/a" and modality is None)


@pytest.mark.long
def test_6_arrowing_through_the_radio_groups_never_advances_and_a_held_key_answers_once(
    work: Callable[..., WorkPage],
) -> None:
    at = work([PLAIN, EFFECTS, NEITHER])
    at.page.focus('input[value="positive"]')
    for _ in range(2):
        for _ in range(5):
            at.page.keyboard.press("ArrowDown")
        at.page.keyboard.press("Tab")
        while at.page.evaluate("document.activeElement.type") != "radio":
            at.page.keyboard.press("Tab")
    assert at.text() == PLAIN
    at.page.locator("[role=listbox]").focus()
    at.press("Escape f n s")
    for _ in range(8):
        at.page.keyboard.down("2")  # repeated keydown without keyup is auto-repeat
        at.page.wait_for_timeout(60)
    at.page.keyboard.up("2")
    at.ready()
    assert at.text() == EFFECTS


@pytest.mark.row(17)
def test_8_what_could_not_be_sent_is_counted_survives_a_reload_and_is_stored_once(
    work: Callable[..., WorkPage], site: Site
) -> None:
    at = work([EFFECTS, PLAIN, NEITHER])
    broken = {"how": "500"}

    def handle(route: object) -> None:
        if route.request.method != "PUT" and broken["how"] != "away":  # type: ignore[attr-defined]
            route.continue_()  # type: ignore[attr-defined]
        elif broken["how"] == "500":
            route.fulfill(status=500, body="boom")  # type: ignore[attr-defined]
        else:
            route.abort("internetdisconnected")  # type: ignore[attr-defined]

    at.page.route("**/api/**", handle)
    at.next("f e s 2")
    expect(at.page.locator(".saved")).to_have_text(
        "Offline. 1 answer stored on this computer, not sent yet. You can continue."
    )
    # Without a connection the next unit comes from this browser's storage.
    broken["how"] = "away"
    at.page.reload()
    at.ready()
    expect(at.page.locator("[role=listbox]")).to_have_text(PLAIN)
    expect(at.page.locator(".saved")).to_contain_text("1 answer")
    broken["how"] = "offline"
    at.press("f n s 2")
    expect(at.page.locator(".saved")).to_contain_text("Offline. 2 answers stored")
    at.page.reload()
    expect(at.page.locator(".saved")).to_contain_text("2 answers")
    assert answers_of(site, at.round) == []
    # Not sent by a page that is about to be unloaded.
    address = at.page.url
    at.page.goto("about:blank")
    at.page.unroute("**/api/**")
    at.page.goto(address)
    expect(at.page.locator(".saved")).to_have_text(re.compile("^Saved .*$"))
    expect(at.page.locator(".progress")).to_contain_text("3 of 3")
    until(lambda: len(answers_of(site, at.round)) == 2, "both are stored")
    stored = answers_of(site, at.round)
    assert [(a["position"], a["revision"]) for a in stored] == [(0, 1), (1, 1)]
    at.visit.wrong.clear()  # the browser logs failed requests, as expected


def test_10_single_letter_keys_do_nothing_in_text_fields_and_can_be_switched_off(
    work: Callable[..., WorkPage], site: Site
) -> None:
    at = work([PLAIN, EFFECTS])
    for label, key in (
        ("positive", "A"),
        ("no effect", "S"),
        ("negative", "D"),
        ("strong", "1"),
        ("moderate", "2"),
        ("weak", "3"),
        ("no evidence", "4"),
    ):
        control = at.page.locator("label", has=at.page.locator(f'input[value="{label}"]'))
        assert control.locator("kbd").inner_text() == key
    for name, key in (
        ("Next", "Enter"),
        ("Undo", "Z"),
        ("Skip", "K"),
        ("Flag", "!"),
        ("Comment", "M"),
        ("Guideline", "G"),
    ):
        assert at.page.locator(".actions button", has_text=name).first.locator("kbd").inner_text() == key
    at.press("m")
    at.page.locator("dialog textarea").type("as def 1234 z")
    assert at.page.locator("dialog textarea").input_value() == "as def 1234 z"
    at.page.keyboard.press("Escape")
    assert at.checked() == (None, None)
    switch = "from accounts.models import User; u = User.objects.get(email='ann1@example.org'); "
    site.manage("shell", "-v0", "-c", switch + "u.preferences['single_keys'] = False; u.save()")
    try:
        at.page.reload()
        at.ready().press("a s 2 4 k")
        assert at.checked() == (None, None)
        assert at.page.locator("dialog[open]").count() == 0
        at.page.locator("label", has=at.page.locator('input[value="positive"]')).click()
        assert at.checked()[0] == "positive"
    finally:
        site.manage("shell", "-v0", "-c", switch + "u.preferences['single_keys'] = True; u.save()")
