"""The consistency of what is in force: checked as a job, kept, and answered by a curator."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import User
from api.problems import Conflict, Refused
from audit.log import record
from measures.consistency import RULES, check
from measures.consistency import Finding as Found
from projects.actions.doubts import doubt
from projects.background import batches, jobs
from projects.background.progress import Progress, silent
from projects.models import Job, JobStatus, Member, Project, Unit

from ..models import ConsistencyCheck, Finding, FindingUnit
from ..values import consistency as reading

KIND = "consistency"
_RULES = {rule.key: rule for rule in RULES}
#: Rows written in one statement.
ROWS = 500


def ask(*, project: Project, by: User) -> Job:
    """Have a worker check the corpus."""
    return jobs.ask(project=project, kind=KIND, params={}, by=by)[0]


def after_import(*, project: Project, by: User | None) -> None:
    """What was brought in is checked once a worker has time; where a check waits already, that one sees it."""
    waits = Job.objects.filter(project=project, kind=KIND, status=JobStatus.QUEUED)
    if not waits.exists():
        with batches.batch():
            jobs.enqueue(project=project, kind=KIND, params={}, by=by)


def find(project: Project, progress: Progress = silent) -> tuple[list[Found], dict[str, int]]:
    """What the rules find now, in the order of the rules, and the ids of units by the keys in it. Writes nothing."""
    clusters, units = reading.read(project, lambda done: progress(done, None, "reading the corpus"))
    return list(check(clusters, progress)), units


def keep(*, project: Project, found: Sequence[Found], units: Mapping[str, int]) -> dict[str, int]:
    """Keep what `find` found in the place of what was found before. What was said to a finding stays."""
    now = timezone.now()
    by_identity = {_identity(one, units): (n, one) for n, one in enumerate(found)}
    with batches.batch():
        # Of two checks at once the second waits here, and finds what the first has kept.
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        before = {f.identity: f for f in Finding.objects.filter(project=project)}
        gone = [f.pk for f in before.values() if f.is_current and f.identity not in by_identity]
        for some in _some(gone):
            Finding.objects.filter(pk__in=some).update(is_current=False)
        again: list[Finding] = []
        new: list[Finding] = []
        for identity, (position, one) in by_identity.items():
            row = before.get(identity) or Finding(project=project, identity=identity, found_at=now, rule=one.rule)
            row.reason, row.weight, row.is_information = one.reason, one.weight, one.is_information
            row.position, row.is_current = position, True
            (again if row.pk else new).append(row)
        Finding.objects.bulk_create(new, batch_size=ROWS)
        FindingUnit.objects.bulk_create(
            (
                FindingUnit(finding=row, unit_id=unit, position=n)
                for row in new
                for n, unit in enumerate(_named(by_identity[row.identity][1], units))
            ),
            batch_size=ROWS,
        )
        Finding.objects.bulk_update(
            again, ["reason", "weight", "is_information", "position", "is_current"], batch_size=ROWS
        )
        ConsistencyCheck.objects.update_or_create(project=project, defaults={"at": now})
    return {"findings": len(by_identity), "new": len(new), "gone": len(gone)}


def _named(found: Found, units: Mapping[str, int]) -> list[int]:
    """The ids of the units that it names, each once, the first of them first."""
    return list(dict.fromkeys(units[key] for key in found.units))


def _identity(found: Found, units: Mapping[str, int]) -> str:
    parts = [found.rule, *map(str, sorted(_named(found, units))), *found.rests_on]
    return sha256("\0".join(parts).encode()).hexdigest()


def _some(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    for at in range(0, len(ids), ROWS):
        yield ids[at : at + ROWS]


def dismiss(*, finding: Finding, reason: str, by: Member) -> Finding:
    """It is meant so. The same finding is not shown again unless asked for."""
    return _say(finding, Finding.Said.DISMISSED, reason, by, verb="dismiss finding")


def send_to_review(*, finding: Finding, reason: str, by: Member) -> Finding:
    """The values that it doubts wait to be confirmed or decided anew, with the finding as the reason: under *Needs
    review*, and in the queue of the closed round that decided them."""
    kind = _RULES[finding.rule].kind
    if not kind:
        raise Refused.field("finding", "No label is in doubt here: correct it on the review's page, or dismiss it.")
    with transaction.atomic():
        _say(finding, Finding.Said.SENT, reason, by, verb="send finding to review")
        units = list(Unit.objects.filter(findings__finding=finding, superseded_by=None).order_by("pk"))
        why = f"{finding.reason} {finding.because}".strip()
        if not doubt(units=units, kind=kind, reason=why, by=by):
            raise Conflict("Nothing is in force that could be looked at again.")
    return finding


def reopen(*, finding: Finding, reason: str, by: Member) -> Finding:
    """What was dismissed waits again."""
    with transaction.atomic():
        _move(
            finding,
            Finding.objects.filter(said=Finding.Said.DISMISSED),
            said="",
            because="",
            said_by=None,
            said_at=None,
        )
        _record(finding, "reopen finding", reason, by)
    return finding


def _say(finding: Finding, said: str, reason: str, by: Member, *, verb: str) -> Finding:
    reason = reason.strip()
    if not reason:
        raise Refused.field("reason", "Say why, for whoever reads it later.")
    with transaction.atomic():
        waiting = Finding.objects.waiting().filter(is_current=True)
        _move(finding, waiting, said=said, because=reason, said_by=by.user, said_at=timezone.now())
        _record(finding, verb, reason, by)
    return finding


def _move(finding: Finding, rows: QuerySet[Finding], **fields: Any) -> None:
    """Compare-and-set: of two curators at one finding the second is told."""
    if not rows.filter(pk=finding.pk).update(**fields):
        raise Conflict("Someone else has answered this finding a moment ago. Reload the page to see it.")
    finding.refresh_from_db()


def _record(finding: Finding, verb: str, reason: str, by: Member) -> None:
    units = list(finding.named.values_list("unit", flat=True))
    record(
        actor=by.user, verb=verb, object_type="unit", object_id=units[0], project_id=finding.project_id,
        reason=reason, after={"finding": finding.pk, "rule": finding.rule, "units": units},
    )  # fmt: skip
