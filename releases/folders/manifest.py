"""The manifest of a release: its files with sizes and hashes, and the checks of a manifest that was read.

This module needs no Django, like all code that reads releases. Users of a downloaded release have no settings.
"""

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

NAME = "manifest.json"
#: Hashes of all other files in the format of ``sha256sum``, so that a release can be checked without Concord.
SUMS = "SHA256SUMS"
#: Maximum size of a manifest in bytes, because it is read completely. A million names of omitted clusters take a
#: quarter of it.
LARGEST = 64 << 20
HEX = re.compile(r"[0-9a-f]{64}")
#: Allowed paths: they mean the same on every system and cannot be confused on a screen.
PATH = re.compile(r"(?=.{1,200}$)\w(?:[\w.-]*\w)?(?:/\w(?:[\w.-]*\w)?)*", re.ASCII)


@dataclass(frozen=True)
class Entry:
    """One file: path in the release, size in bytes, SHA-256, and number of rows if it has rows."""

    path: str
    size: int
    sha256: str
    rows: int | None = None

    def as_json(self) -> dict[str, Any]:
        return {"path": self.path, "size": self.size, "sha256": self.sha256, "rows": self.rows}


def write_file(folder: Path, path: str, chunks: Iterable[bytes]) -> Entry:
    """Write one file below ``folder``, sync it to disk, and return its entry. Memory use does not depend on its size.

    Each chunk of a JSONL or CSV file is one row; the first chunk of a CSV file is its header.
    """
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    digest, size, count = hashlib.sha256(), 0, 0
    with target.open("xb") as out:
        for chunk in chunks:
            out.write(chunk)
            digest.update(chunk)
            size += len(chunk)
            count += 1
        out.flush()
        os.fsync(out.fileno())
    rows = {".jsonl": count, ".csv": count - 1}.get(target.suffix)
    return Entry(path, size, digest.hexdigest(), rows)


def entry_of(folder: Path, path: str, rows: int) -> Entry:
    """Sync a file that another library has written to disk, and return its entry."""
    with (folder / path).open("rb") as file:
        os.fsync(file.fileno())
        digest = hashlib.file_digest(file, "sha256")
        return Entry(path, os.fstat(file.fileno()).st_size, digest.hexdigest(), rows)


def snapshot_hash(entries: Iterable[Entry]) -> str:
    """Return the SHA-256 of ``SHA256SUMS``, the list of all files except itself and the manifest."""
    return hashlib.sha256(sums(entries)).hexdigest()


def sums(entries: Iterable[Entry]) -> bytes:
    """Return the content of ``SHA256SUMS``: lines of ``sha256  path``, sorted by path."""
    lines = sorted((e.path, e.sha256) for e in entries if e.path not in (NAME, SUMS))
    return "".join(f"{sha}  {path}\n" for path, sha in lines).encode()


def with_digest(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest with its own digest: the SHA-256 of its bytes without that field."""
    body = {key: value for key, value in manifest.items() if key != "digest"}
    return body | {"digest": hashlib.sha256(as_bytes(body)).hexdigest()}


def as_bytes(manifest: dict[str, Any]) -> bytes:
    """Return the canonical bytes of ``manifest.json``. Any other byte sequence counts as a change."""
    return json.dumps(manifest, ensure_ascii=False, indent=2).encode() + b"\n"


class Unreadable(Exception):
    """The manifest is missing or invalid. The message is a sentence."""


@dataclass(frozen=True)
class Manifest:
    """A manifest that was read: content, entries, and internal inconsistencies."""

    body: dict[str, Any]
    content: bytes
    entries: tuple[Entry, ...]
    #: SHA-256 of the content without the field ``digest``. It identifies the release.
    digest: str
    faults: tuple[str, ...]

    @property
    def project(self) -> str:
        return str(self.body["project"])

    @property
    def without(self) -> Sequence[str]:
        """Return the names of what was left out."""
        return [str(name) for name in self.body.get("without") or ()]

    @property
    def version(self) -> str:
        return str(self.body["version"])

    @property
    def snapshot(self) -> str:
        return str(self.body["snapshot"])

    @property
    def size(self) -> int:
        """Return the total size in bytes of the listed files."""
        return sum(entry.size for entry in self.entries)


def parse(content: bytes) -> Manifest:
    """Parse the content of ``manifest.json``. Raise `Unreadable`."""
    try:
        body = json.loads(content.decode(), parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise Unreadable(f"{NAME}: not valid JSON in UTF-8; the file was changed") from None
    if wrong := next(_misshapen(body), None):
        raise Unreadable(f"{NAME}: {wrong}; the file was changed")
    entries = tuple(Entry(e["path"], e["size"], e["sha256"], e.get("rows")) for e in body["files"])
    try:
        expected = with_digest(body)
        canonical = as_bytes(expected) == content
    except (ValueError, RecursionError):
        raise Unreadable(f"{NAME}: contains text that is not valid Unicode; the file was changed") from None
    return Manifest(body, content, entries, expected["digest"], tuple(_faults(body, entries, canonical)))


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON")


def _misshapen(body: Any) -> Iterator[str]:
    """Yield defects that prevent reading the manifest."""
    if not isinstance(body, dict):
        yield "expected an object"
        return
    for name in ("project", "version", "snapshot", "digest"):
        if not isinstance(body.get(name), str):
            yield f"{name} is not text"
    files = body.get("files")
    if not isinstance(files, list) or not all(isinstance(entry, dict) for entry in files):
        yield "files is not a list of objects"
        return
    for number, entry in enumerate(files, 1):
        if not isinstance(entry.get("path"), str):
            yield f"the path of file {number} is not text"
        elif not _whole(entry.get("size")):
            yield f"the size of {printable(entry['path'])} is not a whole number"
        elif not isinstance(entry.get("sha256"), str) or not HEX.fullmatch(entry["sha256"]):
            yield f"the SHA-256 of {printable(entry['path'])} is not a SHA-256"
        elif entry.get("rows") is not None and not _whole(entry["rows"]):
            yield f"the number of rows of {printable(entry['path'])} is not a whole number"


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _faults(body: dict[str, Any], entries: tuple[Entry, ...], canonical: bool) -> Iterator[str]:
    """Yield internal inconsistencies as sentences."""
    if not canonical:
        yield f"{NAME}: the digest does not match the content, or the format is not canonical; the file was changed"
    for path in (entry.path for entry in entries):
        if path == NAME or not PATH.fullmatch(path):
            yield f"{printable(path)}: invalid path for a release"
    for folded, count in Counter(entry.path.casefold() for entry in entries).items():
        if count > 1:
            names = sorted({entry.path for entry in entries if entry.path.casefold() == folded})
            yield f"{NAME}: {' and '.join(map(printable, names))} is listed {count} times, ignoring case"
    if snapshot_hash(entries) != body["snapshot"]:
        yield f"{NAME}: the snapshot hash does not match the listed files"
    if [e.sha256 for e in entries if e.path == SUMS] != [body["snapshot"]]:
        yield f"{NAME}: the listed hash of {SUMS} does not match the listed files"


def printable(name: str) -> str:
    """Return a name that is safe to display. Non-ASCII and unprintable characters are escaped."""
    return name if name.isascii() and name.isprintable() else ascii(name)
