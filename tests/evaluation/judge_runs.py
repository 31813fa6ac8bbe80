"""Build judges, and run them on rating rounds with a stub endpoint."""

from typing import Any

from evaluation.judging import actions, versions
from evaluation.models import Judge, JudgeRun, RatingDesign
from projects.jobs.running import run_job
from projects.models import Project, Round


def build_judge(project: Project, endpoint: str = "lab", name: str = "Judge", **fields: Any) -> Judge:
    fields = {"model": "tiny-instruct"} | fields
    judge = versions.request_judge(project=project, name=name, endpoint=endpoint, by=None, **fields)
    assert isinstance(judge, Judge)
    return judge


def design_of(round: Round) -> RatingDesign:
    related = ("round__project", "version__protocol")
    return RatingDesign.objects.select_related(*related).get(round=round)


def start(judge: Judge, round: Round, **fields: Any) -> JudgeRun:
    fields = {"licence_reason": "Agreed with the publisher.", "by": None} | fields
    return actions.start_run(judge=judge, design=design_of(round), **fields)


def finish(run: JudgeRun) -> JudgeRun:
    """Run the job of a run to its end."""
    assert run.job
    run_job(run.job.pk)
    run.refresh_from_db()
    return run


def judged(judge: Judge, round: Round, **fields: Any) -> JudgeRun:
    return finish(start(judge, round, **fields))
