"""The document level of a project: how many reviews have a target, and what the last making of them came to."""

from typing import Any

from projects.models import Project

from ..actions.documents import KIND
from ..models import Level, Target
from ..values import documents
from .asked import newest


def overview(project: Project) -> dict[str, Any]:
    """A fixed number of queries."""
    made = Target.objects.current().filter(project=project, level=Level.DOCUMENT).count()
    return {"reviews": documents.reviews(project).count(), "made": made, **newest(project, KIND)}
