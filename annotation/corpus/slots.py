"""The slots of a tuple in force: as a value, in words, and written anew. Whatever decides a tuple writes them here.

A tuple as a value has the four slots by their letters: ``text``, the ``fragments`` where it was marked in the target
(``start``, ``end``, ``quote``) and, of the comparator, what its being blank ``stands_for``.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from measures.text_agreement import written

from ..models import Cluster, PicoFragment, PicoSlot, Slot
from .pico import said_form

SLOTS = tuple(Slot.values)
Tuple = Mapping[str, Mapping[str, Any]]


def blank(slot: str) -> dict[str, Any]:
    """A slot that says nothing."""
    return {"text": "", "fragments": []} | ({"stands_for": ""} if slot == Slot.C else {})


def standing(cluster: Cluster) -> dict[str, dict[str, Any]]:
    """The tuple in force of a cluster; prefetch ``pico`` for many."""
    return {slot: blank(slot) for slot in SLOTS} | {s.slot: _as_value(s) for s in cluster.pico.all()}


def _as_value(slot: PicoSlot) -> dict[str, Any]:
    return blank(slot.slot) | {"text": slot.text} | ({"stands_for": slot.stands_for} if slot.slot == Slot.C else {})


def in_words(value: Tuple) -> str:
    """A tuple in one line, its slots by their letters."""
    return "; ".join(
        f"{slot.upper()}: {value[slot]['text'] or value[slot].get('stands_for') or 'blank'}" for slot in SLOTS
    )


def key_of(slot: Mapping[str, Any]) -> Hashable:
    """By which a slot is the same as another: without its case and its white space, and wherever it was marked."""
    return written(slot["text"]), slot.get("stands_for", "")


def key_of_tuple(value: Tuple) -> Hashable:
    """By which a tuple is the same as another: all four slots are."""
    return tuple(key_of(value[slot]) for slot in SLOTS)


def texts_of(value: Tuple) -> tuple[str, ...]:
    """The four texts, without their case and their white space: what a file has of a tuple."""
    return tuple(written(value[slot]["text"]) for slot in SLOTS)


def in_short(value: Tuple) -> str:
    """A tuple as a sentence begins: "In adults: bevacizumab, against ranibizumab → visual acuity"."""
    p, i, c, o = (value[slot]["text"].strip() for slot in SLOTS)
    against = c or (value["c"].get("stands_for") or "").replace("not stated", "")
    return f"{p and f'In {p}: '}{i or '…'}{against and f', against {against}'} → {o or '…'}"


def write_slots(found: Iterable[tuple[Cluster, Tuple, str]]) -> None:
    """Put these tuples in the place of those that the clusters have; with each the target text. A few statements."""
    found = list(found)
    PicoSlot.objects.filter(cluster__in=[cluster for cluster, _, _ in found]).delete()
    rows: list[PicoSlot] = []
    places: list[Sequence[tuple[int, int]]] = []
    for cluster, value, target in found:
        for slot in SLOTS:
            one = value[slot]
            marked = [(f["start"], f["end"], f["quote"]) for f in one["fragments"]]
            form, ranges = said_form(one["text"], marked, target)
            rows.append(
                PicoSlot(cluster=cluster, slot=slot, form=form, text=one["text"], stands_for=one.get("stands_for", ""))
            )
            places.append(ranges)
    PicoFragment.objects.bulk_create(
        PicoFragment(slot=row, position=n, start=start, end=end)
        for row, ranges in zip(PicoSlot.objects.bulk_create(rows), places, strict=True)
        for n, (start, end) in enumerate(ranges)
    )
