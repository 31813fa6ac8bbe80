"""Records of PubMed from files: its XML, MEDLINE's format (.nbib), or a table with a column of PubMed ids."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from api.problems import Refused
from projects.background.progress import Progress
from projects.models import Import, Project
from projects.uploads.faults import Faults
from projects.uploads.source import Source
from sql.ready import Rows

from ...corpus.articles import Articles
from ...models import Review
from ..formats import Ask, Format, Level, Notice, Parsed
from ..reading import Habits, other_file
from ..sax import pieces
from . import medline, table, xml
from .record import Record

#: The most that one file brings: so much is written in a few seconds, in which on SQLite nobody else can write.
MOST_RECORDS = 20_000
REVIEWS, STUDIES = "reviews", "studies"
#: The longest name of a topic.
TOPIC = 120
REPEATED = "record repeated in the file"
UNLIKE = "abstract differs from the project's"
NO_ABSTRACT = "record without an abstract"
RETRACTED = "retracted"
SPELLING = "spelling of the file"


@dataclass
class PubMedFile:
    """The records of one file, each id once; after `compare` what they come to in the project."""

    source: Source
    level: str
    topic: str = ""
    review: str = ""
    records: dict[str, Record] = field(default_factory=dict)
    repeated: list[Record] = field(default_factory=list)
    habits: Habits = field(default_factory=Habits)
    articles: Articles | None = None

    def compare(self, project: Project, faults: Faults, progress: Progress) -> None:
        review = None
        if self.review:
            review = Review.objects.filter(project=project, pmid=self.review).first()
            if review is None:
                faults.add(self.source.name, 0, "file", f"the project has no review {self.review}, to take studies of")
                return
        self.articles = Articles(project, topic=self.topic, review=review)
        progress(0, len(self.records), "comparing with the project")
        self.articles.compare(self.records.values())

    @property
    def _new(self) -> int:
        return len(self.articles.new) if self.articles else len(self.records)

    def counts(self) -> dict[str, int]:
        unchanged = len(self.articles.unchanged) if self.articles else 0
        found = self.records.values()
        return {
            "items": len(self.records),
            "new": self._new,
            "unchanged": unchanged,
            (STUDIES if self.review else REVIEWS): self._new,
            "known records completed": len(self.records) - self._new - unchanged,
            "with conclusions": sum(1 for r in found if r.conclusions),
            "without an abstract": sum(1 for r in found if r.abstract == ""),
            "retracted": sum(r.is_retracted for r in found),
        }

    def summary(self) -> dict[str, dict[str, int]]:
        types = Counter(name for record in self.records.values() for name in record.publication_types)
        return {"publication_type": dict(types.most_common(20))} if types else {}

    def notices(self, progress: Progress) -> Iterator[Notice]:
        yield from (Notice(SPELLING, sentence) for sentence in self.habits.sentences())
        for record in self.repeated:
            first = self.records[record.pmid].line
            yield Notice(REPEATED, f"The record on line {first} is taken.", record.pmid, f"line {record.line}")
        for pmid in self.articles.unlike if self.articles else ():
            yield Notice(UNLIKE, "The project's text stays as it is.", pmid, "", "abstract")
        for record in self.records.values():
            if record.abstract == "":
                yield Notice(NO_ABSTRACT, "It is kept, and counted.", record.pmid, f"line {record.line}", "abstract")
            if record.is_retracted:
                said = record.retraction_notice or "Its publication type says so."
                yield Notice(RETRACTED, said, record.pmid, f"line {record.line}")

    def sample(self, size: int) -> list[dict[str, Any]]:
        return [
            {"pmid": r.pmid, "title": r.title, "year": r.year, "abstract": r.abstract}
            for r in list(self.records.values())[:size]
        ]

    def lay_out(self, imported: Import, rows: Rows, progress: Progress) -> None:
        """Compared where nothing was before: a project that was only just made had nothing to compare with."""
        if self.articles is None or self.articles.project.pk != imported.project_id:
            faults = Faults()
            self.compare(imported.project, faults, progress)
            for fault in faults:
                raise Refused(fault.message)
        assert self.articles is not None
        self.articles.by = imported.created_by
        self.articles.lay_out(rows)

    def confirm(self) -> None:
        """In the transaction that writes the new ones: what the known ones lack."""
        assert self.articles is not None
        self.articles.complete()


class PubMed(Format):
    key = "pubmed"
    title = "PubMed: records of reviews or studies (XML, nbib or a CSV table with a column pmid)"
    levels = (Level(REVIEWS, "reviews"), Level(STUDIES, "studies of a review"))
    recognises = False
    asks = (
        Ask("topic", "Topic", REVIEWS, "What the reviews are about, in your words: counts are given by topic."),
        Ask("review", "Review (PMID)", STUDIES, "A review of this project, of which these are the studies.", True),
    )

    def __init__(self, about: Mapping[str, str] | None = None) -> None:
        self._about = about or {}

    def told(self, about: Mapping[str, str]) -> "Format":
        said = {key: value.strip() for key, value in about.items() if value.strip()}
        if unknown := set(said) - {ask.key for ask in self.asks}:
            raise Refused.field(sorted(unknown)[0], f"The format {self.key} asks for no {sorted(unknown)[0]}.")
        if len(said.get("topic", "")) > TOPIC:
            raise Refused.field("topic", f"A topic has at most {TOPIC} characters.")
        return PubMed(said)

    def level_of(self, level: str) -> str:
        return f"{STUDIES} of {self._about.get('review', '')}"[:60] if level == STUDIES else REVIEWS

    def read(self, source: Source, *, level: str, faults: Faults, progress: Progress) -> Parsed:
        file = PubMedFile(source, self.level_of(level))
        if level == STUDIES:
            file.review = self._about.get("review", "")
            if not file.review:
                faults.add(source.name, 0, "review", "say of which review of the project these are the studies")
                return file
        else:
            file.topic = self._about.get("topic", "")
        for record in _records(source, faults, file.habits, progress):
            if record.pmid in file.records:
                file.repeated.append(record)
            else:
                file.records[record.pmid] = record
            if len(file.records) > MOST_RECORDS:
                message = f"the file has more than {MOST_RECORDS:,} records up to here: bring it in several files"
                faults.add(source.name, record.line, "file", message)
                return file
        if not file.records and not faults:
            faults.add(source.name, 1, "file", "the file has no record")
        return file


def _records(source: Source, faults: Faults, habits: Habits, progress: Progress) -> Iterator[Record]:
    """The records of a file of whatever shape, told by how it begins."""
    with source.path.open("rb") as opened:
        head = opened.read(4096)
    begins = head.decode("utf-8", errors="replace")
    if begins.lstrip("\ufeff \t\r\n").startswith("<") or (head[:2] in (b"\xff\xfe", b"\xfe\xff") and b"<" in head):
        yield from _of_xml(source, faults, progress)
    elif kind := other_file(head):
        faults.add(source.name, 1, "file", f"expected XML, nbib or CSV, found {kind}")
    elif medline.looks_like(begins):
        yield from medline.records(source, faults, habits, progress)
    else:
        yield from table.records(source, faults, habits, progress)


def _of_xml(source: Source, faults: Faults, progress: Progress) -> Iterator[Record]:
    try:
        yield from xml.articles(
            pieces(source, progress), lambda line, _, where, said: faults.add(source.name, line, where, said)
        )
    except xml.Unsound as error:
        faults.add(source.name, error.line, "file", error.message)
