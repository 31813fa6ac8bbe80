"""Files on their way in: read a few at a time, into files without a name, which are gone with their process."""

import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import TooManyFilesSent
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler
from django.db import connection
from rest_framework.parsers import DataAndFiles, MultiPartParser

from .problems import Busy

#: What a multipart body may have beside the file, in bytes.
ENVELOPE = 64 * 1024
#: Seconds after which an upload that was refused for others is worth another try.
AGAIN = 30


class NamelessFileHandler(FileUploadHandler):
    """As Django's handler for temporary files, but kill -9 leaves none of these behind."""

    file: "UploadedFile[bytes] | None" = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.whole: list[UploadedFile[bytes]] = []

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self.file = UploadedFile(
            tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR),  # noqa: SIM115 - closed with the request
            self.file_name, self.content_type, 0, self.charset, self.content_type_extra,
        )  # fmt: skip

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        assert self.file
        self.file.write(raw_data)

    def file_complete(self, file_size: int) -> "UploadedFile[bytes] | None":
        if self.file:
            self.file.seek(0)
            self.file.size = file_size
            self.whole.append(self.file)
        return self.file

    def upload_interrupted(self) -> None:
        for file in filter(None, (*self.whole, self.file)):
            file.close()


class UploadParser(MultiPartParser):
    """One file with some fields. A view that lists it is one that takes files: nowhere else is a
    multipart body read, and here only once somebody asks for ``request.data``: a view does so when it knows who may.

    Reading lasts as long as the sender takes, and holds a thread. So few are read at once by a process
    (``settings.UPLOADS_AT_ONCE``), and one of each person; who comes beyond that is told to come again.
    """

    #: The field that may hold several files; "" where a body has one file.
    several = ""

    @staticmethod
    def limit() -> int:
        """The longest body, in bytes."""
        return int(settings.UPLOAD_LIMIT) + ENVELOPE

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> "DataAndFiles[Any, Any]":
        request = (parser_context or {})["request"]
        with _place(request.user.pk):
            # Connections are few: this one is for others as long as nothing but the sender is waited for.
            if not connection.in_atomic_block:
                connection.close()
            try:
                found = super().parse(stream, media_type, parser_context)
                single = [files for name, files in found.files.lists() if name != self.several]
                if sum(map(len, single)) > 1:
                    raise TooManyFilesSent  # closed below, like all that is not taken
                return found
            except BaseException:
                # Django closes files that came whole; the one that was being written would lie there until somebody
                # collects the garbage.
                for handler in request.upload_handlers:
                    handler.upload_interrupted()
                raise


class SetParser(UploadParser):
    """A file and ``others``, as long together as one may be, with some fields."""

    several = "others"


_reading: set[Any] = set()
_lock = threading.Lock()


@contextmanager
def _place(person: Any) -> Iterator[None]:
    """One of the places for uploads that this process has. Raises `Busy`."""
    with _lock:
        if person in _reading:
            raise Busy("Another file of yours is being received. Send this one when that has arrived.", wait=AGAIN)
        if len(_reading) >= settings.UPLOADS_AT_ONCE:
            raise Busy("Others are sending files just now. Send yours again in half a minute.", wait=AGAIN)
        _reading.add(person)
    try:
        yield
    finally:
        with _lock:
            _reading.discard(person)
