"""Lists of the corpus: rows with what stands beside them, in a number of queries that does not grow with the rows."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Count, Exists, OuterRef, Prefetch, Q, QuerySet
from django.db.models.lookups import GreaterThan

from projects.models import Change, Decision, Project, Unit
from projects.rounds import raised
from sql.counted import counted
from sql.search import folded

from ..models import Cluster, Input, PicoSlot, Proposition, Review, Study, Target
from ..values.completeness import claims_beside, has_unlabelled, lacks_inputs
from ..values.in_force import gold_labels, gold_relations, labels_in_force, relations_in_force
from .cluster import gold_json, slots
from .consistency import doubted
from .hits import pieces

Json = dict[str, Any]
#: What is asked of a cluster or any of its propositions; and which of it only curators may know.
STATES = ("contested", "flagged", "stale", "unlabelled", "no_inputs", "findings")
FOR_CURATORS = ("flagged", "findings")


def clusters(project: Project, filters: Mapping[str, str]) -> QuerySet[Cluster]:
    """Clusters in corpus order, narrowed by ``search, relation, polarity, modality, role, review, state``."""
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
    if state := filters.get("state"):
        found = found.filter(_is(state, project))
    return found


def states(project: Project, filters: Mapping[str, str], *, curates: bool) -> list[Json]:
    """How many of the clusters that the other filters leave are in each state, "" for all. A query each."""
    found = clusters(project, {**filters, "state": ""}).prefetch_related(None).select_related(None).order_by()
    named = [state for state in STATES if curates or state not in FOR_CURATORS]
    counts = {"": found.count(), **{state: found.filter(_is(state, project)).count() for state in named}}
    return [{"state": state, "clusters": n} for state, n in counts.items()]


def _is(state: str, project: Project) -> Q:
    """Whether something of a cluster is in a state. Each is looked up by its unit, as values in force are."""
    if state == "unlabelled":
        return has_unlabelled()
    if state == "no_inputs":
        return lacks_inputs()
    flags = raised.raised(project).filter(raised.FLAGGED, assignment__unit=OuterRef("unit")).exclude(raised.SETTLED)
    rows = {
        "contested": Decision.objects.filter(unit=OuterRef("unit")).contested(),
        "flagged": flags,
        "stale": Change.objects.unsettled().filter(unit=OuterRef("unit")),
        "findings": doubted(project).filter(unit=OuterRef("unit")),
    }[state]
    among = claims_beside().alias(so_many=counted(rows)).filter(so_many__gt=0)
    return Q(GreaterThan(counted(rows), 0)) | Q(GreaterThan(counted(among), 0))


def neighbours(cluster: Cluster, filters: Mapping[str, str]) -> Json:
    """What comes before and after a cluster among those that are narrowed alike, and its place there. It need not be
    one of them any more: somebody may have decided meanwhile what they are narrowed by. Four queries."""
    found = clusters(cluster.project, filters).prefetch_related(None).select_related(None)
    before = found.filter(Q(position__lt=cluster.position) | Q(position=cluster.position, pk__lt=cluster.pk))
    after = found.filter(Q(position__gt=cluster.position) | Q(position=cluster.position, pk__gt=cluster.pk))
    passed, total = before.count(), found.count()
    following = after.values_list("pk", flat=True).first()
    is_there = total > passed and found.filter(pk=cluster.pk).exists()
    return {
        "previous": before.values_list("pk", flat=True).last(), "next": following,
        "number": passed + 1 if is_there else None, "of": total,
    }  # fmt: skip


def _hits(page: Sequence[Cluster], search: str) -> dict[int, Json]:
    """By cluster the first proposition that holds what is searched for, with the hits in its text. One query."""
    found: dict[int, Json] = {}
    if search.strip():
        rows = Proposition.objects.current().filter(cluster__in=page).order_by("position")
        for cluster, position, text in rows.values_list("cluster", "position", "text"):
            if cluster not in found and (said := pieces(text, search)):
                found[cluster] = {"position": position, "pieces": said}
    return found


def cluster_rows(page: Sequence[Cluster], search: str = "") -> list[Json]:
    """Rows of `clusters` with target, number of inputs and the values in force; and where what was searched for is."""
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
    hits = _hits(page, search)
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
                "hit": hits.get(cluster.pk),
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
        target_count=Count("targets", filter=Q(targets__unit__superseded_by=None), distinct=True),
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


def place_of(unit: Unit) -> Json:
    """Where a unit is to be seen: its cluster, or else the review on whose curate page it stands. Neither for one that
    only its round knows."""
    cluster = Cluster.objects.filter(Q(unit=unit) | Q(propositions__unit=unit)).values_list("pk", flat=True).first()
    of = Q(unit=unit) | Q(targets__unit=unit) | Q(targets__evidence_pairs__unit=unit)
    review = None if cluster else Review.objects.filter(of).values_list("pk", flat=True).first()
    return {"cluster": cluster, "review": review}


def targets(review: Review) -> QuerySet[Target]:
    """The documents and sentences of a review with their inputs."""
    found = Target.objects.current().filter(review=review).order_by("level", "position")
    return found.prefetch_related(
        Prefetch("inputs", Input.objects.current().select_related("study").order_by("position"))
    )


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
