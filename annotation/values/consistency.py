"""The corpus as the rules of `measures.consistency` read it: current texts with what is in force of them."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from django.db.models import Q

from measures.consistency import Claim, Cluster, Rewriting, Slot
from projects.models import Project

from .. import models
from ..corpus.pico import in_words, without_implied
from ..models import Counterfactual, PicoForm, Proposition
from .counterfactuals import places
from .in_force import CueValue, Gold, gold_labels, gold_relations

#: Clusters read at once.
BATCH = 500
#: Clusters read so far.
Told = Callable[[int], None]


def read(project: Project, told: Told = lambda done: None) -> tuple[list[Cluster], dict[str, int]]:
    """The clusters of a project as plain values, and the ids of units by the keys that they are named by there.

    A fixed number of queries for each `BATCH` of clusters.
    """
    found: list[Cluster] = []
    units: dict[str, int] = {}
    for clusters in _batches(project):
        claims: dict[int, list[Proposition]] = defaultdict(list)
        current = Proposition.objects.current().filter(cluster__in=clusters).select_related("unit", "study")
        for claim in current.order_by("cluster", "position"):
            claims[claim.cluster_id].append(claim)
            units[claim.unit.key] = claim.unit_id
        labels = gold_labels([c.unit_id for mine in claims.values() for c in mine])
        relations = gold_relations([c.unit_id for c in clusters])
        rewritings = _rewritings(clusters)
        for cluster in clusters:
            units[cluster.unit.key] = cluster.unit_id
            mine = [_claim(claim, labels.get(claim.unit_id, {})) for claim in claims[cluster.pk]]
            has_target = bool(mine) and claims[cluster.pk][0].is_target
            relation = relations.get(cluster.unit_id)
            found.append(
                Cluster(
                    unit=cluster.unit.key, review=cluster.review.pmid,
                    target=mine[0] if has_target else None, inputs=mine[1:] if has_target else mine,
                    slots=[_slot(slot) for slot in cluster.pico.all()],
                    relation=str(relation.value) if relation else "",
                    rewritings=[Rewriting(**one, pico=places(cluster.pico.all())) for one in rewritings[cluster.pk]],
                )
            )  # fmt: skip
        told(len(found))
    return found, units


def claims(units: Collection[int]) -> dict[int, Claim]:
    """The current propositions among these units, as the rules read them. A fixed number of queries."""
    labels = gold_labels(units)
    rows = Proposition.objects.current().filter(unit__in=units).select_related("unit", "study")
    return {claim.unit_id: _claim(claim, labels.get(claim.unit_id, {})) for claim in rows}


def _batches(project: Project) -> Iterator[list[models.Cluster]]:
    rows = models.Cluster.objects.current().filter(project=project).order_by("position", "id")
    rows = rows.select_related("unit", "review").prefetch_related("pico__fragments")
    batch = list(rows[:BATCH])
    while batch:
        yield batch
        last = batch[-1]
        batch = list(rows.filter(Q(position__gt=last.position) | Q(position=last.position, pk__gt=last.pk))[:BATCH])


def _rewritings(clusters: Sequence[models.Cluster]) -> dict[int, list[dict[str, Any]]]:
    """Kind, text and the texts of the other kinds, by cluster."""
    rows = Counterfactual.objects.current().filter(target__cluster__in=clusters).in_corpus_order()
    texts: dict[int, dict[str, str]] = defaultdict(dict)
    for cluster, kind, text in rows.values_list("target__cluster_id", "kind", "text"):
        texts[cluster][kind] = text
    return defaultdict(list, {
        cluster: [{"kind": kind, "text": text, "others": {k: t for k, t in mine.items() if k != kind}}
                  for kind, text in mine.items()]
        for cluster, mine in texts.items()
    })  # fmt: skip


def _claim(claim: Proposition, gold: Mapping[str, Gold]) -> Claim:
    polarity_cue, modality_cue = _cue(gold.get("polarity_cue")), _cue(gold.get("modality_cue"))
    return Claim(
        unit=claim.unit.key, text=claim.text, study=claim.study.pmid if claim.study else "",
        polarity=_value(gold.get("polarity")), modality=_value(gold.get("modality")),
        polarity_cue=polarity_cue.text if polarity_cue else "", modality_cue=modality_cue.text if modality_cue else "",
        polarity_at=tuple((f.start, f.end) for f in polarity_cue.fragments) if polarity_cue else (),
    )  # fmt: skip


def _value(gold: Gold | None) -> str:
    return str(gold.value) if gold else ""


def _cue(gold: Gold | None) -> CueValue | None:
    return gold.value if gold and isinstance(gold.value, CueValue) else None


def _slot(slot: models.PicoSlot) -> Slot:
    is_reworded = slot.form in (PicoForm.REWORDED, PicoForm.PARTLY_IMPLIED)
    name = models.Slot(slot.slot).label.lower()
    return Slot(name, slot.text, in_words(slot.text), without_implied(slot.text), is_reworded)
