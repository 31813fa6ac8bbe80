"""Full texts of reviews, as PubMed Central gives them out (JATS)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from api.problems import Refused
from projects.background.progress import Progress
from projects.models import Import, Project
from projects.uploads.faults import Faults
from projects.uploads.source import Source
from sql.ready import Rows

from ...models import FullText, Review
from ..formats import Ask, Format, Notice, Parsed
from ..reading import other_file
from ..sax import Unsound, pieces
from . import xml
from .record import FullTextRecord

#: So many full texts are held in memory while a file is checked.
MOST_ARTICLES = 100
NO_LICENCE = "no licence is stated"
NO_INCLUDED = "no included studies are marked"


@dataclass
class FullTexts:
    """The articles of one file by the PMID of their review; after `compare` what they come to in the project."""

    source: Source
    level: str = ""
    articles: dict[str, FullTextRecord] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    reviews: dict[str, Review] = field(default_factory=dict)
    project: Project | None = None

    def compare(self, project: Project, faults: Faults, progress: Progress) -> None:
        self.project, self.known = project, set()
        progress(0, len(self.articles), "comparing with the project")
        self.reviews = {r.pmid: r for r in Review.objects.filter(project=project, pmid__in=self.articles)}
        there = {text.review_id: text for text in FullText.objects.filter(review__in=self.reviews.values())}
        for pmid, article in self.articles.items():
            review = self.reviews.get(pmid)
            if review is None:
                faults.add(self.source.name, article.line, "review", f"the project has no review {pmid}")
            elif review.pk in there:
                if _fields(article) != {name: getattr(there[review.pk], name) for name in _fields(article)}:
                    message = f"the project has another full text of review {pmid}, which stays"
                    faults.add(self.source.name, article.line, "review", message)
                self.known.add(pmid)

    def counts(self) -> dict[str, int]:
        references = [one for article in self.articles.values() for one in article.references]
        return {
            "items": len(self.articles),
            "new": len(self.articles) - len(self.known),
            "unchanged": len(self.known),
            "references": len(references),
            "references with a PMID": sum(1 for one in references if one.pmid),
            "marked as included studies": sum(1 for one in references if one.is_included),
        }

    def summary(self) -> dict[str, dict[str, int]]:
        return {}

    def notices(self, progress: Progress) -> Iterator[Notice]:
        for pmid, article in self.articles.items():
            place = f"line {article.line}"
            if not (article.licence or article.licence_url):
                yield Notice(NO_LICENCE, "Whether it may be kept and shown is for you to know.", pmid, place)
            if not any(one.is_included for one in article.references):
                message = "Its references are offered in their order, none of them as an included study."
                yield Notice(NO_INCLUDED, message, pmid, place)

    def sample(self, size: int) -> list[dict[str, Any]]:
        return [
            {
                "pmid": pmid, "title": article.title, "pmcid": article.pmcid,
                "licence": article.licence_url or article.licence[:200],
            }
            for pmid, article in list(self.articles.items())[:size]
        ]  # fmt: skip

    def lay_out(self, imported: Import, rows: Rows, progress: Progress) -> None:
        if self.project is None:
            raise Refused("Full texts are brought to the reviews of a project that is there.")
        new = [(pmid, article) for pmid, article in self.articles.items() if pmid not in self.known]
        rows.add(FullText(review=self.reviews[pmid], imported=imported, **_fields(article)) for pmid, article in new)

    def confirm(self) -> None:
        """Nothing else changes: a second full text of a review breaks its constraint."""


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
    title = "Full texts of reviews from PubMed Central (JATS XML)"
    asks = (Ask("review", "Review (PMID)", "", "The review of this project; needed where the file does not say it."),)

    def __init__(self, about: Mapping[str, str] | None = None) -> None:
        self._review = (about or {}).get("review", "").strip()

    def told(self, about: Mapping[str, str]) -> "Format":
        if other := sorted(key for key, value in about.items() if value.strip() and key != "review"):
            raise Refused.field(other[0], f"The format {self.key} asks for no {other[0]}.")
        return Jats(about)

    def read(self, source: Source, *, level: str, faults: Faults, progress: Progress) -> Parsed:
        file = FullTexts(source)
        with source.path.open("rb") as opened:
            head = opened.read(4096)
        if b"<" not in head:
            found = other_file(head) or "no XML"
            faults.add(source.name, 1, "file", f"expected JATS XML, found {found}")
            return file
        try:
            for number, article in enumerate(xml.articles(pieces(source, progress)), start=1):
                self._add(file, article, number, faults)
        except Unsound as error:
            faults.add(source.name, error.line, "file", error.message)
        if not file.articles and not faults:
            faults.add(source.name, 1, "file", "the file has no article")
        return file

    def _add(self, file: FullTexts, article: FullTextRecord, number: int, faults: Faults) -> None:
        pmid = self._review or article.pmid
        if self._review and number > 1:
            message = "one review was named, and the file has several articles"
        elif self._review and article.pmid and article.pmid != self._review:
            message = f"it is the full text of {article.pmid[:40]}, not of {self._review}"
        elif not pmid:
            message = "the file does not say its PMID: name the review"
        elif pmid in file.articles:
            message = f"the full text of {pmid} a second time"
        elif number > MOST_ARTICLES:
            message = f"more than {MOST_ARTICLES} articles: bring them in several files"
        else:
            file.articles[pmid] = article
            return
        faults.add(file.source.name, article.line, "review", message)
