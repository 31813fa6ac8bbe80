"""Workflow stage: guidelines."""

from ..models import Project
from ..workflow import Next, Step, WorkflowStage


class Guidelines(WorkflowStage):
    key = "guidelines"
    order = 30

    def step(self, project: Project) -> Step:
        versions = project.guidelines.count()
        write = Next(
            "review and adapt the guideline",
            "Annotators follow it. Start from the shipped guideline; all versions are stored.",
            "Open the guidelines",
            "guidelines",
            is_optional=True,
        )
        begun = versions or project.rounds.opened_by_people().exists()
        return Step(
            "Guidelines",
            versions,
            "versions" if versions != 1 else "version",
            "done" if versions else "to do",
            "guidelines",
            next=None if begun else write,
        )
