"""A release's folder, looked at and read so that nothing but what its manifest lists passes for it. Plain Python."""

import errno
import hashlib
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .manifest import LARGEST, NAME, PATH, Entry, Manifest, Unreadable, parse, shown

CHUNK = 1 << 20
#: Of more findings than these only the number is kept: who fills a folder with a million files fills no memory.
MOST = 200
#: (bytes done, bytes in all).
Progress = Callable[[int, int], object]


class Altered(Exception):
    """A file is not what the manifest says; the message is a sentence that begins with its name."""


@dataclass
class Report:
    """What was looked at, what was not, and what does not fit; each a sentence."""

    #: As the folder's own manifest says; None where it cannot be read.
    manifest: Manifest | None = None
    findings: list[str] = field(default_factory=list)
    #: How many findings there are beside those.
    more: int = 0
    checked: list[str] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)
    #: Whether something beside the folder says that this is the release.
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
    """The manifest of a folder. Raises `Unreadable`."""
    try:
        descriptor = _opened(folder / NAME)
    except FileNotFoundError:
        raise Unreadable(f"{NAME}: there is no such file, so this is no release") from None
    except OSError as error:
        raise Unreadable(f"{NAME}: it cannot be read ({error.strerror})") from None
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise Unreadable(f"{NAME}: it is larger than a manifest can be")
    return parse(content)


def checked(folder: Path, entry: Entry) -> Iterator[bytes]:
    """The bytes of a file, in pieces. The last piece comes only when size and SHA-256 are the manifest's, else
    `Altered` does: whoever takes all pieces has the file as it was released, whatever happens to the disk meanwhile."""
    name = shown(entry.path)
    if not PATH.fullmatch(entry.path):
        raise Altered(f"{name}: no path of a release")
    try:
        descriptor = _opened(folder / entry.path)
    except (FileNotFoundError, NotADirectoryError):
        raise Altered(f"{name}: missing") from None
    except OSError as error:
        raise Altered(f"{name}: it cannot be read ({error.strerror})") from None
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        if (size := os.fstat(descriptor).st_size) != entry.size:
            raise Altered(f"{name}: {size} bytes, the manifest says {entry.size}")
        digest, held, left = hashlib.sha256(), b"", size
        try:
            while left >= 0 and (chunk := file.read(CHUNK)):
                digest.update(chunk)
                left -= len(chunk)
                if held:
                    yield held
                held = chunk
        except OSError as error:
            raise Altered(f"{name}: it cannot be read ({error.strerror})") from None
        if digest.hexdigest() != entry.sha256:
            raise Altered(f"{name}: its SHA-256 is not the manifest's; at least one byte was changed")
        yield held


def _opened(path: Path) -> int:
    """A descriptor of a plain file; nothing else is followed, or waited for. Raises OSError."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, "a link")
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "no plain file")


def inspect(folder: Path, progress: Progress | None = None) -> Report:
    """Hold a folder against its own manifest: every file that is listed, and that nothing else lies there.

    A folder that was altered together with its manifest passes: only somebody who knows the manifest's digest from
    elsewhere can tell.
    """
    report = Report()
    try:
        found = read(folder)
    except Unreadable as unreadable:
        report.find(str(unreadable))
        return report
    report.manifest = found
    report.find(*found.faults)
    listed = {entry.path: entry for entry in found.entries}
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
                    progress(done, found.size)
        except Altered as altered:
            report.find(str(altered))
    files = f"{len(listed)} files" if len(listed) != 1 else "1 file"
    report.checked.append(f"Size and SHA-256 of {files} against {NAME}, and that nothing else lies in the folder.")
    return report


def _look(folder: Path, listed: set[str], report: Report) -> tuple[set[str], set[str]]:
    """Walk through the folder, following nothing, and report what the manifest does not know. Of the names that it
    does, exactly as the disk spells them: those that are plain files, and those that are something else."""
    above = {path[:at] for path in listed for at, letter in enumerate(path) if letter == "/"}
    files: dict[str, os.stat_result] = {}
    others: set[str] = set()
    waiting = [""]
    while waiting:
        inside = waiting.pop()
        try:
            with os.scandir(folder / inside) as entries:
                things = {f"{inside}/{e.name}" if inside else e.name: e.stat(follow_symlinks=False) for e in entries}
        except OSError as error:
            report.find(f"{shown(inside) or 'the folder'}: it cannot be read ({error.strerror})")
            continue
        if not things and inside and inside not in above:
            report.find(f"{shown(inside)}: an empty folder, not in the manifest")
        for name, info in sorted(things.items()):
            what = _what(info.st_mode)
            if what == "a file" and (name in listed or name == NAME):
                files[name] = info
            elif what == "a folder" and name not in listed:
                waiting.append(name)
            else:
                others.add(name)
                where = "the manifest has a file" if name in listed else "not in the manifest"
                report.find(f"{shown(name)}: {what}, {where}")
    report.find(*_linked(files))
    return set(files), others


def _what(mode: int) -> str:
    kinds = ((stat.S_ISREG, "a file"), (stat.S_ISDIR, "a folder"), (stat.S_ISLNK, "a link"))
    return next((name for is_one, name in kinds if is_one(mode)), "no plain file")


def _linked(files: dict[str, os.stat_result]) -> Iterator[str]:
    """Files that are also called something else, outside of this folder."""
    names = Counter((info.st_dev, info.st_ino) for info in files.values())
    for name, info in files.items():
        if info.st_nlink > names[info.st_dev, info.st_ino]:
            yield (
                f"{shown(name)}: it has another name outside of this folder (a hard link), by which it can be changed: "
                "copy the folder and verify the copy"
            )
