"""The address of a data base as a DATABASE_URL writes it."""

from urllib.parse import quote, urlencode

from django.db import connection


def of(name: str) -> str:
    """A data base on the server that is connected to: its account and its safeguards (``sslmode`` and so on), too."""
    given = connection.settings_dict
    who = quote(given["USER"] or "", safe="") + (f":{quote(given['PASSWORD'], safe='')}" if given["PASSWORD"] else "")
    host, port = given["HOST"] or "", given["PORT"]
    said = {key: value for key, value in given["OPTIONS"].items() if isinstance(value, str | int)}
    # The path of a socket is no name of a host: it is told as PostgreSQL's own programs are.
    if host.startswith("/"):
        said |= {"host": host} | ({"port": port} if port else {})
        host, port = "", ""
    query = f"?{urlencode(said)}" if said else ""
    return f"postgres://{who}{'@' if who else ''}{host}{f':{port}' if port else ''}/{quote(name, safe='')}{query}"
