"""Workflow stage: the people of a project."""

from ..models import Project
from ..models.project import MAY
from ..workflow import Next, Step, WorkflowStage


def count_annotators(project: Project) -> int:
    """Return the number of members who can be added to rounds."""
    return project.members.active().filter(role__in=MAY["work in rounds"]).count()


class People(WorkflowStage):
    key = "people"
    order = 20

    def step(self, project: Project) -> Step:
        annotators = count_annotators(project)
        waiting = project.invitations.filter(accepted_at=None, revoked_at=None).count()
        alone = annotators < 2 and not waiting and not project.rounds.opened_by_people().exists()
        invite = Next(
            "invite annotators",
            "Agreement needs at least two people; three give better gold.",
            "Invite people",
            "people#invite",
        )
        of = f"annotators, {waiting} invited" if waiting else "annotators"
        return Step(
            "People", annotators, of, "done" if annotators > 1 else "to do", "people", next=invite if alone else None
        )
