"""Which units a unit is made of: a proposition of a cluster, a sentence and a review; a rating page of its source."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Model, Q

from annotation.models import (
    AbstractUnit,
    Cluster,
    EffectUnit,
    EvidencePair,
    MatchItem,
    Passage,
    Proposition,
    RewrittenText,
    Target,
    WrittenSummary,
)
from evaluation.models import RatingPage
from projects.models import Project, Unit

from ..folders.chain import EARLIER, Ancestor, Subject, full_key

_TARGET = (("target__unit", "sentence"), ("target__review__unit", "review"))
_CLUSTER = (("sentence__unit", "sentence"), ("review__unit", "review"))
_OF_CLUSTER = (("cluster__unit", "cluster"), *((f"cluster__{path}", role) for path, role in _CLUSTER))
#: For each model with a unit: the paths to the units that it is made of, the nearest first, and their roles.
PATHS: Mapping[type[Model], tuple[tuple[str, str], ...]] = {
    Proposition: _OF_CLUSTER,
    Cluster: _CLUSTER,
    Target: (("review__unit", "review"),),
    EvidencePair: _TARGET,
    MatchItem: _TARGET,
    EffectUnit: (("pair__review__unit", "review"),),
    AbstractUnit: (("review__unit", "review"),),
    RewrittenText: (
        ("counterfactual__target__unit", "target"),
        *((f"counterfactual__target__{path}", role) for path, role in _OF_CLUSTER),
    ),
    Passage: (("question__unit", "question"),),
    WrittenSummary: (("passage__unit", "passage"), ("question__unit", "question")),
    RatingPage: (("source__unit", "source"), ("source__target", "target")),
}


def subjects(project: Project, units: Iterable[int]) -> dict[int, Subject]:
    """Return units with their ancestors and earlier texts, by id. The number of queries does not depend on theirs."""
    columns = ("pk", "type", "key")
    own = {
        pk: (type, key) for pk, type, key in Unit.objects.filter(project=project, pk__in=units).values_list(*columns)
    }
    related = _ancestors(own)
    # A rating page has the ancestors of its source, too.
    nearest = {pk for found in related.values() for pk, _ in found}
    of_nearest = _ancestors(nearest - set(own))
    for found in related.values():
        for pk, _ in list(found):
            known = {one for one, _ in found}
            found.update((one, None) for one in of_nearest.get(pk, {}) if one[0] not in known)
    earlier = _earlier(project, own)
    wanted = {pk for found in related.values() for pk, _ in found} - set(own)
    names = own | {pk: (type, key) for pk, type, key in Unit.objects.filter(pk__in=wanted).values_list(*columns)}
    return {
        pk: Subject(
            full_key(type, key),
            type,
            key,
            pk,
            [
                *(Ancestor(full_key(*names[one]), role, one) for one, role in related.get(pk, {}) if one in names),
                *(Ancestor(full_key(type, old), EARLIER, one) for one, old in earlier.get(pk, [])),
            ],
        )
        for pk, (type, key) in own.items()
    }


def _ancestors(units: Iterable[int]) -> dict[int, dict[tuple[int, str], None]]:
    """Return (unit id, role) of the ancestors of units, nearest first. One query per model."""
    found: dict[int, dict[tuple[int, str], None]] = defaultdict(dict)
    ids = list(units)
    for model, paths in PATHS.items() if ids else ():
        rows = model._base_manager.filter(unit__in=ids).order_by()
        for pk, *related in rows.values_list("unit", *(path for path, _ in paths)):
            found[pk].update(dict.fromkeys((one, role) for one, (_, role) in zip(related, paths, strict=True) if one))
    return found


def _earlier(project: Project, units: Mapping[int, tuple[str, str]]) -> dict[int, list[tuple[int, str]]]:
    """Return (unit id, key) of the earlier texts of units, oldest first. Their keys have no or a lower number."""
    versions: dict[tuple[str, str], list[int]] = defaultdict(list)
    for pk, (type, key) in units.items():
        base, mark, number = key.rpartition("~")
        if mark and number.isdecimal():
            for old in (base, *(f"{base}~{n}" for n in range(2, int(number)))):
                versions[type, old].append(pk)
    if not versions:
        return {}
    of_key = Q(type__in={type for type, _ in versions}, key__in={key for _, key in versions})
    rows: Any = Unit.objects.filter(of_key, project=project, superseded_by__isnull=False).order_by("pk")
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for old, type, key in rows.values_list("pk", "type", "key"):
        for pk in versions.get((type, key), ()):
            found[pk].append((old, key))
    return found
