"""The curate page: from sentences to a released cluster by keyboard; fill-down, paste, reload, conflict."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import unnamed_controls, violations
from tests.processes.site import Site

SAMPLE = Path(__file__).resolve().parents[2] / "annotation" / "sample" / "level3.jsonl"
POLARITY = {"positive": "a", "no effect": "s", "negative": "d"}
MODALITY = {"strong": "1", "moderate": "2", "weak": "3", "no evidence": "4"}
REVIEW = """
import json
from accounts.models import User
from annotation.curation.actions import add_review
from projects.people.actions import create_project
given = json.loads({given!r})
lead = User.objects.get(email='lead@example.org')
project = create_project(slug=given['slug'], name=given['slug'], by=lead)
member = project.members.get(user=lead)
review = add_review(project=project, pmid=given['pmid'], title='', abstract='', sentences=given['sentences'], by=member)
print(review.pk)
"""

Visiting = Callable[..., Visit]


def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]


def make_review(site: Site, slug: str, line: dict[str, Any]) -> int:
    """Create a project with a review of one target sentence and its source texts; return the review's id."""
    inputs = [{"pmid": i["source_pmid"], "text": i["source_text"]} for i in line["input_studies"]]
    given = {
        "slug": slug,
        "pmid": line["docid"].split("_")[0],
        "sentences": [{"text": line["target_text"], "inputs": inputs}],
    }
    said = site.manage("shell", "-v0", "-c", REVIEW.format(given=json.dumps(given)))
    return int(said.strip().splitlines()[-1])


class Hands:
    """A person without a mouse."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def tab_to(self, name: str, back: bool = False, exact: bool = False) -> None:
        """Press Tab until a control with this name is focused."""
        named = (
            "e => e && (e.getAttribute('aria-label') || e.innerText || e.closest('label')?.innerText || '')"
            ".replace(/\\s+/g, ' ')"
        )
        for _ in range(60):
            self.press("Shift+Tab" if back else "Tab")
            found = str(self.page.evaluate(f"({named})(document.activeElement)")).strip()
            if found == name or (name in found and not exact):
                return
        raise AssertionError(f"Tab never came to {name!r}")

    def tab_into(self, grid: str, back: bool = False) -> None:
        """Press Tab until the focus is in this grid."""
        for _ in range(60):
            self.press("Shift+Tab" if back else "Tab")
            inside = "document.activeElement.closest('[role=grid]')?.getAttribute('aria-label') || ''"
            if str(self.page.evaluate(inside)).startswith(grid):
                return
        raise AssertionError(f"Tab never came into {grid!r}")

    def mark(self, cue: str, key: str) -> None:
        """Select the words of a cue in the open proposition and press a value's key; only the key without a cue."""
        if cue:
            words = [w.strip() for w in self.page.locator("dialog [role=option]").all_inner_texts()]
            wanted = cue.split()
            at = next(i for i in range(len(words)) if words[i : i + len(wanted)] == wanted)
            self.press("Home", *["ArrowRight"] * at, *["Shift+ArrowRight"] * (len(wanted) - 1))
        self.press(key)

    def label(self, polarity: str, polarity_cue: str, modality: str, modality_cue: str) -> None:
        """Label the focused proposition: Enter opens it, its last key moves to the grid."""
        self.press("Enter")
        expect(self.page.locator("dialog [role=listbox]")).to_be_focused()
        if polarity != "n/a":
            self.mark(polarity_cue, POLARITY[polarity])
        self.mark(modality_cue, MODALITY[modality])
        if (polarity != "n/a" and not polarity_cue) or (modality != "moderate" and not modality_cue):
            self.press("Enter")
        expect(self.page.locator("dialog[open]")).to_have_count(0)
        expect(self.page.locator("[role=gridcell]:focus")).to_have_count(1)


def cell(page: Page, grid: str, row: int, title: str) -> Any:
    """Return a cell of the first grid with this beginning of a name; row 0 is the first."""
    return page.locator(f"[role=grid][aria-label^='{grid}']").first.locator(
        f"[role=row][aria-rowindex='{row + 2}'] [role=gridcell][data-title='{title}']"
    )


def unsaved(page: Page, text: str) -> None:
    expect(page.get_by_role("form", name="Save").get_by_role("status")).to_contain_text(text)


@pytest.fixture(scope="module")
def imported(site: Site) -> str:
    """A project with the sample clusters for these tests only."""
    site.manage("import_data", "m3", str(SAMPLE), "--project", "curated", "--create", "--lead", "lead@example.org")
    return "curated"


@pytest.fixture
def at_curated(visit: Visiting, imported: str) -> Visiting:
    """The curate page of the project's first review."""

    def at(**how: Any) -> Visit:
        lead = visit("lead", **how)
        clusters = lead.page.request.get(f"{lead.address}/api/v1/projects/{imported}/clusters/").json()["results"]
        lead.go(f"/projects/{imported}/reviews/{clusters[0]['review']['id']}/curate")
        return lead

    return at


def test_a_review_is_rebuilt_from_its_sentences_to_a_released_cluster_by_keyboard(
    visit: Visiting, site: Site, tmp_path: Path
) -> None:
    line = lines()[0]
    review = make_review(site, "rebuilt", line)
    lead = visit("lead")
    page, hands = lead.page, Hands(lead.page)
    lead.go(f"/projects/rebuilt/reviews/{review}/curate")

    hands.tab_to("New cluster from")
    hands.press("Enter")
    expect(page.locator("[role=grid][aria-label='New clusters'] [role=gridcell]:focus")).to_have_count(1)
    for slot in "pico":
        page.keyboard.type(line["pico"][slot])
        hands.press("Tab")
    n = len(line["input_studies"]) + 1
    hands.tab_to(f"Create 1 cluster with {n} propositions")
    hands.press("Enter")

    expect(page.locator("[role=grid][aria-label^='Propositions of'] [role=gridcell]:focus")).to_have_count(1)
    hands.label(*(line[f"target_{f}"] for f in ("direction", "direction_span", "modality", "modality_span")))
    for one in line["input_studies"]:
        hands.label(*(one[f"source_{f}"] for f in ("direction", "direction_span", "modality", "modality_span")))
    hands.tab_into("PICO tuple", back=True)
    hands.press("End", "Enter")
    unsaved(page, f"{n + 1} changes not saved")
    hands.press("Control+s")
    unsaved(page, f"{n + 1} changes saved")
    expect(page.locator("main")).to_contain_text("ready for release")

    hands.tab_to("Releases")
    hands.press("Enter")
    page.wait_for_url("**/projects/rebuilt/releases")
    page.get_by_text(re.compile("checks pass")).first.wait_for()
    expect(page.get_by_label("Version")).to_have_value("1.0.0")
    hands.tab_to("Version")
    page.keyboard.type("1.0.0")
    hands.press("Enter")
    hands.tab_to("Freeze anyway")
    hands.press("Enter")
    page.get_by_role("link", name="1.0.0", exact=True).first.wait_for(timeout=90_000)
    hands.tab_to("1.0.0", exact=True)
    hands.press("Enter")
    page.wait_for_url(re.compile(r"/releases/\d+$"))
    page.get_by_role("button", name="m3/").wait_for()
    hands.tab_to("m3/")
    hands.press("Enter")
    hands.tab_to("m3/level3.jsonl")
    with page.expect_download() as download:
        hands.press("Enter")
    download.value.save_as(tmp_path / "level3.jsonl")
    released = (tmp_path / "level3.jsonl").read_text(encoding="utf-8")
    assert released == SAMPLE.read_text(encoding="utf-8").splitlines(keepends=True)[0]


#: For the first row of a grid: whether its cells are stacked, and the least width of a text and a cue.
ROW = """grid => {
  const of = name => grid.querySelector(`.line:not(.heads) > .${name}`).getBoundingClientRect()
  const [study, text, ...cues] = ['study', 'text', 'polarity_cue', 'modality_cue'].map(of)
  return [study.left === text.left, text.width, Math.min(...cues.map(c => c.width))]
}"""


@pytest.mark.long
def test_values_fill_down_and_what_a_text_does_not_hold_is_refused_by_cell(at_curated: Visiting) -> None:
    page = at_curated().page
    # Side by side the columns fit whole words; otherwise each row is a block.
    for width in (1280, 1136, 1120, 700, 320):
        page.set_viewport_size({"width": width, "height": 800})
        folded, text, cue = page.locator("[role=grid][aria-label^='Propositions of']").first.evaluate(ROW)
        assert (folded, text > 200, cue >= 120) == (width <= 1120, True, True), (width, folded, text, cue)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.set_viewport_size({"width": 1280, "height": 800})
    hands = Hands(page)
    hands.tab_into("Propositions of")
    first = cell(page, "Propositions of", 0, "Modality").inner_text().strip()
    hands.press(*["ArrowRight"] * 4, "Shift+ArrowDown", "Shift+ArrowDown", "1")
    for row in range(3):
        expect(cell(page, "Propositions of", row, "Modality")).to_contain_text("strong")
    hands.press("Control+z")
    expect(cell(page, "Propositions of", 0, "Modality")).to_have_text(first)
    hands.press("ArrowUp", "ArrowUp", "Home", *["ArrowRight"] * 3, "Shift+ArrowDown", "Control+d")
    expect(page.locator("main")).to_contain_text("is not in this text")
    expect(cell(page, "Propositions of", 1, "Polarity cue")).to_have_attribute("aria-invalid", "true")
    unsaved(page, "All changes saved")


@pytest.mark.long
def test_rows_pasted_from_a_spreadsheet_name_their_faults_before_anything_is_sent(visit: Visiting, site: Site) -> None:
    line = lines()[1]
    review = make_review(site, "pasted", line)
    lead = visit("lead")
    page, hands = lead.page, Hands(lead.page)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    lead.go(f"/projects/pasted/reviews/{review}/curate")
    hands.tab_to("Add clusters")
    hands.press("Enter")
    expect(page.locator("[role=gridcell]:focus")).to_have_count(1)
    rows = [
        ["Study", "Text", "Intervention", "Polarity", "Modality", "Whose"],
        ["", '"A ""quoted"" target\nof two lines."', "nepralin", "positive", "strong", "x"],
        ["12a", "An input.", "", "better", "moderate", ""],
    ]
    page.evaluate("text => navigator.clipboard.writeText(text)", "\r\n".join("\t".join(r) for r in rows) + "\r\n")
    hands.press("Control+v")
    main = page.locator("main")
    expect(main).to_contain_text("Row 2, Study: “12a” is not a PMID")
    expect(main).to_contain_text("Row 2, Polarity: “better” is not a polarity")
    expect(main).to_contain_text("Unknown columns, left out: Whose.")
    expect(page.get_by_role("button", name="Create 1 cluster with 2 propositions")).to_be_disabled()
    assert violations(lead) + unnamed_controls(lead) == []
    expect(main).to_contain_text("stored in this browser")
    # A row without key columns is corrected in place.
    page.reload()
    expect(main).to_contain_text("Row 2, Study: “12a” is not a PMID")
    hands.tab_into("New clusters")
    hands.press("ArrowDown", *["ArrowRight"] * 4)
    page.keyboard.type("12345")
    # Tab continues along the row, over existing cells.
    hands.press("Tab", "Tab", "a")
    hands.tab_to("Create 1 cluster with 2 propositions")
    hands.press("Enter")
    expect(cell(page, "Propositions of", 0, "Text")).to_have_text('A "quoted" target\nof two lines.')
    expect(cell(page, "Propositions of", 1, "Study")).to_contain_text("12345")
    expect(cell(page, "Propositions of", 1, "Polarity")).to_contain_text("positive")


@pytest.mark.long
def test_unsaved_edits_survive_a_reload_and_changes_ask_for_a_reason(at_curated: Visiting) -> None:
    page = at_curated().page
    hands = Hands(page)
    was = cell(page, "Propositions of", 1, "Modality").inner_text().strip()
    other = "weak" if was != "weak" else "strong"
    hands.tab_into("Propositions of")
    hands.press("ArrowDown", *["ArrowRight"] * 4, MODALITY[other])
    unsaved(page, "1 change not saved, stored in this browser")
    page.reload()
    unsaved(page, "1 change not saved")
    expect(cell(page, "Propositions of", 1, "Modality")).to_contain_text(other)
    hands.press("Control+s")
    reason = page.get_by_label("Reason for changing a current value")
    expect(reason).to_be_focused()
    page.keyboard.type("read again")
    hands.press("Enter")
    unsaved(page, "1 change saved")
    page.reload()
    expect(cell(page, "Propositions of", 1, "Modality")).to_contain_text(other)
    unsaved(page, "All changes saved")


@pytest.mark.long
def test_a_cell_changed_by_another_person_shows_both_versions(at_curated: Visiting) -> None:
    mine, theirs = at_curated().page, at_curated().page
    for page, key in ((mine, "d"), (theirs, "s")):
        hands = Hands(page)
        hands.tab_into("Propositions of")
        hands.press(*["ArrowDown"] * 4, *["ArrowRight"] * 2, key)
        unsaved(page, "1 change not saved")
    for page, reason in ((theirs, "theirs"), (mine, "mine")):
        page.keyboard.press("Control+s")
        expect(page.get_by_label("Reason for changing a current value")).to_be_focused()
        page.keyboard.type(reason)
        page.keyboard.press("Enter")
        if page is theirs:
            unsaved(page, "1 change saved")
    conflict = mine.get_by_role("alert").filter(has_text="was changed by another curator")
    expect(conflict).to_contain_text("negative")
    expect(conflict).to_contain_text("no effect")
    unsaved(mine, "1 change not saved")
    hands = Hands(mine)
    hands.tab_to("Keep mine", back=True)
    hands.press("Enter", "Control+s")
    unsaved(mine, "1 change saved")
    expect(cell(mine, "Propositions of", 4, "Polarity")).to_contain_text("negative")
