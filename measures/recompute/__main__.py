from __future__ import annotations

import csv
import sys
from argparse import ArgumentParser
from pathlib import Path

from measures.recompute.files import Folder

from . import (
    agreement,
    judges,
    pairs,
    question_texts,
    rankings,
    ratings,
    rounds,
    scores,
    statistics,
    suggestions,
    written,
)
from .files import Findings, InvalidRelease

#: Exit statuses: all figures equal, some figures differ, the folder cannot be read, some figures were not recomputed.
ALL_EQUAL, DIFFERENT, UNREADABLE, INCOMPLETE = 0, 1, 2, 3
PARTS = (
    statistics.recompute,
    statistics.recompute_labels,
    agreement.recompute,
    agreement.recompute_reliability,
    agreement.recompute_corrections,
    rounds.recompute_gates,
    rounds.recompute_returned,
    suggestions.recompute,
    scores.recompute,
    pairs.recompute_texts,
    pairs.recompute,
    rankings.recompute,
    ratings.recompute,
    judges.recompute,
    written.recompute,
    question_texts.recompute,
    statistics.recompute_methods,
)


def main(arguments: list[str]) -> int:
    """Recompute the figures of a release and return the exit status."""
    parser = ArgumentParser("python -m measures.recompute", description=sys.modules["measures.recompute"].__doc__)
    parser.add_argument("folder", type=Path, help="Folder of the unpacked release.")
    options = parser.parse_args(arguments)
    # A cell may hold a whole document. The limit applies to the process, which reads only the release.
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    findings = Findings()
    try:
        folder = Folder(options.folder)
        if "texts" in folder.manifest.get("without", []):
            print(
                f"{folder.name}: not recomputed, because the release has no texts. Restore them first.", file=sys.stderr
            )
            return INCOMPLETE
        for part in PARTS:
            part(folder, findings)
    except InvalidRelease as error:
        print(f"{options.folder}: {error}.", file=sys.stderr)
        return UNREADABLE
    for file, count in findings.equal.items():
        if count:
            print(f"{file}: {count} figures equal the printed ones")
    for sentence in findings.not_recomputable:
        print(f"Not recomputable from the folder: {sentence}")
    for sentence in findings.not_recomputed:
        print(f"Not recomputed: {sentence}")
    for sentence in findings.differences:
        print(f"Different: {sentence}")
    if findings.unlisted:
        print(f"Different: {findings.unlisted} more")
    if findings.count:
        print(f"{folder.name}: {findings.count} figures or facts differ from the printed ones.", file=sys.stderr)
        return DIFFERENT
    equal = sum(findings.equal.values())
    if findings.not_recomputed:
        incomplete = f"{len(findings.not_recomputed)} figures or groups of figures were not recomputed"
        print(f"{folder.name}: {equal} figures equal the printed ones; {incomplete}.", file=sys.stderr)
        return INCOMPLETE
    print(f"{folder.name}: all figures that the folder allows to recompute equal the printed ones ({equal}).")
    return ALL_EQUAL


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
