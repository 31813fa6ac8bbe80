"""Database URLs, expressions and conditions for queries, and text normalisation for search."""

import json
import unicodedata
from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from typing import Any
from urllib.parse import quote, urlencode

from django.db import connection
from django.db.models import BooleanField, CharField, DateField, Exists, Func, QuerySet


def database_url(name: str) -> str:
    """Return the DATABASE_URL of another database on the connected server, with account and options (``sslmode``)."""
    settings = connection.settings_dict
    credentials = quote(settings["USER"] or "", safe="") + (
        f":{quote(settings['PASSWORD'], safe='')}" if settings["PASSWORD"] else ""
    )
    host, port = settings["HOST"] or "", settings["PORT"]
    options = {key: value for key, value in settings["OPTIONS"].items() if isinstance(value, str | int)}
    # The path of a Unix socket is not a host name, so pass it as a parameter, as PostgreSQL's own programs do.
    if host.startswith("/"):
        options |= {"host": host} | ({"port": port} if port else {})
        host, port = "", ""
    query = f"?{urlencode(options)}" if options else ""
    server = f"{credentials}{'@' if credentials else ''}{host}{f':{port}' if port else ''}"
    return f"postgres://{server}/{quote(name, safe='')}{query}"


class UtcDay(Func):
    """The UTC day of a timestamp. The settings use no other time zone."""

    output_field = DateField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> tuple[str, Any]:
        # Timestamps are stored as text in UTC.
        return super().as_sql(compiler, connection, template="SUBSTR(%(expressions)s, 1, 10)", **context)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> tuple[str, Any]:
        return super().as_sql(compiler, connection, template="(%(expressions)s AT TIME ZONE 'UTC')::date", **context)


class Sha256(Func):
    """The SHA-256 of a text in UTF-8, in hexadecimal. Django's own needs an extension of PostgreSQL."""

    function = "SHA256"
    output_field = CharField()

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> tuple[str, Any]:
        template = "ENCODE(SHA256(CONVERT_TO(%(expressions)s, 'UTF8')), 'hex')"
        return super().as_sql(compiler, connection, template=template, **context)


class InIds(Func):
    """The condition that an id is one of a list, which is one parameter of the statement, however long it is."""

    output_field = BooleanField()

    def __init__(self, expression: Any, ids: Iterable[int]) -> None:
        super().__init__(expression)
        self.ids = list(ids)

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> tuple[str, Any]:
        id, parameters = compiler.compile(self.source_expressions[0])
        return f"{id} IN (SELECT value FROM json_each(%s))", [*parameters, json.dumps(self.ids)]

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> tuple[str, Any]:
        id, parameters = compiler.compile(self.source_expressions[0])
        # With the cast, PostgreSQL looks ids up in a hash table. The driver sends small numbers as smallint, and such a
        # list is searched from its start.
        return f"{id} = ANY(%s::bigint[])", [*parameters, self.ids]


def first_moment(day: date) -> datetime:
    """Return the earliest timestamp of a UTC day."""
    return datetime.combine(day, time.min, UTC)


def last_moment(day: date) -> datetime:
    """Return the latest timestamp of a UTC day, in the microsecond precision of the databases."""
    return datetime.combine(day, time.max, UTC)


class LockedExists(Exists):
    """A condition on a statement: a row exists, and is locked until the transaction ends.

    PostgreSQL locks the row, waits for concurrent changes, and then checks the row again, which it does not do for an
    ordinary subquery. With ``SHARE``, several transactions can rely on the row at once, and a change waits for all of
    them. With ``NO KEY UPDATE``, they run one after the other. SQLite needs no lock, because a writing transaction is
    exclusive from its start (the settings use IMMEDIATE).
    """

    def __init__(self, rows: QuerySet[Any], *, lock: str = "SHARE") -> None:
        super().__init__(rows, template=f"EXISTS(%(subquery)s FOR {lock})")

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template=Exists.template, **context)


def fold_case(*texts: str) -> str:
    """Join texts by line feeds, normalised to NFKC and case-folded. Used for searching only.

    The databases treat the case of non-ASCII letters differently, and "é" may be one code point or two.
    """
    return unicodedata.normalize("NFKC", "\n".join(texts)).casefold()
