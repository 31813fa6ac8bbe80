"""Counterfactuals held against their target: the rules of `measures`, with the slots and labels of the corpus."""

from collections.abc import Iterable, Mapping
from typing import Any

from measures import counterfactuals as rules
from measures.counterfactuals import Check, Kind, Labels
from measures.spans import Range

from ..models import Cluster, Counterfactual, PicoSlot, Proposition, Slot
from .in_force import Gold


def places(slots: Iterable[PicoSlot]) -> dict[str, list[Range]]:
    """Where explicit slots stand in the target's text, by the slot's name; prefetch ``fragments``."""
    return {
        Slot(slot.slot).label.lower(): [(f.start, f.end) for f in slot.fragments.all()] for slot in slots
    }  # fmt: skip


def labels_of(gold: Mapping[str, Gold]) -> Labels | None:
    """The labels in force of a target, None where one of the two is not decided."""
    if "polarity" not in gold or "modality" not in gold:
        return None
    return Labels(str(gold["polarity"].value), str(gold["modality"].value))


def check(
    target: Proposition,
    kind: str,
    text: str,
    *,
    slots: Iterable[PicoSlot] = (),
    others: Mapping[str, str] | None = None,
    gold: Mapping[str, Gold] | None = None,
) -> Check:
    """One counterfactual against its target, its slots, the target's other kinds and the labels in force."""
    return rules.check(
        Kind(kind), target.text, text,
        pico=places(slots),
        others={Kind(other): said for other, said in (others or {}).items()},
        before=labels_of(gold or {}),
    )  # fmt: skip


def of_cluster(cluster: Cluster, target: Proposition, labels: Mapping[int, Mapping[str, Gold]]) -> list[dict[str, Any]]:
    """The counterfactuals of a cluster as JSON, in the order of `Kind`: one query beside the cluster's slots.

    ``target`` is the one in force, ``labels`` are gold by unit and field. A kind that was written
    only for a text of the target that was corrected since comes with ``is_stale``.
    """
    found: dict[str, Counterfactual] = {}
    rows = Counterfactual.objects.filter(target__cluster=cluster).select_related("target")
    for row in rows.order_by("target__version", "version"):
        found[row.kind] = row
    shown = [found[kind.value] for kind in Kind if kind.value in found and not found[kind.value].withdrawn]
    slots, gold = list(cluster.pico.all()), labels.get(target.unit_id, {})
    return [_as_json(row, target, slots, {o.kind: o.text for o in shown if o.target_id == row.target_id}, gold)
            for row in shown]  # fmt: skip


def _as_json(
    row: Counterfactual,
    target: Proposition,
    slots: Iterable[PicoSlot],
    others: Mapping[str, str],
    gold: Mapping[str, Gold],
) -> dict[str, Any]:
    is_stale = row.target_id != target.pk
    # Slots and labels are those of the text in force.
    found = check(row.target, row.kind, row.text, slots=() if is_stale else slots, others=others,
                  gold=None if is_stale else gold)  # fmt: skip
    return {
        "id": row.pk,
        "kind": row.kind,
        "text": row.text,
        "version": row.version,
        "origin": row.origin,
        "is_stale": is_stale,
        "words": found.difference.words,
        "changes": [
            {"start": e.text[0], "end": e.text[1], "was": row.target.text[slice(*e.target)]}
            for e in found.difference.edits
        ],
        "warnings": [{"code": w.code, "message": w.message} for w in (*found.errors, *found.warnings)],
    }
