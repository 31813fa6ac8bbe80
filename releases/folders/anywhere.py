"""``verify_release`` and ``diff_releases`` for whoever has downloaded a release: without settings, data base or Django.

``manage.py`` comes here where the settings cannot be read; Django's commands of the same names take their arguments and
their words from here. Plain Python.
"""

import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

from .diffs import FileDifference, differences
from .folder import Altered, Report, inspect, read
from .manifest import HEX, Manifest, Unreadable, shown

#: How a command ends: nothing found; something found; nothing looked at, because what it was given makes no sense.
FINE, FOUND, WRONG = 0, 1, 2
VERIFY = (
    "Check a release: every file against its manifest, and the manifest against the digest that was published. Finds "
    "one changed byte, a missing or an added file. Inside an installation that keeps the release its row, the sealed "
    "entry of its freezing and the seal's place in the chain are compared as well."
)
DIFF = "Count the rows added, removed and changed between two releases, file by file, and name the first ones."
ALONE = "Row and audit log of an installation: no data base at hand, only the folder against its own manifest"
COMPARE = (
    "The digest: compare it with the published one, or give that with --digest. A folder that was altered together "
    "with its manifest fits itself."
)


class BadInput(Exception):
    """What was given makes no sense; the message is one line."""


def digest_given(text: str) -> str:
    """A digest as somebody copied it: 64 hex digits, capitals and white space aside."""
    digest = "".join(text.split()).lower()
    if not HEX.fullmatch(digest):
        raise ArgumentTypeError("a digest is 64 hex digits")
    return digest


def verify_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("dir", type=Path, metavar="DIR", help="The folder of the release, unpacked.")
    parser.add_argument(
        "--digest", type=digest_given, metavar="HEX",
        help="The digest of the manifest as it was published, on the release's page or in a paper.",
    )  # fmt: skip


def diff_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("old", type=Path, metavar="A")
    parser.add_argument("new", type=Path, metavar="B")


def looked_at(folder: Path, digest: str | None = None) -> Report:
    """The folder against its manifest, and that against a digest that was noted elsewhere. Raises `BadInput`."""
    if not folder.is_dir():
        raise BadInput(f"{folder} is no folder.")
    bar = _Bar(sys.stderr)
    report = inspect(folder, bar.progress if sys.stderr.isatty() else None)
    bar.clear()
    if digest and report.manifest:
        if report.manifest.digest == digest:
            report.vouch("Its digest is the one given.")
        else:
            report.find(f"Its digest is not the one given, {digest}: this is not that release")
    return report


def tell(report: Report, folder: Path, out: Callable[[str], object]) -> str:
    """Write what was looked at and what was found; how to end it in a line, empty where nothing was found."""
    if found := report.manifest:
        size = f"{len(found.entries)} files, {found.size:,} bytes"
        out(f"{folder}: by its manifest {shown(found.project)} {shown(found.version)}, {size}\n")
        out(f"\nDigest: {found.digest}\n\n")
        if not report.vouched and not report.count:
            report.not_checked.append(COMPARE)
    for name, lines in (("Checked", report.checked), ("Not checked", report.not_checked), ("Found", report.findings)):
        for line in lines:
            out(f"{name}: {line}\n")
    if report.more:
        out(f"Found: {report.more} more\n")
    if report.count:
        return f"{folder} is not as it was released: {report.count} finding{'s' * (report.count > 1)}."
    out(f"{folder}{' is as it was released.' if report.vouched else ': every file is as its manifest says.'}\n")
    return ""


def compared(old: Path, new: Path) -> Iterator[str]:
    """The lines of ``diff_releases``. Raises `BadInput`."""
    releases = (old, _read(old)), (new, _read(new))
    try:
        yield from map(_line, differences(*releases))
    except Altered as altered:
        raise BadInput(f"{altered}. Verify both releases first.") from None


def _read(folder: Path) -> Manifest:
    try:
        return read(folder)
    except Unreadable as unreadable:
        raise BadInput(f"{folder} is no release: {unreadable}.") from None


def _line(found: FileDifference) -> str:
    if found.same:
        return f"{found.path}: the same"
    keys = ", ".join(map(shown, found.keys))
    return f"{found.path}: {found.added} added, {found.removed} removed, {found.changed} changed ({keys})"


class _Bar:
    """How much was hashed, in percent, on a terminal."""

    def __init__(self, out: TextIO) -> None:
        self.out, self.shown = out, -1

    def progress(self, done: int, total: int) -> None:
        if (percent := done * 100 // max(total, 1)) > self.shown:
            self.shown = percent
            self.out.write(f"\r{percent:3} % hashed")
            self.out.flush()

    def clear(self) -> None:
        if self.shown >= 0:
            self.out.write("\r" + " " * 20 + "\r")


def _verify(arguments: list[str], why: str) -> int:
    parser = ArgumentParser("manage.py verify_release", description=VERIFY)
    verify_arguments(parser)
    given = parser.parse_args(arguments)
    report = looked_at(given.dir, given.digest)
    report.not_checked.append(f"{ALONE} ({why}).")
    if wrong := tell(report, given.dir, sys.stdout.write):
        print(wrong, file=sys.stderr)
        return FOUND
    return FINE


def _diff(arguments: list[str], why: str) -> int:
    parser = ArgumentParser("manage.py diff_releases", description=DIFF)
    diff_arguments(parser)
    given = parser.parse_args(arguments)
    for line in compared(given.old, given.new):
        print(line)
    return FINE


COMMANDS: dict[str, Callable[[list[str], str], int]] = {"verify_release": _verify, "diff_releases": _diff}


def main(arguments: list[str], why: str) -> int:
    """Do a command of `COMMANDS`; its exit status. ``why`` says why there are no settings."""
    try:
        return COMMANDS[arguments[0]](arguments[1:], why)
    except BadInput as wrong:
        print(wrong, file=sys.stderr)
        return WRONG
