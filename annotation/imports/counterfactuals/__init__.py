"""Counterfactuals written elsewhere, for the targets of a project: CSV or JSON lines, one a row."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from annotation.models import Proposition
from annotation.values.counterfactuals import check
from measures.counterfactuals import Kind
from projects.background.progress import Progress
from projects.models import Import, Project
from projects.uploads.faults import BadFiles, Faults
from projects.uploads.source import Source
from sql.ready import Rows

from ..formats import Format, Notice, Parsed
from ..json_lines import shown
from ..reading import Habits
from ..tables import rows
from .existing import Known, clusters, texts_by_kind
from .records import EXPECTED, Entry, columns, entry
from .storing import NewCounterfactual, as_rows, refuse_corrected

TARGET_CORRECTED = "target was corrected"


@dataclass
class CounterfactualFile:
    """The entries of one file, by line; after `compare` also their targets and what is odd about them."""

    source: Source
    level: str = ""
    entries: dict[int, Entry] = field(default_factory=dict)
    unchanged: set[int] = field(default_factory=set)
    targets: dict[int, Proposition] = field(default_factory=dict)
    odd: list[Notice] = field(default_factory=list)

    @property
    def new(self) -> dict[int, Entry]:
        return {line: e for line, e in self.entries.items() if line not in self.unchanged}

    def compare(self, project: Project, faults: Faults, progress: Progress) -> None:
        """Find the targets, set aside what the project has, and hold the rest against the texts."""
        self.unchanged, self.targets, self.odd = set(), {}, []
        there = clusters(project, list(dict.fromkeys(e.docid for e in self.entries.values())))
        given = texts_by_kind([(e.docid, e.kind, e.text) for e in self.entries.values()])
        for number, (line, found) in enumerate(self.entries.items()):
            progress(number, len(self.entries), "comparing with the project")
            wrong = self._place(line, found, there.get(found.docid), given[found.docid])
            if wrong:
                faults.add(self.source.name, line, *wrong)

    def _place(self, line: int, found: Entry, known: Known | None, given: dict[str, str]) -> tuple[str, str] | None:
        """Put one entry in its place; or the field and what is wrong with it."""
        if known is None:
            return "docid", f"the project has no cluster {shown(found.docid)}"
        target = known.target
        if target is None:
            return "docid", f"the cluster {shown(found.docid)} was taken out of the corpus"
        if found.target_text not in (None, target.text):
            if found.target_text in known.earlier:
                return "target_text", f"the target's text was corrected since; it is now {shown(target.text, 200)}"
            return "target_text", f"not the target's text, which is {shown(target.text, 200)}"
        if (found.kind, found.text) in known.brought:
            self.unchanged.add(line)
            return None
        if found.kind in known.withdrawn:
            return "kind", f"it was decided here that {found.docid} has no {found.kind} counterfactual"
        if found.kind in known.texts:
            there = shown(known.texts[found.kind], 200)
            return "text", f"the project has another {found.kind} counterfactual of {found.docid}: {there}"
        others = {**known.texts, **given}
        checked = check(target, found.kind, found.text, slots=known.slots, others=others, gold=known.gold)
        if checked.errors:
            return "text", " ".join(error.message for error in checked.errors)
        self.targets[line] = target
        warnings = [(w.code, w.message) for w in checked.warnings]
        if known.earlier and found.target_text is None:
            warnings.append((TARGET_CORRECTED, "It was held against the text in force."))
        self.odd += [
            Notice(code, f"{found.kind}: {message}", found.docid, f"line {line}", "text", found.text)
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
        yield from self.odd

    def sample(self, size: int) -> list[dict[str, Any]]:
        first = list(self.entries.values())[:size]
        return [{"docid": e.docid, "kind": e.kind.value, "text": e.text} for e in first]

    def lay_out(self, imported: Import, rows: Rows, progress: Progress) -> None:
        """Compared once more: a project that was only just made had no targets before."""
        faults = Faults()
        self.compare(imported.project, faults, progress)
        if faults:
            raise BadFiles(faults)
        new = [NewCounterfactual(self.targets[line], e.kind, e.text) for line, e in self.new.items()]
        rows.add(as_rows(new, imported=imported))

    def confirm(self) -> None:
        refuse_corrected({target.unit_id for target in self.targets.values()})


class Counterfactuals(Format):
    key = "counterfactuals"
    title = "Counterfactuals of target propositions (CSV or JSON lines: docid, kind, text)"

    def read(self, source: Source, *, level: str, faults: Faults, progress: Progress) -> Parsed:
        file = CounterfactualFile(source)
        first: dict[tuple[str, str], int] = {}
        for line, cells in rows(source, faults, Habits(), progress, columns, EXPECTED):
            found = entry(cells, lambda f, m, n=line: faults.add(source.name, n, f, m))  # type: ignore[misc]
            if found is None:
                continue
            before = first.setdefault((found.docid, found.kind), line)
            if before != line:
                said = f"{shown(found.docid)} has its {found.kind} counterfactual on line {before} already"
                faults.add(source.name, line, "kind", said)
                continue
            file.entries[line] = found
        if not file.entries and not faults:
            faults.add(source.name, 1, "file", "the file has no row")
        return file
