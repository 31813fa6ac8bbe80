"""The input propositions of a cluster, kept the same as what was decided to support it (M3's level 3)."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from accounts.models import User
from audit.log import record_all
from projects.models import Member, Unit
from projects.values.in_force import taken_back, values_in_force

from ...corpus.made import make_inputs
from ...corpus.watching import BRING_BACK_INPUT, TAKE_OUT_INPUT
from ...models import AssignedInput, AssignedProposition, Cluster, Input, Proposition
from ..clusters import inputs_changed
from .inputs import of_units

KIND, FIELD = "assign_evidence", "supporting"
SUPPORTS = AssignedInput.Said.SUPPORTS


@dataclass
class _Change:
    """What becomes of the input propositions of one cluster."""

    cluster: Cluster
    new: list[Input] = field(default_factory=list)
    back: list[Proposition] = field(default_factory=list)
    gone: list[Proposition] = field(default_factory=list)


@dataclass(frozen=True)
class _Place:
    """One place among a cluster's propositions: the text that first stood there, and the one that does now."""

    first: Proposition
    now: Proposition

    def is_made_of(self, row: Input) -> bool:
        """Of this input, or in its words: one that was typed, or came in a file, stands for it, too."""
        made = getattr(self.first, "assigned", None)
        if made:
            return bool(made.input.position == row.position and made.input.study_id == row.study_id)
        return self.first.study_id == row.study_id and self.first.text.split() == row.text.split()

    @property
    def is_made(self) -> bool:
        return hasattr(self.first, "assigned")

    @property
    def counts(self) -> bool:
        return self.now.unit.superseded_by_id is None

    def is_out_of(self, cluster: Cluster) -> bool:
        return self.now.unit.superseded_by_id == cluster.unit_id


def follow(units: Sequence[Unit], *, by: User | None, reason: str) -> None:
    """Make an input proposition of each input that supports a cluster's and has none, and take those out that do not
    support it. What nobody was asked of stays. A text that was corrected since stays corrected. Where the decision is
    taken back, what was made of it is taken out, and what was there before comes back.

    In the caller's transaction; done again, it does nothing. Some queries for each cluster that changes.
    """
    said = {unit: value[FIELD] for unit, value in values_in_force(units, KIND).items() if FIELD in value}
    back = {unit for unit, _ in taken_back([unit.pk for unit in units], KIND)} - said.keys()
    wanted = Cluster.objects.current().filter(unit__in=[*said, *back]).select_related("unit", "project")
    clusters = {cluster.unit_id: cluster for cluster in wanted}
    inputs, places = of_units(clusters), _places(clusters.values())
    changes = []
    for unit, cluster in clusters.items():
        there = places[cluster.pk]
        if unit in said:
            numbers = {one["number"] for one in said[unit] if one["said"] == SUPPORTS}
            changes.append(_decided(cluster, inputs[unit], numbers, said[unit], there))
        else:
            changes.append(_undecided(cluster, there))
    _write([change for change in changes if change.new or change.back or change.gone], by, reason)


def _decided(
    cluster: Cluster,
    inputs: Iterable[Input],
    supporting: Collection[int],
    said: Iterable[Mapping[str, object]],
    places: Sequence[_Place],
) -> _Change:
    change, free = _Change(cluster), list(places)
    asked = {one["number"] for one in said}
    for row in inputs:
        if row.position not in asked:
            continue
        place = next((place for place in free if place.is_made_of(row)), None)
        if place:
            free.remove(place)
        if row.position in supporting and place is None:
            change.new.append(row)
        elif row.position in supporting and place and place.is_out_of(cluster):
            change.back.append(place.now)
        elif row.position not in supporting and place and place.counts:
            change.gone.append(place.now)
    # Of what was made of an input that the target has no more.
    change.gone += [place.now for place in free if place.is_made and place.counts]
    return change


def _undecided(cluster: Cluster, places: Iterable[_Place]) -> _Change:
    change = _Change(cluster)
    for place in places:
        if place.is_made and place.counts:
            change.gone.append(place.now)
        elif not place.is_made and place.is_out_of(cluster):
            change.back.append(place.now)
    return change


def _places(clusters: Iterable[Cluster]) -> dict[int, list[_Place]]:
    rows = (
        Proposition.objects.filter(cluster__in=[cluster.pk for cluster in clusters], position__gte=1)
        .select_related("unit", "assigned__input")
        .order_by("cluster_id", "position", "version")
    )
    found: dict[tuple[int, int], list[Proposition]] = defaultdict(list)
    for row in rows:
        found[row.cluster_id, row.position].append(row)
    places: dict[int, list[_Place]] = defaultdict(list)
    for (cluster, _), versions in found.items():
        places[cluster].append(_Place(versions[0], versions[-1]))
    return places


def _write(changes: Sequence[_Change], by: User | None, reason: str) -> None:
    if not changes:
        return
    project = changes[0].cluster.project
    new = [(change.cluster, row) for change in changes for row in change.new]
    made = make_inputs([(cluster, row.study, row.text) for cluster, row in new], by=by)
    AssignedProposition.objects.bulk_create(
        AssignedProposition(proposition=claim, input=row) for claim, (_, row) in zip(made, new, strict=True)
    )
    for change in changes:
        # Nothing takes the place of what is taken out but the cluster without it.
        Unit.objects.filter(proposition__in=change.gone).update(superseded_by=change.cluster.unit_id)
    Unit.objects.filter(proposition__in=[row for change in changes for row in change.back]).update(superseded_by=None)
    record_all(
        {"actor": by, "verb": verb, "obj": claim, "project_id": project.pk, "reason": reason}
        for verb, some in ((TAKE_OUT_INPUT, "gone"), (BRING_BACK_INPUT, "back"))
        for change in changes
        for claim in getattr(change, some)
    )
    record_all(
        {
            "actor": by, "verb": "assign evidence", "obj": change.cluster, "project_id": project.pk, "reason": reason,
            "after": {"made": len(change.new), "brought_back": len(change.back), "taken_out": len(change.gone)},
        }
        for change in changes
    )  # fmt: skip
    member = Member.objects.filter(project=project, user=by).first() if by else None
    for change in changes:
        inputs_changed(change.cluster, member, reason or "Its evidence was assigned.")
