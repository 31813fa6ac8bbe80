"""The level of clusters: the propositions of studies that share a PICO tuple (M3's level 3)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import QuerySet, Sum
from django.db.models.functions import Length

from annotation.corpus.backgrounds import backgrounds_of
from annotation.models import Cluster, PicoElement, Proposition, SplitLevel
from projects.models import Project

from ..backends.protocol import InputText, Source
from ..models import UnitLevel
from .protocol import Material, Reference, UnitSource, input_of


class PropositionSource(UnitSource):
    level = UnitLevel.PROPOSITION
    splits = (SplitLevel.PROPOSITION, SplitLevel.REVIEW)
    name = "clusters (propositions)"

    def rows(self, project: Project) -> QuerySet[Any]:
        return Cluster.objects.current().filter(project=project)

    def with_targets(self, projects: Iterable[int]) -> set[int]:
        clusters = Cluster.objects.current().filter(project__in=projects).order_by()
        return set(clusters.values_list("project", flat=True).distinct())

    def materials(self, units: Sequence[int], *, pages: bool = False) -> dict[int, Material]:
        clusters = Cluster.objects.filter(unit__in=units).select_related("review")
        by_id = {cluster.pk: cluster for cluster in clusters}
        texts = Proposition.objects.current().filter(cluster__in=by_id).select_related("study").in_corpus_order()
        inputs: dict[int, list[InputText]] = defaultdict(list)
        targets: dict[int, Reference] = {}
        for text in texts:
            if text.study is None:
                targets[text.cluster_id] = Reference(text.unit_id, by_id[text.cluster_id].key, text.text)
            else:
                inputs[text.cluster_id].append(input_of(text.text, text.study))
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

    def sizes(self, units: Sequence[int], *, pages: bool = False) -> Mapping[int, int]:
        texts = Proposition.objects.current().filter(position__gt=0, cluster__unit__in=units).order_by()
        return dict(texts.values_list("cluster__unit").annotate(size=Sum(Length("text"))))
