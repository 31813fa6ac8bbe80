"""The command ``import_data``: clear lines, exit codes, all files or none."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Cluster
from projects.models import Import, Member, Project
from tests.annotation.m3_files import cluster, plain, source, write

pytestmark = pytest.mark.django_db


def run(*arguments: object, **options: object) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("import_data", *map(str, arguments), stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def test_it_makes_the_project_names_what_is_odd_and_counts_what_it_wrote(file: Path) -> None:
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
    assert err == "Nobody leads new, so nobody sees it: the same command with --lead EMAIL.\n"
    out, err = run("m3", file, "--project", "new", "--lead", "lead@example.org")
    assert ("nothing changes" in out, err) == (True, "")
    assert Member.objects.get(project__slug="new").user == lead
    assert run("m3", file, "--project", "new")[1] == ""


def test_the_same_file_again_says_so_and_ends_well(corpus: Project, file: Path) -> None:
    out, _ = run("m3", file, "--project", "eye")
    assert "nothing changes" in out
    assert Import.objects.count() == 1


def test_faults_are_one_line_each_and_no_project_is_made(file: Path) -> None:
    write(file, [cluster(target_direction="up"), cluster()])
    err = StringIO()
    with pytest.raises(CommandError, match="2 faults; nothing was imported") as refused:
        call_command("import_data", "m3", str(file), "--project", "new", "--create", stderr=err)
    assert refused.value.returncode == 1
    first, second = err.getvalue().splitlines()
    assert first.startswith(f'{file}:1: target_direction: expected one of "positive", "no effect", "negative", "n/a"')
    assert second == f'{file}:2: docid: "26258610_0" stands on line 1 already'
    assert not Project.objects.exists()


def test_check_reads_and_writes_nothing(project: Project, file: Path) -> None:
    write(file, [cluster()])
    out, _ = run("m3", file, "--project", "eye", "--check")
    assert "would be imported" in out
    assert not Cluster.objects.exists()


def test_all_files_or_none(project: Project, tmp_path: Path) -> None:
    write(tmp_path / "l2", [plain("1_0", "T", ("9", "S"))])
    write(tmp_path / "l3", b"{")
    with pytest.raises(CommandError):
        run("m3", tmp_path / "l2", tmp_path / "l3", "--project", "eye")
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
    with pytest.raises(CommandError, match="--create makes it"):
        run("m3", file, "--project", "new")
    with pytest.raises(CommandError, match="no name for a project"):
        run("m3", file, "--project", "../New", "--create")
    with pytest.raises(CommandError, match="no user"):
        run("m3", file, "--project", "new", "--create", "--lead", "nobody@example.org")
