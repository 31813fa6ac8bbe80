"""Import PubMed records from PubMed XML, the MEDLINE format (.nbib), or a table with a column of PMIDs."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from api.problems import Refused
from projects.jobs.batches import Progress
from projects.models import Import, Project
from projects.uploads.faults import Faults
from projects.uploads.files import Source, other_file
from sql.bulk import BulkWriter

from ...clusters.articles import Articles
from ...clusters.items import PMID
from ...imports.format import Ask, Format, Level, Notice, Parsed
from ...imports.reading import Habits
from ...imports.sax import XmlError, is_xml, pieces
from ...models import Review
from . import medline, table, xml
from .record import Record

#: Maximum number of records per file. A file must be written within a few seconds, because SQLite blocks all other
#: writes meanwhile.
MOST_RECORDS = 20_000
REVIEWS, STUDIES = "reviews", "studies"
#: Maximum length of a topic.
TOPIC = 120
#: Maximum number of (study, review) pairs in one file.
MOST_LINKS = 60_000
REPEATED = "record repeated in the file"
OLDER = "older version of a record"
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
#: File formats of reference managers, by the pattern at the start of the file.
_OTHER_FORMATS = {"RIS": r"TY {2}- ", "EndNote": r"%0 ", "BibTeX": r"@[A-Za-z]+\s*\{"}


@dataclass
class PubMedFile:
    """The records of one file, one per PMID. `compare` adds the result of the comparison with the project."""

    source: Source
    level: str
    topic: str = ""
    #: Whether the records are studies, and the review they belong to ("" if each record names its reviews).
    are_studies: bool = False
    review: str = ""
    records: dict[str, Record] = field(default_factory=dict)
    #: Skipped records, each with the reason.
    repeated: list[tuple[str, Record]] = field(default_factory=list)
    #: Study PMID -> PMIDs of the reviews that include it, each with its line in the file.
    reviews_of: dict[str, dict[str, int]] = field(default_factory=dict)
    links: int = 0
    #: Whether a study without a review was already reported; it is reported once.
    is_unsaid: bool = False
    deleted: list[str] = field(default_factory=list)
    #: Studies of the file that are also reviews in the project.
    also_reviews: list[str] = field(default_factory=list)
    habits: Habits = field(default_factory=Habits)
    articles: Articles | None = None

    def add(self, record: Record, faults: Faults) -> None:
        """Add a record. The newest version of each article is kept, and of equal versions the first."""
        first = self.records.get(record.pmid)
        if first is None:
            self.records[record.pmid] = record
        elif record.version > first.version:
            self.records[record.pmid] = record
            self.repeated.append((OLDER, first))
        elif record.version < first.version:
            self.repeated.append((OLDER, record))
        elif not (self.are_studies and self._of(record).keys() - self.reviews_of.get(record.pmid, {}).keys()):
            self.repeated.append((REPEATED, record))
        if self.are_studies:
            self._link(record, faults)

    def leave_out_deleted(self) -> None:
        for pmid in self.deleted:
            self.records.pop(pmid, None)
            self.reviews_of.pop(pmid, None)
        self.repeated = [(kind, record) for kind, record in self.repeated if record.pmid in self.records]

    def _of(self, record: Record) -> dict[str, int]:
        return dict.fromkeys(record.reviews or ((self.review,) if self.review else ()), record.line)

    def _link(self, record: Record, faults: Faults) -> None:
        reviews = self._of(record)
        if not reviews and not self.is_unsaid:
            self.is_unsaid = True
            message = "the review of this study is missing; add a column review, or enter the review of the whole file"
            faults.add(self.source.name, record.line, "review", message)
        elif self.review and (unexpected := reviews.keys() - {self.review}):
            message = (
                f"this is a study of review {sorted(unexpected)[0]}; expected {self.review}, the review of the file"
            )
            faults.add(self.source.name, record.line, "review", message)
        earlier = self.reviews_of.setdefault(record.pmid, {})
        self.links += len(reviews.keys() - earlier.keys())
        self.reviews_of[record.pmid] = reviews | earlier

    def compare(self, project: Project, faults: Faults, progress: Progress) -> None:
        progress(0, len(self.records), "comparing with the project")
        reviews: Mapping[str, int] = {}
        if self.are_studies:
            reviews = dict(Review.objects.filter(project=project).values_list("pmid", "pk"))
            if not self._names_reviews(reviews, faults):
                return
        self.also_reviews = [pmid for pmid in self.records if pmid in reviews]
        review_ids = {pmid: [reviews[pmid_] for pmid_ in pmids] for pmid, pmids in self.reviews_of.items()}
        self.articles = Articles(project, topic=self.topic, reviews_of=review_ids if self.are_studies else None)
        self.articles.compare(self.records.values())

    def _names_reviews(self, reviews: Mapping[str, int], faults: Faults) -> bool:
        """Return whether the project has every named review, and report each missing one."""
        missing = {
            review: line
            for lines in self.reviews_of.values()
            for review, line in lines.items()
            if review not in reviews
        }
        for review, line in missing.items():
            message = f"the project has no review {review}; import or add it first"
            faults.add(self.source.name, 0 if self.review else line, "review", message)
        return not missing

    @property
    def _new(self) -> int:
        return len(self.articles.new) if self.articles else len(self.records)

    def counts(self) -> dict[str, int]:
        unchanged = len(self.articles.unchanged) if self.articles else 0
        records = self.records.values()
        return {
            "items": len(self.records),
            "new": self._new,
            "unchanged": unchanged,
            (STUDIES if self.are_studies else REVIEWS): self._new,
            "known records completed": len(self.records) - self._new - unchanged,
            "with conclusions": sum(1 for r in records if r.conclusions),
            "without an abstract": sum(1 for r in records if r.abstract == ""),
            "retracted": sum(r.is_retracted for r in records),
        } | ({"reviews with studies": len(set().union(*self.reviews_of.values()))} if self.are_studies else {})

    def summary(self) -> dict[str, dict[str, int]]:
        types = Counter(name for record in self.records.values() for name in record.publication_types)
        return {"publication_type": dict(types.most_common(20))} if types else {}

    def notices(self, progress: Progress) -> Iterator[Notice]:
        yield from (Notice(SPELLING, sentence) for sentence in self.habits.sentences())
        for kind, record in self.repeated:
            kept = self.records[record.pmid]
            version = f"Version {kept.version}" if kind == OLDER else "The record"
            yield Notice(kind, f"{version} on line {kept.line} is imported.", record.pmid, f"line {record.line}")
        yield from (Notice(DELETED, "It is not imported.", pmid) for pmid in self.deleted)
        for pmid, name, text in self.articles.differences if self.articles else ():
            yield Notice(DIFFERS[name], "The project keeps its own text.", pmid, "", name, text)
        for pmid in self.also_reviews:
            is_itself = pmid in self.reviews_of.get(pmid, {})
            message = "It is listed as a study of itself." if is_itself else "It is also a review of the project."
            yield Notice(ALSO_REVIEW, message, pmid, f"line {self.records[pmid].line}")
        for record in self.records.values():
            place = f"line {record.line}"
            if record.abstract == "":
                yield Notice(NO_ABSTRACT, "It is imported.", record.pmid, place, "abstract")
            if record.unread_year:
                yield Notice(NO_YEAR, "It is imported without a year.", record.pmid, place, "year", record.unread_year)
            if record.is_retracted or record.retraction_notice:
                message = record.retraction_notice or "Its publication type says so."
                yield Notice(RETRACTED if record.is_retracted else NOTICE, message, record.pmid, place)

    def sample(self, size: int) -> list[dict[str, Any]]:
        return [
            {"pmid": r.pmid, "title": r.title, "year": r.year, "abstract": r.abstract}
            for r in list(self.records.values())[:size]
        ]

    def create_items(self, imported: Import, rows: BulkWriter, progress: Progress) -> None:
        """Compare first if needed: a newly created project did not exist when the file was checked."""
        if self.articles is None or self.articles.project.pk != imported.project_id:
            faults = Faults()
            self.compare(imported.project, faults, progress)
            for fault in faults:
                raise Refused(fault.message)
        assert self.articles is not None
        self.articles.by = imported.created_by
        self.articles.create_items(rows, imported)

    def confirm(self) -> None:
        """Fill in missing fields of existing records, in the transaction that writes the new ones."""
        assert self.articles is not None
        self.articles.complete()


class PubMed(Format):
    key = "pubmed"
    material = ("reviews",)
    title = "PubMed: records of reviews or studies (XML, nbib, a CSV table with a column pmid, or a list of PMIDs)"
    levels = (Level(REVIEWS, "reviews"), Level(STUDIES, "studies of reviews"))
    recognises = False
    folders = True
    differences = tuple(DIFFERS.values())
    asks = (
        Ask("topic", "Topic", REVIEWS, "Subject of the reviews, in your own words. Counts are shown by topic."),
        Ask(
            "review",
            "Review (PMID)",
            STUDIES,
            "The review of this project that includes these studies. Leave it empty if the file has a column review, "
            "or if you choose a folder with one subfolder per review, named by its PMID.",
        ),
    )

    def __init__(self, about: Mapping[str, str] | None = None) -> None:
        self._about = about or {}

    def with_answers(self, about: Mapping[str, str]) -> "Format":
        answers = {key: value.strip() for key, value in about.items() if value.strip()}
        if unknown := set(answers) - {ask.key for ask in self.asks}:
            raise Refused.field(
                sorted(unknown)[0], f"The format {self.key} does not use {sorted(unknown)[0]!r}. Leave it empty."
            )
        if len(answers.get("topic", "")) > TOPIC:
            raise Refused.field("topic", f"Expected a topic of at most {TOPIC} characters.")
        return PubMed(answers)

    def level_of(self, level: str, name: str = "") -> str:
        if level != STUDIES:
            return REVIEWS
        review = self._review_of(name)
        return f"{STUDIES} of {review}"[:60] if review else STUDIES

    def _review_of(self, name: str) -> str:
        """Return the review of a file of studies: the given one, or the name of the file's folder."""
        folder = PurePath(name).parent.name
        return self._about.get("review", "") or (folder if PMID.fullmatch(folder) else "")

    def read(self, source: Source, *, level: str, faults: Faults, progress: Progress) -> Parsed:
        file = PubMedFile(source, self.level_of(level, source.name))
        if level == STUDIES:
            file.are_studies, file.review = True, self._review_of(source.name)
        else:
            file.topic = self._about.get("topic", "")
        for record in _records(source, faults, file, progress):
            file.add(record, faults)
            if len(file.records) > MOST_RECORDS or file.links > MOST_LINKS:
                what = "records" if len(file.records) > MOST_RECORDS else "pairs of study and review"
                most = MOST_RECORDS if len(file.records) > MOST_RECORDS else MOST_LINKS
                message = f"the file has more than {most:,} {what} up to this line; split the file"
                faults.add(source.name, record.line, "file", message)
                return file
        file.leave_out_deleted()
        if not file.records and not faults:
            faults.add(source.name, 1, "file", "the file has no records")
        return file


def _records(source: Source, faults: Faults, file: PubMedFile, progress: Progress) -> Iterator[Record]:
    """Yield the records of a file. The format is detected from the start of the file."""
    with source.path.open("rb") as opened:
        head = opened.read(4096)
    start = head.decode("utf-8", errors="replace")
    if is_xml(head):
        yield from _xml_records(source, faults, file, progress)
    elif kind := other_file(head):
        faults.add(source.name, 1, "file", f"expected XML, nbib, CSV or a list of PMIDs, found {kind}")
    elif name := _other_format(start):
        message = f"expected XML, nbib, CSV or a list of PMIDs, found {name}; save it as 'PubMed' (nbib) or CSV"
        faults.add(source.name, 1, "file", message)
    elif medline.is_medline(start) and "\r" in start and "\n" not in start:
        faults.add(source.name, 1, "file", "the lines end in CR only; save the file with Unix or Windows line endings")
    elif medline.is_medline(start):
        yield from medline.records(source, faults, file.habits, progress)
    elif table.is_id_list(start):
        yield from table.id_records(source, faults, file.habits, progress)
    else:
        yield from table.records(source, faults, file.habits, progress)


def _other_format(head: str) -> str:
    """Return the name of the reference manager format that the file starts like, or ""."""
    start = head.lstrip("\ufeff \t\r\n")
    return next((name for name, begin in _OTHER_FORMATS.items() if re.match(begin, start)), "")


def _xml_records(source: Source, faults: Faults, file: PubMedFile, progress: Progress) -> Iterator[Record]:
    try:
        yield from xml.articles(
            pieces(source, progress),
            lambda line, _, where, said: faults.add(source.name, line, where, said),
            file.deleted.append,
        )
    except XmlError as error:
        faults.add(source.name, error.line, "file", error.message)
