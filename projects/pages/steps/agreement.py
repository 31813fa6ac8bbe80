"""How far people agree."""

from ...models import Project
from ...purposes import which
from .step import Step, Stretch


class Agreement(Stretch):
    key = "agreement"
    order = 50

    def step(self, project: Project) -> Step:
        """Rounds of which there is agreement between people."""
        found = project.rounds.filter(overlap__gt=1, purpose__in=which("independent"), closed_at__isnull=False)
        total, newest = found.count(), found.first()
        page = f"rounds/{newest.pk}/agreement" if newest else "rounds"
        of = "closed rounds with several raters" if total != 1 else "closed round with several raters"
        return Step("Agreement", total, of, "done" if total else "to do", page)
