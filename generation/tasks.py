"""Background jobs of the generation app."""

from typing import Any

from projects.jobs import jobs
from projects.jobs.running import RunningJob
from projects.uploads import files

from .imported_runs.tables import KIND as IMPORT_OUTPUTS
from .imported_runs.tables import bring_outputs
from .models import Run, System
from .readings import actions as readings_actions
from .runs import chunks, concurrency
from .scoring import actions as scoring_actions
from .suggesting import actions as suggesting_actions
from .systems import actions as systems_actions
from .training import actions as training_actions
from .training import running as training_running


@jobs.handler("make_version", notification=("New version of a system", "systems"))
def make_version(job: RunningJob) -> dict[str, Any]:
    """Create a version on a worker that can read its facts. A second attempt finds the version of the first."""
    params = job.params
    system = System.objects.select_related("project").get(pk=params["system"])
    version = systems_actions.make_version(system=system, config=params["config"], note=params["note"], by=job.by)
    return {"version": version.pk, "number": version.number, "hash": version.hash}


@jobs.handler(IMPORT_OUTPUTS, notification=("Import of summaries of {system}", "systems"))
def import_outputs(job: RunningJob) -> dict[str, Any]:
    """Start the run of a system whose summaries an import brought. A second attempt finds the run of the first."""
    assert job.project
    params = job.params
    run = bring_outputs(
        project=job.project,
        level=params["level"],
        system=params["system"],
        path=files.path_of(params["upload"]),
        name=params["name"],
        by=job.by,
        progress=job.progress,
    )
    files.remove_all([params["upload"]])
    return {"run": run.pk}


@jobs.handler(concurrency.KIND, ended=concurrency.chunk_ended, page=("Run {run}", "systems/runs/{run}"))
def run_chunk(job: RunningJob) -> dict[str, Any]:
    """Process a chunk of a run. A second attempt continues with the remaining items."""
    return chunks.do_chunk(job=job)


@jobs.handler(scoring_actions.KIND, notification=("Scores ({metric})", "systems/runs/{run}"))
def score_run(job: RunningJob) -> dict[str, Any]:
    """Score a run. A second attempt scores the summaries that have no rows yet."""
    run = Run.objects.select_related("version__system__project").get(pk=job.params["run"])
    scoring = scoring_actions.score_run(
        run=run, metric=job.params["metric"], params=job.params["params"], by=job.by, progress=job.progress, job=job.job
    )
    return {"scoring": scoring.pk}


@jobs.handler(scoring_actions.COMPUTE_SCORES, page=("Figures of a probe", "systems/runs/{run}"))
def compute_probe_figures(job: RunningJob) -> dict[str, Any]:
    """Compute the figures of a probe that has ended. A second attempt finds the stored figures."""
    return {"items": scoring_actions.compute_probe_figures(Run.objects.get(pk=job.params["run"])).items}


@jobs.handler(readings_actions.KIND, notification=("Readings ({task}, {model})", "readings"))
def read_texts(job: RunningJob) -> dict[str, Any]:
    """Read texts with a local model. A second attempt reads the remaining ones."""
    assert job.project
    params = job.params
    return readings_actions.read(
        project=job.project,
        task=params["task"],
        model=params["model"],
        evidence=params["evidence"],
        by=job.by,
        progress=job.progress,
        problem=job.problem,
    )


@jobs.handler(readings_actions.WITHDRAWAL, notification=("Withdrawal of readings ({task}, {model})", "readings"))
def withdraw_readings(job: RunningJob) -> dict[str, Any]:
    """Withdraw the readings of a model. A second attempt deletes the remaining ones."""
    assert job.project
    params = job.params
    removed = readings_actions.withdraw(
        project=job.project, task=params["task"], model=params["model"], by=job.by, progress=job.progress
    )
    return {"removed": removed}


@jobs.handler(training_actions.KIND, ended=training_actions.ended, notification=("Training", "trainings/{training}"))
def train(job: RunningJob) -> dict[str, Any]:
    """Train a model. A second attempt continues at the last checkpoint."""
    return {"folder": training_running.run(job).result["folder"]}


@jobs.handler(training_actions.DELETE, short=True, page=("Deletion of checkpoints", "trainings/{training}"))
def delete_checkpoints(job: RunningJob) -> dict[str, Any]:
    """Delete the checkpoints of a training that failed or was cancelled. A second attempt finds none."""
    training_running.delete_checkpoints(job)
    return {}


@jobs.handler(suggesting_actions.KIND, notification=("Suggestions {name}", "suggestions"))
def suggest_values(job: RunningJob) -> dict[str, Any]:
    """Make suggestions. A second attempt asks about the remaining units."""
    assert job.project
    request = suggesting_actions.SuggestionRequest(**job.params)
    return suggesting_actions.suggest(
        project=job.project, request=request, by=job.by, job=job.job.pk, progress=job.progress
    )
