"""Pilots that a round can name, and the state of a round's gate."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from measures.agreement import Scale, bars
from measures.agreement.bars import Bar

from .. import kinds
from ..models import GateReading, PilotGate, Project, Round
from ..purposes import which

Json = dict[str, Any]
Outcome = GateReading.Outcome
#: Outcomes that let a round open.
OPENING = (Outcome.MET, Outcome.OPENED)


def pilots(project: Project) -> QuerySet[Round]:
    """Return the open and closed rounds that have agreement between people, newest first."""
    rounds = project.rounds.opened().opened_by_people().filter(purpose__in=which("independent"))
    return rounds.filter(Q(overlap__gt=1) | Q(sampling__block__overlap__gt=1)).order_by("-pk")


def kinds_of(pilot: Round) -> list[str]:
    """Return the kinds whose rounds can wait for this pilot: its own, and those with a field of the same name."""
    names = {scale.name for scale in kinds.get(pilot.kind).scales}
    others = (one.key for one in kinds.all_kinds() if names & {scale.name for scale in one.scales})
    return sorted({pilot.kind, *others})


def scales(pilot: Round, kind: str) -> list[Scale]:
    """Return the measures of a pilot on which a round of ``kind`` can have a bar."""
    own = kinds.get(pilot.kind).scales_of(pilot)
    names = {scale.name for scale in kinds.get(kind).scales}
    return [scale for scale in own if kind == pilot.kind or scale.name in names]


def bar_of(gate: PilotGate) -> Bar:
    requires = next(one for one in bars.REQUIRES if one == gate.requires)
    return Bar(gate.measure, gate.coefficient, requires, gate.number, gate.least_units)


def measure_of(report: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    """Return the element of "measures" of an agreement report with this name."""
    return next((measure for measure in report["measures"] if measure["name"] == name), None)


def waiting(rounds: QuerySet[Round]) -> QuerySet[Round]:
    """Return the rounds whose gate has not let them open."""
    readings = GateReading.objects.filter(round=OuterRef("pk"), outcome__in=OPENING)
    return rounds.filter(~Exists(readings), gate__isnull=False, status=Round.Status.PREPARING)


def is_waiting(round: Round) -> bool:
    return waiting(Round.objects.filter(pk=round.pk)).exists()


def states(rounds: Iterable[Round], *, watches: bool) -> dict[int, Json]:
    """Return the gate and its state of each round that has one. Two queries.

    Figures are for people who may read agreement (``watches``).
    """
    ids = [round.pk for round in rounds]
    gates = list(PilotGate.objects.filter(round__in=ids).select_related("pilot"))
    readings: dict[int, list[GateReading]] = {gate.round_id: [] for gate in gates}
    if gates:
        for reading in GateReading.objects.filter(round__in=readings):
            readings[reading.round].append(reading)
    return {gate.round_id: _state(gate, readings[gate.round_id], watches) for gate in gates}


def _state(gate: PilotGate, readings: Sequence[GateReading], watches: bool) -> Json:
    bar = bar_of(gate)
    last = readings[-1] if readings else None
    opened = last is not None and last.outcome in OPENING
    figures = last.figures if last and watches else None
    return {
        "pilot": {"id": gate.pilot_id, "name": gate.pilot.name, "open": gate.pilot.is_open},
        "measure": gate.measure,
        "coefficient": gate.coefficient,
        "requires": gate.requires,
        "number": gate.number,
        "least_units": gate.least_units,
        "needs": f"{bars.NAMES[bar.coefficient]} of {bar.measure}: {bar.words}",
        "waits": not opened,
        "result": last.outcome if last else "pilot open" if gate.pilot.is_open else "being read",
        "figures": figures,
        "reads": _reads(bar, figures),
        "why": last.why if last and watches else "",
        "digest": last.digest if last else "",
        "read_at": last.at if last else None,
    }


def _reads(bar: Bar, figures: Json | None) -> str:
    if figures is None:
        return ""
    return bars.in_words(bar.coefficient, bars.Figures(**figures), bound=bar.requires == "lower bound")


def count_readings(gate: PilotGate) -> int:
    """Return how often a bar on this field and coefficient was read in the project, for any round and pilot."""
    read = GateReading.objects.filter(project=gate.round.project_id).exclude(outcome=Outcome.OPENED)
    return read.filter(rule__measure=gate.measure, rule__coefficient=gate.coefficient).count()


def unmet(project: Project) -> QuerySet[Round]:
    """Return the waiting rounds whose closed pilot did not meet its bar, newest first."""
    readings = GateReading.objects.filter(round=OuterRef("pk"), outcome=Outcome.NOT_MET)
    return waiting(project.rounds.filter(Exists(readings))).order_by("-pk")


def released(project: Project, blind: Iterable[int]) -> dict[int, Json]:
    """Return what a release states about the gate of each round that has one. Two queries.

    Figures of a pilot that is still blind are left out.
    """
    hidden = set(blind)
    gates = list(PilotGate.objects.filter(round__project=project).annotate(pilot_name=F("pilot__name")))
    readings: dict[int, list[GateReading]] = {gate.round_id: [] for gate in gates}
    for reading in GateReading.objects.filter(project=project, round__in=list(readings)).order_by("pk"):
        readings[reading.round].append(reading)
    return {
        gate.round_id: {"pilot": gate.pilot_name}
        | bar_of(gate).as_json()
        | {"level": bars.LEVEL}
        | {"readings": [_released(one, is_blind=one.pilot_id in hidden) for one in readings[gate.round_id]]}
        for gate in gates
    }


def _released(reading: GateReading, *, is_blind: bool) -> Json:
    # What was read and why a bar is not met contain figures; the reason of a lead does not.
    why = "" if is_blind and reading.outcome != Outcome.OPENED else reading.why
    return {
        "outcome": reading.outcome,
        "why": why,
        "figures": None if is_blind else reading.figures,
        "method": reading.method,
        "digest": reading.digest,
        "at": reading.at,
    }
