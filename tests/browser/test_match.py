"""Matching targets to evidence by one key each, on a desktop and on a phone; the page contains only the words."""

import json
from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import violations
from tests.browser.work_page import SETTLED
from tests.processes.site import Site

OPEN = """
import json
from accounts.models import User
from projects.people.actions import add_member, create_project
from tests.annotation.test_match import SENTENCES, build_matches, build_target
lead = User.objects.get(email='lead@example.org')
project = create_project(slug='matching', name='Matching', by=lead)
for n in range(4):
    mine = [f'{sentence[:-1]} in trial {n}.' for sentence in SENTENCES]
    build_target(project, n, sentences=mine, evidence=[mine[2]], text=f'Nepralin reduces attacks of migraine, {n}.')
person = add_member(project=project, user=User.objects.get(email='ann1@example.org'), role='annotator', by=lead)
print(json.dumps(build_matches(project, [person]).pk))
"""
SAID = """
import json
from annotation.kinds.match.kind import order_of
from annotation.models import Match
now = Match.objects.filter(answer__current_of__isnull=False, unit__project__slug='matching').order_by('unit')
rows = now.select_related('unit__match_item__target', 'answer__assignment__round')
def place(match):
    slot = match.answer.assignment
    return order_of(match.unit.match_item.target.key, slot, slot.round.seed).index(match.most_relevant) + 1
print(json.dumps([place(match) for match in rows]))
"""


def run(site: Site, code: str) -> object:
    return json.loads(site.manage("shell", "-v0", "-c", code).strip().splitlines()[-1])


def test_a_target_is_matched_by_one_key_and_nothing_tells_which_is_gold(
    site: Site, visit: Callable[..., Visit]
) -> None:
    round = run(site, OPEN)
    at = visit("ann1", width=1280)
    replies: list[str] = []
    at.page.on("response", lambda r: replies.append(r.text()) if "/api/v1/" in r.url and r.status == 200 else None)
    at.go(f"/work/{round}")
    page = at.page
    cards = page.get_by_role("group", name="Sentences of one study").get_by_role("button")
    # One key per target: its number, and the next target is shown.
    for place in (3, 1):
        expect(cards).to_have_count(4)
        before = page.locator("main").inner_text()
        page.wait_for_timeout(SETTLED)
        if place == 3:
            assert violations(at) == []
            widths = [box["width"] for card in cards.all() if (box := card.bounding_box())]
            assert max(widths) - min(widths) < 1, "four cards of one width"
            marked = {card.evaluate("e => [...e.attributes].map(a => a.name).sort().join()") for card in cards.all()}
            assert len(marked) == 1, "alike in all but their words"
        page.keyboard.press(str(place))
        expect(page.get_by_role("status").first).to_be_attached()
        page.wait_for_function("before => document.querySelector('main').innerText !== before", arg=before)
    # Z reopens the last one with its card marked, and another key continues.
    page.wait_for_timeout(SETTLED)
    page.keyboard.press("z")
    expect(cards.nth(0)).to_have_attribute("aria-pressed", "true")
    page.wait_for_timeout(SETTLED)
    page.keyboard.press("2")
    expect(page.get_by_role("group", name="Sentences of one study")).to_contain_text("in trial 2")

    phone = visit("ann1", scheme="dark", width=400)
    phone.go(f"/work/{round}")
    for place in (1, 3):
        phone.page.wait_for_timeout(SETTLED)
        four = phone.page.get_by_role("group", name="Sentences of one study").get_by_role("button")
        expect(four).to_have_count(4)
        text = four.nth(place).inner_text()
        if place == 1:
            assert violations(phone) == []
        four.nth(place).click()
        if place == 1:
            expect(four.nth(place)).not_to_have_text(text)
    expect(phone.page.locator("main")).to_contain_text("All done")
    assert run(site, SAID) == [3, 2, 2, 4]
    whole = "\n".join(replies)
    assert "in trial 1" in whole
    for secret in ("is_gold", "nearest_by", "BM25", "2600000", "1000000", "match-"):
        assert secret not in whole, secret
