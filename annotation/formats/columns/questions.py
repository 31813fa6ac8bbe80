"""Tables of questions, their passages and summaries written by people; and tables of pages of known passages."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.db.models import Max

from projects.models import Import, Project, Unit
from projects.uploads.faults import Faults
from projects.uploads.files import Source
from sql.bulk import BulkWriter, ids_by_text
from sql.temporary import temporary_database

from ...imports.format import Notice
from ...imports.passes import Index
from ...models import ColumnValues, Part, Passage, Question, QuestionText, SummaryForm, WrittenSummary
from ..mediqa import OUTSIDE, REPEATED
from ..mediqa.extracts import extracts
from ..mediqa.rows import PASSAGE, QUESTION, SUMMARY
from .items import By, Entry, TableItem, outputs_of, shown_of
from .mapping import INPUT, ITEM, ColumnMapping
from .stream import TableStream, value_rows

_ADD_TEXT = "INSERT OR IGNORE INTO texts VALUES (?, ?)"


def _digest(question: str) -> bytes:
    return hashlib.sha256(" ".join(question.split()).casefold().encode()).digest()


class QuestionStream(TableStream):
    def __init__(self, level: str, mapping: ColumnMapping | None) -> None:
        super().__init__(level, mapping)
        # On disk, because a file may have any number of questions.
        self._first = temporary_database("CREATE TABLE texts (digest BLOB PRIMARY KEY, key TEXT) WITHOUT ROWID")

    def begin(self, sources: Sequence[Source], faults: Faults) -> None:
        super().begin(sources, faults)
        self._first.execute("DELETE FROM texts")
        if "import" in self.state:
            # An import that continues. A question may repeat one of an earlier batch.
            rows = QuestionText.with_arriving.filter(imported=self.state["import"], part=Part.QUESTION)
            texts = rows.order_by("pk").values_list("text", "question__key").iterator(chunk_size=2000)
            self._first.executemany(_ADD_TEXT, ((_digest(text), key) for text, key in texts))

    def rows_of(self, item: TableItem) -> int:
        per_entry = sum(2 + 2 * (e.text is not None) + 2 * len(e.summaries) for e in item.entries)
        return 3 + 2 * len(item.targets) + per_entry

    def stored(self, project: Project, keys: Sequence[str]) -> Mapping[str, int | None]:
        rows = Question.with_arriving.filter(project=project, key__in=keys).order_by()
        return dict(rows.values_list("key", "imported_id"))

    def differences(self, project: Project, items: Sequence[TableItem]) -> Iterator[tuple[str, str, object]]:
        stored = _stored(project, [item.key for item in items])
        for item in items:
            for (role, passage, name), value in _texts_of(item):
                known = stored.get((item.key, role, passage, name))
                if known is None or known != value:
                    yield item.key, self._name(role), known if known is not None else f"no {role} {passage}".strip()
                    break

    def _name(self, role: str) -> str:
        assert self.mapping
        return next((column.name for column in self.mapping.of_role(role)), role)

    def conflicts(
        self, project: Project | None, items: Sequence[TableItem], known: Index | None
    ) -> Iterator[tuple[str, str, str]]:
        """Yield the passages that another question has already, because ids of passages are unique in a project."""
        keys = [entry.key for item in items for entry in item.entries]
        question_of: dict[str, str] = {}
        if project:
            ids = list(ids_by_text(Unit, "key", keys, project_id=project.pk).values())
            rows = Passage.with_arriving.filter(unit__in=ids).order_by()
            question_of = dict(rows.values_list("key", "question__key"))
        for item in items:
            is_new = not known or known.are_new((f"passage {entry.key}" for entry in item.entries), item.key)
            for entry in item.entries:
                first = question_of.setdefault(entry.key, item.key)
                if known and not is_new and first == item.key:
                    first = known.first_value(f"passage {entry.key}", item.key)
                if first != item.key:
                    yield item.key, self._name("input_id"), f"the question {first} has the passage {entry.key} already"

    def create(self, imported: Import, items: Sequence[TableItem], first: int, rows: BulkWriter) -> None:
        self.state["import"] = imported.pk
        self.add_mapping(imported, rows)
        _Creation(imported, rows).create(items, first)

    def next_position(self, project: Project) -> int:
        last = Question.with_arriving.filter(project=project).aggregate(last=Max("position"))["last"]
        return 0 if last is None else last + 1

    def notices(self, item: TableItem) -> Iterator[Notice]:
        digest = _digest(item.question)
        self._first.execute(_ADD_TEXT, (digest, item.key))
        [other] = self._first.execute("SELECT key FROM texts WHERE digest = ?", (digest,)).fetchone()
        # A batch that is written again finds its own questions.
        if other != item.key:
            message = f"The question {other} has the same text."
            yield Notice(REPEATED, message, item.key, "", self._name("question"), item.question)
        yield from self._outside(item)
        yield from item.notices

    def _outside(self, item: TableItem) -> Iterator[Notice]:
        """Yield a notice for each extractive summary with sentences that its passages do not contain."""
        passages = [entry.text or "" for entry in item.entries]
        summaries = [(item.key, ITEM, by, text, passages) for by, text in item.targets.items()]
        for entry in item.entries:
            of = [entry.text or ""]
            summaries += [(entry.key, INPUT, by, text, of) for by, text in entry.summaries.items()]
        for key, of_, by, text, texts in summaries:
            if by[0] == SummaryForm.EXTRACTIVE and (found := extracts(text, texts)).outside:
                yield Notice(OUTSIDE, found.message, key, "", self._column_of(of_, by), found.first)

    def _column_of(self, of: str, by: By) -> str:
        assert self.mapping
        columns = self.mapping.of_role("target")
        return next(column.name for column in columns if (column.of, column.form, column.writer) == (of, *by))

    def new_keys(self, imported: Import) -> Iterator[str]:
        rows = Question.with_arriving.filter(imported=imported).order_by("pk").values_list("key", flat=True)
        yield from rows.iterator(chunk_size=2000)

    def count(self, items: Sequence[TableItem]) -> dict[str, int]:
        entries = [entry for item in items for entry in item.entries]
        summaries = sum(len(item.targets) for item in items) + sum(len(entry.summaries) for entry in entries)
        return {
            "questions": len(items),
            "passages": len(entries),
            "written summaries": summaries,
            "ratings": sum(entry.rating is not None for entry in entries),
            **outputs_of(items),
        }

    def values(self, items: Sequence[TableItem]) -> dict[str, dict[str, int]]:
        counts: dict[str, int] = {}
        for item in items:
            for entry in item.entries:
                if entry.rating is not None:
                    counts[str(entry.rating)] = counts.get(str(entry.rating), 0) + 1
        return {"rating": counts} if counts else {}

    def distinct(self, items: Sequence[TableItem]) -> dict[str, set[str]]:
        return {}

    def count_distinct(self, imported: Import) -> dict[str, int]:
        return {}

    def ordered(self, counts: Mapping[str, int]) -> dict[str, int]:
        return self.finished_counts(("questions", "passages", "written summaries", "ratings"), counts)

    def sample(self, item: TableItem) -> dict[str, Any]:
        inputs = [{"id": entry.key, "text": entry.text, "rating": entry.rating} for entry in item.entries]
        shown = {"key": item.key, "question": item.question, **item.details, "target": item.target}
        return {**shown, "inputs": inputs, **shown_of(item)}


class PageStream(TableStream):
    """Pages of passages that the project already has. The key of a record is that of its passage."""

    def rows_of(self, item: TableItem) -> int:
        return 1

    def stored(self, project: Project, keys: Sequence[str]) -> Mapping[str, int | None]:
        rows = QuestionText.with_arriving.filter(passage__key__in=keys, question__project=project, part=Part.PAGE)
        return dict(rows.filter(version=1).values_list("passage__key", "imported_id"))

    def differences(self, project: Project, items: Sequence[TableItem]) -> Iterator[tuple[str, str, object]]:
        rows = QuestionText.objects.filter(passage__key__in=[item.entries[0].key for item in items], version=1)
        stored = dict(rows.filter(question__project=project, part=Part.PAGE).values_list("passage__key", "text"))
        for item in items:
            entry = item.entries[0]
            if stored[entry.key] != entry.page:
                yield entry.key, self._page(), stored[entry.key]

    def _page(self) -> str:
        assert self.mapping
        return self.mapping.of_role("page")[0].name

    def conflicts(
        self, project: Project | None, items: Sequence[TableItem], known: Index | None
    ) -> Iterator[tuple[str, str, str]]:
        passages = _passages(project, [item.entries[0].key for item in items]) if project else {}
        for item in items:
            passage = item.entries[0].key
            if (question := passages.get(passage, ("", 0, 0))[0]) != item.question:
                of = f"of the question {question}" if question else "unknown"
                yield passage, self._page(), f"a page for a passage that is {of}: {passage}, question {item.question}"

    def create(self, imported: Import, items: Sequence[TableItem], first: int, rows: BulkWriter) -> None:
        self.add_mapping(imported, rows)
        passages = _passages(imported.project, [item.entries[0].key for item in items])
        rows.add(
            QuestionText(
                question_id=passages[entry.key][1],
                passage_id=passages[entry.key][2],
                part=part,
                text=text,
                imported=imported,
            )
            for item in items
            for entry in item.entries
            for part, text in ((Part.PAGE, entry.page), (Part.URL, entry.url))
            if text is not None
        )

    def next_position(self, project: Project) -> int:
        return 0

    def new_keys(self, imported: Import) -> Iterator[str]:
        return iter(())

    def count(self, items: Sequence[TableItem]) -> dict[str, int]:
        return {"pages": len(items)}

    def distinct(self, items: Sequence[TableItem]) -> dict[str, set[str]]:
        return {}

    def count_distinct(self, imported: Import) -> dict[str, int]:
        return {}

    def ordered(self, counts: Mapping[str, int]) -> dict[str, int]:
        return self.finished_counts(("pages",), counts)

    def sample(self, item: TableItem) -> dict[str, Any]:
        return {"key": item.question, "inputs": [{"id": e.key, "text": e.page} for e in item.entries], **shown_of(item)}


def _passages(project: Project, keys: Sequence[str]) -> dict[str, tuple[str, int, int]]:
    """Return (key of the question, its id, id of the passage) by passage."""
    rows = Passage.objects.filter(question__project=project, key__in=keys)
    return {key: tuple(of) for key, *of in rows.values_list("key", "question__key", "question_id", "pk")}  # type: ignore[misc]


class _Creation:
    """The rows of new questions."""

    def __init__(self, imported: Import, rows: BulkWriter) -> None:
        self.imported, self.rows = imported, rows

    def _units(self, type: str, keys: list[str], **columns: Any) -> list[int]:
        of = {"project_id": self.imported.project_id, "imported_id": self.imported.pk}
        return self.rows.add_columns(Unit, len(keys), type=type, key=keys, **of, **columns)

    def create(self, items: Sequence[TableItem], first: int) -> None:
        source = {"imported_id": self.imported.pk}
        keys = [item.key for item in items]
        positions = [first + n for n in range(len(items))]
        units = self._units(QUESTION, keys, position=positions)
        questions = self.rows.add_columns(
            Question,
            len(keys),
            project_id=self.imported.project_id,
            key=keys,
            position=positions,
            unit_id=units,
            **source,
        )
        entries = [(n, m, entry) for n, item in enumerate(items) for m, entry in enumerate(item.entries)]
        of_question = [questions[n] for n, *_ in entries]
        places = [m for _, m, _ in entries]
        passage_keys = [entry.key for *_, entry in entries]
        passage_units = self._units(PASSAGE, passage_keys, context=of_question, position=places)
        passages = self.rows.add_columns(
            Passage,
            len(entries),
            question_id=of_question,
            key=passage_keys,
            position=places,
            rating=[entry.rating for *_, entry in entries],
            unit_id=passage_units,
            **source,
        )
        self._texts(items, questions, [(n, pk, entry) for (n, _, entry), pk in zip(entries, passages, strict=True)])
        self._summaries(items, questions, [(n, pk, entry) for (n, _, entry), pk in zip(entries, passages, strict=True)])
        values = [(unit, 0, item.details, item.kept) for unit, item in zip(units, items, strict=True)]
        values += [(unit, 0, _titled(e), e.kept) for unit, (*_, e) in zip(passage_units, entries, strict=True)]
        if columns := value_rows(values):
            self.rows.add_columns(ColumnValues, len(columns["unit_id"]), **columns, **source)

    def _texts(self, items: Sequence[TableItem], questions: list[int], entries: "Entries") -> None:
        texts: list[tuple[int, int | None, str, str]] = [
            (question, None, str(Part.QUESTION), item.question) for question, item in zip(questions, items, strict=True)
        ]
        for n, passage, entry in entries:
            parts = ((Part.PASSAGE, entry.text), (Part.PAGE, entry.page), (Part.URL, entry.url))
            texts += [(questions[n], passage, str(part), text) for part, text in parts if text is not None]
        question_ids, passage_ids, parts_, listed = map(list, zip(*texts, strict=True)) if texts else ([],) * 4
        self.rows.add_columns(
            QuestionText,
            len(texts),
            question_id=question_ids,
            passage_id=passage_ids,
            part=parts_,
            text=listed,
            imported_id=self.imported.pk,
        )

    def _summaries(self, items: Sequence[TableItem], questions: list[int], entries: "Entries") -> None:
        summaries: list[tuple[int, int | None, str, By, str]] = [
            (question, None, item.key, by, text)
            for question, item in zip(questions, items, strict=True)
            for by, text in item.targets.items()
        ]
        for n, passage, entry in entries:
            summaries += [(questions[n], passage, entry.key, by, text) for by, text in entry.summaries.items()]
        if not summaries:
            return
        keys = [f"{key} {form}{f' {writer}' if writer else ''}" for _, _, key, (form, writer), _ in summaries]
        self.rows.add_columns(
            WrittenSummary,
            len(summaries),
            question_id=[question for question, *_ in summaries],
            passage_id=[passage for _, passage, *_ in summaries],
            form=[form for _, _, _, (form, _), _ in summaries],
            writer=[writer for _, _, _, (_, writer), _ in summaries],
            # Only spaces mean the same as an empty text: nothing was relevant.
            text=[text if text.strip() else "" for *_, text in summaries],
            unit_id=self._units(SUMMARY, keys, context=[question for question, *_ in summaries]),
            imported_id=self.imported.pk,
        )


Entries = Iterable[tuple[int, int, Entry]]


def _titled(entry: Entry) -> dict[str, str]:
    return {"title": entry.title} if entry.title else {}


def _texts_of(item: TableItem) -> Iterator[tuple[tuple[str, str, str], object]]:
    """Yield ((role, passage or "", name), value) of everything that an item states."""
    yield ("question", "", ""), item.question
    for (form, writer), text in item.targets.items():
        yield ("target", "", f"{form} {writer}"), text.strip() and text
    for entry in item.entries:
        for role, value in (
            ("passage", entry.text),
            ("page", entry.page),
            ("url", entry.url),
            ("rating", entry.rating),
        ):
            if value is not None:
                yield (role, entry.key, ""), value
        for (form, writer), text in entry.summaries.items():
            yield ("target", entry.key, f"{form} {writer}"), text.strip() and text


_ROLES = {Part.QUESTION: "question", Part.PASSAGE: "passage", Part.PAGE: "page", Part.URL: "url"}


def _stored(project: Project, keys: Sequence[str]) -> dict[tuple[str, str, str, str], object]:
    """Return what the project has of questions, as imported: by question, role, passage and name. Three queries."""
    of = {"question__project": project, "question__key__in": keys}
    values: dict[tuple[str, str, str, str], object] = {}
    texts = QuestionText.objects.filter(version=1, **of)
    for question, passage, part, text in texts.values_list("question__key", "passage__key", "part", "text"):
        values[question, _ROLES[Part(part)], passage or "", ""] = text
    for question, passage, rating in Passage.objects.filter(**of).values_list("question__key", "key", "rating"):
        values[question, "rating", passage, ""] = rating
    summaries = WrittenSummary.objects.filter(version=1, author=None, **of)
    columns = ("question__key", "passage__key", "form", "writer", "text")
    for question, passage, form, writer, text in summaries.values_list(*columns):
        values[question, "target", passage or "", f"{form} {writer}"] = text
    return values
