"""What people are told to do."""

from ...models import Project
from .step import Next, Step, Stretch


class Guidelines(Stretch):
    key = "guidelines"
    order = 30

    def step(self, project: Project) -> Step:
        versions = project.guidelines.count()
        write = Next(
            "read the guideline and make it yours",
            "People label by it. The one that ships is a beginning; every version is kept.",
            "Open the guidelines", "guidelines",
        )  # fmt: skip
        begun = versions or project.rounds.opened_by_people().exists()
        return Step(
            "Guidelines", versions, "versions" if versions != 1 else "version", "done" if versions else "to do",
            "guidelines", next=None if begun else write,
        )  # fmt: skip
