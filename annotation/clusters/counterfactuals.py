"""Check counterfactuals against their target: the rules of `measures`, applied to the corpus."""

from collections.abc import Iterable, Mapping
from typing import Any

from annotation.clusters.gold import Gold
from measures import counterfactuals as rules
from measures.counterfactuals import Check, Kind, Labels
from measures.spans import Range

from ..models import Cluster, Counterfactual, Element, PicoElement, Proposition


def element_ranges(elements: Iterable[PicoElement]) -> dict[str, list[Range]]:
    """Return the ranges of explicit PICO elements in the target text, by element name. Prefetch ``fragments``."""
    return {
        Element(element.element).label.lower(): [(f.start, f.end) for f in element.fragments.all()]
        for element in elements
    }


def labels_of(gold: Mapping[str, Gold]) -> Labels | None:
    """Return the current labels of a target, or None if polarity or modality is undecided."""
    if "polarity" not in gold or "modality" not in gold:
        return None
    return Labels(str(gold["polarity"].value), str(gold["modality"].value))


def check(
    target: Proposition,
    kind: str,
    text: str,
    *,
    elements: Iterable[PicoElement] = (),
    others: Mapping[str, str] | None = None,
    gold: Mapping[str, Gold] | None = None,
) -> Check:
    """Check a counterfactual against its target, the PICO elements, the other kinds and the current labels."""
    return rules.check(
        Kind(kind),
        target.text,
        text,
        pico=element_ranges(elements),
        others={Kind(other): other_text for other, other_text in (others or {}).items()},
        before=labels_of(gold or {}),
    )


def of_cluster(cluster: Cluster, target: Proposition, labels: Mapping[int, Mapping[str, Gold]]) -> list[dict[str, Any]]:
    """Return the counterfactuals of a cluster as JSON, in the order of `Kind`.

    ``target`` is the current target; ``labels`` holds gold values by unit and field. ``is_stale`` marks a
    counterfactual written only for an earlier text of the target. Needs one query besides the PICO elements of the
    cluster.
    """
    newest: dict[str, Counterfactual] = {}
    rows = Counterfactual.objects.filter(target__cluster=cluster).select_related("target")
    for row in rows.order_by("target__version", "version"):
        newest[row.kind] = row
    current = [newest[kind.value] for kind in Kind if kind.value in newest and not newest[kind.value].withdrawn]
    elements, gold = list(cluster.pico.all()), labels.get(target.unit_id, {})
    return [
        _as_json(row, target, elements, {o.kind: o.text for o in current if o.target_id == row.target_id}, gold)
        for row in current
    ]


def _as_json(
    row: Counterfactual,
    target: Proposition,
    elements: Iterable[PicoElement],
    others: Mapping[str, str],
    gold: Mapping[str, Gold],
) -> dict[str, Any]:
    is_stale = row.target_id != target.pk
    # PICO elements and labels belong to the current text, so they do not apply to a stale counterfactual.
    result = check(
        row.target,
        row.kind,
        row.text,
        elements=() if is_stale else elements,
        others=others,
        gold=None if is_stale else gold,
    )
    return {
        "id": row.pk,
        "kind": row.kind,
        "text": row.text,
        "version": row.version,
        "origin": row.origin,
        "is_stale": is_stale,
        "words": result.difference.words,
        "changes": [
            {"start": e.text[0], "end": e.text[1], "was": row.target.text[slice(*e.target)]}
            for e in result.difference.edits
        ],
        "warnings": [{"code": w.code, "message": w.message} for w in (*result.errors, *result.warnings)],
    }
