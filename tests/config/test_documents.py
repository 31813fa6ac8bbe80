"""Commands, settings, addresses, files and pins in the documents exist."""

import configparser
import re
import shlex
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import get_commands, load_command_class

from api.limits import LIMITS
from config.console import module_of

ROOT = Path(settings.ROOT)
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md")), ROOT / "frontend" / "README.md"]
TEXTS = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in DOCUMENTS}
REQUIREMENTS = [ROOT / "requirements.txt", *sorted((ROOT / "requirements").glob("*.txt"))]


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("name", TEXTS)
def test_links_in_documents_lead_to_existing_files(name: str) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", TEXTS[name]):
        if "://" not in target:
            assert (ROOT / name).parent.joinpath(target).exists(), f"{name} links to {target}"


@pytest.mark.parametrize("name", TEXTS)
def test_files_that_are_named_are_there(name: str) -> None:
    for path in re.findall(r"`([\w.-]+(?:/[\w.-]+)+\.(?:py|ts|svelte|md|txt|yml|toml|html|css))`", TEXTS[name]):
        below = [ROOT, (ROOT / name).parent, ROOT / "frontend", ROOT / "frontend" / "src"]
        assert any((folder / path).exists() for folder in below), f"{name} names {path}"


@pytest.mark.parametrize("name", TEXTS)
def test_make_has_the_targets_that_are_named(name: str) -> None:
    named = set(re.findall(r"(?:`|^ {4})make ([a-z]+)", TEXTS[name], re.MULTILINE))
    assert named <= make_targets(), f"{name} names {named - make_targets()}"


@pytest.mark.parametrize("name", TEXTS)
def test_commands_are_there_and_take_what_is_shown(name: str) -> None:
    pattern = r"(?:`|^ {4}(?:python )?)(?:manage\.py|concord) ([^`\n#]+)"
    for line in re.findall(pattern, TEXTS[name], re.MULTILINE):
        shown, *arguments = shlex.split(line)
        command = module_of(shown)
        if command in ("help", "completion", "COMMAND"):
            continue
        assert command in get_commands(), f"{name} shows `manage.py {line}`"
        parser = load_command_class(get_commands()[command], command).create_parser("manage.py", command)
        known = {option for action in parser._actions for option in action.option_strings}
        given = {argument.partition("=")[0] for argument in arguments if argument.startswith("-")}
        assert given <= known, f"{name} shows `manage.py {line}`"


def test_the_two_commands_of_the_readme_are_the_first_that_make_lists() -> None:
    assert [line.split()[1] for line in re.findall(r"^ {4}(make \w+)", TEXTS["README.md"], re.MULTILINE)] == [
        "run",
        "test",
    ]
    listed = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert listed[:3] == ["help", "run", "test"]
    assert "make test" in (ROOT / ".ci" / "run").read_text()


def test_the_table_of_settings_is_complete() -> None:
    source = (ROOT / "config" / "settings.py").read_text(encoding="utf-8")
    source += (ROOT / "config" / "gunicorn.py").read_text(encoding="utf-8")
    read = set(re.findall(r'(?:env\.\w+|environ\.get)\(\s*"([A-Z_]+)"', source)) | set(LIMITS)
    described = set(
        re.findall(
            r"`([A-Z_]{3,})`",
            "".join(re.findall(r"^\|.*?\|", TEXTS["docs/settings.md"] + TEXTS["docs/limits.md"], re.MULTILINE)),
        )
    )
    assert described <= read
    assert read - described == {"READ_DOT_ENV", "STATIC_ROOT", "FRONTEND_DIST", "CONN_MAX_AGE"}, (
        "describe it or say why not"
    )


def test_the_order_of_imports_that_contributors_read_is_the_one_that_is_checked() -> None:
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")
    assert (
        " -> ".join(contracts["importlinter:contract:layers"]["layers"].strip().splitlines())
        in TEXTS["CONTRIBUTING.md"]
    )


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: path.name)
def test_requirements_are_pinned_exactly(path: Path) -> None:
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith(("#", "-r "))]
    assert lines
    for line in lines:
        assert re.fullmatch(r"[\w-]+(\[[\w,]+\])?==[\w.]+", line), line


def test_the_web_image_has_neither_torch_nor_copyleft_libraries() -> None:
    runtime = (ROOT / "requirements.txt").read_text().lower()
    for line in runtime.splitlines():
        assert not line.startswith(("torch", "transformers", "krippendorff", "irrcac"))


def test_the_licence_is_apache_2() -> None:
    assert (ROOT / "LICENSE").read_text().lstrip().startswith("Apache License")
    assert "Apache-2.0" in TEXTS["README.md"]


def test_no_document_names_a_place_on_somebody_s_machine() -> None:
    for name, text in TEXTS.items():
        assert not re.search(r"(?<![\w.])/(?:home|root|tmp|Users)/", text), name
