"""Store the sentences of abstracts.

An abstract is split once: when the article receives it, or later for older rows.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from django.db.models import Exists, OuterRef, QuerySet

from measures.sentences import SPLITTER, sentence_ranges

from ..models import MachineReading, ReadingTask, Review, Sentence, Study

A = TypeVar("A", Review, Study)
#: Maximum number of sentences of an abstract. The last one contains the rest of the text.
MOST = 10_000
#: Splitter of abstracts whose sentences a file has separated.
IMPORTED = "imported"
#: Number of articles split and stored at once.
BATCH = 200


class Piece(NamedTuple):
    """A sentence as a half-open range of code points, with its section heading and NLM category."""

    start: int
    end: int
    section: str
    category: str


def pieces(abstract: str, sections: Sequence[Mapping[str, Any]]) -> list[Piece]:
    """Return the sentences of an abstract in order, without section headings.

    ``sections`` has the format of ``article.sections``.
    """
    sentences: list[Piece] = []
    at = 0
    for section in sections:
        label, start, end = str(section["label"]), int(section["start"]), int(section["end"])
        before = abstract[at:start].rstrip()
        heading = f"{label}:"
        length = len(before) - (len(heading) if label and before.endswith(heading) else 0)
        sentences += _within(abstract, at, at + length, "", "")
        sentences += _within(abstract, start, end, label, str(section.get("category", "")))
        at = end
    sentences += _within(abstract, at, len(abstract), "", "")
    return (
        sentences
        if len(sentences) <= MOST
        else [*sentences[: MOST - 1], sentences[MOST - 1]._replace(end=sentences[-1].end)]
    )


def _within(text: str, start: int, end: int, section: str, category: str) -> list[Piece]:
    return [Piece(start + a, start + b, section, category) for a, b in sentence_ranges(text[start:end])]


def imported_ends(reviews: Iterable[int]) -> dict[int, list[int]]:
    """Return the ends of the sentences of those reviews whose file has separated them. One query."""
    rows = MachineReading.objects.filter(review__in=list(reviews), task=ReadingTask.SENTENCES, weights="")
    ends = {
        review: [one.get("end") for one in values["sentences"]]
        for review, values in rows.values_list("review", "values")
    }
    return {review: of for review, of in ends.items() if of and None not in of}


def _between(text: str, ends: Sequence[int]) -> list[Piece] | None:
    """Return the sentences that end at these offsets; None if one of them is blank."""
    found, at = [], 0
    for end in ends:
        start = end - len(text[at:end].lstrip())
        at = end
        found.append(Piece(start, end, "", ""))
    return found if all(piece.start < piece.end for piece in found) else None


def rows_of(article: Review | Study, ends: Sequence[int] = ()) -> list[Sentence]:
    """Return unsaved sentences of an article. Empty if it has no abstract. ``ends``: see `imported_ends`."""
    of = {"review" if isinstance(article, Review) else "study": article}
    separated = _between(article.abstract, ends) if ends else None
    return [
        Sentence(
            **of,
            number=number,
            start=piece.start,
            end=piece.end,
            text=article.abstract[piece.start : piece.end],
            section=piece.section,
            category=piece.category,
            splitter=IMPORTED if separated else SPLITTER,
        )
        for number, piece in enumerate(separated or pieces(article.abstract, article.sections), start=1)
    ]


def sentences_of(articles: Sequence[A]) -> dict[int, list[Sentence]]:
    """Return the sentences of reviews, or of studies, by primary key: stored ones, or those that `split` would store.

    Two queries.
    """
    found: dict[int, list[Sentence]] = {article.pk: [] for article in articles}
    name = "review" if articles and isinstance(articles[0], Review) else "study"
    for sentence in Sentence.objects.filter(**{f"{name}__in": list(found)}).order_by("number"):
        found[getattr(sentence, f"{name}_id")].append(sentence)
    missing = [article for article in articles if not found[article.pk]]
    ends = imported_ends(article.pk for article in missing) if name == "review" and missing else {}
    return found | {article.pk: rows_of(article, ends.get(article.pk, ())) for article in missing}


def sentences_json(sentences: Iterable[Sentence]) -> list[dict[str, Any]]:
    """Return sentences in the format of the cards."""
    return [{"number": sentence.number, "text": sentence.text, "section": sentence.section} for sentence in sentences]


def unsplit(articles: QuerySet[A]) -> QuerySet[A]:
    """Filter articles that have an abstract but no stored sentences."""
    name = "review" if articles.model is Review else "study"
    stored = Sentence.objects.filter(**{name: OuterRef("pk")})
    return articles.exclude(abstract="").exclude(Exists(stored))


def split(articles: Iterable[Review | Study]) -> int:
    """Store the sentences of articles and return their number.

    Must run in a transaction. Existing rows are kept: a concurrent request that splits the same abstract writes the
    same rows.
    """
    listed = list(articles)
    ends = imported_ends(article.pk for article in listed if isinstance(article, Review))
    rows = [
        row
        for article in listed
        for row in rows_of(article, ends.get(article.pk, ()) if isinstance(article, Review) else ())
    ]
    Sentence.objects.bulk_create(rows, ignore_conflicts=True)
    return len(rows)
