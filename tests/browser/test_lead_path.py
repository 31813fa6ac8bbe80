"""From nothing to a release with the pages alone: import, a reliability study of three, its agreement, the files."""

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.desk import Desk
from tests.browser.test_pages import unnamed_controls, violations
from tests.processes.house import House

SAMPLE = Path(__file__).resolve().parents[2] / "annotation" / "sample" / "level3.jsonl"
UNITS = 6
JOIN = """
from accounts.models import User
from projects.actions.people import add_member
from projects.models import Project
project = Project.objects.get(slug='path')
for name, role in (('ann1', 'annotator'), ('ann2', 'annotator'), ('evaluator', 'evaluator')):
    add_member(project=project, user=User.objects.get(email=name + '@example.org'), role=role, by=None)
"""
ROBOTS = """
from accounts.models import User
from projects.actions.answers import next_hand
from projects.models import Round
from tests.builders import answer
round = Round.objects.get(project__slug='path')
for name, polarity in (('ann2', 'positive'), ('evaluator', 'no effect')):
    user = User.objects.get(email=name + '@example.org')
    said = 0
    while hand := next_hand(user=user, round=round):
        value = {'modality': 'moderate', 'polarity_cue': [], 'modality_cue': []}
        answer(user, hand[0], value | {'polarity': polarity if said == 0 else 'positive'})
        said += 1
"""


def nothing_for_axe(lead: Visit) -> None:
    """The page as it stands, in both schemes."""
    for scheme in ("dark", "light"):
        lead.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        assert violations(lead) + unnamed_controls(lead) == [], (lead.page.url, scheme)


def test_a_lead_imports_opens_watches_closes_measures_and_releases(
    visit: Callable[..., Visit], house: House, tmp_path: Path
) -> None:
    lead = visit("lead")
    page = lead.page
    page.set_default_timeout(20_000)
    lead.go("/projects")
    page.get_by_label("Name").fill("Path")
    page.get_by_role("button", name="Found it").click()
    page.wait_for_url("**/projects/path")
    house.manage("shell", "-v0", "-c", JOIN)

    lead.go("/projects/path/import")
    page.get_by_label("Choose a file").set_input_files(SAMPLE)
    page.get_by_role("button", name="Check the file").click()
    page.get_by_role("button", name="Import level3.jsonl").click()
    page.wait_for_url(re.compile(r"/projects/path/import/\d+$"))
    expect(page.locator("main")).to_contain_text("14")
    nothing_for_axe(lead)

    lead.go("/projects/path/rounds/new")
    page.get_by_label("Name", exact=True).fill("Study")
    page.get_by_label("measure only").check()
    page.get_by_label("a random sample of them").check()
    page.get_by_label("How many").fill(str(UNITS))
    for name in ("Anna", "Ben", "Eva"):
        page.get_by_label(name).check()
    page.get_by_label("People per unit").fill("3")
    page.get_by_role("button", name=f"Open: {UNITS} units").click()
    page.wait_for_url(re.compile(r"/projects/path/rounds/\d+$"))
    round = int(page.url.rsplit("/", 1)[-1])

    person = Desk(visit("ann1"), round).open()
    for _ in range(UNITS - 1):
        person.next("a 2 Enter")
    person.press("a 2 Enter")
    expect(person.page.get_by_role("listbox")).to_have_count(0)
    person.until_saved()
    house.manage("shell", "-v0", "-c", ROBOTS)

    page.reload()
    expect(page.locator("main")).to_contain_text(f"{3 * UNITS} of {3 * UNITS} answers")
    page.get_by_role("button", name="Close the round").click()
    page.get_by_role("button", name="Close it for good").click()
    expect(page.get_by_role("button", name="Close the round")).to_have_count(0)
    page.get_by_role("link", name="Agreement").click()
    expect(page.locator("main")).to_contain_text(f"{3 * UNITS} answers to {UNITS} of {UNITS} units, by 3 people")
    expect(page.locator("main")).to_contain_text(f"All agree on {UNITS - 1} of {UNITS}")
    expect(page.get_by_role("tab", name="polarity")).to_be_visible()
    assert page.locator("svg").count() >= 3

    lead.go("/projects/path/releases")
    page.get_by_label("Version").fill("1.0.0")
    page.get_by_role("button", name="Freeze 1.0.0").click()
    page.get_by_role("link", name="1.0.0", exact=True).first.click()
    page.get_by_role("button", name="Verify the files kept here").click()
    nothing_for_axe(lead)
    with page.expect_download() as download:
        page.get_by_role("link", name="m3/level3.jsonl").click()
    download.value.save_as(tmp_path / "level3.jsonl")
    assert (tmp_path / "level3.jsonl").read_bytes() == SAMPLE.read_bytes()
