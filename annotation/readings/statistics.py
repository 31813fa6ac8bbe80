"""Statistics of reviews, their studies, and what models say of them, as in MS^2 (DeYoung et al., EMNLP 2021).

Memory holds a few numbers per review, and the texts of some reviews at a time.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from statistics import fmean, pstdev
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery

from measures.pio import PioKind, spans_of
from projects.jobs.batches import Progress
from projects.models import Project

from ..models import Direction, Effect, Inclusion, MachineReading, ReadingTask, Review, Role, Study

Json = dict[str, Any]
BATCH = 50
#: MS^2 gives a summariser at most this number of studies.
MOST_STUDIES = 25
#: Below this score, the evidence sentence may say nothing about the pair.
WEAK = 0.05
KINDS: tuple[PioKind, ...] = ("pop", "int", "out")
OWNERS = {"review": "reviews", Role.INCLUDED.value: "included studies", Role.GENERAL.value: "general references"}


def has_readings(project: Project) -> bool:
    return MachineReading.objects.filter(review__project=project).exists()


def figures(project: Project, progress: Progress) -> Json:
    """Return all figures of a project; empty if it has no machine readings."""
    if not has_readings(project):
        return {}
    return {
        "reviews": _per_review(project, progress),
        "directions": _directions(project),
        "agreement": _agreement(project),
        "years": _years(project),
    }


def _per_review(project: Project, progress: Progress) -> list[Json]:
    """Return a row for each quantity of a review."""
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    reviews = Review.objects.filter(project=project).order_by("pk")
    total, done = reviews.count(), 0
    rows = reviews.values_list("pk", "abstract").iterator(chunk_size=BATCH)
    while batch := dict(islice(rows, BATCH)):
        progress(done, total, "reading texts of reviews and studies")
        done += len(batch)
        lengths: dict[int, list[int]] = {pk: [] for pk in batch}
        studies = Inclusion.objects.included().filter(review__in=list(batch)).order_by("review", "position")
        for review, text in studies.values_list("review", "study__abstract").iterator(chunk_size=200):
            lengths[review].append(len(text.split()))
        tagged = MachineReading.objects.filter(review__in=list(batch), task=ReadingTask.PIO, weights="")
        tags = {review: values["tags"] for review, values in tagged.values_list("review", "values")}
        for pk, text in batch.items():
            counts["studies"][len(lengths[pk])] += 1
            counts["tokens"][sum(lengths[pk])] += 1
            counts["tokens of 25 studies"][sum(lengths[pk][:MOST_STUDIES])] += 1
            if pk in tags:
                kinds = Counter(span.kind for span in spans_of(text, tags[pk])[0])
                for kind in KINDS:
                    counts[kind][kinds[kind]] += 1
    return [_described(name, of) for name, of in counts.items()]


def _described(name: str, counts: Mapping[int, int]) -> Json:
    """Return mean, population standard deviation, median, minimum and maximum of counted values."""
    values = list(Counter(counts).elements())
    values.sort()
    middle = len(values) // 2
    median = values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2
    figures = {"mean": fmean(values), "sd": pstdev(values), "median": median, "least": values[0], "most": values[-1]}
    return {"name": name, "n": len(values), **figures}


def _effects(project: Project, owner: str) -> QuerySet[Effect]:
    of = Q(reading__review__project=project)
    if owner != "review":
        of = Q(reading__inclusion__review__project=project, reading__inclusion__role=owner)
    return Effect.objects.filter(of, reading__weights="").order_by()


def _directions(project: Project) -> list[Json]:
    rows = []
    for owner, name in OWNERS.items():
        effects = _effects(project, owner)
        counted = effects.values_list("direction").annotate(n=Count("pk"), weak=Count("pk", filter=Q(score__lt=WEAK)))
        found = {direction: (n, weak) for direction, n, weak in counted}
        if found:
            rows.append(
                {
                    "name": name,
                    "n": sum(n for n, _ in found.values()),
                    "directions": [found.get(direction, (0, 0))[0] for direction in Direction.values],
                    "weak": sum(weak for _, weak in found.values()),
                }
            )
    return rows


def _agreement(project: Project) -> Json:
    """Return how many effects of included studies have the most probable direction of their review."""
    of_review = Effect.objects.filter(pair=OuterRef("pair"), reading__review__isnull=False, reading__weights="")
    effects = _effects(project, Role.INCLUDED).annotate(of_review=Subquery(of_review.values("direction")[:1]))
    asked = effects.filter(of_review__isnull=False)
    return {"n": asked.count(), "count": asked.filter(direction=F("of_review")).count()}


def _years(project: Project) -> Json:
    """Return the number of reviews and of included studies by year. None: the year is unknown."""
    included = Exists(Inclusion.objects.included().filter(study=OuterRef("pk")))
    return {
        "reviews": _by_year(Review.objects.filter(project=project)),
        "studies": _by_year(Study.objects.filter(included, project=project)),
    }


def _by_year(rows: QuerySet[Any]) -> list[tuple[int | None, int]]:
    counted: Iterable[tuple[int | None, int]] = (
        rows.order_by().values_list("year").annotate(n=Count("pk")).values_list("year", "n")
    )
    return sorted(counted, key=lambda row: (row[0] is None, row[0] or 0))


def unknown(years: Sequence[Sequence[Any]]) -> int:
    """Return the number of rows without a year."""
    return sum(n for year, n in years if year is None)
