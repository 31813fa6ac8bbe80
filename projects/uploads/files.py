"""Storage of uploaded files, their size limits, and detection of files that are not UTF-8 text."""

import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from hashlib import file_digest
from pathlib import Path, PurePath
from typing import Any

from django.conf import settings
from django.core.files import File
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import User
from api import limits
from api.problems import Refused, TooLarge

from ..models import Import, ImportState, Job, JobStatus

#: First bytes that identify other file types. A longer one comes before its own start.
_OTHER_FILES = (
    (b"\xff\xfe\x00\x00", "UTF-32 text (little-endian byte order mark)"),
    (b"\x00\x00\xfe\xff", "UTF-32 text (big-endian byte order mark)"),
    (b"\xff\xfe", "UTF-16 text (little-endian byte order mark)"),
    (b"\xfe\xff", "UTF-16 text (big-endian byte order mark)"),
    (b"PK\x03\x04", "a ZIP archive (or an Office document)"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook, or one with a password"),
    (b"BZh91AY&SY", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"%PDF", "a PDF document"),
    (b"SQLite format 3", "an SQLite database"),
)
#: A JSON object over several lines. In JSON lines, no line ends after the first brace.
_JSON_OBJECT = re.compile(rb"\s*\{[ \t]*[\r\n]\s*\"")
BOM = b"\xef\xbb\xbf"
#: A JSON array of objects, arrays or strings. No column name of a table starts like this.
_JSON_ARRAY = re.compile(rb'\s*\[\s*(?:[\[{]|"[^"\\]*"\s*[,\]])')


def other_file(head: bytes) -> str | None:
    """Return the file type by the first bytes, or None if the file may be UTF-8 text."""
    for magic, name in _OTHER_FILES:
        if head.startswith(magic):
            return name
    if _JSON_ARRAY.match(head.removeprefix(BOM)):
        return "a JSON array"
    if is_json_object(head):
        return "one JSON object over several lines"
    pairs = head[:256]
    if len(pairs) >= 4 and 0 in pairs and (not any(pairs[1::2]) or not any(pairs[::2])):
        return "UTF-16 text (every second byte is zero)"
    return None


def is_json_object(head: bytes) -> bool:
    """Return whether a file begins as one JSON object over several lines."""
    return bool(_JSON_OBJECT.match(head.removeprefix(BOM)))


def not_utf8(body: bytes, error: UnicodeDecodeError, start: int) -> str:
    """Describe the first invalid byte of a line. ``start`` is the offset of the line in the file."""
    near = body[max(0, error.start - 12) : error.start + 12].decode("cp1252", errors="replace")
    return (
        f"byte 0x{body[error.start]:02X} at byte {error.start + 1} of the line ({start + error.start} from the start "
        f'of the file) is not UTF-8; read as Latin-1 it would be "{near}": save the file as UTF-8'
    )


TOKEN = re.compile(r"[0-9a-f]{32}")
#: Unconfirmed uploads are removed after this time.
KEPT = timedelta(days=7)


def refuse_larger(size: int) -> None:
    """Raise `TooLarge` if ``size`` in bytes exceeds settings.UPLOAD_LIMIT."""
    if size > settings.UPLOAD_LIMIT:
        raise TooLarge(f"The file is larger than the upload limit of {settings.UPLOAD_LIMIT // 2**20} MiB.")


def folder() -> Path:
    return Path(settings.MEDIA_ROOT) / "uploads"


def path_of(token: str) -> Path:
    """Return the path of an upload. Raise `Refused` for an invalid token."""
    if not TOKEN.fullmatch(token):
        raise Refused("The id of the upload is invalid.")
    return folder() / token


def name_of(file: "File[bytes]") -> str:
    """Return the file name without folders."""
    return PurePath((file.name or "file").replace("\\", "/")).name[:200]


def store(file: "File[bytes]", by: User | None) -> str:
    """Store a file and return its token.

    If the user exceeds LIMIT_UPLOADS_MB, their oldest uploads that are not needed are removed. Raise
    `TooMuch` if that is not enough.
    """
    folder().mkdir(parents=True, exist_ok=True)
    _remove_expired()
    if by and limits.most("LIMIT_UPLOADS_MB"):
        _make_room(file.size or 0, by)
    token = secrets.token_hex(16)
    try:
        with path_of(token).open("xb") as kept:
            for chunk in file.chunks():
                kept.write(chunk)
    except OSError:
        path_of(token).unlink(missing_ok=True)
        raise
    return token


def folder_files() -> dict[str, Path]:
    """Return the files of settings.IMPORT_FOLDER by name. Links and hidden files are left out."""
    if not settings.IMPORT_FOLDER:
        return {}
    try:
        entries = sorted(Path(settings.IMPORT_FOLDER).iterdir())
    except OSError:
        return {}
    return {
        path.name: path.absolute()
        for path in entries
        if path.is_file() and not path.is_symlink() and not path.name.startswith(".")
    }


def link(name: str) -> str:
    """Return a token for a file of settings.IMPORT_FOLDER, which is not copied. Raise `Refused` if there is none."""
    path = folder_files().get(name)
    if path is None:
        raise Refused.field("names", f"The import folder of the server has no file {name!r}.")
    folder().mkdir(parents=True, exist_ok=True)
    token = secrets.token_hex(16)
    path_of(token).symlink_to(path)
    return token


def tokens_of(params: Mapping[str, Any]) -> list[str]:
    """Return the tokens of all files of a job."""
    return [params["upload"], *(other["upload"] for other in params.get("others", ()))]


def remove(job: Job) -> None:
    """Remove the uploads of a job when the current transaction commits.

    If they were removed earlier and the worker stopped before the commit, the next worker would lack them.
    """
    transaction.on_commit(lambda: remove_all(tokens_of(job.params)))


def remove_all(tokens: Iterable[str]) -> None:
    for token in tokens:
        path_of(token).unlink(missing_ok=True)


def _make_room(size: int, by: User) -> None:
    mine = Job.objects.filter(created_by=by, created_at__gt=timezone.now() - KEPT, params__has_key="upload")
    kept = {token: path_of(token) for job in mine.order_by("pk") for token in tokens_of(job.params)}
    sizes = {token: path.lstat().st_size for token, path in kept.items() if path.exists()}
    needed = _needed()
    too_much = sum(sizes.values()) + size - limits.most("LIMIT_UPLOADS_MB") * 2**20
    gone = []
    for token in sizes:
        if too_much > 0 and token not in needed:
            gone.append(token)
            too_much -= sizes[token]
    if too_much > 0:
        raise limits.refused("LIMIT_UPLOADS_MB")
    for token in gone:
        kept[token].unlink(missing_ok=True)


def _needed() -> set[str]:
    """Return the tokens that a queued or running job needs, or an import that can be continued."""
    arriving = Import.objects.filter(state=ImportState.ARRIVING, job__isnull=False)
    needing = Q(status__in=(JobStatus.QUEUED, JobStatus.RUNNING)) | Q(pk__in=arriving.values("job"))
    return {token for job in Job.objects.filter(needing, params__has_key="upload") for token in tokens_of(job.params)}


def _remove_expired() -> None:
    needed = _needed()
    oldest = (timezone.now() - KEPT).timestamp()
    for path in folder().iterdir():
        if TOKEN.fullmatch(path.name) and path.name not in needed and path.lstat().st_mtime < oldest:
            path.unlink(missing_ok=True)


@dataclass(frozen=True)
class Source:
    """A file to import: its path, the name that the user knows, size and SHA-256."""

    path: Path
    name: str
    size: int
    sha256: str
    #: Identity of the content when it was read for the digest.
    version: tuple[int, ...] = ()

    @classmethod
    def of(cls, path: Path, name: str | None = None) -> "Source":
        """Build the source of a file. Raise `OSError` if it cannot be read."""
        version = _version(path)
        with path.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        return cls(path, name or path.name, path.stat().st_size, digest, version)

    def has_changed(self) -> bool:
        """Return whether somebody changed, replaced or removed the file after it was read for the digest."""
        try:
            return _version(self.path) != self.version
        except OSError:
            return True


def _version(path: Path) -> tuple[int, ...]:
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns
