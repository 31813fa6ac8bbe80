"""Records of articles held against what a project has: new ones become rows, known ones are completed, none is doubled.

A text that a project has is never changed: PubMed corrects its records, and what was labelled was labelled as it stood.
That an article was retracted is always taken over.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from accounts.models import User
from audit.witness import completed
from projects.models import Project, Unit
from sql.ready import Rows

from ..models import RecordStatus, Review, Sentence, Study
from .sentences import rows_of

_CHUNK = 500
Stored = Review | Study
T = TypeVar("T")


class ArticleRecord(Protocol):
    """What is said of an article, wherever it was read. ``abstract`` None: nothing is known of one."""

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


class Articles:
    """Records as the reviews of a project, by a topic, or as studies: of one of its reviews, or of none."""

    def __init__(
        self, project: Project, *, topic: str = "", review: Review | None = None, studies: bool = False,
        by: User | None = None,
    ) -> None:  # fmt: skip
        self.project, self.topic, self.review, self.by = project, topic, review, by
        self._are_studies = studies or review is not None
        self.new: list[ArticleRecord] = []
        #: Primary keys of what is there and says less than its record: what is to be set.
        self.completed: dict[int, dict[str, Any]] = {}
        #: The sentences of those that get their abstract, by the same keys.
        self._sentences: dict[int, list[Sentence]] = {}
        #: Studies that are there, and are not yet known to be of the review.
        self._to_link: list[int] = []
        #: What is there as the record says it.
        self.unchanged: set[str] = set()
        #: Records whose abstract is another than the project's, which stays.
        self.unlike: list[str] = []

    @property
    def _model(self) -> type[Stored]:
        return Study if self._are_studies else Review

    def compare(self, records: Iterable[ArticleRecord]) -> None:
        """Hold records, each id once, against what is there."""
        self.new, self.completed, self._to_link = [], {}, []
        self.unchanged, self.unlike = set(), []
        for some in _some(list(records)):
            there = {row.pmid: row for row in self._there([record.pmid for record in some])}
            linked = self._linked(row.pk for row in there.values())
            for record in some:
                self._hold(record, there.get(record.pmid), linked)

    def _there(self, pmids: Sequence[str]) -> Iterable[Stored]:
        return self._model.objects.filter(project=self.project, pmid__in=pmids)

    def _linked(self, studies: Iterable[int]) -> set[int]:
        if self.review is None:
            return set()
        links = Study.reviews.through.objects.filter(review=self.review, study__in=list(studies))
        return set(links.values_list("study_id", flat=True))

    def _hold(self, record: ArticleRecord, stored: Stored | None, linked: set[int]) -> None:
        if stored is None:
            self.new.append(record)
            return
        changes = self._lacking(stored, record)
        if stored.abstract and record.abstract and stored.abstract.split() != record.abstract.split():
            self.unlike.append(record.pmid)
        if changes:
            self.completed[stored.pk] = changes
        if self.review is not None and stored.pk not in linked:
            self._to_link.append(stored.pk)
        elif not changes:
            self.unchanged.add(record.pmid)

    def _lacking(self, stored: Stored, record: ArticleRecord) -> dict[str, Any]:
        """What the record says and the stored row does not."""
        said = self._fields(record)
        if record.abstract is None or stored.abstract:
            for name in ("abstract", "sections", "record"):
                said.pop(name)
        changes = {name: value for name, value in said.items() if value and not getattr(stored, name)}
        if "record" in said and said["record"] != stored.record:
            changes["record"] = said["record"]
        elif stored.abstract and record.abstract is not None and stored.record != RecordStatus.READ:
            changes["record"] = RecordStatus.READ
        return changes

    def _fields(self, record: ArticleRecord) -> dict[str, Any]:
        status = RecordStatus.READ if record.abstract else RecordStatus.NO_ABSTRACT
        fields = {
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
            fields |= {"topic": self.topic, "references": list(record.references)}
        return fields

    def lay_out(self, rows: Rows) -> None:
        """Add what is new to the rows that are to be written, with its links and the sentences of its abstracts."""
        self._sentences = {
            pk: self._of_completed(pk, said) for pk, said in self.completed.items() if "abstract" in said
        }
        if not self._are_studies:
            self._reviews(rows)
            return
        made = rows.add(Study(project=self.project, pmid=r.pmid, **self._fields(r)) for r in self.new)
        _add_sentences(rows, made)
        if self.review is None:
            return
        link = Study.reviews.through
        studies = [*self._to_link, *(study.pk for study in made)]
        rows.add(link(study_id=study, review_id=self.review.pk) for study in studies)

    def _reviews(self, rows: Rows) -> None:
        units = rows.add(
            Unit(project=self.project, type="review", key=r.pmid, made_by=self.by) for r in self.new
        )  # fmt: skip
        made = rows.add(
            Review(project=self.project, pmid=record.pmid, unit=unit, **self._fields(record))
            for record, unit in zip(self.new, units, strict=True)
        )
        _add_sentences(rows, made)

    def _of_completed(self, pk: int, said: dict[str, Any]) -> list[Sentence]:
        return rows_of(self._model(pk=pk, abstract=said["abstract"], sections=said.get("sections", [])))

    def complete(self) -> None:
        """Set what known rows lack, in the caller's transaction. A text that came to be meanwhile stays."""
        sentences: list[Sentence] = []
        changed: list[int] = []
        for pk, changes in self.completed.items():
            rows = self._model.objects.filter(pk=pk)
            if (rows.filter(abstract="") if "abstract" in changes else rows).update(**changes):
                sentences += self._sentences.get(pk, [])
                changed.append(pk)
        completed(self._model, changed, by=self.by, project=self.project.pk)
        Sentence.objects.bulk_create(sentences, batch_size=_CHUNK)


def _add_sentences(rows: Rows, articles: Sequence[Stored]) -> None:
    """Some at a time: a file may have a quarter of a million sentences, and only their values are kept."""
    for some in _some(articles):
        rows.add(sentence for article in some for sentence in rows_of(article))


def _some(records: Sequence[T]) -> Iterator[Sequence[T]]:
    for at in range(0, len(records), _CHUNK):
        yield records[at : at + _CHUNK]
