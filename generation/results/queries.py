"""Queries of the automatic part of the Results page: tables, missing steps, and scores of single summaries."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import F, QuerySet

from api.problems import NotFound, Refused
from measures.unit_names import unit_name
from projects import reports
from projects.models import Job, JobStatus, Member
from projects.reports.registry import Tables
from projects.reports.serializers import table_page
from projects.reports.writing import FORMATS

from .. import metrics
from ..backends.identity import DEFAULT
from ..models import Run, Score, Scoring, Summary
from ..scoring.actions import KIND
from ..scoring.computing import PROPOSITIONS, side_of, with_names
from .tables.scored import Scores

Json = dict[str, Any]


def page(member: Member, *, unseen: bool = False) -> Json:
    """Return all tables, the runs and metrics that can be scored, and the scorings in progress.

    ``unseen``: leave out the units that the model of any system has seen in a training.
    """
    tables = Tables(member.project, member, unseen=unseen)
    scores = tables.data(Scores)
    # Query jobs before the tables. A job that ends in between is still listed, so that clients reload the tables.
    active = under_way(member, [scored_run.run.pk for scored_run in scores.every_run])
    # The page opens with the first table: one of scores, if there are any.
    available = sorted(tables.available_tables(), key=lambda table: not issubclass(table.data, Scores))
    table_pages = [table_page(tables.build(table)) | {"of_rounds": table.data.of_rounds} for table in available]
    return {
        "tables": table_pages,
        "runs": [
            {
                "run": scored_run.run.pk,
                "name": scored_run.name,
                "level": scored_run.level,
                "version": scored_run.run.version_id,
                "summaries": scored_run.summaries,
                "items": scored_run.items,
                "scored": [metric.key for metric in metrics.every() if scores.scoring(metric.key, scored_run.run)],
            }
            for scored_run in scores.every_run
        ],
        "metrics": metrics.every(),
        "under_way": active,
        "failed": failed(member, scores, active),
        "seen": scores.seen(),
    }


def table_file(member: Member, key: str, form: str, *, unseen: bool = False) -> tuple[str, str, str]:
    """Return (text, media type, file name) of a table in a format. Raise `NotFound` if it does not exist."""
    try:
        table, (ending, media, write) = reports.get(key), FORMATS[form]
    except KeyError:
        raise NotFound("There is no such table or format.") from None
    text = write(Tables(member.project, member, unseen=unseen).build(table))
    return text, media, f"{member.project.slug}-{key}{'-unseen' * unseen}.{ending}"


def under_way(member: Member, runs: Sequence[int]) -> list[Json]:
    """Return the queued and running scorings of runs that the member may see, in order of execution."""
    active = Job.objects.filter(
        project=member.project, kind=KIND, status__in=(JobStatus.QUEUED, JobStatus.RUNNING)
    ).order_by("pk")
    jobs = [job for job in active if job.params["run"] in runs]
    # A worker without torch does not process the other queue.
    jobs.sort(key=lambda job: (job.status != JobStatus.RUNNING, job.queue != DEFAULT))
    return [{"job": job.pk, "run": job.params["run"], "metric": job.params["metric"]} for job in jobs]


def failed(member: Member, scores: Scores, active: Sequence[Json]) -> list[Json]:
    """Return the error of the last attempt of each run and metric, unless it was scored since or is being retried."""
    retried = {(job["run"], job["metric"]) for job in active}
    runs = {scored_run.run.pk: scored_run.run for scored_run in scores.every_run}
    last_jobs: dict[tuple[int, str], Job] = {}
    for job in Job.objects.filter(project=member.project, kind=KIND, status=JobStatus.FAILED).order_by("pk"):
        if job.params["run"] in runs:
            last_jobs[job.params["run"], job.params["metric"]] = job
    return [
        {"run": run, "metric": metric, "error": job.error}
        for (run, metric), job in last_jobs.items()
        if (run, metric) not in retried
        and not ((scoring := scores.scoring(metric, runs[run])) and _later(scoring.finished_at, job.finished_at))
    ]


def _later(one: datetime | None, other: datetime | None) -> bool:
    return one is not None and (other is None or one > other)


def scores_of(run: Run, member: Member, metric: str, figure: str, descending: bool) -> QuerySet[Score]:
    """Return the rows of a run's newest finished scoring, sorted by a figure if one is given.

    The result is empty if the run is embargoed for the member. Raise `Refused` for an unknown metric or figure.
    """
    try:
        known = {declared.key for declared in metrics.get(metric).figures}
    except KeyError:
        raise Refused.field("metric", "There is no such metric.") from None
    if figure and figure not in known:
        raise Refused.field("figure", f"{metric} has no such figure.")
    if not Summary.objects.visible_to(member).filter(item__run=run).exists():
        return Score.objects.none()
    newest = Scoring.objects.latest_finished().filter(run=run, metric=metric).first()
    scores = with_names(Score.objects.filter(scoring=newest), run.version.level)
    scores = scores.select_related("summary__item__unit", "reference")
    if figure:
        scores = scores.filter(values__has_key=figure)
        order = F(f"values__{figure}")
        return scores.order_by(order.desc() if descending else order.asc(), "pk")
    return scores.order_by("pk")


def score_rows(scores: Sequence[Any], level: str) -> list[Json]:
    return [
        {
            "summary": score.summary_id,
            "unit": score.summary.item.unit_id,
            "key": score.summary.item.unit.key,
            "against": _against(score, level),
            "text": score.summary.text,
            "values": score.values,
            "undefined": score.undefined,
        }
        for score in scores
    ]


def _against(score: Any, level: str) -> str:
    if score.reference is None:
        return ""
    side = side_of(level, score.reference.type, score.form, score.writer)
    return f"{side}: {unit_name(score.reference.key)}" if side == PROPOSITIONS else side
