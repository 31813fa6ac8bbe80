"""The `concord` command: names, completion, and failures of one line."""

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from django.core.management import get_commands
from django.db import OperationalError

from config import console
from projects.models import Project

ROOT = Path(__file__).parents[2]


def test_help_lists_every_command_of_concord(capsys: pytest.CaptureFixture[str]) -> None:
    assert console.run([]) == 0
    listed = {line.split()[0] for line in capsys.readouterr().out.splitlines() if line.startswith("  ")}
    own = {name for name, app in get_commands().items() if app in console.GROUPS} - set(console.HIDDEN)
    assert listed == {"import" if name == "import_data" else name.replace("_", "-") for name in own}


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["relase"], 2, "concord relase: There is no such command. Did you mean release?"),
        (["help", "relase"], 2, "concord relase: There is no such command."),
        (["a\nb"], 2, r"concord 'a\nb': There is no such command."),
        (["agreement"], 2, "concord agreement: the following arguments are required: --project, --round. See"),
        (["import", "m4", "x"], 2, "concord import: argument FORMAT: invalid choice: 'm4' (choose from"),
        (["score", "--project", "nowhere"], 1, "concord score: Unknown project 'nowhere'. Projects: none."),
        (["completion", "powershell"], 2, "concord completion: Name the shell: bash, zsh, tcsh."),
    ],
)
@pytest.mark.django_db
def test_a_failure_is_one_line(
    arguments: list[str], status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert console.run(arguments) == status
    written = capsys.readouterr()
    assert written.out == ""
    assert written.err.startswith(message)
    assert written.err.count("\n") == 1


def test_an_unexpected_failure_is_one_line_unless_the_traceback_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(slug: str) -> None:
        raise OperationalError("connection refused\nIs the server running?")

    monkeypatch.setattr("evaluation.management.commands.protocols.project_of", fail)
    assert console.run(["protocols", "--project", "eye"]) == 1
    assert capsys.readouterr().err == (
        "concord protocols: OperationalError: connection refused. Is the database running and migrated (concord "
        "migrate)? --traceback shows where it failed.\n"
    )
    with pytest.raises(OperationalError):
        console.run(["protocols", "--project", "eye", "--traceback"])


def test_import_is_import_data(tmp_path: Path, capsys: pytest.CaptureFixture[str], db: None) -> None:
    file = tmp_path / "level3.jsonl"
    file.write_text("{}\n")
    assert console.run(["import", "m3", str(file), "--project", "eye", "--create"]) == 1
    assert "level3.jsonl:1: " in capsys.readouterr().err


def test_tables_are_also_json(capsys: pytest.CaptureFixture[str], db: None) -> None:
    Project.objects.create(slug="eye", name="Eye")
    assert console.run(["protocols", "--project", "eye", "--add", "guideline"]) == 0
    capsys.readouterr()
    assert console.run(["protocols", "--project", "eye", "--format", "json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert row["version"] == 1
    assert len(row["sha256"]) == 64


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
def test_bash_completes_commands_options_choices_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert console.run(["completion", "bash"]) == 0
    (tmp_path / "concord.bash").write_text(capsys.readouterr().out)
    (tmp_path / "level3.jsonl").touch()
    script = """
        source concord.bash
        complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _shtab_concord; echo "${COMPREPLY[@]}"; }
        complete_words concord im
        complete_words concord import m
        complete_words concord import m3 lev
        complete_words concord tables --format l
        complete_words concord score --proj
    """
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "import import-answers",
        "m3 mediqa-ans ms2 mslr",
        "level3.jsonl",
        "latex",
        "--project",
    ]


def test_the_command_is_installed_with_every_package() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert declared["project"]["scripts"] == {"concord": "config.console:main"}
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "benchmarks"}
    assert set(declared["tool"]["setuptools"]["packages"]) == packages
