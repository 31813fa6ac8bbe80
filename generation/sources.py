"""Units as input of summarisers and metrics, read from the corpus in a fixed number of queries."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Length

from annotation.corpus.backgrounds import backgrounds_of
from annotation.models import Cluster, Inclusion, Input, Level, PicoElement, Proposition, Review, Study, Target
from api.problems import Refused
from projects.models import Project, Unit

from .backends.protocol import InputText, Source
from .models import UnitLevel

#: The units of a run, by level.
LEVELS = {
    UnitLevel.DOCUMENT: "reviews (documents)",
    UnitLevel.SENTENCE: "target sentences",
    UnitLevel.PROPOSITION: "clusters (propositions)",
}


@dataclass(frozen=True)
class Reference:
    """A reference text of a summary, and its unit."""

    unit: int
    key: str
    text: str


@dataclass(frozen=True)
class Material:
    """One unit with the input of a summariser and its references.

    ``own`` is the unit's own target, if it is known. ``propositions`` has each proposition of the review of a document.
    ``review`` is the cluster id for bootstrapping.
    """

    source: Source
    own: Reference | None
    propositions: tuple[Reference, ...]
    review: int

    @property
    def references(self) -> tuple[Reference, ...]:
        """The texts that a summary is compared with, the unit's own target first."""
        return (*((self.own,) if self.own else ()), *self.propositions)


def units(project: Project, level: str) -> QuerySet[Any, int]:
    """Like `units_of`, as a query, for pagination."""
    rows, unit = _rows(project, level)
    return rows.order_by("position", "id").values_list(unit, flat=True)


def unit_positions(project: Project, level: str) -> QuerySet[Any, tuple[int, int, int]]:
    """Return (position, row, unit) of the units of a level in corpus order. Runs create their items in this order."""
    rows, unit = _rows(project, level)
    return rows.order_by("position", "id").values_list("position", "id", unit)


def place_of(project: Project, level: str, unit: int) -> int | None:
    """Return the position of a unit among `units`, from 1, or None."""
    rows, name = _rows(project, level)
    row = rows.filter(**{name: unit}).order_by("position", "id").values("position", "id").first()
    if row is None:
        return None
    before = Q(position__lt=row["position"]) | Q(position=row["position"], id__lt=row["id"])
    return int(rows.filter(before).count()) + 1


def _rows(project: Project, level: str) -> tuple[QuerySet[Any], str]:
    """Return the rows that have the units of a level, and the name of their unit field."""
    if level == UnitLevel.PROPOSITION:
        return Cluster.objects.current().filter(project=project), "unit_id"
    targets = Target.objects.current().filter(project=project, level=Level(level))
    return targets, "unit_id" if level == UnitLevel.SENTENCE else "review__unit_id"


def level_of(project: Project, wanted: str) -> str:
    """Return the default level: the wanted one if the project has units of it, else the finest level with units."""
    levels = [level for level in (*reversed(UnitLevel), UnitLevel(wanted)) if units(project, level).exists()]
    return wanted if wanted in levels or not levels else levels[0]


def required_places(project: Project, level: str) -> QuerySet[Any, tuple[int, int, int]]:
    """Like `unit_positions`. Raise `Refused` with the available levels if a project has no units of the level."""
    positions = unit_positions(project, level)
    if positions.exists():
        return positions
    counts = {other: units(project, other).count() for other in UnitLevel}
    available = " and ".join(f"{n} {LEVELS[other]}, level {other}" for other, n in counts.items() if n)
    alternatives = available or "no corpus yet: import one"
    raise Refused(f"This project has no {LEVELS[UnitLevel(level)]}, level {level}. It has {alternatives}.")


def count_without_target(project: Project) -> int:
    """Return the number of reviews with included studies but no document target, not even a withheld one."""
    included = Inclusion.objects.included().filter(review=OuterRef("pk")).exclude(study__abstract="")
    targets = Target.objects.current().filter(review=OuterRef("pk"), level=Level.DOCUMENT)
    return Review.objects.filter(Exists(included), ~Exists(targets), project=project).count()


def units_of(project: Project, level: str) -> list[int]:
    """Return the ids of the units of a level in corpus order."""
    return list(units(project, level))


def first_key(project: Project, level: str) -> str | None:
    """Return the key of the first unit of a level, or None."""
    rows, _ = _rows(project, level)
    key: str | None = rows.order_by("position", "id").values_list("key", flat=True).first()
    return key


def matching_keys(project: Project, level: str, keys: Sequence[str]) -> set[str]:
    """Return those of the keys that belong to units of a level."""
    rows, _ = _rows(project, level)
    return set(rows.filter(key__in=keys).order_by().values_list("key", flat=True))


def materials(project: Project, level: str, units: Sequence[int]) -> dict[int, Material]:
    """Return the material of these units, by unit id. Units without inputs and retired units are left out."""
    if level == UnitLevel.PROPOSITION:
        return _of_clusters(units)
    return _of_targets(Level(level), units)


def sizes(level: str, units: Sequence[int]) -> dict[int, int]:
    """Return the number of input characters of each unit, or 0 without inputs. The database counts; no text is read."""
    texts: QuerySet[Any]
    if level == UnitLevel.PROPOSITION:
        texts, unit, text = Proposition.objects.current().filter(position__gt=0), "cluster__unit", "text"
    else:
        unit = "target__unit" if level == UnitLevel.SENTENCE else "target__review__unit"
        texts = Input.objects.current().filter(target__level=Level(level), target__unit__superseded_by=None)
        texts, text = texts.with_source_text(), "source_text"
    size_rows = texts.filter(**{f"{unit}__in": units}).order_by().values_list(unit).annotate(size=Sum(Length(text)))
    known_sizes: dict[int, int] = dict(size_rows)
    return {unit: known_sizes.get(unit, 0) for unit in units}


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
    for element in PicoElement.objects.filter(cluster__in=by_id):
        pico[element.cluster_id][element.element] = element.text
    backgrounds = backgrounds_of(cluster.review for cluster in by_id.values())
    return {
        cluster.unit_id: Material(
            Source(
                cluster.unit_id,
                cluster.key,
                tuple(inputs[pk]),
                pico[pk],
                backgrounds[cluster.review_id],
                cluster.review.title,
            ),
            targets.get(pk),
            (),
            cluster.review_id,
        )
        for pk, cluster in by_id.items()
        if inputs[pk]
    }


def _of_targets(level: Level, units: Sequence[int]) -> dict[int, Material]:
    """Return the material of target sentences or reviews. At document level, the unit is the review."""
    document = level == Level.DOCUMENT
    target_rows = Target.objects.current().filter(level=level).select_related("review")
    target_rows = target_rows.filter(review__unit__in=units) if document else target_rows.filter(unit__in=units)
    targets = list(target_rows)
    inputs: dict[int, list[InputText]] = defaultdict(list)
    for row in Input.objects.current().filter(target__in=targets).with_source_text().select_related("study"):
        inputs[row.target_id].append(_input(row.source_text, row.study))
    propositions = _propositions_of([target.review_id for target in targets]) if document else {}
    backgrounds = backgrounds_of(target.review for target in targets)
    materials = {}
    for target in targets:
        if not inputs[target.pk]:
            continue
        unit = target.review.unit_id if document else target.unit_id
        review = target.review
        background = backgrounds[review.pk]
        source = Source(unit, target.key, tuple(inputs[target.pk]), background=background, question=review.title)
        own = None if target.is_withheld else Reference(target.unit_id, target.key, target.text)
        materials[unit] = Material(source, own, tuple(propositions.get(review.pk, ())), review.pk)
    return materials


def _propositions_of(reviews: Iterable[int]) -> dict[int, list[Reference]]:
    """Return the target propositions of reviews, by review, in corpus order."""
    propositions: dict[int, list[Reference]] = defaultdict(list)
    texts = Proposition.objects.current().filter(
        cluster__in=Cluster.objects.current().filter(review__in=list(reviews)), position=0
    )
    for text in texts.select_related("cluster").in_corpus_order():
        propositions[text.cluster.review_id].append(Reference(text.unit_id, text.cluster.key, text.text))
    return propositions


def _input(text: str, study: Study) -> InputText:
    return InputText(text, study.title, study.pmid)


def keys_of(units: Sequence[int]) -> dict[int, str]:
    """Return the keys of units."""
    return dict(Unit.objects.filter(pk__in=units).values_list("pk", "key"))
