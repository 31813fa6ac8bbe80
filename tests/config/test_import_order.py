"""Import contracts hold for the code, and each fails when it is violated in a copy."""

import configparser
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

CONTRACTS = Path(settings.ROOT) / ".importlinter"


def house() -> list[str]:
    parser = configparser.ConfigParser()
    parser.read(CONTRACTS)
    return parser["importlinter"]["root_packages"].split()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the Python files of the apps, and the contracts."""
    for app in house():
        shutil.copytree(Path(settings.ROOT) / app, tmp_path / app, ignore=_not_python)
    shutil.copy(CONTRACTS, tmp_path)
    return tmp_path


def _not_python(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if "." in name and not name.endswith(".py")] + ["__pycache__"]


def lint(folder: Path) -> tuple[int, str]:
    program = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run([program, "--no-cache"], cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def plant(folder: Path, file: str, line: str) -> None:
    path = folder / file
    path.write_text(f"{path.read_text(encoding='utf-8')}\n{line}\n", encoding="utf-8")


def test_the_nine_apps_are_under_contract() -> None:
    packages = {path.parent.name for path in Path(settings.ROOT).glob("*/__init__.py")} - {"tests"}
    assert set(house()) == packages


def test_the_code_follows_the_import_order(copy: Path) -> None:
    code, said = lint(copy)
    assert code == 0, said
    assert "0 broken" in said


PROJECTS = "Features of projects: each imports only those below it"
INSIDE = "Inside a feature: views, serializers, then actions and queries"
#: File, line to append, and the contract that it violates.
UPWARD = [
    ("accounts/actions.py", "import projects.models", "Imports go one way, as the data does"),
    ("projects/jobs/jobs.py", "from annotation.models import Label", "Imports go one way, as the data does"),
    ("audit/models.py", "import config.urls", "Imports go one way, as the data does"),
    ("measures/spans.py", "from django.db import models", "measures know nothing of Django"),
    ("accounts/actions.py", "from accounts import views", "Inside accounts and audit: views, actions, models"),
    ("projects/kinds/kind.py", "from projects.queue import actions", PROJECTS),
    ("projects/gold/queries.py", "from projects.inbox import queries", PROJECTS),
    ("projects/queue/actions.py", "from projects.queue import serializers", INSIDE),
    (
        "annotation/models/cluster.py",
        "from annotation import permissions",
        "Features of annotation: each imports only those below it",
    ),
    (
        "releases/folders/diffs.py",
        "from releases.sources import state",
        "Features of releases: each imports only those below it",
    ),
    ("projects/purposes.py", "from projects.models import Round", PROJECTS),
]


def test_imports_upward_are_found_each_with_its_contract_and_place(copy: Path) -> None:
    places = []
    for file, line, contract in UPWARD:
        plant(copy, file, line)
        number = (copy / file).read_text(encoding="utf-8").count("\n")
        places.append((contract, f"{file.removesuffix('.py').replace('/', '.')} -> ", f"(l.{number})"))
    code, said = lint(copy)
    assert code == 1, said
    broken = said.partition("Broken contracts")[2]
    # A contract's name is underlined, and the violations follow.
    _, *parts = re.split(r"^(.+)\n-+\n", broken, flags=re.MULTILINE)
    lines = {name: text.splitlines() for name, text in zip(parts[::2], parts[1::2], strict=True)}
    for contract, module, place in places:
        assert any(module in line and place in line for line in lines[contract]), (contract, module, place, broken)
