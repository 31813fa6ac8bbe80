"""``manage.py protocols``: import and export of files and templates, and errors by line."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from evaluation.models import ProtocolVersion
from projects.models import Project
from tests.evaluation.protocol_drafts import criterion, protocol

pytestmark = pytest.mark.django_db


def say(*arguments: str) -> str:
    out = io.StringIO()
    call_command("protocols", *arguments, stdout=out, stderr=out)
    return out.getvalue()


def file(folder: Path, content: object) -> str:
    path = folder / "draft.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)


def test_a_template_is_added_exported_changed_and_added_as_the_next_version(project: Project, tmp_path: Path) -> None:
    name = "Guideline: coherence, relevance, consistency"
    assert f"{name} v1" in say("--project", "eye", "--add", "guideline")
    out = tmp_path / "out.json"
    say("--project", "eye", "--export", name, "--out", str(out))
    content = json.loads(out.read_text(encoding="utf-8"))
    assert content == ProtocolVersion.objects.get().content
    content["criteria"][0]["scale"]["options"][0]["anchor"] = ""
    said = say("--project", "eye", "--add", file(tmp_path, content))
    assert "v2" in said
    assert "Draft. Before you can use it: Coherence, 1: no anchor." in said
    assert say("--project", "eye").splitlines()[1].startswith(f"{name} v2 (rate), ")
    first = json.loads(say("--project", "eye", "--export", name, "--number", "1"))
    assert first == ProtocolVersion.objects.get(number=1).content


def test_a_file_is_checked_without_a_project(tmp_path: Path) -> None:
    assert "valid protocol." in say("--check", file(tmp_path, protocol(criterion())))
    with pytest.raises(CommandError, match=r"criteria\.0\.key: Expected a key"):
        say("--check", file(tmp_path, protocol(criterion("No"))))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "--project SLUG is required"),
        (("--project", "nose"), "Unknown project 'nose'"),
        (("--project", "eye", "--add", "nothing.json"), "nothing.json cannot be read"),
        (("--project", "eye", "--export", "Ours"), "The project has no protocol 'Ours'; it has: none."),
    ],
)
def test_missing_objects_are_reported_in_one_line(project: Project, arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        say(*arguments)


def test_invalid_protocols_are_refused_line_by_line(project: Project, tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{", encoding="utf-8")
    with pytest.raises(CommandError, match="is not valid JSON"):
        say("--project", "eye", "--add", str(broken))
    with pytest.raises(CommandError, match="content: Expected an object"):
        say("--project", "eye", "--name", "Ours", "--add", file(tmp_path, [1]))
    say("--project", "eye", "--name", "Ours", "--add", "preference")
    with pytest.raises(CommandError, match="Ours has no version 2"):
        say("--project", "eye", "--export", "Ours", "--number", "2")
