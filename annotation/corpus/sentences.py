"""The sentences of abstracts as rows: split once, where an article gets its abstract, or later for what was there."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from django.db.models import Exists, OuterRef, QuerySet

from measures.sentences import SPLITTER, sentence_ranges

from ..models import Review, Sentence, Study

A = TypeVar("A", Review, Study)
#: No abstract has more sentences; what there is behind the last but one is one sentence.
MOST = 10_000
#: How many articles are split and stored at once.
BATCH = 200


class Piece(NamedTuple):
    """A sentence of a text: a half-open range of its code points, under a heading with NLM's category."""

    start: int
    end: int
    section: str
    category: str


def pieces(abstract: str, sections: Sequence[Mapping[str, Any]]) -> list[Piece]:
    """The sentences of an abstract in order, its headings left out. ``sections``: as an article keeps them."""
    found: list[Piece] = []
    at = 0
    for section in sections:
        label, start, end = str(section["label"]), int(section["start"]), int(section["end"])
        before = abstract[at:start].rstrip()
        heading = f"{label}:"
        left = len(before) - (len(heading) if label and before.endswith(heading) else 0)
        found += _within(abstract, at, at + left, "", "")
        found += _within(abstract, start, end, label, str(section.get("category", "")))
        at = end
    found += _within(abstract, at, len(abstract), "", "")
    return found if len(found) <= MOST else [*found[: MOST - 1], found[MOST - 1]._replace(end=found[-1].end)]


def _within(text: str, start: int, end: int, section: str, category: str) -> list[Piece]:
    return [Piece(start + a, start + b, section, category) for a, b in sentence_ranges(text[start:end])]


def rows_of(article: Review | Study) -> list[Sentence]:
    """The rows of an article's sentences, not written yet; none where it has no abstract."""
    of = {"review" if isinstance(article, Review) else "study": article}
    return [
        Sentence(
            **of, number=number, start=piece.start, end=piece.end, text=article.abstract[piece.start : piece.end],
            section=piece.section, category=piece.category, splitter=SPLITTER,
        )
        for number, piece in enumerate(pieces(article.abstract, article.sections), start=1)
    ]  # fmt: skip


def shown(sentences: Iterable[Sentence]) -> list[dict[str, Any]]:
    """Sentences as cards have them."""
    return [{"number": one.number, "text": one.text, "section": one.section} for one in sentences]


def unsplit(articles: QuerySet[A]) -> QuerySet[A]:
    """Those with an abstract whose sentences are no rows yet."""
    name = "review" if articles.model is Review else "study"
    there = Sentence.objects.filter(**{name: OuterRef("pk")})
    return articles.exclude(abstract="").exclude(Exists(there))


def split(articles: Iterable[Review | Study]) -> int:
    """Write the sentences of these articles, in the caller's transaction; how many. Those that are there stay: whoever
    splits the same abstract meanwhile writes the same rows."""
    rows = [row for article in articles for row in rows_of(article)]
    Sentence.objects.bulk_create(rows, ignore_conflicts=True)
    return len(rows)
