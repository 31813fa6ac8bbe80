"""Sheets: a round is exported, filled in and imported; good rows are stored, faulty ones are named by cell."""

import csv
import io
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook, load_workbook
from rest_framework.test import APIClient

from accounts.models import User
from api.problems import Refused
from audit.models import Entry
from projects.jobs.running import run_job
from projects.kinds import Column
from projects.models import Answer, Assignment, Job, Member, Project, Round
from projects.queue.actions import next_assignments
from projects.sheets.actions import check_sheet, hold_for_sheet, start_import
from projects.sheets.writing import csv_lines, displayable, write_xlsx
from projects.spreadsheets.cells import neutral, restored
from projects.spreadsheets.reading import read
from projects.staleness.actions import changed
from tests.builders import TEXT, answer, build_cluster, build_round

pytestmark = pytest.mark.django_db
API = "/api/v1"


@pytest.fixture
def worker(project: Project, ann1: User) -> Member:
    return Member.objects.get(project=project, user=ann1)


@pytest.fixture
def round(project: Project, worker: Member) -> Round:
    for n in range(3):
        build_cluster(project, number=n, inputs=3)
    return build_round(project, [worker], overlap=1)


@pytest.fixture
def client(client_of: Callable[[User], APIClient], lead: User) -> APIClient:
    return client_of(lead)


def out(client: APIClient, round: Round, worker: Member, form: str = "xlsx", **asked: Any) -> bytes:
    reply = client.post(
        f"{API}/rounds/{round.pk}/sheet/", {"person": worker.pk, "file_type": form} | asked, format="json"
    )
    assert reply.status_code == 200, reply.content
    assert reply["Content-Disposition"].startswith("attachment;")
    return b"".join(reply.streaming_content)  # type: ignore[attr-defined]


def come_back(client: APIClient, round: Round, body: bytes, name: str = "back.xlsx") -> tuple[dict[str, Any], int]:
    """Return the report of an uploaded sheet, and the job that checked it."""
    file = SimpleUploadedFile(name, body)
    reply = client.post(f"{API}/rounds/{round.pk}/sheet/check/", {"file": file}, format="multipart")
    assert reply.status_code == 202, reply.content
    job = reply.json()["id"]
    run_job(job)
    done = Job.objects.get(pk=job)
    assert done.status == "done", done.error
    return dict(done.result or {}), job


def confirm(client: APIClient, round: Round, job: int) -> dict[str, Any]:
    reply = client.post(f"{API}/rounds/{round.pk}/sheet/import/", {"job": job}, format="json")
    assert reply.status_code == 202, reply.content
    run_job(reply.json()["id"])
    done = Job.objects.get(pk=reply.json()["id"])
    assert done.status == "done", done.error
    return dict(done.result or {})


def brought(round: Round, body: bytes, by: User) -> dict[str, Any]:
    """Import a sheet without a check, as the command does."""
    job = start_import(round=round, file=SimpleUploadedFile("back", body), by=by)
    run_job(job.pk)
    job.refresh_from_db()
    assert job.status == "done", job.error
    return dict(job.result or {})


class Book:
    """A workbook opened in a spreadsheet program."""

    def __init__(self, body: bytes) -> None:
        self.book = load_workbook(io.BytesIO(body))
        self.page = self.book["answers"]
        self.letters = {str(cell.value): str(cell.coordinate).rstrip("1") for cell in self.page[1]}

    def fill(self, row: int, **cells: Any) -> None:
        for name, value in cells.items():
            self.page[f"{self.letters[name]}{row}"] = value

    def saved(self) -> bytes:
        out = io.BytesIO()
        self.book.save(out)
        return out.getvalue()


@pytest.mark.row(31)
def test_a_filled_sheet_is_imported_once_and_bad_cells_are_named(
    client: APIClient, round: Round, worker: Member, ann1: User, by_lead: Member
) -> None:
    book = Book(out(client, round, worker))
    assert book.page.max_row == 13
    for row in range(2, 14):
        book.fill(row, polarity="no effect", modality="moderate", polarity_cue="Neither ... nor")
    book.fill(2, polarity="postive")
    book.fill(3, polarity="n/a")
    book.fill(4, polarity_cue="nor", modality="=1+1")
    book.fill(5, assignment="999999")
    book.fill(6, assignment=book.page[f"{book.letters['assignment']}7"].value)
    book.fill(8, polarity_cue="n")
    book.fill(9, text="Another text altogether.")
    book.fill(10, polarity=None, modality=None, polarity_cue=None)
    book.fill(11, polarity=None, modality=None, polarity_cue=None, skip="unclear", comment="=HYPERLINK(1)")
    book.page.delete_rows(13)
    body = book.saved()

    report, job = come_back(client, round, body)
    faults = report["faults"]["listed"]
    assert {f["file"] for f in faults} == {"back.xlsx[answers]"}
    assert {(f["line"], f["field"]): f["message"].split(" ")[0] for f in faults} == {
        (2, "polarity"): "'postive'",
        (3, "polarity"): "is",
        (4, "modality"): "cell",
        (5, "assignment"): "'999999'",
        (6, "unit"): "assignment",
        (8, "polarity_cue"): "'n'",
        (9, "text"): "is",
        (11, "comment"): "cell",
    }
    assert (report["rows"], report["new"], report["empty"], report["unchanged"]) == (11, 2, 1, 0)
    assert Answer.objects.count() == 0, "checking stores nothing"

    done = confirm(client, round, job)
    assert done["stored"] == Answer.objects.count() == 2
    assert {a.author_id for a in Answer.objects.all()} == {worker.pk}
    said = Answer.objects.select_related("label").first()
    assert said is not None
    assert [f.quote for f in said.label.cues.get().fragments.all()] == ["Neither", "nor"]
    assert Entry.objects.filter(verb="import sheet").count() == 1
    entry = Entry.objects.get(verb="end sheet import")
    assert entry.after
    assert (entry.actor_id, entry.after["stored"]) == (by_lead.user_id, 2)

    again, job = come_back(client, round, body)
    assert (again["new"], again["unchanged"], again["faults"]["total"]) == (0, 2, report["faults"]["total"])
    assert confirm(client, round, job)["stored"] == 0
    assert Answer.objects.count() == 2


@pytest.fixture
def by_lead(project: Project, lead: User) -> Member:
    return Member.objects.get(project=project, user=lead)


def test_a_sheet_is_blinded_and_shows_what_the_card_shows(client: APIClient, round: Round, worker: Member) -> None:
    rows = list(csv.DictReader(io.StringIO(out(client, round, worker, "csv").decode("utf-8-sig"))))
    assert len(rows) == 12
    assert rows[0]["text"] == TEXT
    assert rows[0]["intervention"] == "nepralin"
    assert set(rows[0]) == {
        "assignment",
        "revision",
        "shown",
        "unit",
        "role",
        "population",
        "intervention",
        "comparator",
        "outcome",
        "text",
        "polarity",
        "polarity_cue",
        "modality",
        "modality_cue",
        "skip",
        "flag",
        "comment",
    }
    assert all(not r["polarity"] for r in rows)


def test_a_csv_with_semicolons_as_european_programs_write_it_comes_back(
    client: APIClient, round: Round, worker: Member
) -> None:
    rows = list(csv.DictReader(io.StringIO(out(client, round, worker, "csv").decode("utf-8-sig"))))
    for row in rows:
        row |= {"polarity": "Positive", "modality": "weak"}
    back = io.StringIO()
    writer = csv.DictWriter(back, rows[0], delimiter=";")
    writer.writeheader()
    writer.writerows([*rows, dict.fromkeys(rows[0], "")])
    report, job = come_back(client, round, back.getvalue().encode("utf-8-sig"), "back.csv")
    assert (report["new"], report["faults"]["total"]) == (12, 0)
    assert confirm(client, round, job)["stored"] == 12


def test_a_sheet_that_a_program_saved_with_its_habits_comes_back_with_warnings(
    client: APIClient, round: Round, worker: Member
) -> None:
    rows = list(csv.DictReader(io.StringIO(out(client, round, worker, "csv", limit=2).decode("utf-8-sig"))))
    rows[0] |= {"polarity": "positive", "modality": "weak", "flag": "TRUE", "comment": "'=1"}
    rows[1] |= {"flag": "FALSE"}
    back = io.StringIO()
    back.write("sep=;\n")
    writer = csv.DictWriter(back, rows[0], delimiter=";")
    writer.writeheader()
    writer.writerows(rows)
    report, job = come_back(client, round, back.getvalue().encode("utf-8-sig"), "back.csv")
    assert (report["new"], report["empty"], report["faults"]["total"]) == (1, 1, 0)
    assert report["warnings"] == ["The first line names the separator: ';'."]
    confirm(client, round, job)
    [answer] = Answer.objects.all()
    assert (answer.flag, answer.comment) == (True, "=1")


def test_a_comment_that_is_too_long_is_a_fault_and_is_not_cut(client: APIClient, round: Round, worker: Member) -> None:
    rows = list(csv.DictReader(io.StringIO(out(client, round, worker, "csv", limit=2).decode("utf-8-sig"))))
    for row, length in zip(rows, (5_000, 5_001), strict=True):
        row |= {"polarity": "positive", "modality": "weak", "comment": "x" * length}
    back = io.StringIO()
    writer = csv.DictWriter(back, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    report, _ = come_back(client, round, back.getvalue().encode("utf-8-sig"), "back.csv")
    [fault] = report["faults"]["listed"]
    assert report["new"] == 1
    assert (fault["field"], fault["message"]) == ("comment", "has 5,001 characters; expected at most 5,000")


def test_an_unknown_flag_value_is_a_fault(client: APIClient, round: Round, worker: Member) -> None:
    rows = list(csv.DictReader(io.StringIO(out(client, round, worker, "csv", limit=2).decode("utf-8-sig"))))
    for row, flag in zip(rows, ("yes", "ja"), strict=True):
        row |= {"polarity": "positive", "modality": "weak", "flag": flag}
    back = io.StringIO()
    writer = csv.DictWriter(back, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    report, _ = come_back(client, round, back.getvalue().encode("utf-8-sig"), "back.csv")
    [fault] = report["faults"]["listed"]
    assert report["new"] == 1
    assert (fault["field"], fault["message"]) == ("flag", "'ja' is not yes: write yes, or leave it empty")


def test_answers_from_the_browser_meanwhile_are_kept(
    client: APIClient, round: Round, worker: Member, ann1: User, by_lead: Member
) -> None:
    book = Book(out(client, round, worker))
    for row in (2, 3, 4):
        book.fill(row, polarity="positive", modality="weak")
    first, second = next_assignments(user=ann1, round=round)
    answer(ann1, first)
    changed(units=[second.unit], what="tuple", reason="Another outcome.", by=by_lead)
    report, job = come_back(client, round, book.saved())
    assert report["new"] == 1
    assert [f["message"].split(" ", 2)[2][:20] for f in report["kept_out"]["listed"]] == [
        "has a newer answer (",
        "has changed (its tex",
    ]
    assert confirm(client, round, job)["stored"] == 1
    assert Assignment.objects.get(pk=first.pk).revision == 1


def test_an_answer_can_be_corrected_by_its_sheet_as_the_next_revision(
    round: Round, worker: Member, lead: User, tmp_path: Path, client: APIClient
) -> None:
    rows = list(csv.DictReader(io.StringIO(out(client, round, worker, "csv", limit=1).decode("utf-8-sig"))))
    path = tmp_path / "one.csv"

    def store(**cells: str) -> dict[str, Any]:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerow(rows[0] | cells)
        return brought(round, path.read_bytes(), lead)

    assert store(polarity="positive", modality="weak")["new"] == 1
    assert store(polarity="negative", modality="weak")["kept_out"]["total"] == 1, "it was written against revision 0"
    assert store(polarity="negative", modality="weak", revision="1")["corrections"] == 1
    assert [a.label.polarity for a in Answer.objects.order_by("revision")] == ["positive", "negative"]


@pytest.mark.parametrize("slot", ["9" * 30, "9" * 5000, "²", "٣"], ids=len)
def test_digits_that_are_no_assignment_number_are_a_fault_of_their_cell(
    slot: str, client: APIClient, round: Round, worker: Member
) -> None:
    rows = list(csv.DictReader(io.StringIO(out(client, round, worker, "csv", limit=1).decode("utf-8-sig"))))
    sheet = io.StringIO()
    writer = csv.DictWriter(sheet, rows[0])
    writer.writeheader()
    writer.writerow(rows[0] | {"assignment": slot})
    report, _ = come_back(client, round, sheet.getvalue().encode(), "back.csv")
    assert [f["field"] for f in report["faults"]["listed"]] == ["assignment"]


def test_assignments_of_a_shared_queue_are_leased_for_the_days_of_a_sheet(
    project: Project, worker: Member, lead: User, ann2: User
) -> None:
    build_cluster(project, inputs=3)
    other = Member.objects.get(project=project, user=ann2)
    round = build_round(project, [worker, other], allocation="pool", overlap=1)
    taken = hold_for_sheet(round=round, member=worker, by=lead, limit=3, days=30)
    assert len(taken) == 3
    assert all((s.leased_until - round.opened_at).days >= 29 for s in taken if s.leased_until)
    assert len(next_assignments(user=ann2, round=round)) == 1, "the rest is for the others"
    again = hold_for_sheet(round=round, member=worker, by=lead, limit=3)
    assert [s.pk for s in again] == [s.pk for s in taken]


@pytest.mark.contest
@pytest.mark.django_db(transaction=True)
def test_two_imports_of_one_sheet_at_once_store_each_row_once(
    round: Round, worker: Member, lead: User, client: APIClient, tmp_path: Path
) -> None:
    book = Book(out(client, round, worker))
    for row in range(2, 14):
        book.fill(row, polarity="positive", modality="weak")
    path = tmp_path / "back.xlsx"
    path.write_bytes(book.saved())
    wrong: list[BaseException] = []

    def run() -> None:
        try:
            brought(round, path.read_bytes(), lead)
        except BaseException as error:
            wrong.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []
    assert Answer.objects.count() == 12
    assert check_sheet(round=round, path=path, name="back.xlsx").unchanged == 12


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
@pytest.mark.row(31)
def test_a_cell_never_begins_like_a_formula_and_gives_the_exact_text_back(text: str) -> None:
    cell = neutral(text)
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\uff1d"))
    assert restored(cell) == text


@pytest.mark.row(31)
@pytest.mark.parametrize("text", ["=1+1", "+49", "-5 %", "@x", "\tx", "'=1"])
def test_texts_that_look_like_formulas_go_out_neutralised_and_match_when_they_come_back(
    text: str, project: Project, worker: Member, client: APIClient
) -> None:
    build_cluster(project, inputs=0, text=f"{text} of all")
    round = build_round(project, [worker])
    csv_body = out(client, round, worker, "csv").decode("utf-8-sig")
    assert next(csv.DictReader(io.StringIO(csv_body)))["text"] == f"'{text} of all"
    book = Book(out(client, round, worker))
    cell = book.page[f"{book.letters['text']}2"]
    assert cell.data_type == "s"
    book.fill(2, polarity="positive", modality="weak")
    assert come_back(client, round, book.saved())[0]["new"] == 1


def lines(path: Path, body: bytes, name: str = "a.csv") -> list[Any]:
    path.write_bytes(body)
    return list(read(path, name, needed=["assignment"]))


@pytest.mark.row(25)
@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("assignment\n1\n".encode("utf-16"), "UTF-16"),
        (b"assignment,comment\n1,caf\xe9\n", "0xE9 at byte 6 of the line .* is not UTF-8"),
        (b"", "empty"),
        (b"name\n1\n", "missing: assignment"),
        (b"assignment,assignment\n1,2\n", "twice"),
        (b'assignment\n"1\n', "a.csv:2: assignment: the quotation mark that opens this cell is not closed"),
    ],
)
def test_a_file_that_is_no_sheet_is_refused_with_a_message(body: bytes, says: str, tmp_path: Path) -> None:
    with pytest.raises(Refused, match=says):
        lines(tmp_path / "a", body)


@pytest.mark.row(26)
def test_a_line_of_50_megabytes_is_refused_before_it_fills_memory(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="longer than the limit"):
        lines(tmp_path / "a", b"assignment\n" + b"x" * 50_000_000)


@pytest.mark.long
@pytest.mark.row(26)
def test_an_endless_multi_line_row_is_refused_before_it_fills_memory(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"a.csv:\d+: column \d+: .* is not closed"):
        lines(tmp_path / "a", b"assignment\n" + b'"\n",' * 1_200_000)
    with pytest.raises(Refused, match="the row is longer than the limit"):
        lines(tmp_path / "a", b"assignment\n" + b"a," * 2_200_000)
    assert lines(tmp_path / "b", b"assignment\n" + b'"1\n"\n' * 400_000)


@pytest.mark.row(30)
@pytest.mark.row(29)
@pytest.mark.parametrize("fault", ["bomb", "many", "entity", "damaged", "not a workbook"])
def test_a_workbook_made_to_hurt_is_refused_before_it_is_opened(fault: str, tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        if fault == "bomb":
            archive.writestr("xl/sheet.xml", b"0" * 50_000_000)
        for n in range(600 if fault == "many" else 1):
            archive.writestr(f"xl/part{n}.xml", b"<a/>")
        if fault == "entity":
            archive.writestr("xl/workbook.xml", b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>')
    body = packed.getvalue()
    path = tmp_path / "a"
    with pytest.raises(Refused):
        lines(path, body[:60] if fault == "damaged" else body, "a.xlsx")


def with_row(row: str, folder: Path) -> Path:
    """Return a workbook with a head and an unusual row."""
    book, path, changed = Workbook(), folder / "a.xlsx", folder / "b.xlsx"
    book.worksheets[0].append(["unit", "rater"])
    book.save(path)
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(changed, "w") as after:
        for part in before.namelist():
            text = before.read(part).replace(b"</sheetData>", row.encode() + b"</sheetData>")
            after.writestr(part, text.replace(b"A1:B1", b"A1:XFD2000000000"))
    return changed


@pytest.mark.row(30)
def test_a_huge_row_number_in_a_workbook_is_refused_at_once(tmp_path: Path) -> None:
    path = with_row('<row r="2000000000"><c r="A2000000000"><v>1</v></c></row>', tmp_path)
    with pytest.raises(Refused, match="a row numbered 2000000000 follows row 1"):
        list(read(path, "b.xlsx", needed=["unit", "rater"]))


@pytest.mark.row(30)
def test_a_workbook_damaged_after_its_start_is_refused_with_a_message(tmp_path: Path) -> None:
    path = with_row('<row r="2"><c r="A2" t="n"><v>x</v></c></row>', tmp_path)
    with pytest.raises(Refused, match="cannot be read"):
        list(read(path, "b.xlsx", needed=["unit", "rater"]))


def test_an_id_turned_into_a_number_by_a_program_is_recognised(tmp_path: Path) -> None:
    book = Workbook()
    assert book.active is not None
    book.active.append(["assignment", "flag"])
    book.active.append([12.0, True])
    book.save(tmp_path / "a.xlsx")
    [row] = read(tmp_path / "a.xlsx", "a.xlsx", needed=["assignment"])
    assert row.cells == {"assignment": "12", "flag": "TRUE"}
    assert (row.file, row.number) == ("a.xlsx[Sheet]", 2)


def test_the_command_says_what_it_stored_and_names_bad_cells(
    client: APIClient, round: Round, worker: Member, lead: User, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    book = Book(out(client, round, worker, limit=2))
    book.fill(2, polarity="positive", modality="weak")
    book.fill(3, polarity="up", modality="weak")
    path = tmp_path / "back.xlsx"
    path.write_bytes(book.saved())
    asked = [str(path), "--project", round.project.slug, "--round", round.name]
    call_command("import_answers", *asked, "--preview")
    assert Answer.objects.count() == 0
    call_command("import_answers", *asked, "--by", lead.email)
    said = capsys.readouterr()
    assert "2 rows: 1 answers stored, 0 already stored, 0 empty, 1 with faults, 0 excluded" in said.out
    assert "back.xlsx[answers]:3: polarity: 'up' is not one of positive, no effect, negative, n/a\n" in said.err
    with pytest.raises(CommandError, match="no round"):
        call_command("import_answers", str(path), "--project", "nowhere", "--round", round.name)


CELLS = st.one_of(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20),
    st.sampled_from(["=1+1", "'=1", "_x000D_", "_x005F_x0041_", "two\nlines", "with\r\nCR", " x ", '"q" on', "\ttab"]),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(CELLS, min_size=1, max_size=4), st.sampled_from(["csv", "xlsx"]))
def test_every_text_that_concord_puts_into_a_sheet_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], form: str
) -> None:
    columns = [Column("unit", 8), Column("comment", 40)]
    body = [{"unit": "u", "comment": text} for text in texts]
    path = tmp_path_factory.getbasetemp() / f"sheet.{form}"
    if form == "csv":
        path.write_bytes(b"".join(csv_lines(columns, body)))
    else:
        write_xlsx(path, answer_columns=columns, head=columns, body=body, total=len(body), about=[])
    said: list[str] = []
    found = [row.cells["comment"] for row in read(path, path.name, own_columns=["unit"], warn=said.append)]
    assert found == [text if form == "csv" else displayable(text) for text in texts]
    assert said == []
