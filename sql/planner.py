"""Table statistics of PostgreSQL's planner after bulk inserts, and queries that do not depend on them.

The planner uses statistics that may describe an empty table. Autovacuum updates them minutes later, or never if it is
disabled. Code that inserts many rows therefore runs ANALYZE after its transaction. SQLite plans by its indexes only.
"""

from collections.abc import Iterable
from typing import Any

from django.db import connection, models, transaction
from django.db.models import Func, IntegerField, Q, QuerySet, Subquery, Value
from django.db.models.lookups import IsNull

#: Minimum growth in pages of 8 kB. With less growth a table is small, or its statistics are still good.
FEW = 16
#: Relative growth after which a table is analyzed again. A table that was analyzed during its first bulk insert has
#: pages but no visible rows, so the statistics of its pages are ignored.
SHARE = 0.2
GROWN = """
    SELECT relname FROM pg_class WHERE relname = ANY(%s) AND relkind = 'r'
    AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
    AND pg_relation_size(oid) / current_setting('block_size')::bigint
        > CASE WHEN reltuples > 0 THEN relpages * (1 + %s) ELSE 0 END + %s
"""
Table = type[models.Model]


def analyze_tables(*tables: Table) -> None:
    """Run ANALYZE on these tables now."""
    if connection.vendor == "postgresql":
        _analyze(table._meta.db_table for table in tables)


def analyze_grown_tables(*tables: Table) -> None:
    """Run ANALYZE on tables that have grown much since the last time, after the current transaction commits.

    Costs one short query if no table has grown.
    """
    if connection.vendor == "postgresql":
        names = [table._meta.db_table for table in tables]
        # robust=True, because an error in ANALYZE must not affect the committed data.
        transaction.on_commit(lambda: _analyze(_grown_tables(names)), robust=True)


def dependents_of(model: Table) -> list[Table]:
    """Return a model and all models that refer to it, directly or indirectly."""
    models_found: list[Table] = [model]
    for table in models_found:
        referring = (relation.related_model for relation in table._meta.related_objects)
        models_found += [other for other in referring if isinstance(other, type) and other not in models_found]
    return models_found


def _grown_tables(names: list[str]) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(GROWN, [names, SHARE, FEW])
        return [name for (name,) in cursor.fetchall()]


def _analyze(names: Iterable[str]) -> None:
    with connection.cursor() as cursor:
        for name in names:
            cursor.execute(f"ANALYZE {connection.ops.quote_name(name)}")


def count_subquery(rows: QuerySet[Any]) -> Subquery:
    """Return the number of rows as a subquery with `OuterRef`.

    An aggregate over all outer rows would be a join of both tables. A COUNT of rows in an index, without GROUP BY, is
    fast. As a condition ("more than 0") it is evaluated row by row, whatever statistics PostgreSQL has. EXISTS may
    become a join, and LIMIT may use the wrong index.
    """
    whole = Func(function="COUNT", template="%(function)s(*)", output_field=IntegerField())
    return Subquery(rows.order_by().annotate(n=whole).values("n"))


def exists_row(rows: QuerySet[Any]) -> Q:
    """Return the condition that a subquery has a row. Evaluation stops at the first row.

    Use it for rows of one table, by indexed columns and plain values. With a join, LIMIT makes PostgreSQL use the wrong
    index.
    """
    return Q(IsNull(Subquery(rows.order_by().values(one=Value(1))[:1], output_field=IntegerField()), False))
