"""The source and the target that raters see beside the texts."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.models import PicoElement, Proposition, Review
from evaluation.protocols.parts import SLOTS, Content
from generation.models import UnitLevel
from generation.sources import Material, Reference, materials
from projects.gold.queries import current_values
from projects.models import Project, Unit

LABEL = "label"


@dataclass(frozen=True)
class PlannedSource:
    """A unit whose summaries are rated.

    ``target`` is the unit of the target text, and ``reference`` is that text. ``material`` holds the query, title and
    studies. ``gold`` is None if the target is not a proposition.
    """

    unit: int
    target: int | None
    reference: str
    review: str
    material: Mapping[str, Any]
    gold: Mapping[str, Any] | None


def holds_against_target(content: Content) -> bool:
    """Whether the protocol uses the target. If so, a document is rated against each of its propositions."""
    return content.show.target != "none" or bool(content.derives) or any(c.beside for c in content.criteria)


def sources_of(project: Project, level: str, units: Sequence[int], content: Content) -> list[PlannedSource]:
    """Return the sources of these units, in their order. Units without inputs are left out.

    Runs a fixed number of queries.
    """
    found = materials(project, level, units)
    each = holds_against_target(content) and level == UnitLevel.DOCUMENT
    against = {unit: _targets(material, each) for unit, material in found.items()}
    gold = _gold([target.unit for targets in against.values() for target in targets])
    pmids = dict(Review.objects.filter(pk__in={m.review for m in found.values()}).values_list("pk", "pmid"))
    return [
        PlannedSource(
            unit,
            target.unit,
            target.text,
            pmids.get(found[unit].review, ""),
            _displayed(found[unit]),
            gold.get(target.unit),
        )
        for unit in units
        if unit in found
        for target in against[unit]
    ]


def _targets(material: Material, each: bool) -> Sequence[Reference]:
    """Return the targets of a unit: its own, or with ``each`` the propositions of its review if it has any."""
    if each and material.propositions:
        return material.propositions
    return [material.own] if material.own else []


def _displayed(material: Material) -> dict[str, Any]:
    """Return the query and the studies without study ids, because a rater could look a study up."""
    source = material.source
    return {
        "query": source.question,
        "title": "",
        "studies": [{"title": text.title, "text": text.text} for text in source.inputs],
    }


def _gold(targets: Iterable[int]) -> dict[int, dict[str, Any]]:
    """Return the text, tuple and current polarity and modality of target propositions, by unit."""
    texts = {p.unit_id: p for p in Proposition.objects.filter(unit__in=list(targets)).select_related("unit")}
    slots: dict[int, dict[str, PicoElement]] = defaultdict(dict)
    for element in PicoElement.objects.filter(cluster__in={p.cluster_id for p in texts.values()}):
        slots[element.cluster_id][element.element] = element
    units: list[Unit] = [p.unit for p in texts.values()]
    labels = current_values(units, LABEL)
    return {
        unit: {
            "text": p.text,
            "slots": [_slot(name, slots[p.cluster_id].get(name[0])) for name in SLOTS],
            "polarity": labels[unit].get("polarity", ""),
            "modality": labels[unit].get("modality", ""),
        }
        for unit, p in texts.items()
    }


def _slot(name: str, element: PicoElement | None) -> dict[str, str]:
    form = str(element.form) if element else "blank"
    return {"slot": name, "text": element.text if element else "", "form": form}
