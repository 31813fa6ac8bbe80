"""Who works in the project."""

from ...models import Project
from ...models.roles import MAY
from .step import Next, Step, Stretch


def askable(project: Project) -> int:
    """How many members a round can ask."""
    return project.members.active().filter(role__in=MAY["be put into rounds"]).count()


class People(Stretch):
    key = "people"
    order = 20

    def step(self, project: Project) -> Step:
        there = askable(project)
        waiting = project.invitations.filter(accepted_at=None, revoked_at=None).count()
        alone = there < 2 and not waiting and not project.rounds.opened_by_people().exists()
        invite = Next(
            "invite the people who will label", "Agreement needs two people at least, and gold is better with three.",
            "Invite people", "people",
        )  # fmt: skip
        of = f"who can label, {waiting} invited" if waiting else "who can label"
        return Step("People", there, of, "done" if there > 1 else "to do", "people", next=invite if alone else None)
