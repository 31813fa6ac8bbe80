"""Unknown charsets and compressing codecs are refused. Such requests end their connection, so these tests share no
rows.
"""

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from accounts.actions import make_token
from accounts.models import User
from config.wsgi import application
from tests.config.routes import API

PROBLEM = "application/problem+json"


@pytest.mark.row(49)
@pytest.mark.parametrize("query", ["", "page=%c3%a9"])
def test_unknown_charsets_and_compressing_codecs_are_refused(query: str, db: None) -> None:
    """`zlib` is a codec for Python: a few kilobytes would become gigabytes of JSON."""
    body = b'{"email": "a@example.org", "password": "secret"}'
    for charset in ("zlib", "base64", "rot13", "hex", "utf-16", "latin-1", "undefined", "idna", "no-such"):
        for method, kind in (("POST", "application/json"), ("GET", "text/plain")):
            status, headers, told = through_the_door(method, query, body, f"{kind}; charset={charset}")
            assert (status, headers["Content-Type"]) == (415, PROBLEM), charset
            assert json.loads(told)["detail"] == "The body must be UTF-8."
    status, _, told = through_the_door("POST", query, body, "application/json; charset=UTF8")
    assert (status, json.loads(told)["type"]) == (403, "/problems/csrf")


@pytest.mark.row(49)
def test_too_many_query_fields_are_refused_in_any_charset(lead: User) -> None:
    many = "&".join("page=1" for _ in range(2000))
    token = make_token(user=lead, name="script")[1]
    for kind in ("text/plain", "application/json; charset=utf-8"):
        status, headers, told = through_the_door("GET", many, b"", kind, "projects/", token)
        assert (status, headers["Content-Type"]) == (400, PROBLEM)
        assert json.loads(told)["detail"] == "The request has more than 1000 fields."


def through_the_door(
    method: str, query: str, body: bytes, kind: str, path: str = "session/", token: str = ""
) -> tuple[int, dict[str, str], bytes]:
    """Send a request as the server does; the test client builds requests differently."""
    said: list[tuple[str, list[tuple[str, str]]]] = []

    def start(status: str, headers: list[tuple[str, str]], *_: Any) -> Callable[[bytes], object]:
        said.append((status, headers))
        return lambda data: None

    environ = {
        "REQUEST_METHOD": method,
        "PATH_INFO": f"/{API}{path}",
        "QUERY_STRING": query,
        "CONTENT_TYPE": kind,
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_HOST": "localhost",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "HTTP_AUTHORIZATION": token and f"Bearer {token}",
    }
    reply = application(environ, start)
    told = b"".join(reply)
    reply.close()
    [(status, headers)] = said
    return int(status.split()[0]), dict(headers), told
