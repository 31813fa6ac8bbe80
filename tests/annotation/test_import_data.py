"""The command ``import_data``: messages, exit codes, all files or none."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from annotation.formats.pubmed.stream import PubMedStream
from annotation.imports import writing
from annotation.models import Cluster, Review
from api.problems import Conflict
from projects.models import Import, Member, Project
from tests.annotation.m3_files import cluster, plain, source, write

pytestmark = pytest.mark.django_db


def run(*arguments: object, **options: object) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("import_data", *map(str, arguments), stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def test_import_data_creates_the_project_and_reports_warnings_and_counts(file: Path) -> None:
    write(file, [cluster(studies=[source("May it reduce?", source_direction_span="reduces")])])
    out, _ = run("m3", file, "--project", "new", "--create")
    assert 'cue absent: 1\n  26258610_0, input 1, source_direction_span: "reduces" It does not occur' in out
    assert 'cue differs in case: 1\n  26258610_0, input 1, source_modality_span: "may" The text has "May".' in out
    assert "level 3: 1 targets, 1 inputs, 1 reviews, 1 studies, 1 clusters, 2 propositions imported." in out
    assert not Member.objects.filter(project__slug="new").exists()


def test_a_lead_can_be_named_for_a_new_project(lead: object, file: Path) -> None:
    write(file, [cluster()])
    run("m3", file, "--project", "new", "--create", "--lead", "LEAD@example.org")
    member = Member.objects.get(project__slug="new")
    assert (member.user, member.role) == (lead, "lead")
    assert Import.objects.get().created_by == lead


def test_a_project_that_nobody_leads_says_so_and_gets_its_lead_by_the_same_command(lead: object, file: Path) -> None:
    write(file, [cluster()])
    _, err = run("m3", file, "--project", "new", "--create")
    assert err == "The project new has no lead, so no one can open it. Run this command again with --lead EMAIL.\n"
    out, err = run("m3", file, "--project", "new", "--lead", "lead@example.org")
    assert ("Nothing changes" in out, err) == (True, "")
    assert Member.objects.get(project__slug="new").user == lead
    assert run("m3", file, "--project", "new")[1] == ""


def test_importing_the_same_file_again_reports_it_and_succeeds(corpus: Project, file: Path) -> None:
    out, _ = run("m3", file, "--project", "eye")
    assert "Nothing changes" in out
    assert Import.objects.count() == 1


def test_faults_are_one_line_each_and_no_project_is_made(file: Path) -> None:
    write(file, [cluster(target_direction="up"), cluster()])
    err = StringIO()
    with pytest.raises(CommandError, match="2 faults; nothing was imported") as refused:
        call_command("import_data", "m3", str(file), "--project", "new", "--create", stderr=err)
    assert refused.value.returncode == 1
    first, second = err.getvalue().splitlines()
    assert first.startswith(f'{file}:1: target_direction: expected one of "positive", "no effect", "negative", "n/a"')
    assert second == f'{file}:2: docid: line 1 already has "26258610_0"'
    assert not Project.objects.exists()


def test_check_reads_and_writes_nothing(project: Project, file: Path) -> None:
    write(file, [cluster()])
    out, _ = run("m3", file, "--project", "eye", "--check")
    assert "would be imported" in out
    assert not Cluster.objects.exists()


def test_an_import_of_several_files_is_all_or_nothing(project: Project, tmp_path: Path) -> None:
    write(tmp_path / "l2", [plain("1_0", "T", ("9", "S"))])
    write(tmp_path / "l3", b"{")
    with pytest.raises(CommandError):
        run("m3", tmp_path / "l2", tmp_path / "l3", "--project", "eye")
    assert not Import.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_rows_are_prepared_outside_transactions_for_each_file(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = []

    def prepare(self: PubMedStream, imported: Import, *rest: Any) -> None:
        prepared.append((imported.file_name, connection.in_atomic_block))
        create(self, imported, *rest)

    create = PubMedStream.create
    monkeypatch.setattr(PubMedStream, "create", prepare)
    write(file, [cluster()])
    run("m3", file, "--project", "new", "--create")
    for name, pmids in (("a.txt", "11"), ("b.txt", "11\n12")):
        path = tmp_path / "studies" / Review.objects.get().pmid / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(pmids)
    run("pubmed", tmp_path / "studies", "--project", "new", "--level", "studies")
    assert prepared == [("a.txt", False), ("b.txt", False)]


def test_a_failed_import_says_that_the_new_project_exists(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise Conflict("Somebody else was faster.")

    write(file, [cluster()])
    arrive = writing.Writing._arrive
    monkeypatch.setattr(writing.Writing, "_arrive", fail)
    with pytest.raises(CommandError) as failed:
        run("m3", file, "--project", "new", "--create")
    assert str(failed.value) == (
        "Somebody else was faster. The project new was created and is empty. Run the same command again to continue."
    )
    monkeypatch.setattr(writing.Writing, "_arrive", arrive)
    run("m3", file, "--project", "new", "--create")
    assert Cluster.objects.get().project.slug == "new"


def test_a_folder_whose_second_file_fails_says_how_many_files_are_imported(
    corpus: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "studies" / Review.objects.all()[0].pmid
    folder.mkdir(parents=True)
    for name, pmid in (("a.txt", "11"), ("b.txt", "12")):
        (folder / name).write_text(pmid)
    arrive, done = writing.Writing._arrive, []

    def fail_second(self: writing.Writing) -> Any:
        done.append(1)
        if len(done) == 2:
            raise Conflict("Somebody else was faster.")
        return arrive(self)

    given = ("pubmed", tmp_path / "studies", "--project", "eye", "--level", "studies")
    monkeypatch.setattr(writing.Writing, "_arrive", fail_second)
    with pytest.raises(CommandError, match="1 of 2 files were imported before"):
        run(*given)
    monkeypatch.setattr(writing.Writing, "_arrive", arrive)
    assert "Nothing changes" in run(*given)[0]
    assert Import.objects.filter(format="pubmed").count() == 2


@pytest.mark.parametrize(
    ("level", "asked", "said"),
    [
        ((), ("--review", "1"), "Review (PMID) applies to level studies only, but the file is read as level reviews"),
        (("--level", "studies"), ("--topic", "x"), "Topic applies to level reviews only"),
    ],
)
def test_fields_of_other_levels_are_refused(
    project: Project, tmp_path: Path, level: tuple[str, ...], asked: tuple[str, ...], said: str
) -> None:
    (tmp_path / "ids.txt").write_text("11\n")
    with pytest.raises(CommandError) as refused:
        run("pubmed", tmp_path / "ids.txt", "--project", "eye", *level, *asked)
    assert said in str(refused.value)
    assert not Import.objects.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("m3", "nowhere.jsonl", "--project", "eye"), "cannot be read: No such file"),
        (("m3", ".", "--project", "eye"), "is a folder"),
        (("m4", "x", "--project", "eye"), "invalid choice"),
    ],
)
def test_bad_input_is_one_clear_line(project: Project, arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        run(*arguments)


def test_an_unknown_project_is_made_only_on_demand(file: Path) -> None:
    write(file, [cluster()])
    with pytest.raises(CommandError, match="Add --create"):
        run("m3", file, "--project", "new")
    with pytest.raises(CommandError, match="not a valid project name"):
        run("m3", file, "--project", "../New", "--create")
    with pytest.raises(CommandError, match="No user"):
        run("m3", file, "--project", "new", "--create", "--lead", "nobody@example.org")


@pytest.mark.django_db(transaction=True)
def test_redistribution_alone_keeps_the_licence(project: Project, file: Path) -> None:
    write(file, [cluster()])
    run("m3", file, "--project", "eye", "--licence", "Terms of the publisher")
    run("m3", file, "--project", "eye", "--redistribution", "forbidden")
    imported = Import.objects.get()
    assert (imported.licence, imported.may_redistribute) == ("Terms of the publisher", False)
