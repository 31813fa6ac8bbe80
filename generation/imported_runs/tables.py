"""Runs of systems whose summaries are in a table with which a corpus was imported."""

from pathlib import Path
from typing import Any

from accounts.models import User
from api.problems import Refused
from projects.jobs import batches
from projects.jobs.batches import Progress, silent
from projects.models import Job, JobStatus, Project

from ..models import Run, System
from ..runs.actions import start_run
from ..systems.actions import create_system, make_version
from .actions import IMPORTED, available_names, keep_outputs

#: Kind of the jobs that make a run of a column.
KIND = "import_outputs"


def bring_outputs(
    *, project: Project, level: str, system: str, path: Path, name: str, by: User | None, progress: Progress = silent
) -> Run:
    """Store a file of outputs, create its system and version, and start the run.

    A system that generates on this server keeps its name; the outputs get another. Idempotent: the run of the same
    outputs is returned.
    """
    checked = keep_outputs(project=project, level=level, path=path, name=name, by=by, progress=progress)
    if checked.faults:
        raise Refused(str(next(iter(checked.faults))))
    if system not in available_names(project, {system}):
        system = f"{system} (imported)"
    with batches.batch():
        row = System.objects.filter(project=project, name=system).first()
        row = row or create_system(project=project, name=system, description=name, by=by)
    model = {"file": checked.about.sha256, "name": name, "made_by": system}
    version = make_version(system=row, config={"backend": IMPORTED, "level": level, "model": model}, by=by)
    with batches.batch():
        return version.runs.order_by("pk").first() or start_run(version=version, by=by)


def unfinished_imports(project: Project) -> list[dict[str, Any]]:
    """Return the system and job of each column of summaries that has no run yet, oldest first.

    A failed job is left out when a lead has dismissed it.
    """
    jobs = Job.objects.filter(project=project, kind=KIND, is_dismissed=False)
    rows = jobs.exclude(status__in=(JobStatus.DONE, JobStatus.CANCELLED)).order_by("pk").prefetch_related("problems")
    return [{"system": job.params["system"], "job": job} for job in rows]
