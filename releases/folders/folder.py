"""Read and verify the folder of a release.

Only files listed in its manifest are accepted. This module needs no Django.
"""

import errno
import hashlib
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .manifest import LARGEST, NAME, PATH, Entry, Manifest, Unreadable, parse, printable

CHUNK = 1 << 20
#: Maximum number of findings kept. The rest are only counted, so that a folder with a million files fills no memory.
MOST = 200
#: (bytes done, total bytes).
Progress = Callable[[int, int], object]


class Altered(Exception):
    """A file differs from the manifest. The message is a sentence that starts with its name."""


@dataclass
class Report:
    """Result of a verification: what was checked, what was not, and the findings, as sentences."""

    #: The manifest in the folder; None if it cannot be read.
    manifest: Manifest | None = None
    findings: list[str] = field(default_factory=list)
    #: Number of findings beyond those in ``findings``.
    more: int = 0
    checked: list[str] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)
    #: Whether a source outside the folder confirms that this is the release.
    vouched: bool = False

    def vouch(self, sentence: str) -> None:
        self.vouched = True
        self.checked.append(sentence)

    def find(self, *sentences: str) -> None:
        room = max(MOST - len(self.findings), 0)
        self.findings += sentences[:room]
        self.more += len(sentences[room:])

    @property
    def count(self) -> int:
        return len(self.findings) + self.more


def read(folder: Path) -> Manifest:
    """Return the manifest of a folder. Raise `Unreadable`."""
    try:
        descriptor = _opened(folder / NAME)
    except FileNotFoundError:
        raise Unreadable(f"{NAME}: missing") from None
    except OSError as error:
        raise Unreadable(f"{NAME}: cannot be read ({error.strerror})") from None
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise Unreadable(f"{NAME}: too large for a manifest")
    return parse(content)


def checked(folder: Path, entry: Entry) -> Iterator[bytes]:
    """Yield the bytes of a file in pieces.

    The last piece is yielded only if size and SHA-256 match the manifest; otherwise `Altered` is raised. A caller that
    received all pieces has the released file, even if the disk changes meanwhile.
    """
    name = printable(entry.path)
    if not PATH.fullmatch(entry.path):
        raise Altered(f"{name}: invalid path for a release")
    try:
        descriptor = _opened(folder / entry.path)
    except (FileNotFoundError, NotADirectoryError):
        raise Altered(f"{name}: missing") from None
    except OSError as error:
        raise Altered(f"{name}: cannot be read ({error.strerror})") from None
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        if (size := os.fstat(descriptor).st_size) != entry.size:
            raise Altered(f"{name}: {size} bytes; the manifest states {entry.size}")
        digest, pending, remaining = hashlib.sha256(), b"", size
        try:
            while remaining >= 0 and (chunk := file.read(CHUNK)):
                digest.update(chunk)
                remaining -= len(chunk)
                if pending:
                    yield pending
                pending = chunk
        except OSError as error:
            raise Altered(f"{name}: cannot be read ({error.strerror})") from None
        if digest.hexdigest() != entry.sha256:
            raise Altered(f"{name}: the SHA-256 differs from the manifest; the file was changed")
        yield pending


def _opened(path: Path) -> int:
    """Return a descriptor of a regular file. Links and other files are rejected without blocking. Raise OSError."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, "a link")
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "not a regular file")


def inspect(folder: Path, progress: Progress | None = None) -> Report:
    """Verify a folder against its own manifest: every listed file, and that there are no others.

    This cannot detect a folder that was altered together with its manifest. Detection requires the manifest's digest
    from another source.
    """
    report = Report()
    try:
        manifest = read(folder)
    except Unreadable as unreadable:
        report.find(str(unreadable))
        return report
    report.manifest = manifest
    report.find(*manifest.faults)
    listed = {entry.path: entry for entry in manifest.entries}
    plain, others = _look(folder, set(listed), report)
    done = 0
    for path, entry in listed.items():
        if path not in plain:
            if path not in others and PATH.fullmatch(path):
                report.find(f"{path}: missing")
            continue
        try:
            for piece in checked(folder, entry):
                done += len(piece)
                if progress:
                    progress(done, manifest.size)
        except Altered as altered:
            report.find(str(altered))
    files = f"{len(listed)} files" if len(listed) != 1 else "1 file"
    report.checked.append(f"Size and SHA-256 of {files} match {NAME}, and the folder contains nothing else.")
    return report


def _look(folder: Path, listed: set[str], report: Report) -> tuple[set[str], set[str]]:
    """Scan the folder without following links, and report everything that is not in the manifest.

    Return the listed names, exactly as spelled on disk, in two sets: regular files and everything else.
    """
    parents = {path[:at] for path in listed for at, letter in enumerate(path) if letter == "/"}
    files: dict[str, os.stat_result] = {}
    others: set[str] = set()
    pending = [""]
    while pending:
        inside = pending.pop()
        try:
            with os.scandir(folder / inside) as entries:
                things = {f"{inside}/{e.name}" if inside else e.name: e.stat(follow_symlinks=False) for e in entries}
        except OSError as error:
            report.find(f"{printable(inside) or 'the folder'}: cannot be read ({error.strerror})")
            continue
        if not things and inside and inside not in parents:
            report.find(f"{printable(inside)}: an empty folder, not in the manifest")
        for name, info in sorted(things.items()):
            what = _what(info.st_mode)
            if what == "a file" and (name in listed or name == NAME):
                files[name] = info
            elif what == "a folder" and name not in listed:
                pending.append(name)
            else:
                others.add(name)
                where = "the manifest lists a file" if name in listed else "not in the manifest"
                report.find(f"{printable(name)}: {what}, {where}")
    report.find(*_linked(files))
    return set(files), others


def _what(mode: int) -> str:
    kinds = ((stat.S_ISREG, "a file"), (stat.S_ISDIR, "a folder"), (stat.S_ISLNK, "a link"))
    return next((name for is_one, name in kinds if is_one(mode)), "not a regular file")


def _linked(files: dict[str, os.stat_result]) -> Iterator[str]:
    """Report files with a hard link outside the folder."""
    names = Counter((info.st_dev, info.st_ino) for info in files.values())
    for name, info in files.items():
        if info.st_nlink > names[info.st_dev, info.st_ino]:
            yield (
                f"{printable(name)}: has a hard link outside this folder, through which it can be changed; "
                "copy the folder and verify the copy"
            )
