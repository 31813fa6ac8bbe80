"""What a release can write, one module a format, listed here by name. Formats are added; no file is ever moved."""

# Each gives files as (path in the release, chunks of bytes: one a row where there are rows), lazily, and is called
# inside one snapshot. The chunks of a file are consumed before the next file is asked for. What a format notices on the
# way goes into the notes: from there into the manifest's counts, and into the statistics, which therefore come last.

from collections.abc import Callable, Iterable, Iterator

from projects.models import Project

from . import (
    abstracts,
    agreement,
    answers,
    corrections,
    counterfactuals,
    m3,
    pairs,
    provenance,
    ratings,
    reliability,
    rounds,
    statistics,
    systems,
)
from .notes import Notes

File = tuple[str, Iterable[bytes]]
Format = Callable[[Project, Notes], Iterator[File]]

FORMATS: dict[str, Format] = {
    "m3": m3.files,
    "counterfactuals": counterfactuals.files,
    "abstracts": abstracts.files,
    "rounds": rounds.files,
    "answers": answers.files,
    "agreement": agreement.files,
    "reliability": reliability.files,
    "corrections": corrections.files,
    "provenance": provenance.files,
    "systems": systems.files,
    "pairs": pairs.files,
    "ratings": ratings.files,
    "statistics": statistics.files,
}


def files(project: Project, notes: Notes) -> Iterator[File]:
    """The files of every format that the project has material for, in the order of the list."""
    for format in FORMATS.values():
        yield from format(project, notes)
