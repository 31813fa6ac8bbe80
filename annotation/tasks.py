"""Background work of the corpus: checking and importing uploads."""

from typing import Any

from api.problems import Conflict, Refused
from projects.background import jobs
from projects.background.uploads import path_of, remove_when_done
from projects.models import Import, Project

from .actions.imports import Checked, check_files, import_files, report_of
from .imports.faults import BadFiles
from .imports.reading import Source

#: How many items and notices a preview shows; the report of the import has more notices.
SAMPLE = 3
PREVIEWED = 500


def _source(job: jobs.RunningJob) -> Source:
    path = path_of(job.params["upload"])
    if not path.exists():
        raise Conflict("This upload is no longer kept; upload the file again.")
    return Source.of(path, job.params["name"])


def _project(job: jobs.RunningJob) -> Project:
    if job.project is None:
        raise Refused("An import needs a project.")
    return job.project


def _checked(job: jobs.RunningJob, source: Source) -> Checked:
    return check_files(
        project=_project(job),
        format=job.params["format"],
        level=job.params["level"],
        sources=[source],
        progress=job.paced(),
    )


@jobs.handler("check_import")
def check_import(job: jobs.RunningJob) -> dict[str, Any]:
    """Read an upload and say what an import would bring; changes nothing."""
    source = _source(job)
    checked = _checked(job, source)
    preview: dict[str, Any] = {
        "file": source.name,
        "sha256": source.sha256,
        "size": source.size,
        "format": job.params["format"],
        "level": job.params["level"],
        "known": checked.known[0][1].pk if checked.known else None,
        "faults": {"total": checked.faults.total, "listed": [f.as_json() for f in checked.faults]},
        "counts": {},
        "values": {},
        "totals": {},
        "notices": [],
        "sample": [],
    }
    for _, parsed in checked.parsed:
        report = report_of(parsed, job.paced())
        preview |= {"level": parsed.level, "counts": parsed.counts(), "values": report["values"]}
        preview |= {
            "totals": report["totals"],
            "notices": report["notices"][:PREVIEWED],
            "sample": parsed.sample(SAMPLE),
        }
    return preview


@jobs.handler("import", ended=remove_when_done)
def import_upload(job: jobs.RunningJob) -> dict[str, Any]:
    """Import an upload. A second attempt after the worker died finds the import done, or nothing of it."""
    source = _source(job)
    checked = _checked(job, source)
    if checked.faults:
        raise BadFiles(checked.faults)
    made = import_files(
        project=_project(job), format=job.params["format"], checked=checked, by=job.by, progress=job.paced()
    )  # fmt: skip
    imported: Import = made[0] if made else checked.known[0][1]
    return {"import": imported.pk, "known": not made, "counts": imported.counts, "totals": imported.report["totals"]}
