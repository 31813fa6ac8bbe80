"""A release contains the results of correction rounds and everything that they are computed from."""

import csv
import json
from pathlib import Path

import pytest

from accounts.models import User
from measures.recompute import agreement
from measures.recompute.files import Findings, Folder
from projects.models import Member, Project
from releases.folders.dictionary import table_of
from tests.builders import build_round
from tests.projects.test_review_and_correct import finished, review, settled
from tests.releases.test_needed_again import released

pytestmark = [pytest.mark.django_db, pytest.mark.long]


@pytest.fixture
def folder(project: Project, lead: User, ann1: User, ann2: User, tmp_path: Path) -> Path:
    people = [Member.objects.get(project=project, user=user) for user in (lead, ann1, ann2)]
    settled(project, people[0], 10, 3)
    round = build_round(project, people[1:], purpose="review and correct", overlap=2)
    for person in people[1:]:
        review(round, person)
    finished(round)
    return released(project, tmp_path / "release")


def recompute_all(folder: Path) -> Findings:
    findings = Findings()
    agreement.recompute_corrections(Folder(folder), findings)
    return findings


def test_every_column_of_its_files_is_described(folder: Path) -> None:
    for path, columns in (
        (agreement.REFERENCES, {"answer", "field", "same"}),
        ("agreement/shown/label.csv", {"answer", "polarity", "modality"}),
    ):
        table = table_of(path)
        assert table
        with (folder / path).open(newline="", encoding="utf-8") as file:
            found = set(next(csv.reader(file)))
        assert columns <= found
        assert found == set(table.columns) or table.others


def test_the_corrections_of_a_round_are_released_and_come_out_as_printed(folder: Path) -> None:
    [line] = [
        json.loads(row) for row in (folder / agreement.CORRECTION_REPORTS).read_text(encoding="utf-8").splitlines()
    ]
    assert (line["report"]["reviewed"], line["report"]["corrected"]) == (20, 6)
    assert "not independent" in line["report"]["note"]
    with (folder / line["shown"]).open(newline="", encoding="utf-8") as file:
        assert {row["polarity"] for row in csv.DictReader(file)} == {"positive", "no effect"}
    findings = recompute_all(folder)
    assert (findings.differences, findings.not_recomputed) == ([], [])
    assert findings.equal[agreement.CORRECTION_REPORTS] > 15


@pytest.mark.parametrize(
    ("file", "was", "is_now"),
    [
        ("agreement/references.csv", ",polarity,false", ",polarity,true"),
        ("agreement/shown/label.csv", ",positive,", ",no effect,"),
    ],
)
def test_a_cell_that_was_changed_is_found(folder: Path, file: str, was: str, is_now: str) -> None:
    path = folder / file
    text = path.read_text(encoding="utf-8")
    assert was in text
    path.write_text(text.replace(was, is_now), encoding="utf-8")
    assert recompute_all(folder).differences
