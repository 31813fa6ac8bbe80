"""`manage.py generate`: a complete run in the foreground, or one clear error line."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command

from accounts.models import User
from generation.models import Run, RunStatus, Summary, System, Version
from generation.runs.actions import start_run, stop_run
from generation.systems import presets
from generation.systems.actions import make_version
from projects.models import Project
from tests.builders import build_cluster
from tests.generation.staged import StagedBackend
from tests.generation.test_runs import fresh
from tests.generation.workers import staged_version

LEAD_1 = {"backend": "extractive", "decoding": {"method": "lead", "sentences": 1}}


@pytest.fixture
def clusters(project: Project) -> Project:
    for number in range(3):
        build_cluster(project, number)
    return project


def generate(capsys: pytest.CaptureFixture[str], **options: Any) -> str:
    call_command("generate", project="eye", **options)
    return capsys.readouterr().out


def test_a_configuration_becomes_system_version_and_summaries(
    clusters: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "lead.json"
    config.write_text(json.dumps(LEAD_1))
    said = generate(capsys, system="Lead-1", config=config)
    assert said.startswith("Lead-1 v1 (")
    assert said.endswith("): 3 of 3 done.\n")
    assert Summary.objects.count() == 3
    assert Version.objects.get().note == "lead.json"
    assert "is already done; --again starts another" in generate(capsys, system="Lead-1")
    assert Run.objects.count() == 1
    assert generate(capsys, system="Lead-1", again=True, by="lead@example.org").endswith("3 of 3 done.\n")
    assert Run.objects.first().started_by == User.objects.get(email="lead@example.org")  # type: ignore[union-attr]


def test_a_system_called_after_a_preset_is_made_of_it_at_a_level_that_the_project_has(
    clusters: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    assert presets.get("lead-3").config["level"] == "document"
    assert generate(capsys, system="Lead-3").endswith("3 of 3 done.\n")
    made = Version.objects.get()
    assert (made.note, made.level, made.config["decoding"]["sentences"]) == ("Preset lead-3", "proposition", 3)
    said = generate(capsys, system="Two", preset="lead-3", changes=["decoding.sentences=2"])
    assert said.startswith("Two v1 (")
    assert Version.objects.get(system__name="Two").config["decoding"]["sentences"] == 2
    assert presets.get("lead-3").config["decoding"]["sentences"] == 3


def test_imported_outputs_become_a_version_and_missing_units_are_listed(
    clusters: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str], settings: LazySettings
) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    file = tmp_path / "theirs.csv"
    file.write_text("key,text\nDEMO0000_0,It helps.\nDEMO0001_0,It does not.\nOTHER,What?\n")
    with pytest.raises(CommandError, match=r"1 of 3 failed\. The first, DEMO0002_0: The file has no output"):
        call_command("generate", project="eye", system="Theirs", outputs=file)
    said = capsys.readouterr().err
    assert "theirs.csv: 3 outputs, 2 of them for the 3 units." in said
    assert "theirs.csv:4: no unit has the key 'OTHER'." in said
    assert file.exists()
    assert sorted(Summary.objects.values_list("text", flat=True)) == ["It does not.", "It helps."]
    file.write_text("key,text\na,x\na,y\n")
    with pytest.raises(CommandError, match=r"theirs\.csv:3: key: duplicate key 'a', first on line 2"):
        call_command("generate", project="eye", system="Other", outputs=file)
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("generate", project="eye", system="Other", outputs=tmp_path / "nothing.csv")
    assert not System.objects.filter(name="Other").exists()


def test_generate_resumes_a_stopped_run(
    clusters: Project, staged: StagedBackend, lead: User, capsys: pytest.CaptureFixture[str]
) -> None:
    run = start_run(version=staged_version(clusters), by=lead)
    stop_run(run=run, by=lead)
    assert generate(capsys, system="Staged", number=1).endswith("3 of 3 done.\n")
    assert fresh(run).status == RunStatus.DONE
    assert Run.objects.count() == 1


def test_failed_items_are_reported_and_the_command_fails(
    clusters: Project, staged: StagedBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    staged.before = lambda batch: []
    staged_version(clusters)
    with pytest.raises(CommandError, match=r"^3 of 3 failed. The first, DEMO0000_0: The system returned no output"):
        generate(capsys, system="Staged")


def test_a_run_that_cannot_be_done_says_why(
    clusters: Project, staged: StagedBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    staged_version(clusters)
    staged.release = "2.0"
    with pytest.raises(CommandError, match=r"0 of 3 done. The run was stopped: The version was made with staged 1.0"):
        generate(capsys, system="Staged")


def test_the_same_system_at_another_level_is_another_version(
    clusters: Project, staged: StagedBackend, capsys: pytest.CaptureFixture[str]
) -> None:
    version = staged_version(clusters)
    with pytest.raises(CommandError, match=r"no target sentences, level sentence\. It has 3 clusters"):
        generate(capsys, system="Staged", level="sentence")
    assert [v.level for v in System.objects.get().versions.all()] == ["proposition"]
    make_version(system=version.system, config=version.config | {"level": "sentence"}, by=None)
    assert generate(capsys, system="Staged", level="proposition").endswith("3 of 3 done.\n")
    with pytest.raises(CommandError, match="Version 2 of Staged is for the level sentence, not proposition"):
        generate(capsys, system="Staged", level="proposition", number=2)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"system": "Nobody"}, "There is no system 'Nobody' in this project; "),
        ({"system": "Staged", "number": 7}, "Staged has no version 7."),
        ({"system": "Staged", "by": "who@example.org"}, "No user has the e-mail address 'who@example.org'."),
        ({"system": "Staged", "config": "missing.json"}, "missing.json cannot be read: No such file or directory."),
        ({"system": "Staged", "config": "broken.json"}, "broken.json is not valid JSON: "),
        ({"system": "Staged", "config": "list.json"}, "list.json must contain a JSON object."),
        ({"system": "New", "preset": "lead-9"}, "There is no preset 'lead-9'. Available: bart-xsum, "),
        (
            {"system": "New", "preset": "bart-cochrane"},
            "model.model: This value is required. Set it with --set model.model=",
        ),
        ({"system": "New", "preset": "bilstm"}, "model.file: This value is required. Set it with --outputs FILE"),
        ({"system": "New", "preset": "lead-3", "level": "document"}, "This project has no reviews (documents), level"),
        (
            {"system": "New", "preset": "lead-3", "changes": ["sentences"]},
            "--set sentences: expected SECTION.NAME=VALUE",
        ),
        ({"system": "New", "preset": "lead-3", "changes": ["decoding.x=1"]}, "decoding.x: Unknown parameter."),
        ({"system": "Staged", "changes": ["seed=1"]}, "--set requires --preset, --config or --outputs."),
        ({"system": "New", "config": "wrong.json"}, "decoding.sentences: "),
        ({"system": "Staged", "config": "wrong.json", "number": 1}, "--version selects an existing version; "),
    ],
)
def test_bad_input_is_one_clear_line(
    options: dict[str, Any],
    line: str,
    clusters: Project,
    staged: StagedBackend,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.json").write_text("{")
    Path("list.json").write_text("[]")
    Path("wrong.json").write_text(json.dumps(LEAD_1 | {"decoding": {"sentences": "three"}}))
    staged_version(clusters)
    if "config" in options:
        options = options | {"config": Path(options["config"])}
    with pytest.raises(CommandError) as refused:
        generate(capsys, **options)
    assert str(refused.value).startswith(line)
    assert "\n" not in str(refused.value)
    assert not Run.objects.exists()
    assert not System.objects.filter(name="New").exists()


def test_generate_refuses_an_unknown_project(db: None) -> None:
    with pytest.raises(CommandError, match="Unknown project 'nowhere'"):
        call_command("generate", project="nowhere", system="Lead-3")
