"""Queries of the judges of a round on *Results*."""

import json
from typing import Any

from django.db.models import Count, Max, QuerySet

from measures.judges import RULE
from projects.answers.queries import counted
from projects.models import Member
from projects.permissions import may

from ..models import JudgeFigures, JudgeRun, JudgeRunState, RatingDesign
from ..permissions import rates_now
from ..results.actions import unfinished
from ..results.computed import ANSWERS, RULES
from ..results.queries import WHO

Json = dict[str, Any]


def finished_runs(design: RatingDesign) -> QuerySet[JudgeRun]:
    """Return the runs of judges that have asked every page of a round, the first one first."""
    runs = JudgeRun.objects.filter(design=design, state=JudgeRunState.DONE)
    return runs.select_related("judge", "design__round__project").order_by("pk")


def basis_of(run: JudgeRun) -> Json:
    """Return a summary of the data that the figures of a run depend on."""
    return answers_of(run.design) | {"finished": run.finished_at and run.finished_at.isoformat()}


def answers_of(design: RatingDesign) -> Json:
    answers = counted(design.round).order_by().aggregate(n=Count("pk"), newest=Max("received_at"))
    return {"answers": answers["n"], "newest": answers["newest"] and answers["newest"].isoformat()}


def judges_of(design: RatingDesign, member: Member) -> list[Json]:
    """Return the finished judge runs of an unblinded round with their stored figures; none for a present rater.

    Agreement with single raters is removed unless the member may see who answered what.
    """
    if rates_now(member):
        return []
    runs = list(finished_runs(design))
    stored = {each.run_id: each for each in JudgeFigures.objects.filter(run__in=runs)}
    now = answers_of(design) if runs else {}
    job = unfinished(design) if runs else None
    sees_raters = may(member, WHO)
    rows = []
    for run in runs:
        known = stored.get(run.pk)
        figures = json.loads(known.figures) if known else None
        if figures and not sees_raters:
            without_raters(figures)
        rows.append(
            {
                "run": run.pk,
                "judge": str(run.judge),
                "model": run.judge.model,
                "family": run.judge.family,
                "samples": run.samples,
                "both_orders": run.both_orders,
                "finished_at": run.finished_at,
                "group": known.group if known else "",
                "made_at": known.made_at if known else None,
                "outdated": _outdated(known, now) if known else [],
                "job": job.pk if job else None,
                "figures": figures,
            }
        )
    return rows


def is_current(run: JudgeRun, known: JudgeFigures) -> bool:
    """Return whether the stored figures belong to the present answers and rule."""
    return known.rule == RULE and known.basis == basis_of(run)


def _outdated(known: JudgeFigures, now: Json) -> list[str]:
    same = all(known.basis[name] == now[name] for name in now)
    return [reason for reason, holds in ((RULES, known.rule == RULE), (ANSWERS, same)) if not holds]


def without_raters(figures: Json) -> None:
    """Remove the pseudonyms of raters. Their tests stay, numbered."""
    for row in figures["criteria"]:
        row["agreement"]["raters"] = []
        for number, each in enumerate(row["alternative"]["annotators"], 1):
            each["annotator"] = str(number)
