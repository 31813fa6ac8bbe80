"""What there is to label."""

from projects.models import Project
from projects.pages.steps import Next, Step, Stretch

from ...models import Cluster, Target


class Corpus(Stretch):
    key = "corpus"
    order = 10

    def step(self, project: Project) -> Step:
        clusters = Cluster.objects.current().filter(project=project).count()
        texts = clusters or Target.objects.filter(project=project).count()
        bring = Next(
            "bring a corpus in", "Reviews with the propositions or texts that people will label and systems sum up.",
            "Import a file", "import",
        )  # fmt: skip
        of = "clusters" if clusters or not texts else "targets"
        return Step("Corpus", texts, of, "done" if texts else "to do", "corpus" if texts else "import",
                    next=None if texts else bring)  # fmt: skip
