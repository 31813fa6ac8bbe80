"""Search for a part of a text: a lookup, and the indexes that serve it on PostgreSQL."""

from collections.abc import Mapping
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import CharField, Q, TextField
from django.db.models.lookups import IContains

EXTENSION = "pg_trgm"
#: The planner avoids an index with many rows that are not sorted in yet (in kB), as after an import.
PENDING = "gin_pending_list_limit = 256"
NOT_INDEXED = (
    f"PostgreSQL's extension {EXTENSION} cannot be created by this account, so searches read all texts. "
    f"Create it (CREATE EXTENSION {EXTENSION}), then run migrate again."
)


@CharField.register_lookup
@TextField.register_lookup
class Matching(IContains):
    """Like ``icontains``, but PostgreSQL can use an index of `create_indexes`.

    Django compares texts in capital letters there. Texts are mostly lower case already.
    """

    lookup_name = "matching"

    def as_postgresql(self, compiler: Any, connection: BaseDatabaseWrapper) -> tuple[str, list[Any]]:
        left, left_params = compiler.compile(self.lhs)
        right, right_params = self.process_rhs(compiler, connection)
        return f"LOWER({left}) LIKE LOWER({right})", [*left_params, *right_params]

    def as_sqlite(self, compiler: Any, connection: BaseDatabaseWrapper) -> tuple[str, Any]:
        return IContains(self.lhs, self.rhs).as_sql(compiler, connection)


def contains(field: str, words: str) -> Q:
    """Return a condition: a text has the words as a part, in upper or lower case."""
    return Q(**{f"{field}__matching": words})


def create_indexes(connection: BaseDatabaseWrapper, indexes: Mapping[str, tuple[str, tuple[str, ...]]]) -> str:
    """Create missing trigram indexes on PostgreSQL, and return a note if they cannot be created.

    ``indexes``: table and columns by the name of the index. Django's own indexes cannot depend on an extension.
    """
    if connection.vendor != "postgresql":
        return ""
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_class WHERE relname = ANY(%s) AND relkind = 'i'", [list(indexes)])
        known = {name for (name,) in cursor.fetchall()}
        missing = {name: index for name, index in indexes.items() if name not in known}
        if not missing:
            return ""
        if not _has_extension(cursor):
            return NOT_INDEXED
        for name, (table, columns) in missing.items():
            cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [table])
            if cursor.fetchone()[0]:  # after migrating backwards there is none
                parts = ", ".join(f"lower({column}) gin_trgm_ops" for column in columns)
                cursor.execute(f"CREATE INDEX IF NOT EXISTS {name} ON {table} USING gin ({parts}) WITH ({PENDING})")
                # Without statistics of these expressions, the planner reads all matches of a frequent word.
                cursor.execute(f"ANALYZE {table}")
    return ""


def _has_extension(cursor: Any) -> bool:
    """Create the extension if the account may. It is trusted, so the right to create schemas is enough."""
    cursor.execute("SELECT EXISTS (SELECT FROM pg_extension WHERE extname = %s)", [EXTENSION])
    if cursor.fetchone()[0]:
        return True
    cursor.execute(
        "SELECT EXISTS (SELECT FROM pg_available_extension_versions WHERE name = %s AND trusted)"
        " AND has_database_privilege(current_database(), 'CREATE')",
        [EXTENSION],
    )
    if not cursor.fetchone()[0]:
        return False
    cursor.execute(f"CREATE EXTENSION IF NOT EXISTS {EXTENSION}")
    return True
