"""Points that were given elsewhere: JSON lines with a text and its points. They are counted, and nothing is kept."""

from collections.abc import Iterator
from typing import Any

from annotation.imports import Format, Notice, Parsed
from annotation.imports.json_lines import parse, path_at
from annotation.imports.reading import Habits, lines
from projects.jobs.batches import Progress
from projects.models import Import, Project
from projects.uploads.faults import Faults
from projects.uploads.files import Source
from sql.bulk import BulkWriter


class SaidFile:
    level = ""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    def compare(self, project: Project, faults: Faults, progress: Progress) -> None:
        pass

    def counts(self) -> dict[str, int]:
        return {"items": len(self.rows), "new": len(self.rows), "unchanged": 0}

    def summary(self) -> dict[str, dict[str, int]]:
        return {}

    def notices(self, progress: Progress) -> Iterator[Notice]:
        return iter(())

    def sample(self, size: int) -> list[dict[str, Any]]:
        return self.rows[:size]

    def create_items(self, imported: Import, rows: BulkWriter, progress: Progress) -> None:
        pass

    def confirm(self) -> None:
        pass


class SaidFormat(Format):
    key = "said"
    title = "Points that were given elsewhere (JSON lines: text, points)"

    def read(self, source: Source, *, level: str, faults: Faults, progress: Progress) -> Parsed:
        read = (parse(line, source.name, faults) for line in lines(source, faults, Habits(), path_at, progress))
        return SaidFile([row for row in read if row is not None])
