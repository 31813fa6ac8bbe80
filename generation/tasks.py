"""Background work of generation."""

from typing import Any

from api.problems import Conflict
from projects.background import jobs
from projects.background.uploads import path_of

from .actions import chunks, lanes, outputs, reckoning, scores, systems
from .models import Run, System


@jobs.handler("make_version")
def make_version(job: jobs.RunningJob) -> dict[str, Any]:
    """Make a version on a worker that can read what it points at. A second attempt finds it made."""
    params = job.params
    system = System.objects.select_related("project").get(pk=params["system"])
    made = systems.make_version(system=system, config=params["config"], note=params["note"], by=job.by)
    return {"version": made.pk, "number": made.number, "hash": made.hash}


@jobs.handler("keep_outputs")
def keep_outputs(job: jobs.RunningJob) -> dict[str, Any]:
    """Check a file of outputs and keep it. What was uploaded stays for a week: a second attempt finds it."""
    path, name = path_of(job.params["upload"]), job.params["name"]
    if job.project is None or not path.exists():
        raise Conflict("This upload is no longer kept; upload the file again.")
    checked = outputs.keep_outputs(
        project=job.project, level=job.params["level"], path=path, name=name, by=job.by, progress=job.paced()
    )  # fmt: skip
    about = checked.about
    return {
        "sha256": "" if checked.faults else about.sha256,
        "name": name,
        "format": about.format,
        "outputs": about.outputs,
        "units": checked.units,
        "matched": checked.matched,
        "unknown": [{"line": line, "key": key} for line, key in checked.unknown],
        "unknown_total": checked.unknown_total,
        "faults": {"total": checked.faults.total, "listed": [fault.as_json() for fault in checked.faults]},
    }


@jobs.handler(lanes.KIND, ended=lanes.chunk_ended)
def run_chunk(job: jobs.RunningJob) -> dict[str, Any]:
    """Do a chunk of a run. A second attempt goes on with what the first left."""
    return chunks.do_chunk(job=job)


@jobs.handler(scores.KIND)
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
