"""What raters are shown beside the texts: the source, and the target with what is in force of it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.models import PicoSlot, Proposition, Review
from generation.models import UnitLevel
from generation.runs.sources import Material, Reference, materials
from projects.models import Project, Unit
from projects.values.in_force import values_in_force

from ..protocols.parts import SLOTS, Content

LABEL = "label"


@dataclass(frozen=True)
class PlannedSource:
    """A unit whose summaries are rated. ``target``: the unit whose text they are held against; ``reference`` its text.
    ``shown``: query, title and studies; ``gold``: None where the target is no proposition."""

    unit: int
    target: int | None
    reference: str
    review: str
    shown: Mapping[str, Any]
    gold: Mapping[str, Any] | None


def holds_against_target(content: Content) -> bool:
    """Whether the target is a matter of the protocol: a document is then rated against each of its propositions."""
    return content.show.target != "none" or bool(content.derives) or any(c.beside for c in content.criteria)


def sources_of(project: Project, level: str, units: Sequence[int], content: Content) -> list[PlannedSource]:
    """The sources of these units, in their order; a unit without inputs is left out. A fixed number of queries."""
    found = materials(project, level, units)
    each = holds_against_target(content) and level == UnitLevel.DOCUMENT
    against = {unit: _targets(material, each) for unit, material in found.items()}
    gold = _gold([target.unit for targets in against.values() for target in targets])
    pmids = dict(Review.objects.filter(pk__in={m.review for m in found.values()}).values_list("pk", "pmid"))
    return [
        PlannedSource(
            unit, target.unit, target.text, pmids.get(found[unit].review, ""), _shown(found[unit]),
            gold.get(target.unit),
        )
        for unit in units if unit in found for target in against[unit]
    ]  # fmt: skip


def _targets(material: Material, each: bool) -> Sequence[Reference]:
    """What the summaries of a unit are held against: its own target, or each proposition of its review."""
    return material.references[1:] or material.references if each else material.references[:1]


def _shown(material: Material) -> dict[str, Any]:
    """No number of a study goes along: who looks it up has seen more than the others."""
    source = material.source
    return {
        "query": source.question, "title": "",
        "studies": [{"title": text.title, "text": text.text} for text in source.inputs],
    }  # fmt: skip


def _gold(targets: Iterable[int]) -> dict[int, dict[str, Any]]:
    """Text, tuple, polarity and modality in force of target propositions, by unit."""
    texts = {p.unit_id: p for p in Proposition.objects.filter(unit__in=list(targets)).select_related("unit")}
    slots: dict[int, dict[str, PicoSlot]] = defaultdict(dict)
    for slot in PicoSlot.objects.filter(cluster__in={p.cluster_id for p in texts.values()}):
        slots[slot.cluster_id][slot.slot] = slot
    units: list[Unit] = [p.unit for p in texts.values()]
    labels = values_in_force(units, LABEL)
    return {
        unit: {
            "text": p.text,
            "slots": [_slot(name, slots[p.cluster_id].get(name[0])) for name in SLOTS],
            "polarity": labels[unit].get("polarity", ""),
            "modality": labels[unit].get("modality", ""),
        }
        for unit, p in texts.items()
    }


def _slot(name: str, slot: PicoSlot | None) -> dict[str, str]:
    form = str(slot.form) if slot else "blank"
    return {"slot": name, "text": slot.text if slot else "", "form": form}
