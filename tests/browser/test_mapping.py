"""A lab brings its own corpus in the browser: roles of columns, faults, a saved mapping, and the import."""

import csv
import io
import re
from collections.abc import Callable, Sequence

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import violations
from tests.browser.test_rating import Rating
from tests.browser.work_page import SETTLED

HEAD = ["case id", "question", "doc", "text", "rating", "summary", "lab note"]


def table(rows: Sequence[Sequence[str]], delimiter: str = ",") -> bytes:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


def answers(first: int, rating: str = "3") -> bytes:
    rows = [
        [
            f"{n}",
            f"What is finding {n}?",
            f"{n}_A{k}",
            f"Passage {k} says that finding {n} is rare.",
            "4",
            f"Rare {n}.",
            "ok",
        ]
        for n in range(first, first + 6)
        for k in range(3)
    ]
    rows[4][4] = rating
    return table([HEAD, *rows], "\t")


def choose(page: Page, name: str, content: bytes) -> None:
    page.get_by_label("Format").first.select_option("csv")
    page.get_by_label("Choose files, or drop them here").set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": content}
    )
    page.get_by_role("button", name="Check file").click()
    expect(page.get_by_role("heading", name=f"Columns of {name}")).to_be_visible()


@pytest.mark.long
def test_columns_get_roles_and_a_saved_mapping_serves_the_next_file(visit: Callable[..., Visit]) -> None:
    at = visit("lead", width=1280, height=1000)
    page = at.page
    at.go("/projects/sample/import")
    choose(page, "lab.tsv", answers(1, rating="6"))
    expect(page.get_by_role("button", name="1 fault")).to_be_visible()
    page.get_by_role("button", name="Line 6, rating").click()
    expect(page.locator("td.fault")).to_contain_text("6 is outside 1 to 4")
    expect(page.locator("td.fault")).to_be_focused()
    page.wait_for_timeout(SETTLED)
    assert violations(at) == []
    # By keyboard: the select keeps the focus while the rows are read again.
    role = page.get_by_label("Role of column rating")
    role.focus()
    page.keyboard.type("Left")
    expect(page.get_by_text("no faults")).to_be_visible()
    expect(role).to_be_focused()
    expect(role).to_have_value("out")
    page.get_by_role("button", name="Confirm 4 roles").click()
    page.get_by_placeholder("Mapping name").fill("Lab answers")
    page.get_by_role("button", name="Save mapping").click()
    expect(page.get_by_text("saved in this project")).to_be_visible()
    page.get_by_role("button", name="Check all rows").click()
    page.get_by_role("button", name="Import lab.tsv").click()
    page.wait_for_url("**/sample/import/*")
    expect(page.locator("main")).to_contain_text("guessed role")

    phone = visit("lead", scheme="dark", width=400)
    phone.go("/projects/sample/import")
    choose(phone.page, "next.tsv", answers(7))
    expect(phone.page.get_by_text("7 roles guessed")).to_be_visible()
    phone.page.get_by_role("combobox", name="Mapping", exact=True).select_option(label="Lab answers")
    expect(phone.page.get_by_text("all roles set")).to_be_visible()
    phone.page.wait_for_timeout(SETTLED)
    assert violations(phone) == []
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 400
    phone.page.get_by_role("button", name="Check all rows").click()
    phone.page.get_by_role("button", name="Import next.tsv").click()
    phone.page.wait_for_url("**/sample/import/*")

    phone.go("/projects/sample/import")
    choose(phone.page, "gone.tsv", answers(20).replace(b"summary", b"abstract"))
    phone.page.get_by_role("combobox", name="Mapping", exact=True).select_option(label="Lab answers")
    expect(phone.page.get_by_role("alert")).to_contain_text("this file has no column summary")


DOCUMENTS, RATED = 200, 3
SYSTEMS = ("Alder", "Birch")
PLACES = ("the harbour", "the old market", "the north bridge", "the town hall", "the park")
EVENTS = ("reopened after repairs", "closed for the winter", "was painted by volunteers", "received a new roof")


def news() -> bytes:
    """Return a corpus of 200 documents with headlines and summaries, and the summaries of two systems."""
    rows = [["article id", "headline", "text", "summary", "desk", "Alder output", "birch"]]
    for n in range(DOCUMENTS):
        place, event = PLACES[n % 5], EVENTS[n % 4]
        fact = f"On day {n}, {place} {event}."
        text = f"{fact} Many people came. It rained; nobody minded."
        outputs = [f"{place.capitalize()} {event} on day {n}.", f"It rained on day {n}."]
        rows.append([f"news-{n}", f"News of day {n}", text, fact, "city", *outputs])
    return table(rows, ";")


@pytest.mark.long
def test_a_news_corpus_is_imported_rated_and_released_by_pages_alone(visit: Callable[..., Visit]) -> None:
    at = visit("lead", width=1280, height=1000)
    page = at.page
    at.go("/projects")
    page.get_by_role("button", name="New project").click()
    page.get_by_label("Name").fill("City news")
    page.get_by_role("button", name="Create project").click()
    page.wait_for_url("**/projects/city-news")
    at.go("/projects/city-news/import")
    choose(page, "news.csv", news())
    expect(page.get_by_role("status").filter(has_text="200 items")).to_be_visible()
    # The columns of systems: one is guessed, the other is set.
    page.get_by_label("Role of column birch").select_option("output")
    page.locator("th").filter(has_text="birch").get_by_label("system").fill("Birch")
    page.locator("th").filter(has_text="Alder output").get_by_label("system").fill("Alder")
    page.locator("th").filter(has_text="Alder output").get_by_label("system").blur()
    expect(page.get_by_role("status").filter(has_text="400 summaries of systems")).to_be_visible()
    expect(page.get_by_role("heading", name="Summary in birch")).to_be_visible()
    page.get_by_role("button", name="Confirm 3 roles").click()
    page.get_by_role("button", name="Check all rows").click()
    page.get_by_role("button", name="Import news.csv").click()
    page.wait_for_url("**/city-news/import/*")
    expect(page.locator("main")).to_contain_text("summaries of systems400")
    expect(page.locator("main")).to_contain_text("A worker makes a run of each column")
    page.get_by_role("link", name="Systems and runs").click()
    for name in SYSTEMS:
        expect(page.get_by_role("row").filter(has_text=name).first).to_be_visible()
    at.go("/projects/city-news/people")
    page.get_by_role("button", name="Invite people").click()
    page.keyboard.type("evaluator@example.org")
    page.get_by_role("dialog").get_by_label("Role").select_option("evaluator")
    page.get_by_role("button", name="Create link").click()
    rater = visit("evaluator")
    rater.page.goto(page.get_by_label("Link", exact=True).input_value())
    rater.page.get_by_role("button", name="Join City news").click()
    rater.page.wait_for_url(f"{rater.address}/")

    at.go("/projects/city-news/rounds/new")
    page.get_by_label("Name", exact=True).fill("News ratings")
    page.get_by_label("Rate summaries").check()
    page.get_by_label("reliability study").check()
    page.get_by_label("People per unit").fill("1")
    page.get_by_label("a random sample").check()
    page.get_by_label("Sample size").fill(str(RATED))
    page.get_by_label("Eva Evaluator").check()
    page.get_by_role("button", name="Open round").click()
    page.wait_for_url(re.compile(r"/city-news/rounds/\d+$"))
    address = page.url
    at_work = Rating(rater, int(address.rsplit("/", 1)[1])).open()
    for _ in range(RATED):
        for _ in SYSTEMS:
            at_work.through("5 4 1 Enter")
        at_work.press("Enter")
        rater.page.wait_for_timeout(10 * SETTLED)
    expect(rater.page.locator("main")).to_contain_text("All done")
    at_work.until_saved()

    page.goto(address)
    page.get_by_role("button", name="Close round …").click()
    page.get_by_role("button", name="Close round", exact=True).click()
    page.get_by_role("button", name="Unblind …").click()
    page.get_by_role("dialog", name="Unblind round").get_by_role("button", name="Unblind round").click()
    page.get_by_role("region", name="Design", exact=True).get_by_role("link", name="Results").click()
    ratings = page.get_by_role("region", name="Table: Ratings of News ratings by system and criterion")
    expect(ratings.locator("tbody tr th")).to_have_text([*SYSTEMS])
    at.go("/projects/city-news/releases")
    page.get_by_role("button", name="Freeze 1.0.0").click()
    page.get_by_role("dialog").get_by_role("button", name="Freeze anyway").click()
    page.get_by_role("link", name="1.0.0", exact=True).first.click()
    page.get_by_role("button", name="Verify stored files").click()
    expect(page.get_by_text("All files as released")).to_be_visible()
    page.get_by_role("button", name="columns/").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="columns/values.csv").click()
    lines = download.value.path().read_text().splitlines()
    assert lines[0] == "unit_type,key,input,title,background,topic,split,desk"
    assert lines[1] == "target document,news-0,0,News of day 0,,,,city"
    assert len(lines) == DOCUMENTS + 1
