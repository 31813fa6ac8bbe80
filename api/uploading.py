"""Reception of uploads into unnamed temporary files, with a limit on simultaneous uploads."""

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

#: Size of a multipart body without the file, in bytes.
ENVELOPE = 64 * 1024
#: Seconds after which a client retries an upload that was rejected because of others.
AGAIN = 30


class NamelessFileHandler(FileUploadHandler):
    """Like Django's `TemporaryFileUploadHandler`, but the files disappear even if the process is killed."""

    file: "UploadedFile[bytes] | None" = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.whole: list[UploadedFile[bytes]] = []

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self.file = UploadedFile(
            tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR),  # noqa: SIM115 - closed with the request
            self.file_name,
            self.content_type,
            0,
            self.charset,
            self.content_type_extra,
        )

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
    """Multipart body with one file and other fields. Only views that list this parser accept multipart bodies.

    The body is read when a view first uses ``request.data``, after it has checked permissions. Reading blocks a thread
    until the client has sent everything. A process therefore reads at most ``settings.UPLOADS_AT_ONCE`` uploads at the
    same time, and one per user. Further uploads get `Busy`.
    """

    #: The field that may contain several files; "" if there is none.
    several = ""

    @staticmethod
    def limit() -> int:
        """Return the maximum size of a body in bytes."""
        return int(settings.UPLOAD_LIMIT) + ENVELOPE

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> "DataAndFiles[Any, Any]":
        request = (parser_context or {})["request"]
        with _place(request.user.pk):
            # Release the database connection while the server waits for the client, because connections are few.
            if not connection.in_atomic_block:
                connection.close()
            try:
                found = super().parse(stream, media_type, parser_context)
                single = [files for name, files in found.files.lists() if name != self.several]
                if sum(map(len, single)) > 1:
                    raise TooManyFilesSent  # the files are closed below
                return found
            except BaseException:
                # Django closes complete files. An incomplete file would remain open until garbage collection.
                for handler in request.upload_handlers:
                    handler.upload_interrupted()
                raise


class SetParser(UploadParser):
    """Multipart body with a file, ``others`` and other fields. The size limit applies to all files together."""

    several = "others"


_reading: set[Any] = set()
_lock = threading.Lock()


@contextmanager
def _place(person: Any) -> Iterator[None]:
    """Reserve one of this process's simultaneous uploads. Raise `Busy` if there is none."""
    with _lock:
        if person in _reading:
            raise Busy("You are already uploading a file. Send this one after it has arrived.", wait=AGAIN)
        if len(_reading) >= settings.UPLOADS_AT_ONCE:
            raise Busy("Too many uploads at the moment. Send the file again in half a minute.", wait=AGAIN)
        _reading.add(person)
    try:
        yield
    finally:
        with _lock:
            _reading.discard(person)
