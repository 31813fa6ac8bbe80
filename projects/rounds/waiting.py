"""Rounds that wait for their pilot: read it once it is closed, and open the round (docs/decisions/0033)."""

from typing import Any

from django.db import transaction

from accounts.models import User
from api.problems import Conflict

from ..gates import actions as gates_actions
from ..gates import queries as gates_queries
from ..jobs import batches, jobs
from ..jobs.queries import ACTIVE
from ..models import GateReading, Job, PilotGate, Round
from .preparing import DISCARD, OPEN, READ_PILOT, first_job, job_of


def read_after_closing(*, pilot: Round) -> None:
    """Start a job for each round that waits for a pilot that was closed. Call it once its answers are locked."""
    for round in gates_queries.waiting(Round.objects.filter(gate__pilot=pilot)).select_related("project"):
        with batches.batch():
            if not GateReading.objects.filter(round=round.pk).exists():
                jobs.enqueue(project=round.project, kind=READ_PILOT, params={"round": round.pk}, by=round.created_by)


def read_pilot(*, round: Round, by: User | None, progress: gates_actions.Progress) -> dict[str, Any]:
    """Read the closed pilot of a waiting round, store what was read, and open the round if its bar is met.

    Idempotent. Nothing changes if the round was opened or discarded in the meantime.
    """
    gate = _gate(round)
    progress(0, None, "reading the pilot")
    report = gates_actions.report_of(gate.pilot, progress)
    with batches.batch():
        if not _lock(round) or not gates_queries.is_waiting(round):
            return {"round": round.pk}
        reading = gates_actions.read(gate, report, by)
        if reading.outcome == GateReading.Outcome.MET:
            first_job(OPEN, round, by)
    return {"round": round.pk, "outcome": reading.outcome}


def open_anyway(*, round: Round, reason: str, by: User) -> Job:
    """Open a waiting round although its bar is not met, for a reason that is stored, logged and released."""
    with transaction.atomic():
        if not _lock(round):
            raise Conflict("The round was already opened or discarded.")
        job = job_of(round)
        if job is not None and job.kind == DISCARD and job.status in ACTIVE:
            raise Conflict("The round is being discarded.")
        gates_actions.open_by_lead(_gate(round), reason, by)
        return first_job(OPEN, round, by)


def _gate(round: Round) -> PilotGate:
    gate = PilotGate.objects.filter(round=round).select_related("round", "pilot__project").first()
    if gate is None:
        raise Conflict("The round has no pilot.")
    return gate


def _lock(round: Round) -> bool:
    """Lock a round in preparation until the transaction ends. Return whether it is in preparation."""
    preparing = Round.objects.filter(pk=round.pk, status=Round.Status.PREPARING)
    return bool(preparing.update(status=Round.Status.PREPARING))
