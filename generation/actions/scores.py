"""Scoring: a metric applied to all summaries of a run, once."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from api.parameters import check
from api.problems import Conflict, Refused
from audit import log
from audit.digests import digest_of
from projects.background import batches, jobs
from projects.models import Job
from sql import planner

from .. import metrics
from ..metrics.protocol import Judged, Metric, MetricError, Params, Row, Scorer
from ..models import Run, RunPurpose, Score, Scoring, Summary
from ..runs.queues import DEFAULT, GPU
from ..scoring import judging
from ..scoring.comparing import uncompared
from ..scoring.reckoning import is_reckoned, means_of
from .comparing import compare_scoring
from .reckoning import reckon_scoring

KIND = "score_run"
#: Up to so many summaries it is seen at once whether they were scored already; of more a worker finds out.
LOOKED_AT_ONCE = 1000

NO_TARGET = "its unit has no target"

Progress = Callable[[int, int | None, str], None]


def metric_of(key: str) -> Metric:
    """A metric by its key; `Refused` names those that there are."""
    try:
        return metrics.get(key)
    except KeyError:
        known = ", ".join(metric.key for metric in metrics.every())
        raise Refused.field("metric", f"There is no such metric; there are: {known}.") from None


def checked(metric: Metric, given: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters of a metric, defaults written out; `Refused` names each that is wrong."""
    params, faults = check(metric.parameters, given)
    if faults:
        errors = [{"field": f"params.{name}", "message": message} for name, message in faults]
        raise Refused(f"{faults[0][0]}: {faults[0][1]}", errors=errors)
    try:
        metric.check(params)
    except MetricError as error:
        raise Refused(str(error)) from None
    return params


def ask_for_scores(*, run: Run, metric: str, params: Mapping[str, Any], by: User | None) -> Job | Scoring:
    """Have a run scored in the background. What is asked for already is that job; what is done already is its scoring.

    Raises `Refused` for a metric or parameters that do not exist, `Conflict` where there is nothing to score.
    """
    chosen = metric_of(metric)
    clean = checked(chosen, params)
    count = Summary.objects.filter(item__run=run).count()
    if run.purpose != RunPurpose.SUMMARIES or not count:
        raise Conflict("This run has no summaries to score.")
    torch = chosen.needs_torch(clean)
    # A machine without torch need not know the versions that those with it have.
    if not torch and count <= LOOKED_AT_ONCE:
        known = Scoring.objects.complete().filter(run=run, hash=_hash(chosen, clean, _libraries(chosen, clean), run))
        if (found := known.first()) and is_reckoned(found) and not uncompared(found):
            return _shown_again(found)
    wanted = {"run": run.pk, "metric": chosen.key, "params": clean}
    with transaction.atomic():
        project = run.version.system.project
        job, is_new = jobs.ask(
            project=project, kind=KIND, params=wanted, by=by, queue=GPU if torch else DEFAULT
        )  # fmt: skip
        if not is_new:
            return job
        log.record(
            actor=by, verb="ask for scores", object_type="run", object_id=run.pk, project_id=project.pk,
            after={"metric": chosen.key, "params": clean},
        )  # fmt: skip
    return job


def score_run(
    *, run: Run, metric: str, params: Mapping[str, Any], by: User | None, progress: Progress, job: Job | None = None
) -> Scoring:
    """Score every summary that has no row yet, batch by batch, in constant memory; then take the means, and what is of
    the corpus, and compare with the other systems on the units that both have.

    ``progress`` is called inside the transaction that stores a batch: by raising it keeps a worker that lost its lease,
    or was told to stop, from writing. What was stored stays, and the same call goes on from there.
    """
    chosen = metric_of(metric)
    clean = checked(chosen, params)
    libraries = _libraries(chosen, clean)
    total = Summary.objects.filter(item__run=run).count()
    progress(0, total, "looking at what is there")
    digest = _hash(chosen, clean, libraries, run)
    with batches.batch():
        scoring, _ = Scoring.objects.get_or_create(
            run=run, hash=digest,
            defaults={"metric": chosen.key, "params": clean, "libraries": libraries, "created_by": by, "job": job},
        )  # fmt: skip
    if scoring.finished_at is None:
        scorer = _loaded(chosen, clean)
        _score_what_is_left(scoring, scorer, total, progress)
        planner.look_at_grown(Score)
        corpus = scorer.corpus(_stored(scoring)) if chosen.has_corpus else {}
        progress(total, total, "taking the means")
        means = means_of(scoring)
        with batches.batch():
            progress(total, total, "done")
            left = Scoring.objects.filter(pk=scoring.pk, finished_at=None)
            left.update(finished_at=timezone.now(), corpus=corpus, means=means)
        scoring.refresh_from_db()
    else:
        reckon_scoring(scoring)
        _shown_again(scoring)
    compare_scoring(scoring, lambda other: progress(total, total, f"comparing with {other}"))
    return scoring


def _shown_again(scoring: Scoring) -> Scoring:
    """Tables show the scoring that was asked for last: one of other parameters must not hide it for good."""
    scoring.finished_at = timezone.now()
    with batches.batch():
        scoring.save(update_fields=["finished_at"])
    return scoring


def _score_what_is_left(scoring: Scoring, scorer: Scorer, total: int, progress: Progress) -> None:
    done = 0
    for batch in judging.batches(scoring.run):
        there = set(
            scoring.scores.filter(summary__in=[judged.summary for judged in batch]).values_list("summary_id", flat=True)
        )
        left = [judged for judged in batch if judged.summary not in there]
        nothing = _without_target(metrics.get(scoring.metric))
        found = [rows or [nothing] for rows in (scorer.score(left) if left else [])]
        done += len(batch)
        with batches.batch():
            progress(done, total, f"{metrics.get(scoring.metric).name} of {done} of {total} summaries")
            # Two that score the same at once say the same: whoever comes second stores nothing.
            Score.objects.bulk_create(
                (_score(scoring, judged, row) for judged, rows in zip(left, found, strict=True) for row in rows),
                batch_size=500,
                ignore_conflicts=True,
            )


def _without_target(metric: Metric) -> Row:
    """What is stored of a summary that has nothing to be compared with: that, so that it is not looked for again."""
    names = [figure.key for figure in metric.figures if figure.against == "reference"]
    return Row(None, dict.fromkeys(names), dict.fromkeys(names, NO_TARGET))


def _score(scoring: Scoring, judged: Judged, row: Row) -> Score:
    return Score(
        scoring=scoring, summary_id=judged.summary, reference_id=row.reference, values=dict(row.values),
        undefined=dict(row.undefined),
    )  # fmt: skip


def _stored(scoring: Scoring) -> Iterator[tuple[Judged, list[Row]]]:
    """Every summary with the rows that were stored of it."""
    for batch in judging.batches(scoring.run):
        rows: dict[int, list[Row]] = {}
        for score in scoring.scores.filter(summary__in=[judged.summary for judged in batch]):
            rows.setdefault(score.summary_id, []).append(Row(score.reference_id, score.values, score.undefined))
        yield from ((judged, rows.get(judged.summary, [])) for judged in batch)


def _hash(metric: Metric, params: Params, libraries: Mapping[str, Any], run: Run) -> str:
    return digest_of(
        {"metric": metric.key, "params": params, "libraries": libraries, "summaries": judging.seen(run)}
    )  # fmt: skip


def _libraries(metric: Metric, params: Params) -> dict[str, Any]:
    try:
        return metric.libraries(params)
    except MetricError as error:
        raise Refused(str(error)) from None


def _loaded(metric: Metric, params: Params) -> Scorer:
    try:
        return metric.load(params)
    except MetricError as error:
        raise Refused(str(error)) from None
