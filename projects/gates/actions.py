"""Pilot gates: check and store a gate, read its pilot once, and record what it read (docs/decisions/0033)."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.utils import timezone

from accounts.models import User
from api.problems import Conflict, Refused
from audit.digests import digest_of
from audit.log import REMOVE, normalize_json, record
from measures.agreement import bars
from measures.agreement.bars import Bar

from ..agreement import actions as agreement_actions
from ..models import GateReading, PilotGate, Project, Round
from . import queries as gates_queries

Outcome = GateReading.Outcome
Progress = Callable[[int, int | None, str], None]


@dataclass(frozen=True)
class GatePlan:
    """The gate of a planned round: the id of its pilot, and the bar."""

    pilot: int
    bar: Bar


def check(project: Project, gate: GatePlan, kind: str) -> None:
    """Raise `Refused` if a round of this kind cannot have this gate."""
    pilot = gates_queries.pilots(project).filter(pk=gate.pilot).first()
    if pilot is None or kind not in gates_queries.kinds_of(pilot):
        raise Refused.field("gate.pilot", "Choose an open or closed round whose answers have agreement on this task.")
    scales = {scale.name: scale for scale in gates_queries.scales(pilot, kind)}
    scale = scales.get(gate.bar.measure)
    if scale is None:
        raise Refused.field("gate.measure", f"The pilot has no such field. Choose one of: {', '.join(scales)}.")
    names = bars.coefficients_of(scale, gold=pilot.meaning.held_against_gold)
    if gate.bar.coefficient not in names:
        raise Refused.field("gate.coefficient", f"Choose one of: {', '.join(names)}.")
    if gate.bar.requires == "lower bound" and gate.bar.coefficient in bars.WITHOUT_INTERVAL:
        raise Refused.field("gate.requires", "A mean of pairs has no interval. Require its value instead.")


def store(round: Round, gate: GatePlan, people: Sequence[int]) -> bool:
    """Store the gate of a round, in the transaction that stores the round. Return whether its pilot is closed.

    The pilot is locked until the transaction ends, so that closing it finds the gate.
    """
    PilotGate.objects.create(round=round, pilot_id=gate.pilot, people=list(people), **asdict(gate.bar))
    return not Round.objects.filter(pk=gate.pilot, status=Round.Status.OPEN).update(status=Round.Status.OPEN)


def remove(round: Round, by: User | None) -> None:
    """Remove the gate of a round that is discarded. What it read stays."""
    for gate in PilotGate.objects.filter(round=round):
        record(
            actor=by,
            verb=REMOVE,
            obj=gate,
            project_id=round.project_id,
            reason="Its round never opened.",
            before=gates_queries.bar_of(gate).as_json() | {"pilot": gate.pilot_id},
        )
        gate.delete()


def report_of(pilot: Round, progress: Progress) -> dict[str, Any]:
    """Return the agreement report of a closed pilot, computed and stored if it is large and not current.

    The figures of an open pilot are never read: raters of a blind one are not done.
    """
    if pilot.status != Round.Status.CLOSED:
        raise Conflict("The pilot is still open. Its figures are read once, after it is closed.")
    available = agreement_actions.available_report(pilot)
    if available.report is None or not available.current:
        agreement_actions.compute_and_store(round=pilot, progress=progress)
        available = agreement_actions.available_report(pilot)
    assert available.report is not None
    return available.report


def read(gate: PilotGate, report: dict[str, Any], by: User | None) -> GateReading:
    """Store what a gate reads of the report of its closed pilot. A second call returns the first reading."""
    first = GateReading.objects.filter(round=gate.round_id).exclude(outcome=Outcome.OPENED).first()
    if first is not None:
        return first
    bar = gates_queries.bar_of(gate)
    figures = bars.figures(gates_queries.measure_of(report, bar.measure), bar.coefficient)
    obstacles = bars.obstacles(bar, figures)
    why = f"{'; '.join(obstacles)}." if obstacles else ""
    outcome = Outcome.NOT_MET if obstacles else Outcome.MET
    return _record(gate, figures.as_json(), agreement_actions.METHOD, outcome, why, by)


def open_by_lead(gate: PilotGate, reason: str, by: User) -> GateReading:
    """Store the reason for which a lead opens a waiting round. Call it in the transaction that asks for the opening."""
    if not gates_queries.is_waiting(gate.round):
        raise Conflict("The round no longer waits for its pilot.")
    last = GateReading.objects.filter(round=gate.round_id).order_by("-pk").first()
    figures, method = (last.figures, last.method) if last else (None, "")
    return _record(gate, figures, method, Outcome.OPENED, reason, by)


def _record(
    gate: PilotGate, figures: dict[str, Any] | None, method: str, outcome: str, why: str, by: User | None
) -> GateReading:
    rule = gates_queries.bar_of(gate).as_json() | {"level": bars.LEVEL}
    content = normalize_json({"pilot": gate.pilot_id, "rule": rule, "figures": figures, "method": method})
    reading = GateReading.objects.create(
        project_id=gate.round.project_id,
        round=gate.round_id,
        round_name=gate.round.name,
        pilot=gate.pilot,
        rule=content["rule"],
        figures=content["figures"],
        method=method,
        outcome=outcome,
        why=why,
        digest=digest_of(content),
        by=by,
        at=timezone.now(),
    )
    is_lead = outcome == Outcome.OPENED
    record(
        actor=by,
        verb="open without its pilot" if is_lead else "read pilot",
        obj=gate.round,
        project_id=gate.round.project_id,
        after={"pilot": gate.pilot.name, "outcome": outcome, "digest": reading.digest},
        reason=why,
    )
    return reading
