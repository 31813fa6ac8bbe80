"""Units as summarisers and metrics get them, read from the corpus in a fixed number of queries."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet, Sum
from django.db.models.functions import Length

from annotation.models import Cluster, Input, Level, PicoSlot, Proposition, Study, Target
from api.problems import Refused
from measures.abstracts import background_of
from projects.models import Project, Unit

from ..backends.protocol import InputText, Source
from ..models import UnitLevel

#: What a run of a level is over.
LEVELS = {
    UnitLevel.DOCUMENT: "reviews (documents)",
    UnitLevel.SENTENCE: "target sentences",
    UnitLevel.PROPOSITION: "clusters (propositions)",
}


@dataclass(frozen=True)
class Reference:
    """A text that a summary is compared with, and the unit that it is the text of."""

    unit: int
    key: str
    text: str


@dataclass(frozen=True)
class Material:
    """One unit: what a summariser reads, and what it should have said.

    ``references``: the unit's own target first (where it has one); for a document also each proposition of its review.
    ``review`` is the id that bootstraps cluster by.
    """

    source: Source
    references: tuple[Reference, ...]
    review: int


def units(project: Project, level: str) -> QuerySet[Any, int]:
    """As `units_of`, as a query: of many a page can be taken."""
    rows, unit = _rows(project, level)
    return rows.order_by("position", "id").values_list(unit, flat=True)


def places(project: Project, level: str) -> QuerySet[Any, tuple[int, int, int]]:
    """(position, row, unit) of the units of a level, in the order of the corpus: what a run is laid out along."""
    rows, unit = _rows(project, level)
    return rows.order_by("position", "id").values_list("position", "id", unit)


def place_of(project: Project, level: str, unit: int) -> int | None:
    """The place of a unit in the order of `units`, from 1; None where it is not among them."""
    rows, name = _rows(project, level)
    found = rows.filter(**{name: unit}).order_by("position", "id").values("position", "id").first()
    if found is None:
        return None
    before = Q(position__lt=found["position"]) | Q(position=found["position"], id__lt=found["id"])
    return int(rows.filter(before).count()) + 1


def _rows(project: Project, level: str) -> tuple[QuerySet[Any], str]:
    """What has the units of a level, and the name under which it has them."""
    if level == UnitLevel.PROPOSITION:
        return Cluster.objects.current().filter(project=project), "unit_id"
    targets = Target.objects.current().filter(project=project, level=Level(level))
    return targets, "unit_id" if level == UnitLevel.SENTENCE else "review__unit_id"


def level_of(project: Project, wanted: str) -> str:
    """The level for which something is made where nobody said one: the wanted one, else the finest that there is."""
    there = [level for level in (*reversed(UnitLevel), UnitLevel(wanted)) if units(project, level).exists()]
    return wanted if wanted in there or not there else there[0]


def some_places(project: Project, level: str) -> QuerySet[Any, tuple[int, int, int]]:
    """As `places`; `Refused`, with what there is instead, where a project has no unit of the level."""
    found = places(project, level)
    if found.exists():
        return found
    counts = {each: units(project, each).count() for each in UnitLevel}
    there = " and ".join(f"{n} {LEVELS[each]}, level {each}" for each, n in counts.items() if n)
    instead = there or "no corpus yet: import one"
    raise Refused(f"This project has no {LEVELS[UnitLevel(level)]}, level {level}. It has {instead}.")


def units_of(project: Project, level: str) -> list[int]:
    """The ids of the units that a run of a level is over, in the order of the corpus."""
    return list(units(project, level))


def first_key(project: Project, level: str) -> str | None:
    """The key of the first unit of a level; None where there is none."""
    rows, _ = _rows(project, level)
    found: str | None = rows.order_by("position", "id").values_list("key", flat=True).first()
    return found


def keys_among(project: Project, level: str, keys: Sequence[str]) -> set[str]:
    """Those of the keys that units of a level have, as summarisers get them."""
    rows, _ = _rows(project, level)
    return set(rows.filter(key__in=keys).order_by().values_list("key", flat=True))


def materials(project: Project, level: str, units: Sequence[int]) -> dict[int, Material]:
    """The material of these units, by unit id. A unit without inputs, or that was retired since, is left out."""
    if level == UnitLevel.PROPOSITION:
        return _of_clusters(units)
    return _of_targets(Level(level), units)


def sizes(level: str, units: Sequence[int]) -> dict[int, int]:
    """Characters of the inputs of each unit; 0 where it has none. The data base counts: no text is read."""
    texts: QuerySet[Any]
    if level == UnitLevel.PROPOSITION:
        texts, unit = Proposition.objects.current().filter(position__gt=0), "cluster__unit"
    else:
        unit = "target__unit" if level == UnitLevel.SENTENCE else "target__review__unit"
        texts = Input.objects.current().filter(target__level=Level(level), target__unit__superseded_by=None)
    counted = texts.filter(**{f"{unit}__in": units}).order_by().values_list(unit).annotate(size=Sum(Length("text")))
    found: dict[int, int] = dict(counted)
    return {unit: found.get(unit, 0) for unit in units}


def _of_clusters(units: Sequence[int]) -> dict[int, Material]:
    clusters = Cluster.objects.filter(unit__in=units).select_related("review")
    by_id = {cluster.pk: cluster for cluster in clusters}
    texts = Proposition.objects.current().filter(cluster__in=by_id).select_related("study").in_corpus_order()
    inputs: dict[int, list[InputText]] = defaultdict(list)
    targets: dict[int, Reference] = {}
    for text in texts:
        if text.study is None:
            targets[text.cluster_id] = Reference(text.unit_id, by_id[text.cluster_id].key, text.text)
        else:
            inputs[text.cluster_id].append(_input(text.text, text.study))
    pico: dict[int, dict[str, str]] = defaultdict(dict)
    for slot in PicoSlot.objects.filter(cluster__in=by_id):
        pico[slot.cluster_id][slot.slot] = slot.text
    return {
        cluster.unit_id: Material(
            Source(
                cluster.unit_id,
                cluster.key,
                tuple(inputs[pk]),
                pico[pk],
                background_of(cluster.review.abstract),
                cluster.review.title,
            ),
            (targets[pk],) if pk in targets else (),
            cluster.review_id,
        )
        for pk, cluster in by_id.items()
        if inputs[pk]
    }


def _of_targets(level: Level, units: Sequence[int]) -> dict[int, Material]:
    """Of target sentences, or of reviews (a document-level run's unit is the review, its inputs are the document's)."""
    document = level == Level.DOCUMENT
    found = Target.objects.current().filter(level=level).select_related("review")
    found = found.filter(review__unit__in=units) if document else found.filter(unit__in=units)
    targets = list(found)
    inputs: dict[int, list[InputText]] = defaultdict(list)
    for text in Input.objects.current().filter(target__in=targets).select_related("study"):
        inputs[text.target_id].append(_input(text.text, text.study))
    propositions = _propositions_of([target.review_id for target in targets]) if document else {}
    made = {}
    for target in targets:
        if not inputs[target.pk]:
            continue
        unit = target.review.unit_id if document else target.unit_id
        review = target.review
        background = background_of(review.abstract)
        source = Source(
            unit, target.key, tuple(inputs[target.pk]), background=background, question=review.title
        )  # fmt: skip
        own = Reference(target.unit_id, target.key, target.text)
        made[unit] = Material(source, (own, *propositions.get(target.review_id, ())), target.review_id)
    return made


def _propositions_of(reviews: Iterable[int]) -> dict[int, list[Reference]]:
    """The target propositions of reviews, by review, in the order of the corpus."""
    found: dict[int, list[Reference]] = defaultdict(list)
    texts = Proposition.objects.current().filter(
        cluster__in=Cluster.objects.current().filter(review__in=list(reviews)), position=0
    )  # fmt: skip
    for text in texts.select_related("cluster").in_corpus_order():
        found[text.cluster.review_id].append(Reference(text.unit_id, text.cluster.key, text.text))
    return found


def _input(text: str, study: Study) -> InputText:
    return InputText(text, study.title, study.pmid)


def keys_of(units: Sequence[int]) -> dict[int, str]:
    """The names that people know units by."""
    return dict(Unit.objects.filter(pk__in=units).values_list("pk", "key"))
