"""Check the consistency of current values in a job, store the findings, and record how curators resolve them."""

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from tempfile import SpooledTemporaryFile
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import User
from api.problems import Conflict, Refused
from audit.log import record
from measures.consistency import RULES, Cluster, order
from measures.consistency import Finding as FindingValue
from measures.consistency import findings as check
from projects.jobs import batches, jobs
from projects.jobs.batches import Progress, silent
from projects.models import Job, JobStatus, Member, Project, Unit
from projects.staleness.actions import doubt

from ..models import ConsistencyCheck, Finding
from . import findings, reading

KIND = "consistency"
_RULES = {rule.key: rule for rule in RULES}
#: Fields that can change when a finding is found again.
_CHANGING = ("reason", "weight", "is_information", "position")


#: Bytes of findings kept in memory before they are written to a temporary file.
IN_MEMORY = 1 << 20


class SortedFindings:
    """Any number of findings in constant memory, sorted by `measures.consistency.order`.

    Equal findings keep their order.
    """

    def __init__(self, findings: Iterable[FindingValue]) -> None:
        self._file = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - it lasts as long as the findings
        self._starts, self._rules, self._information = array("q"), array("b"), array("b")
        self._weights = array("d")
        for finding in findings:
            self._add(finding)

    def _add(self, finding: FindingValue) -> None:
        rule, is_information, weight = order(finding)
        self._starts.append(self._file.tell())
        self._rules.append(rule)
        self._information.append(is_information)
        self._weights.append(weight)
        parts = (finding.rule, finding.units, finding.reason, finding.rests_on, finding.weight, finding.is_information)
        self._file.write(json.dumps(parts).encode() + b"\n")

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[FindingValue]:
        for index in np.lexsort((self._weights, self._information, self._rules)).tolist():
            self._file.seek(self._starts[index])
            rule, units, reason, rests_on, weight, is_information = json.loads(self._file.readline())
            yield FindingValue(rule, tuple(units), reason, tuple(rests_on), weight, is_information)


def queue_check(*, project: Project, by: User) -> Job:
    """Queue a check of the corpus."""
    return jobs.request_job(project=project, kind=KIND, params={}, by=by)[0]


def queue_check_after_import(*, project: Project, by: User | None) -> None:
    """Queue a check after an import, unless one is queued already."""
    waits = Job.objects.filter(project=project, kind=KIND, status=JobStatus.QUEUED)
    if not waits.exists():
        with batches.batch():
            jobs.enqueue(project=project, kind=KIND, params={}, by=by)


def find_inconsistencies(project: Project, progress: Progress = silent) -> tuple[SortedFindings, Mapping[str, int]]:
    """Return the current findings in the order of the rules, and unit ids by the unit keys in the findings.

    Nothing is written. Neither the corpus nor the findings are held in memory completely.
    """
    corpus = reading.Corpus(project)
    total = corpus.count()

    def batches() -> Iterator[list[Cluster]]:
        checked = 0
        for batch in corpus.batches():
            yield batch
            checked += len(batch)
            progress(checked, total, "checking the corpus")

    return SortedFindings(check(batches(), corpus.again, progress)), corpus.units


def store_findings(
    *, project: Project, sorted_findings: Iterable[FindingValue], units: Mapping[str, int]
) -> dict[str, int]:
    """Store the findings of `find_inconsistencies` and withdraw earlier findings that were not found again.

    Resolutions are kept. New findings are stored hidden in short transactions. The last transaction shows them and
    withdraws the others.
    """
    ids, hidden, new = array("q"), array("q"), 0
    positions = enumerate(sorted_findings)
    while chunk := list(islice(positions, findings.ROWS)):
        by_identity = {findings.identity_of(finding, units): (position, finding) for position, finding in chunk}
        with batches.batch():
            # Of two concurrent checks, the second waits here and then sees the findings of the first.
            Project.objects.select_for_update(no_key=True).get(pk=project.pk)
            added = _store(project, by_identity, units, ids, hidden)
        new += added
    with batches.batch():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        current = Finding.objects.of(project).order_by().values_list("pk", flat=True).iterator()
        withdrawn = np.setdiff1d(np.fromiter(current, dtype=np.int64), ids).tolist()
        _set_current(project, withdrawn, False)
        _set_current(project, sorted(hidden), True)
        ConsistencyCheck.objects.update_or_create(project=project, defaults={"at": timezone.now()})
    return {"findings": len(np.unique(ids)), "new": new, "gone": len(withdrawn)}


def _store(
    project: Project,
    by_identity: Mapping[str, tuple[int, FindingValue]],
    units: Mapping[str, int],
    ids: "array[int]",
    hidden: "array[int]",
) -> int:
    """Store new findings and changes of known ones, and return the number of new findings.

    The ids of all findings are added to ``mine``, and the ids of findings that are not current to ``hidden``.
    """
    columns = ("pk", "identity", "is_current", *_CHANGING)
    stored = Finding.objects.filter(project=project, identity__in=by_identity).order_by().values_list(*columns)
    changed, new = [], dict(by_identity)
    for pk, identity, is_current, *before in stored:
        position, finding = new.pop(identity)
        values = dict(zip(_CHANGING, (finding.reason, finding.weight, finding.is_information, position), strict=True))
        ids.append(pk)
        if not is_current:
            hidden.append(pk)
        if list(values.values()) != before:
            changed.append(Finding(pk=pk, **values))
    Finding.objects.bulk_update(changed, _CHANGING)
    rows = [(position, identity, finding) for identity, (position, finding) in new.items()]
    added = findings.insert(project, rows, units, is_current=False)
    ids.extend(added)
    hidden.extend(added)
    return len(added)


def _set_current(project: Project, ids: Sequence[int], is_current: bool) -> None:
    """Set whether findings are current.

    ``ids`` must be sorted. A long run of consecutive ids takes one statement.
    """
    breaks = [n for n in range(1, len(ids)) if ids[n] != ids[n - 1] + 1]
    single: list[int] = []
    for start, stop in pairwise([0, *breaks, len(ids)] if ids else []):
        if stop - start < findings.ROWS:
            single += ids[start:stop]
        else:
            within = Finding.objects.filter(project=project, pk__range=(ids[start], ids[stop - 1]))
            within.update(is_current=is_current)
    for at in range(0, len(single), findings.ROWS):
        Finding.objects.filter(pk__in=single[at : at + findings.ROWS]).update(is_current=is_current)


def dismiss(*, finding: Finding, reason: str, by: Member) -> Finding:
    """Dismiss a finding. It is hidden unless dismissed findings are requested."""
    return _resolve(finding, Finding.Decision.DISMISSED, reason, by, verb="dismiss finding")


def dismiss_all(*, findings: Iterable[Finding], reason: str, by: Member) -> None:
    """Dismiss all of these findings or none. They are locked in the order given, so sort them alike everywhere."""
    with transaction.atomic():
        for finding in findings:
            dismiss(finding=finding, reason=reason, by=by)


def send_to_review(*, finding: Finding, reason: str, by: Member) -> Finding:
    """Mark the values in doubt as stale, with the finding as the reason.

    They appear under *Needs review*, and in the queue of the closed round that decided them.
    """
    kind = _RULES[finding.rule].kind
    if not kind:
        raise Refused.field(
            "finding",
            "This finding doubts no label, so it cannot be sent to review. Correct the value on the "
            "curation page, or dismiss it.",
        )
    with transaction.atomic():
        _resolve(finding, Finding.Decision.SENT, reason, by, verb="send finding to review")
        units = list(Unit.objects.filter(findings__finding=finding, superseded_by=None).order_by("pk"))
        why = f"{finding.reason} {finding.decision_reason}".strip()
        if not doubt(units=units, kind=kind, reason=why, by=by):
            raise Conflict("These units have no current value to review. Reload the page.")
    return finding


def reopen(*, finding: Finding, reason: str, by: Member) -> Finding:
    """Reopen a dismissed finding."""
    with transaction.atomic():
        _update_if_open(
            finding,
            Finding.objects.filter(decision=Finding.Decision.DISMISSED),
            decision="",
            decision_reason="",
            decided_by=None,
            decided_at=None,
        )
        _record(finding, "reopen finding", reason, by)
    return finding


def _resolve(finding: Finding, decision: str, reason: str, by: Member, *, verb: str) -> Finding:
    reason = reason.strip()
    if not reason:
        raise Refused.field("reason", "Give a reason.")
    with transaction.atomic():
        waiting = Finding.objects.waiting().filter(is_current=True)
        _update_if_open(
            finding, waiting, decision=decision, decision_reason=reason, decided_by=by.user, decided_at=timezone.now()
        )
        _record(finding, verb, reason, by)
    return finding


def _update_if_open(finding: Finding, rows: QuerySet[Finding], **fields: Any) -> None:
    """Update the finding only if it is still in ``rows``. Raise `Conflict` if another curator was faster."""
    if not rows.filter(pk=finding.pk).update(**fields):
        raise Conflict("Another curator has just resolved this finding. Reload the page to see the result.")
    finding.refresh_from_db()


def _record(finding: Finding, verb: str, reason: str, by: Member) -> None:
    units = list(finding.named.values_list("unit", flat=True))
    record(
        actor=by.user,
        verb=verb,
        object_type="unit",
        object_id=units[0],
        project_id=finding.project_id,
        reason=reason,
        after={"finding": finding.pk, "rule": finding.rule, "units": units},
    )
