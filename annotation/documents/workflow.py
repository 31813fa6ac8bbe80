"""Workflow stage of the documents, for data sets built from PubMed. Documents are generated without raters."""

from projects.models import Job, JobStatus, Project
from projects.workflow import Next, Step, WorkflowStage

from ..models import RETRIEVED, Cluster, Level, Review, Target
from . import queries as documents_queries
from .queries import MAKE_DOCUMENTS


class Documents(WorkflowStage):
    key = "documents"
    order = 55

    def step(self, project: Project) -> Step | None:
        if not Review.objects.filter(RETRIEVED, project=project).exists():
            return None
        if not Cluster.objects.current().filter(project=project).exists():
            return None
        count = Target.objects.current().filter(project=project, level=Level.DOCUMENT).count()
        total = documents_queries.reviews(project).count()
        if not total and not count:
            return None
        why = "Level 1 of the data set: the conclusions of each review, with the abstracts of its studies."
        # Do not offer the step again if the last job could not create any. The page states the reasons.
        has_run = count or Job.objects.filter(project=project, kind=MAKE_DOCUMENTS, status=JobStatus.DONE).exists()
        action = Next("create the documents", why, "Open Sentence ranking", "ranking", is_optional=True)
        of = f"of {total:,} review{'' if total == 1 else 's'}"
        return Step("Documents", count, of, "done" if count else "to do", "ranking", next=None if has_run else action)
