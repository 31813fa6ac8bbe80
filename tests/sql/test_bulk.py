"""Rows that are prepared before their transaction are stored as they were given, whatever their number."""

from contextlib import suppress

import pytest
from django.db import connection

from projects.models import Project, Unit
from sql.bulk import CACHED, PER_INSERT, BulkWriter, large_page_cache

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


@pytest.mark.skipif(connection.vendor != "sqlite", reason="The page cache is SQLite's.")
def test_an_import_returns_the_page_cache_of_its_connection() -> None:
    def size() -> int:
        with connection.cursor() as cursor:
            found: int = cursor.execute("PRAGMA cache_size").fetchone()[0]
            return found

    before = size()
    with suppress(RuntimeError), large_page_cache():
        assert size() == -CACHED
        raise RuntimeError
    assert size() == before
