"""What the page of machine readings shows: tasks, folders, and the readings of each model."""

from typing import Any

from django.db.models import Count, Max

from annotation.models import MachineReading, ReadingTask
from projects.jobs.queries import job_summary, pending_job
from projects.models import Project

from ..backends import weights
from ..backends.protocol import BackendError
from . import tasks, texts
from .actions import FORMAT, KIND, WITHDRAWAL

Json = dict[str, Any]


def page(project: Project) -> Json:
    """Return the tasks, the folders of models on this server, what models have read, and unfinished jobs."""
    return {
        "tasks": [
            {"key": task.value, "title": task.label, "takes_evidence": tasks.takes_evidence(task)}
            for task in ReadingTask
        ],
        "folders": weights.local_folders(),
        "models": _models(project),
        **job_summary(project, KIND),
        "withdrawal": pending_job(project, WITHDRAWAL),
    }


def _models(project: Project) -> list[Any]:
    rows = MachineReading.objects.filter(imported__project=project, imported__format=FORMAT).order_by()
    counted = rows.values("task", "model", "weights").annotate(
        readings=Count("pk"), newest=Max("pk"), read_at=Max("imported__created_at")
    )
    return list(counted.order_by("-newest"))


def check(project: Project, task: str, model: str, evidence: str) -> Json:
    """Return what the labels of a folder mean, or why the task cannot use them, and the number of its texts.

    No model is loaded.
    """
    found = {"problem": "", "head": "", "labels": [], "texts": sum(of.count() for _, of in texts.texts(project, task))}
    try:
        reader = tasks.of(task, model, evidence)
    except BackendError as error:
        return found | {"problem": str(error)}
    labels = [
        {"folder": folder, "name": label, "meaning": meaning}
        for folder, meanings in reader.meanings().items()
        for label, meaning in meanings
    ]
    return found | {"head": reader.head.kind, "labels": labels}
