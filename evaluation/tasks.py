"""Background work of human evaluation."""

from typing import Any

from projects.background import jobs

from .actions import reckoning
from .models import RatingDesign


@jobs.handler(reckoning.KIND, told=("Figures", "rounds/{round}"))
def reckon_ratings(job: jobs.RunningJob) -> dict[str, Any]:
    """Reckon what the ratings of a round come to, and store it. A second attempt reckons anew."""
    design = RatingDesign.objects.select_related("round__project").get(round=job.params["round"])
    return reckoning.reckon_ratings(design=design, progress=job.paced())
