"""Withdraw an import that is arriving: remove its rows in batches, those that refer to others first."""

from collections.abc import Iterator

from django.db.models import Model, QuerySet

from accounts.models import User
from api.problems import Conflict
from audit.log import record
from projects.jobs import batches, jobs
from projects.jobs.batches import Progress, silent
from projects.models import Import, ImportedRecord, ImportFile, ImportState, ImportWarning, Job, JobStatus, Unit

from ..models import (
    Cluster,
    ColumnValues,
    Effect,
    EffectPair,
    ImportedMapping,
    Inclusion,
    Input,
    MachineReading,
    Passage,
    PicoElement,
    PicoFragment,
    Proposition,
    Question,
    QuestionText,
    Review,
    Study,
    Target,
    WrittenSummary,
)

KIND = "withdraw_import"
#: Number of rows removed in a transaction.
BATCH = 2_000
#: The order of removal, and the path from each model to its import.
ORDER: tuple[tuple[type[Model], str], ...] = (
    (Effect, "reading__imported"),
    (EffectPair, "imported"),
    (MachineReading, "imported"),
    (PicoFragment, "element__cluster__imported"),
    (PicoElement, "cluster__imported"),
    (Proposition, "cluster__imported"),
    (Cluster, "imported"),
    (Input, "target__imported"),
    (Target, "imported"),
    (Inclusion, "imported"),
    (Study, "imported"),
    (Review, "imported"),
    (WrittenSummary, "imported"),
    (QuestionText, "imported"),
    (Passage, "imported"),
    (Question, "imported"),
    (ColumnValues, "imported"),
    (ImportedMapping, "imported"),
    (Unit, "imported"),
    (ImportedRecord, "imported"),
    (ImportWarning, "imported"),
    (ImportFile, "imported"),
)


def withdraw(imported: Import, *, by: User | None, reason: str, progress: Progress = silent) -> None:
    """Remove all rows of an import that is arriving, and the import. A second attempt removes the rest.

    Raise `Conflict` if its labels and decisions are being written, because these cannot be removed.
    """
    with batches.batch():
        mine = Import.objects.filter(pk=imported.pk, state=ImportState.ARRIVING)
        stored = mine.select_for_update().values_list("progress", flat=True).first()
        refuse_finishing(stored)
        assert stored
        # From now on a process that writes the import does not find its number of batches.
        mine.update(progress={"phase": "withdrawing", "rows": stored["rows"], "batches": 0})
    done = 0
    for rows in _batches(imported):
        with batches.batch():
            done += rows._raw_delete(rows.db)
        progress(min(done, stored["rows"]), stored["rows"], "withdrawing")
    with batches.batch():
        record(
            actor=by,
            verb="withdraw import",
            obj=imported,
            project_id=imported.project_id,
            reason=reason,
            after={"format": imported.format, "file": imported.file_name, "sha256": imported.sha256},
        )
        Import.objects.filter(pk=imported.pk).delete()


def refuse_finishing(progress: dict[str, object] | None) -> None:
    """Raise `Conflict` if an import with this progress cannot be withdrawn."""
    if progress is None:
        raise Conflict("This import is complete, so it cannot be withdrawn.")
    if progress["phase"] == "finishing":
        raise Conflict("The labels of this import are being written, so it can no longer be withdrawn.")


def _batches(imported: Import) -> Iterator[QuerySet[Model]]:
    for model, path in ORDER:
        rows = model._base_manager.filter(**{path: imported}).order_by("pk")
        while ids := list(rows.values_list("pk", flat=True)[:BATCH]):
            yield model._base_manager.filter(pk__in=ids)


def request_withdrawal(imported: Import, *, by: User | None) -> Job | None:
    """Withdraw an import. If a job writes it, cancel the job first; the withdrawal follows when it has ended.

    Return the job that withdraws the import, or None if it follows. Raise `Conflict` if it cannot be withdrawn.
    """
    refuse_finishing(imported.progress if imported.state == ImportState.ARRIVING else None)
    writing = imported.job
    if writing and writing.kind != KIND and writing.status in (JobStatus.QUEUED, JobStatus.RUNNING):
        jobs.cancel(writing)
        return None
    return enqueue_withdrawal(imported, by=by, reason="")


def enqueue_withdrawal(imported: Import, *, by: User | None, reason: str) -> Job:
    """Queue the job that withdraws an import, once."""
    unfinished = Job.objects.filter(project=imported.project_id, kind=KIND, params__withdraw=imported.pk)
    if job := unfinished.filter(status__in=(JobStatus.QUEUED, JobStatus.RUNNING)).first():
        return job
    params = {"withdraw": imported.pk, "reason": reason}
    return jobs.enqueue(project=imported.project, kind=KIND, params=params, by=by)
