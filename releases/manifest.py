"""The manifest: what a release holds, byte for byte, and how to see that it is still so."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAME = "manifest.json"
#: Every other file in the format of ``sha256sum``, so that a release can be checked without Concord.
SUMS = "SHA256SUMS"
CHUNK = 1 << 20


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


def findings(folder: Path) -> Iterator[str]:
    """What does not fit between a release's folder and its manifest, a sentence each; nothing where all is well."""
    try:
        content = (folder / NAME).read_bytes()
        manifest = json.loads(content)
        entries = [Entry(str(e["path"]), e["size"], e["sha256"]) for e in manifest["files"]]
        unchanged = as_bytes(sealed(manifest)) == content
    except FileNotFoundError:
        yield f"{NAME}: there is no such file, so this is no release"
        return
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        yield f"{NAME}: it cannot be read; it was changed"
        return
    if not unchanged:
        yield f"{NAME}: its digest is not that of its content; it was changed"
    if snapshot_hash(entries) != manifest.get("snapshot"):
        yield f"{NAME}: the snapshot hash is not that of the files it lists"
    listed = {NAME}
    for entry in entries:
        listed.add(entry.path)
        yield from _differences(folder, entry)
    for path in sorted(p for p in folder.rglob("*") if p.is_symlink() or not p.is_dir()):
        if (name := path.relative_to(folder).as_posix()) not in listed:
            yield f"{name}: not in the manifest"


def _differences(folder: Path, entry: Entry) -> Iterator[str]:
    path = folder / entry.path
    if "\0" in entry.path or ".." in Path(entry.path).parts or Path(entry.path).is_absolute() or path.is_symlink():
        yield f"{entry.path}: no path of a release"
    elif not path.is_file():
        yield f"{entry.path}: missing"
    elif path.stat().st_size != entry.size:
        yield f"{entry.path}: {path.stat().st_size} bytes, the manifest says {entry.size}"
    else:
        digest = hashlib.sha256()
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                digest.update(chunk)
        if digest.hexdigest() != entry.sha256:
            yield f"{entry.path}: its SHA-256 is not the manifest's; at least one byte was changed"
