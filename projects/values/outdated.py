"""Answers given under an earlier guideline, of which nobody has said since that they stand."""

from django.db.models import Exists, F, OuterRef, QuerySet, Subquery

from audit.models import Entry

from ..models import Answer, Decision, Guideline, Outcome, Project
from ..purposes import which

#: The act by which a curator says that a round's answers under an earlier guideline stand (`actions.uphold`).
UPHOLD = "uphold answers"


def outdated(project: Project, *, kind: str = "") -> QuerySet[Answer]:
    """Answers that count and were given under a guideline that is not the newest of its kind, whose unit has not been
    decided since under the newest one, and of which nobody has said under it that they stand. Newest first."""
    same_kind = Guideline.objects.filter(project=project, kind=OuterRef("guideline__kind")).order_by("-number")
    since = Decision.objects.filter(
        unit=OuterRef("assignment__unit"), kind=OuterRef("guideline__kind"), decided_at__gte=OuterRef("newest_at")
    ).values_said()
    found = (
        Answer.objects.filter(
            assignment__round__project=project, current_of__number__gte=0, outcome=Outcome.ANSWERED,
            assignment__unit__superseded_by=None, assignment__round__purpose__in=which("counts"),
        )
        .annotate(newest=Subquery(same_kind.values("number")[:1]))
        .annotate(newest_at=Subquery(same_kind.values("created_at")[:1]))
        .filter(guideline__number__lt=F("newest"))
    )  # fmt: skip
    found = found.filter(guideline__kind=kind) if kind else found
    for round, guideline, newest in _upheld(project):
        found = found.exclude(assignment__round=round, guideline__number=guideline, newest=newest)
    # Gold that was decided anew since needs no second look.
    return found.filter(~Exists(since)).select_related("assignment__unit", "assignment__round", "author", "guideline")


def _upheld(project: Project) -> set[tuple[int, int, int]]:
    """(round, guideline, newest guideline) of answers that were said to stand; the log knows."""
    acts = Entry.objects.filter(project=project.pk, verb=UPHOLD)
    found = acts.values_list("object_id", "after__guideline", "after__newest")
    return {(int(round), guideline, newest) for round, guideline, newest in found}
