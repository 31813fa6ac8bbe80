"""Background jobs of human evaluation."""

from typing import Any

from projects.jobs import jobs
from projects.jobs.running import RunningJob

from .judge_figures import actions as judge_figures_actions
from .judging import actions as judging_actions
from .judging import versions as judge_versions
from .models import RatingDesign
from .results import actions as results_actions


@jobs.handler(results_actions.KIND, notification=("Figures", "rounds/{round}"))
def compute_ratings(job: RunningJob) -> dict[str, Any]:
    """Compute and store the results of a rating round. A retry computes them again."""
    design = RatingDesign.objects.select_related("round__project").get(round=job.params["round"])
    made = results_actions.compute_ratings(design=design, progress=job.paced())
    judge_figures_actions.compute_judges(design=design, group=job.params.get("group", ""), step=lambda _: job.check())
    return made


@jobs.handler(judge_versions.MAKE, notification=("New version of a judge", "judges"))
def make_judge(job: RunningJob) -> dict[str, Any]:
    """Create the version of a judge on a worker that has its model. A second attempt finds the version of the first."""
    assert job.project
    judge = judge_versions.make_judge(project=job.project, fields=job.params["fields"], by=job.by)
    return {"judge": judge.pk}


@jobs.handler(
    judging_actions.KIND, ended=judging_actions.job_ended, notification=("Judge run", "judges/runs/{judgerun}")
)
def run_judge(job: RunningJob) -> dict[str, Any]:
    """Ask a judge about the pages of a round. A second attempt asks for the answers that are not stored."""
    made = judging_actions.execute(run=judging_actions.run_of(job.params["judgerun"]), job=job)
    judge_figures_actions.after_run(run=judging_actions.run_of(job.params["judgerun"]), by=job.by)
    return made
