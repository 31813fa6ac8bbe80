"""The protocol editor: a published guideline is typed in, exported, and imported into another project unchanged."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import unnamed_controls, violations

GUIDELINE = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "guideline" / "guideline.txt"
Visiting = Callable[..., Visit]
#: The document's words for its criteria, and what it highlights in the third example.
SECTIONS = ("Coherence", "Relevance", "Factual Consistency")
HIGHLIGHT = "it has also been described in individuals treated with gefitinib or panitumumab"
#: The document describes two of five points; the others are open.
BETWEEN = {"1": "Worse than the negative example", "3": "Between the examples", "4": "Nearly as the positive example"}
WORDED = {"2": "As the negative example", "5": "As the positive example"}


def read(text: str) -> list[dict[str, Any]]:
    """Return the criteria of the document: definition and the rows of its tables, example by example."""
    out = []
    for name, part in zip(SECTIONS, re.split(r"^[123]\. *", text, flags=re.MULTILINE)[1:], strict=True):
        definition = part.partition("|")[0].partition("-")[2].split("The third dimension")[0].strip()
        rows = [
            (cells[0], cells[1])
            for line in part.splitlines()
            if line.startswith("|") and len(cells := [cell.strip() for cell in line.strip("| ").split("|")]) == 2
        ]
        about = {key: value for key, value in rows if key in ("Query", "Source Document")}
        summaries, ratings, reasons = (
            [value for key, value in rows if key in keys]
            for keys in (("Summary",), ("Coherence", "Relevance", "Consistency"), ("Explanation",))
        )
        examples = [
            {"summary": summary, "value": value, "explanation": reason}
            for summary, value, reason in zip(summaries, ratings, reasons, strict=True)
        ]
        assert len(examples) == 2, name
        out.append({"name": name, "definition": definition, "about": about, "examples": examples})
    return out


def write_example(form: Locator, n: int, criterion: dict[str, Any]) -> None:
    """Write one example of the open criterion; the first is the negative one."""
    form.get_by_role("button", name="Add good example" if n else "Add bad example").click()
    example = form.get_by_role("group", name=f"Example {n + 1}, {'good' if n else 'bad'}")
    said = criterion["examples"][n]
    example.get_by_label("Query", exact=True).fill(criterion["about"].get("Query", ""))
    example.get_by_label("Source", exact=True).fill(criterion["about"]["Source Document"])
    example.get_by_label("Summary", exact=True).fill(said["summary"])
    example.get_by_label("Explanation", exact=True).fill(said["explanation"])
    example.get_by_role("combobox", name="Rating").select_option(label=said["value"])


def write_criterion(page: Page, criterion: dict[str, Any]) -> Locator:
    page.get_by_role("button", name="Add criterion").click()
    form = page.locator("li .criterion")
    form.get_by_label("Name", exact=True).fill(criterion["name"])
    form.get_by_label("Standard name").fill(criterion["name"].lower())
    question, _, more = criterion["definition"].partition(". ")
    form.get_by_label("Question, in one line").fill(question)
    form.get_by_label("Details").fill(more)
    if criterion["name"] == "Factual Consistency":
        form.get_by_label("Type").select_option("categorical")
        for n, label in enumerate(("Consistent", "Not Consistent"), 1):
            form.get_by_label(f"category {n}, value").fill(label.lower())
            form.get_by_label(f"category {n}, label").fill(label)
            form.get_by_label(f"category {n}, anchor").fill(f"{label}, as in the example")
        form.get_by_role("checkbox", name="Consistent", exact=True).first.check()
    else:
        for value, anchor in WORDED.items():
            form.get_by_label(f"point {value}, anchor").fill(anchor)
    for n in (0, 1):
        write_example(form, n, criterion)
    return form


def mark(form: Locator, words: str) -> None:
    """Select a passage in the source of the first example with the mouse and press the button."""
    example = form.get_by_role("group", name="Example 1, bad")
    example.get_by_label("Source", exact=True).evaluate(
        "(area, words) => { const at = area.value.indexOf(words); area.focus(); "
        "area.setSelectionRange(at, at + words.length) }",
        words,
    )
    example.get_by_role("button", name="Mark the selection in source").click()
    expect(example.locator(".chip mark")).to_have_text(words)


def stored(visit: Visit, slug: str) -> Any:
    """Return the newest version of the project's only protocol with that name."""
    api = f"{visit.address}/api/v1"
    listed = visit.page.request.get(f"{api}/projects/{slug}/protocols/").json()["results"]
    return visit.page.request.get(f"{api}/protocol-versions/{listed[-1]['versions'][0]['id']}/").json()


@pytest.mark.long
def test_the_guidelines_document_is_typed_in_exported_and_equal_in_another_project(
    visit: Visiting, tmp_path: Path
) -> None:
    if not GUIDELINE.exists():
        pytest.skip("../shared/data/guideline/guideline.txt is absent: the document is no part of the project")
    text = GUIDELINE.read_text(encoding="utf-8")
    criteria = read(text)
    instructions = re.search(r"You will be asked.*", text)
    assert instructions
    lead = visit("lead")
    page = lead.page
    lead.go("/projects/sample/protocols")
    page.get_by_role("link", name="New protocol").click()
    page.get_by_label("Title").fill("Qualitative Evaluation of Automated Biomedical Text Summarization")
    page.get_by_label("Instructions, in Markdown").fill(instructions[0])
    page.get_by_label("Name in this project").fill("The guideline")
    for criterion in criteria:
        form = write_criterion(page, criterion)
    mark(form, HIGHLIGHT)
    state = page.get_by_role("complementary", name="State of the protocol")
    expect(state.get_by_role("listitem")).to_have_count(6)
    state.get_by_role("button", name="Coherence, 3: no anchor.").click()
    expect(page.get_by_label("point 3, anchor")).to_be_focused()
    for name in SECTIONS[:2]:
        if name != "Coherence":
            page.get_by_role("button", name=re.compile(rf"\d\. {name}")).click()
        for value, anchor in BETWEEN.items():
            page.get_by_label(f"point {value}, anchor").fill(anchor)
    expect(state).to_contain_text("Ready for rounds.")
    page.get_by_role("button", name="Create protocol").click()
    page.wait_for_url(re.compile(r"/protocols/\d+$"))

    with page.expect_download() as download:
        page.get_by_role("link", name="Export JSON").click()
    file = tmp_path / "guideline.json"
    download.value.save_as(file)
    content = json.loads(file.read_text(encoding="utf-8"))
    assert [c["name"] for c in content["criteria"]] == list(SECTIONS)
    for criterion, made in zip(criteria, content["criteria"], strict=True):
        assert f"{made['question']}. {made['more']}" == criterion["definition"]
        assert [(e["summary"], e["explanation"]) for e in made["examples"]] == [
            (e["summary"], e["explanation"]) for e in criterion["examples"]
        ]
    example = content["criteria"][2]["examples"][0]
    [highlight] = example["marks"]
    assert example["source"][highlight["start"] : highlight["end"]] == HIGHLIGHT
    assert example["value"] == "not consistent"

    lead.go("/projects")
    page.get_by_role("button", name="New project").click()
    page.get_by_label("Name").fill("Elsewhere")
    page.get_by_role("button", name="Create project").click()
    page.wait_for_url("**/projects/elsewhere")
    lead.go("/projects/elsewhere/protocols")
    page.get_by_label("Import JSON").set_input_files(file)
    page.wait_for_url(re.compile(r"/projects/elsewhere/protocols/\d+$"))
    theirs, ours = stored(lead, "elsewhere"), stored(lead, "sample")
    assert (theirs["content"], theirs["digest"]) == (ours["content"], ours["digest"])
    assert theirs["unready"] == []


def test_a_template_is_copied_reordered_by_keyboard_edited_and_compared(visit: Visiting) -> None:
    lead = visit("lead")
    page = lead.page
    lead.go("/projects/sample/protocols")
    page.get_by_role("link", name="Start from Guideline").click()
    page.get_by_role("button", name="Create protocol").click()
    page.wait_for_url(re.compile(r"/protocols/\d+$"))
    head = page.get_by_role("button", name="1. Coherence")
    head.focus()
    page.keyboard.press("Alt+ArrowDown")
    expect(page.get_by_role("button", name="2. Coherence")).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_label("point 1, anchor").fill("")
    state = page.get_by_role("complementary", name="State of the protocol")
    expect(state).to_contain_text("Coherence, 1: no anchor.")
    page.get_by_label("Version note").fill("Another order")
    page.get_by_role("button", name="Save new version").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("version 2")
    page.get_by_role("tab", name="Compare").click()
    page.get_by_label("Compare with").select_option(label="version 1")
    expect(page.locator("dd", has_text="Relevance, Coherence").first).to_be_visible()
    expect(page.locator("del", has_text="Sentences do not belong together")).to_have_count(1)
    page.get_by_role("tab", name="Preview").click()
    # The rater's page: a complete one is rated by its keys.
    expect(page.locator(".asked", has_text="Is it a well-ordered text")).to_be_visible()
    page.locator(".asked").first.focus()
    page.wait_for_timeout(200)
    for key in [*"222", "Enter"] * 3 + ["Enter"]:
        page.keyboard.press(key)
        page.wait_for_timeout(200 if key == "Enter" else 20)
    expect(page.get_by_role("status").filter(has_text="3 summaries rated")).to_be_visible()
    page.get_by_role("tab", name="JSON").click()
    field = page.get_by_label("Protocol as JSON")
    field.fill("{")
    page.get_by_role("button", name="Use as draft").click()
    expect(page.get_by_role("alert").filter(has_text="Not valid JSON.")).to_be_visible()
    content = stored(lead, "sample")["content"]
    content["criteria"][0]["key"] = "No"
    field.fill(json.dumps(content))
    page.get_by_role("button", name="Use as draft").click()
    expect(page.get_by_role("alert").filter(has_text="criteria.0.key")).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_the_editor_fits_and_axe_finds_nothing(visit: Visiting, width: int, scheme: str) -> None:
    lead = visit("lead", width=width, scheme=scheme)
    page = lead.page
    for template, criterion in (
        ("guideline", "3. Factual"),
        ("m3-table-5", "6. Polarity"),
        ("error-spans", "1. Errors"),
    ):
        lead.go(f"/projects/sample/protocols/new?from={template}")
        for tab in ("Write", "Preview", "JSON"):
            page.get_by_role("tab", name=tab).click()
            if tab == "Write":
                page.get_by_role("button", name=criterion).click()
                expect(page.locator("li .criterion")).to_be_visible()
            found = violations(lead) + unnamed_controls(lead)
            assert found == [], (template, tab)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (template, tab)
    lead.go("/projects/sample/protocols")
    expect(page.get_by_role("radio", name="Templates")).to_be_attached()
    expect(page.get_by_text("Template", exact=True).first).to_be_visible()
    assert violations(lead) + unnamed_controls(lead) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
