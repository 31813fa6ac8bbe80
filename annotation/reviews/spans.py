"""Current spans of abstracts, and the parts of an abstract with their spans."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from measures.pio import Tag
from measures.pio import spans_of as pio_spans
from measures.spans import Range

from ..corpus.tags import current_tags
from ..kinds.entity.current import decided_spans
from ..kinds.entity.machine import ELEMENTS
from ..models import Element, Inclusion, ReadingTask, Review
from ..readings.current import current_readings


class Span(NamedTuple):
    """A span of a text in code points. ``is_machine``: no person has decided the element for this text."""

    start: int
    end: int
    element: Element
    is_machine: bool


class Part(NamedTuple):
    """A part of an abstract: some of its sentences."""

    text: str
    spans: Sequence[Span]


Owner = tuple[str, int]


def current_spans(reviews: Sequence[Review], inclusions: Sequence[Inclusion]) -> dict[Owner, list[Span]]:
    """Return the spans of reviews and of included studies, by ("review" or "inclusion", primary key).

    Two reviews can give one study different tags. What people decide holds for the study in all reviews. Needs the
    studies of the inclusions, and a fixed number of queries.
    """
    of_reviews = current_readings(ReadingTask.PIO, "review").filter(review__in=reviews)
    tags_of_reviews = dict(of_reviews.values_list("review", "values__tags"))
    tags = current_tags({(inclusion.review_id, inclusion.study_id) for inclusion in inclusions})
    decided = decided_spans(reviews, {inclusion.study_id for inclusion in inclusions})
    texts: list[tuple[Owner, str, Iterable[Tag], Owner]] = [
        (("review", review.pk), review.abstract, tags_of_reviews.get(review.pk, []), ("review", review.pk))
        for review in reviews
    ]
    for one in inclusions:
        own = tags.get((one.review_id, one.study_id), [])
        texts.append((("inclusion", one.pk), one.study.abstract, own, ("study", one.study_id)))
    return {of: _merged(text, found, decided.get(judged, {})) for of, text, found, judged in texts}


def _merged(text: str, tags: Iterable[Tag], decided: Mapping[Element, Iterable[Range]]) -> list[Span]:
    found = ((ELEMENTS[span.kind], span.range) for span in pio_spans(text, tags)[0])
    spans = [Span(*extent, element, True) for element, extent in found if element not in decided]
    spans += [Span(*extent, element, False) for element, each in decided.items() for extent in each]
    return sorted(spans, key=lambda span: (span.start, -span.end, span.element))


def part_of(text: str, sentences: Iterable[Range], spans: Sequence[Span], joined_by: str) -> Part:
    """Return some sentences of an abstract. A span that continues in another sentence is cut at the end of its own."""
    pieces: list[str] = []
    found: list[Span] = []
    length = 0
    for start, end in sentences:
        if pieces:
            length += len(joined_by)
        for span in spans:
            first, last = max(start, span.start), min(end, span.end)
            if first < last:
                found.append(span._replace(start=first - start + length, end=last - start + length))
        pieces.append(text[start:end])
        length += end - start
    return Part(joined_by.join(pieces), found)


class WithoutPair(NamedTuple):
    """An intervention or outcome of a review that is in no pair. ``within``: a longer one that contains it, or ""."""

    element: Element
    text: str
    within: str


def without_pair(
    text: str, spans: Iterable[Span], interventions: Iterable[str], outcomes: Iterable[str]
) -> list[WithoutPair]:
    """Return the distinct spans without a pair: MS^2 drops those that are contained in another one."""
    paired = {Element.I: list(dict.fromkeys(interventions)), Element.O: list(dict.fromkeys(outcomes))}
    found: dict[tuple[Element, str], WithoutPair] = {}
    for span in spans:
        quote = text[span.start : span.end].strip().lower()
        known = paired.get(span.element)
        if known and quote not in known:
            within = next((longer for longer in known if quote in longer), "")
            found.setdefault((span.element, quote), WithoutPair(span.element, quote, within))
    return list(found.values())
