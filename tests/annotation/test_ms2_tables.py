"""Tables of MS^2's data: counted by hand on a small corpus, and compared with the published sample."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from annotation.readings.tables import DirectionTable, ReadingData, SizeTable, YearTable
from projects.models import Project
from projects.people.actions import create_project
from projects.reports.registry import ReportTable
from projects.reports.table import Table
from projects.stored_figures.actions import compute_and_store
from projects.uploads.files import Source
from tests.annotation import ms2_files
from tests.annotation.ms2_files import effect, import_records, reference, review, study, write

pytestmark = pytest.mark.django_db
TABLES: Sequence[ReportTable[ReadingData]] = (SizeTable(), DirectionTable(), YearTable())


def build(*sources: Source) -> tuple[Project, list[Table]]:
    project = create_project(slug="ms2", name="MS^2", by=None)
    import_records(project, *sources)
    compute_and_store(project=project)
    return project, [table.build(ReadingData(project)) for table in TABLES]


def values(table: Table) -> list[list[object]]:
    return [[cell.count if cell.count is not None else cell.value for cell in row] for row in table.rows]


def test_tables_count_what_the_files_say(tmp_path: Path) -> None:
    evidence = "Adults had less pain ."
    opposite = [effect("drug a", "pain", evidence, 2, score=0.01), effect("drug a", "death", evidence, 1)]
    many = [study(reference(str(100 + n), significances=opposite)) for n in range(27)]
    undated = reference("31", metadata={"YEAR": None, "SO": None, "AU": []})
    records = [review(7), review(8, included_studies=many, general_references=[undated])]
    project, [sizes, directions, years] = build(write(tmp_path / "a.jsonl", records))
    assert values(sizes) == [
        ["Included studies", 2, 14.0, 14.0, 1, 27],
        ["Input tokens", 2, 70.0, 70.0, 5, 135],
        ["Input tokens, first 25 studies", 2, 65.0, 65.0, 5, 125],
        ["Spans: population", 2, 1.0, 1.0, 1, 1],
        ["Spans: intervention", 2, 2.0, 2.0, 2, 2],
        ["Spans: outcome", 2, 4.0, 4.0, 4, 4],
    ]
    assert values(directions) == [
        ["reviews", 4, 0, 4, 0, 0],
        ["included studies", 56, 1, 28, 27, 27],
        ["general references", 4, 2, 2, 0, 0],
    ]
    assert any("28 of 56 effects of included studies (50.0%)" in note for note in directions.notes)
    assert values(years) == [["2004", 0, 28], ["year unknown", 2, 0]]
    [figure] = YearTable().figures(ReadingData(project))
    assert figure.description == "Studies: 2004: 28"
    assert "Year unknown: reviews 2." in figure.note


@ms2_files.published
def test_the_sample_agrees_with_its_studies_as_published() -> None:
    _, [sizes, directions, years] = build(Source.of(ms2_files.SAMPLE))
    assert values(sizes)[0][2] == 20
    assert [row[2] for row in values(sizes)[3:]] == [6, 5, 13]
    assert [row[1] for row in values(directions)] == [27, 540, 378]
    assert any("293 of 540" in note for note in directions.notes)
    assert values(years)[-1] == ["year unknown", 1, 0]


def test_a_project_without_readings_has_no_such_tables(project: Project) -> None:
    compute_and_store(project=project)
    assert not any(table.is_of(ReadingData(project)) for table in TABLES)
