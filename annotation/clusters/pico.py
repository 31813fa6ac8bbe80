"""PICO elements and tuples: the form of an element, its ranges in the target text, and the comparison of tuples."""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from measures import spans
from measures.text_agreement import written

from ..models import Cluster, Element, PicoElement, PicoForm, PicoFragment

#: A marked fragment: start, end, quote.
Marked = tuple[int, int, str]
_IMPLIED_ALONE = re.compile(r"\[[^\[\]]*\]")
_IMPLIED = re.compile(r"(?:(?<=\s)|^)\[[^\[\]]*\]")


def without_implied(text: str) -> str:
    """Return the text without its [implied] parts.

    Brackets inside a word ("rs4236601[A]") do not mark an implied part.
    """
    return _IMPLIED.sub("", text)


def in_words(text: str) -> str:
    """Return the text with implied words but without their brackets.

    "[anti-VEGF] agents" becomes "anti-VEGF agents"; "rs4236601[A]" is unchanged.
    """
    return _IMPLIED.sub(lambda implied: implied.group()[1:-1], text).strip()


def form_of(text: str, target: str) -> tuple[PicoForm, tuple[spans.Range, ...]]:
    """Return the form of an element's text and, if it is explicit, its ranges of code points in ``target``.

    Leading and trailing white space is ignored. A text that occurs in the target as whole words, ignoring case, is
    explicit. Brackets inside a word ("rs4236601[A]") do not mark an implied part.
    """
    stripped = text.strip()
    if not stripped:
        return PicoForm.BLANK, ()
    if _IMPLIED_ALONE.fullmatch(stripped):
        return PicoForm.IMPLIED, ()
    if without_implied(stripped) != stripped:
        return PicoForm.PARTLY_IMPLIED, ()
    located = spans.locate_words(target, stripped)
    return (PicoForm.EXPLICIT, (located,)) if located else (PicoForm.REWORDED, ())


def entered_form(text: str, marked: Sequence[Marked], target: str) -> tuple[PicoForm, tuple[spans.Range, ...]]:
    """Return the form and the ranges of an element that a person entered.

    The ranges are the marked ones, or those of `form_of` if nothing is marked. A text that equals its marked fragments
    is explicit, even if it contains brackets. Other text beside marked fragments makes it partly implied. Marks are
    ignored if one of them does not match the target, for example because the target text has changed.
    """
    if not marked or any(target[start:end] != quote for start, end, quote in marked):
        return form_of(text, target)
    quoted = " ".join(quote for _, _, quote in marked).strip()
    ranges = tuple((start, end) for start, end, _ in marked)
    return (PicoForm.EXPLICIT if text.strip() == quoted else PicoForm.PARTLY_IMPLIED), ranges


def find_range(text: str, element: str) -> spans.Range | None:
    """Return the range of an element's text in ``text``, without its [implied] parts, or None."""
    return spans.locate_words(text, without_implied(element).strip())


ELEMENTS = tuple(Element.values)
Tuple = Mapping[str, Mapping[str, Any]]


def blank(element: str) -> dict[str, Any]:
    """Return an empty PICO element."""
    return {"text": "", "fragments": []} | ({"stands_for": ""} if element == Element.C else {})


def current_tuple(cluster: Cluster) -> dict[str, dict[str, Any]]:
    """Return the current PICO tuple of a cluster. Prefetch ``pico`` for many clusters."""
    return {element: blank(element) for element in ELEMENTS} | {s.element: _as_value(s) for s in cluster.pico.all()}


def _as_value(element: PicoElement) -> dict[str, Any]:
    return (
        blank(element.element)
        | {"text": element.text}
        | ({"stands_for": element.stands_for} if element.element == Element.C else {})
    )


def tuple_in_words(value: Tuple) -> str:
    """Return a PICO tuple as one line, its elements named by their letters."""
    return "; ".join(
        f"{element.upper()}: {value[element]['text'] or value[element].get('stands_for') or 'blank'}"
        for element in ELEMENTS
    )


def key_of(element: Mapping[str, Any]) -> Hashable:
    """Return the comparison key of an element. Case, white space and marked ranges are ignored."""
    return written(element["text"]), element.get("stands_for", "")


def key_of_tuple(value: Tuple) -> Hashable:
    """Return the comparison key of a PICO tuple: the keys of its four elements."""
    return tuple(key_of(value[element]) for element in ELEMENTS)


def texts_of(value: Tuple) -> tuple[str, ...]:
    """Return the four texts without case and white space differences. Import files contain only these texts."""
    return tuple(written(value[element]["text"]) for element in ELEMENTS)


def in_short(value: Tuple) -> str:
    """Return a PICO tuple as a phrase: "In adults: bevacizumab, against ranibizumab → visual acuity"."""
    p, i, c, o = (value[element]["text"].strip() for element in ELEMENTS)
    against = c or (value["c"].get("stands_for") or "").replace("not stated", "")
    return f"{p and f'In {p}: '}{i or '…'}{against and f', against {against}'} → {o or '…'}"


def write_elements(tuples: Iterable[tuple[Cluster, Tuple, str]]) -> None:
    """Replace the PICO tuples of clusters.

    ``tuples`` holds (cluster, tuple, target text). The number of statements does not depend on the number of tuples.
    """
    tuples = list(tuples)
    PicoElement.objects.filter(cluster__in=[cluster for cluster, _, _ in tuples]).delete()
    rows: list[PicoElement] = []
    ranges_of_rows: list[Sequence[tuple[int, int]]] = []
    for cluster, value, target in tuples:
        for name in ELEMENTS:
            element = value[name]
            marked = [(f["start"], f["end"], f["quote"]) for f in element["fragments"]]
            form, ranges = entered_form(element["text"], marked, target)
            rows.append(
                PicoElement(
                    cluster=cluster,
                    element=name,
                    form=form,
                    text=element["text"],
                    stands_for=element.get("stands_for", ""),
                )
            )
            ranges_of_rows.append(ranges)
    PicoFragment.objects.bulk_create(
        PicoFragment(element=row, position=n, start=start, end=end)
        for row, ranges in zip(PicoElement.objects.bulk_create(rows), ranges_of_rows, strict=True)
        for n, (start, end) in enumerate(ranges)
    )
