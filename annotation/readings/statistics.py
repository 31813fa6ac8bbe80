"""Statistics of reviews, their studies, and what models say of them, as in MS^2 (DeYoung et al., EMNLP 2021).

Memory holds a few numbers per review, and the texts of some reviews at a time.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from statistics import fmean, pstdev
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

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
    effects = _EffectCounts()
    return {
        "reviews": _per_review(project, effects, progress),
        "directions": effects.directions(),
        "agreement": effects.agreement(),
        "years": _years(project),
    }


class _EffectCounts:
    """Numbers of effects of imported files, counted in the database for some reviews at a time."""

    def __init__(self) -> None:
        #: Number of effects of each kind of text by direction, and of those with weak evidence.
        self.by_owner: dict[str, Counter[str]] = {owner: Counter() for owner in OWNERS}
        self.weak: Counter[str] = Counter()
        #: Whether an effect of an included study has the direction of its review.
        self.agreements: Counter[bool] = Counter()

    def add(self, reviews: Collection[int]) -> None:
        rows = (
            Effect.objects.filter(pair__review__in=reviews, reading__weights="")
            .order_by()
            .values_list("pair", "direction", "reading__inclusion__role")
            .annotate(n=Count("pk"), weak=Count("pk", filter=Q(score__lt=WEAK)))
        )
        of_review: dict[int, str] = {}
        of_studies: list[tuple[int, str, int]] = []
        for pair, direction, role, n, weak in rows:
            owner = role or "review"
            self.by_owner[owner][direction] += n
            self.weak[owner] += weak
            if role is None:
                of_review[pair] = direction
            elif role == Role.INCLUDED:
                of_studies.append((pair, direction, n))
        for pair, direction, n in of_studies:
            if pair in of_review:
                self.agreements[direction == of_review[pair]] += n

    def directions(self) -> list[Json]:
        return [
            {
                "name": OWNERS[owner],
                "n": counts.total(),
                "directions": [counts[direction] for direction in Direction.values],
                "weak": self.weak[owner],
            }
            for owner, counts in self.by_owner.items()
            if counts
        ]

    def agreement(self) -> Json:
        """Return how many effects of included studies have the most probable direction of their review."""
        return {"n": self.agreements.total(), "count": self.agreements[True]}


def _per_review(project: Project, effects: _EffectCounts, progress: Progress) -> list[Json]:
    """Return a row for each quantity of a review, and count the effects."""
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    reviews = Review.objects.filter(project=project).order_by("pk")
    total, done = reviews.count(), 0
    rows = reviews.values_list("pk", "abstract").iterator(chunk_size=BATCH)
    while batch := dict(islice(rows, BATCH)):
        progress(done, total, "reading texts of reviews and studies")
        done += len(batch)
        effects.add(list(batch))
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
