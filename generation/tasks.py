"""Background work of generation."""

from typing import Any

from projects.background import jobs

from .actions import chunks, lanes, reckoning, scores, systems
from .models import Run, System


@jobs.handler("make_version", told=("New version of a system", "systems"))
def make_version(job: jobs.RunningJob) -> dict[str, Any]:
    """Make a version on a worker that can read what it points at. A second attempt finds it made."""
    params = job.params
    system = System.objects.select_related("project").get(pk=params["system"])
    made = systems.make_version(system=system, config=params["config"], note=params["note"], by=job.by)
    return {"version": made.pk, "number": made.number, "hash": made.hash}


@jobs.handler(lanes.KIND, ended=lanes.chunk_ended)
def run_chunk(job: jobs.RunningJob) -> dict[str, Any]:
    """Do a chunk of a run. A second attempt goes on with what the first left."""
    return chunks.do_chunk(job=job)


@jobs.handler(scores.KIND, told=("Scores", "systems/runs/{run}"))
def score_run(job: jobs.RunningJob) -> dict[str, Any]:
    """Score a run. A second attempt after the worker died scores what has no row yet."""
    run = Run.objects.select_related("version__system__project").get(pk=job.params["run"])
    scoring = scores.score_run(
        run=run, metric=job.params["metric"], params=job.params["params"], by=job.by, progress=job.progress, job=job.job
    )  # fmt: skip
    return {"scoring": scoring.pk}


@jobs.handler(reckoning.KIND)
def reckon_probe(job: jobs.RunningJob) -> dict[str, Any]:
    """Reckon what a probe that has ended comes to. A second attempt finds it there."""
    return {"items": reckoning.reckon_probe(Run.objects.get(pk=job.params["run"])).items}
