"""What results hang on and was corrected since they were made.

Counted by the data base, which begins at the units that were superseded or came later: they are few, and what hangs on
them is found by its index. What it must not begin at is all that a run or a scoring has, which may be millions of rows;
so these are compared in a way that no index serves (`_among`).
"""

from collections.abc import Sequence
from typing import Any

from django.db.models import BigIntegerField, Count, ExpressionWrapper, F, OuterRef, Q, QuerySet, Subquery

from projects.models import Project, Unit

from ..models import ItemStatus, ProbeScore, Run, RunItem, Score


def compared(project: Project, scorings: Sequence[int]) -> dict[int, int]:
    """Scoring -> how many of its summaries it compared with a text that was corrected or taken out since.

    Those of units that were taken out themselves are not among them: see `taken_out`.
    """
    found = Score.objects.filter(reference__in=_superseded(project), summary__item__unit__superseded_by=None)
    return _counted(_among(found, "scoring", scorings), "scoring", "summary")


def taken_out(project: Project, scorings: Sequence[int]) -> dict[int, int]:
    """Scoring -> how many of its summaries are of units that were taken out since."""
    found = Score.objects.filter(summary__item__unit__in=_superseded(project))
    return _counted(_among(found, "scoring", scorings), "scoring", "summary")


def retired(project: Project, runs: Sequence[Run]) -> dict[int, tuple[int, int]]:
    """Run -> how many of its items are of units that were taken out since, and how many of these are done."""
    found = _among(RunItem.objects.filter(unit__in=_superseded(project)), "run", [run.pk for run in runs])
    done = Count("pk", filter=Q(status=ItemStatus.DONE))
    counted = found.order_by().values("run").annotate(n=Count("pk"), done=done).values_list("run", "n", "done")
    return {run: (n, done) for run, n, done in counted}


def targets(project: Project, runs: Sequence[Run]) -> dict[int, int]:
    """Probe -> how many of its items were judged by a target that was corrected or taken out since."""
    found = ProbeScore.objects.filter(target__unit__in=_superseded(project), item__unit__superseded_by=None)
    return _counted(_among(found, "item__run", [run.pk for run in runs]), "item__run", "item")


def inputs(runs: Sequence[Run]) -> dict[int, int]:
    """Run -> how many of its items have inputs that were corrected, or added, since they were read."""
    ids = [run.pk for run in runs]
    read = RunItem.objects.filter(run=OuterRef("pk"), units_up_to__isnull=False).order_by("units_up_to")
    began = Run.objects.filter(pk__in=ids).annotate(oldest=Subquery(read.values("units_up_to")[:1]))
    marks = [mark for mark in began.values_list("oldest", flat=True) if mark is not None]
    if not marks:
        return {}
    later = RunItem.objects.filter(
        status=ItemStatus.DONE, unit__superseded_by=None,
        unit__cluster__propositions__position__gt=0, unit__cluster__propositions__unit__superseded_by=None,
        unit__cluster__propositions__unit__gt=F("units_up_to"),
        # Said again with a number, which tells the data base how few they are.
        unit__cluster__propositions__unit__in=Unit.objects.filter(pk__gt=min(marks)),
    )  # fmt: skip
    return _counted(_among(later, "run", ids), "run", "pk")


def _superseded(project: Project) -> QuerySet[Unit, Any]:
    return Unit.objects.filter(project=project, superseded_by__isnull=False).values("pk")


def _among(found: QuerySet[Any], by: str, ids: Sequence[int]) -> QuerySet[Any]:
    """Of these runs or scorings only; by an expression, so that they are not where the data base begins."""
    rows: QuerySet[Any] = found.alias(of=ExpressionWrapper(F(by) + 0, output_field=BigIntegerField()))
    return rows.filter(of__in=ids)


def _counted(found: QuerySet[Any], by: str, what: str) -> dict[int, int]:
    counted = found.order_by().values(by).annotate(n=Count(what, distinct=True))
    return dict(counted.values_list(by, "n"))
