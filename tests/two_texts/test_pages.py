"""The kind in the browser: its component is found in a bundle of its own, and worked on by keyboard."""

import json
import shutil
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from config.spa import manifest
from tests.browser import conftest
from tests.browser.conftest import Visit
from tests.browser.test_curate import cell
from tests.browser.test_pages import violations
from tests.browser.work_page import SETTLED
from tests.processes.conftest import TEMPLATE
from tests.processes.site import Site

chromium, visit = conftest.chromium, conftest.visit
pytestmark = pytest.mark.browser
OPEN = """
import json
from accounts.models import User
from projects.people.actions import add_member, create_project
from projects.rounds.actions import close_round
from tests.builders import build_cluster, build_round
lead = User.objects.create_user(email='lead@example.org', name='Lead')
project = create_project(slug='clarity', name='Clarity', by=lead)
for n in range(3):
    build_cluster(project, n, inputs=1)
user = User.objects.create_user(email='ann1@example.org', name='Ann')
person = add_member(project=project, user=user, role='annotator', by=lead)
round = build_round(project, [person], kind='two_texts')
print(json.dumps([round.pk, project.reviews.order_by('pk')[0].pk]))
"""
SAID = (
    "import json; from tests.two_texts.models import TextRating; "
    "print(json.dumps(list(TextRating.objects.order_by('pk').values('target', 'input', 'target_first', 'remark'))))"
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    if manifest() is None:
        pytest.fail("The bundle with the kind has not been built: make test ONLY=browser")
    folder = tmp_path_factory.mktemp("two_texts")
    if TEMPLATE:
        shutil.copy(TEMPLATE, folder / "concord.sqlite3")
    made = Site(folder, "")
    made.environment["DJANGO_SETTINGS_MODULE"] = "tests.two_texts.live"
    made.manage("migrate", "-v0")
    made.start_web()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def made(site: Site) -> tuple[int, int]:
    """A round of the kind, and a review whose cluster is in it."""
    round, review = json.loads(site.manage("shell", "-v0", "-c", OPEN).strip().splitlines()[-1])
    site.manage("shell", "-v0", "-c", conftest.EXPERIENCED)
    return round, review


@pytest.fixture
def round(made: tuple[int, int]) -> int:
    return made[0]


def test_two_texts_are_rated_by_keyboard_in_the_persons_own_order(
    site: Site, round: int, visit: Callable[..., Visit]
) -> None:
    page = visit("ann1").page
    page.goto(f"{site.address}/work/{round}")
    for key in ("4", "2"):
        expect(page.get_by_role("heading", name="How clear are the texts?")).to_be_visible()
        page.wait_for_timeout(SETTLED)
        page.keyboard.press(key)
    page.get_by_label("Remark").fill("4 is no key in a field")
    page.get_by_role("heading", name="How clear are the texts?").focus()
    progress = page.locator(".progress").inner_text()
    page.keyboard.press("Enter")
    expect(page.locator(".progress")).not_to_have_text(progress)
    expect(page.locator(".saved")).to_contain_text("Saved")
    [said] = json.loads(site.manage("shell", "-v0", "-c", SAID).strip().splitlines()[-1])
    first, second = ("target", "input") if said["target_first"] else ("input", "target")
    assert (said[first], said[second], said["remark"]) == (4, 2, "4 is no key in a field")


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 400)])
def test_the_page_of_a_kind_of_another_app_is_accessible(
    site: Site, round: int, visit: Callable[..., Visit], scheme: str, width: int
) -> None:
    page = visit("ann1", scheme=scheme, width=width)
    page.go(f"/work/{round}")
    expect(page.page.get_by_role("heading", name="How clear are the texts?")).to_be_visible()
    assert violations(page) == []
    assert page.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "no sideways scroll"


def test_a_curator_types_points_into_the_grid(site: Site, made: tuple[int, int], visit: Callable[..., Visit]) -> None:
    page = visit("lead").page
    page.goto(f"{site.address}/projects/clarity/reviews/{made[1]}/curate")
    expect(page.get_by_role("columnheader", name="Clear: target")).to_be_visible()
    grid = "PICO tuple and relation and rating of"
    cell(page, grid, 0, "Clear: target").click()
    page.keyboard.press("5")
    cell(page, grid, 0, "Clear: input").click()
    page.keyboard.press("3")
    page.keyboard.press("Control+s")
    expect(page.get_by_role("form", name="Save").get_by_role("status")).to_contain_text("1 change saved")
    [*_, said] = json.loads(site.manage("shell", "-v0", "-c", SAID).strip().splitlines()[-1])
    assert (said["target"], said["input"]) == (5, 3)
