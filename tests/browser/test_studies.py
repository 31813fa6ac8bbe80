"""Included studies of reviews on a desktop and on a phone: actions per list."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.annotation.jats_files import BODY, article, as_file, reference
from tests.annotation.pubmed_stub import Stub
from tests.browser.conftest import Visit
from tests.browser.test_pages import violations
from tests.browser.test_screening import run
from tests.browser.test_sentences import press
from tests.browser.work_page import SETTLED, to_take
from tests.processes.site import Site

OPEN = """
import json
from django.utils import timezone
from accounts.models import User
from annotation.models import FullText, Review, Study
from projects.people.actions import add_member, create_project
from projects.models import Import, Unit
from tests.builders import build_round
lead = User.objects.get(email='lead@example.org')
project = create_project(slug='studies', name='Studies', by=lead)
for n in range(5):
    unit = Unit.objects.create(project=project, type='review', key=str(26000000 + n), made_by=lead)
    references = [str(40000000 + one) for one in range(30)] if n in (1, 2, 4) else []
    Review.objects.create(project=project, pmid=unit.key, unit=unit, title=f'Nepralin for migraine, review {n}',
                          year=2019, topic='migraine', abstract='Nine trials were included.', references=references)
imported = Import.objects.create(project=project, format='jats', file_name='review.xml', sha256='a' * 64, size=1,
                                 counts={}, report={}, created_by=lead, created_at=timezone.now())
cited = [dict(text=f'Adams A. Trial {n}. 2010.', pmid=str(60000000 + n) if n else '', doi='', is_included=n < 9)
         for n in range(20)]
table = dict(title='Table 1. Characteristics of included studies', text='Adams 2010 | adults', is_included=True)
FullText.objects.create(review=Review.objects.get(pmid='26000003', project=project), imported=imported,
                        sections=[table], pmcid='PMC1234567', licence='CC BY 4.0', references=cited)
for one in range(0, 30, 2):
    Study.objects.create(project=project, pmid=str(40000000 + one), title=f'A randomised trial of nepralin, part {one}')
person = add_member(project=project, user=User.objects.get(email='ann1@example.org'), role='annotator', by=lead)
print(json.dumps(build_round(project, [person], kind='studies').pk))
"""
COMPUTE = """
import json
from projects.models import Project
from projects.stored_figures.actions import compute_and_store
print(json.dumps(compute_and_store(project=Project.objects.get(slug='studies'))['sets']))
"""
SAID = (
    "import json; from annotation.models import StudyList; "
    "print(json.dumps([[list(one.listed.values_list('pmid', 'missing')), one.without_pmid] "
    "for one in StudyList.objects.order_by('pk')]))"
)
PASTE = """text => {
  const data = new DataTransfer()
  data.setData('text/plain', text)
  const paste = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
  document.activeElement.dispatchEvent(paste)
}"""


@pytest.mark.long
def test_a_pasted_list_takes_two_actions_and_a_picked_one_a_key_a_study(
    site: Site, visit: Callable[..., Visit], pubmed: Stub, tmp_path: Path
) -> None:
    round = run(site, OPEN)
    at = visit("ann1", width=1280)
    at.go(f"/work/{round}")
    page = at.page
    expect(page.get_by_text("review 0")).to_be_visible()
    expect(page.get_by_text("references of the review are unknown")).to_be_visible()
    page.wait_for_timeout(SETTLED)
    assert violations(at) == []
    page.evaluate(PASTE, "PMID: 50000001, 50000002\nhttps://pubmed.ncbi.nlm.nih.gov/50000003/ 50000001 abc-7")
    expect(page.get_by_text("3 listed. Pasted twice: 50000001. Not a PMID: abc-7.")).to_be_visible()
    expect(page.get_by_role("option", selected=True)).to_have_count(3)
    assert violations(at) == []
    page.keyboard.press("Enter")  # the second action

    expect(page.get_by_text("review 1")).to_be_visible()
    page.wait_for_timeout(SETTLED)
    taken = press(page, [" ", "ArrowDown", " ", "1", "+", "Enter"])
    assert taken == 6, "two references with one passed over, why the abstract of a third is missing, one without a PMID"

    expect(page.get_by_text("review 2")).to_be_visible()
    page.wait_for_timeout(SETTLED)
    page.keyboard.press("p")
    page.keyboard.type("40000029 k 50000009")
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 listed. Not a PMID: k.")).to_be_visible()
    expect(page.get_by_text("not in the references")).to_be_visible()
    expect(page.get_by_text("2 studies listed")).to_be_visible()
    page.reload()
    expect(page.get_by_text("2 studies listed")).to_be_visible()
    page.wait_for_timeout(SETTLED)
    page.keyboard.press("Enter")

    expect(page.get_by_text("review 3")).to_be_visible()
    page.wait_for_timeout(SETTLED)
    page.get_by_text("Table 1. Characteristics of included studies").click()
    expect(page.get_by_text("Adams 2010 | adults")).to_be_visible()
    assert violations(at) == []
    page.get_by_role("listbox").focus()
    assert press(page, ["a", "+", "Enter"]) == 3, "all that the full text marks, and the one of them without a PMID"

    phone = visit("ann1", scheme="dark", width=400)
    phone.go(f"/work/{round}")
    expect(phone.page.get_by_text("migraine, review 4")).to_be_visible()
    phone.page.wait_for_timeout(SETTLED)
    phone.page.get_by_role("option").first.click()
    phone.page.get_by_role("button", name="One more").click()
    assert violations(phone) == []
    phone.page.get_by_role("button", name="Next").click()
    expect(phone.page.locator("main")).to_contain_text("All done")

    run(site, COMPUTE)  # a job does this 10 s after the last change
    desktop = visit("lead", width=1280)
    desktop.go("/projects/studies/pubmed")
    figure = desktop.page.get_by_role("img", name="Flow of the data set: Reviews retrieved (n = 5)")
    expect(figure).to_be_visible()
    expect(to_take(desktop.page, "Save as PNG", "Flow of the data set")).to_be_visible()
    assert violations(desktop) == []
    full_texts(desktop, pubmed, tmp_path)
    narrow = visit("lead", scheme="dark", width=400)
    narrow.go("/projects/studies/pubmed")
    expect(narrow.page.get_by_role("img", name="Flow of the data set")).to_be_visible()
    assert violations(narrow) == []
    assert run(site, SAID) == [
        [[["50000001", ""], ["50000002", ""], ["50000003", ""]], 0],
        [[["40000000", ""], ["40000002", ""], ["40000003", "old"]], 1],
        [[["50000009", ""], ["40000029", ""]], 0],
        [[[str(60000000 + n), ""] for n in range(1, 9)], 1],
        [[["40000000", ""]], 1],
    ]


def full_texts(desktop: Visit, pubmed: Stub, folder: Path) -> None:
    """Missing full texts are fetched from PubMed Central, and one that it lacks is imported from a file."""
    page = desktop.page
    cited = [reference(n, str(40_000_000 + n)) for n in range(1, 6)]
    pubmed.full_texts |= {"26000000": article("26000000", body=BODY, references=cited), "26000001": article("26000001")}
    texts = page.get_by_role("region", name="Full texts")
    expect(texts).to_contain_text("1 of 5 reviews.")
    texts.get_by_role("button", name="Get full texts").click()
    told = "Last update: 1 of 4 stored, 2 not in PubMed Central, 1 withheld by publishers."
    expect(texts.get_by_role("status").filter(has_text="Last update")).to_have_text(told, timeout=60_000)
    expect(texts).to_contain_text("2 of 5 reviews.")
    assert violations(desktop) == []

    file = folder / "review.xml"
    file.write_bytes(as_file(article("", body=BODY, references=cited)))
    desktop.go("/projects/studies/import")
    page.get_by_label("Format").select_option("jats")
    page.get_by_label("Choose files").set_input_files(file)
    page.get_by_role("button", name="Check file").click()
    expect(page.get_by_text("the article has no PMID; enter the PMID of its review")).to_be_visible(timeout=60_000)
    assert violations(desktop) == []
    page.get_by_label("Review (PMID)").fill("26000002")
    page.get_by_role("button", name="Check file").click()
    page.get_by_role("button", name="Import review.xml").click(timeout=60_000)
    page.wait_for_url("**/projects/studies/import/*")
    desktop.go("/projects/studies/pubmed")
    expect(page.get_by_role("region", name="Full texts")).to_contain_text("3 of 5 reviews.")
