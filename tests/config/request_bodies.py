"""Request bodies that record whether they were read."""

import io
from collections.abc import Callable
from typing import Any

from rest_framework.test import APIClient

from tests.config.routes import API

FORM = "multipart/form-data; boundary=x"
IMPORTS = f"/{API}projects/eye/imports/"
FILE = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n%b\r\n--x--\r\n'


class TrackedBody(io.BytesIO):
    """A body that records whether it was read, and can call a function then."""

    def __init__(self, content: bytes = b"", first: Callable[[], Any] = lambda: None) -> None:
        super().__init__(content)
        self.was_read, self.first = False, first

    def read(self, size: int | None = -1, /) -> bytes:
        if not self.was_read:
            self.was_read = True
            self.first()
        return super().read(size)

    def readline(self, size: int | None = -1, /) -> bytes:
        self.was_read = True
        return super().readline(size)


def send(client: APIClient, address: str, kind: str, body: TrackedBody, method: str = "POST", **headers: Any) -> Any:
    given: dict[str, Any] = {"wsgi.input": body, "CONTENT_LENGTH": str(len(body.getvalue())), "CONTENT_TYPE": kind}
    return client.generic(method, address, "", kind, **given | headers)
