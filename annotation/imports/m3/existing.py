"""What a project has of M3 already, in the shape of the file, so that the two can be compared word for word."""

from collections import defaultdict
from collections.abc import Sequence

from annotation.models import (
    Cluster,
    Cue,
    DiscourseLabel,
    Input,
    Label,
    Level,
    PicoSlot,
    Proposition,
    Target,
    TupleSlot,
)
from projects.background.progress import Progress, silent
from projects.models import Project

from ...corpus.items import SLOTS, Item, Said, Source
from .records import of

_CHUNK = 500


def items(project: Project, level: str, docids: Sequence[str], progress: Progress = silent) -> dict[str, Item]:
    """The stored items among ``docids`` as they were brought in: labels of their import, not later decisions."""
    read = _clusters if level == "3" else _targets
    found: dict[str, Item] = {}
    for start in range(0, len(docids), _CHUNK):
        progress(start, len(docids), "comparing with the project")
        found |= read(project, level, docids[start : start + _CHUNK])
    return found


def _targets(project: Project, level: str, docids: Sequence[str]) -> dict[str, Item]:
    kind = Level.DOCUMENT if level == "1" else Level.SENTENCE
    # As it came in: a text corrected since does not make the same file another one.
    targets = list(Target.objects.filter(project=project, level=kind, key__in=docids, version=1))
    inputs: dict[int, list[Source]] = defaultdict(list)
    rows = Input.objects.filter(target__in=targets, numbers=[]).order_by("target_id", "position")
    for target, pmid, text in rows.values_list("target_id", "study__pmid", "text"):
        inputs[target].append(Source(pmid, text))
    return {t.key: of(t.key, t.text, tuple(inputs[t.pk])) for t in targets}


def _clusters(project: Project, level: str, docids: Sequence[str]) -> dict[str, Item]:
    clusters = list(Cluster.objects.filter(project=project, key__in=docids))
    pico: dict[int, dict[str, str]] = defaultdict(dict)
    for cluster, slot, text in PicoSlot.objects.filter(cluster__in=clusters).values_list("cluster_id", "slot", "text"):
        pico[cluster][slot] = text
    # A tuple that was decided anew since is still the one that came in.
    brought = TupleSlot.objects.filter(pico_tuple__unit__cluster__in=clusters, pico_tuple__imported__isnull=False)
    for cluster, slot, text in brought.values_list("pico_tuple__unit__cluster", "slot", "text"):
        pico[cluster][slot] = text
    said = _labels(clusters)
    relations = dict(
        DiscourseLabel.objects.filter(unit__cluster__in=clusters, imported__isnull=False).values_list(
            "unit__cluster", "relation"
        )
    )
    claims: dict[int, list[Source]] = defaultdict(list)
    # As it came in: a text corrected since does not make the same file another one.
    rows = Proposition.objects.filter(cluster__in=clusters, version=1).order_by("cluster_id", "position")
    for cluster, unit, pmid, text in rows.values_list("cluster_id", "unit_id", "study__pmid", "text"):
        claims[cluster].append(Source(pmid or "", text, said.get(unit)))
    found = {}
    for c in clusters:
        target, *inputs = claims[c.pk]
        slots = tuple(pico[c.pk].get(slot, "") for slot in SLOTS)
        found[c.key] = of(c.key, target.text, tuple(inputs), target.said, slots, relations.get(c.pk, ""))
    return found


def _labels(clusters: Sequence[Cluster]) -> dict[int, Said]:
    """Imported labels by unit."""
    labels = Label.objects.filter(unit__proposition__cluster__in=clusters, imported__isnull=False)
    cues = {
        (label, aspect): text
        for label, aspect, text in Cue.objects.filter(label__in=labels).values_list("label_id", "aspect", "text")
    }
    return {
        unit: Said(polarity, modality, cues.get((pk, "polarity"), ""), cues.get((pk, "modality"), ""))
        for pk, unit, polarity, modality in labels.values_list("pk", "unit_id", "polarity", "modality")
    }


def difference(found: Item, stored: Item) -> tuple[str, object]:
    """The path of the first difference, and what is stored there."""
    if found.text != stored.text:
        return "target_text", stored.text
    for slot, new, old in zip(SLOTS, found.pico, stored.pico, strict=False):
        if new != old:
            return f"pico.{slot}", old
    if found.relation != stored.relation:
        return "discourse_relation", stored.relation
    if len(found.inputs) != len(stored.inputs):
        return "input_studies", f"{len(stored.inputs)} inputs"
    if difference := _said_differ(found.said, stored.said, "target"):
        return difference
    for n, (new_input, old_input) in enumerate(zip(found.inputs, stored.inputs, strict=True)):
        path = f"input_studies[{n}]"
        if new_input.pmid != old_input.pmid:
            return f"{path}.source_pmid", old_input.pmid
        if new_input.text != old_input.text:
            return f"{path}.source_text", old_input.text
        if difference := _said_differ(new_input.said, old_input.said, f"{path}.source"):
            return difference
    return "line", stored.key


def _said_differ(new: Said | None, old: Said | None, path: str) -> tuple[str, object] | None:
    if new == old:
        return None
    if new is None or old is None:
        return f"{path}_direction", None
    names = ("direction", "modality", "direction_span", "modality_span")
    return next((f"{path}_{name}", was) for name, now, was in zip(names, new, old, strict=True) if now != was)
