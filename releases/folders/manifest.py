"""The manifest: what a release holds, byte for byte, and what is wrong with one that comes back.

Plain Python, as all that reads a release: whoever has downloaded one has no settings, and perhaps no Django.
"""

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

NAME = "manifest.json"
#: Every other file in the format of ``sha256sum``, so that a release can be checked without Concord.
SUMS = "SHA256SUMS"
#: The most bytes that a manifest has: one is read whole. A million names of clusters that were left out take a quarter.
LARGEST = 64 << 20
HEX = re.compile(r"[0-9a-f]{64}")
#: The paths that releases have: they mean the same on every system, and look like nothing else on a screen.
PATH = re.compile(r"(?=.{1,200}$)\w(?:[\w.-]*\w)?(?:/\w(?:[\w.-]*\w)?)*", re.ASCII)


@dataclass(frozen=True)
class Entry:
    """One file: its path in the release, size in bytes, SHA-256, and how many rows it has where it has rows."""

    path: str
    size: int
    sha256: str
    rows: int | None = None

    def as_json(self) -> dict[str, Any]:
        return {"path": self.path, "size": self.size, "sha256": self.sha256, "rows": self.rows}


def write(folder: Path, path: str, chunks: Iterable[bytes]) -> Entry:
    """Write one file below ``folder`` through to the disk, and give its entry. Memory does not grow with the file.

    Chunks of JSONL and CSV are rows, a CSV's first one its header.
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


def snapshot_hash(entries: Iterable[Entry]) -> str:
    """SHA-256 of ``SHA256SUMS``: of the list of all files but itself and the manifest."""
    return hashlib.sha256(sums(entries)).hexdigest()


def sums(entries: Iterable[Entry]) -> bytes:
    """The content of ``SHA256SUMS``: ``sha256  path`` a line, sorted by path."""
    lines = sorted((e.path, e.sha256) for e in entries if e.path not in (NAME, SUMS))
    return "".join(f"{sha}  {path}\n" for path, sha in lines).encode()


def sealed(manifest: dict[str, Any]) -> dict[str, Any]:
    """The manifest with its own digest: the SHA-256 of its bytes without that field."""
    body = {key: value for key, value in manifest.items() if key != "digest"}
    return body | {"digest": hashlib.sha256(as_bytes(body)).hexdigest()}


def as_bytes(manifest: dict[str, Any]) -> bytes:
    """``manifest.json``: the one way to write a manifest, so that any other byte is a change."""
    return json.dumps(manifest, ensure_ascii=False, indent=2).encode() + b"\n"


class Unreadable(Exception):
    """There is no manifest, or nothing that can be taken for one; the message is a sentence."""


@dataclass(frozen=True)
class Manifest:
    """A manifest as it was read: its content, what it lists, and what is wrong with it in itself."""

    body: dict[str, Any]
    content: bytes
    entries: tuple[Entry, ...]
    #: SHA-256 of its content without the field ``digest``: the one number that names a release to others.
    digest: str
    faults: tuple[str, ...]

    @property
    def project(self) -> str:
        return str(self.body["project"])

    @property
    def version(self) -> str:
        return str(self.body["version"])

    @property
    def snapshot(self) -> str:
        return str(self.body["snapshot"])

    @property
    def size(self) -> int:
        """Bytes of all files that it lists."""
        return sum(entry.size for entry in self.entries)


def parse(content: bytes) -> Manifest:
    """Read what lies in ``manifest.json``. Raises `Unreadable`."""
    try:
        body = json.loads(content.decode(), parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise Unreadable(f"{NAME}: it is no JSON in UTF-8; it was changed") from None
    if wrong := next(_misshapen(body), None):
        raise Unreadable(f"{NAME}: {wrong}; it was changed")
    entries = tuple(Entry(e["path"], e["size"], e["sha256"], e.get("rows")) for e in body["files"])
    try:
        made = sealed(body)
        canonical = as_bytes(made) == content
    except (ValueError, RecursionError):
        raise Unreadable(f"{NAME}: it holds text that is no Unicode; it was changed") from None
    return Manifest(body, content, entries, made["digest"], tuple(_faults(body, entries, canonical)))


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _misshapen(body: Any) -> Iterator[str]:
    """What keeps it from being read at all."""
    if not isinstance(body, dict):
        yield "it is no object"
        return
    for name in ("project", "version", "snapshot", "digest"):
        if not isinstance(body.get(name), str):
            yield f"its {name} is no text"
    files = body.get("files")
    if not isinstance(files, list) or not all(isinstance(entry, dict) for entry in files):
        yield "its files are no list of objects"
        return
    for number, entry in enumerate(files, 1):
        if not isinstance(entry.get("path"), str):
            yield f"the path of file {number} is no text"
        elif not _whole(entry.get("size")):
            yield f"the size of {shown(entry['path'])} is no whole number"
        elif not isinstance(entry.get("sha256"), str) or not HEX.fullmatch(entry["sha256"]):
            yield f"the SHA-256 of {shown(entry['path'])} is no such"
        elif entry.get("rows") is not None and not _whole(entry["rows"]):
            yield f"the rows of {shown(entry['path'])} are no whole number"


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _faults(body: dict[str, Any], entries: tuple[Entry, ...], canonical: bool) -> Iterator[str]:
    """What does not fit within it, a sentence each."""
    if not canonical:
        yield f"{NAME}: its digest is not that of its content, or Concord would write it otherwise; it was changed"
    for path in (entry.path for entry in entries):
        if path == NAME or not PATH.fullmatch(path):
            yield f"{shown(path)}: no path of a release"
    for folded, count in Counter(entry.path.casefold() for entry in entries).items():
        if count > 1:
            names = sorted({entry.path for entry in entries if entry.path.casefold() == folded})
            yield f"{NAME}: it lists {' and '.join(map(shown, names))} {count} times, capitals aside"
    if snapshot_hash(entries) != body["snapshot"]:
        yield f"{NAME}: the snapshot hash is not that of the files it lists"
    if [e.sha256 for e in entries if e.path == SUMS] != [body["snapshot"]]:
        yield f"{NAME}: the {SUMS} that it names is not the list of its files"


def shown(name: str) -> str:
    """A name as a screen can show it without being misled."""
    return name if name.isascii() and name.isprintable() else ascii(name)
