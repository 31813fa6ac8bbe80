"""Lists of the corpus: rows with what stands beside them, in a number of queries that does not grow with the rows."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Count, Exists, OuterRef, Prefetch, Q, QuerySet

from projects.models import Project
from sql.search import folded

from ..models import Cluster, Input, PicoSlot, Proposition, Review, Study, Target
from ..values.in_force import gold_labels, gold_relations, labels_in_force, relations_in_force
from .cluster import gold_json, slots

Json = dict[str, Any]


def clusters(project: Project, filters: Mapping[str, str]) -> QuerySet[Cluster]:
    """Clusters in corpus order, narrowed by ``search, relation, polarity, modality, role, review``."""
    found = Cluster.objects.current().filter(project=project).select_related("review").order_by("position", "id")
    found = found.prefetch_related(Prefetch("pico", PicoSlot.objects.order_by("id").prefetch_related("fragments")))
    found = found.found_by(filters.get("search", ""))
    if review := filters.get("review"):
        found = found.filter(review__pmid=review)
    if relation := filters.get("relation"):
        found = found.filter(Exists(relations_in_force().filter(unit=OuterRef("unit"), relation=relation)))
    values = {field: filters[field] for field in ("polarity", "modality") if filters.get(field)}
    if values:
        # Both are asked of one and the same proposition.
        claims = Proposition.objects.current().filter(cluster=OuterRef("pk"))
        if role := filters.get("role"):
            claims = claims.filter(Q(position=0) if role == "target" else Q(position__gte=1))
        for field, value in values.items():
            claims = claims.filter(Exists(labels_in_force(field).filter(unit=OuterRef("unit"), **{field: value})))
        found = found.filter(Exists(claims))
    return found


def cluster_rows(page: Sequence[Cluster]) -> list[Json]:
    """Rows of `clusters` with target, number of inputs and the values in force."""
    claims = Proposition.objects.current().filter(cluster__in=page)
    targets = {p.cluster_id: p for p in claims.filter(position=0)}
    inputs = dict(
        claims.filter(position__gte=1)
        .order_by()
        .values_list("cluster")
        .annotate(n=Count("id"))
        .values_list("cluster", "n")
    )
    labels = gold_labels([p.unit_id for p in targets.values()])
    relations = gold_relations([c.unit_id for c in page])
    rows = []
    for cluster in page:
        target = targets[cluster.pk]
        fields = labels.get(target.unit_id, {})
        rows.append(
            {
                "id": cluster.pk,
                "key": cluster.key,
                "review": {"id": cluster.review_id, "pmid": cluster.review.pmid},
                "text": target.text,
                "inputs": inputs.get(cluster.pk, 0),
                "pico": slots(cluster),
                "polarity": gold_json(fields.get("polarity")),
                "modality": gold_json(fields.get("modality")),
                "relation": gold_json(relations.get(cluster.unit_id)),
            }
        )
    return rows


def reviews(project: Project, search: str) -> QuerySet[Review]:
    """Reviews with the numbers of their clusters, studies and targets."""
    found = Review.objects.filter(project=project).order_by("id")
    if search:
        found = found.filter(Q(pmid__contains=folded(search)) | Q(title__icontains=search))
    return found.annotate(
        cluster_count=Count("clusters", filter=Q(clusters__unit__superseded_by=None), distinct=True),
        study_count=Count("studies", distinct=True),
        target_count=Count("targets", distinct=True),
    )


def review_page(review: Review) -> Json:
    """One review with its studies, targets and clusters."""
    mine = clusters(review.project, {}).filter(review=review)
    return {
        "id": review.pk,
        "pmid": review.pmid,
        "title": review.title,
        "abstract": review.abstract,
        "studies": review.studies.order_by("id"),
        "targets": targets(review),
        "clusters": cluster_rows(list(mine)),
    }


def targets(review: Review) -> QuerySet[Target]:
    """The documents and sentences of a review with their inputs."""
    found = Target.objects.filter(review=review, unit__superseded_by=None).order_by("level", "position")
    return found.prefetch_related(Prefetch("inputs", Input.objects.select_related("study").order_by("position")))


def studies(project: Project, search: str) -> QuerySet[Study]:
    """Studies with the numbers of their reviews and propositions."""
    found = Study.objects.filter(project=project).order_by("id")
    if search:
        found = found.filter(Q(pmid__contains=folded(search)) | Q(title__icontains=search))
    return found.annotate(
        review_count=Count("reviews", distinct=True), proposition_count=Count("propositions", distinct=True)
    )


def study_page(study: Study) -> Json:
    """One study with the reviews that include it and the propositions taken from it."""
    propositions = list(Proposition.objects.current().filter(study=study).select_related("cluster").in_corpus_order())
    labels = gold_labels([p.unit_id for p in propositions])
    return {
        "id": study.pk,
        "pmid": study.pmid,
        "title": study.title,
        "abstract": study.abstract,
        "reviews": study.reviews.order_by("id"),
        "propositions": [
            {
                "id": p.pk,
                "cluster": p.cluster_id,
                "cluster_key": p.cluster.key,
                "position": p.position,
                "text": p.text,
                "polarity": gold_json(labels.get(p.unit_id, {}).get("polarity")),
                "modality": gold_json(labels.get(p.unit_id, {}).get("modality")),
            }
            for p in propositions
        ],
    }
