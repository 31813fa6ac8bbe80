"""What a project has of the clusters that a file names: targets in force, their slots, labels and counterfactuals."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from annotation.models import Counterfactual, PicoSlot, Proposition
from annotation.values.in_force import Gold, gold_labels
from projects.models import Project

_CHUNK = 500


@dataclass
class Known:
    """One cluster. ``target`` is None where it was taken out; ``earlier`` are the target's corrected texts.

    ``texts``: of the target's counterfactuals in force by kind; ``brought``: every (kind, text) that imports gave it;
    ``withdrawn``: the kinds of which it was decided here that the target has none.
    """

    target: Proposition | None = None
    earlier: set[str] = field(default_factory=set)
    slots: list[PicoSlot] = field(default_factory=list)
    gold: dict[str, Gold] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    brought: set[tuple[str, str]] = field(default_factory=set)
    withdrawn: set[str] = field(default_factory=set)


def clusters(project: Project, docids: Sequence[str]) -> dict[str, Known]:
    """What is known of these clusters by key; a few queries for each 500 of them."""
    found: dict[str, Known] = {}
    for start in range(0, len(docids), _CHUNK):
        found |= _read(project, docids[start : start + _CHUNK])
    return found


def _read(project: Project, docids: Sequence[str]) -> dict[str, Known]:
    found: dict[str, Known] = {}
    targets = Proposition.objects.filter(cluster__project=project, cluster__key__in=docids, position=0)
    by_unit: dict[int, Known] = {}
    by_target: dict[int, Known] = {}
    for target in targets.select_related("unit", "cluster"):
        known = found.setdefault(target.cluster.key, Known())
        if target.unit.superseded_by_id:
            known.earlier.add(target.text)
        else:
            known.target = target
            by_unit[target.unit_id] = by_target[target.pk] = known
    for unit, gold in gold_labels(list(by_unit)).items():
        by_unit[unit].gold = gold
    clusters = {known.target.cluster_id: known for known in by_target.values() if known.target}
    for slot in PicoSlot.objects.filter(cluster__in=list(clusters)).prefetch_related("fragments"):
        clusters[slot.cluster_id].slots.append(slot)
    there = Counterfactual.objects.filter(target__in=list(by_target)).order_by("version")
    for pk, kind, text, imported in there.values_list("target", "kind", "text", "imported"):
        by_target[pk].texts[kind] = text
        (by_target[pk].withdrawn.discard if text else by_target[pk].withdrawn.add)(kind)
        if imported:
            by_target[pk].brought.add((kind, text))
    for known in by_target.values():
        known.texts = {kind: text for kind, text in known.texts.items() if text}
    return found


def texts_by_kind(entries: Sequence[tuple[str, str, str]]) -> dict[str, dict[str, str]]:
    """(docid, kind, text) of a file as docid -> kind -> text."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for docid, kind, text in entries:
        found[docid][kind] = text
    return found
