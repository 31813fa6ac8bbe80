"""An expression that prevents PostgreSQL from using an index."""

from typing import Any

from django.db.models import Func


class Unindexed(Func):
    """The value of an integer column, which PostgreSQL cannot read in index order.

    Without table statistics, PostgreSQL scans the primary key to find the first of a few rows. SQLite does not, and
    uses the index of the other columns.
    """

    arity = 1
    template = "(%(expressions)s + 0)"

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return self.as_sql(compiler, connection, template="%(expressions)s", **extra)
