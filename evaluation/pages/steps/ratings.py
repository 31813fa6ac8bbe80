"""What people said of summaries."""

from projects.models import Project, Round
from projects.pages.steps import Begun, Next, Step, Stretch

from ...models import RatingDesign


class Ratings(Stretch):
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
            "It is closed: results by system are there once it is known who wrote what.", "Open the round",
            f"rounds/{waits.round_id}",
        )  # fmt: skip
        of = "rating rounds" if total != 1 else "rating round"
        return Step("Evaluation", total, of, state, "results" if total else "rounds/new", next=unblind or None)
