"""Released texts of writers, and their agreement recomputed from the release."""

import csv
import json
from pathlib import Path

import pytest

from accounts.models import User
from annotation.models import Question, WrittenSummary
from measures.recompute import agreement, written
from measures.recompute.files import Findings, Folder
from projects.agreement.serializers import WritingSerializer
from projects.gold.actions import finish_round
from projects.models import Member, Project, Unit
from projects.rounds.actions import close_round
from releases.folders.dictionary import table_of
from tests.annotation.test_write import PRIMARY, open_writing, people, write
from tests.releases.test_every_figure_again import lies_in, places, recompute_all, shape
from tests.releases.test_needed_again import released

__all__ = ["PRIMARY", "people"]
pytestmark = pytest.mark.django_db


def imported(project: Project, writer: str) -> None:
    """Create summaries of an imported writer, as a file with the names of writers would."""
    for question in Question.objects.filter(project=project):
        unit = Unit.objects.create(project=project, type="written summary", key=f"{question.key} {writer}")
        WrittenSummary.objects.create(
            question=question, form="abstractive", text=f"Spots are {writer} and flat.", writer=writer, unit=unit
        )


def test_texts_of_an_open_collection_stay_out_of_a_release(
    project: Project, people: list[Member], tmp_path: Path
) -> None:
    round = open_writing(project, people)
    write(round, people[0], words="a secret sentence")
    folder = released(project, tmp_path / "r")
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 5
    assert [path for path in files if b"a secret sentence" in path.read_bytes()] == []


@pytest.mark.parquet
def test_texts_and_figures_of_writers_are_released(
    project: Project, people: list[Member], lead: User, tmp_path: Path
) -> None:
    imported(project, "harmless")
    # Named like the pseudonym of a person.
    imported(project, "R1")
    round = open_writing(project, people)
    for number, person in enumerate(people):
        write(round, person, words=f"by {number}", nothing="3_Answer1" if number else "")
    close_round(round=round, by=lead)
    finish_round(round=round, by=lead)
    folder = released(project, tmp_path / "r")
    heard = recompute_all(folder)
    assert heard.equal[written.AGREEMENT] > 50
    [line] = [json.loads(line) for line in (folder / agreement.REPORTS).read_text().splitlines()]
    found = set(places(line["report"]["writing"]))
    promised = shape(WritingSerializer())
    assert [one for one in promised if not any(lies_in(a, one) or lies_in(one, a) for a in found)] == []

    figures = json.loads((folder / written.AGREEMENT).read_text())
    assert figures["writers"] == ["R1", "R1 (imported)", "R2", "harmless", "imported"]
    [of_all] = [row for row in figures["types"] if row["type"] == "all abstractive"]
    # Five writers of two questions.
    assert (of_all["pairs"], of_all["questions"]) == (20, 2)
    with (folder / written.SUMMARIES).open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    described = table_of(written.SUMMARIES)
    assert described
    assert list(rows[0]) == list(described.columns)
    nothing = [(row["passage"], row["writer"], row["written_text"]) for row in rows if row["status"] != "written"]
    assert nothing == [("3_Answer1", "R2", "")] * 2
    answers = (folder / "answers" / "write.csv").read_text(encoding="utf-8")
    assert "nothing relevant" in answers
    assert '"""' in answers, "chunks quote their passages"


def test_a_changed_text_is_found(project: Project, people: list[Member], tmp_path: Path) -> None:
    imported(project, "harmless")
    imported(project, "brown")
    folder = released(project, tmp_path / "r")
    path = folder / written.SUMMARIES
    path.write_text(path.read_text().replace("Spots are brown", "Spots are very brown"))
    findings = Findings()
    written.recompute(Folder(folder), findings)
    assert findings.differences
