"""Release stage of the project page."""

from projects.agreement.workflow import rounds_with_agreement
from projects.models import Decision, Project, Round
from projects.workflow import Next, Step, WorkflowStage

from ..models import Release


class Releases(WorkflowStage):
    key = "release"
    order = 80

    def step(self, project: Project) -> Step:
        releases = Release.objects.filter(project=project)
        total = releases.count()
        newest = releases.first()
        at_work = project.rounds.opened_by_people().filter(status=Round.Status.OPEN).exists()
        decided = Decision.objects.of_project(project).exists()
        ready = not total and not at_work and decided and project.rounds.opened_by_people().exists()
        report = rounds_with_agreement(project).first() if ready else None
        freeze = Next(
            "freeze the first release",
            "All rounds are closed, and the project has current values.",
            "Prepare a release",
            "releases",
            turn="last",
            also=f"Agreement of “{report.name}”" if report else "",
            also_page=f"rounds/{report.pk}/agreement" if report else "",
        )
        of = "releases" if total != 1 else "release"
        if newest:
            of += f", newest {newest.version}"
        return Step(
            "Release",
            total,
            of,
            "done" if total else "to do",
            f"releases/{newest.pk}" if newest else "releases",
            next=freeze if ready else None,
        )
