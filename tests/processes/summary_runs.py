"""`python -m tests.processes.summary_runs NAME JSON`: runs of summarisers in the database of a running site."""

import json
import sys
import time
from typing import Any

import django


def begin(clusters: int = 0, slug: str = "summaries", concurrency: int = 2, run: bool = True, **config: Any) -> int:
    """Create a project with clusters and a version of the staged system, start a run of it, and return the run's id."""
    from generation.runs.actions import start_run
    from projects.models import Project
    from tests.builders import build_cluster
    from tests.generation.workers import staged_version

    project, made = Project.objects.get_or_create(slug=slug, defaults={"name": slug})
    for number in range(clusters if made else 0):
        build_cluster(project, number, inputs=1)
    version = staged_version(project, **config)
    return start_run(version=version, by=None, concurrency=concurrency).pk if run else 0


def begin_tiny(clusters: int, beams: int, length: int) -> int:
    """Like `begin`, with a tiny BART with random weights; each cluster has different texts."""
    from django.conf import settings

    from generation.runs.actions import start_run
    from generation.systems.actions import create_system, make_version
    from projects.models import Project
    from tests.builders import build_cluster
    from tests.generation import tiny_models

    tiny_models.build("bart", settings.MODELS_DIR / "bart")
    project = Project.objects.create(slug="tiny", name="Tiny")
    for number in range(clusters):
        build_cluster(project, number, inputs=1, text=tiny_models.text(number))
    config = {
        "backend": "seq2seq",
        "model": {"model": "bart", "device": "cpu"},
        "decoding": {"beams": beams, "max_length": length, "min_length": length},
    }
    system = create_system(project=project, name="Tiny", by=None)
    return start_run(version=make_version(system=system, config=config, by=None), by=None, concurrency=1).pk


def once_more(run: int) -> int:
    """Start another run of the same version."""
    from generation.models import Run
    from generation.runs.actions import start_run

    return start_run(version=Run.objects.get(pk=run).version, by=None).pk


def texts(run: int, at_least: int) -> dict[str, str]:
    """Return the summaries by unit key as soon as there are ``at_least`` so many."""
    from generation.models import Summary

    found: dict[str, str] = {}
    latest = time.monotonic() + 100
    while len(found) < at_least and time.monotonic() < latest:
        time.sleep(0.02)
        found = dict(Summary.objects.filter(item__run=run).values_list("item__unit__key", "text"))
    return found


def end(run: int = 0, patience: float = 0) -> dict[str, Any]:
    """Wait up to ``patience`` seconds for the end of a run (by default the newest). Return its progress and the keys
    with stored summaries."""
    from generation.models import Run, RunStatus, Summary
    from generation.runs.queries import progress_of

    runs = Run.objects.filter(pk=run) if run else Run.objects.all()[:1]
    latest = time.monotonic() + patience
    while runs.get().status == RunStatus.RUNNING and time.monotonic() < latest:
        time.sleep(0.1)
    found = runs.get()
    progress = progress_of(found)
    stored = Summary.objects.filter(item__run=found).values_list("item__unit__key", flat=True)
    return {
        "state": progress.state,
        "error": progress.error,
        "done": progress.done,
        "failed": progress.failed,
        "waiting": progress.waiting,
        "stored": list(stored),
    }


def main() -> None:
    django.setup()
    verb = {f.__name__: f for f in (begin, begin_tiny, once_more, texts, end)}[sys.argv[1]]
    json.dump(verb(**json.loads(sys.argv[2])), sys.stdout)


if __name__ == "__main__":
    main()
