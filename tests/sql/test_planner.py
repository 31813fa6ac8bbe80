"""After bulk inserts the writer updates PostgreSQL's statistics; otherwise it plans for empty tables."""

from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from annotation.models import Cue, CueFragment, Label, Proposition, TupleFragment
from generation.models import RunItem, Summary
from generation.runs.chunks import create_items
from projects.models import Answer, Project, Unit
from sql import planner
from tests.annotation.m3_files import cluster, import_records, source, write
from tests.builders import build_cluster
from tests.generation.builders import build_run, build_version

pytestmark = pytest.mark.django_db
on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite plans by its indexes alone")


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> set[Any]:
    """The tables reported as grown."""
    found: set[Any] = set()
    monkeypatch.setattr(planner, "analyze_grown_tables", lambda *tables: found.update(tables))
    return found


def test_dependents_of_a_row_are_known() -> None:
    hanging = planner.dependents_of(Answer)
    assert {Answer, Label, Cue, CueFragment, TupleFragment} <= set(hanging)
    assert len(hanging) == len(set(hanging))
    assert Summary in planner.dependents_of(RunItem)


def test_an_import_updates_planner_statistics(project: Project, tmp_path: Path, told: set[Any]) -> None:
    import_records(project, write(tmp_path / "level3.jsonl", [cluster("26258610_0", [source(), source(pmid="112")])]))
    assert {Unit, Proposition, Label} <= told


def test_creating_run_items_updates_planner_statistics(project: Project, told: set[Any]) -> None:
    build_cluster(project)
    run = build_run(build_version(project), {})
    type(run).objects.filter(pk=run.pk).update(item_offset=[-1, 0], status="running")
    create_items(run)
    assert RunItem in told


@on_postgresql
@pytest.mark.django_db(transaction=True)
def test_only_tables_that_have_grown_by_much_are_looked_at(project: Project) -> None:
    def store(n: int, start: int) -> list[str]:
        with CaptureQueriesContext(connection) as seen, transaction.atomic():
            Unit.objects.bulk_create(Unit(project=project, type="t", key=f"{start + i}") for i in range(n))
            planner.analyze_grown_tables(Unit, Answer)
            assert not [q for q in seen.captured_queries if q["sql"].startswith("ANALYZE")]
        return [q["sql"] for q in seen.captured_queries if q["sql"].startswith("ANALYZE")]

    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE projects_unit SET (autovacuum_enabled = off)")
        cursor.execute("VACUUM ANALYZE projects_unit, projects_answer")  # earlier tests left pages
    assert store(10, 0) == []
    assert store(5_000, 10) == ['ANALYZE "projects_unit"']
    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples FROM pg_class WHERE relname = 'projects_unit'")
        assert cursor.fetchone()[0] == Unit.objects.count()
    assert store(500, 10_000) == []
    assert store(3_000, 20_000) == ['ANALYZE "projects_unit"']
    with connection.cursor() as cursor:  # as after an ANALYZE before the rows were committed
        cursor.execute("UPDATE pg_class SET reltuples = 0 WHERE relname = 'projects_unit'")
    assert store(10, 30_000) == ['ANALYZE "projects_unit"']
    assert store(10, 40_000) == []


@on_postgresql
@pytest.mark.django_db(transaction=True)
def test_stored_rows_are_kept_if_analyze_fails(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "GROWN", "SELECT nothing FROM nowhere WHERE %s = %s OR %s")
    with transaction.atomic():
        Unit.objects.create(project=project, type="t", key="1")
        planner.analyze_grown_tables(Unit)
    assert Unit.objects.filter(key="1").exists()
