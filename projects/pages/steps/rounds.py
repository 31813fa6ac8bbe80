"""What people are asked, and what waits for a curator of it."""

from typing import Any

from django.db.models import Count

from ...models import Decision, Project, Round
from .. import progress
from .step import Begun, Next, Step, Stretch

#: So many of the newest open rounds are looked at: more are followed on their own page.
LOOKED_AT = 20


class Rounds(Stretch):
    key = "rounds"
    order = 40

    def step(self, project: Project) -> Step:
        rounds = project.rounds.opened_by_people()
        counted = progress.with_counts(rounds.filter(status=Round.Status.OPEN))
        open_ones: list[Any] = list(counted[:LOOKED_AT])
        done, wanted = sum(r.answered for r in open_ones), sum(r.slots for r in open_ones)
        total = rounds.count()
        state: Begun = "begun" if open_ones else "done" if total else "to do"
        return Step(
            "Rounds", total, f"rounds, {len(open_ones)} open" if open_ones else "rounds" if total != 1 else "round",
            state, "rounds", done, wanted, self._next(project, open_ones, total),
        )  # fmt: skip

    @staticmethod
    def _next(project: Project, open_ones: list[Any], total: int) -> Next | None:
        if not total:
            return Next("open the first round", "People label in rounds: what, by whom, how often.", "Open a round",
                        "rounds/new", turn="last")  # fmt: skip
        full = next((r for r in open_ones if r.slots and r.answered == r.slots), None)
        if full is not None:
            why = f"All {full.slots:,} answers are in. Closing it makes what they agree on the current value."
            if full.is_rolling:
                why += " It takes in units that come later for as long as it is open."
            return Next(f"close the round “{full.name}”", why, "Open the round", f"rounds/{full.pk}", turn="first")
        waiting = (
            Decision.objects.filter(round__in=project.rounds.filter(status=Round.Status.CLOSED)).contested()
            .order_by().values("round", "round__name").annotate(n=Count("pk")).order_by("-round").first()
        )  # fmt: skip
        if waiting:
            n = waiting["n"]
            why = f"In “{waiting['round__name']}” people differ. A release needs one value for each."
            words = f"adjudicate {n:,} contested field{'' if n == 1 else 's'}"
            at = f"rounds/{waiting['round']}"
            return Next(words, why, "Adjudicate", f"{at}/adjudicate", "Agreement", f"{at}/agreement", "first")
        if open_ones:
            first = open_ones[0]
            why = f"{first.answered:,} of {first.slots:,} answers are in."
            return Next(f"follow the round “{first.name}”", why, "Open the round", f"rounds/{first.pk}")
        return None
