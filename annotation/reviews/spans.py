"""Current spans of abstracts, and the parts of an abstract with their spans."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from measures.pio import Tag
from measures.pio import spans_of as pio_spans
from measures.spans import Range

from ..kinds.entity.current import decided_spans
from ..kinds.entity.machine import ELEMENTS
from ..models import Element, Inclusion, MachineReading, ReadingTask, Review
from ..readings.current import newest_last


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
    tags: dict[Owner, list[Tag]] = {}
    owners = {
        "review": [review.pk for review in reviews],
        "study": [inclusion.study_id for inclusion in inclusions],
        "inclusion": [inclusion.pk for inclusion in inclusions],
    }
    for owner, ids in owners.items():
        readings = newest_last(MachineReading.objects.filter(task=ReadingTask.PIO, **{f"{owner}__in": ids}))
        tags |= {(owner, getattr(one, f"{owner}_id")): one.values["tags"] for one in readings} if ids else {}
    decided = decided_spans(reviews, {inclusion.study_id for inclusion in inclusions})
    texts: list[tuple[Owner, str, list[Tag], Owner]] = [
        (of, review.abstract, tags.get(of, []), of) for review in reviews for of in [("review", review.pk)]
    ]
    for inclusion in inclusions:
        of, of_study = ("inclusion", inclusion.pk), ("study", inclusion.study_id)
        texts.append((of, inclusion.study.abstract, tags.get(of, tags.get(of_study, [])), of_study))
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
