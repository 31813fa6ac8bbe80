"""Rating passages by one key each, on a desktop and on a phone."""

import json
from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import violations
from tests.browser.work_page import SETTLED
from tests.processes.site import Site

OPEN = """
import json, tempfile
from pathlib import Path
from accounts.models import User
from annotation.imports.actions import check_files, import_files
from projects.people.actions import add_member, create_project
from projects.uploads.files import Source
from tests.builders import build_round
lead = User.objects.get(email='lead@example.org')
project = create_project(slug='passages', name='Questions about nepralin', by=lead)
texts = ['Nepralin (Dosage): Adults take: - one tablet in the morning - none in the evening',
         'Nepralin is a drug. ' * 200]
value = {'1': {'summary': 'One tablet.', 'articles': {f'1_Answer{n}': [text, '3-Incomplete'] for n, text in
         enumerate(texts)}, 'question': 'How much nepralin should I take, and for how long?'}}
name = 'section2answer_multi_abstractive_summ'
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, f'{name}.json')
    path.write_text(json.dumps(value))
    checked = check_files(project=project, format='mediqa-ans', sources=[Source.of(path)])
    import_files(project=project, format='mediqa-ans', checked=checked, by=lead)
person = add_member(project=project, user=User.objects.get(email='ann1@example.org'), role='annotator', by=lead)
round = build_round(project, [person], name='Passages, first half', kind='passage')
print(json.dumps(round.pk))
"""
SAID = (
    "import json; from annotation.models import RatedPassage; "
    "print(json.dumps(list(RatedPassage.objects.order_by('unit').values_list('rating', flat=True))))"
)


def run(site: Site, code: str) -> object:
    return json.loads(site.manage("shell", "-v0", "-c", code).strip().splitlines()[-1])


def test_a_passage_is_rated_by_one_key_or_one_tap(site: Site, visit: Callable[..., Visit]) -> None:
    round = run(site, OPEN)
    at = visit("ann1", width=1280)
    at.go(f"/work/{round}")
    expect(at.page.get_by_text("How much nepralin should I take")).to_be_visible()
    expect(at.page.get_by_text("one tablet in the morning")).to_be_visible()
    at.page.wait_for_timeout(SETTLED)
    assert violations(at) == []
    at.page.keyboard.press("3")
    expect(at.page.get_by_text("Nepralin is a drug.").first).to_be_visible()

    phone = visit("ann1", scheme="dark", width=400)
    phone.go(f"/work/{round}")
    expect(phone.page.get_by_text("Nepralin is a drug.").first).to_be_visible()
    phone.page.wait_for_timeout(SETTLED)
    assert violations(phone) == []
    phone.page.get_by_role("button", name="related").click()
    expect(phone.page.locator("main")).to_contain_text("All done")
    assert run(site, SAID) == [3, 2]
