"""`python -m tests.processes.trainings NAME JSON`: trainings of tiny models in the database of a running site."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import django

PATIENCE = 200.0
SLUG = "trained"


def make() -> None:
    """Create a project with 200 findings, their split and counterfactuals."""
    from django.conf import settings

    from projects.models import Project
    from tests.generation.findings import import_findings

    project = Project.objects.create(slug=SLUG, name="Trained")
    import_findings(project, Path(settings.DATA_DIR) / "findings.jsonl")


def begin(family: str, name: str, **training: Any) -> int:
    """Request a training of a tiny model on the training part, and return its id."""
    from annotation.models import DataSplit
    from generation.training.actions import request_training

    split = DataSplit.objects.select_related("project").get()
    return request_training(
        project=split.project,
        name=name,
        trainer="seq2seq",
        split=split,
        config={
            "version": _version(family),
            "training": training,
            "parts": {"training": "train", "development": "development"},
        },
        by=None,
    ).pk


def _version(family: str) -> dict[str, Any]:
    return {"backend": "seq2seq", "level": "proposition", "seed": 1, "model": {"model": family, "device": "cpu"}}


def state(training: int, patience: float = 0) -> dict[str, Any]:
    """Return a training when it has ended, or after ``patience`` seconds."""
    from generation.models import FineTuning

    latest = time.monotonic() + patience
    while True:
        row = FineTuning.objects.values("state", "error", "checkpoint", "result", "curve", "phases").get(pk=training)
        if row["state"] not in ("queued", "running") or time.monotonic() > latest:
            return dict(row)
        time.sleep(0.1)


def resume(training: int) -> None:
    """Continue a training that failed because its workers were killed too often."""
    from generation.models import FineTuning
    from generation.training import actions

    actions.resume(training=FineTuning.objects.get(pk=training), by=None)


def probe(family: str, training: int) -> list[dict[str, float]]:
    """Probe the base model and the trained version, and return both results."""
    from generation.models import FineTuning, Run, RunStatus, Version
    from generation.runs.actions import start_run
    from generation.systems.actions import create_system, request_version
    from generation.training.actions import use
    from projects.models import Job, Project
    from tests.generation.findings import probed

    project = Project.objects.get(slug=SLUG)
    base = create_system(project=project, name=family, by=None)
    requested = request_version(system=base, config=_version(family), by=None)
    use(training=FineTuning.objects.get(pk=training), system=f"{family}, trained", by=None)
    _until(lambda: not Job.objects.filter(kind="make_version", status__in=("queued", "running")).exists())
    assert requested
    versions = Version.objects.filter(system__project=project, system__name__startswith=family).order_by("pk")
    runs = [start_run(version=version, by=None, purpose="probe").pk for version in versions]
    _until(lambda: not Run.objects.filter(pk__in=runs, status=RunStatus.RUNNING).exists())
    return [probed(Run.objects.get(pk=run)) for run in runs]


def _until(holds: Any) -> None:
    latest = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < latest
        time.sleep(0.1)


def main() -> None:
    django.setup()
    verb = {f.__name__: f for f in (make, begin, state, resume, probe)}[sys.argv[1]]
    json.dump(verb(**json.loads(sys.argv[2])), sys.stdout)


if __name__ == "__main__":
    main()
