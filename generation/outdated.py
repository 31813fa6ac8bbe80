"""What results hang on and was corrected since they were made.

Counted by the data base, which begins at the units that were superseded or came later: they are few, and what hangs on
them is found by its index. What it must not begin at is all that a run or a scoring has, which may be millions of rows;
so these are compared in a way that no index serves (`beside_the_index`).
"""

from collections.abc import Sequence
from typing import Any

from django.db.models import BigIntegerField, Count, ExpressionWrapper, F, OuterRef, QuerySet, Subquery
from django.db.models.expressions import Combinable

from projects.models import Project, Unit

from .models import ItemStatus, ProbeScore, Run, RunItem, Score


def compared(project: Project, scorings: Sequence[int]) -> dict[int, int]:
    """Scoring -> how many of its summaries it compared with a text that was corrected or taken out since.

    Those of units that were taken out themselves are not among them: see `taken_out`.
    """
    found = Score.objects.filter(reference__in=superseded(project), summary__item__unit__superseded_by=None)
    return _counted(among(found, "scoring", scorings), "scoring", "summary")


def taken_out(project: Project, scorings: Sequence[int]) -> dict[int, int]:
    """Scoring -> how many of its summaries are of units that were taken out since."""
    found = Score.objects.filter(summary__item__unit__in=superseded(project))
    return _counted(among(found, "scoring", scorings), "scoring", "summary")


def targets(project: Project, runs: Sequence[Run]) -> dict[int, int]:
    """Probe -> how many of its items were judged by a target that was corrected or taken out since."""
    found = ProbeScore.objects.filter(target__unit__in=superseded(project), item__unit__superseded_by=None)
    return _counted(among(found, "item__run", [run.pk for run in runs]), "item__run", "item")


def inputs(runs: Sequence[Run]) -> dict[int, int]:
    """Run -> how many of its items have inputs that were corrected, or added, since they were read."""
    read = RunItem.objects.filter(run=OuterRef("pk"), units_up_to__isnull=False).order_by("units_up_to")
    began = Run.objects.filter(pk__in=[run.pk for run in runs]).annotate(
        oldest=Subquery(read.values("units_up_to")[:1])
    )
    later = RunItem.objects.filter(
        status=ItemStatus.DONE, unit__superseded_by=None,
        unit__cluster__propositions__position__gt=0, unit__cluster__propositions__unit__superseded_by=None,
        unit__cluster__propositions__unit__gt=F("units_up_to"),
        # What none of them has read is few of all; the line above says which.
        unit__cluster__propositions__unit__in=Unit.objects.filter(
            pk__gt=Subquery(began.order_by("oldest").filter(oldest__isnull=False).values("oldest")[:1])
        ),
    )  # fmt: skip
    return _counted(among(later, "run", [run.pk for run in runs]), "run", "pk")


def superseded(project: Project) -> QuerySet[Unit, Any]:
    return Unit.objects.filter(project=project, superseded_by__isnull=False).values("pk")


def among(found: QuerySet[Any], by: str, ids: Sequence[int]) -> QuerySet[Any]:
    """Of these runs or scorings only."""
    rows: QuerySet[Any] = found.alias(of=beside_the_index(by))
    return rows.filter(of__in=ids)


def beside_the_index(field: str) -> Combinable:
    """A foreign key as an expression: what it is compared with is not where the data base begins."""
    return ExpressionWrapper(F(field) + 0, output_field=BigIntegerField())


def _counted(found: QuerySet[Any], by: str, what: str) -> dict[int, int]:
    counted = found.order_by().values(by).annotate(n=Count(what, distinct=True))
    return dict(counted.values_list(by, "n"))
