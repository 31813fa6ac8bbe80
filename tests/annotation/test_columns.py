"""Tables of own corpora give the texts that the published formats give; faults name file, line and column."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.formats.columns.guesses import guess_mapping
from annotation.formats.columns.mapping import ColumnMapping
from annotation.formats.columns.stream import dumped
from annotation.formats.mediqa.published import files as mediqa_files
from annotation.imports import passes, writing
from annotation.imports.actions import check_files, import_files
from annotation.models import (
    ColumnValues,
    ImportedMapping,
    Input,
    Passage,
    Question,
    QuestionText,
    Review,
    Study,
    Target,
    WrittenSummary,
)
from projects.models import Import, ImportWarning, Project, Unit
from projects.people.actions import create_project
from projects.uploads.faults import BadFiles
from projects.uploads.files import Source
from releases.formats import columns, m3
from releases.formats.notes import Notes

pytestmark = [pytest.mark.django_db, pytest.mark.engine]


@pytest.fixture
def project() -> Project:
    return create_project(slug="own", name="Own", by=None)


def table(rows: Iterable[Sequence[str]], delimiter: str = ",") -> bytes:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


def bring(
    project: Project,
    folder: Path,
    content: bytes,
    mapping: ColumnMapping | str | None = None,
    *,
    name: str = "own.csv",
    format: str = "csv",
    preview: bool = False,
) -> Import:
    (folder / name).write_bytes(content)
    source = Source.of(folder / name, name)
    if format == "csv" and mapping is None:
        mapping = guess_mapping(source).confirmed()
    columns = dumped(mapping) if isinstance(mapping, ColumnMapping) else mapping or ""
    checked = check_files(
        project=project, format=format, sources=[source], about={"columns": columns} if columns else {}, preview=preview
    )
    if checked.faults:
        raise BadFiles(checked.faults)
    [imported] = import_files(project=project, format=format, checked=checked, by=None)
    return imported


def faults_of(project: Project, folder: Path, content: bytes, mapping: Any = None, **options: Any) -> list[str]:
    """Return the faults of a preview, after checking that an import finds the same and leaves nothing."""
    with pytest.raises(BadFiles) as found:
        bring(project, folder, content, mapping, preview=True, **options)
    with pytest.raises(BadFiles) as again:
        bring(project, folder, content, mapping, **options)
    assert [str(one) for one in again.value.faults] == [str(one) for one in found.value.faults]
    assert not Unit.objects.filter(project=project).exists()
    assert not Import.objects.filter(project=project).exists()
    return [str(one) for one in found.value.faults]


def level(project: Project, number: str) -> bytes:
    return {path: b"".join(lines) for path, lines in m3.files(project, Notes())}[f"m3/level{number}.jsonl"]


M3: list[dict[str, Any]] = [
    {
        "docid": f"{26258610 + n}_{n % 2}",
        "target_text": f'Claim {n}; it "helps".',
        "input_text": "",
        "input_studies": [
            {"source_pmid": str(12038941 + n + k), "source_text": f" Text {k} of {n},\nβ ≥ 2 "} for k in range(3)
        ],
    }
    for n in range(5)
]
for one in M3:
    one["input_text"] = " ||||| ".join(s["source_text"] for s in one["input_studies"])


def test_a_flattened_file_of_m3_gives_the_same_release(tmp_path: Path, project: Project) -> None:
    published = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in M3).encode()
    bring(project, tmp_path, published, format="m3", name="level2.jsonl")
    expected = level(project, "2")
    assert expected == published
    one_row = [["docid", "target_text", "input_text", "pmids"]]
    one_row += [
        [
            str(m["docid"]),
            str(m["target_text"]),
            str(m["input_text"]),
            "|||||".join(s["source_pmid"] for s in m["input_studies"]),
        ]
        for m in M3
    ]
    by_input = [["docid", "target_text", "source_pmid", "source_text"]]
    by_input += [
        [str(m["docid"]), str(m["target_text"]), s["source_pmid"], s["source_text"]]
        for m in M3
        for s in m["input_studies"]
    ]
    for n, (content, name) in enumerate(
        [(table(one_row), "a.csv"), (table(by_input, "\t"), "b.tsv"), (published, "c.jsonl")]
    ):
        other = create_project(slug=f"own{n}", name="Own", by=None)
        mapping = None
        if n == 0:
            (tmp_path / name).write_bytes(content)
            guess = guess_mapping(Source.of(tmp_path / name)).as_json()
            guess["columns"]["pmids"] = {"role": "input_id", "split": "|||||"}
            for column in guess["columns"].values():
                column.pop("is_guessed", None)
            mapping = json.dumps(guess)
        bring(other, tmp_path, content, mapping, name=name)
        assert level(other, "2") == expected, name


@pytest.mark.parametrize("first", ["Had less pain .", "<int> Aspirin </int>: less <out>pain</out> in <pop>women ."])
def test_a_flattened_form_of_mslr_gives_the_same_texts(tmp_path: Path, project: Project, first: str) -> None:
    """MS^2's form has tags, Cochrane's has none."""
    inputs = [("900", "11", "A, b", first), ("900", "12", "", 'He said "no",\r\n- one'), ("901", "11", "A, b", first)]
    targets = {"900": "It helps .\nDeath is rare .", "901": 'A "quoted" target'}
    files = {
        "train-inputs.csv": table(
            [["", "ReviewID", "PMID", "Title", "Abstract"], *([str(n), *row] for n, row in enumerate(inputs))]
        ),
        "train-targets.csv": table(
            [["", "ReviewID", "Target"], *([str(n), *row] for n, row in enumerate(targets.items()))]
        ),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    checked = check_files(
        project=project, format="mslr", sources=[Source.of(tmp_path / name) for name in files], preview=False
    )
    import_files(project=project, format="mslr", checked=checked, by=None)
    other = create_project(slug="flat", name="Flat", by=None)
    rows = [["ReviewID", "PMID", "Title", "Abstract", "Target"], *([*row, targets[row[0]]] for row in inputs)]
    imported = bring(other, tmp_path, table(rows, ";"))
    assert level(other, "1") == level(project, "1")
    assert b"<out>" not in level(other, "1")
    assert ("tags removed" in imported.report["totals"]) == ("<int>" in first)
    assert imported.counts == {
        "items": 2,
        "new": 2,
        "unchanged": 0,
        "targets": 2,
        "inputs": 3,
        "reviews": 2,
        "studies": 2,
    }
    assert dict(Study.objects.filter(project=other).values_list("pmid", "title")) == {"11": "A, b", "12": ""}


def test_a_flattened_file_of_mediqa_gives_the_same_release(tmp_path: Path, project: Project) -> None:
    name = "section2answer_multi_abstractive_summ.json"
    published: dict[str, Any] = {
        str(n): {
            "summary": "" if n == 2 else f"All about {n}; café.",
            "articles": {
                f"{n}_Answer{k}": [f"Text {k} - \u201crare\u201d;\n- {n}", "3-Incomplete" if k else "4-Excellent"]
                for k in range(n)
            },
            "question": f"what is {n}",
        }
        for n in range(1, 4)
    }
    content = json.dumps(published, indent=4).encode()
    bring(project, tmp_path, content, format="mediqa-ans", name=name)
    expected = dict(mediqa_files(project))
    assert expected[name] == content
    other = create_project(slug="flat", name="Flat", by=None)
    rows = [["qid", "question", "answer_id", "answer", "rating", "summary"]]
    for key, one in published.items():
        rows += [
            [key, one["question"], *each]
            for each in ([passage, text, rating, one["summary"]] for passage, (text, rating) in one["articles"].items())
        ]
    imported = bring(other, tmp_path, table(rows))
    assert dict(mediqa_files(other)) == expected
    assert imported.report["totals"] == {"empty summary": 1, "guessed setting": 5}
    assert imported.report["values"] == {"rating": {"3": 3, "4": 3}}
    # The same rows under the same keys are known; the pages come from a second file.
    pages = table([["qid", "answer_id", "page"], ["3", "3_Answer1", "Page."], ["1", "1_Answer0", "Other."]])
    mapping = {"qid": {"role": "key"}, "answer_id": {"role": "input_id"}, "page": {"role": "page"}}
    bring(other, tmp_path, pages, json.dumps({"columns": mapping}), name="pages.csv")
    assert set(QuestionText.objects.filter(part="page").values_list("passage__key", "text")) == {
        ("3_Answer1", "Page."),
        ("1_Answer0", "Other."),
    }
    unknown = table([["qid", "answer_id", "page"], ["3", "3_Answer9", "Page."], ["2", "3_Answer2", "Page."]])
    with pytest.raises(BadFiles) as found:
        bring(other, tmp_path, unknown, json.dumps({"columns": mapping}), name="pages2.csv")
    assert [str(one) for one in found.value.faults] == [
        "pages2.csv:2: page: a page for a passage that is unknown: 3_Answer9, question 3",
        "pages2.csv:3: page: a page for a passage that is of the question 3: 3_Answer2, question 2",
    ]


HEAD = ["qid", "question", "answer_id", "answer", "rating", "summary", "note"]
GOOD = [
    ["7", "What is it?", "7_1", "It is a spot.", "3", "A spot.", "x"],
    ["7", "What is it?", "7_2", "It fades.", "4", "A spot.", ""],
    ["10", "Is it rare?", "10_1", "It is rare.", "4", "Rare.", ""],
]


def spoiled(row: int, column: str, value: str) -> bytes:
    rows = [list(one) for one in GOOD]
    rows[row][HEAD.index(column)] = value
    return table([HEAD, *rows])


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (spoiled(1, "rating", "6"), "own.csv:3: rating: 6 is outside 1 to 4"),
        (spoiled(1, "rating", "4-Related"), 'own.csv:3: rating: "4-Related": rating 4 is Excellent'),
        (spoiled(1, "rating", "good"), 'own.csv:3: rating: expected a number from 1 to 4: "good"'),
        (
            spoiled(1, "summary", "A mole."),
            "own.csv:3: summary: a second abstractive summary by one writer; line 2 has the first",
        ),
        (spoiled(1, "question", "What?"), 'own.csv:3: question: differs from line 2, which has the same key "7"'),
        (spoiled(1, "qid", ""), "own.csv:3: qid: the key is missing"),
        (spoiled(1, "answer_id", "7_1"), 'own.csv:3: answer_id: line 2 already has "7_1"'),
        (spoiled(2, "answer_id", "7_1"), "own.csv:4: answer_id: the question 7 has the passage 7_1 already"),
        (spoiled(1, "note", "a\0b"), "own.csv:3: note: a NUL character at character 2"),
        (table([HEAD, GOOD[0], GOOD[2], GOOD[1]]), 'own.csv:4: qid: line 2 already has "7"'),
        (
            table([HEAD, *GOOD]) + b'11,Why?,"11_1,It opens',
            "own.csv:5: answer_id: the quotation mark that opens this cell is not closed; "
            "nothing below it can be read",
        ),
        (table([HEAD, GOOD[0], GOOD[1][:-1]]), "own.csv:3: line: expected 7 cells, found 6"),
    ],
)  # fmt: skip
def test_a_fault_names_file_line_and_column(tmp_path: Path, project: Project, content: bytes, expected: str) -> None:
    (tmp_path / "good.csv").write_bytes(table([HEAD, *GOOD]))
    mapping = guess_mapping(Source.of(tmp_path / "good.csv")).confirmed()
    assert expected in faults_of(project, tmp_path, content, mapping)


def test_a_doubled_key_and_a_list_are_refused(tmp_path: Path, project: Project) -> None:
    rows = [
        {"id": "a", "text": "One.", "summary": "S."},
        {"id": "b", "text": ["One."], "summary": "S."},
        {"id": "a", "text": "x", "summary": "S."},
    ]
    content = "\n".join(map(json.dumps, rows)).encode()
    mapping = json.dumps(
        {
            "format": "jsonl",
            "columns": {"id": {"role": "key"}, "text": {"role": "input"}, "summary": {"role": "target"}},
        }
    )
    assert faults_of(project, tmp_path, content, mapping) == ['own.csv:3: id: line 1 already has "a"']
    as_list = content.replace(b'"S."}', b'["S."]}', 1)
    assert "own.csv:1: summary[]: a list of 1 where a text is expected" in faults_of(
        project, tmp_path, as_list, mapping
    )
    gone = mapping.replace('"summary"', '"abstract"')
    assert faults_of(project, tmp_path, content, gone) == [
        "own.csv:1: abstract: the mapping gives this column the role Target, but the file does not have it"
    ]


NEWS = [["id", "headline", "text", "summary", "category", "source", "=note"]]
NEWS += [
    [f"n{n}", f"Headline {n}", f"Text {n}.", f"Summary {n}." if n != 4 else " ", "city", f"s|{n}", "x"]
    for n in range(9)
]


def test_kept_columns_are_released_under_their_names(tmp_path: Path, project: Project) -> None:
    imported = bring(project, tmp_path, table(NEWS, ";"))
    assert imported.report["totals"]["empty summary"] == 1
    assert Review.objects.get(project=project, pmid="n4").studies().get().abstract == "Text 4."
    assert Review.objects.get(project=project, pmid="n3").title == "Headline 3"
    lines = b"".join(dict(columns.files(project, Notes()))["columns/values.csv"]).decode().splitlines()
    assert lines[0] == "unit_type,key,input,title,background,topic,split,source,=note"
    assert "target document,n3,0,Headline 3,,city,,s|3,x" in lines
    assert "review,n4,0,Headline 4,,city,,s|4,x" in lines
    assert len(lines) == 1 + 9


def test_a_killed_import_continues_and_a_withdrawn_one_leaves_nothing(
    tmp_path: Path, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of questions, whose cells have several lines, in UTF-16: positions are those of a copy in UTF-8."""
    rows = [
        [str(n // 3), f"Question {n // 3}\n?", f"a{n}", f"Text é\n{n}", "3", f"Sum {n // 3}", str(n)] for n in range(60)
    ]
    rows.append(["30", "question 0 ?", "a90", "Text", "3", "Sum", "90"])
    content = table([HEAD, *rows]).decode().encode("utf-16")
    bring(create_project(slug="whole", name="Whole", by=None), tmp_path, content)
    monkeypatch.setattr(passes, "MOST_ROWS", 40)
    store, withdraw = writing.Writing._store, writing.Writing._withdraw

    def killed(self: Any, *given: Any) -> None:
        if self.batches == 3:
            raise KeyboardInterrupt
        store(self, *given)

    monkeypatch.setattr(writing.Writing, "_store", killed)
    monkeypatch.setattr(writing.Writing, "_withdraw", lambda self, reason: None)
    with pytest.raises(KeyboardInterrupt):
        bring(project, tmp_path, content)
    assert Question.with_arriving.filter(project=project).exists()
    assert not Question.objects.filter(project=project).exists()
    monkeypatch.setattr(writing.Writing, "_store", store)
    monkeypatch.setattr(writing.Writing, "_withdraw", withdraw)
    bring(project, tmp_path, content)
    assert sorted(map(str, content_of("own"))) == sorted(map(str, content_of("whole")))
    # The first question was written before the import was killed.
    own, whole = (
        [*ImportWarning.objects.filter(imported__project__slug=slug).order_by("pk").values_list("kind", "item", "text")]
        for slug in ("own", "whole")
    )
    assert own == whole
    assert ("repeated question", "30", "question 0 ?") in own
    last = create_project(slug="last", name="Last", by=None)
    broken = content + "99,Q,a1,Text,9,S,\n".encode("utf-16-le")
    with pytest.raises(BadFiles) as found:
        bring(last, tmp_path, broken)
    assert [str(one) for one in found.value.faults] == ["own.csv:183: rating: 9 is outside 1 to 4"]
    left = (Unit, ColumnValues, WrittenSummary, QuestionText, Passage, Question, ImportedMapping)
    assert [model.__name__ for model in left if model._base_manager.filter(**owned(model, last)).exists()] == []


def owned(model: Any, project: Project) -> dict[str, Any]:
    return {"project": project} if model in (Unit, Question) else {"imported__project": project}


def content_of(slug: str) -> list[Any]:
    """Return the content of all rows of a project of questions, without ids."""
    of = {"question__project__slug": slug}
    return [
        *Question.objects.filter(project__slug=slug).values_list("key", "position", "unit__key"),
        *Passage.objects.filter(**of).order_by("pk").values_list("question__key", "key", "position", "rating"),
        *QuestionText.objects.filter(**of).order_by("pk").values_list("question__key", "passage__key", "part", "text"),
        *WrittenSummary.objects.filter(**of).order_by("pk").values_list("question__key", "form", "text", "unit__key"),
        *ColumnValues.objects.filter(unit__project__slug=slug).order_by("pk").values_list("unit__key", "kept"),
    ]


def test_a_repeated_question_and_gaps_in_ids_are_warnings(tmp_path: Path, project: Project) -> None:
    rows = [
        ["1", "Is it rare?", "1_1", "Yes.", "3", "Rare.", ""],
        ["4", "is it  RARE?", "4_1", "No.", "2", "Not rare.", ""],
    ]
    bring(project, tmp_path, table([HEAD, *rows]))
    warnings = dict(ImportWarning._base_manager.filter(imported__project=project).values_list("kind", "message"))
    assert warnings["repeated question"] == "The question 1 has the same text."
    assert warnings["gaps in ids"] == "2 ids between 1 and 4 do not occur: 2, 3."


def test_the_command_takes_a_mapping_file_and_refuses_guesses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.csv").write_bytes(table(NEWS))
    with pytest.raises(CommandError, match="nothing was imported"):
        call_command("import_data", "csv", str(tmp_path / "a.csv"), project="news", create=True)
    assert "a.csv:1: text: the role Input is a guess; confirm it" in capsys.readouterr().err
    mapping = tmp_path / "map.json"
    mapping.write_text(dumped(guess_mapping(Source.of(tmp_path / "a.csv")).confirmed()))
    call_command("import_data", "csv", str(tmp_path / "a.csv"), project="news", create=True, map_file=mapping)
    # The mapping serves a second file with the same columns in another order.
    second = [[*reversed(row)] for row in NEWS]
    second[1:] = [[f"{cell}2" if n == 6 else cell for n, cell in enumerate(row)] for row in second[1:]]
    (tmp_path / "b.csv").write_bytes(table(second))
    call_command("import_data", "csv", str(tmp_path / "b.csv"), project="news", map_file=mapping)
    assert Target.objects.filter(project__slug="news").count() == 16
    assert Input.objects.filter(target__project__slug="news").count() == 16
    (tmp_path / "c.csv").write_bytes(table([row[:3] + row[4:] for row in NEWS]))
    with pytest.raises(CommandError):
        call_command("import_data", "csv", str(tmp_path / "c.csv"), project="news", map_file=mapping)
    assert "c.csv:1: summary: the mapping gives this column the role Target" in capsys.readouterr().err
