"""What people raised: answers that flag, comment or skip, and whether somebody settled it."""

from django.db.models import OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from ..models import Answer, Outcome, Project, Remark, Round, Unit
from ..purposes import which

FLAGGED, COMMENTED, SKIPPED = Q(flag=True), ~Q(comment=""), Q(outcome=Outcome.SKIPPED)
SETTLED = Q(last_act=Remark.Act.SETTLED)


def raised(project: Project) -> QuerySet[Answer]:
    """Current answers of rounds that flag, comment or skip, newest first, with ``last_act``: the newest word on each
    other than a reply."""
    words = Remark.objects.filter(answer=OuterRef("pk")).exclude(act=Remark.Act.REPLY).order_by("-pk")
    return (
        Answer.objects.filter(FLAGGED | COMMENTED | SKIPPED, assignment__round__project=project)
        .filter(current_of__isnull=False)
        .exclude(assignment__round__purpose__in=which("standing"))
        .annotate(last_act=Coalesce(Subquery(words.values("act")[:1]), Value("")))
        .order_by("-received_at", "-pk")
    )


def open_flags(round: Round, unit: Unit) -> QuerySet[Answer]:
    """The answers of a round to one unit whose flag nobody has settled."""
    return raised(round.project).filter(FLAGGED, assignment__round=round, assignment__unit=unit).exclude(SETTLED)
