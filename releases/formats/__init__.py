"""The files of a release. Each format is one module, listed here by name. New formats never move existing files."""

# Each format lazily yields files as (path in the release, chunks of bytes), with one chunk per row. It runs inside one
# snapshot. The chunks of a file must be consumed before the next file is requested. Formats record counts in the notes,
# for the manifest and the statistics. The statistics are therefore the last format.

from collections.abc import Callable, Iterable, Iterator

from projects.models import Project

from . import (
    abstracts,
    agreement,
    answers,
    columns,
    corrections,
    counterfactuals,
    guidelines,
    judges,
    m3,
    mediqa_ans,
    ms2,
    mslr,
    pairs,
    prov,
    provenance,
    question_texts,
    rankings,
    ratings,
    reliability,
    rounds,
    splits,
    statistics,
    suggestions,
    systems,
    written,
)
from .notes import Notes

File = tuple[str, Iterable[bytes]]
Format = Callable[[Project, Notes], Iterator[File]]

FORMATS: dict[str, Format] = {
    "m3": m3.files,
    "ms2": ms2.files,
    "mslr": mslr.files,
    "mediqa_ans": mediqa_ans.files,
    "written": written.files,
    "questions": question_texts.files,
    "columns": columns.files,
    "counterfactuals": counterfactuals.files,
    "abstracts": abstracts.files,
    "rounds": rounds.files,
    "guidelines": guidelines.files,
    "answers": answers.files,
    "agreement": agreement.files,
    "reliability": reliability.files,
    "corrections": corrections.files,
    "suggestions": suggestions.files,
    "provenance": provenance.files,
    "prov": prov.files,
    "systems": systems.files,
    "pairs": pairs.files,
    "rankings": rankings.files,
    "ratings": ratings.files,
    "judges": judges.files,
    "splits": splits.files,
    "statistics": statistics.files,
}


def files(project: Project, notes: Notes) -> Iterator[File]:
    """Yield the files of every format that has data, in the order of `FORMATS`."""
    for format in FORMATS.values():
        yield from format(project, notes)
