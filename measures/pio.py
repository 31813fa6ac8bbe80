"""MS^2's tags of populations, interventions and outcomes, read as standoff: they cross one another, so no XML.

``... low intake of <int> vitamin K </int> may raise the <out> risk of <pop> fracture . </out> </pop>``. Sources:
DeYoung et al., MS^2 (EMNLP 2021) and its files, in which the pairs of a review are those that ``pairs_of`` gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Literal

from measures.spans import Range

PioKind = Literal["pop", "int", "out"]
_KINDS: dict[str, PioKind] = {"pop": "pop", "int": "int", "out": "out"}
_TAG = re.compile(r"<(/?)(pop|int|out)>")


@dataclass(frozen=True, slots=True)
class PioSpan:
    """One tagged range of the plain text; half-open, in code points, without white space at either end."""

    kind: PioKind
    range: Range


@dataclass(frozen=True, slots=True)
class PioText:
    """``text`` without tags, ``spans`` in the order of their beginnings; ``strays``: tags without a partner."""

    text: str
    spans: tuple[PioSpan, ...]
    strays: int

    def quotes(self, kind: PioKind) -> tuple[str, ...]:
        """What the spans of one kind show, in order, repeats included."""
        return tuple(self.text[slice(*span.range)] for span in self.spans if span.kind == kind)

    @property
    def interventions(self) -> tuple[str, ...]:
        return self.quotes("int")

    @property
    def outcomes(self) -> tuple[str, ...]:
        return self.quotes("out")


def parse_pio(tagged: str) -> PioText:
    """The plain text and its spans. The blank that MS^2 puts between a tag and its word goes with the tag.

    A tag closes the open one of its kind, whatever else is open. An opening tag inside one of its own kind, and one
    without a partner, are ignored and counted. A span that shows nothing is dropped.
    """
    plain: list[str] = []
    length = at = strays = 0
    open_at: dict[PioKind, int] = {}
    raw: list[tuple[PioKind, int, int]] = []
    for tag in _TAG.finditer(tagged):
        piece = tagged[at : tag.start()]
        at = tag.end()
        closing, kind = bool(tag.group(1)), _KINDS[tag.group(2)]
        ended = plain[-1] if plain else ""
        # One blank on either side of a tag: keep one of the two.
        if piece[-1:].isspace() and tagged[at : at + 1].isspace():
            piece = piece[:-1]
        elif not piece and ended[-1:].isspace() and tagged[at : at + 1].isspace():
            plain[-1] = ended[:-1]
            length -= 1
        plain.append(piece)
        length += len(piece)
        if closing and kind in open_at:
            raw.append((kind, open_at.pop(kind), length))
        elif closing or kind in open_at:
            strays += 1
        else:
            open_at[kind] = length
    plain.append(tagged[at:])
    text = "".join(plain)
    trimmed = ((kind, _trimmed(text, start, end)) for kind, start, end in raw)
    spans = sorted((PioSpan(kind, each) for kind, each in trimmed if each), key=lambda span: span.range)
    return PioText(text, tuple(spans), strays + len(open_at))


def pairs_of(interventions: Iterable[str], outcomes: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """All (intervention, outcome) pairs of a review as in MS^2's files: ``distinct_spans`` of both, each with each."""
    return tuple(product(distinct_spans(interventions), distinct_spans(outcomes)))


def every_pair_of(interventions: Iterable[str], outcomes: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """As MS^2's ``consistency_scorer`` and MSLR's evaluator take them: every tag with every tag, in their own case.

    What a background names twice counts twice: for the background of MS^2's sample 4 pairs, of which ``pairs_of``
    leaves 2.
    """
    return tuple(product(_shown(interventions), _shown(outcomes)))


def distinct_spans(spans: Iterable[str]) -> tuple[str, ...]:
    """Spans in lower case, in order, once each, without those that are raw substrings of another.

    Raw: "vertebral fractures" vanishes inside "nonvertebral fractures", as it does in MS^2's files.
    """
    known = [span for span in dict.fromkeys(span.strip().lower() for span in spans) if span]
    return tuple(span for span in known if not any(span != other and span in other for other in known))


def _shown(spans: Iterable[str]) -> list[str]:
    return [span for each in spans if (span := each.strip())]


def _trimmed(text: str, start: int, end: int) -> Range | None:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None
