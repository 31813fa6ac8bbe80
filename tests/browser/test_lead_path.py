"""From an empty project to a release by the button of the next action: import, people, guideline, reliability study.

Also counts the actions for opening the next round.
"""

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import unnamed_controls, violations
from tests.browser.work_page import WorkPage

SAMPLE = Path(__file__).resolve().parents[2] / "annotation" / "sample" / "level3.jsonl"
UNITS = 6
#: Invited people, their roles, and their answers for the first unit; all other answers are positive.
PEOPLE = {"ann1": ("annotator", "a"), "ann2": ("annotator", "a"), "evaluator": ("evaluator", "s")}


def nothing_for_axe(lead: Visit) -> None:
    """No axe violations in both schemes."""
    for scheme in ("dark", "light"):
        lead.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        assert violations(lead) + unnamed_controls(lead) == [], (lead.page.url, scheme)


def onward(lead: Visit, words: str, button: str) -> None:
    """Go to the project's page and follow its next action: the section with the only filled button."""
    header = lead.page.locator("header")
    header.get_by_role("link", name="Project", exact=True).click()
    filled = lead.page.locator("main .button.primary")
    expect(filled).to_have_count(1)
    step = lead.page.get_by_role("region").filter(has=lead.page.locator(".button.primary"))
    expect(step).to_contain_text(words)
    step.get_by_role("link", name=button).click()
    expect(lead.page.get_by_role("heading", level=1).first).not_to_have_text("Path")


def invite(lead: Visit, visit: Callable[..., Visit]) -> None:
    """Create links on the People page; each person opens theirs and joins."""
    page = lead.page
    for who, (role, _) in PEOPLE.items():
        # The first dialog is open, because the page was reached by its next action.
        if who != next(iter(PEOPLE)):
            page.get_by_role("button", name="Invite people").click()
        expect(page.get_by_label("E-mail", exact=True)).to_be_focused()
        page.keyboard.type(f"{who}@example.org")
        page.get_by_role("dialog").get_by_label("Role").select_option(role)
        page.get_by_role("button", name="Create link").click()
        field = page.get_by_label("Link", exact=True)
        expect(page.locator(".made strong")).to_have_text(f"{who}@example.org")
        nothing_for_axe(lead)
        invited = visit(who)
        invited.page.goto(field.input_value())
        invited.page.get_by_role("button", name="Join Path").click()
        invited.page.wait_for_url(f"{invited.address}/")
        page.get_by_role("button", name="Close").click()
    nothing_for_axe(lead)


def label_all(person: WorkPage, first: str) -> None:
    """Answer all units by keyboard: a polarity, *moderate*, no cue."""
    for n in range(UNITS - 1):
        person.next(f"{'a' if n else first} 2 Enter")
    person.press("a 2 Enter")
    expect(person.page.get_by_role("listbox")).to_have_count(0)
    person.until_saved()


def test_a_lead_imports_opens_watches_closes_measures_and_releases(visit: Callable[..., Visit], tmp_path: Path) -> None:
    lead = visit("lead")
    page = lead.page
    page.set_default_timeout(20_000)
    lead.go("/projects")
    page.get_by_role("button", name="New project").click()
    page.get_by_label("Name").fill("Path")
    page.get_by_role("button", name="Create project").click()
    page.wait_for_url("**/projects/path")
    nothing_for_axe(lead)

    onward(lead, "import a corpus", "Import a file")
    page.get_by_label("Choose files").set_input_files(SAMPLE)
    page.get_by_role("button", name="Check file").click()
    page.get_by_role("button", name="Import level3.jsonl").click()
    page.wait_for_url(re.compile(r"/projects/path/import/\d+$"))
    expect(page.locator("main")).to_contain_text("14")
    nothing_for_axe(lead)

    onward(lead, "invite annotators", "Invite people")
    invite(lead, visit)

    page.goto(page.url.split("/projects/")[0] + "/projects/path")
    page.get_by_role("link", name=re.compile("^Read ?: Guideline")).click()
    page.get_by_label("Task").select_option(label="Label propositions")
    page.get_by_role("button", name="Write version 1").click()
    page.get_by_label("Guideline, in Markdown").press("Control+End")
    page.keyboard.type("Ask when in doubt.")
    page.get_by_role("button", name="Save new version").click()
    expect(page.get_by_role("heading", name="Label propositions, version 1")).to_be_visible()
    page.get_by_label("Compare with").select_option("the shipped text")
    expect(page.get_by_role("article", name="Differences").locator("ins")).to_contain_text("Ask when in doubt.")
    nothing_for_axe(lead)

    onward(lead, "open the first round", "Open a round")
    page.get_by_label("Name", exact=True).fill("Study")
    page.get_by_label("reliability study").check()
    expect(page.get_by_label("People per unit")).to_have_value("2")
    page.get_by_label("a random sample").check()
    page.get_by_label("Sample size").fill(str(UNITS))
    for name in ("Anna", "Ben", "Eva"):
        page.get_by_label(name).check()
    page.get_by_label("People per unit").fill("3")
    expect(page.get_by_text(re.compile(rf"{UNITS} of \d+ matching . 3 people"))).to_be_visible()
    page.get_by_role("button", name="Open round").click()
    page.wait_for_url(re.compile(r"/projects/path/rounds/\d+$"))
    round = int(page.url.rsplit("/", 1)[-1])

    for who, (_, first) in PEOPLE.items():
        label_all(WorkPage(visit(who), round).open(), first)

    # The page of the round has been updated.
    expect(page.locator("main")).to_contain_text(f"{3 * UNITS} of {3 * UNITS} answers")
    onward(lead, f"Study has all {3 * UNITS} answers", "Close round")
    page.get_by_role("button", name="Close round", exact=True).click()
    expect(page.get_by_role("button", name="Close round")).to_have_count(0)
    expect(page.get_by_role("region", name="Agreement")).to_contain_text(f"n = {UNITS}")
    onward(lead, "freeze the first release", "Agreement of “Study”")
    expect(page.locator("main")).to_contain_text(
        f"{3 * UNITS} answers to {UNITS} of {UNITS} units · 3 people, 3 per unit"
    )
    expect(page.locator("main")).to_contain_text(f"all agreed on {UNITS - 1} of {UNITS} units")
    expect(page.get_by_role("table", name="Coefficients: polarity")).to_be_visible()
    assert page.locator("svg").count() >= 3

    onward(lead, "freeze the first release", "Prepare a release")
    expect(page.get_by_label("Version")).to_have_value("1.0.0")
    page.get_by_role("button", name="Freeze 1.0.0").click()
    asked = page.get_by_role("dialog", name="despite failing checks")
    expect(asked).to_contain_text("licence")
    nothing_for_axe(lead)
    asked.get_by_role("button", name="Freeze anyway").click()
    page.get_by_role("link", name="1.0.0", exact=True).first.click()
    page.get_by_role("button", name="Verify stored files").click()
    expect(page.get_by_text("All files as released")).to_be_visible()
    expect(page.get_by_text("all audit checkpoints are intact")).to_be_visible()
    nothing_for_axe(lead)
    page.get_by_role("button", name="m3/").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="m3/level3.jsonl").click()
    download.value.save_as(tmp_path / "level3.jsonl")
    assert (tmp_path / "level3.jsonl").read_bytes() == SAMPLE.read_bytes()

    page.locator("header").get_by_role("link", name="Project", exact=True).click()
    expect(page.get_by_role("heading", name="Complete")).to_be_visible()
    expect(page.get_by_role("region", name="Agreement")).to_contain_text(f"n = {UNITS}")
    expect(page.get_by_role("region", name="Answers, last 14 days")).to_contain_text(f"{3 * UNITS}")
    nothing_for_axe(lead)
    # A round in five actions.
    page.get_by_role("link", name="New round").click()
    page.get_by_label("Name", exact=True).fill("Labels")
    page.get_by_label("Anna").check()
    page.get_by_label("Ben").check()
    page.get_by_role("button", name="Open round").click()
    page.wait_for_url(re.compile(r"/projects/path/rounds/\d+$"))
