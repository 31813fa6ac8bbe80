"""Parse MS^2's tags of populations, interventions and outcomes as standoff spans.

The tags may cross, so they are not XML: ``... low intake of <int> vitamin K </int> may raise the <out> risk of <pop>
fracture . </out> </pop>``. Sources: DeYoung et al., MS^2 (EMNLP 2021), and its files. ``pairs_of`` returns the
pairs of a review as these files contain them.
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
    """A tagged range of the plain text: half-open, in code points, without white space at either end."""

    kind: PioKind
    range: Range


@dataclass(frozen=True, slots=True)
class PioText:
    """``text`` without tags, ``spans`` by start position, and ``strays``, the number of tags without a partner."""

    text: str
    spans: tuple[PioSpan, ...]
    strays: int

    def quotes(self, kind: PioKind) -> tuple[str, ...]:
        """Return the texts of the spans of one kind, in order, including repeats."""
        return tuple(self.text[slice(*span.range)] for span in self.spans if span.kind == kind)

    @property
    def interventions(self) -> tuple[str, ...]:
        return self.quotes("int")

    @property
    def outcomes(self) -> tuple[str, ...]:
        return self.quotes("out")


def parse_pio(tagged: str) -> PioText:
    """Parse tagged text into plain text and spans. The blank that MS^2 puts between a tag and its word is removed.

    A tag closes the open tag of its kind, even if other tags are open. An opening tag inside one of its own kind and a
    tag without a partner are ignored and counted. Empty spans are dropped.
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
        # A tag may have a blank on either side; one of the two is kept.
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
    """Return all (intervention, outcome) pairs of a review as in MS^2's files: the product of ``distinct_spans``."""
    return tuple(product(distinct_spans(interventions), distinct_spans(outcomes)))


def every_pair_of(interventions: Iterable[str], outcomes: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return all pairs as MS^2's ``consistency_scorer`` and MSLR's evaluator form them: all tags, case unchanged.

    Repeated tags count repeatedly. The background of MS^2's sample has 4 such pairs, and 2 in ``pairs_of``.
    """
    return tuple(product(_shown(interventions), _shown(outcomes)))


def distinct_spans(spans: Iterable[str]) -> tuple[str, ...]:
    """Return distinct spans in lower case, in order, without spans that are substrings of another.

    Word boundaries are ignored: "vertebral fractures" is dropped because of "nonvertebral fractures", as in MS^2's
    files.
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
