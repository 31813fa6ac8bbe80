"""Import PubMed records in batches, as reviews or as studies of reviews."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from projects.models import Import, Project
from projects.uploads.faults import Faults
from projects.uploads.files import Source
from sql.bulk import BulkWriter

from ...clusters.articles import Articles
from ...imports.format import Notice
from ...imports.reading import Habits
from ...imports.stream import Position, Stream
from ...imports.stream import Record as Streamed
from ...models import Review
from .reading import records
from .record import Record
from .spool import OLDER, Item, Spool

if TYPE_CHECKING:
    from ...imports.passes import Index

REVIEWS, STUDIES = "reviews", "studies"
DELETED = "record that PubMed deleted"
DIFFERS = {field: f"{field} differs from the project's" for field in ("title", "abstract")} | {
    "conclusions": "conclusions differ from the project's"
}
NO_ABSTRACT = "record without an abstract"
RETRACTED = "retracted"
NOTICE = "expression of concern or partial retraction"
ALSO_REVIEW = "study that is also a review"
SPELLING = "spelling of the file"
NO_YEAR = "year that cannot be read"
WITH_STUDIES = "reviews with studies"
_CHUNK = 500


class PubMedStream(Stream):
    """The records of a file, one per PMID. ``review``: the review of all studies, if the file does not name them."""

    def __init__(self, level: str, *, are_studies: bool, topic: str = "", review: str = "") -> None:
        super().__init__(level)
        self.are_studies, self.topic, self.review = are_studies, topic, review
        self.state = asdict(Habits()) | {"deleted": [], WITH_STUDIES: 0}
        self._missing: set[str] = set()
        #: Result of the comparison of the current batch with the project.
        self._articles: Articles | None = None
        self._also_reviews: set[str] = set()
        self._differences: dict[str, list[tuple[str, str]]] = {}

    def records(self, source: Source, start: Position, faults: Faults) -> Iterator[Streamed]:
        """Yield the records after a position, whose offset is an estimate. The file is read completely before."""
        spool, habits, deleted, before = Spool(), Habits(), list[str](), faults.total
        for record in records(source, faults, habits, deleted, self._report_collecting):
            spool.add(record, self._reviews_of(source, record, faults), are_studies=self.are_studies)
        spool.remove(deleted)
        total = len(spool)
        if not total and faults.total == before:
            faults.add(source.name, 1, "file", "the file has no records")
        self.state = asdict(habits) | {"deleted": deleted, WITH_STUDIES: spool.count_reviews()}
        for number, item in enumerate(spool.items(), start=1):
            # A record has more than one byte, so that the offsets differ.
            if (end := source.size * number // total) > start.offset:
                yield Streamed(item.record.line, end, item.record.pmid, item)

    def _report_collecting(self, done: int, total: int | None, note: str) -> None:
        """Report with another note than the importer, which reports the position of each record when it is written."""
        self.progress(done, total, "collecting records")

    def _reviews_of(self, source: Source, record: Record, faults: Faults) -> Sequence[str]:
        if not self.are_studies:
            return ()
        reviews = record.reviews or ((self.review,) if self.review else ())
        if not reviews and "" not in self._missing:
            self._missing.add("")
            message = "the review of this study is missing; add a column review, or enter the review of the whole file"
            faults.add(source.name, record.line, "review", message)
        elif self.review and (unexpected := set(reviews) - {self.review}):
            message = f"this is a study of review {min(unexpected)}; expected {self.review}, the review of the file"
            faults.add(source.name, record.line, "review", message)
        return reviews

    def rows_of(self, item: Item) -> int:
        return 2 + len(item.reviews)

    def stored(self, project: Project, keys: Sequence[str]) -> Mapping[str, int | None]:
        """Return nothing: a record of an existing review or study is no fault, but completes it."""
        return {}

    def differences(self, project: Project, items: Sequence[Item]) -> Iterator[tuple[str, str, object]]:
        return iter(())

    def conflicts(
        self, project: Project | None, items: Sequence[Item], known: "Index | None"
    ) -> Iterator[tuple[str, str, str]]:
        """Compare a batch with the project, and yield the reviews that the project does not have, each once."""
        self._articles, self._also_reviews, self._differences = None, set(), defaultdict(list)
        if project is None:
            return
        reviews: dict[str, int] = {}
        if self.are_studies:
            named = {review for item in items for review in item.reviews}
            reviews = _ids(project, named | {item.record.pmid for item in items})
            missing = named - reviews.keys()
            for item in items:
                for review in item.reviews:
                    if review in missing and review not in self._missing:
                        self._missing.add(review)
                        message = f"the project has no review {review}; import or add it first"
                        yield item.record.pmid, "review", message
            if missing:
                return
            self._also_reviews = {item.record.pmid for item in items if item.record.pmid in reviews}
        of_studies = {item.record.pmid: [reviews[review] for review in item.reviews] for item in items}
        self._articles = Articles(project, topic=self.topic, reviews_of=of_studies if self.are_studies else None)
        self._articles.compare(item.record for item in items)
        for pmid, field, text in self._articles.differences:
            self._differences[pmid].append((field, text))

    def create(self, imported: Import, items: Sequence[Item], first: int, rows: BulkWriter) -> None:
        assert self._articles
        self._articles.by = imported.created_by
        self._articles.create_articles(rows, imported)

    def finishes(self) -> bool:
        return True

    def finish(self, imported: Import, items: Sequence[Item], rows: BulkWriter) -> None:
        """Add sentences, and complete the records that the project had before."""
        for _ in self.conflicts(imported.project, items, None):
            pass
        assert self._articles
        self._articles.by = imported.created_by
        self._articles.finish(rows, imported)

    def next_position(self, project: Project) -> int:
        return 0

    def notices(self, item: Item) -> Iterator[Notice]:
        record = item.record
        place = f"line {record.line}"
        for kind, line in item.skipped:
            version = f"Version {record.version}" if kind == OLDER else "The record"
            yield Notice(kind, f"{version} on line {record.line} is imported.", record.pmid, f"line {line}")
        for field, text in self._differences.get(record.pmid, ()):
            yield Notice(DIFFERS[field], "The project keeps its own text.", record.pmid, "", field, text)
        if record.pmid in self._also_reviews:
            is_itself = record.pmid in item.reviews
            message = "It is listed as a study of itself." if is_itself else "It is also a review of the project."
            yield Notice(ALSO_REVIEW, message, record.pmid, place)
        if record.abstract == "":
            yield Notice(NO_ABSTRACT, "It is imported.", record.pmid, place, "abstract")
        if record.unread_year:
            yield Notice(NO_YEAR, "It is imported without a year.", record.pmid, place, "year", record.unread_year)
        if record.is_retracted or record.retraction_notice:
            message = record.retraction_notice or "Its publication type says so."
            yield Notice(RETRACTED if record.is_retracted else NOTICE, message, record.pmid, place)

    def final_notices(self, keys: Iterable[str]) -> Iterator[Notice]:
        habits = Habits(**{name: self.state[name] for name in asdict(Habits())})
        yield from (Notice(SPELLING, sentence) for sentence in habits.sentences())
        yield from (Notice(DELETED, "It is not imported.", pmid) for pmid in self.state["deleted"])

    def new_keys(self, imported: Import) -> Iterable[str]:
        return ()

    def count(self, items: Sequence[Item]) -> dict[str, int]:
        new = len(self._articles.new) if self._articles else len(items)
        unchanged = len(self._articles.unchanged) if self._articles else 0
        records = [item.record for item in items]
        return {
            "new": new - len(items),  # the importer counts all as new
            "unchanged": unchanged,
            self._counted: new,
            "known records completed": len(items) - new - unchanged,
            "with conclusions": sum(1 for r in records if r.conclusions),
            "without an abstract": sum(1 for r in records if r.abstract == ""),
            "retracted": sum(r.is_retracted for r in records),
        }

    @property
    def _counted(self) -> str:
        return STUDIES if self.are_studies else REVIEWS

    def ordered(self, counts: Mapping[str, int]) -> dict[str, int]:
        names = ["items", "new", "unchanged", self._counted, "known records completed", "with conclusions"]
        names += ["without an abstract", "retracted", *([WITH_STUDIES] if self.are_studies else [])]
        return {name: counts.get(name, 0) for name in names}

    def values(self, items: Sequence[Item]) -> dict[str, dict[str, int]]:
        types = Counter(name for item in items for name in item.record.publication_types)
        return {"publication_type": dict(types)} if types else {}

    def distinct(self, items: Sequence[Item]) -> dict[str, set[str]]:
        return {WITH_STUDIES: {review for item in items for review in item.reviews}}

    def count_distinct(self, imported: Import) -> dict[str, int]:
        return {WITH_STUDIES: self.state[WITH_STUDIES]}

    def sample(self, item: Item) -> dict[str, Any]:
        record = item.record
        return {"pmid": record.pmid, "title": record.title, "year": record.year, "abstract": record.abstract}

    def keys(self, source: Source) -> Iterator[str]:
        """Yield nothing: `records` yields each key once."""
        return iter(())


def _ids(project: Project, pmids: Iterable[str]) -> dict[str, int]:
    """Return the ids of the reviews of a project, by PMID."""
    wanted, ids = sorted(pmids), dict[str, int]()
    for start in range(0, len(wanted), _CHUNK):
        rows = Review.objects.filter(project=project, pmid__in=wanted[start : start + _CHUNK])
        ids |= rows.values_list("pmid", "pk")
    return ids
