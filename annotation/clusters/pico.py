"""PICO elements and tuples: the form of an element, its ranges in the target text, and the comparison of tuples."""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from measures import spans
from measures.text_agreement import written

from ..models import Cluster, PicoForm, PicoFragment, PicoSlot, Slot

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
    place = spans.locate_words(target, stripped)
    return (PicoForm.EXPLICIT, (place,)) if place else (PicoForm.REWORDED, ())


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


def place_in(text: str, slot: str) -> spans.Range | None:
    """Return the range of an element's text in ``text``, without its [implied] parts, or None."""
    return spans.locate_words(text, without_implied(slot).strip())


SLOTS = tuple(Slot.values)
Tuple = Mapping[str, Mapping[str, Any]]


def blank(slot: str) -> dict[str, Any]:
    """Return an empty PICO element."""
    return {"text": "", "fragments": []} | ({"stands_for": ""} if slot == Slot.C else {})


def current_tuple(cluster: Cluster) -> dict[str, dict[str, Any]]:
    """Return the current PICO tuple of a cluster. Prefetch ``pico`` for many clusters."""
    return {slot: blank(slot) for slot in SLOTS} | {s.slot: _as_value(s) for s in cluster.pico.all()}


def _as_value(slot: PicoSlot) -> dict[str, Any]:
    return blank(slot.slot) | {"text": slot.text} | ({"stands_for": slot.stands_for} if slot.slot == Slot.C else {})


def tuple_in_words(value: Tuple) -> str:
    """Return a PICO tuple as one line, its elements named by their letters."""
    return "; ".join(
        f"{slot.upper()}: {value[slot]['text'] or value[slot].get('stands_for') or 'blank'}" for slot in SLOTS
    )


def key_of(slot: Mapping[str, Any]) -> Hashable:
    """Return the comparison key of an element. Case, white space and marked ranges are ignored."""
    return written(slot["text"]), slot.get("stands_for", "")


def key_of_tuple(value: Tuple) -> Hashable:
    """Return the comparison key of a PICO tuple: the keys of its four elements."""
    return tuple(key_of(value[slot]) for slot in SLOTS)


def texts_of(value: Tuple) -> tuple[str, ...]:
    """Return the four texts without case and white space differences. Import files contain only these texts."""
    return tuple(written(value[slot]["text"]) for slot in SLOTS)


def in_short(value: Tuple) -> str:
    """Return a PICO tuple as a phrase: "In adults: bevacizumab, against ranibizumab → visual acuity"."""
    p, i, c, o = (value[slot]["text"].strip() for slot in SLOTS)
    against = c or (value["c"].get("stands_for") or "").replace("not stated", "")
    return f"{p and f'In {p}: '}{i or '…'}{against and f', against {against}'} → {o or '…'}"


def write_slots(tuples: Iterable[tuple[Cluster, Tuple, str]]) -> None:
    """Replace the PICO tuples of clusters.

    ``tuples`` holds (cluster, tuple, target text). The number of statements does not depend on the number of tuples.
    """
    tuples = list(tuples)
    PicoSlot.objects.filter(cluster__in=[cluster for cluster, _, _ in tuples]).delete()
    rows: list[PicoSlot] = []
    places: list[Sequence[tuple[int, int]]] = []
    for cluster, value, target in tuples:
        for slot in SLOTS:
            element = value[slot]
            marked = [(f["start"], f["end"], f["quote"]) for f in element["fragments"]]
            form, ranges = entered_form(element["text"], marked, target)
            rows.append(
                PicoSlot(
                    cluster=cluster,
                    slot=slot,
                    form=form,
                    text=element["text"],
                    stands_for=element.get("stands_for", ""),
                )
            )
            places.append(ranges)
    PicoFragment.objects.bulk_create(
        PicoFragment(slot=row, position=n, start=start, end=end)
        for row, ranges in zip(PicoSlot.objects.bulk_create(rows), places, strict=True)
        for n, (start, end) in enumerate(ranges)
    )
