"""Importing counterfactuals from CSV and JSON lines: checked against targets, all or none, idempotent."""

import json
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import User
from annotation.curation.actions import remove_cluster
from annotation.formats.counterfactuals import CounterfactualFile
from annotation.imports.actions import Checked, check_files, import_files
from annotation.kinds.supersede import supersede_text
from annotation.models import Cluster, Counterfactual
from api.problems import Problem
from projects.jobs.batches import silent
from projects.models import Import, Member, Project
from projects.uploads.files import Source
from tests.annotation.m3_files import cluster, import_records, source, write

TARGET = "The review shows that nepralin reduces relapse."
NEGATION = TARGET.replace("reduces", "does not reduce")
ANTONYM = TARGET.replace("reduces", "increases")
DOUBT = "The review shows no evidence that nepralin reduces relapse."
ROWS = [("26258610_0", "negation", NEGATION), ("26258610_0", "Antonym", ANTONYM), ("30000001_0", "no_evidence", DOUBT)]


def as_csv(rows: Sequence[tuple[str, ...]], head: str = "docid,kind,text") -> bytes:
    cells = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows]
    return "\n".join([head, *cells, ""]).encode()


def as_jsonl(rows: Sequence[tuple[str, ...]]) -> bytes:
    return b"".join(
        json.dumps(dict(zip(("docid", "kind", "text"), row, strict=True)), ensure_ascii=False).encode() + b"\n"
        for row in rows
    )


def read(project: Project | None, path: Path, content: bytes) -> Checked:
    path.write_bytes(content)
    return check_files(project=project, format="counterfactuals", sources=[Source.of(path)])


def bring(project: Project, path: Path, content: bytes) -> list[Import]:
    return import_files(project=project, format="counterfactuals", checked=read(project, path, content), by=None)


def faults(project: Project | None, path: Path, content: bytes) -> list[tuple[int, str, str]]:
    return [(f.line, f.field, f.message) for f in read(project, path, content).faults]


@pytest.mark.row(26)
def test_an_endless_row_is_refused_before_it_fills_memory(tmp_path: Path) -> None:
    head = b"docid,kind,text\n"
    for content in (head + b'"x\n",' * 1_000_000, head + b"a," * 2_200_000, b"a," * 2_200_000):
        [(_, field, message)] = faults(None, tmp_path / "a.csv", content)
        assert field == "line" or field.startswith("column ")
        assert "is not closed" in message or "the row is longer than the limit of 4 MiB" in message


def stored() -> list[tuple[str, str, str]]:
    rows = Counterfactual.objects.current().in_corpus_order()
    return [(c.target.cluster.key, c.kind, c.text) for c in rows.select_related("target__cluster")]


EXPECTED = [
    ("26258610_0", "negation", NEGATION),
    ("26258610_0", "antonym", ANTONYM),
    ("30000001_0", "no evidence", DOUBT),
]


@pytest.mark.parametrize(
    "content",
    [
        as_csv(ROWS),
        b"\xef\xbb\xbf" + as_csv(ROWS).replace(b"\n", b"\r\n"),
        as_csv(ROWS).replace(b",", b";"),
        as_csv([(kind, text, docid) for docid, kind, text in ROWS], "Type,Counterfactual, Cluster "),
        as_csv([(*row, TARGET) for row in ROWS], "docid,kind,text,target_text"),
        as_csv([(*row, "") for row in ROWS], "docid,kind,text,target"),
        as_csv(ROWS).replace(b'""', b'"') + b"\n\n",
        as_jsonl(ROWS),
        b"\xef\xbb\xbf" + as_jsonl(ROWS).rstrip(b"\n"),
    ],
    ids=["csv", "excel", "semicolons", "named otherwise", "target", "no target", "blank lines", "jsonl", "jsonl bom"],
)
def test_every_way_of_writing_the_same_rows_brings_the_same(corpus: Project, tmp_path: Path, content: bytes) -> None:
    [made] = bring(corpus, tmp_path / "file", content)
    assert stored() == EXPECTED
    assert made.counts == {"items": 3, "new": 3, "unchanged": 0, "counterfactuals": 3, "targets": 2}
    assert made.report["values"] == {"kind": {"negation": 1, "antonym": 1, "no evidence": 1}}
    assert (made.format, made.level) == ("counterfactuals", "")
    assert {c.imported_id for c in Counterfactual.objects.all()} == {made.pk}


def test_the_same_file_again_changes_nothing_and_another_can_add_rows(corpus: Project, tmp_path: Path) -> None:
    bring(corpus, tmp_path / "a.csv", as_csv(ROWS[:2]))
    assert bring(corpus, tmp_path / "again.csv", as_csv(ROWS[:2])) == []
    [made] = bring(corpus, tmp_path / "b.jsonl", as_jsonl(ROWS))
    assert (made.counts["new"], made.counts["unchanged"]) == (1, 2)
    assert stored() == EXPECTED
    assert Counterfactual.objects.count() == 3


def test_another_text_for_an_existing_counterfactual_is_a_fault(corpus: Project, tmp_path: Path) -> None:
    bring(corpus, tmp_path / "a.csv", as_csv(ROWS))
    other = ("26258610_0", "negation", TARGET.replace("reduces", "never reduces"))
    [(line, field, message)] = faults(corpus, tmp_path / "b.csv", as_csv([ROWS[1], other]))
    assert (line, field) == (3, "text")
    assert message.startswith("the project has a different negation counterfactual of 26258610_0: ")


def test_texts_are_stored_unchanged_with_line_breaks_and_spaces(project: Project, tmp_path: Path) -> None:
    odd = 'The “review”\r\nshows, "β" that\nnepralin  reduces relapse. '
    import_records(project, write(tmp_path / "m3", [cluster("1_0", target_text=odd)]))
    said = odd.replace("reduces", "increases")
    rows = [("1_0", "antonym", said)]
    bring(project, tmp_path / "a.csv", as_csv(rows))
    assert [text for _, _, text in stored()] == [said]
    assert read(project, tmp_path / "b", as_jsonl(rows)).parsed[0][1].counts()["unchanged"] == 1


@pytest.mark.parametrize(
    ("row", "field", "said"),
    [
        (("99_0", "negation", NEGATION), "docid", 'no cluster "99_0"'),
        ((" 26258610_1", "negation", NEGATION), "docid", "no cluster"),
        (("", "negation", NEGATION), "docid", "the cell is empty"),
        (
            ("26258610_1", "opposite", NEGATION),
            "kind",
            'expected one of "negation", "antonym", "no effect", "no evidence", "modality"',
        ),
        (("26258610_1", "", NEGATION), "kind", 'found ""'),
        (("26258610_1", "negation", " "), "text", "the cell is empty"),
        (("26258610_1", "negation", TARGET), "text", "a counterfactual must differ"),
        (("26258610_1", "negation", TARGET.upper()), "text", "in no word"),
        (("26258610_1", "negation", "It is quite another claim than that of the review."), "text", "At most 5 words"),
        (("26258610_0", "NEGATION", DOUBT), "kind", "line 2 already has a negation counterfactual"),
        (("26258610_0", "negation", NEGATION), "kind", "line 2 already has a negation counterfactual"),
    ],
)
@pytest.mark.parametrize("form", [as_csv, as_jsonl])
def test_a_faulty_row_is_named_with_its_line_and_field_and_nothing_comes_in(
    corpus: Project, tmp_path: Path, row: tuple[str, ...], field: str, said: str, form: Callable[[Any], bytes]
) -> None:
    content = form([ROWS[0], row, ROWS[2]])
    head = form is as_csv
    if not head:
        said = said.replace("line 2", "line 1")
    [(line, where, message)] = faults(corpus, tmp_path / "file", content)
    assert (line, where) == (2 + head, field)
    assert said in message
    with pytest.raises(Problem):
        bring(corpus, tmp_path / "file", content)
    assert not Counterfactual.objects.exists()
    assert Import.objects.count() == 1


@pytest.mark.parametrize(
    ("content", "line", "field", "said"),
    [
        (b"", 1, "file", "empty"),
        (b"\xef\xbb\xbf", 1, "file", "empty"),
        (b"docid,kind,text\n", 1, "file", "no row"),
        (b"docid,kind\n1,2\n", 1, "text", "this column is missing; expected docid, kind, text and, optionally"),
        (b"docid,kind,text,note\n", 1, "note", "unknown column"),
        (b"docid,kind,text,type\n", 1, "kind", "twice"),
        (b'docid,kind,"text\n', 1, "column 3", "is not closed"),
        (b"docid,kind,text\n26258610_0,negation,no, not\n", 2, "line", "expected 3 cells, found 4; a text with commas"),
        (b'docid,kind,text\n\n26258610_0,negation,"no\nand on', 3, "text", "is not closed"),
        (b'docid,kind,text\n26258610_0,negation,"no" t\n', 2, "text", "text follows the closing one"),
        (b"docid,kind,text\n26258610_0,negation,a\0b\n", 2, "text", "a NUL character at character 2"),
        (b"docid,kind,text\n26258610_0,negation,caf\xe9\n", 2, "line", "0xE9"),
        (as_csv(ROWS).decode().encode("utf-16"), 1, "file", "UTF-16"),
        (b"PK\x03\x04....", 1, "file", "a ZIP archive (or an Office document)"),
        (b"docid,kind,text\n26258610_0,negation," + b"a" * 200_000 + b"\n", 2, "line", "a cell of more than 131,072"),
        (b'{"docid": "26258610_0", "kind": "negation"}\n', 1, "text", "missing"),
        (b'{"docid": 7, "kind": "negation", "text": "x"}\n', 1, "docid", "expected a string, found the number 7"),
        (b'{"docid": "1_0", "kind": "negation", "text": null}\n', 1, "text", "found null"),
        (b'{"docid": "1_0", "kind": "negation", "text": "a\\u0000"}\n', 1, "text", "NUL"),
        (b'{"docid": "1_0", "kind": "negation", "text": "\\ud800"}\n', 1, "text", "surrogate"),
        (b'{"docid": "1_0", "kind": "negation", "text": "x", "a": 1}\n', 1, "a", "unknown column"),
        (b'{"docid": "1_0", "kind": "nega', 1, "kind", "seems truncated"),
    ],
)
def test_an_unreadable_file_is_refused_with_a_message(
    corpus: Project, file: Path, content: bytes, line: int, field: str, said: str
) -> None:
    [(found, where, message)] = faults(corpus, file, content)
    assert (found, where) == (line, field)
    assert said in message


@pytest.mark.parametrize(("form", "line"), [(as_csv, 3), (as_jsonl, 2)])
def test_a_line_longer_than_the_limit_is_refused(
    form: Callable[..., bytes], line: int, corpus: Project, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.imports.reading.LONGEST_LINE", 5000)
    long = ("26258610_1", "negation", "no " * 1_000_000)
    assert [(f[0], f[1]) for f in faults(corpus, file, form([ROWS[0], long]))] == [(line, "line")]


def test_a_file_of_too_many_rows_is_refused(corpus: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.formats.counterfactuals.MOST_ENTRIES", 2)
    assert faults(corpus, tmp_path / "a.csv", as_csv(ROWS)) == [
        (4, "file", "more than 2 counterfactuals; split the file")
    ]
    assert not faults(corpus, tmp_path / "b.csv", as_csv(ROWS[:2]))


@pytest.mark.parametrize("form", [as_csv, as_jsonl])
def test_reading_ends_after_too_many_faults(
    form: Callable[..., bytes], corpus: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("projects.uploads.faults.MOST", 3)
    assert read(corpus, tmp_path / "file", form(ROWS) + b"x\n" * 10).faults.total == 3


def test_a_file_without_quoting_is_read_and_the_report_says_so(corpus: Project, tmp_path: Path) -> None:
    quoted = ("26258610_0", "antonym", f'"{ANTONYM}')
    lines = ["docid\tkind\ttext\ttarget_text", *("\t".join([*row, TARGET]) for row in (ROWS[0], quoted))]
    found = read(corpus, tmp_path / "a.tsv", "\n".join([*lines, ""]).encode())
    [(_, parsed)] = found.parsed
    assert isinstance(parsed, CounterfactualFile)
    assert [entry.text for entry in parsed.entries.values()] == [NEGATION, quoted[2]]
    assert [notice.message for notice in parsed.notices(silent) if notice.kind == "how the file was read"] == [
        "The file is tab-separated without quoting: quotation marks are text."
    ]


def test_unusual_values_are_reported_by_line_and_imported(corpus: Project, tmp_path: Path) -> None:
    rows = [
        ("26258610_0", "negation", NEGATION),
        ("26258610_0", "no effect", NEGATION.lower()),
        ("26258610_0", "antonym", TARGET.replace("relapse", "blindness")),
    ]
    [made] = bring(corpus, tmp_path / "a.csv", as_csv(rows))
    assert made.counts["new"] == 3
    assert made.report["totals"] == {"same text as another kind": 2, "PICO text touched": 1}
    assert [(n["place"], n["item"], n["message"]) for n in made.warnings.values()] == [
        ("line 2", "26258610_0", "negation: The text equals the no effect counterfactual of this target."),
        ("line 3", "26258610_0", "no effect: The text equals the negation counterfactual of this target."),
        ("line 4", "26258610_0", "antonym: Words of the outcome were changed: “relapse”."),
    ]
    later = ("26258610_0", "no evidence", ANTONYM)
    bring(corpus, tmp_path / "b.csv", as_csv([("26258610_1", "antonym", ANTONYM)]))
    assert list(read(corpus, tmp_path / "c.csv", as_csv([later])).parsed[0][1].notices(silent)) == []


def test_a_kind_that_does_not_fit_the_targets_label_is_odd(project: Project, tmp_path: Path) -> None:
    fields: dict[str, Any] = {"target_direction": "n/a", "target_modality": "no evidence"}
    import_records(project, write(tmp_path / "m3", [cluster("1_0", **fields)]))
    [made] = bring(project, tmp_path / "a.csv", as_csv([("1_0", "modality", ANTONYM)]))
    [notice] = made.warnings.values()
    assert notice["message"] == "modality: Modality does not apply to polarity n/a, modality no evidence."


def test_imported_rows_are_compared_with_the_corrected_target(corpus: Project, lead: User, tmp_path: Path) -> None:
    by = Member.objects.get(project=corpus, user=lead)
    bring(corpus, tmp_path / "a.csv", as_csv(ROWS))
    target = Cluster.objects.get(key="26258610_0").propositions.select_related("unit", "cluster__unit").get(position=0)
    supersede_text(proposition=target, text=TARGET.replace("relapse", "relapses"), reason="A typing error.", by=by)
    assert [docid for docid, _, _ in stored()] == ["30000001_0"]
    with_target = as_csv([(*ROWS[0], TARGET)], "docid,kind,text,target_text")
    [(line, field, message)] = faults(corpus, tmp_path / "b.csv", with_target)
    assert (line, field) == (2, "target_text")
    assert message.startswith("the target's text was corrected; it is now ")
    [(_, field, message)] = faults(
        corpus, tmp_path / "b.csv", with_target.replace(TARGET.encode() + b'"\n', b'Other"\n')
    )
    assert (field, message[:27]) == ("target_text", "expected the target's text,")
    [made] = bring(corpus, tmp_path / "c.csv", as_csv([ROWS[0]]))
    # "relapse" is no whole word of the corrected target, so no PICO text is affected.
    assert made.report["totals"] == {"target was corrected": 1}
    assert [docid for docid, _, _ in stored()] == ["26258610_0", "30000001_0"]


def test_counterfactuals_of_a_removed_cluster_are_refused(corpus: Project, lead: User, file: Path) -> None:
    by = Member.objects.get(project=corpus, user=lead)
    remove_cluster(cluster=Cluster.objects.get(key="26258610_0"), reason="Typed twice.", by=by)
    [(_, field, message)] = faults(corpus, file, as_csv([ROWS[0]]))
    assert (field, message) == ("docid", 'the cluster "26258610_0" was removed from the corpus')


def test_changes_between_check_and_import_stop_the_import(corpus: Project, lead: User, tmp_path: Path) -> None:
    checked = read(corpus, tmp_path / "a.csv", as_csv(ROWS))
    by = Member.objects.get(project=corpus, user=lead)
    remove_cluster(cluster=Cluster.objects.get(key="30000001_0"), reason="Typed twice.", by=by)
    with pytest.raises(Problem, match="1 fault; nothing was imported"):
        import_files(project=corpus, format="counterfactuals", checked=checked, by=None)
    assert not Counterfactual.objects.exists()
    assert Import.objects.count() == 1


def test_two_files_of_one_call_see_each_other(corpus: Project, tmp_path: Path) -> None:
    sources = []
    for name, rows in (("a", ROWS), ("b", [ROWS[0], ("26258610_1", "antonym", ANTONYM)])):
        (tmp_path / name).write_bytes(as_csv(rows))
        sources.append(Source.of(tmp_path / name))
    checked = check_files(project=corpus, format="counterfactuals", sources=sources)
    made = import_files(project=corpus, format="counterfactuals", checked=checked, by=None)
    assert [m.counts["counterfactuals"] for m in made] == [3, 1]
    assert Counterfactual.objects.count() == 4


def test_an_import_costs_the_same_queries_for_10_and_150_rows(project: Project, tmp_path: Path) -> None:
    records = [cluster(f"{1000 + n}_0", [source(pmid=str(n + 1))]) for n in range(160)]
    import_records(project, write(tmp_path / "m3", records))
    counts = []
    for name, keys in (("small", records[:10]), ("large", records[10:])):
        rows = [(str(r["docid"]), "antonym", ANTONYM) for r in keys]
        with CaptureQueriesContext(connection) as queries:
            bring(project, tmp_path / name, as_csv(rows))
        counts.append(len(queries))
    # For the first row of a table SQLite has no id counter yet, which takes another statement.
    assert abs(counts[0] - counts[1]) <= 1
    assert max(counts) <= 48


def test_the_command_says_what_came_in_and_names_faults(corpus: Project, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(as_csv(ROWS))
    out, err = StringIO(), StringIO()
    call_command("import_data", "counterfactuals", str(tmp_path / "a.csv"), "--project", "eye", stdout=out)
    assert out.getvalue() == f"{tmp_path / 'a.csv'}: 3 counterfactuals, 2 targets imported.\n"
    (tmp_path / "b.csv").write_bytes(as_csv([("9_9", "negation", NEGATION)]))
    for arguments in (["--project", "eye"], ["--project", "new", "--create"]):
        with pytest.raises(CommandError, match="1 fault; nothing was imported"):
            call_command("import_data", "counterfactuals", str(tmp_path / "b.csv"), *arguments, stderr=err)
    assert (
        err.getvalue().splitlines()
        == [f'{tmp_path / "b.csv"}:2: docid: the project has no cluster "9_9"; import its level 3 first'] * 2
    )
    created = Project.objects.get(slug="new")
    assert not created.units.exists()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 10_000), byte=st.integers(0, 255), cut=st.booleans(), table=st.booleans())
def test_one_spoiled_byte_is_a_fault_or_other_content_and_never_a_crash(
    file: Path, db: None, at: int, byte: int, cut: bool, table: bool
) -> None:
    content = bytearray(as_csv(ROWS) if table else as_jsonl(ROWS))
    at %= len(content)
    content[at] = byte
    found = read(None, file, bytes(content[:at] if cut else content))
    assert found.faults or 1 <= found.parsed[0][1].counts()["items"] <= 3
    for fault in found.faults:
        assert fault.line >= 1
        assert str(fault).startswith(f"{file.name}:{fault.line}: {fault.field}: ")
