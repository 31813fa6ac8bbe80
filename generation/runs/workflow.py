"""Workflow stage of summaries."""

from projects.models import Project
from projects.workflow import Begun, Step, WorkflowStage

from ..models import Run, RunPurpose, RunStatus


class Summaries(WorkflowStage):
    key = "summaries"
    order = 60

    def step(self, project: Project) -> Step:
        """Return the state of the stage. Systems are optional, so it has no next action."""
        systems = project.systems.count()
        runs = Run.objects.filter(version__system__project=project, purpose=RunPurpose.SUMMARIES)
        running = runs.filter(status=RunStatus.RUNNING).count()
        state: Begun = "begun" if running else "done" if runs.exists() else "to do"
        of = f"systems, {running} running" if running else "systems" if systems != 1 else "system"
        return Step("Summaries", systems, of, state, "systems")
