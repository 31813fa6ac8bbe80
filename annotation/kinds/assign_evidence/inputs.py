"""The inputs that a cluster is asked about: those of the sentence that it was made of, by the text in force."""

from collections import defaultdict
from collections.abc import Iterable

from django.db.models import Exists, OuterRef, QuerySet

from ...models import Cluster, Input, Level


def has_inputs() -> Exists:
    """For units of clusters: whether the sentence of the cluster has inputs."""
    mine = _of_sentences().filter(target__project=OuterRef("project"), target__key=OuterRef("cluster__sentence__key"))
    return Exists(mine)


def of_units(units: Iterable[int]) -> dict[int, list[Input]]:
    """The inputs in their order by the unit of the cluster, with their studies. Two queries."""
    asked = {
        unit: (project, key)
        for unit, project, key in Cluster.objects.filter(unit__in=units).values_list("unit", "project", "sentence__key")
    }
    places = set(asked.values())
    rows = _of_sentences().filter(
        target__project__in={project for project, _ in places}, target__key__in={key for _, key in places if key}
    )
    found: dict[tuple[int, str | None], list[Input]] = defaultdict(list)
    for row in rows.select_related("study", "target").order_by("target_id", "position"):
        found[row.target.project_id, row.target.key].append(row)
    return {unit: found[place] for unit, place in asked.items()}


def _of_sentences() -> QuerySet[Input]:
    return Input.objects.current().filter(target__level=Level.SENTENCE, target__unit__superseded_by=None)
