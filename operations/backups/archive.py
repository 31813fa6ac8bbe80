"""Archive format of backups: files and a manifest with their SHA-256 as the last member.

Members are ``database.sqlite3`` or ``database.dump``, ``files/...`` (all of MEDIA_ROOT) and ``manifest.json``. Archives
are untrusted when read: paths cannot leave the target folder, and every byte is verified.
"""

import gzip
import hashlib
import io
import json
import os
import tarfile
import uuid
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

from api.problems import Refused

MANIFEST = "manifest.json"
FILES = "files"
FORMAT = 1
CHUNK = 1 << 20
#: A manifest lists every file. This number of bytes is enough for a million files.
LARGEST_MANIFEST = 256 << 20

Step = Callable[[int], None]


class BadArchive(Refused):
    """The file is not a complete backup. Nothing was changed."""

    type = "bad-backup"
    title = "The backup cannot be used"


class Writer:
    """Write an archive and collect the manifest entries."""

    def __init__(self, tar: tarfile.TarFile, step: Step) -> None:
        self._tar, self._step = tar, step
        self.entries: list[dict[str, Any]] = []

    def add(self, path: Path, name: str) -> None:
        """Add a file under ``name``, with the length that it has when it is opened."""
        with path.open("rb") as source:
            info = tarfile.TarInfo(name)
            info.size = os.fstat(source.fileno()).st_size
            info.mode = 0o600
            reader = _Hashing(source, self._step)
            self._tar.addfile(info, reader)
        self.entries.append({"path": name, "size": info.size, "sha256": reader.digest.hexdigest()})

    def finish(self, manifest: dict[str, Any]) -> dict[str, Any]:
        whole = {"product": "Concord", "format": FORMAT, **manifest, "files": self.entries}
        content = json.dumps(whole, ensure_ascii=False, indent=1).encode() + b"\n"
        info = tarfile.TarInfo(MANIFEST)
        info.size, info.mode = len(content), 0o600
        self._tar.addfile(info, io.BytesIO(content))
        return whole


class _Hashing:
    """Compute the digest of a file while it is read."""

    def __init__(self, source: IO[bytes], step: Step) -> None:
        self._source, self._step = source, step
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._source.read(size)
        self.digest.update(data)
        self._step(len(data))
        return data


@contextmanager
def written(out: Path, step: Step) -> Iterator[Writer]:
    """Write an archive atomically: complete, synced to disk and readable by its owner only, or not at all."""
    part = out.parent / f".{out.name}.{uuid.uuid4().hex}"
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            # Level 1 reduces a database to a fifth. PostgreSQL dumps are already compressed.
            with (
                gzip.GzipFile(filename="", fileobj=file, mode="wb", compresslevel=1) as packed,
                tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
            ):
                yield Writer(tar, step)
            file.flush()
            os.fsync(file.fileno())
        os.link(part, out)  # never overwrites another file
    finally:
        part.unlink(missing_ok=True)


def unpacked(archive: Path, folder: Path, step: Step) -> dict[str, Any]:
    """Unpack into ``folder``, verify every file, and return the manifest.

    Raise `BadArchive` for an invalid archive; ``folder`` may then be incomplete. No file is written outside of it.
    """
    try:
        found, manifest = _members(archive, folder, step)
    except FileNotFoundError as error:
        raise BadArchive(f"{archive} does not exist.") from error
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BadArchive(
            f"{archive.name} is not a backup of Concord, or is damaged or incomplete ({error})."
        ) from error
    if manifest is None:
        raise BadArchive(f"{archive.name} has no {MANIFEST}: it is not a backup of Concord, or is incomplete.")
    whole = _read(manifest, archive.name)
    listed = {entry["path"]: (entry["size"], entry["sha256"]) for entry in whole["files"]}
    for name in sorted(set(found) | set(listed)):
        if name not in listed:
            raise BadArchive(f"{archive.name}: {name} is not in the manifest; the archive was changed.")
        if name not in found:
            raise BadArchive(f"{archive.name}: {name} is in the manifest, but missing from the archive.")
        if found[name] != listed[name]:
            raise BadArchive(
                f"{archive.name}: the SHA-256 of {name} differs from the manifest; the file was changed or damaged."
            )
    return whole


def _members(archive: Path, folder: Path, step: Step) -> tuple[dict[str, tuple[int, str]], bytes | None]:
    found: dict[str, tuple[int, str]] = {}
    manifest: bytes | None = None
    with archive.open("rb") as raw, tarfile.open(fileobj=raw, mode="r|gz") as tar:
        position = 0
        for member in tar:
            _check_name(member, archive.name, {*found, *([MANIFEST] if manifest is not None else [])})
            source = tar.extractfile(member)
            assert source is not None, "a regular file"
            if member.name == MANIFEST:
                if member.size > LARGEST_MANIFEST:
                    raise BadArchive(f"{archive.name}: {MANIFEST} is too large.")
                manifest = source.read()
            else:
                found[member.name] = _extract(source, folder / member.name)
            step(raw.tell() - position)
            position = raw.tell()
    return found, manifest


def _check_name(member: tarfile.TarInfo, archive: str, seen: set[str]) -> None:
    path = PurePosixPath(member.name)
    plain = str(path) == member.name and "\0" not in member.name and "\\" not in member.name
    inside = plain and not path.is_absolute() and ".." not in path.parts
    known = len(path.parts) == 1 or (path.parts[0] == FILES and len(path.parts) > 1)
    if not (member.isreg() and inside and known) or member.name in seen:
        raise BadArchive(f"{archive}: {member.name!r} does not belong in a backup; unpacking stopped there.")


def _extract(source: IO[bytes], target: Path) -> tuple[int, str]:
    target.parent.mkdir(parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    with target.open("xb") as out:
        while chunk := source.read(CHUNK):
            out.write(chunk)
            digest.update(chunk)
            size += len(chunk)
        out.flush()
        os.fsync(out.fileno())
    return size, digest.hexdigest()


def _read(content: bytes, archive: str) -> dict[str, Any]:
    try:
        whole: dict[str, Any] = json.loads(content)
        if whole["product"] != "Concord" or not isinstance(whole["files"], list):
            raise ValueError
        if whole["format"] != FORMAT:
            raise BadArchive(
                f"{archive} has format {whole['format']!r}; this version of Concord reads format {FORMAT}."
            )
        for entry in whole["files"]:
            entry["path"], entry["size"], entry["sha256"]
        whole["engine"], whole["migrations"], whole["audit_head"]["digest"], whole["rows"].items()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadArchive(f"{archive}: {MANIFEST} cannot be read; it was changed or damaged.") from error
    return whole
