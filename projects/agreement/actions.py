"""Compute the agreement of a round: within the request if it is small, otherwise in a worker.

The report of a large round is stored (docs/decisions/0011-large-and-rolling-rounds.md).
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Q
from django.utils import timezone

from accounts.models import User
from audit import row_digests

from .. import kinds
from ..answers.queries import counted
from ..jobs import batches, jobs
from ..jobs.queries import ACTIVE
from ..models import Decision, Job, JobStatus, Round, StoredAgreement
from ..models.round import RETURNED
from . import queries as agreement_queries

#: Version of the computation. Increase it whenever the figures of a report change: stored reports of another version
#: are computed anew. tests/projects/test_kept_agreement.py compares a report with a stored one of this version.
METHOD = "agreement 5"
KIND = "agreement"
#: Maximum number of counted answers for a computation within the request, which takes less than a second. Kinds may
#: have a lower one.
AT_ONCE = 5_000
Progress = Callable[[int, int | None, str], None]


@dataclass(frozen=True)
class AvailableReport:
    """The agreement of a round that is available now."""

    #: None if the round is large and no worker has computed its report yet.
    report: dict[str, Any] | None
    #: When the report was computed.
    as_of: datetime | None
    #: Whether computing it now would give the same report.
    current: bool
    #: Current number of counted answers.
    answers: int
    #: The newest job that computes the report, unless that job is done or cancelled.
    job: Job | None


def available_report(round: Round) -> AvailableReport:
    """Return the agreement of a round: computed now if the round is small, otherwise the stored report."""
    basis = count_inputs(round)
    if basis["answers"] <= (kinds.get(round.kind).answers_at_once or AT_ONCE):
        report = agreement_queries.report(round)
        return AvailableReport(report, timezone.now(), True, report["answers"], None)
    job = Job.objects.filter(project=round.project_id, kind=KIND, params__round=round.pk).order_by("-pk").first()
    job = None if job and job.status in (JobStatus.DONE, JobStatus.CANCELLED) else job
    stored = StoredAgreement.objects.filter(round=round).first()
    # A report of another version has other fields, so it is computed anew before it is shown.
    if stored is None or stored.method != METHOD:
        return AvailableReport(None, None, False, basis["answers"], job)
    current = stored.basis == basis
    # Use the current data of the round, because it may have been closed since then.
    report = json.loads(stored.report) | agreement_queries.heading(round)
    return AvailableReport(report, stored.made_at, current, basis["answers"], job)


def count_inputs(round: Round) -> dict[str, Any]:
    """Return counts of the inputs of a report. The same counts mean the same report.

    Answers of a closed round never change, but its units may get new decisions.
    """
    repeats = Count("pk", filter=Q(assignment__repeat__gt=0))
    answers = (
        counted(round)
        .exclude(assignment__repeat=RETURNED)
        .order_by()
        .aggregate(n=Count("pk"), again=repeats, newest=Max("received_at"))
    )
    basis = {
        "answers": answers["n"] - answers["again"],
        "newest": answers["newest"] and answers["newest"].isoformat(),
    } | ({"repeats": answers["again"]} if answers["again"] else {})
    if not round.meaning.held_against_gold:
        return basis
    decided = Decision.objects.filter(kind=round.kind, unit__in=round.assignments.order_by().values("unit"))
    decision_counts = decided.order_by().aggregate(n=Count("pk"), newest=Max("pk"))
    return basis | {"decisions": decision_counts["n"], "newest_decision": decision_counts["newest"]}


def request_report(*, round: Round, by: User) -> Job:
    """Return the job that computes a round's agreement, and start it if there is none."""
    return jobs.request_job(project=round.project, kind=KIND, params={"round": round.pk}, by=by)[0]


def start_after_closing(*, round: Round) -> None:
    """Start computing the agreement of a large round when it closes, so that its page opens at once."""
    if count_inputs(round)["answers"] <= (kinds.get(round.kind).answers_at_once or AT_ONCE):
        return
    params = {"round": round.pk}
    with batches.batch():
        pending = Job.objects.filter(project=round.project_id, kind=KIND, status__in=ACTIVE)
        if not any(job.params == params for job in pending):
            jobs.enqueue(project=round.project, kind=KIND, params=params, by=None)


def compute_and_store(*, round: Round, progress: Progress) -> dict[str, Any]:
    """Compute a round's agreement and store the report, replacing the stored one."""
    # Read the basis before the answers. The report may include some answers that arrive later, but then it does not
    # count as current.
    basis = count_inputs(round)
    made_at = timezone.now()
    report = agreement_queries.report(round, progress=progress)
    with batches.batch():
        stored, _ = StoredAgreement.objects.update_or_create(
            round=round, defaults={"method": METHOD, "basis": basis, "report": json.dumps(report), "made_at": made_at}
        )
        row_digests.record_completed(StoredAgreement, [stored.pk], by=None, project=round.project_id)
    return {"answers": report["answers"]}
