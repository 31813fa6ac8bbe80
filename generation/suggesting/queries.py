"""What the form for new suggestions offers, and the job that makes them."""

from typing import Any

from annotation.models import MachineReading, ReadingTask
from projects import kinds
from projects.jobs.queries import job_summary
from projects.models import Import, Member, Project

from ..backends import weights
from ..permissions import sees_endpoints
from ..project_endpoints.queries import rows as endpoint_rows
from .actions import KIND
from .forms import FORMS

Json = dict[str, Any]
#: Task of the machine readings that can be adopted, by kind.
READINGS = {"sentences": ReadingTask.SENTENCES, "entity": ReadingTask.PIO}


def choices(project: Project, member: Member) -> Json:
    """Return tasks with their options, readings, folders and endpoints, and the newest job. Endpoints are left out for
    members who may not see them now.
    """
    return {
        "tasks": [
            {"key": key, "title": kinds.get(key).title, "options": kinds.get(key).options_of(project)} for key in FORMS
        ],
        "readings": _readings(project),
        "folders": weights.local_folders(),
        "endpoints": endpoint_rows(project) if sees_endpoints(member) else [],
        **job_summary(project, KIND),
    }


def _readings(project: Project) -> list[Json]:
    """Return the imports with machine readings that a task can adopt. Two queries for each task."""
    found = []
    for kind, task in READINGS.items():
        imports = MachineReading.objects.filter(imported__project=project, task=task).order_by().values("imported")
        found += [
            {"kind": kind, "imported": one.pk, "name": one.file_name}
            for one in Import.objects.filter(pk__in=imports.distinct()).order_by("-pk")
        ]
    return found
