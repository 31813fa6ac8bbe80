"""Commands for downloaded releases: ``verify_release``, ``diff_releases`` and ``origin``.

They need no settings, database or Django.

``manage.py`` uses this module if the settings cannot be read. The Django commands of the same names share its arguments
and messages.
"""

import json
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TextIO

from . import origins
from .diffs import FileDifference, differences, row_changes
from .folder import Altered, Report, inspect, read
from .manifest import HEX, Manifest, Unreadable, printable

#: Exit statuses: no findings; findings; invalid input, so that nothing was checked.
FINE, FOUND, WRONG = 0, 1, 2
VERIFY = (
    "Verify a release: every file against its manifest, and the manifest against the "
    "published digest. Detects changed, missing and added files. An installation that stores "
    "the release also checks its database row, the audit entry of its creation, and the "
    "audit checkpoints."
)
DIFF = "Count the rows added, removed and changed between two releases, by file, and list the first ones."
ORIGIN = (
    "Say where a row of a release comes from: file and line or search, answers, decisions with their reasons, and "
    "corrections, oldest first. Needs only the folder."
)
ALONE = "Database row and audit log: no database is configured, so only the folder was checked against its manifest"
COMPARE = (
    "The published digest: pass it with --digest, or compare it yourself. A folder that was "
    "altered together with its manifest passes all other checks."
)


class BadInput(Exception):
    """The input is invalid. The message is one line."""


def digest_given(text: str) -> str:
    """Parse a digest: 64 hex digits, ignoring case and white space."""
    digest = "".join(text.split()).lower()
    if not HEX.fullmatch(digest):
        raise ArgumentTypeError("expected 64 hexadecimal digits")
    return digest


def verify_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("dir", type=Path, metavar="DIR", help="Folder of the unpacked release.")
    parser.add_argument(
        "--digest",
        type=digest_given,
        metavar="HEX",
        help="Digest of the manifest, as published on the page of the release or in a paper.",
    )


def diff_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("old", type=Path, metavar="A")
    parser.add_argument("new", type=Path, metavar="B")
    parser.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="text: counts of rows by file. json: every row that differs, with its fields, decisions and reasons.",
    )


def looked_at(folder: Path, digest: str | None = None) -> Report:
    """Verify a folder against its manifest, and the manifest against a digest from another source. Raise `BadInput`."""
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder.")
    bar = _Bar(sys.stderr)
    report = inspect(folder, bar.progress if sys.stderr.isatty() else None)
    bar.clear()
    if digest and report.manifest:
        if report.manifest.digest == digest:
            report.vouch("The digest matches the one given.")
        else:
            report.find(f"the digest differs from the one given, {digest}: this is another release, or it was altered")
    return report


def tell(report: Report, folder: Path, out: Callable[[str], object]) -> str:
    """Write a report. Return the closing error message, or an empty string if there are no findings."""
    if manifest := report.manifest:
        size = f"{len(manifest.entries)} files, {manifest.size:,} bytes"
        name = f"{printable(manifest.project)} {printable(manifest.version)}"
        out(f"{folder}: {name}, {size}, according to its manifest\n")
        out(f"\nDigest: {manifest.digest}\n\n")
        if not report.vouched and not report.count:
            report.not_checked.append(COMPARE)
    for name, lines in (("Checked", report.checked), ("Not checked", report.not_checked), ("Found", report.findings)):
        for line in lines:
            out(f"{name}: {line}\n")
    if report.more:
        out(f"Found: {report.more} more\n")
    if report.count:
        return f"{folder} differs from the release: {report.count} finding{'s' * (report.count > 1)}."
    out(f"{folder}{' is the release, unchanged.' if report.vouched else ': every file matches the manifest.'}\n")
    return ""


def compared(old: Path, new: Path, format: str = "text") -> Iterator[str]:
    """Yield the lines of ``diff_releases``. Raise `BadInput`."""
    releases = (old, _read(old)), (new, _read(new))
    try:
        if format == "json":
            yield from _json_list(asdict(change) for change in row_changes(*releases))
        else:
            yield from map(_line, differences(*releases))
    except Altered as altered:
        raise BadInput(f"{altered}. Verify both releases first.") from None


def _json_list(items: Iterable[object]) -> Iterator[str]:
    """Yield the lines of a JSON list, one per item."""
    before = "["
    for item in items:
        yield f"{before}{json.dumps(item, ensure_ascii=False)}"
        before = ","
    yield "[]" if before == "[" else "]"


def origin_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("dir", type=Path, metavar="DIR", help="Folder of the unpacked release.")
    parser.add_argument("file", metavar="FILE", help="Path of a file in the release, such as m3/level3.jsonl.")
    parser.add_argument(
        "key", nargs="+", metavar="KEY", help="Key of a row: the cells of its key columns, separated by blanks."
    )


def traced(folder: Path, file: str, key: str) -> Iterator[str]:
    """Yield the lines of ``origin``. Raise `BadInput`."""
    manifest = _read(folder)
    try:
        yield from origins.lines(origins.find(folder, manifest, file, key), manifest)
    except origins.NotFound as none:
        raise BadInput(f"{none}.") from None
    except Altered as altered:
        raise BadInput(f"{altered}. Verify the release first.") from None


def _read(folder: Path) -> Manifest:
    try:
        return read(folder)
    except Unreadable as unreadable:
        raise BadInput(f"{folder} is not a release: {unreadable}.") from None


def _line(difference: FileDifference) -> str:
    if difference.same:
        return f"{difference.path}: unchanged"
    keys = ", ".join(map(printable, difference.keys))
    counts = f"{difference.added} added, {difference.removed} removed, {difference.changed} changed"
    return f"{difference.path}: {counts} ({keys})"


class _Bar:
    """Progress of the hashing in percent, on a terminal."""

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
    options = parser.parse_args(arguments)
    report = looked_at(options.dir, options.digest)
    report.not_checked.append(f"{ALONE} ({why}).")
    if error := tell(report, options.dir, sys.stdout.write):
        print(error, file=sys.stderr)
        return FOUND
    return FINE


def _diff(arguments: list[str], why: str) -> int:
    parser = ArgumentParser("manage.py diff_releases", description=DIFF)
    diff_arguments(parser)
    options = parser.parse_args(arguments)
    for line in compared(options.old, options.new, options.format):
        print(line)
    return FINE


def _origin(arguments: list[str], why: str) -> int:
    parser = ArgumentParser("manage.py origin", description=ORIGIN)
    origin_arguments(parser)
    options = parser.parse_args(arguments)
    for line in traced(options.dir, options.file, " ".join(options.key)):
        print(line)
    return FINE


COMMANDS: dict[str, Callable[[list[str], str], int]] = {
    "verify_release": _verify,
    "diff_releases": _diff,
    "origin": _origin,
}


def main(arguments: list[str], why: str) -> int:
    """Run a command of `COMMANDS` and return its exit status. ``why`` is the reason why there are no settings."""
    try:
        return COMMANDS[arguments[0]](arguments[1:], why)
    except BadInput as wrong:
        print(wrong, file=sys.stderr)
        return WRONG
