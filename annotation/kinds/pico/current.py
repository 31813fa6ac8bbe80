"""Keep the clusters of a target sentence in line with the decided split."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import QuerySet

from accounts.models import User
from annotation.clusters.creation import make_clusters, retire
from annotation.clusters.items import Item
from annotation.clusters.pico import ELEMENTS, current_tuple, key_of_tuple, tuple_in_words, write_elements
from annotation.kinds.tuples import tuple_value
from annotation.models import Cluster, Level, PicoSplit, Proposition, SplitCluster, SplitTuple, Target
from audit.log import record_all
from projects.gold.queries import current_decisions, withdrawn_values
from projects.kinds import Value
from projects.models import Member, Project, Unit
from projects.staleness import actions as staleness_actions

KIND = "pico"


def splits() -> QuerySet[PicoSplit]:
    """Return splits with their tuples, elements and fragments. Four queries."""
    return PicoSplit.objects.prefetch_related("tuples__elements__fragments")


@dataclass
class _Plan:
    """Planned changes to the clusters of one sentence."""

    target: Target
    new: list[tuple[SplitTuple, Value]] = field(default_factory=list)
    gone: list[Cluster] = field(default_factory=list)
    made: list[tuple[Cluster, Value]] = field(default_factory=list)


def update_clusters(units: Sequence[Unit], *, by: User | None, reason: str) -> None:
    """Apply the current splits to clusters.

    Create a cluster for each current tuple that has none, and retire clusters created from tuples that are no longer
    current. Clusters of unchanged tuples stay. Typed clusters are never retired.

    A new cluster's target supersedes that of a retired cluster of the same sentence, in order, and answers about it
    become stale. Run in the caller's transaction. Idempotent.
    """
    plans = [plan for plan in _plans(units) if plan.new or plan.gone]
    _make(plans, by)
    member = Member.objects.filter(project=plans[0].target.project_id, user=by).first() if plans and by else None
    if member:
        _supersede_targets(plans, member, reason)
    retire(
        [cluster for plan in plans for cluster in plan.gone], by=by, reason=reason or "The sentence was split again."
    )


def _plans(units: Sequence[Unit]) -> list[_Plan]:
    targets = {t.unit_id: t for t in Target.objects.filter(unit__in=units).select_related("review", "project")}
    decided = {unit: d.answer_id for (unit, _), d in current_decisions(list(targets), KIND).items() if d.answer_id}
    current_splits = {split.unit_id: split for split in splits().filter(answer__in=decided.values())}
    # Contested splits change nothing yet. A withdrawn split is no longer current.
    withdrawn = {unit for unit, _ in withdrawn_values(targets, KIND)}
    clusters = _clusters(list(targets.values()))
    return [
        _plan(targets[unit], list(current_splits[unit].tuples.all()) if unit in current_splits else [], clusters[unit])
        for unit in targets
        if unit in current_splits or unit in withdrawn
    ]


def _clusters(targets: Sequence[Target]) -> dict[int, list[Cluster]]:
    """Return the clusters of these sentences by unit. Clusters of an earlier text of a sentence are included."""
    units = {(target.project_id, target.key): target.unit_id for target in targets}
    rows = (
        Cluster.objects.current()
        .filter(project__in={t.project_id for t in targets}, sentence__key__in={t.key for t in targets})
        .filter(sentence__level=Level.SENTENCE)
        .select_related("review", "sentence", "made_of")
        .prefetch_related("pico", "made_of__tuple__elements__fragments")
        .order_by("position", "pk")
    )
    by_unit: dict[int, list[Cluster]] = defaultdict(list)
    for cluster in rows:
        assert cluster.sentence
        if unit := units.get((cluster.project_id, cluster.sentence.key)):
            by_unit[unit].append(cluster)
    return by_unit


def _plan(target: Target, tuples: Iterable[SplitTuple], clusters: Sequence[Cluster]) -> _Plan:
    """Plan the changes. A cluster is kept if its current tuple, or the tuple it was created from, is wanted."""
    plan = _Plan(target)
    free = {cluster.pk: cluster for cluster in clusters}
    for row in tuples:
        value = tuple_value(row.elements.all())
        key = key_of_tuple(value)
        kept = next((c for c in free.values() if c.sentence_id == target.pk and key in _keys(c)), None)
        if kept:
            del free[kept.pk]
        else:
            plan.new.append((row, value))
    plan.gone = [cluster for cluster in free.values() if _source_tuple(cluster)]
    return plan


def _source_tuple(cluster: Cluster) -> SplitTuple | None:
    origin: SplitCluster | None = getattr(cluster, "made_of", None)
    return origin.tuple if origin else None


def _keys(cluster: Cluster) -> set[object]:
    source = _source_tuple(cluster)
    return {key_of_tuple(current_tuple(cluster))} | (
        {key_of_tuple(tuple_value(source.elements.all()))} if source else set()
    )


def _make(plans: Sequence[_Plan], by: User | None) -> None:
    new = [(plan, row, value) for plan in plans for row, value in plan.new]
    if not new:
        return
    project: Project = plans[0].target.project
    items = [
        (
            plan.target.review,
            Item(
                "",
                plan.target.review.pmid,
                plan.target.text,
                (),
                pico=tuple(value[element]["text"] for element in ELEMENTS),
            ),
            plan.target,
        )
        for plan, _, value in new
    ]
    clusters, _ = make_clusters(project, items, by=by)
    write_elements([(c, value, plan.target.text) for c, (plan, _, value) in zip(clusters, new, strict=True)])
    SplitCluster.objects.bulk_create(
        SplitCluster(cluster=cluster, tuple=row) for cluster, (_, row, _) in zip(clusters, new, strict=True)
    )
    for cluster, (plan, _, value) in zip(clusters, new, strict=True):
        plan.made.append((cluster, value))
    record_all(
        {
            "actor": by,
            "verb": "split sentence",
            "obj": plan.target,
            "project_id": project.pk,
            "after": {"clusters": [c.key for c, _ in plan.made]},
        }
        for plan in plans
        if plan.made
    )


def _supersede_targets(plans: Sequence[_Plan], member: Member, reason: str) -> None:
    """Let the target of each new cluster supersede that of a retired one, in order."""
    pairs = [(old, *new) for plan in plans for old, new in zip(plan.gone, plan.made, strict=False)]
    affected = [cluster for old, new, _ in pairs for cluster in (old, new)]
    claims = Proposition.objects.current().filter(cluster__in=affected, position=0).select_related("unit")
    targets = {claim.cluster_id: claim.unit for claim in claims}
    for old, new, value in pairs:
        if old.pk in targets:
            staleness_actions.superseded(
                old=targets[old.pk],
                new=targets[new.pk],
                reason=reason or "The sentence was split again.",
                by=member,
                before=tuple_in_words(current_tuple(old)),
                after=tuple_in_words(value),
                what=KIND,
            )
