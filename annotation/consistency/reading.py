"""Read the corpus in the form that the rules of `measures.consistency` expect: current texts and current values."""

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from django.db.models import Q, QuerySet

from annotation.clusters.gold import CueValue, Gold, gold_labels, gold_relations
from measures.consistency import Claim, Cluster, Rewriting, Slot
from projects.models import Project

from .. import models
from ..clusters.counterfactuals import element_ranges
from ..clusters.pico import in_words, without_implied
from ..models import Counterfactual, PicoForm, Proposition

#: Number of clusters read at once.
BATCH = 200


class Corpus:
    """The clusters of a project, read in batches that are not kept, and read again by their numbers.

    ``units`` maps the keys of all units read so far to their ids. ``only`` restricts the clusters to these ids.
    """

    def __init__(self, project: Project, only: Collection[int] | None = None) -> None:
        self.units: dict[str, int] = {}
        self._project, self._only = project, only
        self._ids = array("q")

    def count(self) -> int:
        return _rows(self._project, self._only).count()

    def batches(self) -> Iterator[list[Cluster]]:
        """Yield all clusters once, in corpus order. Needs a fixed number of queries per batch."""
        for rows in _batches(self._project, self._only):
            self._ids.extend(row.pk for row in rows)
            yield [cluster for _, cluster in self._read(rows)]

    def again(self, numbers: Sequence[int]) -> Iterator[tuple[int, Cluster]]:
        """Yield (number, cluster) for the given numbers, in order. Needs a fixed number of queries per batch."""
        for at in range(0, len(numbers), BATCH):
            number_of = {self._ids[number]: number for number in numbers[at : at + BATCH]}
            for rows in _batches(self._project, list(number_of)):
                yield from ((number_of[pk], cluster) for pk, cluster in self._read(rows))

    def _read(self, rows: Sequence[models.Cluster]) -> Iterator[tuple[int, Cluster]]:
        """Yield (id, cluster) for the rows."""
        units = self.units
        claims: dict[int, list[Proposition]] = defaultdict(list)
        current = Proposition.objects.current().filter(cluster__in=rows).select_related("unit", "study")
        for claim in current.order_by("cluster", "position"):
            claims[claim.cluster_id].append(claim)
            units[claim.unit.key] = claim.unit_id
        labels = gold_labels([c.unit_id for mine in claims.values() for c in mine])
        relations = gold_relations([c.unit_id for c in rows])
        rewritings = _rewritings(rows)
        for cluster in rows:
            units[cluster.unit.key] = cluster.unit_id
            mine = [_claim(claim, labels.get(claim.unit_id, {})) for claim in claims[cluster.pk]]
            has_target = bool(mine) and claims[cluster.pk][0].is_target
            relation = relations.get(cluster.unit_id)
            yield (
                cluster.pk,
                Cluster(
                    unit=cluster.unit.key,
                    review=cluster.review.pmid,
                    target=mine[0] if has_target else None,
                    inputs=mine[1:] if has_target else mine,
                    slots=[_element(element) for element in cluster.pico.all()],
                    relation=str(relation.value) if relation else "",
                    rewritings=[
                        Rewriting(**rewriting, pico=element_ranges(cluster.pico.all()))
                        for rewriting in rewritings[cluster.pk]
                    ],
                ),
            )


def claims(units: Collection[int]) -> dict[int, Claim]:
    """Return the current propositions of these units as input of the rules. A fixed number of queries."""
    labels = gold_labels(units)
    rows = Proposition.objects.current().filter(unit__in=units).select_related("unit", "study")
    return {claim.unit_id: _claim(claim, labels.get(claim.unit_id, {})) for claim in rows}


def _rows(project: Project, only: Collection[int] | None) -> QuerySet[models.Cluster]:
    rows = models.Cluster.objects.current().filter(project=project)
    return rows if only is None else rows.filter(pk__in=only)


def _batches(project: Project, only: Collection[int] | None) -> Iterator[list[models.Cluster]]:
    rows = _rows(project, only).order_by("position", "id")
    rows = rows.select_related("unit", "review").prefetch_related("pico__fragments")
    batch = list(rows[:BATCH])
    while batch:
        yield batch
        last = batch[-1]
        batch = list(rows.filter(Q(position__gt=last.position) | Q(position=last.position, pk__gt=last.pk))[:BATCH])


def _rewritings(clusters: Sequence[models.Cluster]) -> dict[int, list[dict[str, Any]]]:
    """Return kind, text and the texts of the other kinds of each counterfactual, by cluster."""
    rows = Counterfactual.objects.current().filter(target__cluster__in=clusters).in_corpus_order()
    texts: dict[int, dict[str, str]] = defaultdict(dict)
    for cluster, kind, text in rows.values_list("target__cluster_id", "kind", "text"):
        texts[cluster][kind] = text
    return defaultdict(
        list,
        {
            cluster: [
                {"kind": kind, "text": text, "others": {k: t for k, t in mine.items() if k != kind}}
                for kind, text in mine.items()
            ]
            for cluster, mine in texts.items()
        },
    )


def _claim(claim: Proposition, gold: Mapping[str, Gold]) -> Claim:
    polarity_cue, modality_cue = _cue(gold.get("polarity_cue")), _cue(gold.get("modality_cue"))
    return Claim(
        unit=claim.unit.key,
        text=claim.text,
        study=claim.study.pmid if claim.study else "",
        polarity=_value(gold.get("polarity")),
        modality=_value(gold.get("modality")),
        polarity_cue=polarity_cue.text if polarity_cue else "",
        modality_cue=modality_cue.text if modality_cue else "",
        polarity_at=tuple((f.start, f.end) for f in polarity_cue.fragments) if polarity_cue else (),
    )


def _value(gold: Gold | None) -> str:
    return str(gold.value) if gold else ""


def _cue(gold: Gold | None) -> CueValue | None:
    return gold.value if gold and isinstance(gold.value, CueValue) else None


def _element(element: models.PicoElement) -> Slot:
    is_reworded = element.form in (PicoForm.REWORDED, PicoForm.PARTLY_IMPLIED)
    name = models.Element(element.element).label.lower()
    return Slot(name, element.text, in_words(element.text), without_implied(element.text), is_reworded)
