"""MSLR's tables come back byte for byte; secret targets are in no page, run or file."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped, unused-ignore]
import pytest

from accounts.models import User
from annotation.imports import passes, writing
from annotation.imports.actions import check_files, import_files
from annotation.models import Inclusion, Input, Review, Study, Target
from generation.models import UnitLevel
from generation.sources import materials
from projects.material.registry import get
from projects.models import Import, Member, Project
from projects.people.actions import create_project
from projects.uploads.faults import BadFiles
from projects.uploads.files import Source
from releases.formats import m3, mslr
from releases.formats.notes import Notes

pytestmark = [pytest.mark.django_db, pytest.mark.engine]

LONG = 'He said "no", then:\r\n- one,\n- two; <int> Drug A </int> helps'
INPUTS = [
    ("900", "11", "A title, with a comma", "<pop> Adults </pop> had less pain ."),
    ("900", "12", "", LONG),
    ("901", "11", "Another title", "<pop> Adults </pop> had less pain ."),
    ("901", "13", "β ≥ 2", ""),
]
TARGETS = [("901", "It helps .\nDeath is rare ."), ("902", 'A "quoted" target'), ("900", "It does not help .")]
INFOS = [
    ("900", "<int> Drug A </int> for <out> pain </out> ?"),
    ("901", "Background, with a comma"),
    ("902", 'Of "b"\nand <int> c </int>'),
]


def by_csv(head: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """Write a table as the `csv` module does."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["", *head])
    writer.writerows([n, *row] for n, row in enumerate(rows))
    return out.getvalue().encode()


def by_pandas(head: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """Write a table as pandas does, with a gap in its index."""
    table = pd.DataFrame([*rows], columns=list(head))
    table.index = [*range(len(table) - 1), len(table) + 4]
    return str(table.to_csv()).encode()


HEADS = {"inputs": ["ReviewID", "PMID", "Title", "Abstract"], "targets": ["ReviewID", "Target"]}


def tables(split: str = "train", writer: Any = by_csv, **rows: Any) -> dict[str, bytes]:
    given: dict[str, Any] = {"inputs": INPUTS, "targets": TARGETS, "infos": INFOS} | rows
    files = {
        f"{split}-inputs.csv": writer(HEADS["inputs"], given["inputs"]),
        f"{split}-targets.csv": writer(given.get("head", HEADS["targets"]), given["targets"]),
        f"{split}-reviews-info.csv": writer(["ReviewID", "Background"], given["infos"]),
    }
    return {name: content for name, content in files.items() if content}


def sources(folder: Path, files: dict[str, bytes]) -> list[Source]:
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return [Source.of(folder / name) for name in files]


def import_tables(project: Project, folder: Path, files: dict[str, bytes]) -> Import:
    checked = check_files(project=project, format="mslr", sources=sources(folder, files), preview=False)
    [imported] = import_files(project=project, format="mslr", checked=checked, by=None)
    return imported


@pytest.fixture
def project() -> Project:
    return create_project(slug="mslr", name="MSLR", by=None)


def released(project: Project) -> dict[str, bytes]:
    return {path: b"".join(lines) for path, lines in mslr.files(project, Notes())}


@pytest.mark.parametrize("writer", [by_csv, by_pandas])
@pytest.mark.parametrize("most_rows", [1, 4000])
def test_tables_of_two_splits_come_back_byte_for_byte(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer: Any, most_rows: int
) -> None:
    monkeypatch.setattr(passes, "MOST_ROWS", most_rows)
    train = tables(writer=writer)
    dev = tables(
        "dev",
        writer,
        inputs=[("800", "11", "A title, with a comma", INPUTS[0][3]), ("800", "80", "T", "x")],
        head=["ReviewID", "Target", "Background"],
        targets=[("800", "T", "B"), ("801", "U", "C")],
        infos=[("800", "Y")],
    )
    imported = import_tables(project, tmp_path, train)
    assert {name: imported.counts[name] for name in ("reviews", "studies", "inputs", "targets", "backgrounds")} == {
        "reviews": 3,
        "studies": 3,
        "inputs": 4,
        "targets": 3,
        "backgrounds": 3,
    }
    import_tables(project, tmp_path, dev)
    assert released(project) == {f"mslr/{name}": content for name, content in (train | dev).items()}


def test_rows_are_studies_with_texts_and_targets_without_tags(project: Project, tmp_path: Path) -> None:
    import_tables(project, tmp_path, tables())
    assert Study.objects.get(pmid="11").abstract == "Adults had less pain ."
    assert dict(Target.objects.values_list("key", "text")) == dict(TARGETS)
    assert list(Inclusion.objects.filter(review__pmid="901").values_list("study__pmid", flat=True)) == ["11", "13"]
    assert list(Input.objects.filter(target__key="901").values_list("study__pmid", flat=True)) == ["11"]


def test_secret_targets_are_stored_nowhere_and_the_reviews_can_be_summarised(lead: User, tmp_path: Path) -> None:
    project = create_project(slug="mslr", name="MSLR", by=lead)
    files = tables("test", targets=[("900", "A secret."), ("901", "A secret."), ("902", "A secret.")])
    imported = import_tables(project, tmp_path, files)
    assert set(Target.objects.values_list("text", "is_withheld")) == {("", True)}
    assert imported.counts["targets"] == 0
    assert imported.report["totals"]["withheld target"] == 3
    del files["test-targets.csv"]
    assert released(project) == {f"mslr/{name}": content for name, content in files.items()}
    assert list(m3.files(project, Notes())) == []
    unit = Review.objects.get(pmid="900").unit_id
    material = materials(project, UnitLevel.DOCUMENT, [unit])[unit]
    assert [len(material.source.inputs), len(material.references)] == [2, 0]
    documents = get("documents")
    rows = documents.rows(list(documents.all(project)), Member.objects.get(user=lead))
    assert {row.cells[0] for row in rows} == {"withheld"}


def test_a_test_set_of_inputs_alone_is_complete(project: Project, tmp_path: Path) -> None:
    files = {"test-inputs.csv": by_csv(HEADS["inputs"], INPUTS)}
    import_tables(project, tmp_path, files)
    assert released(project) == {f"mslr/{name}": content for name, content in files.items()}


def test_a_study_listed_twice_is_kept_and_the_same_tables_change_nothing(project: Project, tmp_path: Path) -> None:
    twice = tables(inputs=[*INPUTS[:2], INPUTS[0], *INPUTS[2:]])
    imported = import_tables(project, tmp_path, twice)
    assert imported.report["totals"] == {"repeated study": 1}
    assert released(project) == {f"mslr/{name}": content for name, content in twice.items()}
    more = tables(
        inputs=[*INPUTS[:2], INPUTS[0], *INPUTS[2:], ("903", "31", "T", "x")], targets=[*TARGETS, ("903", "T")]
    )
    again = import_tables(project, tmp_path, more)
    assert (again.counts["new"], again.counts["unchanged"]) == (1, 3)
    changed = tables(targets=[("901", "Another target."), *TARGETS[1:]], inputs=[*INPUTS[:2], INPUTS[0], *INPUTS[2:]])
    with pytest.raises(BadFiles) as refused:
        import_tables(project, tmp_path, changed)
    assert [fault.field for fault in refused.value.faults] == ["targets"]


FAULTS = [
    ({"targets": [*TARGETS, ("900", "A second one.")]}, "train-targets.csv", 6, "ReviewID", "a second target of the"),
    ({"infos": [*INFOS, INFOS[1]]}, "train-reviews-info.csv", 6, "ReviewID", "a second background of the review 901"),
    ({"inputs": [*INPUTS, ("999", "31", "T", "x")]}, "train-inputs.csv", 8, "ReviewID", "no other table has the"),
    ({"inputs": [*INPUTS, ("902", "11", "T", "x")]}, "train-inputs.csv", 8, "Abstract", "the study 11 already has"),
    ({"inputs": [*INPUTS, ("901", "11", "T", "x")]}, "train-inputs.csv", 8, "Abstract", "another abstract in line 6"),
    ({"inputs": [*INPUTS, ("900", "14", "T", "x")]}, "train-inputs.csv", 8, "ReviewID", 'line 2 already has "900"'),
    ({"inputs": [*INPUTS, ("901", "", "T", "x")]}, "train-inputs.csv", 8, "PMID", "expected 1 to 40 characters"),
    ({"head": ["ReviewID", "Text"]}, "train-targets.csv", 1, "file", "unknown columns ,ReviewID,Text; expected"),
]


@pytest.mark.parametrize(("change", "file", "line", "field", "said"), FAULTS)
def test_a_fault_is_reported_by_file_line_and_field_and_nothing_is_written(
    project: Project, tmp_path: Path, change: dict[str, Any], file: str, line: int, field: str, said: str
) -> None:
    files = tables(**change)
    with pytest.raises(BadFiles) as refused:
        import_tables(project, tmp_path, files)
    assert [(Path(f.file).name, f.line, f.field) for f in refused.value.faults][:1] == [(file, line, field)]
    assert said in next(iter(refused.value.faults)).message
    checked = check_files(project=None, format="mslr", sources=sources(tmp_path, files))
    assert [(Path(f.file).name, f.line, f.field) for f in checked.faults][:1] == [(file, line, field)]
    assert not Review.with_arriving.exists()


@pytest.mark.parametrize("batches", [1, 2, 3, 4])
def test_a_killed_import_continues(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batches: int
) -> None:
    monkeypatch.setattr(passes, "MOST_ROWS", 1)
    store, left = writing.Writing._store, [batches]

    def killed_later(self: Any, *given: Any) -> None:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        store(self, *given)

    files = tables(targets=[*TARGETS, ("903", "X"), ("904", "Y")])
    with monkeypatch.context() as patch:
        patch.setattr(writing.Writing, "_store", killed_later)
        patch.setattr(writing.Writing, "_withdraw", lambda self, reason: None)
        with pytest.raises(KeyboardInterrupt):
            import_tables(project, tmp_path, files)
    import_tables(project, tmp_path, files)
    assert released(project) == {f"mslr/{name}": content for name, content in files.items()}
