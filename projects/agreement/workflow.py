"""Workflow stage: agreement between people."""

from django.db.models import QuerySet

from ..models import Project, Round
from ..purposes import which
from ..workflow import Step, WorkflowStage


def rounds_with_agreement(project: Project) -> QuerySet[Round]:
    """Return the closed rounds that have agreement between people, newest first."""
    independent = project.rounds.opened_by_people().filter(overlap__gt=1, purpose__in=which("independent"))
    return independent.filter(closed_at__isnull=False).order_by("-pk")


class Agreement(WorkflowStage):
    key = "agreement"
    order = 50

    def step(self, project: Project) -> Step:
        rounds = rounds_with_agreement(project)
        total, newest = rounds.count(), rounds.first()
        page = f"rounds/{newest.pk}/agreement" if newest else "rounds"
        of = "closed rounds with several raters" if total != 1 else "closed round with several raters"
        return Step("Agreement", total, of, "done" if total else "to do", page)
