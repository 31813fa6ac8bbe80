"""Keep the input propositions of a cluster in line with the decisions about which inputs support it (M3 level 3)."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db.models import Exists, OuterRef, QuerySet

from accounts.models import User
from annotation.clusters.creation import make_inputs
from annotation.clusters.integrity import BRING_BACK_INPUT, TAKE_OUT_INPUT
from annotation.kinds.clusters import inputs_changed
from annotation.models import AssignedInput, AssignedProposition, Cluster, Input, Level, Proposition
from audit.log import record_all
from projects.gold.queries import current_values, withdrawn_values
from projects.models import Member, Unit


def has_inputs() -> Exists:
    """Return a condition on units of clusters: the sentence of the cluster has inputs."""
    mine = _sentence_inputs().filter(
        target__project=OuterRef("project"), target__key=OuterRef("cluster__sentence__key")
    )
    return Exists(mine)


def inputs_of_units(units: Iterable[int]) -> dict[int, list[Input]]:
    """Return the ordered inputs, with their studies, by the unit of the cluster. Two queries."""
    sentences = {
        unit: (project, key)
        for unit, project, key in Cluster.objects.filter(unit__in=units).values_list("unit", "project", "sentence__key")
    }
    identities = set(sentences.values())
    rows = _sentence_inputs().filter(
        target__project__in={project for project, _ in identities},
        target__key__in={key for _, key in identities if key},
    )
    by_sentence: dict[tuple[int, str | None], list[Input]] = defaultdict(list)
    for row in rows.select_related("study", "target").order_by("target_id", "position"):
        by_sentence[row.target.project_id, row.target.key].append(row)
    return {unit: by_sentence[identity] for unit, identity in sentences.items()}


def _sentence_inputs() -> QuerySet[Input]:
    rows = Input.objects.current().with_source_text()
    return rows.filter(target__level=Level.SENTENCE, target__unit__superseded_by=None)


KIND, FIELD = "assign_evidence", "supporting"
SUPPORTS = AssignedInput.Judgement.SUPPORTS


@dataclass
class _Change:
    """Changes to the input propositions of one cluster."""

    cluster: Cluster
    new: list[Input] = field(default_factory=list)
    back: list[Proposition] = field(default_factory=list)
    gone: list[Proposition] = field(default_factory=list)


@dataclass(frozen=True)
class _InputPosition:
    """One position among a cluster's propositions: its first version and its current version."""

    first: Proposition
    now: Proposition

    def is_made_of(self, row: Input) -> bool:
        """Return whether the proposition represents this input.

        It does if it was created from the input, or if it was typed or imported with the same study and words.
        """
        assigned = getattr(self.first, "assigned", None)
        if assigned:
            return bool(assigned.input.position == row.position and assigned.input.study_id == row.study_id)
        return self.first.study_id == row.study_id and self.first.text.split() == row.source_text.split()

    @property
    def is_made(self) -> bool:
        return hasattr(self.first, "assigned")

    @property
    def counts(self) -> bool:
        return self.now.unit.superseded_by_id is None

    def is_out_of(self, cluster: Cluster) -> bool:
        return self.now.unit.superseded_by_id == cluster.unit_id


def update_propositions(units: Sequence[Unit], *, by: User | None, reason: str) -> None:
    """Apply the decisions to the input propositions of clusters.

    Create a proposition for each supporting input that has none, and remove the propositions of inputs that do not
    support it. Inputs that are not in an answer are unchanged, and corrected texts stay corrected. If a decision was
    withdrawn, remove the propositions created from it and restore the earlier ones.

    Run in the caller's transaction. Idempotent. Each changed cluster takes a few queries.
    """
    decided = {unit: value[FIELD] for unit, value in current_values(units, KIND).items() if FIELD in value}
    withdrawn = {unit for unit, _ in withdrawn_values([unit.pk for unit in units], KIND)} - decided.keys()
    affected = Cluster.objects.current().filter(unit__in=[*decided, *withdrawn]).select_related("unit", "project")
    clusters = {cluster.unit_id: cluster for cluster in affected}
    inputs, positions_by_cluster = inputs_of_units(clusters), _places(clusters.values())
    changes = []
    for unit, cluster in clusters.items():
        positions = positions_by_cluster[cluster.pk]
        if unit in decided:
            numbers = {input_value["number"] for input_value in decided[unit] if input_value["said"] == SUPPORTS}
            changes.append(_decided(cluster, inputs[unit], numbers, decided[unit], positions))
        else:
            changes.append(_undecided(cluster, positions))
    _write([change for change in changes if change.new or change.back or change.gone], by, reason)


def _decided(
    cluster: Cluster,
    inputs: Iterable[Input],
    supporting: Collection[int],
    values: Iterable[Mapping[str, object]],
    positions: Sequence[_InputPosition],
) -> _Change:
    change, free = _Change(cluster), list(positions)
    judged_numbers = {value["number"] for value in values}
    for row in inputs:
        if row.position not in judged_numbers:
            continue
        position = next((position for position in free if position.is_made_of(row)), None)
        if position:
            free.remove(position)
        if row.position in supporting and position is None:
            change.new.append(row)
        elif row.position in supporting and position and position.is_out_of(cluster):
            change.back.append(position.now)
        elif row.position not in supporting and position and position.counts:
            change.gone.append(position.now)
    # Remove propositions created from an input that the target no longer has.
    change.gone += [position.now for position in free if position.is_made and position.counts]
    return change


def _undecided(cluster: Cluster, positions: Iterable[_InputPosition]) -> _Change:
    change = _Change(cluster)
    for position in positions:
        if position.is_made and position.counts:
            change.gone.append(position.now)
        elif not position.is_made and position.is_out_of(cluster):
            change.back.append(position.now)
    return change


def _places(clusters: Iterable[Cluster]) -> dict[int, list[_InputPosition]]:
    rows = (
        Proposition.objects.filter(cluster__in=[cluster.pk for cluster in clusters], position__gte=1)
        .select_related("unit", "assigned__input")
        .order_by("cluster_id", "position", "version")
    )
    by_position: dict[tuple[int, int], list[Proposition]] = defaultdict(list)
    for row in rows:
        by_position[row.cluster_id, row.position].append(row)
    places: dict[int, list[_InputPosition]] = defaultdict(list)
    for (cluster, _), versions in by_position.items():
        places[cluster].append(_InputPosition(versions[0], versions[-1]))
    return places


def _write(changes: Sequence[_Change], by: User | None, reason: str) -> None:
    if not changes:
        return
    project = changes[0].cluster.project
    new = [(change.cluster, row) for change in changes for row in change.new]
    propositions = make_inputs([(cluster, row.study_id, row.source_text) for cluster, row in new], by=by)
    AssignedProposition.objects.bulk_create(
        AssignedProposition(proposition=claim, input=row) for claim, (_, row) in zip(propositions, new, strict=True)
    )
    for change in changes:
        # A removed proposition has no successor text, so the unit of the cluster supersedes it.
        Unit.objects.filter(proposition__in=change.gone).update(superseded_by=change.cluster.unit_id)
    Unit.objects.filter(proposition__in=[row for change in changes for row in change.back]).update(superseded_by=None)
    record_all(
        {"actor": by, "verb": verb, "obj": claim, "project_id": project.pk, "reason": reason}
        for verb, which in ((TAKE_OUT_INPUT, "gone"), (BRING_BACK_INPUT, "back"))
        for change in changes
        for claim in getattr(change, which)
    )
    record_all(
        {
            "actor": by,
            "verb": "assign evidence",
            "obj": change.cluster,
            "project_id": project.pk,
            "reason": reason,
            "after": {"made": len(change.new), "brought_back": len(change.back), "taken_out": len(change.gone)},
        }
        for change in changes
    )
    member = Member.objects.filter(project=project, user=by).first() if by else None
    for change in changes:
        inputs_changed(change.cluster, member, reason or "Its evidence was assigned.")
