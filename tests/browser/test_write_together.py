"""Three people write summaries of five published questions at the same time, each in their own way."""

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PEOPLE, Visit
from tests.browser.test_pages import violations
from tests.browser.test_write import OPEN, Writer, published, run, said, squeezed
from tests.processes.site import Site

pytestmark = pytest.mark.long
WHO = ("ann1", "ann2", "evaluator")
#: Everybody joins the round that `OPEN` makes for one person.
TOGETHER = OPEN.replace(
    "round = build_round(project, [person], **plan)",
    "people = [person, *(add_member(project=project, user=User.objects.get(email=one), role='annotator', by=lead) "
    "for one in given['others'])]\nround = build_round(project, people, overlap=3, **plan)",
)
#: A day passes on the server too: held questions are a day older.
A_DAY = """
from datetime import timedelta
from django.db.models import F
from projects.models import Assignment
rows = Assignment.objects.filter(round={round}).exclude(leased_until=None)
rows.update(leased_until=F('leased_until') - timedelta(days=1))
"""
LEAVE = """
from accounts.models import User
from projects.models import Member, Round
from projects.rounds.actions import remove_person
round = Round.objects.get(pk={round})
member = Member.objects.get(project=round.project_id, user__email={email!r})
remove_person(round=round, member=member, by=User.objects.get(email='lead@example.org'))
"""
Steps = Iterator[str]


def secret(w: Writer, who: str, n: int) -> str:
    return f"Wording of {who} alone, number {n}."


def by_keyboard(w: Writer, passages: int, words: Sequence[str]) -> Steps:
    """Write all texts of a question by keyboard alone. Yield after each step."""
    for n in range(passages):
        w.at(f"Passage {n + 1} of {passages}, extractive").press("ArrowDown", "Space", "Control+Enter")
        yield "extractive"
        w.type(words[n]).press("Control+Enter")
        yield "abstractive"
    w.at("All passages, extractive").press("Alt+S", "Control+Enter")
    yield "all extractive"
    w.type(words[-1]).press("Control+Enter").at("Last look")
    yield "last look"
    w.press("Control+Enter")


def by_mouse(w: Writer, passages: int, words: Sequence[str]) -> Steps:
    for n in range(passages):
        w.at(f"Passage {n + 1} of {passages}, extractive").click(w.page.locator(".unit").nth(1)).next()
        yield "extractive"
        w.insert().press("End").type(f" {words[n]}").next()
        yield "abstractive"
    w.at("All passages, extractive").click(w.page.get_by_role("button", name="Start from my chunks")).next()
    yield "all extractive"
    w.type(words[-1]).next().at("Last look")
    yield "last look"
    w.next()


def by_touch(w: Writer, passages: int, words: Sequence[str]) -> Steps:
    """Write on a phone, which shows one side at a time."""

    def tap(name: str) -> None:
        w.page.locator(".switch").get_by_role("button", name=name).tap()
        w.actions += 1

    for n in range(passages):
        w.at(f"Passage {n + 1} of {passages}, extractive").page.locator(".unit").nth(1).tap()
        w.actions += 1
        tap("Next step")
        yield "extractive"
        w.page.locator("textarea").fill(words[n])
        w.actions += 1
        tap("Next step")
        yield "abstractive"
    w.at("All passages, extractive")
    tap("Text (")
    w.page.get_by_role("button", name="Start from my chunks").tap()
    w.actions += 1
    tap("Next step")
    yield "all extractive"
    w.page.locator("textarea").fill(words[-1])
    w.actions += 1
    tap("Next step")
    w.at("Last look")
    yield "last look"
    tap("Submit")


def test_three_people_write_five_published_questions_at_once(site: Site, visit: Callable[..., Visit]) -> None:
    found = published()
    most = max(found, key=lambda key: len(found[key][1]))
    questions = {key: found[key] for key in ("49", "86", "33", "1", most)}
    given = {
        "slug": "write-together",
        "questions": questions,
        "who": PEOPLE[WHO[0]],
        "others": [PEOPLE[who] for who in WHO[1:]],
        "options": {"asked_passages": "all"},
    }
    round = int(run(site, TOGETHER.format(given=json.dumps(given))))
    writers = {
        "ann1": Writer(visit("ann1"), round),
        "ann2": Writer(visit("ann2", scheme="dark"), round),
        "evaluator": Writer(visit("evaluator", width=390, height=844, touch=True), round),
    }
    ways = {"ann1": by_keyboard, "ann2": by_mouse, "evaluator": by_touch}
    counts: dict[str, dict[str, int]] = {who: {} for who in WHO}
    tasks: dict[str, Iterator[str]] = {}

    def begin(who: str, last: str = "") -> str:
        """Wait for the next question, and begin it. Return its key."""
        w = writers[who]
        if last:
            expect(w.page.locator(".question p")).not_to_have_text(last)
        w.ready().counted()
        shown = squeezed(w.page.locator(".question p").inner_text())
        key = next(key for key, (text, _) in questions.items() if squeezed(text) == shown)
        words = [secret(w, who, n) for n in range(len(questions[key][1]) + 1)]
        tasks[who] = ways[who](w, len(questions[key][1]), words)
        return key

    for w in writers.values():
        w.open()
        assert violations(w.visit) == []
    now = {who: begin(who) for who in WHO}
    # Everybody is interrupted in the middle of the first question.
    for who, w in writers.items():
        assert next(tasks[who]) == "extractive"
        assert next(tasks[who]) == "abstractive"
        w.page.wait_for_timeout(500)
    writers["ann1"].page.reload()
    writers["ann1"].ready()
    second = writers["ann2"].page.context.new_page()
    second.goto(f"{site.address}/work/{round}")
    first, writers["ann2"].visit.page = writers["ann2"].page, second
    writers["ann2"].ready()
    writers["evaluator"].page.context.set_offline(True)
    for _ in range(2):
        for who in WHO:
            next(tasks[who])
    first.close()
    writers["evaluator"].page.context.set_offline(False)
    # A day later, in a new tab.
    site.manage("shell", "-v0", "-c", A_DAY.format(round=round))
    for w in writers.values():
        w.page.wait_for_timeout(500)
        tomorrow = w.page.context.new_page()
        w.page.close()
        tomorrow.clock.install(time=datetime.now(UTC) + timedelta(days=1))
        tomorrow.goto(f"{site.address}/work/{round}")
        w.visit.page = tomorrow
        w.ready()
    done = dict.fromkeys(WHO, 0)
    leaving = ""
    while any(n < len(questions) for who, n in done.items() if who != leaving):
        for who in WHO:
            if who == leaving or done[who] == len(questions):
                continue
            w = writers[who]
            question = w.page.locator(".question p").inner_text()
            step = next(tasks[who], "submitted")
            if step == "abstractive" and who == "evaluator" and done[who] == len(questions) - 1:
                leaving = who  # with the last question begun
            if step != "submitted":
                continue
            counts[who][now[who]] = w.counted()
            done[who] += 1
            if done[who] < len(questions):
                now[who] = begin(who, question)
            else:
                w.sent()
    print("actions", counts)
    answers = said(site, round)
    assert len(answers) == 14
    # Extractive texts are exact parts of the passages; nothing was lost by an interruption.
    for key, _, steps in answers:
        texts = {f"{key}_Answer{n + 1}": text for n, text in enumerate(questions[key][1])}
        assert len(steps) == 2 * len(texts) + 2
        for step in steps:
            assert step["text"]
            for chunk in step["chunks"]:
                assert texts[chunk["passage"]][chunk["start"] : chunk["end"]] == chunk["quote"]
    assert counts["ann1"]["49"] <= 34
    # Nobody sees another's text.
    for who in WHO:
        page, others = writers[who].page, [one for one in WHO if one != who]
        for path in (f"/work/{round}", "/", "/projects/write-together/corpus?kind=written_summaries"):
            page.goto(site.address + path)
            page.wait_for_timeout(500)
            text = page.locator("body").inner_text()
            assert not any(f"Wording of {other} alone" in text for other in others), (who, path)
        of_project = [f"projects/write-together/{name}/" for name in ("writers", "materials/written_summaries")]
        for path in (f"rounds/{round}/recent/", f"rounds/{round}/next/", "notifications/", "my-work/", *of_project):
            text = page.evaluate("path => fetch('/api/v1/' + path).then((reply) => reply.text())", path)
            assert not any(f"Wording of {other} alone" in text for other in others), (who, path)
    # The lead sees the question that somebody began and left.
    site.manage("shell", "-v0", "-c", LEAVE.format(round=round, email=PEOPLE[leaving]))
    lead = visit("lead")
    lead.go("/projects/write-together")
    expect(lead.page.locator("main")).to_contain_text(f"left {now[leaving]} in Summaries, first half")
