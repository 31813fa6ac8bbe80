"""The agreement of a round: measured at once where it is small; of a large one a worker measures it, and it is kept
(docs/decisions/0025-large-rounds.md)."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Q
from django.utils import timezone

from accounts.models import User

from ..background import batches, jobs
from ..background.waiting import ACTIVE
from ..models import Decision, Job, JobStatus, KeptAgreement, Round
from ..rounds import agreement
from ..rounds.counted import counted

#: Counted answers of a round that is measured in the request: under a second.
AT_ONCE = 5_000
#: The rule by which reports are measured. Give it the next number whenever it gives other figures, or more of them:
#: what was kept under another name is measured anew (tests/projects/test_kept_agreement.py holds a report against it).
METHOD = "agreement 1, 2,000 replicates"
REPLICATES = 2_000
KIND = "agreement"
Progress = Callable[[int, int | None, str], None]


@dataclass(frozen=True)
class Found:
    """What can be said of a round's agreement now."""

    #: None: it is large, and no worker has measured it yet.
    report: dict[str, Any] | None
    #: When the report was measured.
    as_of: datetime | None
    #: Whether measuring it now would give the same.
    current: bool
    #: Counted answers by now.
    answers: int
    #: The newest job that measures it, where that has not ended well.
    job: Job | None


def of_round(round: Round) -> Found:
    """The agreement of a round: measured now where it is small, else as it was kept."""
    basis = basis_of(round)
    if basis["answers"] <= AT_ONCE:
        report = agreement.report(round, bootstrap=REPLICATES)
        return Found(report, timezone.now(), True, report["answers"], None)
    job = Job.objects.filter(project=round.project_id, kind=KIND, params__round=round.pk).order_by("-pk").first()
    job = None if job and job.status in (JobStatus.DONE, JobStatus.CANCELLED) else job
    kept = KeptAgreement.objects.filter(round=round).first()
    if kept is None:
        return Found(None, None, False, basis["answers"], job)
    current = (kept.method, kept.basis) == (METHOD, basis)
    # The round's own words as they are now: it may have been closed since.
    report = json.loads(kept.report) | agreement.heading(round)
    return Found(report, kept.made_at, current, basis["answers"], job)


def basis_of(round: Round) -> dict[str, Any]:
    """What a report rests on, counted: it is the same while this is. Answers of a closed round never change; what
    counts as gold may be decided anew."""
    again = Count("pk", filter=Q(assignment__repeat__gt=0))
    answers = counted(round).order_by().aggregate(n=Count("pk"), again=again, newest=Max("received_at"))
    basis = {
        "answers": answers["n"] - answers["again"],
        "newest": answers["newest"] and answers["newest"].isoformat(),
    } | ({"repeats": answers["again"]} if answers["again"] else {})
    if not round.meaning.held_against_gold:
        return basis
    decided = Decision.objects.filter(kind=round.kind, unit__in=round.assignments.order_by().values("unit"))
    found = decided.order_by().aggregate(n=Count("pk"), newest=Max("pk"))
    return basis | {"decisions": found["n"], "newest_decision": found["newest"]}


def ask(*, round: Round, by: User) -> Job:
    """Have a worker measure a round's agreement."""
    return jobs.ask(project=round.project, kind=KIND, params={"round": round.pk}, by=by)[0]


def after_closing(*, round: Round) -> None:
    """A large round is measured when it closes, so that its page opens at once."""
    if basis_of(round)["answers"] <= AT_ONCE:
        return
    params = {"round": round.pk}
    with batches.batch():
        waits = Job.objects.filter(project=round.project_id, kind=KIND, status__in=ACTIVE)
        if not any(job.params == params for job in waits):
            jobs.enqueue(project=round.project, kind=KIND, params=params, by=None)


def measure(*, round: Round, progress: Progress) -> dict[str, Any]:
    """Measure a round's agreement and keep it, in the place of what was kept before."""
    # Before anything is read: of what comes meanwhile the report may have some, and does not count as current.
    basis = basis_of(round)
    made_at = timezone.now()
    report = agreement.report(round, bootstrap=REPLICATES, progress=progress)
    with batches.batch():
        KeptAgreement.objects.update_or_create(
            round=round,
            defaults={"method": METHOD, "basis": basis, "report": json.dumps(report), "made_at": made_at},
        )
    return {"answers": report["answers"]}
