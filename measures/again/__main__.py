"""``python -m measures.again FOLDER``."""

from __future__ import annotations

import csv
import sys
from argparse import ArgumentParser
from pathlib import Path

from measures.again import agreement, corrections, pairs, ratings, reliability, scores
from measures.again.files import Folder
from measures.again.findings import Findings, Unusable

#: How it ends: all came out as printed; something came out differently; it could not be done.
FINE, FOUND, WRONG = 0, 1, 2
PARTS = (agreement.repeat, reliability.repeat, corrections.repeat, scores.repeat, pairs.repeat, ratings.repeat)


def main(arguments: list[str]) -> int:
    """Repeat the figures of a release; the exit status."""
    parser = ArgumentParser("python -m measures.again", description=sys.modules["measures.again"].__doc__)
    parser.add_argument("folder", type=Path, help="The folder of the release, unpacked.")
    given = parser.parse_args(arguments)
    # A cell may hold a whole document. The limit is the process's, which reads nothing but the release.
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    findings = Findings()
    try:
        folder = Folder(given.folder)
        for part in PARTS:
            part(folder, findings)
    except Unusable as wrong:
        print(f"{given.folder}: {wrong}.", file=sys.stderr)
        return WRONG
    for file, count in findings.repeated.items():
        if count:
            print(f"{file}: {count} figures came out as printed")
    for sentence in findings.not_repeated:
        print(f"Not repeated: {sentence}")
    for sentence in findings.different:
        print(f"Different: {sentence}")
    if findings.more:
        print(f"Different: {findings.more} more")
    if findings.count:
        print(f"{folder.name}: {findings.count} figures or facts are not as printed.", file=sys.stderr)
        return FOUND
    print(f"{folder.name}: every figure came out as printed.")
    return FINE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
