"""Background jobs of human evaluation."""

from typing import Any

from projects.jobs import jobs
from projects.jobs.running import RunningJob

from .models import RatingDesign
from .results import actions as results_actions


@jobs.handler(results_actions.KIND, notification=("Figures", "rounds/{round}"))
def compute_ratings(job: RunningJob) -> dict[str, Any]:
    """Compute and store the results of a rating round. A retry computes them again."""
    design = RatingDesign.objects.select_related("round__project").get(round=job.params["round"])
    return results_actions.compute_ratings(design=design, progress=job.paced())
