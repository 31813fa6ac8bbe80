"""Uploads of published data sets from a browser."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from accounts.models import User
from api.problems import Conflict
from measures.unit_names import unit_name
from projects.jobs import jobs
from projects.models import Import, ImportState, Job, JobStatus, Project
from projects.uploads import Brought, Found, Json, Upload, files
from projects.uploads.faults import BadFiles
from projects.uploads.upload import HOW

from ..consistency import actions as consistency_actions
from .actions import Checked, check_files, format_by_key, import_files, parse_mapping, report_of, summarise_notices
from .licences import Licence, state_licence, stated_licence
from .withdrawal import enqueue_withdrawal
from .writing import FINISHING, UNFINISHED, digest_of_set

#: Number of items and notices in a preview; the report of the import has more notices.
SAMPLE = 3
PREVIEWED = 500
#: Keys of the questions that any format may ask, as named in forms and commands.
QUESTION_KEYS = ("topic", "review", "columns")


class CorpusUpload(Upload):
    """Import all rows of a file or none. Unusual values become notices and are imported unchanged."""

    key = "corpus"
    checks = "check_import"
    writes = "import"

    def accept(self, project: Project, params: Json) -> Json:
        reader = (
            format_by_key(params["format"])
            .mapped(parse_mapping(params["map"].splitlines()))
            .with_answers(_answers_to_questions(params))
        )
        reader.refuse_misplaced(params["level"], _answers_to_questions(params))
        _licence_of(params)
        return params

    def joins(self, params: Json) -> bool:
        return format_by_key(params["format"]).joins

    def unfit(self, found: Json) -> str:
        # The file is kept: people change the roles of its columns and check it again.
        return "" if format_by_key(found["format"]).needs_columns else super().unfit(found)

    def bind(self, found: Json) -> Json:
        if found.get("needs_columns"):
            raise Conflict("Confirm the roles of the columns, then check the file with them.")
        if why := super().unfit(found):
            raise Conflict(why)
        return {"sha256": found["sha256"]}

    def check(self, brought: Brought) -> Found:
        reader = format_by_key(brought.params["format"])
        # Its columns have no roles yet. The page asks for them.
        needs_columns = reader.needs_columns and not brought.params.get("columns")
        checked = Checked() if needs_columns else _check(brought)
        source = brought.source
        preview: dict[str, Any] = {
            "file": source.name,
            "others": [other.name for other in brought.sources[1:]],
            "sha256": digest_of_set(brought.sources),
            "size": sum(each.size for each in brought.sources),
            "format": brought.params["format"],
            "level": brought.params["level"],
            "known": checked.known[0].imported.pk if checked.known and not checked.sources else None,
            "counts": {},
            "values": {},
            "totals": {},
            "notices": [],
            "sample": [],
            "needs_columns": needs_columns,
        }
        for known in checked.known:
            preview |= summarise_notices(known.differing[:PREVIEWED])
        if checked.parsed:
            preview["counts"] = reader.counted([parsed for _, parsed in checked.parsed])
        for _, parsed in checked.parsed:
            report = report_of(parsed, brought.progress)
            preview |= {
                "level": parsed.level,
                "values": preview["values"] | report["values"],
                "totals": _sum_counts(preview["totals"], report["totals"]),
                "notices": [*preview["notices"], *report["notices"]][:PREVIEWED],
                "sample": preview["sample"] or parsed.sample(SAMPLE),
            }
        preview["notices"] = [notice | {"item_name": unit_name(notice["item"])} for notice in preview["notices"]]
        return Found(checked.faults, preview)

    def write(self, brought: Brought) -> Json:
        """Import the file. If the worker died, a second attempt continues, or finds the import complete."""
        # A file of the server's import folder is not copied.
        if brought.params.get("sha256", "") not in ("", digest_of_set(brought.sources)):
            raise Conflict("The file was changed after the check. Check it again.")
        # A format that is read record by record is checked while it is written.
        checked = _check(brought, preview=False)
        if checked.faults:
            raise BadFiles(checked.faults)
        written: Sequence[Import] = import_files(
            project=brought.project,
            format=brought.params["format"],
            checked=checked,
            by=brought.by,
            progress=brought.progress,
            job=brought.job.job.pk,
        )
        imported = written[0] if written else checked.known[0].imported
        if licence := _licence_of(brought.params):
            for each in written or [imported]:
                state_licence(each, licence, by=brought.by)
        if imported.counts.get("clusters"):
            consistency_actions.queue_check_after_import(project=brought.project, by=brought.by)
        return {
            "import": imported.pk,
            "known": not written,
            "counts": imported.counts,
            "totals": imported.report["totals"],
        }

    def ended(self, job: Job) -> None:
        """Withdraw an import that was not completed. Leave one that can only be continued (`request_continuation`)."""
        super().ended(job)
        for imported in Import.objects.filter(job=job, state=ImportState.ARRIVING):
            if imported.progress["phase"] != FINISHING:
                enqueue_withdrawal(imported, by=job.created_by, reason=job.error or HOW[JobStatus(job.status)])


def request_continuation(imported: Import, *, by: User) -> Job:
    """Queue the job again that writes the labels of a stopped import. Raise `Conflict` if it cannot be continued."""
    stopped = imported.job
    if imported.progress.get("phase") != FINISHING or stopped is None or stopped.status in UNFINISHED:
        raise Conflict("This import has not stopped while its labels were written, so it cannot be continued.")
    if not all(files.path_of(token).exists() for token in files.tokens_of(stopped.params)):
        raise Conflict("The server no longer has the files of this import. Import the same files again to continue it.")
    with transaction.atomic():
        job, _ = jobs.request_job(project=imported.project, kind=stopped.kind, params=stopped.params, by=by)
        Import.objects.filter(pk=imported.pk, job=stopped).update(job=job)
    return job


def _check(brought: Brought, *, preview: bool = True) -> Checked:
    checked = check_files(
        project=brought.project,
        format=brought.params["format"],
        level=brought.params["level"],
        sources=brought.sources,
        progress=brought.progress,
        mapping=parse_mapping(brought.params.get("map", "").splitlines()),
        about=_answers_to_questions(brought.params),
        preview=preview,
    )
    # Importing the others would silently create a set without these files.
    for known in checked.known if checked.sources else ():
        checked.faults.add(known.source.name, 0, "file", "this file was already imported; leave it out")
    return checked


def _licence_of(params: Mapping[str, Any]) -> Licence | None:
    """Return the licence that the person states; None if they leave that of the format. Raise `Refused`."""
    licence = stated_licence(params.get("licence") or "", params.get("redistribution") or "")
    return licence if licence != Licence() else None


def _sum_counts(counts: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    return {key: counts.get(key, 0) + more.get(key, 0) for key in {**counts, **more}}


def _answers_to_questions(params: Mapping[str, Any]) -> dict[str, str]:
    """Return the given answers to questions of formats."""
    return {key: str(params[key]) for key in QUESTION_KEYS if params.get(key)}
