"""The sections of the methods text, in the order in which a paper has them."""

from collections.abc import Callable, Iterator

from ..facts.study import StudyFacts
from ..text import Document, Section
from . import annotation, data, evaluation, judges, people, ratings, release

Writer = Callable[[StudyFacts], Iterator[Section]]

#: Each yields its sections, or none if the project has nothing to report.
WRITERS: tuple[Writer, ...] = (
    data.sections,
    people.sections,
    annotation.sections,
    evaluation.sections,
    ratings.sections,
    judges.sections,
    release.sections,
)


def document(facts: StudyFacts) -> Document:
    """Return the methods text of a project."""
    of = f" {facts.release.version}" if facts.release.version else ""
    sections = (section for writer in WRITERS for section in writer(facts))
    return Document(
        title=f"Methods of {facts.stated.title}{of}",
        note="Generated from the data of this project, for use in a paper. Information that neither the data nor the "
        "settings contain is marked NOT PROVIDED, and listed at the end.",
        sections=tuple(section for section in sections if section.paragraphs),
    )
