"""Read stored M3 items in the shape of the file for comparison, and prepare the rows of new items."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import QuerySet

from annotation.clusters.gold import LABEL_FIELDS
from measures import spans
from projects.gold.actions import imported_decision, with_digests
from projects.models import Decision, Import, Project
from sql.bulk import BulkWriter

from ...clusters.creation import Layout, next_position
from ...clusters.items import ELEMENTS, Item, Source, TextLabels
from ...models import (
    Cluster,
    Cue,
    CueFragment,
    DiscourseLabel,
    Input,
    Label,
    Level,
    PicoElement,
    Proposition,
    Target,
    TupleElement,
)
from .records import make_item

_CHUNK = 500
LEVELS = {"1": Level.DOCUMENT, "2": Level.SENTENCE}


def _rows(project: Project, level: str) -> "QuerySet[Cluster] | QuerySet[Target]":
    """Return the first versions of the items of a level, including those that are arriving."""
    if level == "3":
        return Cluster.with_arriving.filter(project=project)
    return Target.with_arriving.filter(project=project, level=LEVELS[level], version=1)


def stored_keys(project: Project, level: str, docids: Sequence[str]) -> dict[str, int | None]:
    """Return the import of each stored item among ``docids``."""
    found: dict[str, int | None] = {}
    for start in range(0, len(docids), _CHUNK):
        # Unordered, because SQLite would read all rows of the project in their order.
        rows = _rows(project, level).filter(key__in=docids[start : start + _CHUNK]).order_by()
        found |= rows.values_list("key", "imported_id")
    return found


def created_keys(imported: Import, level: str) -> Iterator[str]:
    """Yield the keys of the items of an import, grouped by review."""
    rows = _rows(imported.project, level).filter(imported=imported).order_by("review_id", "pk")
    yield from rows.values_list("key", flat=True).iterator(chunk_size=2000)


def next_item_position(project: Project, level: str) -> int:
    return next_position(_rows(project, level))


def count_distinct(imported: Import, level: str) -> dict[str, int]:
    """Return the numbers of reviews and studies of the items of an import."""
    if level == "3":
        studies: QuerySet[Any] = Proposition.with_arriving.filter(cluster__imported=imported, position__gte=1)
    else:
        studies = Input.with_arriving.filter(target__imported=imported)
    reviews = _rows(imported.project, level).filter(imported=imported)
    return {
        "reviews": reviews.order_by().values("review").distinct().count(),
        "studies": studies.order_by().values("study").distinct().count(),
    }


def stored_items(project: Project, level: str, docids: Sequence[str]) -> dict[str, Item]:
    """Return the stored items among ``docids`` as imported, without later decisions."""
    read = _clusters if level == "3" else _targets
    items: dict[str, Item] = {}
    for start in range(0, len(docids), _CHUNK):
        items |= read(project, level, docids[start : start + _CHUNK])
    return items


def _targets(project: Project, level: str, docids: Sequence[str]) -> dict[str, Item]:
    kind = Level.DOCUMENT if level == "1" else Level.SENTENCE
    # Compare with the imported version: a later correction must not make the same file differ.
    targets = list(Target.objects.filter(project=project, level=kind, key__in=docids, version=1))
    inputs: dict[int, list[Source]] = defaultdict(list)
    rows = Input.objects.filter(target__in=targets, numbers=[]).with_source_text().order_by("target_id", "position")
    for target, pmid, text in rows.values_list("target_id", "study__pmid", "source_text"):
        inputs[target].append(Source(pmid, text))
    return {t.key: make_item(t.key, t.text, tuple(inputs[t.pk])) for t in targets}


def _clusters(project: Project, level: str, docids: Sequence[str]) -> dict[str, Item]:
    clusters = list(Cluster.objects.filter(project=project, key__in=docids))
    pico: dict[int, dict[str, str]] = defaultdict(dict)
    for cluster, element, text in PicoElement.objects.filter(cluster__in=clusters).values_list(
        "cluster_id", "element", "text"
    ):
        pico[cluster][element] = text
    # Compare with the imported PICO tuple, even if a later decision replaced it.
    imported = TupleElement.objects.filter(pico_tuple__unit__cluster__in=clusters, pico_tuple__imported__isnull=False)
    for cluster, element, text in imported.values_list("pico_tuple__unit__cluster", "element", "text"):
        pico[cluster][element] = text
    labels = _labels(clusters)
    relations = dict(
        DiscourseLabel.objects.filter(unit__cluster__in=clusters, imported__isnull=False).values_list(
            "unit__cluster", "relation"
        )
    )
    claims: dict[int, list[Source]] = defaultdict(list)
    # Compare with the imported version: a later correction must not make the same file differ.
    rows = Proposition.objects.filter(cluster__in=clusters, version=1).order_by("cluster_id", "position")
    for cluster, unit, pmid, text in rows.values_list("cluster_id", "unit_id", "study__pmid", "text"):
        claims[cluster].append(Source(pmid or "", text, labels.get(unit)))
    items = {}
    for c in clusters:
        target, *inputs = claims[c.pk]
        elements = tuple(pico[c.pk].get(element, "") for element in ELEMENTS)
        items[c.key] = make_item(c.key, target.text, tuple(inputs), target.labels, elements, relations.get(c.pk, ""))
    return items


def _labels(clusters: Sequence[Cluster]) -> dict[int, TextLabels]:
    """Return imported labels by unit."""
    labels = Label.objects.filter(unit__proposition__cluster__in=clusters, imported__isnull=False)
    cues = {
        (label, aspect): text
        for label, aspect, text in Cue.objects.filter(label__in=labels).values_list("label_id", "aspect", "text")
    }
    return {
        unit: TextLabels(polarity, modality, cues.get((pk, "polarity"), ""), cues.get((pk, "modality"), ""))
        for pk, unit, polarity, modality in labels.values_list("pk", "unit_id", "polarity", "modality")
    }


def difference(new_item: Item, stored: Item) -> tuple[str, object]:
    """Return the path of the first difference and the stored value."""
    if new_item.text != stored.text:
        return "target_text", stored.text
    for element, new, old in zip(ELEMENTS, new_item.pico, stored.pico, strict=False):
        if new != old:
            return f"pico.{element}", old
    if new_item.relation != stored.relation:
        return "discourse_relation", stored.relation
    if len(new_item.inputs) != len(stored.inputs):
        return "input_studies", f"{len(stored.inputs)} inputs"
    if difference := _label_difference(new_item.labels, stored.labels, "target"):
        return difference
    for n, (new_input, old_input) in enumerate(zip(new_item.inputs, stored.inputs, strict=True)):
        path = f"input_studies[{n}]"
        if new_input.pmid != old_input.pmid:
            return f"{path}.source_pmid", old_input.pmid
        if new_input.text != old_input.text:
            return f"{path}.source_text", old_input.text
        if difference := _label_difference(new_input.labels, old_input.labels, f"{path}.source"):
            return difference
    return "line", stored.key


def _label_difference(new: TextLabels | None, old: TextLabels | None, path: str) -> tuple[str, object] | None:
    if new == old:
        return None
    if new is None or old is None:
        return f"{path}_direction", None
    names = ("direction", "modality", "direction_span", "modality_span")
    return next(
        (f"{path}_{name}", old_value)
        for name, new_value, old_value in zip(names, new, old, strict=True)
        if new_value != old_value
    )


def add_items(imported: Import, level: str, items: Sequence[Item], first: int, rows: BulkWriter) -> None:
    """Prepare the rows of items, except labels and decisions. ``first``: position of the first one."""
    layout = Layout(imported.project, rows, imported=imported)
    if level == "3":
        layout.clusters(items, first)
    else:
        layout.targets(LEVELS[level], items, first)


def add_labels(imported: Import, items: Sequence[Item], rows: BulkWriter) -> None:
    """Prepare labels, cues, relations and imported decisions of the clusters that this import created."""
    mine = Cluster.with_arriving.filter(imported=imported, key__in=[item.key for item in items])
    clusters: dict[str, int] = dict(mine.values_list("key", "unit_id"))
    items = [item for item in items if item.key in clusters]
    texts: dict[str, list[tuple[int, str]]] = defaultdict(list)
    claims = Proposition.with_arriving.filter(cluster__in=mine, version=1).order_by("cluster_id", "position")
    for key, unit, text in claims.values_list("cluster__key", "unit_id", "text"):
        texts[key].append((unit, text))
    labelled = [
        (unit, text, labels)
        for item in items
        for (unit, text), labels in zip(
            texts[item.key], [item.labels, *(source.labels for source in item.inputs)], strict=True
        )
        if labels
    ]
    _add_labels(rows, imported, labelled)
    rows.add(DiscourseLabel(unit_id=clusters[item.key], imported=imported, relation=item.relation) for item in items)
    decisions = [
        *(_imported_decision(imported, unit, "label", field) for unit, *_ in labelled for field in LABEL_FIELDS),
        *(_imported_decision(imported, clusters[item.key], "discourse", "relation") for item in items),
    ]
    rows.add(with_digests(decisions))


def _add_labels(rows: BulkWriter, imported: Import, labelled: Sequence[tuple[int, str, TextLabels]]) -> None:
    """Prepare labels with their cues. ``labelled``: unit, text and labels."""
    labels = rows.add(
        Label(unit_id=unit, imported_id=imported.pk, polarity=text_labels.polarity, modality=text_labels.modality)
        for unit, _, text_labels in labelled
    )
    cues, pieces_of_cues = [], []
    for label, (_, whole, text_labels) in zip(labels, labelled, strict=True):
        for aspect, text in (
            (Cue.Aspect.POLARITY, text_labels.polarity_cue),
            (Cue.Aspect.MODALITY, text_labels.modality_cue),
        ):
            if text:
                located = spans.locate(whole, text)
                cues.append(
                    Cue(label=label, aspect=aspect, text=text, found=located.status, occurrences=located.occurrences)
                )
                pieces_of_cues.append([(start, end, whole[start:end]) for start, end in located.ranges])
    rows.add(cues)
    rows.add(
        CueFragment(cue=cue, position=n, start=start, end=end, quote=quote)
        for cue, pieces in zip(cues, pieces_of_cues, strict=True)
        for n, (start, end, quote) in enumerate(pieces)
    )


def _imported_decision(imported: Import, unit: int, kind: str, field: str) -> Decision:
    """Return the decision of a field. "No cue" is a value too, so each field has a decision."""
    return imported_decision(unit, kind, field, imported.pk, imported.created_at)
