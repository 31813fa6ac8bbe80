"""A lab brings its own corpus in the browser: roles of columns, faults, a saved mapping, and the import."""

import csv
import io
from collections.abc import Callable, Sequence

from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.test_pages import violations
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
