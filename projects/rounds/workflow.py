"""Workflow stage of a project: rounds and their open adjudication."""

from typing import Any

from django.db.models import Count

from ..gates import queries as gates_queries
from ..models import Decision, Project, Round
from ..workflow import Begun, Next, Step, WorkflowStage
from . import queries as rounds_queries


def _on_closing(round: Round) -> str:
    """Return what closing a round does, by its purpose."""
    meaning = round.meaning
    if meaning.makes_gold and meaning.shows_value:
        return "Closing it makes the corrections current values."
    if meaning.makes_gold:
        return "Closing it makes agreed answers the current values."
    if meaning.gives_feedback:
        return "Closing it ends the practice. No current value changes."
    return "Closing it measures agreement. No current value changes."


class Rounds(WorkflowStage):
    key = "rounds"
    order = 40

    def step(self, project: Project) -> Step:
        rounds = project.rounds.opened_by_people()
        counted = rounds_queries.with_counts(rounds.filter(status=Round.Status.OPEN))
        open_ones: list[Any] = list(counted)
        done, wanted = sum(r.answered for r in open_ones), sum(r.assignment_count for r in open_ones)
        total = rounds.count()
        state: Begun = "begun" if open_ones else "done" if total else "to do"
        return Step(
            "Rounds",
            total,
            f"rounds, {len(open_ones)} open" if open_ones else "rounds" if total != 1 else "round",
            state,
            "rounds",
            done,
            wanted,
            self._next(project, open_ones, total),
        )

    @staticmethod
    def _next(project: Project, open_ones: list[Any], total: int) -> Next | None:
        if not total:
            return Next(
                "open the first round",
                "A round defines what is labelled, by whom, and how often.",
                "Open a round",
                "rounds/new",
                turn="last",
            )
        full = next((r for r in open_ones if r.assignment_count and r.answered == r.assignment_count), None)
        if full is not None:
            why = f"All {full.assignment_count:,} answers are in. {_on_closing(full)}"
            if full.is_rolling:
                why += " While it is open, it adds units that match later."
            return Next(f"close the round “{full.name}”", why, "Open the round", f"rounds/{full.pk}", turn="first")
        waiting = (
            Decision.objects.filter(
                round__in=project.rounds.filter(status=Round.Status.CLOSED), unit__superseded_by=None
            )
            .contested()
            .order_by()
            .values("round", "round__name")
            .annotate(n=Count("pk"))
            .order_by("-round")
            .first()
        )
        if waiting:
            n = waiting["n"]
            why = f"In “{waiting['round__name']}” annotators disagree. A release needs one value per field."
            words = f"adjudicate {n:,} contested field{'' if n == 1 else 's'}"
            at = f"rounds/{waiting['round']}"
            return Next(words, why, "Adjudicate", f"{at}/adjudicate", "Agreement", f"{at}/agreement", "first")
        unmet = gates_queries.unmet(project).first()
        if unmet:
            return Next(
                f"decide about the round “{unmet.name}”",
                "Its pilot is closed and does not meet the bar.",
                "Open the round",
                f"rounds/{unmet.pk}",
            )
        if open_ones:
            first = open_ones[0]
            why = f"{first.answered:,} of {first.assignment_count:,} answers are in."
            return Next(f"follow the round “{first.name}”", why, "Open the round", f"rounds/{first.pk}")
        return None
