"""Merge article records into the reviews and studies of a project: add new rows and fill in empty fields.

A stored title or abstract is never changed, even if PubMed corrects its record, because labels refer to the stored
text. A retraction is always adopted.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

from accounts.models import User
from audit.row_digests import record_completed
from measures.abstracts import conclusions_of
from projects.models import Import, Project, Unit
from sql.bulk import BulkWriter

from ..models import Inclusion, RecordStatus, Review, Role, Sentence, Study
from . import inclusions
from .sentences import rows_of

_CHUNK = 500
#: Length of the excerpt of a differing text, and the part of it before the difference, in characters.
_EXCERPT, _BEFORE = 120, 40
Stored = Review | Study
Links = Mapping[inclusions.Pair, tuple[str, int]]
T = TypeVar("T")


class ArticleRecord(Protocol):
    """An article record from any source. ``abstract`` is None if the source does not say whether there is one."""

    @property
    def pmid(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def abstract(self) -> str | None: ...
    @property
    def sections(self) -> Sequence[Any]: ...
    @property
    def year(self) -> int | None: ...
    @property
    def publication_types(self) -> Sequence[str]: ...
    @property
    def is_retracted(self) -> bool: ...
    @property
    def retraction_notice(self) -> str: ...
    @property
    def references(self) -> Sequence[str]: ...
    @property
    def citations(self) -> Mapping[str, str]: ...
    @property
    def conclusions(self) -> str: ...


class Difference(NamedTuple):
    """A stored text that differs from the record. ``text`` is an excerpt of the record's text around the difference."""

    pmid: str
    field: str
    text: str


class Articles:
    """Merge records into a project as reviews of a topic, as studies of reviews, or as studies without a review."""

    def __init__(
        self,
        project: Project,
        *,
        topic: str = "",
        review: Review | None = None,
        studies: bool = False,
        by: User | None = None,
        reviews_of: Mapping[str, Collection[int]] | None = None,
    ) -> None:
        """If ``review`` is given, all records are studies of it.

        ``reviews_of`` maps a PMID to the ids of the reviews that include the study.
        """
        self.project, self.topic, self.review, self.by = project, topic, review, by
        self._reviews_of = reviews_of
        self._are_studies = studies or review is not None or reviews_of is not None
        self.new: list[ArticleRecord] = []
        #: Field values to set on existing rows, by primary key.
        self.completed: dict[int, dict[str, Any]] = {}
        #: Sentences of the existing rows that receive their abstract, by primary key.
        self._sentences: dict[int, list[Sentence]] = {}
        #: Primary keys of the existing rows, by PMID.
        self._stored: dict[str, int] = {}
        #: Missing links, as (PMID of the study, review id), and links of general references that become studies.
        self._to_link: list[tuple[str, int]] = []
        self._to_include: list[int] = []
        #: PMIDs of the rows that already agree with their record.
        self.unchanged: set[str] = set()
        self.differences: list[Difference] = []

    @property
    def _model(self) -> type[Stored]:
        return Study if self._are_studies else Review

    def compare(self, records: Iterable[ArticleRecord]) -> None:
        """Compare records with the stored rows. PMIDs must be unique."""
        self.new, self.completed, self._stored, self._to_link, self._to_include = [], {}, {}, [], []
        self.unchanged, self.differences = set(), []
        for chunk in _chunks(list(records)):
            stored = {row.pmid: row for row in self._there([record.pmid for record in chunk])}
            self._stored |= {row.pmid: row.pk for row in stored.values()}
            linked = self._linked([row.pk for row in stored.values()])
            for record in chunk:
                self._hold(record, stored.get(record.pmid), linked)

    def _there(self, pmids: Sequence[str]) -> Iterable[Stored]:
        return self._model.objects.filter(project=self.project, pmid__in=pmids)

    def _of(self, pmid: str) -> Collection[int]:
        """Return the ids of the reviews that include the study."""
        if self._reviews_of is not None:
            return self._reviews_of.get(pmid, ())
        return () if self.review is None else (self.review.pk,)

    def _linked(self, studies: Sequence[int]) -> Links:
        """Return the role and id of each link, by (study id, review id)."""
        if self.review is None and self._reviews_of is None:
            return {}
        links = Inclusion.objects.filter(study__in=studies).order_by()
        if self.review is not None:
            links = links.filter(review=self.review)
        rows = links.values_list("study_id", "review_id", "role", "pk")
        return {(study, review): (role, pk) for study, review, role, pk in rows}

    def _hold(self, record: ArticleRecord, stored: Stored | None, linked: Links) -> None:
        reviews = self._of(record.pmid)
        if stored is None:
            self.new.append(record)
            self._to_link += ((record.pmid, review) for review in reviews)
            return
        changes = self._lacking(stored, record)
        self.differences += _differences(stored, record)
        if changes:
            self.completed[stored.pk] = changes
        missing = [review for review in reviews if (stored.pk, review) not in linked]
        known = (linked[stored.pk, review] for review in reviews if (stored.pk, review) in linked)
        general = [pk for role, pk in known if role == Role.GENERAL]
        self._to_link += ((record.pmid, review) for review in missing)
        self._to_include += general
        if not changes and not missing and not general:
            self.unchanged.add(record.pmid)

    def _lacking(self, stored: Stored, record: ArticleRecord) -> dict[str, Any]:
        """Return the values of the record that the stored row lacks."""
        fields = self._fields(record)
        if record.abstract is None or stored.abstract:
            for name in ("abstract", "sections", "record"):
                fields.pop(name)
        changes = {name: value for name, value in fields.items() if value and not getattr(stored, name)}
        if "record" in fields and fields["record"] != stored.record:
            changes["record"] = fields["record"]
        elif stored.abstract and record.abstract is not None and stored.record != RecordStatus.READ:
            changes["record"] = RecordStatus.READ
        return changes

    def _fields(self, record: ArticleRecord) -> dict[str, Any]:
        status = RecordStatus.READ if record.abstract else RecordStatus.NO_ABSTRACT
        fields: dict[str, Any] = {
            "title": record.title,
            "abstract": record.abstract or "",
            "sections": [section._asdict() for section in record.sections],
            "year": record.year,
            "publication_types": list(record.publication_types),
            "is_retracted": record.is_retracted,
            "retraction_notice": record.retraction_notice,
            "record": RecordStatus.NOT_READ if record.abstract is None else status,
        }
        if not self._are_studies:
            fields |= {"topic": self.topic, "references": list(record.references), "citations": dict(record.citations)}
        return fields

    def create_items(self, rows: BulkWriter, imported: Import | None = None) -> None:
        """Add new rows to ``rows``, with their review links and sentences. Nothing is written yet."""
        _add_sentences(rows, self.create_articles(rows, imported))
        self._prepare_completion(rows)

    def create_articles(self, rows: BulkWriter, imported: Import | None) -> Sequence[Stored]:
        """Add new rows with their review links. Sentences are append-only: `finish` adds them."""
        if not self._are_studies:
            return self._reviews(rows, imported)
        studies = rows.add(
            Study(project=self.project, pmid=r.pmid, imported=imported, **self._fields(r)) for r in self.new
        )
        ids = self._stored | {study.pmid: study.pk for study in studies}
        positions = (
            Inclusion.with_arriving.next_positions({review for _, review in self._to_link}) if self._to_link else {}
        )
        pairs = ((ids[pmid], review) for pmid, review in self._to_link)
        rows.add(inclusions.build(pairs, positions, imported=imported))
        return studies

    def finish(self, rows: BulkWriter, imported: Import) -> None:
        """Add the sentences of the rows that an import created, and complete the existing ones when it is written."""
        created = self._model.with_arriving.filter(imported=imported)
        for chunk in _chunks(self.new):
            _add_sentences(rows, list(created.filter(pmid__in=[record.pmid for record in chunk]).order_by("pk")))
        self._prepare_completion(rows)
        rows.then(self.complete)

    def _prepare_completion(self, rows: BulkWriter) -> None:
        self._sentences = {
            pk: self._of_completed(pk, fields) for pk, fields in self.completed.items() if "abstract" in fields
        }
        rows.then(partial(inclusions.set_role, self._to_include, Role.INCLUDED, by=self.by, project=self.project.pk))

    def _reviews(self, rows: BulkWriter, imported: Import | None) -> Sequence[Stored]:
        units = rows.add(
            Unit(project=self.project, type="review", key=r.pmid, made_by=self.by, imported=imported) for r in self.new
        )
        return rows.add(
            Review(project=self.project, pmid=record.pmid, unit=unit, imported=imported, **self._fields(record))
            for record, unit in zip(self.new, units, strict=True)
        )

    def _of_completed(self, pk: int, fields: dict[str, Any]) -> list[Sentence]:
        return rows_of(self._model(pk=pk, abstract=fields["abstract"], sections=fields.get("sections", [])))

    def complete(self) -> None:
        """Set the missing fields of existing rows.

        Must run in a transaction. An abstract that was stored in the meantime is kept.
        """
        sentences: list[Sentence] = []
        changed: list[int] = []
        for pk, changes in self.completed.items():
            rows = self._model.objects.filter(pk=pk)
            if (rows.filter(abstract="") if "abstract" in changes else rows).update(**changes):
                sentences += self._sentences.get(pk, [])
                changed.append(pk)
        record_completed(self._model, changed, by=self.by, project=self.project.pk)
        Sentence.objects.bulk_create(sentences, batch_size=_CHUNK)


def _differences(stored: Stored, record: ArticleRecord) -> Iterator[Difference]:
    """Yield the stored texts that differ from the record. Differences in white space are ignored."""
    for field, old, new in (("title", stored.title, record.title), ("abstract", stored.abstract, record.abstract)):
        if old and new and old.split() != new.split():
            yield Difference(record.pmid, field, excerpt(old, new))
    if stored.abstract and record.abstract and stored.abstract.split() == record.abstract.split():
        old = conclusions_of(stored.abstract, ((s["category"], s["start"], s["end"]) for s in stored.sections))
        if record.conclusions and old != record.conclusions:
            yield Difference(record.pmid, "conclusions", excerpt(old, record.conclusions))


def excerpt(old: str, new: str) -> str:
    """Return an excerpt of ``new`` that starts shortly before its first difference from ``old``."""
    same = next((at for at, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), len(old))
    begin = max(0, same - _BEFORE)
    end = begin + _EXCERPT
    return f"{'…' if begin else ''}{new[begin:end]}{'…' if end < len(new) else ''}"


def _add_sentences(rows: BulkWriter, articles: Sequence[Stored]) -> None:
    """Add sentences in chunks, because a file can contain 250,000 sentences. Only their values stay in memory."""
    for chunk in _chunks(articles):
        rows.add(sentence for article in chunk for sentence in rows_of(article))


def _chunks(records: Sequence[T]) -> Iterator[Sequence[T]]:
    for at in range(0, len(records), _CHUNK):
        yield records[at : at + _CHUNK]
