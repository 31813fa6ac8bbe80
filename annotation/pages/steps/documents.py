"""The document level of a data set that was made from PubMed: nobody is asked for it, it only has to be made."""

from projects.models import Job, JobStatus, Project
from projects.pages.steps import Next, Step, Stretch

from ...actions.documents import KIND
from ...models import Cluster, Level, Review, Target
from ...values import documents
from ...values.retrieved import RETRIEVED


class Documents(Stretch):
    key = "documents"
    order = 55

    def step(self, project: Project) -> Step | None:
        if not Review.objects.filter(RETRIEVED, project=project).exists():
            return None
        if not Cluster.objects.current().filter(project=project).exists():
            return None
        made = Target.objects.current().filter(project=project, level=Level.DOCUMENT).count()
        wanted = documents.reviews(project).count()
        if not wanted and not made:
            return None
        why = "What each review concludes, with the abstracts of its studies: level 1 of the data set."
        # Where none could be made the page says why, and asking again would say the same.
        tried = made or Job.objects.filter(project=project, kind=KIND, status=JobStatus.DONE).exists()
        onward = None if tried else Next("make the documents", why, "Open Evidence", "evidence")
        of = f"of {wanted:,} review{'' if wanted == 1 else 's'}"
        return Step("Documents", made, of, "done" if made else "to do", "evidence", next=onward)
