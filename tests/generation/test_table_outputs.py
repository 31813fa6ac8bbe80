"""Columns of a table with the summaries of systems become runs, and columns with labels become decisions."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.formats.columns.guesses import guess_mapping
from annotation.formats.columns.mapping import parsed
from annotation.imports.actions import check_files, import_files
from annotation.imports.withdrawal import ORDER
from annotation.models import Screening
from generation.imported_runs.tables import unfinished_imports
from generation.models import ItemStatus, Run, Summary
from projects.jobs.running import run_job
from projects.models import Decision, Import, Job, JobStatus, Project
from projects.people.actions import create_project
from projects.uploads import files
from projects.uploads.faults import BadFiles
from projects.uploads.files import Source

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(settings: Any, tmp_path: Path) -> Project:
    settings.MEDIA_ROOT = tmp_path / "files"
    return create_project(slug="own", name="Own", by=None)


def bring(project: Project, folder: Path, rows: Sequence[Sequence[str]], **roles: str | dict[str, str]) -> Import:
    """Import a table with guessed roles, except for those given by column."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    path = folder / "own.csv"
    path.write_text(out.getvalue())
    mapping = guess_mapping(Source.of(path)).confirmed().as_json()
    mapping["columns"] |= {name: role if isinstance(role, dict) else {"role": role} for name, role in roles.items()}
    checked = check_files(
        project=project, format="csv", sources=[Source.of(path)], about={"columns": json.dumps(mapping)}, preview=True
    )
    if checked.faults:
        raise BadFiles(checked.faults)
    [imported] = import_files(project=project, format="csv", checked=checked, by=None)
    return imported


def run_jobs() -> None:
    while job := Job.objects.filter(status=JobStatus.QUEUED).order_by("pk").first():
        run_job(job.pk)
    assert not Job.objects.exclude(status=JobStatus.DONE).exists()


def texts(project: Project) -> set[tuple[str, str, str, str]]:
    """Return (system, level, key of the unit, text) of all summaries."""
    rows = Summary.objects.filter(item__run__version__system__project=project)
    columns = ("item__run__version__system__name", "item__run__version__level", "item__unit__key", "text")
    return set(rows.values_list(*columns))


NEWS = [
    ["id", "text", "summary", "alder output", "birch"],
    *([f"n{n}", f"Text {n}.", f"Summary {n}.", f"Alder {n}.", f"Birch {n}." if n else ""] for n in range(3)),
]


def test_each_system_of_a_table_of_documents_gets_a_run(project: Project, tmp_path: Path) -> None:
    imported = bring(project, tmp_path, NEWS, birch={"role": "output", "writer": "Birch"})
    assert imported.counts["summaries of systems"] == 5
    assert [row["system"] for row in unfinished_imports(project)] == ["alder output", "Birch"]
    run_jobs()
    assert unfinished_imports(project) == []
    assert texts(project) == {
        *(("alder output", "document", f"n{n}", f"Alder {n}.") for n in range(3)),
        *(("Birch", "document", f"n{n}", f"Birch {n}.") for n in (1, 2)),
    }
    # A system without a text for a document has no output for it.
    failed = Run.objects.get(version__system__name="Birch").items.filter(status=ItemStatus.FAILED)
    assert [*failed.values_list("unit__key", flat=True)] == ["n0"]
    assert not list(files.folder().iterdir())


def test_the_command_says_that_runs_need_a_worker(project: Project, tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("\n".join(",".join(row) for row in NEWS))
    roles, said = tmp_path / "roles.json", io.StringIO()
    roles.write_text(json.dumps(guess_mapping(Source.of(path)).confirmed().as_json()))
    call_command("import_data", "csv", path, project=project.slug, map_file=roles, stdout=said, stderr=io.StringIO())
    assert "Start one: manage.py work" in said.getvalue()


@pytest.mark.long
def test_systems_summarise_passages_and_all_passages(project: Project, tmp_path: Path) -> None:
    rows = [["qid", "question", "doc", "passage", "of all", "of one"]]
    rows += [[f"{n // 2}", f"Q {n // 2}?", f"a{n}", f"P {n}.", f"All {n // 2}.", f"One {n}."] for n in range(4)]
    both: dict[str, str | dict[str, str]] = {
        "doc": "input_id",
        "of all": {"role": "output", "writer": "Alder"},
        "of one": {"role": "output", "writer": "Alder", "of": "input"},
    }
    bring(project, tmp_path, rows, **both)
    run_jobs()
    assert texts(project) == {
        *(("Alder", "question", f"{n}", f"All {n}.") for n in range(2)),
        *(("Alder", "answer", f"a{n}", f"One {n}.") for n in range(4)),
    }


def test_labels_of_documents_become_decisions(project: Project, tmp_path: Path) -> None:
    labels = ("Include", "not relevant", "")
    rows = [[*NEWS[0], "eligible"], *([*row, label] for row, label in zip(NEWS[1:], labels, strict=True))]
    screened: dict[str, str | dict[str, str]] = {"eligible": {"role": "label", "kind": "screen"}}
    bring(project, tmp_path, rows, **screened)
    assert [*Screening.objects.order_by("unit__key").values_list("unit__key", "screening")] == [
        ("n0", "include"),
        ("n1", "not relevant"),
    ]
    assert Decision.objects.filter(kind="screen", origin="imported").count() == 2
    other = create_project(slug="other", name="Other", by=None)
    rows[3][-1] = "perhaps"
    with pytest.raises(BadFiles) as found:
        bring(other, tmp_path, rows, **screened)
    [fault] = found.value.faults
    assert str(fault).startswith("own.csv:4: eligible: expected one of include, not relevant")
    assert not any(model._base_manager.filter(**{f"{path}__project": other}).exists() for model, path in ORDER)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": {"role": "output"}, "b": {"role": "output", "writer": "a"}}, "Two columns are of the system a."),
        ({"a": {"role": "output", "writer": "a" * 81}}, "The name of a system has at most 80 characters."),
        ({"a": {"role": "label", "kind": "screen"}, "b": {"role": "question"}}, "Screening: only documents have one."),
    ],
)
def test_contradictory_roles_are_named(columns: dict[str, object], message: str) -> None:
    roles = {"id": {"role": "key"}, "t": {"role": "input"}, "s": {"role": "target"}, **columns}
    problems = [text for _, text in parsed(json.dumps({"columns": roles})).problems()]
    assert any(text.startswith(message) for text in problems)
