"""Rows on whose state a writer relies, kept as they are until its transaction ends (docs/decisions/0021)."""

from typing import Any

from django.db.models import Exists, QuerySet


class Held(Exists):
    """A condition on a statement: there is such a row, as it stands now and until the transaction ends.

    PostgreSQL locks the row, waits for whoever is changing it, and then looks at it again, which it does not do for an
    ordinary subquery. ``SHARE``: many may rely on it at once, and who changes it waits for them all. ``NO KEY UPDATE``:
    one after the other. On SQLite a transaction that writes is alone from its beginning (the settings say IMMEDIATE),
    so there is nothing to lock.
    """

    def __init__(self, rows: QuerySet[Any], *, lock: str = "SHARE") -> None:
        super().__init__(rows, template=f"EXISTS(%(subquery)s FOR {lock})")

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template=Exists.template, **context)
