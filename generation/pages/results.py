"""The Results page's automatic part: the tables as they stand, what is missing, and the scores of single summaries."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import F, QuerySet

from api.problems import NotFound, Refused
from projects import tables
from projects.models import Job, JobStatus, Member
from projects.pages.tables import table_page
from projects.tables import Tables
from projects.tables.writing import FORMATS

from .. import metrics, plots
from ..actions.scores import KIND
from ..models import Run, Score, Scoring, Summary
from ..runs.queues import DEFAULT
from ..scoring.reckoning import PROPOSITIONS
from ..tables.scored import Scores

Json = dict[str, Any]


def page(member: Member) -> Json:
    """All tables, what a lead can have scored, and which scorings are under way."""
    shown = Tables(member.project, member)
    scores = shown.data(Scores)
    # Before the tables: what ends while they are made is not in them, and whoever follows it comes back for them.
    active = under_way(member, [at.run.pk for at in scores.runs])
    made = [table_page(shown.build(table)) for table in shown.there()]
    probed = any(table["key"] == "m3-7" and table["rows"] for table in made)
    return {
        "tables": made,
        "runs": [
            {
                "run": at.run.pk, "name": at.name, "level": at.level, "version": at.run.version_id,
                "summaries": at.summaries, "items": at.items,
                "scored": [metric.key for metric in metrics.every() if scores.scoring(metric.key, at.run)],
            }
            for at in scores.runs
        ],
        "metrics": metrics.every(),
        "plots": [
            {"metric": metric, "figure": figure.key, "title": f"{metrics.get(metric).name}: {figure.label}"}
            for metric, figure in plots.drawable(scores)
        ]
        + ([{"metric": plots.PROBE, "figure": "accuracy", "title": "Probe: accuracy by kind"}] if probed else []),
        "under_way": active,
        "failed": failed(member, scores, active),
    }  # fmt: skip


def table_file(member: Member, key: str, form: str) -> tuple[str, str, str]:
    """(text, media type, file name) of a table in a format; `NotFound` for one that does not exist."""
    try:
        table, (ending, media, write) = tables.get(key), FORMATS[form]
    except KeyError:
        raise NotFound("There is no such table or format.") from None
    return write(Tables(member.project, member).build(table)), media, f"{member.project.slug}-{key}.{ending}"


def under_way(member: Member, runs: Sequence[int]) -> list[Json]:
    """Scorings that run or wait, of runs that the member may see: what will be done next first."""
    active = Job.objects.filter(
        project=member.project, kind=KIND, status__in=(JobStatus.QUEUED, JobStatus.RUNNING)
    ).order_by("pk")
    found = [job for job in active if job.params["run"] in runs]
    # A worker without torch leaves those of the other queue alone.
    found.sort(key=lambda job: (job.status != JobStatus.RUNNING, job.queue != DEFAULT))
    return [{"job": job.pk, "run": job.params["run"], "metric": job.params["metric"]} for job in found]


def failed(member: Member, scores: Scores, active: Sequence[Json]) -> list[Json]:
    """Why the last try of a run and a metric failed, where it was not scored since and no new try is under way."""
    anew = {(job["run"], job["metric"]) for job in active}
    runs = {at.run.pk: at.run for at in scores.runs}
    last: dict[tuple[int, str], Job] = {}
    for job in Job.objects.filter(project=member.project, kind=KIND, status=JobStatus.FAILED).order_by("pk"):
        if job.params["run"] in runs:
            last[job.params["run"], job.params["metric"]] = job
    return [
        {"run": run, "metric": metric, "error": job.error}
        for (run, metric), job in last.items()
        if (run, metric) not in anew
        and not ((done := scores.scoring(metric, runs[run])) and _later(done.finished_at, job.finished_at))
    ]


def _later(one: datetime | None, other: datetime | None) -> bool:
    return one is not None and (other is None or one > other)


def scores_of(run: Run, member: Member, metric: str, figure: str, descending: bool) -> QuerySet[Score]:
    """The rows of a run's newest finished scoring, in the order of a figure; those without it at one end.

    None of a run that is sealed from the member. `Refused` for a metric or figure that does not exist.
    """
    try:
        known = {each.key for each in metrics.get(metric).figures}
    except KeyError:
        raise Refused.field("metric", "There is no such metric.") from None
    if figure and figure not in known:
        raise Refused.field("figure", f"{metric} has no such figure.")
    if not Summary.objects.visible_to(member).filter(item__run=run).exists():
        return Score.objects.none()
    newest = Scoring.objects.shown().filter(run=run, metric=metric).first()
    found = Score.objects.filter(scoring=newest).select_related("summary__item__unit", "reference")
    if figure:
        found = found.filter(values__has_key=figure)
        by = F(f"values__{figure}")
        return found.order_by(by.desc() if descending else by.asc(), "pk")
    return found.order_by("pk")


def score_rows(found: Sequence[Score], level: str) -> list[Json]:
    return [
        {
            "summary": score.summary_id, "unit": score.summary.item.unit_id, "key": score.summary.item.unit.key,
            "against": _against(score, level), "text": score.summary.text, "values": score.values,
            "undefined": score.undefined,
        }
        for score in found
    ]  # fmt: skip


def _against(score: Score, level: str) -> str:
    if score.reference is None:
        return ""
    single = level == "document" and score.reference.type == "proposition"
    return f"{PROPOSITIONS}: {score.reference.key}" if single else "own target"
