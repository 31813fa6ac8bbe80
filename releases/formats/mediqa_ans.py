"""Questions, passages and written summaries, in the published form of MEDIQA-AnS: the files that the rows can fill."""

from collections.abc import Iterable, Iterator

from annotation.formats.mediqa import published
from projects.models import Project

from .notes import Notes


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    for name, content in published.files(project):
        yield f"mediqa_ans/{name}", [content]
