"""M3's three levels with current values, in the published format: same fields, key order and line ends."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from django.db.models import Prefetch, QuerySet

from annotation.clusters.completeness import incomplete
from annotation.clusters.gold import CueValue, Gold, gold_labels, gold_relations
from annotation.clusters.items import ELEMENTS, Item, Source, TextLabels
from annotation.formats.m3.records import as_published, make_item
from annotation.models import Cluster, Cue, Input, Level, PicoElement, Proposition, Target
from measures.spans import covering_range
from projects.models import Project

from .notes import LevelFigures, Notes

BATCH = 200
LEVELS = {"m3/level1.jsonl": Level.DOCUMENT, "m3/level2.jsonl": Level.SENTENCE}
CLUSTERS = "m3/level3.jsonl"
Placed = tuple[Item, str]


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Yield the levels that the project has. Empty files are not written, because they are invalid in M3."""
    for path, level in LEVELS.items():
        targets = Target.objects.current().stated().filter(project=project, level=level)
        yield from _level(_target_items(targets, notes), LevelFigures(str(level), path), notes)
    yield from _level(_complete(project, notes), LevelFigures("proposition", CLUSTERS), notes)


def _level(items: Iterator[Placed], figures: LevelFigures, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    first = next(items, None)
    if first is not None:
        notes.levels.append(figures)
        yield figures.file, _lines(chain([first], items), figures, notes)


def _lines(items: Iterable[Placed], figures: LevelFigures, notes: Notes) -> Iterator[bytes]:
    for item, review in items:
        figures.add(review=review, target=item.text, inputs=[(s.pmid, s.text) for s in item.inputs])
        if item.labels:
            _count_values(item, notes)
        yield json.dumps(as_published(item), ensure_ascii=False).encode() + b"\n"


def _count_values(item: Item, notes: Notes) -> None:
    notes.count("relation", item.relation)
    for role, labels in (("target", item.labels), *(("input", s.labels) for s in item.inputs)):
        if labels:
            notes.count(f"{role} polarity", labels.polarity)
            notes.count(f"{role} modality", labels.modality)
            notes.count(f"{role} polarity cue", "given" if labels.polarity_cue else "none")
            notes.count(f"{role} modality cue", "given" if labels.modality_cue else "none")


def _complete(project: Project, notes: Notes) -> Iterator[Placed]:
    """Yield the clusters with complete gold and their reviews. Record the keys of the others."""
    left_out = notes.counts.setdefault("clusters_without_complete_gold", [])
    for item, cluster in cluster_items(project):
        if item is None:
            left_out.append(cluster.key)
        else:
            yield item, cluster.review.pmid


def _batches(rows: QuerySet[Any]) -> Iterator[list[Any]]:
    walk = rows.iterator(chunk_size=BATCH)
    while batch := list(islice(walk, BATCH)):
        yield batch


def _target_items(targets: QuerySet[Target], notes: Notes) -> Iterator[Placed]:
    """Yield the targets with their inputs. M3 has no targets without inputs, so their keys are recorded instead."""
    for batch in _batches(targets.order_by("position", "pk").select_related("review")):
        inputs: dict[int, list[Source]] = defaultdict(list)
        rows = Input.objects.current().filter(target__in=batch).with_source_text().order_by("target_id", "position")
        # Instances of inputs and studies would take most of the time of a release.
        for target_id, pmid, text in rows.values_list("target_id", "study__pmid", "source_text"):
            inputs[target_id].append(Source(pmid, text))
        for target in batch:
            if sources := tuple(inputs[target.pk]):
                yield make_item(target.key, target.text, sources), target.review.pmid
            else:
                notes.counts.setdefault("targets_without_inputs", []).append(target.key)


def cluster_items(project: Project) -> Iterator[tuple[Item | None, Cluster]]:
    """Yield every cluster in file order with its item; None if it is incomplete.

    Completeness is defined in `annotation.clusters.completeness`. Superseded rows are omitted.
    """
    claims = Proposition.objects.filter(unit__superseded_by=None).select_related("study").order_by("position")
    clusters = (
        Cluster.objects.filter(project=project, unit__superseded_by=None)
        .order_by("position", "pk")
        .select_related("review")
        .prefetch_related(Prefetch("propositions", claims), Prefetch("pico", PicoElement.objects.order_by("pk")))
    )
    for batch in _batches(clusters):
        labels = gold_labels([p.unit_id for c in batch for p in c.propositions.all()])
        relations = gold_relations([c.unit_id for c in batch])
        same = Cluster.objects.filter(pk__in=[c.pk for c in batch])
        incomplete_ids = set(incomplete(same).order_by().values_list("pk", flat=True))
        for cluster in batch:
            yield None if cluster.pk in incomplete_ids else _item(cluster, labels, relations), cluster


def _item(cluster: Cluster, labels: dict[int, dict[str, Gold]], relations: dict[int, Gold]) -> Item:
    """Return a complete cluster as an item of M3."""
    target, *inputs = claims = list(cluster.propositions.all())
    labels_by_unit = {p.unit_id: _said(labels[p.unit_id], p.text) for p in claims}
    pico = {element.element: element.text for element in cluster.pico.all()}
    return make_item(
        docid=cluster.key,
        text=target.text,
        inputs=tuple(Source(p.study.pmid if p.study else "", p.text, labels_by_unit[p.unit_id]) for p in inputs),
        labels=labels_by_unit[target.unit_id],
        pico=tuple(pico.get(element, "") for element in ELEMENTS),
        relation=str(relations[cluster.unit_id].value),
    )


def _said(gold: dict[str, Gold], text: str) -> TextLabels:
    return TextLabels(
        polarity=str(gold["polarity"].value),
        modality=str(gold["modality"].value),
        polarity_cue=_cue(gold.get("polarity_cue"), text),
        modality_cue=_cue(gold.get("modality_cue"), text),
    )


def _cue(gold: Gold | None, text: str) -> str:
    """Return a cue in M3's form: the imported text, or the part of the proposition that spans the marked pieces."""
    if gold is None or not isinstance(gold.value, CueValue):
        return ""
    if gold.value.found != Cue.Found.SELECTED:
        return gold.value.text
    start, end = covering_range([(f.start, f.end) for f in gold.value.fragments])
    return text[start:end]
