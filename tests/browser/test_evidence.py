"""Mapping targets to supporting sentences: few actions on a desktop, on a phone, and for a curator."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import violations
from tests.browser.test_screening import run
from tests.browser.work_page import SETTLED
from tests.processes.site import Site

OPEN = """
import json
from accounts.models import User
from annotation.evidence.actions import rank
from annotation.clusters.sentences import split
from annotation.formats.pubmed.record import compose_abstract
from annotation.models import Inclusion, Level, Review, Study, Target
from projects.people.actions import add_member, create_project
from projects.models import Unit
from tests.builders import build_round
lead = User.objects.get(email='lead@example.org')
project = create_project(slug='evidence', name='Evidence', by=lead)
unit = Unit.objects.create(project=project, type='review', key='26000000', made_by=lead)
review = Review.objects.create(project=project, pmid=unit.key, unit=unit, title='Nepralin for migraine: a review')
texts = ['Nepralin reduces attacks of migraine in adults.',
         'Nausea is no more frequent with nepralin than with placebo.']
for n, text in enumerate(texts):
    own = Unit.objects.create(project=project, type='target sentence', key=f'26000000_{n}')
    Target.objects.create(project=project, review=review, level=Level.SENTENCE, key=own.key, position=n, text=text,
                          unit=own)
abstract, sections = compose_abstract([
    ('BACKGROUND', 'BACKGROUND', 'Migraine is a common cause of sick leave. '
     'We asked whether nepralin reduces attacks.'),
    ('METHODS', 'METHODS', 'We randomised 240 adults to nepralin or placebo for twelve weeks. '
     'Attacks were kept in diaries.'),
    ('RESULTS', 'RESULTS', 'Attacks fell from 6.1 to 4.2 a month on nepralin and from 6.0 to 5.6 on placebo. '
     'Nausea was reported by 12 and 11 patients.'),
    ('CONCLUSIONS', 'CONCLUSIONS', 'Nepralin reduced attacks of migraine in adults. '
     'It was as well tolerated as placebo.'),
])
for n in range(2):
    study = Study.objects.create(project=project, pmid=str(10000000 + n), title=f'Nepralin for migraine, trial {n}',
                                 abstract=abstract, sections=[section._asdict() for section in sections])
    Inclusion.objects.create(review=review, study=study, position=n)
    if n == 0:
        split([study])
        rank(project=project, ranker='words', model='')
people = [add_member(project=project, user=User.objects.get(email=f'ann{n}@example.org'), role='annotator', by=lead)
          for n in (1, 2)]
print(json.dumps(build_round(project, people, kind='evidence', overlap=2).pk))
"""
SAID = """
import json
from projects import kinds
from annotation.models import Support
rows = Support.objects.filter(unit__project__slug='evidence').order_by('pk')
values = kinds.get('evidence').values(rows.values_list('answer', flat=True))
print(json.dumps([[values[s.answer_id]['support'], s.ranked] for s in rows]))
"""
REVIEW = """
import json
from annotation.models import Review
print(json.dumps(Review.objects.get(project__slug='evidence').pk))
"""
CLOSE = """
import json
from accounts.models import User
from projects.gold.actions import finish_round
from projects.rounds.actions import close_round
from projects.models import Round
lead = User.objects.get(email='lead@example.org')
round = Round.objects.get(project__slug='evidence')
close_round(round=round, by=lead)
finish_round(round=round, by=lead)
print(json.dumps(round.pk))
"""
OTHER = """
import json
from annotation.evidence.actions import rank
from annotation.models import Ranking
from projects.models import Project
project = Project.objects.get(slug='evidence')
rank(project=project, ranker='words', model='')
for row in Ranking.objects.filter(target__project=project, ranker__startswith='words'):
    Ranking.objects.create(target=row.target, study=row.study, ranker='in reverse', texts=row.texts,
                           order=row.order[::-1], similarities=[])
print(json.dumps(Ranking.objects.count()))
"""
INPUTS = """
import json
from annotation.models import Input
rows = Input.objects.current().filter(target__project__slug='evidence').order_by('target', 'position')
print(json.dumps(list(rows.values_list('target__key', 'study__pmid', 'text'))))
"""


@pytest.mark.long
def test_an_evidence_pair_takes_few_keys_and_no_support_takes_one(site: Site, visit: Callable[..., Visit]) -> None:
    round = run(site, OPEN)
    at = visit("ann1", width=1280)
    at.go(f"/work/{round}")
    page = at.page
    actions = 0

    def press(*keys: str) -> None:
        nonlocal actions
        page.wait_for_timeout(SETTLED)
        for key in keys:
            page.keyboard.press(key)
        actions += len(keys)

    target = page.get_by_text("Nepralin reduces attacks of migraine in adults.")
    expect(target).to_be_visible()
    sentences = page.get_by_role("option")
    expect(sentences).to_have_count(8)
    # Only the stored text is in the page; ranks are drawn beside it.
    assert sentences.nth(6).inner_text() == "Nepralin reduced attacks of migraine in adults."
    ranks = {n: sentences.nth(n).get_attribute("data-rank") for n in range(8)}
    assert ranks[6] == "1"
    assert sorted(rank for rank in ranks.values() if rank) == ["1", "2", "3"]
    expect(page.locator(".current")).to_have_text("Migraine is a common cause of sick leave.")
    page.wait_for_timeout(SETTLED)
    assert violations(at) == []
    # Nothing moves when a sentence is marked, and the target stays visible.
    place = "e => [...e.getClientRects()].map(r => [r.left, r.top + scrollY])"
    box = sentences.last.evaluate(place)
    press("1")
    expect(sentences.nth(6)).to_have_attribute("aria-selected", "true")
    press("1")
    expect(sentences.nth(6)).to_have_attribute("aria-selected", "false")
    actions = 0
    press("End", "ArrowUp", "Space")
    assert sentences.last.evaluate(place) == box
    expect(sentences.nth(6)).to_have_attribute("aria-selected", "true")
    assert violations(at) == []
    press("ArrowDown", "Space", "Home", "Space")
    expect(page.get_by_text("At most two sentences. Unmark one first.")).to_be_visible()
    press("End", "Space", "Enter")
    expect(page.get_by_text("Nausea is no more frequent", exact=False).first).to_be_visible()
    assert actions == 10, "a sentence found from the end takes four; the rest was looking around"
    actions = 0
    page.mouse.wheel(0, 400)
    expect(page.locator(".target")).to_be_in_viewport()
    press("End", "ArrowUp", "ArrowUp", "Space", "Enter")
    assert actions == 5

    expect(page.get_by_text("trial 1")).to_be_visible()
    expect(page.get_by_text("These sentences are not ranked yet.")).to_be_visible()
    actions = 0
    press("Enter")
    expect(page.get_by_text("No sentence is marked.")).to_be_visible()
    press("0")
    expect(page.get_by_text("Nausea is no more frequent", exact=False).first).to_be_visible()
    actions = 0
    press("0")
    expect(page.locator("main")).to_contain_text("All done")
    assert actions == 1, "no support is one key"
    said = run(site, SAID)
    assert isinstance(said, list)
    assert [support for support, _ in said] == [[7], [6], [], []]
    assert [len(ranked) for _, ranked in said] == [3, 3, 0, 0]

    phone = visit("ann2", scheme="dark", width=400)
    phone.go(f"/work/{round}")
    for sentence in ("Nepralin reduced attacks", "It was as well tolerated", "Nepralin reduced attacks"):
        phone.page.wait_for_timeout(SETTLED)
        phone.page.get_by_role("option", name=sentence).click()
        assert violations(phone) == []
        phone.page.get_by_role("button", name="Next").click()
        phone.page.wait_for_timeout(SETTLED)
    phone.page.get_by_role("button", name="No support").click()
    expect(phone.page.locator("main")).to_contain_text("All done")

    run(site, CLOSE)
    desktop = visit("lead", width=1280)
    desktop.go(f"/projects/evidence/rounds/{round}/adjudicate")
    expect(desktop.page.get_by_text("Nausea is no more frequent", exact=False).first).to_be_visible()
    assert violations(desktop) == []

    run(site, OTHER)
    desktop.go("/projects/evidence/ranking")
    row = desktop.page.get_by_role("row", name="in reverse")
    expect(row.get_by_role("cell").nth(3)).to_contain_text("\u22121.000")
    desktop.page.get_by_label("Compare with").select_option("in reverse")
    expect(desktop.page.get_by_role("row", name="words: BM25").get_by_role("cell").nth(3)).to_contain_text("1.000")
    expect(row).to_contain_text("compared with")
    assert violations(desktop) == []
    desktop.page.get_by_role("button", name="Create documents").click()
    expect(desktop.page.get_by_role("button", name="Update documents")).to_be_enabled(timeout=60_000)
    expect(desktop.page.get_by_text("1 from selected sentences")).to_be_visible()
    assert violations(desktop) == []
    curated(desktop, run(site, REVIEW))


def curated(desktop: Visit, review: object) -> None:
    """A target has a cell for each study: correct the current value with a reason, decide the contested."""
    page = desktop.page
    desktop.go(f"/projects/evidence/reviews/{review}/curate")
    target = "Nepralin reduces attacks of migraine in adults."
    page.get_by_text("2 studies, 1 decided").first.click()
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name=f"Correct evidence of: {target} (10000000)").click()
    expect(dialog.get_by_role("option", name="Nepralin reduced attacks")).to_have_attribute("aria-selected", "true")
    assert violations(desktop) == []
    dialog.get_by_role("option", name="It was as well tolerated").click()
    dialog.get_by_role("button", name="Continue").click()
    expect(dialog).to_contain_text("sentences 7 and 8")
    dialog.get_by_label("Reason, stored in the history").fill("Both say it.")
    dialog.get_by_role("button", name="Save correction").click()
    expect(page.get_by_text("evidence: sentences 7 and 8")).to_be_visible()
    # Adjacent sentences form one text, and the target's input follows.
    expect(page.get_by_text("1 source text")).to_be_visible()
    page.get_by_role("button", name=f"Add evidence of: {target} (10000001)").click()
    dialog.get_by_role("option", name="Attacks fell").click()
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 studies, 2 decided")).to_be_visible()
    expect(page.get_by_text("evidence: sentence 5")).to_be_visible()
    expect(page.get_by_text("2 source texts")).to_be_visible()
    assert violations(desktop) == []
    looked_at_again(desktop, target)


def looked_at_again(desktop: Visit, target: str) -> None:
    """A corrected sentence makes its evidence stale: *Relabel* opens the cell of the study."""
    page = desktop.page
    page.get_by_role("button", name=f"Correct the text: {target}").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Text", exact=True).fill(f"In short, {target}")
    dialog.get_by_label("Reason").fill("Words were missing.")
    dialog.get_by_role("button", name="Save corrected text").click()
    expect(page.get_by_role("button", name=f"Correct the text: In short, {target}"[:60])).to_be_visible()
    desktop.go("/projects/evidence/needs-review")
    pair = page.get_by_role("article").filter(has_text="PMID 26000000, conclusion 1, study 10000001")
    expect(pair).to_have_count(1)
    pair.get_by_role("link", name="Relabel").click()
    page.wait_for_url("**/projects/evidence/reviews/*/curate#*")
    expect(page.get_by_role("button", name=f"Correct evidence of: In short, {target} (10000001)")).to_be_visible()
    expect(page.locator("li:focus")).to_contain_text("evidence: sentence 5 (needs review)")
