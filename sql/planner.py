"""What PostgreSQL's planner knows of tables that have just grown.

It plans by what it saw last, which may be an empty table; autovacuum comes minutes later, or never where it is off. So
whoever has stored many rows at once has it look again, after the transaction that stored them. SQLite plans by its
indexes alone.
"""

from collections.abc import Iterable

from django.db import connection, models, transaction

#: Pages of 8 kB: a table that has grown by fewer is small, or hardly another than the planner knows.
FEW = 16
#: How much a table may grow before it is looked at again. One that was looked at in the middle of its first bulk insert
#: has pages and, as far as that could see, no rows: it is looked at whatever its pages.
SHARE = 0.2
GROWN = """
    SELECT relname FROM pg_class WHERE relname = ANY(%s) AND relkind = 'r'
    AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
    AND pg_relation_size(oid) / current_setting('block_size')::bigint
        > CASE WHEN reltuples > 0 THEN relpages * (1 + %s) ELSE 0 END + %s
"""
Table = type[models.Model]


def look_anew(*tables: Table) -> None:
    """Have the planner look at these tables now."""
    if connection.vendor == "postgresql":
        _analyze(table._meta.db_table for table in tables)


def look_at_grown(*tables: Table) -> None:
    """Have the planner look at those of these tables that have grown by much since it last did: once the transaction
    of this moment is committed. It costs one short query where none has."""
    if connection.vendor == "postgresql":
        names = [table._meta.db_table for table in tables]
        # Robust: what was stored stays stored, whatever comes of this.
        transaction.on_commit(lambda: _analyze(_grown(names)), robust=True)


def hanging_on(model: Table) -> list[Table]:
    """A model with those that refer to its rows, and so on: what is stored with one of them."""
    found: list[Table] = [model]
    for table in found:
        more = (relation.related_model for relation in table._meta.related_objects)
        found += [other for other in more if isinstance(other, type) and other not in found]
    return found


def _grown(names: list[str]) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(GROWN, [names, SHARE, FEW])
        return [name for (name,) in cursor.fetchall()]


def _analyze(names: Iterable[str]) -> None:
    with connection.cursor() as cursor:
        for name in names:
            cursor.execute(f"ANALYZE {connection.ops.quote_name(name)}")
