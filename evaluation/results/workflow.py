"""The workflow stage of human evaluation."""

from projects.models import Project, Round
from projects.workflow import Begun, Next, Step, WorkflowStage

from ..models import RatingDesign


class Ratings(WorkflowStage):
    key = "ratings"
    order = 70

    def step(self, project: Project) -> Step:
        designs = RatingDesign.objects.filter(round__project=project)
        total = designs.count()
        blind = designs.filter(round__status=Round.Status.CLOSED, unblinding=None).select_related("round")
        waits = blind.order_by("-pk").first()
        state: Begun = "to do" if not total else "begun" if designs.filter(unblinding=None).exists() else "done"
        unblind = waits and Next(
            f"unblind the round “{waits.round.name}”",
            "The round is closed. Unblind it to see results by system.",
            "Open the round",
            f"rounds/{waits.round_id}",
        )
        of = "rating rounds" if total != 1 else "rating round"
        return Step("Evaluation", total, of, state, "results" if total else "rounds/new", next=unblind or None)
