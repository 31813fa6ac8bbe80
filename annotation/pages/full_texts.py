"""Full texts: how many reviews have theirs, and what the last asking came to."""

from typing import Any

from projects.models import Project

from ..actions import full_texts
from ..values.retrieved import of_data_set
from .asked import newest


def overview(project: Project) -> dict[str, Any]:
    """A fixed number of queries."""
    reviews = of_data_set(project)
    return {
        "reviews": reviews.count(),
        "there": reviews.exclude(full_text=None).count(),
        "lacking": full_texts.lacking(project).count(),
        **newest(project, full_texts.KIND),
    }
