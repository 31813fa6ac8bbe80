"""Systems from registration to outputs side by side in the pages; and M3's published level 3 with four systems.

The worker is stopped while a run is halfway: one chunk is run by hand, so that nothing depends on speed.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_lead_path import nothing_for_axe
from tests.processes.site import Site, until

LEVEL3 = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "m3" / "level3.jsonl"
SAMPLE = Path(__file__).resolve().parents[2] / "annotation" / "sample" / "level3.jsonl"
CLUSTERS = 14
#: Size of the first chunk of a run, before its pace is known.
FIRST = 8
#: Only the newest job; others may wait from earlier tests or the scheduler.
ONE_CHUNK = (
    "from projects.jobs import queries, running; "
    "running.run_job(queries.in_order().filter(kind='run_chunk').order_by('-pk').first().pk)"
)
FOUR = {"random-3": "random", "TextRank": "TextRank", "MMR": "MMR"}


@contextmanager
def no_worker(site: Site) -> Iterator[None]:
    """The worker is suspended during the block."""
    for worker in site.others:
        if worker.is_running:
            worker.kill()
    try:
        yield
    finally:
        site.start_worker()


def one_chunk(site: Site) -> None:
    site.manage("shell", "-v0", "-c", ONE_CHUNK)


def narrow_too(lead: Visit) -> None:
    """No horizontal scrolling and no axe violations at the width of a phone."""
    lead.page.set_viewport_size({"width": 400, "height": 800})
    nothing_for_axe(lead)
    assert lead.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), lead.page.url
    lead.page.set_viewport_size({"width": 1280, "height": 800})


def place_of(page: Page, name: str) -> Any:
    """Return the position of a control or heading."""
    return page.get_by_role("heading", name=name).bounding_box()


def register(page: Page, name: str, sentences: int) -> None:
    """Register a system from a preset with the form."""
    page.get_by_role("link", name="New system").click()
    page.get_by_label("Search").fill("mediqa lead")
    page.get_by_role("button", name="Lead-3", exact=True).click()
    page.get_by_label("Name, as in tables").fill(name)
    page.get_by_label("Sentences required").fill(str(sentences))
    page.get_by_role("button", name="Create version").click()


def test_a_lead_registers_runs_stops_resumes_and_reads(site: Site, visit: Callable[..., Visit]) -> None:
    lead = visit("lead")
    page = lead.page
    lead.go("/projects/sample/systems")
    register(page, "lead of three", 0)
    expect(
        page.get_by_text("At least 1", exact=False).or_(page.get_by_text("From 1 to", exact=False)).first
    ).to_be_visible()
    assert page.get_by_label("Sentences required").evaluate("field => !field.validity.valid"), "the form holds it back"
    page.get_by_label("Sentences required").fill("2")
    expect(page.get_by_label("Changes")).to_contain_text("Sentences")
    page.get_by_text("As JSON").click()
    expect(page.get_by_label("Configuration as JSON")).to_contain_text('"sentences": 2')
    narrow_too(lead)
    page.get_by_role("button", name="Create version").click()
    expect(page.get_by_role("heading", name="Version 1")).to_be_visible()
    narrow_too(lead)
    page.get_by_role("link", name="New version").click()
    page.get_by_role("button", name="Version 1", exact=True).click()
    page.get_by_label("Sentences required").fill("3")
    page.get_by_role("button", name="Create version").click()
    expect(page.get_by_role("region", name="Table: Changes from version 1 to version 2")).to_contain_text("Sentences")

    with no_worker(site):
        page.get_by_role("button", name="Run: version 2").click()
        expect(page.get_by_text(f"0 of {CLUSTERS} clusters")).to_be_visible()
        below = place_of(page, "Hidden from")
        one_chunk(site)
        expect(page.get_by_text(f"{FIRST} of {CLUSTERS} clusters")).to_be_visible()
        assert place_of(page, "Hidden from") == below, "nothing moves while it goes on"
        page.get_by_role("button", name="Stop").click()
        expect(page.get_by_text("Stopped", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name="Resume")).to_be_focused()
        nothing_for_axe(lead)
        page.get_by_role("button", name="Resume").click()
        expect(page.get_by_role("button", name="Stop")).to_be_visible()
        expect(page.get_by_text(f"{FIRST} of {CLUSTERS} clusters")).to_be_visible()
        assert place_of(page, "Hidden from") == below
    expect(page.get_by_text("Complete", exact=True)).to_be_visible()
    expect(page.get_by_text(f"{CLUSTERS} of {CLUSTERS} clusters")).to_be_visible()
    assert place_of(page, "Hidden from") == below
    narrow_too(lead)

    run = int(page.url.rsplit("/", 1)[-1])
    page.get_by_role("link", name="Outputs").click()
    expect(page.get_by_role("heading", name="lead of three")).to_be_visible()
    first = page.locator("main article mark").first.inner_text()
    assert first in page.get_by_role("region", name="Inputs", exact=True).inner_text(), (
        "what is marked stands in an input"
    )
    heading = page.locator("#inputs").inner_text()
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("Unit", exact=True)).to_have_value("2")
    expect(page.locator("#inputs")).not_to_have_text(heading)
    expect(page).to_have_url(re.compile(r"position=2"))
    narrow_too(lead)
    page.reload()
    expect(page.get_by_label("Unit", exact=True)).to_have_value("2")

    lead.go(f"/projects/sample/systems/runs/{run}")
    page.get_by_label("Person").select_option(label="Lea Lead, lead")
    page.get_by_role("button", name="Hide", exact=True).click()
    expect(page.get_by_text("Outputs and figures are hidden from you")).to_be_visible()
    page.get_by_role("link", name="Outputs").click()
    expect(page.locator("main article").get_by_text("hidden from you")).to_be_visible()
    expect(page.locator("main article mark")).to_have_count(0)
    lead.go(f"/projects/sample/systems/runs/{run}")
    page.get_by_role("button", name="Lift the embargo of Lea Lead").click()
    expect(page.get_by_text("Outputs and figures are hidden from you")).to_have_count(0)


@pytest.mark.long
def test_imported_outputs_are_checked_stored_and_run(site: Site, visit: Callable[..., Visit], tmp_path: Path) -> None:
    lines = SAMPLE.read_text(encoding="utf-8").splitlines()
    keys = [json.loads(line)["docid"] for line in lines]
    rows = [f'{key},"What {key} says."' for key in keys[1:]]
    twice, good = tmp_path / "twice.csv", tmp_path / "good.csv"
    twice.write_text("\n".join(["key,text", *rows, rows[0]]))
    good.write_text("\n".join(["key,text", *rows, "7_7,Of something else."]))
    lead = visit("lead")
    page = lead.page
    lead.go("/projects/sample/systems")
    page.get_by_role("link", name="New system").click()
    page.get_by_label("Search").fill("bilstm")
    page.get_by_role("button", name="BiLSTM").click()
    expect(page.get_by_label("Name, as in tables")).to_have_value("BiLSTM")
    file = page.get_by_label("Outputs, as CSV or JSONL")
    file.set_input_files(twice)
    expect(page.get_by_text("1 fault in twice.csv. Nothing was stored.")).to_be_visible()
    expect(page.get_by_text(f"duplicate key '{keys[1]}', first on line 2")).to_be_visible()
    narrow_too(lead)
    file.set_input_files(good)
    expect(page.get_by_text(f"{CLUSTERS} outputs, {CLUSTERS - 1} matching the {CLUSTERS} units")).to_be_visible()
    expect(page.get_by_text("1 fault in")).to_have_count(0)
    page.get_by_text("1 unknown key").click()
    expect(page.get_by_role("region", name="Table: Unknown keys")).to_contain_text("7_7")
    narrow_too(lead)
    page.get_by_role("button", name="Create version").click()
    expect(page.get_by_role("heading", name="Version 1")).to_be_visible()
    page.get_by_role("button", name="Run: version 1").click()
    expect(page.get_by_text("The file has no output for this unit.").first).to_be_visible()
    page.get_by_role("link", name="Outputs").click()
    expect(page.get_by_role("heading", name="BiLSTM")).to_be_visible()


def send(page: Page, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """Send a request of the signed-in person, as pages do."""
    token = next(c["value"] for c in page.context.cookies() if c.get("name") == "csrftoken")
    origin = page.url.split("/projects")[0].rstrip("/")
    reply = page.request.fetch(
        f"{origin}/api/v1/{path}", method=method, data=body, headers={"X-CSRFToken": token, "Referer": origin}
    )
    assert reply.ok, reply.text()
    return reply.json()


@pytest.mark.long
def test_four_summarisers_run_over_m3s_published_clusters(site: Site, visit: Callable[..., Visit]) -> None:
    """Lead-3, random-3, TextRank and MMR, one of them stopped and resumed."""
    if not LEVEL3.exists():
        pytest.skip("../shared/data/m3/level3.jsonl is absent: M3's published file is no part of the project")
    site.manage("import_data", "m3", str(LEVEL3), "--project", "m3", "--create", "--lead", "lead@example.org")
    lead = visit("lead")
    page = lead.page
    lead.go("/projects/m3/systems")
    register(page, "lead-3", 3)
    expect(page.get_by_role("heading", name="Version 1")).to_be_visible()
    with no_worker(site):
        page.get_by_role("button", name="Run: version 1").click()
        expect(page.get_by_text("0 of 381 clusters")).to_be_visible()
        one_chunk(site)
        expect(page.get_by_text(f"{FIRST} of 381 clusters")).to_be_visible()
        page.get_by_role("button", name="Stop").click()
        page.get_by_role("button", name="Resume").click()
        runs = {"lead-3": int(page.url.rsplit("/", 1)[-1])}
        for name, method in FOUR.items():
            system = send(page, "POST", "projects/m3/systems/", {"name": name})
            config = {"backend": "extractive", "decoding": {"method": method, "sentences": 3}, "seed": 2022}
            version = send(page, "POST", f"systems/{system['id']}/versions/", {"config": config})
            runs[name] = send(page, "POST", f"versions/{version['id']}/runs/")["id"]
    progress: dict[str, Any] = {}

    def all_ended() -> bool:
        for name, run in runs.items():
            progress[name] = send(page, "GET", f"runs/{run}/")["progress"]
        return all(p["state"] == "done" for p in progress.values())

    until(all_ended, "four runs over 381 clusters have ended", 180)
    assert {name: (p["done"], p["failed"]) for name, p in progress.items()} == dict.fromkeys(runs, (381, 0))
    expect(page.get_by_text("381 of 381 clusters")).to_be_visible()
    lead.go("/projects/m3/systems/outputs")
    expect(page.locator("main article h3")).to_have_text([f"{name} v1" for name in runs])
    row = send(page, "GET", "projects/m3/outputs/?page=200&page_size=1")["results"][0]
    assert {cell["system"]: cell["summary"]["copying"]["coverage"] for cell in row["outputs"]} == dict.fromkeys(
        runs, 1.0
    )
