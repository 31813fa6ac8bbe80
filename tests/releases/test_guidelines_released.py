"""A release says what a version of a guideline concerned, and how many units were revisited and changed."""

import json
from pathlib import Path

import pytest

from accounts.models import User
from projects.models import Member, Project
from tests.projects.test_concerns import CLARIFIED, MODERATE, STRONG, WEAK, Fixture
from tests.releases.test_needed_again import released

pytestmark = pytest.mark.django_db


def test_revisited_and_changed_units_are_released_by_version(
    project: Project, ann1: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Fixture(project, [Member.objects.get(user=ann1)])
    made.round("first", "a", {"one": [WEAK], "two": [WEAK], "three": [WEAK], "four": [STRONG]}, people=1)
    assert not (released(project, tmp_path / "without") / "guidelines.jsonl").exists()
    made.write(**CLARIFIED)
    values = {"one": [MODERATE], "two": [WEAK], "three": [WEAK], "four": [STRONG]}
    plan = {"purpose": "review and correct", "filters": {"guideline_version": 2}}
    made.round("again", "a", values, people=1, **plan)  # type: ignore[arg-type]
    made.unit("a", "five")
    monkeypatch.setattr("releases.methods.facts.guidelines.figures", None)  # The methods text uses those of the file.
    folder = released(project, tmp_path / "with")
    lines = [json.loads(line) for line in (folder / "guidelines.jsonl").read_text().splitlines()]
    assert [(line["version"], line["scope"], line["concerned"]) for line in lines] == [
        (1, None, None),
        (2, "values", 3),
    ]
    second = lines[1]
    assert (second["reason"], second["concerns"]) == ("May is weak.", [{"field": "modality", "values": ["weak"]}])
    assert (second["revisited"], second["changed"]) == (3, 1)
    assert second["changes"] == [{"field": "modality", "before": "weak", "after": "moderate", "units": 1}]
    assert second["left"] == {"units": 0, "current": 0, "answered": 0}
    rounds = [json.loads(line) for line in (folder / "rounds.jsonl").read_text().splitlines()]
    [again] = [line for line in rounds if line["round"] == "again"]
    assert (again["units"], again["sampling"]["guideline_change"]["version"]) == (3, 2)
