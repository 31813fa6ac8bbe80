"""M3 (Otmakhova et al., 2022): documents (level 1), sentences (level 2) and propositions (level 3) as JSON lines."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from projects.background.progress import Progress
from projects.models import Import, Project
from projects.uploads.faults import Faults
from projects.uploads.source import Source
from sql.ready import Rows

from ...corpus.items import Item
from ..formats import Format, Level, Notice, Parsed
from ..json_lines import parse, path_at, shown
from ..reading import Habits, lines
from . import existing, notices, published
from .records import MOST_BYTES, MOST_TEXTS, item, recognised
from .rows import add_clusters, add_targets


@dataclass
class M3File:
    """The items of one file, by line."""

    source: Source
    level: str
    items: dict[int, Item] = field(default_factory=dict)
    habits: Habits = field(default_factory=Habits)
    unchanged: set[str] = field(default_factory=set)

    @property
    def new(self) -> list[Item]:
        return [i for i in self.items.values() if i.key not in self.unchanged]

    def compare(self, project: Project, faults: Faults, progress: Progress) -> None:
        there = existing.items(project, self.level, [i.key for i in self.items.values()], progress)
        for line, found in self.items.items():
            stored = there.get(found.key)
            if stored == found:
                self.unchanged.add(found.key)
            elif stored is not None:
                where, was = existing.difference(found, stored)
                faults.add(
                    self.source.name,
                    line,
                    where,
                    f"the project has {found.key} with other content there: {shown(was)}",
                )

    def counts(self) -> dict[str, int]:
        new = self.new
        counts = {
            "items": len(self.items),
            "new": len(new),
            "unchanged": len(self.unchanged),
            "targets": len(new),
            "inputs": sum(len(i.inputs) for i in new),
            "reviews": len({i.review for i in new}),
            "studies": len({s.pmid for i in new for s in i.inputs}),
        }
        if self.level == "3":
            counts |= {"clusters": len(new), "propositions": counts["targets"] + counts["inputs"]}
        return counts

    def summary(self) -> dict[str, dict[str, int]]:
        return notices.value_counts(self.new) if self.level == "3" else {}

    def notices(self, progress: Progress) -> Iterator[Notice]:
        new = self.new
        yield from notices.of_file(self.habits)
        for number, each in enumerate(new):
            progress(number, len(new), "looking for what is odd")
            yield from notices.of_item(each)
        yield from notices.of_gaps(new)

    def sample(self, size: int) -> list[dict[str, Any]]:
        return [published.as_published(i) for i in list(self.items.values())[:size]]

    def lay_out(self, imported: Import, rows: Rows, progress: Progress) -> None:
        if self.level == "3":
            add_clusters(imported, self.new, rows, progress)
        else:
            add_targets(imported, self.level, self.new, rows, progress)

    def confirm(self) -> None:
        """The same items, brought in meanwhile, have the same keys, which the data base refuses."""


class M3(Format):
    key = "m3"
    title = "M3: reviews and their evidence (JSON lines, levels 1 to 3)"
    levels = (Level("1", "document"), Level("2", "sentence"), Level("3", "proposition"))

    def read(self, source: Source, *, level: str, faults: Faults, progress: Progress) -> Parsed:
        file = M3File(source, level)
        if source.size > MOST_BYTES:
            faults.add(source.name, 0, "file", f"larger than {MOST_BYTES // 2**20} MiB: bring it in several files")
            return file
        first: dict[str, int] = {}
        unlike = texts = 0
        for line in lines(source, faults, file.habits, path_at, progress):
            value = parse(line, source.name, faults)
            if value is None:
                continue
            file.level = file.level or recognised(value) or ""
            if not file.level:
                faults.add(source.name, line.number, "docid", "neither this key nor pico is here: not a file of M3")
                return file
            found = item(value, file.level, lambda f, m, n=line.number: faults.add(source.name, n, f, m))  # type: ignore[misc]
            docid = value.get("docid")
            if isinstance(docid, str) and first.setdefault(docid, line.number) != line.number:
                faults.add(source.name, line.number, "docid", f"{shown(docid)} stands on line {first[docid]} already")
                found = None
            if found:
                file.items[line.number] = found
                texts += 1 + len(found.inputs)
                if texts > (most := MOST_TEXTS[file.level]):
                    message = f"the file has more than {most:,} texts up to here: bring it in several files"
                    faults.add(source.name, line.number, "file", message)
                    return file
                unlike += json.dumps(published.as_published(found), ensure_ascii=False) != line.text
        if unlike:
            file.habits.notes.append(
                f"{unlike} lines spell the same content in another way (escapes, spaces or the order of keys) than the "
                "published files; a release writes the published spelling."
            )
        return file
