"""How far people agree."""

from django.db.models import QuerySet

from ...models import Project, Round
from ...purposes import which
from .step import Step, Stretch


def measured(project: Project) -> QuerySet[Round]:
    """Closed rounds of which there is agreement between people, newest first."""
    independent = project.rounds.opened_by_people().filter(overlap__gt=1, purpose__in=which("independent"))
    return independent.filter(closed_at__isnull=False).order_by("-pk")


class Agreement(Stretch):
    key = "agreement"
    order = 50

    def step(self, project: Project) -> Step:
        """Rounds of which there is agreement between people."""
        found = measured(project)
        total, newest = found.count(), found.first()
        page = f"rounds/{newest.pk}/agreement" if newest else "rounds"
        of = "closed rounds with several raters" if total != 1 else "closed round with several raters"
        return Step("Agreement", total, of, "done" if total else "to do", page)
