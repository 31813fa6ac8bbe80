"""The corpus in numbers: what there is, how labels are distributed, and M3's Table 2 (targets, inputs, compression)."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Count, QuerySet

from measures.counterfactuals import Kind
from projects.models import Project

from ..models import (
    Cluster,
    Counterfactual,
    Input,
    Level,
    Modality,
    PicoForm,
    PicoSlot,
    Polarity,
    Proposition,
    Relation,
    Review,
    Slot,
    Study,
    Target,
)
from ..values.in_force import labels_in_force, relations_in_force

Json = dict[str, Any]


def summary(project: Project) -> Json:
    """Counts of rows, and of gold values by role; a fixed number of queries."""
    propositions = Proposition.objects.current().filter(cluster__project=project)
    return {
        "reviews": Review.objects.filter(project=project).count(),
        "studies": Study.objects.filter(project=project).count(),
        "documents": Target.objects.current().filter(project=project, level=Level.DOCUMENT).count(),
        "sentences": Target.objects.current().filter(project=project, level=Level.SENTENCE).count(),
        "clusters": Cluster.objects.current().filter(project=project).count(),
        "propositions": propositions.count(),
        "inputs": propositions.filter(position__gte=1).count(),
        "values": {
            "target_polarity": _labels(project, "polarity", Polarity.values, position=0),
            "target_modality": _labels(project, "modality", Modality.values, position=0),
            "input_polarity": _labels(project, "polarity", Polarity.values, position__gte=1),
            "input_modality": _labels(project, "modality", Modality.values, position__gte=1),
            "relation": _counts(
                relations_in_force().filter(unit__project=project, unit__superseded_by=None),
                "relation",
                Relation.values,
            ),
        },
        "pico": _pico(project),
        "counterfactuals": _counterfactuals(project),
    }


def _labels(project: Project, field: str, values: Iterable[str], **place: int) -> list[Json]:
    rows = labels_in_force(field).filter(
        unit__project=project,
        unit__superseded_by=None,
        **{f"unit__proposition__{name}": value for name, value in place.items()},
    )
    return _counts(rows, field, values)


def _counts(rows: QuerySet[Any], field: str, values: Iterable[str]) -> list[Json]:
    """Every value of the scale with its count, those that do not occur with 0."""
    counts = dict(rows.order_by().values_list(field).annotate(n=Count("id")).values_list(field, "n"))
    return [{"value": value, "count": counts.get(value, 0)} for value in values]


def _pico(project: Project) -> list[Json]:
    rows = (
        PicoSlot.objects.filter(cluster__project=project, cluster__unit__superseded_by=None)
        .order_by()
        .values_list("slot", "form")
    )
    counts = {(slot, form): n for slot, form, n in rows.annotate(n=Count("id")).values_list("slot", "form", "n")}
    return [
        {"slot": slot, "form": form, "count": counts.get((slot, form), 0)}
        for slot in Slot.values
        for form in PicoForm.values
    ]


def _counterfactuals(project: Project) -> list[Json]:
    """Those in force by kind, and of each kind how many are of targets of which polarity: to or from what they lead."""
    current = Counterfactual.objects.of(project).current()
    totals = dict(current.order_by().values_list("kind").annotate(n=Count("pk")))
    labels = labels_in_force("polarity").filter(unit__proposition__counterfactuals__in=current).order_by()
    kind = "unit__proposition__counterfactuals__kind"
    counts = {(k, p): n for k, p, n in labels.values_list(kind, "polarity").annotate(n=Count("pk"))}
    return [
        {
            "kind": k.value,
            "count": totals.get(k.value, 0),
            "polarity": [{"value": p, "count": counts.get((k.value, p), 0)} for p in Polarity.values],
        }
        for k in Kind
    ]


def table(project: Project) -> list[Json]:
    """M3's Table 2, a row a level that the project has: targets, inputs, reviews, studies, inputs per target, and
    compression, the mean over targets of (words of the inputs / words of the target), words split at white space."""
    rows = []
    for level in Level.values:
        targets = Target.objects.current().filter(project=project, level=level)
        inputs = Input.objects.current().filter(target__in=targets)
        rows.append(
            _row(
                level,
                targets.values_list("pk", "text"),
                inputs.values_list("target_id", "text"),
                reviews=targets.values("review").distinct().count(),
                studies=inputs.values("study").distinct().count(),
            )
        )
    claims = Proposition.objects.current().filter(cluster__project=project)
    inputs_of_clusters = claims.filter(position__gte=1)
    rows.append(
        _row(
            "proposition",
            claims.filter(position=0).values_list("cluster_id", "text"),
            inputs_of_clusters.values_list("cluster_id", "text"),
            reviews=Cluster.objects.current().filter(project=project).values("review").distinct().count(),
            studies=inputs_of_clusters.values("study").distinct().count(),
        )
    )
    return [row for row in rows if row["targets"]]


def _row(
    level: str, targets: Iterable[tuple[int, str]], inputs: Iterable[tuple[int, str]], *, reviews: int, studies: int
) -> Json:
    target_words = {pk: len(text.split()) for pk, text in targets}
    input_words = dict.fromkeys(target_words, 0)
    count = 0
    for pk, text in inputs:
        input_words[pk] += len(text.split())
        count += 1
    ratios = [input_words[pk] / words for pk, words in target_words.items() if words]
    return {
        "level": level,
        "targets": len(target_words),
        "inputs": count,
        "reviews": reviews,
        "studies": studies,
        "inputs_per_target": count / len(target_words) if target_words else None,
        "compression": sum(ratios) / len(ratios) if ratios else None,
    }
