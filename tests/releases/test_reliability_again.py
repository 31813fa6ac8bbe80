"""A release contains the candidates of a reliability study, and its table can be recomputed."""

import csv
import json
from pathlib import Path

import pytest

from accounts.models import User
from annotation.models import MatchCandidate
from annotation.reliability.queries import fields
from projects.models import Member, Project
from releases.folders.dictionary import table_of
from tests.annotation.test_reliability_study import begin, build_corpus, people, play
from tests.releases.recompute_runner import recompute
from tests.releases.test_again import cell, changed
from tests.releases.test_needed_again import released

pytestmark = pytest.mark.django_db
__all__ = ["people"]
CANDIDATES, STUDIES = "agreement/candidates.csv", "agreement/studies.jsonl"


@pytest.mark.parquet
def test_a_study_is_released_with_its_candidates_and_its_table_comes_out_again(
    project: Project, lead: User, people: list[Member], tmp_path: Path
) -> None:
    build_corpus(project, lead)
    study = begin(project, lead, people)
    open_yet = released(project, tmp_path / "open")
    assert not (open_yet / "agreement").exists(), "while people answer nothing tells which is gold"
    # The seed, which both rounds share, would reveal numbers and order of the candidates.
    told = [json.loads(line) for line in (open_yet / "rounds.jsonl").read_text(encoding="utf-8").splitlines()]
    of_study = [line for line in told if line["round"].startswith("Study")]
    assert {line["round"]: (line["seed"], line["options"], line["blind"]) for line in of_study} == {
        "Study: labels": (None, {}, True),
        "Study: matches": (None, {}, True),
    }
    assert not (open_yet / "answers" / "match.csv").exists()
    assert all("seed" not in line["sampling"] for line in of_study)
    play(study, people, lead)
    folder = released(project, tmp_path / "r")
    assert study.matches is not None

    rows = list(csv.DictReader((folder / CANDIDATES).open(encoding="utf-8", newline="")))
    assert len(rows) == 12
    assert {row["unit"]: row["number"] for row in rows if row["gold"] == "true"} == {
        key: str(position)
        for key, position in MatchCandidate.objects.filter(is_gold=True).values_list("item__unit__key", "position")
    }
    assert all(row["text"] and row["sentence"] and row["study"] and row["target"] for row in rows)
    # Accuracy as anybody can compute it from the two files.
    gold = {(row["unit"], row["number"]) for row in rows if row["gold"] == "true"}
    said = list(csv.DictReader((folder / "answers" / "match.csv").open(encoding="utf-8", newline="")))
    [matched] = fields(study.matches)
    assert sum((row["unit"], row["most_relevant"]) in gold for row in said) / len(said) == matched.accuracy.value

    lines = [json.loads(line) for line in (folder / STUDIES).read_text(encoding="utf-8").splitlines()]
    assert [(line["round"], [f["name"] for f in line["fields"]]) for line in lines] == [
        ("Study: labels", ["polarity", "modality"]),
        ("Study: matches", ["most_relevant"]),
    ]
    for path, columns in ((CANDIDATES, rows[0]), (STUDIES, lines[0])):
        table = table_of(path)
        assert table is not None
        assert set(table.columns) == set(columns)

    status, out, _ = recompute(folder)
    assert status == 0, out
    assert f"{STUDIES}: " in out
    first = next(n for n, row in enumerate(rows) if row["gold"] == "true")
    other = next(n for n, row in enumerate(said) if (row["unit"], row["most_relevant"]) in gold)
    wrong = str(int(said[other]["most_relevant"]) % 4 + 1)
    for name, change, place in (
        (CANDIDATES, cell(first, "gold", "false"), "agreement/gold.csv: round Study: matches, most_relevant: "),
        (CANDIDATES, cell(first, "rank", "3" if rows[first]["rank"] == "1" else "1"), "most_relevant, ranker"),
        ("answers/match.csv", cell(other, "most_relevant", wrong), "most_relevant, accuracy"),
        (STUDIES, lambda text: text.replace('"chance": 0.25', '"chance": 0.5', 1), "polarity, chance"),
    ):
        copy = changed(folder, tmp_path / f"altered {place[:40]} {name[-6:]}".replace("/", " "), name, change)
        status, out, _ = recompute(copy)
        assert (status, place in out) == (1, True), (name, out)
