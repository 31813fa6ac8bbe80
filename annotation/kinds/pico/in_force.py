"""The clusters of a target sentence, kept the same as the split that was decided."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import QuerySet

from accounts.models import User
from audit.log import record_all
from projects.actions import staleness
from projects.kinds import Value
from projects.models import Member, Project, Unit
from projects.values.in_force import decisions_in_force, taken_back

from ...corpus.items import Item
from ...corpus.made import make_clusters, retire
from ...corpus.slots import SLOTS, in_words, key_of_tuple, standing, write_slots
from ...models import Cluster, Level, PicoSplit, Proposition, SplitCluster, SplitTuple, Target
from ..slots import said_of

KIND = "pico"


def splits() -> QuerySet[PicoSplit]:
    """Splits with all that they say: four queries."""
    return PicoSplit.objects.prefetch_related("tuples__slots__fragments")


@dataclass
class _Plan:
    """What is to happen to the clusters of one sentence."""

    target: Target
    new: list[tuple[SplitTuple, Value]] = field(default_factory=list)
    gone: list[Cluster] = field(default_factory=list)
    made: list[tuple[Cluster, Value]] = field(default_factory=list)


def follow(units: Sequence[Unit], *, by: User | None, reason: str) -> None:
    """Make a cluster of each tuple in force that has none, and retire those that were made of tuples that are in force
    no more. Clusters of unchanged tuples stay, whoever made them; those that were typed by hand are never retired.

    A retired cluster's target gives its place to that of a new one of the same sentence, as far as there are such: what
    was said of it is stale. In the caller's transaction; done again, it does nothing.
    """
    plans = [plan for plan in _plans(units) if plan.new or plan.gone]
    _make(plans, by)
    member = Member.objects.filter(project=plans[0].target.project_id, user=by).first() if plans and by else None
    if member:
        _give_place(plans, member, reason)
    retire([cluster for plan in plans for cluster in plan.gone], by=by, reason=reason or "The sentence was split anew.")


def _plans(units: Sequence[Unit]) -> list[_Plan]:
    targets = {t.unit_id: t for t in Target.objects.filter(unit__in=units).select_related("review", "project")}
    decided = {unit: d.answer_id for (unit, _), d in decisions_in_force(list(targets), KIND).items() if d.answer_id}
    said = {split.unit_id: split for split in splits().filter(answer__in=decided.values())}
    # What is left to a curator changes nothing yet; what was taken back is in force no more.
    back = {unit for unit, _ in taken_back(targets, KIND)}
    there = _clusters(list(targets.values()))
    return [
        _plan(targets[unit], list(said[unit].tuples.all()) if unit in said else [], there[unit])
        for unit in targets
        if unit in said or unit in back
    ]


def _clusters(targets: Sequence[Target]) -> dict[int, list[Cluster]]:
    """The clusters of these sentences, by unit; those of an earlier text of a sentence count as its own."""
    units = {(target.project_id, target.key): target.unit_id for target in targets}
    rows = (
        Cluster.objects.current()
        .filter(project__in={t.project_id for t in targets}, sentence__key__in={t.key for t in targets})
        .filter(sentence__level=Level.SENTENCE)
        .select_related("review", "sentence", "made_of")
        .prefetch_related("pico", "made_of__tuple__slots__fragments")
        .order_by("position", "pk")
    )
    found: dict[int, list[Cluster]] = defaultdict(list)
    for cluster in rows:
        assert cluster.sentence
        if unit := units.get((cluster.project_id, cluster.sentence.key)):
            found[unit].append(cluster)
    return found


def _plan(target: Target, wanted: Iterable[SplitTuple], clusters: Sequence[Cluster]) -> _Plan:
    """A cluster stays by its tuple in force, or by the one that it was made of: that may have been corrected since."""
    plan = _Plan(target)
    free = {cluster.pk: cluster for cluster in clusters}
    for row in wanted:
        value = said_of(row.slots.all())
        key = key_of_tuple(value)
        stays = next((c for c in free.values() if c.sentence_id == target.pk and key in _keys(c)), None)
        if stays:
            del free[stays.pk]
        else:
            plan.new.append((row, value))
    plan.gone = [cluster for cluster in free.values() if _made_of(cluster)]
    return plan


def _made_of(cluster: Cluster) -> SplitTuple | None:
    made: SplitCluster | None = getattr(cluster, "made_of", None)
    return made.tuple if made else None


def _keys(cluster: Cluster) -> set[object]:
    made = _made_of(cluster)
    return {key_of_tuple(standing(cluster))} | ({key_of_tuple(said_of(made.slots.all()))} if made else set())


def _make(plans: Sequence[_Plan], by: User | None) -> None:
    new = [(plan, row, value) for plan in plans for row, value in plan.new]
    if not new:
        return
    project: Project = plans[0].target.project
    items = [
        (
            plan.target.review,
            Item("", plan.target.review.pmid, plan.target.text, (), pico=tuple(value[slot]["text"] for slot in SLOTS)),
            plan.target,
        )
        for plan, _, value in new
    ]
    clusters, _ = make_clusters(project, items, by=by)
    write_slots([(c, value, plan.target.text) for c, (plan, _, value) in zip(clusters, new, strict=True)])
    SplitCluster.objects.bulk_create(
        SplitCluster(cluster=cluster, tuple=row) for cluster, (_, row, _) in zip(clusters, new, strict=True)
    )
    for cluster, (plan, _, value) in zip(clusters, new, strict=True):
        plan.made.append((cluster, value))
    record_all(
        {
            "actor": by, "verb": "split sentence", "obj": plan.target, "project_id": project.pk,
            "after": {"clusters": [c.key for c, _ in plan.made]},
        }
        for plan in plans
        if plan.made
    )  # fmt: skip


def _give_place(plans: Sequence[_Plan], member: Member, reason: str) -> None:
    """The target of a new cluster takes the place of a retired one's, in their order."""
    pairs = [(old, *new) for plan in plans for old, new in zip(plan.gone, plan.made, strict=False)]
    there = [cluster for old, new, _ in pairs for cluster in (old, new)]
    claims = Proposition.objects.current().filter(cluster__in=there, position=0).select_related("unit")
    targets = {claim.cluster_id: claim.unit for claim in claims}
    for old, new, value in pairs:
        if old.pk in targets:
            staleness.superseded(
                old=targets[old.pk], new=targets[new.pk], reason=reason or "The sentence was split anew.", by=member,
                before=in_words(standing(old)), after=in_words(value), what=KIND,
            )  # fmt: skip
