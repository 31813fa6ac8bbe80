"""Import counterfactuals of existing targets from CSV or JSON lines, one per row."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from measures.counterfactuals import Kind
from projects.jobs.batches import Progress
from projects.models import Import, ImportedRecord, Project
from projects.uploads.faults import BadFiles, Faults
from projects.uploads.files import Source
from sql.bulk import BulkWriter

from ...clusters.counterfactuals import check
from ...imports.columns import rows
from ...imports.format import Format, Notice, Parsed
from ...imports.json_lines import quoted
from ...imports.reading import Habits
from ...models import Proposition
from .records import (
    EXPECTED,
    Entry,
    NewCounterfactual,
    StoredCluster,
    as_rows,
    check_uncorrected,
    map_columns,
    parse_entry,
    read_clusters,
    texts_by_kind,
)

TARGET_CORRECTED = "target was corrected"
READING_NOTE = "how the file was read"
#: Maximum number of rows of a file, which are in memory together.
MOST_ENTRIES = 100_000


@dataclass
class CounterfactualFile:
    """The entries of one file, by line. `compare` adds their targets and import warnings."""

    source: Source
    level: str = ""
    entries: dict[int, Entry] = field(default_factory=dict)
    unchanged: set[int] = field(default_factory=set)
    targets: dict[int, Proposition] = field(default_factory=dict)
    odd: list[Notice] = field(default_factory=list)
    habits: Habits = field(default_factory=Habits)

    @property
    def new(self) -> dict[int, Entry]:
        return {line: e for line, e in self.entries.items() if line not in self.unchanged}

    def compare(self, project: Project, faults: Faults, progress: Progress) -> None:
        """Find the target of each entry, skip entries that the project already has, and check the rest."""
        self.unchanged, self.targets, self.odd = set(), {}, []
        stored = read_clusters(project, list(dict.fromkeys(e.docid for e in self.entries.values())))
        texts = texts_by_kind([(e.docid, e.kind, e.text) for e in self.entries.values()])
        for number, (line, entry) in enumerate(self.entries.items()):
            progress(number, len(self.entries), "comparing with the project")
            problem = self._place(line, entry, stored.get(entry.docid), texts[entry.docid])
            if problem:
                faults.add(self.source.name, line, *problem)

    def _place(
        self, line: int, entry: Entry, stored: StoredCluster | None, texts: dict[str, str]
    ) -> tuple[str, str] | None:
        """Assign an entry to its target. Return None, or the field and the message of a validation problem."""
        if stored is None:
            return "docid", f"the project has no cluster {quoted(entry.docid)}; import its level 3 first"
        target = stored.target
        if target is None:
            return "docid", f"the cluster {quoted(entry.docid)} was removed from the corpus"
        if entry.target_text not in (None, target.text):
            if entry.target_text in stored.earlier:
                return "target_text", f"the target's text was corrected; it is now {quoted(target.text, 200)}"
            return "target_text", f"expected the target's text, {quoted(target.text, 200)}"
        if (entry.kind, entry.text) in stored.imported:
            self.unchanged.add(line)
            return None
        if entry.kind in stored.withdrawn:
            return "kind", f"a decision of the project says that {entry.docid} has no {entry.kind} counterfactual"
        if entry.kind in stored.texts:
            existing_text = quoted(stored.texts[entry.kind], 200)
            return "text", f"the project has a different {entry.kind} counterfactual of {entry.docid}: {existing_text}"
        others = {**stored.texts, **texts}
        result = check(target, entry.kind, entry.text, elements=stored.elements, others=others, gold=stored.gold)
        if result.errors:
            return "text", " ".join(error.message for error in result.errors)
        self.targets[line] = target
        warnings = [(w.code, w.message) for w in result.warnings]
        if stored.earlier and entry.target_text is None:
            warnings.append((TARGET_CORRECTED, "It was compared with the current text."))
        self.odd += [
            Notice(code, f"{entry.kind}: {message}", entry.docid, f"line {line}", "text", entry.text)
            for code, message in warnings
        ]
        return None

    def counts(self) -> dict[str, int]:
        new = self.new
        return {
            "items": len(self.entries),
            "new": len(new),
            "unchanged": len(self.unchanged),
            "counterfactuals": len(new),
            "targets": len({e.docid for e in new.values()}),
        }

    def summary(self) -> dict[str, dict[str, int]]:
        counts = Counter(e.kind for e in self.new.values())
        return {"kind": {kind.value: counts[kind] for kind in Kind if counts[kind]}}

    def notices(self, progress: Progress) -> Iterator[Notice]:
        yield from (Notice(READING_NOTE, sentence) for sentence in self.habits.notes)
        yield from self.odd

    def sample(self, size: int) -> list[dict[str, Any]]:
        first = list(self.entries.values())[:size]
        return [{"docid": e.docid, "kind": e.kind.value, "text": e.text} for e in first]

    def create_items(self, imported: Import, rows: BulkWriter, progress: Progress) -> None:
        """Compare again, because a newly created project had no targets when the file was checked."""
        faults = Faults()
        self.compare(imported.project, faults, progress)
        if faults:
            raise BadFiles(faults)
        new = [NewCounterfactual(self.targets[line], e.kind, e.text) for line, e in self.new.items()]
        rows.add(as_rows(new, imported=imported))
        records = [(line, f"{e.docid} {e.kind.value}") for line, e in self.new.items()]
        rows.add(ImportedRecord(imported=imported, key=key, file=0, line=line) for line, key in records)

    def confirm(self) -> None:
        check_uncorrected({target.unit_id for target in self.targets.values()})


class Counterfactuals(Format):
    key = "counterfactuals"
    material = ("clusters",)
    title = "Counterfactuals of target propositions (CSV or JSON lines: docid, kind, text)"

    def read(self, source: Source, *, level: str, faults: Faults, progress: Progress) -> Parsed:
        file = CounterfactualFile(source)
        first: dict[tuple[str, str], int] = {}
        for line, cells in rows(source, faults, file.habits, progress, map_columns, EXPECTED):
            parsed_entry = parse_entry(cells, lambda f, m, n=line: faults.add(source.name, n, f, m))  # type: ignore[misc]
            if parsed_entry is None:
                continue
            first_line = first.setdefault((parsed_entry.docid, parsed_entry.kind), line)
            if first_line != line:
                message = (
                    f"line {first_line} already has a {parsed_entry.kind} counterfactual of "
                    f"{quoted(parsed_entry.docid)}"
                )
                faults.add(source.name, line, "kind", message)
                continue
            if len(file.entries) == MOST_ENTRIES:
                faults.add(source.name, line, "file", f"more than {MOST_ENTRIES:,} counterfactuals; split the file")
                break
            file.entries[line] = parsed_entry
        if not file.entries and not faults:
            faults.add(source.name, 1, "file", "the file has no rows")
        return file
