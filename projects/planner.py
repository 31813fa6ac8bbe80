"""What PostgreSQL's planner knows of tables that have just grown."""

from django.db import connection, models


def look_anew(*tables: type[models.Model]) -> None:
    """Have the planner look at these tables now. It plans by what it saw last, which may be an empty table; autovacuum
    comes minutes later, or never where it is off. SQLite plans by its indexes alone."""
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"ANALYZE {connection.ops.quote_name(table._meta.db_table)}")
