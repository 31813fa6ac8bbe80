"""M3's three levels, rebuilt from rows: the published shape, key order and line ends, with the values in force."""

import json
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from django.db.models import Prefetch, QuerySet

from annotation.corpus.items import SLOTS, Item, Said, Source
from annotation.imports.m3.published import as_published
from annotation.imports.m3.records import of
from annotation.models import Cluster, Cue, Input, Level, PicoSlot, Proposition, Target
from annotation.values.completeness import incomplete
from annotation.values.in_force import CueValue, Gold, gold_labels, gold_relations
from measures.spans import covering_range
from projects.models import Project

from .notes import LevelFigures, Notes

BATCH = 200
LEVELS = {"m3/level1.jsonl": Level.DOCUMENT, "m3/level2.jsonl": Level.SENTENCE}
CLUSTERS = "m3/level3.jsonl"
Placed = tuple[Item, str]


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    """The levels that the project has; none is written empty, as an empty file is no M3 file."""
    for path, level in LEVELS.items():
        targets = Target.objects.filter(project=project, level=level, unit__superseded_by=None)
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
        if item.said:
            _count_values(item, notes)
        yield json.dumps(as_published(item), ensure_ascii=False).encode() + b"\n"


def _count_values(item: Item, notes: Notes) -> None:
    notes.count("relation", item.relation)
    for role, said in (("target", item.said), *(("input", s.said) for s in item.inputs)):
        if said:
            notes.count(f"{role} polarity", said.polarity)
            notes.count(f"{role} modality", said.modality)
            notes.count(f"{role} polarity cue", "given" if said.polarity_cue else "none")
            notes.count(f"{role} modality cue", "given" if said.modality_cue else "none")


def _complete(project: Project, notes: Notes) -> Iterator[Placed]:
    """The clusters whose gold is complete, with their reviews; the keys of the others are put aside."""
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
    """The targets with their inputs. One that was typed in and has none yet is no item of M3, and put aside."""
    inputs = Prefetch("inputs", Input.objects.current().select_related("study").order_by("position"))
    for batch in _batches(targets.order_by("position", "pk").select_related("review").prefetch_related(inputs)):
        for target in batch:
            sources = tuple(Source(i.study.pmid, i.text) for i in target.inputs.all())
            if sources:
                yield of(target.key, target.text, sources), target.review.pmid
            else:
                notes.counts.setdefault("targets_without_inputs", []).append(target.key)


def cluster_items(project: Project) -> Iterator[tuple[Item | None, Cluster]]:
    """Every cluster in the order of the file, with its item; None where it is not complete
    (`annotation.values.completeness`). Superseded rows are left out."""
    claims = Proposition.objects.filter(unit__superseded_by=None).select_related("study").order_by("position")
    clusters = (
        Cluster.objects.filter(project=project, unit__superseded_by=None)
        .order_by("position", "pk")
        .select_related("review")
        .prefetch_related(
            Prefetch("propositions", claims),
            Prefetch("pico", PicoSlot.objects.order_by("pk")),
        )
    )
    for batch in _batches(clusters):
        labels = gold_labels([p.unit_id for c in batch for p in c.propositions.all()])
        relations = gold_relations([c.unit_id for c in batch])
        same = Cluster.objects.filter(pk__in=[c.pk for c in batch])
        lacking = set(incomplete(same).order_by().values_list("pk", flat=True))
        for cluster in batch:
            yield None if cluster.pk in lacking else _item(cluster, labels, relations), cluster


def _item(cluster: Cluster, labels: dict[int, dict[str, Gold]], relations: dict[int, Gold]) -> Item:
    """A complete cluster as M3 has it."""
    target, *inputs = claims = list(cluster.propositions.all())
    said = {p.unit_id: _said(labels[p.unit_id], p.text) for p in claims}
    pico = {slot.slot: slot.text for slot in cluster.pico.all()}
    return of(
        docid=cluster.key,
        text=target.text,
        inputs=tuple(Source(p.study.pmid if p.study else "", p.text, said[p.unit_id]) for p in inputs),
        said=said[target.unit_id],
        pico=tuple(pico.get(slot, "") for slot in SLOTS),
        relation=str(relations[cluster.unit_id].value),
    )


def _said(gold: dict[str, Gold], text: str) -> Said:
    return Said(
        polarity=str(gold["polarity"].value),
        modality=str(gold["modality"].value),
        polarity_cue=_cue(gold.get("polarity_cue"), text),
        modality_cue=_cue(gold.get("modality_cue"), text),
    )


def _cue(gold: Gold | None, text: str) -> str:
    """A cue as M3 writes it: its text as imported, or else the part of the proposition that covers what was marked."""
    if gold is None or not isinstance(gold.value, CueValue):
        return ""
    if gold.value.found != Cue.Found.SELECTED:
        return gold.value.text
    start, end = covering_range([(f.start, f.end) for f in gold.value.fragments])
    return text[start:end]
