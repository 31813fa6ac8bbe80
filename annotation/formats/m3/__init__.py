"""Import M3 (Otmakhova et al., 2022): documents (level 1), sentences (2) and propositions (3) as JSON lines."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from projects.jobs.batches import Progress
from projects.models import Import, Project
from projects.uploads.faults import Faults
from projects.uploads.files import Source
from sql.bulk import BulkWriter

from ...clusters.items import Item
from ...imports.format import Format, Level, Notice, Parsed
from ...imports.json_lines import parse, path_at, quoted
from ...imports.reading import Habits, lines
from . import appendix, existing, notices, records
from .existing import add_clusters, add_targets
from .records import MOST_BYTES, MOST_TEXTS, detect_level, parse_item


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
        stored_items_ = existing.stored_items(project, self.level, [i.key for i in self.items.values()], progress)
        for line, item_ in self.items.items():
            stored = stored_items_.get(item_.key)
            if stored == item_._replace(abstract=""):
                self.unchanged.add(item_.key)
            elif stored is not None:
                path, value = existing.difference(item_, stored)
                faults.add(
                    self.source.name, line, path, f"the project has {item_.key} with different content: {quoted(value)}"
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
        yield from notices.file_notices(self.habits)
        for number, each in enumerate(new):
            progress(number, len(new), "checking for unusual values")
            yield from notices.item_notices(each)
        yield from notices.gap_notices(new)

    def sample(self, size: int) -> list[dict[str, Any]]:
        return [records.as_published(i) for i in list(self.items.values())[:size]]

    def create_items(self, imported: Import, rows: BulkWriter, progress: Progress) -> None:
        if self.level == "3":
            add_clusters(imported, self.new, rows, progress)
        else:
            add_targets(imported, self.level, self.new, rows, progress)

    def confirm(self) -> None:
        """Do nothing: a unique constraint on the keys rejects items that were imported in the meantime."""


class M3(Format):
    key = "m3"
    title = "M3: reviews and their evidence (JSON lines, levels 1 to 3)"
    levels = (Level("1", "document"), Level("2", "sentence"), Level("3", "proposition"))

    def read(self, source: Source, *, level: str, faults: Faults, progress: Progress) -> Parsed:
        file = M3File(source, level)
        if source.size > MOST_BYTES:
            faults.add(source.name, 0, "file", f"larger than {MOST_BYTES // 2**20} MiB; split the file")
            return file
        first: dict[str, int] = {}
        respelled = texts = with_appendix_names = 0
        for line in lines(source, faults, file.habits, path_at, progress):
            value = parse(line, source.name, faults)
            if value is None:
                continue
            file.level = file.level or detect_level(value) or ""
            if not file.level:
                faults.add(
                    source.name, line.number, "docid", "not an M3 file: expected the key docid, pico or target_pmid"
                )
                return file
            fault = partial(faults.add, source.name, line.number)
            is_appendix = file.level == "1" and appendix.has_appendix_names(value)
            parsed_item = appendix.parse(value, fault) if is_appendix else parse_item(value, file.level, fault)
            name = "target_pmid" if is_appendix else "docid"
            docid = value.get(name)
            if isinstance(docid, str) and first.setdefault(docid, line.number) != line.number:
                fault(name, f"line {first[docid]} already has {quoted(docid)}")
                parsed_item = None
            if parsed_item:
                file.items[line.number] = parsed_item
                texts += 1 + len(parsed_item.inputs)
                if texts > (most := MOST_TEXTS[file.level]):
                    message = f"the file has more than {most:,} texts up to this line; split the file"
                    faults.add(source.name, line.number, "file", message)
                    return file
                with_appendix_names += is_appendix
                published = json.dumps(records.as_published(parsed_item), ensure_ascii=False)
                respelled += not is_appendix and published != line.text
        if with_appendix_names:
            file.habits.notes.append(f"{with_appendix_names} {appendix.ASSUMED}")
        if respelled:
            file.habits.notes.append(
                f"{respelled} lines write the same content differently from the published files (escapes, "
                "spaces or key order). "
                "A release writes them as published."
            )
        return file
