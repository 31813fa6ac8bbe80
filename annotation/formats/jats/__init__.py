"""Import full texts of reviews in the format of PubMed Central (JATS XML)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from api.problems import Refused
from projects.jobs.batches import Progress
from projects.models import Import, Project
from projects.uploads.faults import Faults
from projects.uploads.files import Source, other_file
from sql.bulk import BulkWriter

from ...clusters.articles import excerpt
from ...imports.format import Ask, Format, Notice, Parsed
from ...imports.sax import XmlError, is_xml, pieces
from ...models import FullText, Review
from . import xml
from .record import FullTextRecord

#: Number of full texts held in memory while a file is checked.
MOST_ARTICLES = 100
NO_LICENCE = "no licence is stated"
NO_INCLUDED = "no included studies are marked"
DIFFERENT_TEXT = "full text differs from the project's"


@dataclass
class FullTexts:
    """The articles of one file, by the PMID of their review. `compare` adds the stored reviews and differences."""

    source: Source
    level: str = ""
    articles: dict[str, FullTextRecord] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    #: Differences from stored full texts: PMID of the review, field, and an excerpt of the file's text.
    differences: list[tuple[str, str, str]] = field(default_factory=list)
    reviews: dict[str, Review] = field(default_factory=dict)
    project: Project | None = None

    def compare(self, project: Project, faults: Faults, progress: Progress) -> None:
        self.project, self.known, self.differences = project, set(), []
        progress(0, len(self.articles), "comparing with the project")
        self.reviews = {r.pmid: r for r in Review.objects.filter(project=project, pmid__in=self.articles)}
        stored = {text.review_id: text for text in FullText.objects.filter(review__in=self.reviews.values())}
        for pmid, article in self.articles.items():
            review = self.reviews.get(pmid)
            if review is None:
                faults.add(self.source.name, article.line, "review", f"the project has no review {pmid}")
            elif review.pk in stored:
                self.known.add(pmid)
                self.differences += (
                    (pmid, *difference) for difference in _differences(stored[review.pk], _fields(article))
                )

    def counts(self) -> dict[str, int]:
        references = [reference for article in self.articles.values() for reference in article.references]
        return {
            "items": len(self.articles),
            "new": len(self.articles) - len(self.known),
            "unchanged": len(self.known),
            "references": len(references),
            "references with a PMID": sum(1 for reference in references if reference.pmid),
            "marked as included studies": sum(1 for reference in references if reference.is_included),
        }

    def summary(self) -> dict[str, dict[str, int]]:
        return {}

    def notices(self, progress: Progress) -> Iterator[Notice]:
        for pmid, name, text in self.differences:
            yield Notice(DIFFERENT_TEXT, "The project keeps its own text.", pmid, "", name, text)
        for pmid, article in self.articles.items():
            place = f"line {article.line}"
            if not (article.licence or article.licence_url):
                yield Notice(NO_LICENCE, "Check whether you may store and show it.", pmid, place)
            if not any(reference.is_included for reference in article.references):
                message = "Its references are listed in their order, none as an included study."
                yield Notice(NO_INCLUDED, message, pmid, place)

    def sample(self, size: int) -> list[dict[str, Any]]:
        return [
            {
                "pmid": pmid,
                "title": article.title,
                "pmcid": article.pmcid,
                "licence": article.licence_url or article.licence[:200],
            }
            for pmid, article in list(self.articles.items())[:size]
        ]

    def create_items(self, imported: Import, rows: BulkWriter, progress: Progress) -> None:
        if self.project is None:
            raise Refused("Full texts need a project with reviews. Import the reviews first.")
        new = [(pmid, article) for pmid, article in self.articles.items() if pmid not in self.known]
        rows.add(FullText(review=self.reviews[pmid], imported=imported, **_fields(article)) for pmid, article in new)

    def confirm(self) -> None:
        """Do nothing: a unique constraint prevents a second full text of a review."""


def _differences(stored: FullText, fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the fields that differ from a stored full text, with excerpts. Sections and references are numbered."""
    for name, new in fields.items():
        old = getattr(stored, name)
        if isinstance(new, str):
            if old != new:
                yield name, excerpt(old, new)
            continue
        nothing: dict[str, Any] = {}
        for number, (before, now) in enumerate(zip_longest(old, new, fillvalue=nothing), start=1):
            if before != now:
                texts = [str(part.get("text", "")) for part in (before, now)]
                yield f"{name}[{number}]", excerpt(*texts) if texts[0] != texts[1] else texts[1][:120]


def _fields(article: FullTextRecord) -> dict[str, Any]:
    return {
        "pmcid": article.pmcid[:20],
        "doi": article.doi[:200],
        "licence": article.licence,
        "licence_url": article.licence_url,
        "copyright": article.copyright,
        "sections": [section._asdict() for section in article.sections],
        "references": [reference._asdict() for reference in article.references],
    }


class Jats(Format):
    key = "jats"
    material = ("reviews",)
    title = "Full texts of reviews from PubMed Central (JATS XML)"
    differences = (DIFFERENT_TEXT,)
    asks = (
        Ask("review", "Review (PMID)", "", "The review of this project. Needed if the file does not contain its PMID."),
    )

    def __init__(self, about: Mapping[str, str] | None = None) -> None:
        self._review = (about or {}).get("review", "").strip()

    def with_answers(self, about: Mapping[str, str]) -> "Format":
        if unknown := sorted(key for key, value in about.items() if value.strip() and key != "review"):
            raise Refused.field(unknown[0], f"The format {self.key} does not use {unknown[0]!r}. Leave it empty.")
        return Jats(about)

    def read(self, source: Source, *, level: str, faults: Faults, progress: Progress) -> Parsed:
        file = FullTexts(source)
        with source.path.open("rb") as opened:
            head = opened.read(4096)
        if not is_xml(head):
            kind = other_file(head) or "no XML element"
            faults.add(source.name, 1, "file", f"expected JATS XML, found {kind}")
            return file
        try:
            for number, article in enumerate(xml.articles(pieces(source, progress)), start=1):
                self._add(file, article, number, faults)
        except XmlError as error:
            faults.add(source.name, error.line, "file", error.message)
        if not file.articles and not faults:
            faults.add(source.name, 1, "file", "the file has no articles")
        return file

    def _add(self, file: FullTexts, article: FullTextRecord, number: int, faults: Faults) -> None:
        pmid = self._review or article.pmid
        if self._review and number > 1:
            message = "a review was given, but the file has several articles; expected one"
        elif self._review and article.pmid and article.pmid != self._review:
            message = f"this is the full text of {article.pmid[:40]}; expected the full text of {self._review}"
        elif not pmid:
            message = "the article has no PMID; enter the PMID of its review"
        elif pmid in file.articles:
            message = f"the file has a second full text of {pmid}"
        elif number > MOST_ARTICLES:
            message = f"more than {MOST_ARTICLES} articles; split the file"
        else:
            file.articles[pmid] = article
            return
        faults.add(file.source.name, article.line, "review", message)
