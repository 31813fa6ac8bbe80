"""Compute the scores of runs: metrics of summaries, figures of probes, and their comparisons."""

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from api.parameters import check
from api.problems import Conflict, Refused
from audit import log
from audit.digests import canonical, digest_of
from measures.probe import RULE as PROBE_RULE
from measures.references import MAXIMUM, ONE_BY_ONE, WRITTEN_LEVELS
from projects.jobs import batches, jobs
from projects.models import Job
from sql import planner

from .. import metrics
from ..backends.identity import DEFAULT, GPU
from ..metrics.protocol import Judged, Metric, MetricError, Params, Row, Scorer
from ..models import ItemStatus, ProbeFigures, Run, RunPurpose, Score, Scoring, Summary, UnitLevel
from ..sources import materials_of
from .comparing import compare_probe, compare_scoring, uncompared
from .computing import has_current_means, means_of, probe_results
from .unseen import compute_unseen_probes, compute_unseen_scores, lacks_unseen

#: Number of summaries that are read, scored and stored together. It limits memory, and the work lost with a killed
#: worker.
BATCH = 100
COMPUTE_SCORES = "reckon_probe"


def compute_scoring_means(scoring: Scoring) -> None:
    """Store the means of a completed scoring, unless they exist under the current rule."""
    if not has_current_means(scoring):
        scoring.means = means_of(scoring)
        with batches.batch():
            scoring.save(update_fields=["means"])


def compute_probe_figures(run: Run) -> ProbeFigures:
    """Store the figures of a probe's items so far, compare them with other probes, and return them.

    Existing figures are kept, including those of other rules.
    """
    items = run.items.filter(status=ItemStatus.DONE).count()
    with batches.batch():
        figures = ProbeFigures.objects.filter(run=run, items=items, rule=PROBE_RULE).first()
        if figures is None:
            rows = [result.as_json() for result in probe_results(run)]
            figures, _ = ProbeFigures.objects.get_or_create(
                run=run, items=items, rule=PROBE_RULE, defaults={"rows": rows}
            )
    compare_probe(figures)
    compute_unseen_probes(figures)
    return figures


def request_probe_figures(run: Run) -> None:
    """Queue a job that computes the figures of a probe that has ended."""
    if run.purpose == RunPurpose.PROBE:
        jobs.enqueue(
            project=run.version.system.project, kind=COMPUTE_SCORES, params={"run": run.pk}, by=run.started_by, note=""
        )


KIND = "score_run"
#: Up to this number of summaries, the request itself checks for existing scores. Above it, the worker does.
MAX_CHECKED_IN_REQUEST = 1000

NO_TARGET, NO_SUMMARY = "its unit has no target", "its unit has no written summary"

Progress = Callable[[int, int | None, str], None]


def metric_of(key: str) -> Metric:
    """Return a metric by key. Raise `Refused` with the known keys if there is none."""
    try:
        return metrics.get(key)
    except KeyError:
        known = ", ".join(metric.key for metric in metrics.every())
        raise Refused.field("metric", f"Unknown metric. Available: {known}.") from None


def checked(metric: Metric, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return all parameters of a metric, with defaults written out. Raise `Refused` with each invalid one."""
    params, faults = check(metric.parameters, values)
    if faults:
        errors = [{"field": f"params.{name}", "message": message} for name, message in faults]
        raise Refused(f"{faults[0][0]}: {faults[0][1]}", errors=errors)
    try:
        metric.check(params)
    except MetricError as error:
        raise Refused(str(error)) from None
    return params


def _checked_for(run: Run, metric: Metric, values: Mapping[str, Any]) -> dict[str, Any]:
    """Like `checked`. The setting of written references exists at their levels only, so that other hashes stay."""
    clean = checked(metric, values)
    if run.version.level not in WRITTEN_LEVELS and clean.pop("references", ONE_BY_ONE) == MAXIMUM:
        raise Refused.field("params.references", "references: only summaries of questions have several references.")
    return clean


def request_scores(*, run: Run, metric: str, params: Mapping[str, Any], by: User | None) -> Job | Scoring:
    """Queue a job that scores a run. Return the job in progress or the existing scoring, if there is one.

    Raise `Refused` for an unknown metric or parameter, and `Conflict` if there are no summaries.
    """
    chosen = metric_of(metric)
    clean = _checked_for(run, chosen, params)
    count = Summary.objects.filter(item__run=run).count()
    if run.purpose != RunPurpose.SUMMARIES or not count:
        raise Conflict("This run has no summaries to score.")
    needs_torch = chosen.needs_torch(clean)
    # A machine without torch does not know the library versions of the machines that have it.
    if not needs_torch and count <= MAX_CHECKED_IN_REQUEST:
        matching = Scoring.objects.complete().filter(run=run, hash=_hash(chosen, clean, _libraries(chosen, clean), run))
        scoring = matching.first()
        if scoring and has_current_means(scoring) and not uncompared(scoring) and not lacks_unseen(scoring):
            return _mark_latest(scoring)
    wanted = {"run": run.pk, "metric": chosen.key, "params": clean}
    with transaction.atomic():
        project = run.version.system.project
        job, is_new = jobs.request_job(
            project=project, kind=KIND, params=wanted, by=by, queue=GPU if needs_torch else DEFAULT
        )
        if not is_new:
            return job
        log.record(
            actor=by,
            verb="ask for scores",
            object_type="run",
            object_id=run.pk,
            project_id=project.pk,
            after={"metric": chosen.key, "params": clean},
        )
    return job


def score_run(
    *, run: Run, metric: str, params: Mapping[str, Any], by: User | None, progress: Progress, job: Job | None = None
) -> Scoring:
    """Score all summaries without scores, in batches and constant memory. Then compute means, corpus figures and
    comparisons.

    Systems are compared on their common units. ``progress`` is called inside the transaction that stores a batch. If it
    raises, a worker that lost its lease or was cancelled writes nothing. Stored batches are kept, and the same call
    continues from there.
    """
    chosen = metric_of(metric)
    clean = _checked_for(run, chosen, params)
    libraries = _libraries(chosen, clean)
    total = Summary.objects.filter(item__run=run).count()
    progress(0, total, "reading existing scores")
    digest = _hash(chosen, clean, libraries, run)
    with batches.batch():
        scoring, _ = Scoring.objects.get_or_create(
            run=run,
            hash=digest,
            defaults={"metric": chosen.key, "params": clean, "libraries": libraries, "created_by": by, "job": job},
        )
    if scoring.finished_at is None:
        scorer = _loaded(chosen, clean)
        _score_remaining(scoring, scorer, total, progress)
        planner.analyze_grown_tables(Score)
        corpus = scorer.corpus(_stored(scoring)) if chosen.has_corpus else {}
        progress(total, total, "computing means")
        means = means_of(scoring)
        with batches.batch():
            progress(total, total, "done")
            unfinished = Scoring.objects.filter(pk=scoring.pk, finished_at=None)
            unfinished.update(finished_at=timezone.now(), corpus=corpus, means=means)
        scoring.refresh_from_db()
    else:
        compute_scoring_means(scoring)
        _mark_latest(scoring)
    compare_scoring(scoring, lambda other: progress(total, total, f"comparing with {other}"))
    compute_unseen_scores(
        scoring,
        lambda of, without: _loaded(chosen, clean).corpus(_stored(of, without)) if chosen.has_corpus else {},
        lambda of: progress(total, total, f"leaving out units that a model has seen for {of}"),
    )
    return scoring


def _mark_latest(scoring: Scoring) -> Scoring:
    """Mark a scoring as the latest. Tables show the latest one, so another parameter set must not hide it for good."""
    scoring.finished_at = timezone.now()
    with batches.batch():
        scoring.save(update_fields=["finished_at"])
    return scoring


def _score_remaining(scoring: Scoring, scorer: Scorer, total: int, progress: Progress) -> None:
    done = 0
    for batch in summaries_in_batches(scoring.run):
        scored = set(
            scoring.scores.filter(summary__in=[judged.summary for judged in batch]).values_list("summary_id", flat=True)
        )
        unscored = [judged for judged in batch if judged.summary not in scored]
        empty_row = _without_target(metrics.get(scoring.metric), scoring.run.version.level)
        rows_by_summary = [rows or [empty_row] for rows in (scorer.score(unscored) if unscored else [])]
        done += len(batch)
        with batches.batch():
            progress(done, total, f"{metrics.get(scoring.metric).name} of {done} of {total} summaries")
            # Concurrent scorings of the same summaries produce equal rows, so the second one stores nothing.
            Score.objects.bulk_create(
                (
                    _score(scoring, judged, row)
                    for judged, rows in zip(unscored, rows_by_summary, strict=True)
                    for row in rows
                ),
                batch_size=500,
                ignore_conflicts=True,
            )


def _without_target(metric: Metric, level: str) -> Row:
    """Return the row of a summary without references, so that it is not scored again."""
    names = [figure.key for figure in metric.figures if figure.against == "reference"]
    reason = NO_SUMMARY if level in (UnitLevel.ANSWER, UnitLevel.QUESTION) else NO_TARGET
    return Row(None, dict.fromkeys(names), dict.fromkeys(names, reason))


def _score(scoring: Scoring, judged: Judged, row: Row) -> Score:
    return Score(
        scoring=scoring,
        summary_id=judged.summary,
        reference_id=row.reference,
        values=dict(row.values),
        undefined=dict(row.undefined),
    )


def _stored(scoring: Scoring, without: Collection[int] = ()) -> Iterator[tuple[Judged, list[Row]]]:
    """Yield every summary with its stored rows. The units ``without`` are left out."""
    for batch in summaries_in_batches(scoring.run):
        rows: dict[int, list[Row]] = {}
        for score in scoring.scores.filter(summary__in=[judged.summary for judged in batch]):
            rows.setdefault(score.summary_id, []).append(Row(score.reference_id, score.values, score.undefined))
        yield from (
            (judged, rows.get(judged.summary, [])) for judged in batch if judged.material.source.unit not in without
        )


def _hash(metric: Metric, params: Params, libraries: Mapping[str, Any], run: Run) -> str:
    return digest_of(
        {"metric": metric.key, "params": params, "libraries": libraries, "summaries": digest_of_summaries(run)}
    )


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


def summaries_in_batches(run: Run, size: int | None = None) -> Iterator[list[Judged]]:
    """Yield all summaries of a run in order of creation, with one batch in memory at a time.

    A summary of a retired unit has no references and is left out.
    """
    last = 0
    summaries = Summary.objects.filter(item__run=run).order_by("pk").values_list("pk", "text", "item__unit")
    while chunk := list(summaries.filter(pk__gt=last)[: size or BATCH]):
        last = chunk[-1][0]
        materials_by_unit = materials_of(run.version, [unit for _, _, unit in chunk])
        yield [Judged(pk, text, materials_by_unit[unit]) for pk, text, unit in chunk if unit in materials_by_unit]


def digest_of_summaries(run: Run) -> str:
    """Return the SHA-256 of every summary with its inputs and references. It changes if a target is corrected."""
    digest = hashlib.sha256()
    for batch in summaries_in_batches(run):
        for judged in batch:
            source = judged.material.source
            digest.update(
                canonical(
                    [
                        judged.summary,
                        judged.text,
                        [[r.unit, r.text] for r in judged.material.references],
                        [text.text for text in source.inputs],
                        dict(source.pico),
                        source.background,
                    ]
                )
            )
            digest.update(b"\n")
    return digest.hexdigest()
