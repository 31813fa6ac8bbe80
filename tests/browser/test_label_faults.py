"""Interruptions while labelling lose nothing: reload, sign-out, closed round, two tabs."""

import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit, sign_in_link
from tests.browser.test_label_checks import EFFECTS, NEITHER, PLAIN
from tests.browser.work_page import WorkPage, answers_of, open_round
from tests.processes.site import Site

Visiting = Callable[..., Visit]


def fresh(site: Site, *people: str, texts: list[str] | None = None) -> int:
    return open_round(site, f"faults-{uuid.uuid4().hex[:12]}", texts or [EFFECTS, PLAIN, NEITHER], *people)


@pytest.mark.row(19)
def test_a_reload_in_mid_answer_keeps_the_draft_and_each_unit_takes_one_request(visit: Visiting, site: Site) -> None:
    at = WorkPage(visit("ann1"), fresh(site, texts=[EFFECTS, *[PLAIN] * 4])).open()
    at.press("f e f e S→ s !")
    at.page.wait_for_timeout(300)
    at.page.reload()
    at.ready()
    assert at.text() == EFFECTS
    assert at.checked() == ("no effect", None)
    assert at.cues() == ["equivalent effects"]
    at.next("2").until_saved()
    (stored,) = answers_of(site, at.round)
    assert (stored["flag"], stored["value"]["polarity"]) == (True, "no effect")
    before = len(at.requests)
    for _ in range(3):
        at.next("f n s 2").until_saved()
    assert [r.method for r in at.requests[before:]] == ["PUT"] * 3


@pytest.mark.long
def test_the_next_text_is_painted_within_a_tenth_of_a_second_of_the_key(visit: Visiting, site: Site) -> None:
    at = WorkPage(visit("ann1"), fresh(site, texts=[PLAIN] * 24)).open()
    times = []
    for _ in range(20):
        at.press("f n s")
        times.append(
            at.page.evaluate(
                """() => new Promise(done => {
                     const before = document.querySelector('[role=listbox]')
                     const began = performance.now()
                     document.activeElement.dispatchEvent(
                       new KeyboardEvent('keydown', { key: '2', bubbles: true, cancelable: true }))
                     new MutationObserver((_, observer) => {
                       if (document.querySelector('[role=listbox]') === before) return
                       observer.disconnect()
                       requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)))
                     }).observe(document.body, { childList: true, subtree: true })
                   })"""
            )
        )
        at.ready()
    print(f"painted after {sorted(times)[10]:.0f} ms (median), {max(times):.0f} ms (longest)")
    assert sorted(times)[10] < 100


@pytest.mark.row(18)
def test_an_ended_session_asks_to_sign_in_and_then_sends_what_was_kept(visit: Visiting, site: Site) -> None:
    password = "a long enough phrase 17"
    code = "from accounts.models import User; u = User.objects.get(email='ann1@example.org'); "
    at = WorkPage(visit("ann1"), fresh(site)).open()
    # Only now: the first verification of an address ends earlier passwords.
    site.manage("shell", "-v0", "-c", code + f"u.set_password({password!r}); u.save()")
    site.manage(
        "shell", "-v0", "-c", "from django.contrib.sessions.models import Session; Session.objects.all().delete()"
    )
    at.press("f e s 2")
    dialog = at.page.locator("dialog[open]")
    expect(dialog).to_be_visible()
    assert answers_of(site, at.round) == []
    dialog.get_by_label("Password").fill(password)
    dialog.get_by_role("button", name="Sign in").click()
    at.until_saved()
    assert [a["revision"] for a in answers_of(site, at.round)] == [1]


@pytest.mark.long
@pytest.mark.row(21)
def test_a_round_that_was_closed_meanwhile_brings_the_person_back_with_the_reason(visit: Visiting, site: Site) -> None:
    at = WorkPage(visit("ann1"), fresh(site)).open()
    close = "from projects.models import Round; from projects.rounds.actions import close_round; "
    site.manage("shell", "-v0", "-c", close + f"close_round(round=Round.objects.get(pk={at.round}), by=None)")
    at.press("f e s 2")
    refused = at.page.locator(".refused")
    expect(refused).to_contain_text("The round was closed")
    assert at.text() == EFFECTS
    assert answers_of(site, at.round) == []


@pytest.mark.long
def test_an_answer_of_a_person_who_was_removed_meanwhile_can_be_discarded(visit: Visiting, site: Site) -> None:
    at = WorkPage(visit("ann1"), fresh(site)).open()
    remove = "from projects.models import Member, Round; from projects.people.actions import remove_member; "
    found = f"Member.objects.get(user__email='ann1@example.org', project=Round.objects.get(pk={at.round}).project)"
    lead = "Member.objects.filter(project=member.project, role='lead').first().user"
    site.manage("shell", "-v0", "-c", f"{remove}member = {found}; remove_member(member=member, by={lead})")
    at.press("f e s 2")
    refused = at.page.locator(".refused")
    expect(refused).to_contain_text("does not exist or is not yours")
    expect(refused).not_to_contain_text("Correct the answer")
    at.page.reload()
    expect(at.page.get_by_role("alert")).to_contain_text("Your last answer was not stored")
    at.page.get_by_role("button", name="Discard answer").click()
    expect(at.page.locator(".saved")).to_have_count(0)
    expect(at.page.get_by_role("alert")).to_contain_text("you do not take part in this round")


@pytest.mark.row(15)
def test_two_tabs_show_both_versions_and_the_person_decides(visit: Visiting, site: Site) -> None:
    at = WorkPage(visit("ann1"), fresh(site)).open()
    other = at.page.context.new_page()
    other.goto(at.page.url)
    other.wait_for_selector("[role=listbox]")
    other.wait_for_timeout(200)
    for key in ("f", "e", "d", "2"):
        other.keyboard.press(key)
    expect(other.locator(".saved")).to_contain_text("Saved")
    at.page.bring_to_front()
    at.press("f e a 2")
    refused = at.page.locator(".refused")
    expect(refused).to_contain_text("newer revision")
    expect(refused).to_contain_text("negative")
    at.ready().press("Enter")
    at.until_saved()
    assert [a["value"]["polarity"] for a in answers_of(site, at.round)] == ["negative", "positive"]


@pytest.mark.long
@pytest.mark.row(13)
def test_a_double_click_on_a_value_answers_one_unit_once(visit: Visiting, site: Site) -> None:
    at = WorkPage(visit("ann1"), fresh(site)).open()
    at.press("f e s")
    at.page.locator("label", has=at.page.locator('input[value="moderate"]')).dblclick()
    at.until_saved()
    assert [(a["position"], a["revision"]) for a in answers_of(site, at.round)] == [(0, 1)]
    assert at.text() == PLAIN


@pytest.mark.row(18)
def test_another_person_on_the_same_computer_sees_no_data_of_the_first(visit: Visiting, site: Site) -> None:
    at = WorkPage(visit("ann1"), fresh(site, "ann1@example.org", "ann2@example.org")).open()
    at.page.route("**/api/v1/answers/**", lambda route: route.abort("internetdisconnected"))
    at.next("f e s 2")
    expect(at.page.locator(".saved")).to_contain_text("1 answer stored")
    at.page.unroute("**/api/v1/answers/**")
    at.page.context.clear_cookies()
    at.page.goto(sign_in_link(site, "ann2"))
    at.page.get_by_role("button", name="Sign in").click()
    at.page.wait_for_url(f"{site.address}/")
    at.open()
    at.page.wait_for_timeout(500)
    assert at.checked() == (None, None)
    assert "kept" not in at.said()
    assert answers_of(site, at.round) == []


@pytest.mark.long
def test_skip_asks_why_and_undo_takes_it_back(visit: Visiting, site: Site) -> None:
    at = WorkPage(visit("ann1"), fresh(site)).open()
    at.press("k")
    expect(at.page.locator("dialog[open]")).to_contain_text("unclear")
    at.press("1").ready()
    assert at.text() == PLAIN
    at.press("z").ready()
    assert at.text() == EFFECTS
    at.next("f e s 2").until_saved()
    assert [(a["outcome"], a["reason"]) for a in answers_of(site, at.round)] == [
        ("skipped", "unclear"),
        ("answered", ""),
    ]


@pytest.mark.long
def test_texts_and_names_with_markup_stay_texts(visit: Visiting, site: Site) -> None:
    evil = '<img src=x onerror=alert(1)> <script>alert(2)</script> relapse & "quotes" javascript:alert(3) nepralin'
    at = WorkPage(visit("ann1"), fresh(site, texts=[evil, PLAIN])).open()
    dialogs: list[str] = []
    at.page.on("dialog", lambda d: dialogs.append(d.message))
    assert at.text() == evil
    at.next("f r s 2")
    expect(at.page.locator(".below")).to_contain_text("<img src=x")
    assert dialogs == []


@pytest.mark.long
@pytest.mark.parametrize("how", ["mouse", "touch"])
def test_five_units_without_a_key(visit: Visiting, site: Site, how: str) -> None:
    """Mouse only at 1280 pixels, touch only on a tablet."""
    options: dict[str, Any] = {"width": 820, "height": 1180, "touch": True} if how == "touch" else {}
    at = WorkPage(visit("ann1", **options), fresh(site, texts=[PLAIN] * 5)).open()
    for n in range(5):
        if how == "mouse":
            at.drag(2, 2)
            at.page.locator("label", has=at.page.locator('input[value="no effect"]')).click()
            at.page.locator("label", has=at.page.locator('input[value="moderate"]')).click()
        else:
            at.page.locator("#w2").tap()
            at.page.locator("label", has=at.page.locator('input[value="no effect"]')).tap()
            at.page.locator("label", has=at.page.locator('input[value="moderate"]')).tap()
        at.until_saved()
        at.page.wait_for_timeout(200)
        assert len(at.sent()) == n + 1
    stored = answers_of(site, at.round)
    assert [json.dumps(a["value"]["polarity_cue"]) for a in stored] == [
        json.dumps([{"start": 13, "end": 24, "quote": "noninferior"}])
    ] * 5


@pytest.mark.long
@pytest.mark.row(20)
def test_the_back_button_brings_no_old_form_back(visit: Visiting, site: Site) -> None:
    at = WorkPage(visit("ann1"), fresh(site)).open()
    at.next("f e s 2").until_saved()
    at.page.goto(f"{site.address}/")
    at.page.wait_for_load_state("networkidle")
    at.page.go_back()
    at.ready()
    assert at.text() == PLAIN, "the unit that was answered is not asked for again"
    assert at.checked() == (None, None)
    at.page.go_forward()
    at.page.go_back()
    at.ready().next("f n a 2").until_saved()
    stored = answers_of(site, at.round)
    assert [(a["position"], a["revision"], a["value"]["polarity"]) for a in stored] == [
        (0, 1, "no effect"),
        (1, 1, "positive"),
    ]


OVERTAKE = """
from datetime import timedelta
from django.utils import timezone
from accounts.models import User
from projects.queue.actions import next_assignments
from projects.models import Assignment, Round
from tests.builders import answer
round = Round.objects.get(pk={round})
held = Assignment.objects.filter(round=round, person__user__email='ann1@example.org', current_answer=None)
held.update(leased_until=timezone.now() - timedelta(seconds=1))
other = User.objects.get(email='ann2@example.org')
for slot in next_assignments(user=other, round=round):
    answer(other, slot, {{'polarity': 'positive', 'modality': 'moderate', 'polarity_cue': [], 'modality_cue': []}})
"""


@pytest.mark.long
def test_a_late_answer_is_shown_as_stored(visit: Callable[..., Visit], site: Site) -> None:
    people = ("ann1@example.org", "ann2@example.org")
    round = open_round(site, "overtaken", ["The drug worked.", "The drug did nothing.", "It harmed."], *people)
    at = WorkPage(visit("ann1"), round).open()
    site.manage("shell", "-v0", "-c", OVERTAKE.format(round=round))
    line = at.page.get_by_text(
        "Another person had already completed this unit; your answer is stored, but not counted."
    )
    expect(line).to_have_count(0)
    at.next("a 2 Enter").until_saved()
    expect(line).to_be_visible()
    assert len(answers_of(site, round)) == 3
