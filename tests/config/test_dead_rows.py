"""Dead rows are removed from PostgreSQL between tests."""

import pytest
from django.contrib.contenttypes.models import ContentType
from django.db import connection, transaction

from projects.models import Project
from tests import dead_rows

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite leaves nothing of what is rolled back"),
]


def size() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_relation_size('projects_project')")
        return int(cursor.fetchone()[0])


def test_dead_rows_are_removed_but_rows_of_migrations_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    with transaction.atomic():
        Project.objects.create(slug="eye", name="Eye")
        transaction.set_rollback(True)
    types = ContentType.objects.count()
    assert size() > 0
    monkeypatch.setattr(dead_rows, "MOST", 0)
    assert dead_rows.emptied()
    assert (size(), ContentType.objects.count()) == (0, types)
    assert types > 0


def test_existing_rows_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Project.objects.create(slug="eye", name="Eye")
    monkeypatch.setattr(dead_rows, "MOST", 0)
    assert not dead_rows.emptied()
    assert list(Project.objects.all()) == [kept]
