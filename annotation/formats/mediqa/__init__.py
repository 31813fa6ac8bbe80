"""Import MEDIQA-AnS (Savery et al., 2020): questions, passages, and summaries written by people (JSON, nine files)."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from projects.jobs.batches import Progress
from projects.models import Import, Project
from projects.uploads.faults import BadFiles, Faults
from projects.uploads.files import BOM, Source
from sql.bulk import BulkWriter

from ...clusters.articles import excerpt
from ...imports.format import Format, Level, Notice, Parsed
from ...models import Part, Passage, SummaryForm
from . import rows
from .extracts import Extracts, extracts
from .files import BY_KEY, FILES, Value, path_text
from .published import Values, values_of
from .records import Content, dumped, rating_text, read

REPEATED, GAPS, EMPTY, OUTSIDE, OTHERS, SPELLING = (
    "repeated question", "gaps in ids", "empty summary", "not in its passages", "unknown key", "file",
)  # fmt: skip
#: Number of missing ids that a notice lists.
LISTED = 20


@dataclass
class MediqaFile:
    """One of the nine files. ``stored``: the values that the project has of it."""

    content: Content
    stored: Values = field(default_factory=dict)
    level: str = ""

    def __post_init__(self) -> None:
        self.level = self.content.file.key

    @property
    def new(self) -> list[Value]:
        return [value for value in self.content.values if value not in self.stored]

    def compare(self, project: Project, faults: Faults, progress: Progress) -> None:
        """Separate the values that the project already has. A value that differs is a fault."""
        progress(0, None, "comparing with the project")
        known = values_of(project, imported=True)
        self.stored = {value: known[value] for value in self.content.values if value in known}
        for value, stored in self.stored.items():
            if (said := self.content.values[value]) != stored:
                texts = f"{excerpt(str(stored), str(said))!r} differs from {excerpt(str(said), str(stored))!r}"
                message = f"the project has another {value.kind}: {texts}"
                self.content.fault(faults, self.content.paths[value], message)
        self._check_passages(project, known, faults)

    def _check_passages(self, project: Project, known: Values, faults: Faults) -> None:
        """Refuse a passage of another question, and a page of a passage that a known question does not have."""
        question_of = dict(Passage.objects.filter(question__project=project).values_list("key", "question__key"))
        with_passages = {value.question for value in known if value.name == Part.PASSAGE}
        is_reported: set[str] = set()
        for value, path in self.content.paths.items():
            if not value.passage or value.passage in is_reported:
                continue
            if (question := question_of.get(value.passage, value.question)) != value.question:
                message = f"the project has the passage {value.passage} for the question {question}"
            elif (
                self.content.file.part == Part.PAGE
                and value.question in with_passages
                and (value.passage not in question_of)
            ):
                message = f"a page of an unknown passage; the question {value.question} has no {value.passage}"
            else:
                continue
            is_reported.add(value.passage)
            self.content.fault(faults, path, message)

    def counts(self) -> dict[str, int]:
        entries: dict[str, list[Value]] = {key: [] for key in self.content.value}
        for value, path in self.content.paths.items():
            entries[str(path[0])].append(value)
        new = Counter(value.kind for value in self.new)
        n = sum(any(value not in self.stored for value in values) for values in entries.values())
        return {
            "items": len(entries),
            "new": n,
            "unchanged": len(entries) - n,
            "questions": new["question"],
            "passages": new["rating"],
            "texts of passages": new["text"],
            "written summaries": new["summary"],
        }

    def summary(self) -> dict[str, dict[str, int]]:
        ratings = Counter(int(self.content.values[value]) for value in self.new if value.kind == "rating")
        forms = Counter(value.name for value in self.new if value.kind == "summary")
        return {
            "rating": {rating_text(rating): ratings[rating] for rating in sorted(ratings)},
            "summary": {form: forms[form] for form in SummaryForm.values if forms[form]},
        }

    def notices(self, progress: Progress) -> Iterator[Notice]:
        yield from self._notices_of_file()
        found = {
            value: self._extracts(value)
            for value in self.new
            if value.kind == "summary" and value.name == SummaryForm.EXTRACTIVE
        }
        if outside := sum(len(one.outside) for one in found.values()):
            total = sum(one.total for one in found.values())
            yield Notice(OUTSIDE, f"{outside:,} of {total:,} extractive sentences do not occur in their passages.")
        first: dict[str, str] = {}
        for value in self.new:
            said = self.content.values[value]
            if value.kind == "question":
                key = " ".join(str(said).split()).casefold()
                if (other := first.setdefault(key, value.question)) != value.question:
                    yield self._notice(REPEATED, f"The question {other} has the same text.", value, said)
            elif value.kind == "summary" and not str(said).strip():
                yield self._notice(EMPTY, "Stored as: nothing relevant.", value, said)
            elif value in found and found[value].outside:
                yield self._notice(OUTSIDE, found[value].message, value, found[value].first)

    def _notice(self, kind: str, message: str, value: Value, said: object) -> Notice:
        path = self.content.paths[value]
        return Notice(kind, message, value.passage or value.question, "", path_text(path), str(said))

    def _notices_of_file(self) -> Iterator[Notice]:
        content = self.content
        if content.text.encode() != dumped(content.value) or content.source.path.read_bytes().startswith(BOM):
            yield Notice(SPELLING, "The file is spaced or encoded differently. A release writes the published form.")
        for path in content.others:
            message = "It is kept as it is, and released with the file."
            yield Notice(OTHERS, message, str(path[0]), "", path_text(path), "")
        ids = {int(value.question) for value in content.paths if value.question.isdecimal()}
        missing = sorted({*range(min(ids), max(ids) + 1)} - ids) if ids and max(ids) < 10 * len(ids) else []
        if missing and any(value.kind == "question" for value in self.new):
            listed = ", ".join(map(str, missing[:LISTED])) + (" …" if len(missing) > LISTED else "")
            yield Notice(GAPS, f"{len(missing)} ids between {min(ids)} and {max(ids)} do not occur: {listed}.")

    def _extracts(self, value: Value) -> Extracts:
        passages = (
            str(text)
            for one, text in self.content.values.items()
            if one.kind == "text" and one.question == value.question and value.passage in ("", one.passage)
        )
        return extracts(str(self.content.values[value]), passages)

    def sample(self, size: int) -> list[dict[str, Any]]:
        return [{"id": key, **entry} for key, entry in list(self.content.value.items())[:size]]

    def create_items(self, imported: Import, writer: BulkWriter, progress: Progress) -> None:
        """Compare again, because the project may be new, or an earlier file of the set may have added values."""
        faults = Faults()
        self.compare(imported.project, faults, progress)
        if faults:
            raise BadFiles(faults)
        rows.create(imported, self.content, self.new, writer)

    def confirm(self) -> None:
        """Do nothing: unique constraints refuse values that others added."""


class Mediqa(Format):
    key = "mediqa-ans"
    title = "MEDIQA-AnS: questions, passages and written summaries (JSON)"
    material = ("questions", "passages", "written_summaries")
    levels = tuple(Level(file.key, file.title) for file in FILES)
    joins = True

    def level_of(self, level: str, name: str = "") -> str:
        return level or _file_named(name)

    def read(self, source: Source, *, level: str, faults: Faults, progress: Progress) -> Parsed:
        key = self.level_of(level, source.name)
        if not key:
            message = f"the name is none of MEDIQA-AnS's files; select which one it is: {', '.join(BY_KEY)}"
            faults.add(source.name, 0, "file", message)
            return MediqaFile(Content(FILES[0], source))
        progress(0, None, "reading")
        return MediqaFile(read(BY_KEY[key], source, faults))


def _file_named(name: str) -> str:
    """Return the file whose published name is part of a name, or ""."""
    return next((key for key in BY_KEY if key in name), "")
