"""`python -m tests.processes.summarisers NAME JSON`: run every backend through the workers of a site.

Nothing here imports torch; only workers do.
"""

import json
import sys
import time
from dataclasses import asdict
from typing import Any

import django

PATIENCE = 100.0


def ask(clusters: int, configs: dict[str, dict[str, Any]]) -> dict[str, int]:
    """Create a project with clusters, two of them with counterfactuals, and a version for each configuration. Return
    the versions' ids by name. The backend for imported outputs gets its own file."""
    from django.core.files.uploadedfile import SimpleUploadedFile

    from generation.models import Version
    from generation.systems.actions import create_system, request_version
    from projects import uploads
    from projects.models import Project
    from projects.uploads import actions as uploads_actions
    from tests.builders import build_cluster
    from tests.generation import tiny_models
    from tests.generation.test_probing import add

    project = Project.objects.create(slug="every", name="Every backend")
    keys = []
    for number in range(clusters):
        cluster = build_cluster(project, number, inputs=1 + number % 3)
        for proposition in cluster.propositions.all():
            proposition.text = tiny_models.text(number * 5 + proposition.position, 1 + proposition.position % 2)
            proposition.save()
        keys.append(cluster.key)
        if number < 2:
            target = cluster.propositions.get(position=0).text
            add(cluster, {kind: f"{kind.value}: {target}" for kind in _kinds()})
    lines = "".join(json.dumps({"key": key, "text": f"Of {key}."}) + "\n" for key in keys)
    file: Any = SimpleUploadedFile("theirs.jsonl", lines.encode())
    check = uploads_actions.start_check(
        uploads.get("outputs"), project=project, file=file, by=None, params={"level": "proposition"}
    )
    _until(lambda: _ended(check))
    kept = _result(check)
    params = {}
    for name, config in configs.items():
        if config["backend"] == "imported":
            config = {**config, "model": {"file": kept["sha256"], "name": kept["name"]}}
        system = create_system(project=project, name=name, by=None)
        params[name] = request_version(system=system, config=config, by=None)
    _until(lambda: all(isinstance(job, Version) or _ended(job) for job in params.values()))
    return {name: made.pk if isinstance(made, Version) else _result(made)["version"] for name, made in params.items()}


def run(versions: dict[str, int]) -> dict[str, dict[str, int]]:
    """Run the summaries of every version, and the probe of those with likelihoods; return the runs' ids when all have
    ended."""
    from api.problems import Refused
    from generation.models import Run, RunPurpose, RunStatus, Version
    from generation.runs.actions import start_run

    started: dict[str, dict[str, int]] = {purpose: {} for purpose in (RunPurpose.SUMMARIES, RunPurpose.PROBE)}
    for name, pk in versions.items():
        for purpose, runs in started.items():
            try:
                runs[name] = start_run(version=Version.objects.get(pk=pk), by=None, purpose=purpose, concurrency=1).pk
            except Refused:
                assert purpose == RunPurpose.PROBE, name
    _until(lambda: not Run.objects.filter(status=RunStatus.RUNNING).exists())
    return started


def score(run: int, metrics: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Score a run with workers; return per metric the values of each summary by unit key."""
    from generation.models import Run, Score
    from generation.scoring.actions import request_scores
    from projects.models import Job

    found = Run.objects.get(pk=run)
    jobs = {
        metric: request_scores(run=found, metric=metric, params=params, by=None) for metric, params in metrics.items()
    }
    _until(lambda: all(isinstance(job, Job) and _ended(job) for job in jobs.values()))
    scorings = {metric: _result(job)["scoring"] for metric, job in jobs.items() if isinstance(job, Job)}
    return {
        metric: dict(Score.objects.filter(scoring=pk).values_list("summary__item__unit__key", "values"))
        for metric, pk in scorings.items()
    }


def found(runs: dict[str, dict[str, int]]) -> dict[str, Any]:
    """Return all that is needed to repeat the work: inputs and probed texts of each unit, versions, results, and worker
    processes."""
    from generation.models import ProbeScore, Run
    from generation.probing import actions as probing_actions
    from generation.sources import materials, units_of
    from projects.models import Job, Project

    project = Project.objects.get(slug="every")
    units = units_of(project, "proposition")
    read = materials(project, "proposition", units)
    report: dict[str, Any] = {
        "units": {m.source.key: {**asdict(m.source), "target": m.references[0].text} for m in read.values()},
        "judged": {},
        "systems": {},
        "workers": {},
    }
    for job in Job.objects.exclude(worker=""):
        report["workers"].setdefault(job.queue.split(".")[0], []).append(int(job.worker.rsplit(":", 1)[1]))
    for purpose, started in runs.items():
        for name, pk in started.items():
            run = Run.objects.select_related("version__system__project").get(pk=pk)
            system = report["systems"].setdefault(name, {"config": run.version.config, "facts": run.version.facts})
            system[purpose] = {"state": run.status, "error": run.error, "items": {}}
            for item in run.items.select_related("unit"):
                summary = getattr(item, "summary", None)
                scores = ProbeScore.objects.filter(item=item).order_by("pk").values_list("token_ids", "nll")
                system[purpose]["items"][item.unit.key] = {
                    "error": item.error,
                    "text": summary and summary.text,
                    "ids": summary and summary.token_ids,
                    "likelihoods": list(scores),
                }
    params = probing_actions.get(run.purpose).items(run.version, list(run.items.values_list("unit", flat=True)))
    report["judged"] = {item.probed.source.key: item.probed.texts for item in params.values()}
    return report


def _kinds() -> list[Any]:
    from measures.counterfactuals import Kind

    return [Kind.NEGATION, Kind.MODALITY]


def _ended(job: Any) -> bool:
    job.refresh_from_db()
    return job.status not in ("queued", "running")


def _result(job: Any) -> dict[str, Any]:
    job.refresh_from_db()
    assert job.status == "done", (job.kind, job.params, job.error)
    result: dict[str, Any] = job.result
    return result


def _until(holds: Any) -> None:
    latest = time.monotonic() + PATIENCE
    while not holds() and time.monotonic() < latest:
        time.sleep(0.1)


def main() -> None:
    django.setup()
    verb = {f.__name__: f for f in (ask, run, score, found)}[sys.argv[1]]
    json.dump(verb(**json.loads(sys.argv[2])), sys.stdout)


if __name__ == "__main__":
    main()
