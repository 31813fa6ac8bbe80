"""Parse MS^2's tags of populations, interventions and outcomes as standoff spans.

The tags may cross, so they are not XML: ``... low intake of <int> vitamin K </int> may raise the <out> risk of <pop>
fracture . </out> </pop>``. Sources: DeYoung et al., MS^2 (EMNLP 2021), and its files. ``pairs_of`` returns the
pairs of a review as these files contain them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from typing import Literal

from measures.spans import Range

PioKind = Literal["pop", "int", "out"]
_KINDS: dict[str, PioKind] = {"pop": "pop", "int": "int", "out": "out"}
_TAG_ITSELF = "</?(?:pop|int|out)>"
_TAG = re.compile(r"<(/?)(pop|int|out)>")
_SPLIT = re.compile(f"({_TAG_ITSELF})")
_USUAL = re.compile(rf"( {_TAG_ITSELF})(?=\s|\Z)")
#: Opening and closing tags with the blanks that they usually take.
_USUAL_PAIRS = {
    (f"{before}<{name}>", f"{blank}</{name}>") for name in _KINDS for before in ("", " ") for blank in ("", " ")
}
#: Slash and name of each tag.
_ONE = {f"<{slash}{name}>": (slash, name) for slash in ("", "/") for name in _KINDS}
#: A tag that was removed from a text: its offset in the text, and its exact characters with blanks.
Tag = tuple[int, str]


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
    """Parse tagged text into plain text and spans.

    A tag closes the open tag of its kind, even if other tags are open. An opening tag inside one of its own kind and a
    tag without a partner are ignored and counted. Empty spans are dropped.
    """
    text, tags = untag(tagged)
    return PioText(text, *spans_of(text, tags))


def untag(tagged: str) -> tuple[str, list[Tag]]:
    """Return the text without tags, and what was removed. ``retag`` returns the tagged text.

    MS^2 puts a blank between a tag and its words. Of the blanks on both sides of a tag one is removed, as is the blank
    between a tag and either end of the text.
    """
    if "<" not in tagged:
        return tagged, []
    # Texts and tags in turn. Usually each tag takes the blank before it.
    pieces = _USUAL.split(tagged)
    text = "".join(pieces[::2])
    if "<" not in text or not _TAG.search(text):
        return text, list(zip(accumulate(map(len, pieces[:-1:2])), pieces[1::2], strict=True))
    pieces = _SPLIT.split(tagged)
    plain: list[str] = []
    tags: list[Tag] = []
    length = 0
    for at in range(1, len(pieces), 2):
        piece, tag, following = pieces[at - 1 : at + 2]
        is_followed = following[:1].isspace() or (not following and at + 2 == len(pieces))
        if piece[-1:].isspace() and is_followed:
            tag, piece = piece[-1] + tag, piece[:-1]
        elif not piece and is_followed and tags and plain and plain[-1][-1:].isspace():
            # Tags without a blank between them: the blank before the first of them is removed.
            first = next(n for n, (offset, _) in enumerate(tags) if offset == length)
            tag = plain[-1][-1] + "".join(characters for _, characters in tags[first:]) + tag
            plain[-1], tags = plain[-1][:-1], tags[:first]
            length -= 1
        elif not length and not piece and following[:1].isspace():
            tag, pieces[at + 1] = tag + following[0], following[1:]
        if piece:
            plain.append(piece)
            length += len(piece)
        tags.append((length, tag))
    plain.append(pieces[-1])
    return "".join(plain), tags


def retag(text: str, tags: Iterable[Tag]) -> str:
    """Return the tagged text: insert the characters of each tag at its offset, in order."""
    pieces: list[str] = []
    at = 0
    for offset, characters in tags:
        pieces += (text[at:offset], characters)
        at = offset
    return "".join([*pieces, text[at:]])


def tags_before(tags: Sequence[Tag], ends: Iterable[int]) -> Iterator[tuple[int, int] | None]:
    """Map ends of sentences in the tagged text, in increasing order, to the text without tags.

    Yield (offset in the text, number of removed tags at this offset before the end), or None for an end inside a tag.
    """
    number = removed = 0
    for end in ends:
        while number < len(tags) and tags[number][0] + removed + len(tags[number][1]) <= end:
            removed += len(tags[number][1])
            number += 1
        offset = end - removed
        if number < len(tags) and tags[number][0] < offset:
            yield None
        else:
            first = number
            while first and tags[first - 1][0] == offset:
                first -= 1
            yield offset, number - first


def tagged_ends(tags: Sequence[Tag], ends: Iterable[tuple[int, int]]) -> Iterator[int]:
    """Return the ends of sentences in the tagged text. The inverse of ``tags_before``."""
    number = removed = 0
    for offset, before in ends:
        while number < len(tags) and tags[number][0] < offset:
            removed += len(tags[number][1])
            number += 1
        at_offset = [len(characters) for place, characters in tags[number : number + before] if place == offset]
        yield offset + removed + sum(at_offset)


def spans_of(text: str, tags: Iterable[Tag]) -> tuple[tuple[PioSpan, ...], int]:
    """Return the spans that tags mark, by start position, and the number of tags without a partner."""
    marked, strays = _marked(text, tags)
    found = sorted((span for span, *_ in marked if span), key=lambda span: span[1])
    return tuple(PioSpan(*span) for span in found), strays


def count_spans(text: str, tags: Iterable[Tag]) -> tuple[int, int]:
    """Return the number of spans that tags mark, and the number of tags without a partner."""
    listed = list(tags)
    if len(listed) % 2 == 0:
        # Usually the tags of a span follow each other.
        n_spans = 0
        for (start, opening), (end, closing) in zip(listed[::2], listed[1::2], strict=True):
            if (opening, closing) not in _USUAL_PAIRS:
                break
            n_spans += start < end and not text[start:end].isspace()
        else:
            return n_spans, 0
    marked, strays = _marked(text, listed)
    return sum(span is not None for span, *_ in marked), strays


def with_spans(text: str, tags: Sequence[Tag], spans: Collection[PioSpan]) -> list[Tag]:
    """Return the tags of a text that has these spans. Spans of one kind must not overlap.

    Tags of spans that stay are unchanged. Tags of other spans are removed, and those of new spans are inserted as MS^2
    writes them. Tags that mark nothing are unchanged too, unless they would now mark a span, or end a new one.
    """
    wanted = {(span.kind, span.range) for span in spans}
    replaced = _replaced(text, tags, wanted, ())
    if differing := {kind for kind, _ in wanted ^ {(one.kind, one.range) for one in spans_of(text, replaced)[0]}}:
        replaced = _replaced(text, tags, wanted, differing)
    return replaced


def _replaced(
    text: str, tags: Sequence[Tag], wanted: Collection[tuple[PioKind, Range]], without_strays: Collection[str]
) -> list[Tag]:
    """Return the tags with the wanted spans. Tags that mark nothing are removed if their kind is ``without_strays``."""
    marked, _ = _marked(text, tags)
    staying = {n for span, *ends in marked if span in wanted for n in ends}
    removed = {n for span, *ends in marked if span and span not in wanted for n in ends}
    kept: list[Tag] = []
    number = 0
    for offset, characters in tags:
        pieces = _SPLIT.split(characters)
        for n in range(1, len(pieces), 2):
            is_stray_removed = pieces[n].strip("</>") in without_strays and number not in staying
            if number in removed or is_stray_removed:
                pieces[n] = ""
            number += 1
        # The blanks around a removed tag go with it.
        if any(pieces[1::2]):
            kept.append((offset, "".join(pieces)))
    new = {span for span in wanted if span not in {span for span, *_ in marked}}
    for kind, (start, end) in sorted(new, key=lambda span: (span[1], span[0])):
        # A blank beside a tag belongs to the text if no other blank or end of the text is there.
        before = "" if start and not text[start - 1].isspace() else " "
        after = "" if end < len(text) and not text[end].isspace() else " "
        kept = _inserted(kept, (end, f"{after}</{kind}>"), before_openings=True)
        kept = _inserted(kept, (start, f"<{kind}>{before}"), before_openings=False)
    return kept


def _inserted(tags: Sequence[Tag], tag: Tag, *, before_openings: bool) -> list[Tag]:
    """Insert a tag among those at its offset: a closing one before the first opening one, an opening one last."""
    at = next((n for n, (offset, _) in enumerate(tags) if offset > tag[0]), len(tags))
    if before_openings:
        at = next((n for n, (offset, chars) in enumerate(tags) if offset == tag[0] and "</" not in chars), at)
    return [*tags[:at], tag, *tags[at:]]


def _marked(text: str, tags: Iterable[Tag]) -> tuple[list[tuple[tuple[PioKind, Range] | None, int, int]], int]:
    """Return each span (None if it is empty) with the numbers of its two tags, and the number of other tags."""
    open_at: dict[PioKind, tuple[int, int]] = {}
    marked: list[tuple[tuple[PioKind, Range] | None, int, int]] = []
    number = strays = 0
    for offset, characters in tags:
        known = _ONE.get(characters.strip())
        for slash, name in (known,) if known else _TAG.findall(characters):
            kind = _KINDS[name]
            if slash and kind in open_at:
                start, opened = open_at.pop(kind)
                extent = _trimmed(text, start, offset)
                marked.append(((kind, extent) if extent else None, opened, number))
            elif slash or kind in open_at:
                strays += 1
            else:
                open_at[kind] = offset, number
            number += 1
    return marked, strays + len(open_at)


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
