"""M3's Table 2 beside the figures of the paper."""

from pathlib import Path

import pytest

from annotation.corpus.tables import LevelData, M3LevelsTable
from projects.models import Project
from projects.stored_figures.actions import bring_up_to_date
from projects.uploads.files import Source
from tests.annotation.m3_files import LEVEL3, cluster, import_records, published, write

pytestmark = pytest.mark.django_db


@published
def test_level_3_stands_beside_the_paper_with_the_reason_of_the_difference(project: Project) -> None:
    import_records(project, Source.of(LEVEL3))
    bring_up_to_date(project)
    table = M3LevelsTable().build(LevelData(project))
    [row] = table.rows
    assert [cell.value for cell in row[:5]] == ["3, propositions", 381, 369, 1911, 1899]
    assert [round(float(cell.value or 0), 2) for cell in row[5:]] == [5.02, 5.1, 6.09, 6.2]
    assert table.notes[0].startswith("The published file of level 3 has 381 targets and 1,911 inputs, 12 of each more")


def test_another_corpus_is_not_taken_for_the_published_one(project: Project, tmp_path: Path) -> None:
    import_records(project, write(tmp_path / "level3.jsonl", [cluster()]))
    bring_up_to_date(project)
    data = LevelData(project)
    assert M3LevelsTable().is_of(data)
    assert M3LevelsTable().build(data).notes[0].startswith("Level 3, propositions: this project does not have exactly")
