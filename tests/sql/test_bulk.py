"""Rows that are prepared before their transaction are stored as they were given, whatever their number."""

from contextlib import suppress

import pytest
from django.db import connection, transaction

from projects.models import Project, Unit
from sql.bulk import CACHED, PER_INSERT, BulkWriter, resumable_batches

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("count", [1, PER_INSERT - 1, PER_INSERT, PER_INSERT + 1, 3 * PER_INSERT, 3 * PER_INSERT + 7])
def test_rows_of_several_inserts_keep_their_ids_and_values(count: int) -> None:
    project = Project.objects.create(slug="bulk", name="Bulk")
    rows = BulkWriter()
    keys = [f"100% of '{n}'" for n in range(count)]
    ids = rows.add_columns(Unit, count, project_id=project.pk, type="it's 100%", key=keys, position=list(range(count)))
    added = rows.add(Unit(project=project, type="instances", key=key) for key in keys)
    rows.write()
    stored = Unit.objects.filter(project=project, type="it's 100%").order_by("position")
    assert list(stored.values_list("pk", "key")) == list(zip(ids, keys, strict=True))
    instances = Unit.objects.filter(project=project, type="instances").in_bulk()
    assert [instances[row.pk].key for row in added] == keys


@pytest.mark.skipif(connection.vendor != "sqlite", reason="The settings are SQLite's.")
@pytest.mark.django_db(transaction=True)
def test_an_import_restores_the_settings_of_its_connection() -> None:
    def settings() -> list[int]:
        with connection.cursor() as cursor:
            names = ("cache_size", "synchronous")
            return [cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

    before = settings()
    with suppress(RuntimeError), resumable_batches():
        assert settings() == [-CACHED, 1]
        raise RuntimeError
    assert settings() == before
    with transaction.atomic(), resumable_batches():
        assert settings() == before
