"""A release contains the suggestions that closed rounds showed, and what people made of them."""

import csv
import json
from pathlib import Path

import pytest

from accounts.models import User
from projects.gold.actions import finish_round
from projects.models import Member, Project
from projects.rounds.actions import close_round
from releases.folders.dictionary import table_of
from tests.projects.test_suggestions import build_suggestions, open_with, work
from tests.releases.test_needed_again import released

pytestmark = pytest.mark.django_db


def test_sets_values_outcomes_and_figures_are_released_and_the_origin_names_suggestions(
    project: Project, ann1: User, tmp_path: Path
) -> None:
    person = Member.objects.get(project=project, user=ann1)
    round = open_with(project, [person], build_suggestions(project, 2))
    counts = work(round, person)
    close_round(round=round, by=None)
    finish_round(round=round, by=None)
    folder = released(project, tmp_path / "release")
    [one] = [json.loads(line) for line in (folder / "suggestions/sets.jsonl").read_text().splitlines()]
    assert (one["set"], one["model"], one["source"]) == ("Tiny 1", "tiny", "file")
    with (folder / "suggestions/values/label.csv").open() as file:
        assert {row["polarity"] for row in csv.DictReader(file)} == {"positive"}
    with (folder / "suggestions/outcomes.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len({row["answer"] for row in rows}) == 8
    assert sum(row["shown"] == "true" for row in rows) == 4 * counts[True]
    [report] = [json.loads(line)["report"] for line in (folder / "suggestions/reports.jsonl").read_text().splitlines()]
    assert (report["shown"], report["blind"]) == (counts[True], counts[False])
    assert not (folder / "agreement/corrections.jsonl").exists()
    for path in folder.glob("suggestions/**/*.*"):
        assert table_of(str(path.relative_to(folder))), path
    nodes = [
        json.loads(line.rstrip(",\n")) for line in (folder / "provenance/prov.jsonld").open() if '"@id"' in line[:8]
    ]
    assisted = [node for node in nodes if "concord:suggestion" in node]
    answers = [node for node in assisted if node["concord:what"] == "answered"]
    assert len(answers) == counts[True]
    assert len(assisted) > len(answers), "decisions that adopt such an answer say so, too"
    assert {(n["concord:suggestion"], n["concord:suggested_by"]) for n in assisted} == {("accepted", "Tiny 1 (tiny)")}
    assert "the model tiny (suggestions “Tiny 1”" in (folder / "methods.md").read_text()
