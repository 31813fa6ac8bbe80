"""Outputs of summarisers and their metrics, for the runs of the Results page.

A run under embargo for anybody is omitted completely, because its future raters can read releases.

Files in ``systems/``: ``runs.jsonl`` has the runs with their versions, ``summaries.jsonl`` the outputs with their
units. ``scorings.jsonl`` has the parameters and figures of metrics, ``scores/METRIC.csv`` the scores of single
summaries, ``references.csv`` the reference texts. ``likelihoods.csv`` and ``probes.jsonl`` have the probes with
counterfactuals.

Comparisons of systems on common units are in `pairs`. ``python -m measures.recompute`` recomputes the figures from
these files.
"""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from typing import Any

from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce

from annotation.kinds.effect.units import EFFECT
from generation import metrics
from generation.exposure import Exposures
from generation.latest_runs import published_runs
from generation.metrics.protocol import Figure
from generation.models import FineTuning, ProbeFigures, ProbeScore, RunPurpose, Score, Scoring, Summary, UnitLevel
from generation.results.tables.seen import count_seen
from generation.scoring.checking import compared_figures
from generation.scoring.computing import has_current_means, is_current, side_of, with_names
from generation.sources import materials
from projects.models import Project, Unit
from releases.formats.rows import BATCH, csv_row, utc_time
from sql.batches import in_batches

from .notes import Notes

RUNS, SUMMARIES, REFERENCES = "systems/runs.jsonl", "systems/summaries.jsonl", "systems/references.csv"
SCORINGS, SCORES = "systems/scorings.jsonl", "systems/scores/{}.csv"
PROBES, LIKELIHOODS = "systems/probes.jsonl", "systems/likelihoods.csv"
SCORED = ("run", "summary", "unit", "review", "against", "reference_type", "reference")
LIKELIHOOD = (
    "run",
    "unit",
    "target",
    "counterfactual",
    "kind",
    "review",
    "content_sum",
    "content_tokens",
    "all_sum",
    "all_tokens",
    "replaced_sum",
    "replaced_tokens",
    "changed_sum",
    "changed_tokens",
)


def _review(unit: str) -> Coalesce:
    """Return the review of a unit, or its question. Confidence intervals are clustered by it."""
    reviews = ("cluster__review", "target__review", "review", "effect__pair__review")
    paths = (*(f"{path}__pmid" for path in reviews), "passage__question__key", "question__key")
    return Coalesce(*(F(f"{unit}__{path}") for path in paths))


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    runs = published_runs(project)
    if not runs:
        return
    yield RUNS, _runs(project, runs)
    ids = [run.pk for run in runs]
    if Summary.objects.filter(item__run__in=ids).exists():
        yield SUMMARIES, _summaries(ids)
    scorings = list(
        Scoring.objects.latest_finished().filter(run__in=ids).select_related("run__version").order_by("run_id", "pk")
    )
    if scorings:
        yield SCORINGS, (_scoring(scoring) for scoring in scorings)
        yield REFERENCES, _references(project, scorings)
    for metric in metrics.every():
        if mine := [scoring for scoring in scorings if scoring.metric == metric.key]:
            yield SCORES.format(metric.key), _scores(mine)
    if ProbeScore.objects.filter(item__run__in=ids).exists():
        yield LIKELIHOODS, _likelihoods(ids)
        yield PROBES, _probes(runs)


def _json(row: dict[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False, sort_keys=True).encode() + b"\n"


def _runs(project: Project, runs: Sequence[Any]) -> Iterator[bytes]:
    exposures = Exposures(project)
    seen = count_seen(exposures, runs, by_any=False)
    of_runs = {run.pk: exposures.trainings(run.version_id) for run in runs}
    trainings = FineTuning.objects.in_bulk(set().union(*of_runs.values()))
    for run in runs:
        of_run = [_training(trainings[pk], project) for pk in sorted(of_runs[run.pk])]
        yield _json({**_run(run), "seen": seen.get(run.pk, (0, 0))[0], "trainings": of_run})


def _training(training: FineTuning, project: Project) -> dict[str, Any]:
    """Return the record of a training. One of another project has no name."""
    examples = {role: training.data.get(role, {}).get("examples", 0) for role in ("training", "development")}
    name = training.name if training.project_id == project.pk else ""
    return {"name": name, "hash": training.hash, "data": training.data.get("sha256", ""), **examples}


def _run(run: Any) -> dict[str, Any]:
    """Return the row of a run. ``done`` is the number of ``units`` with a result; ``run`` is annotated with both."""
    system_version = run.version
    return {
        "run": run.pk,
        "system": system_version.system.name,
        "version": system_version.number,
        "hash": system_version.hash,
        "backend": system_version.backend,
        "level": system_version.level,
        "purpose": run.purpose,
        "status": run.status,
        "units": run.items_total,
        "done": run.done,
        "created_at": utc_time(run.created_at),
        "finished_at": utc_time(run.finished_at) if run.finished_at else None,
    }


def _summaries(runs: Sequence[int]) -> Iterator[bytes]:
    rows = Summary.objects.filter(item__run__in=runs).order_by("item__run_id", "pk").annotate(of=_review("item__unit"))
    names = (
        "run",
        "summary",
        "unit_type",
        "unit",
        "review",
        "text",
        "finish",
        "tokens_in",
        "tokens_cut",
        "tokens_out",
        "sha256",
    )
    for row in rows.values_list(
        "item__run_id",
        "pk",
        "item__unit__type",
        "item__unit__key",
        "of",
        "text",
        "finish",
        "tokens_in",
        "tokens_cut",
        "tokens_out",
        "digest",
    ).iterator(chunk_size=BATCH):
        yield _json(dict(zip(names, row, strict=True)))


def _scoring(scoring: Scoring) -> bytes:
    """Return the row of a scoring.

    ``means`` are the unscaled table values; null if not computed under the current rule.
    """
    return _json(
        {
            "run": scoring.run_id,
            "metric": scoring.metric,
            "params": scoring.params,
            "libraries": scoring.libraries,
            "scores": SCORES.format(scoring.metric),
            "corpus": scoring.corpus,
            "means": scoring.means if has_current_means(scoring) else None,
            "numpy": version("numpy"),
            "compared": compared_figures(scoring.metric, scoring.run.version.level),
            "bounds": {figure.key: _bounds(figure) for figure in metrics.get(scoring.metric).figures},
        }
    )


def _bounds(figure: Figure) -> list[float | None]:
    """Return the bounds of a mean; null for an infinite bound, because JSON has no infinity."""
    return [bound if math.isfinite(bound) else None for bound in figure.bounds]


def _references(project: Project, scorings: Sequence[Scoring]) -> Iterator[bytes]:
    yield csv_row(("unit_type", "unit", "text"))
    named = Score.objects.filter(scoring__in=scorings, reference__isnull=False).values("reference")
    units = Unit.objects.filter(project=project, pk__in=named).order_by("pk")
    text = Coalesce(F("proposition__text"), F("target__text"), F("written_summary__text"))
    of_texts = units.exclude(type=EFFECT)
    for row in of_texts.annotate(said=text).values_list("type", "key", "said").iterator(chunk_size=BATCH):
        yield csv_row(row)
    for batch in in_batches(units.filter(type=EFFECT), BATCH):
        for material in materials(project, UnitLevel.PAIR, [unit.pk for unit in batch]).values():
            if material.own:
                yield csv_row((EFFECT, material.own.key, material.own.text))


def _scores(scorings: Sequence[Scoring]) -> Iterator[bytes]:
    """Yield one column per figure, and the reasons for undefined figures.

    An empty cell without a reason means that the row does not apply to that figure.
    """
    figures = [figure.key for figure in metrics.get(scorings[0].metric).figures]
    yield csv_row([*SCORED, *figures, "undefined"])
    for scoring in scorings:
        rows = Score.objects.filter(scoring=scoring).order_by("pk").annotate(of=_review("summary__item__unit"))
        level = scoring.run.version.level
        names = ("summary_id", "summary__item__unit__key", "of", "reference__type", "form", "writer", "reference__key")
        for summary, unit, review, reference_type, form, writer, reference, values, undefined in (
            with_names(rows, level).values_list(*names, "values", "undefined").iterator(chunk_size=BATCH)
        ):
            against = side_of(level, reference_type, form, writer)
            numbers = [_number(values.get(figure)) for figure in figures]
            reasons = json.dumps(undefined, ensure_ascii=False, sort_keys=True) if undefined else ""
            yield csv_row(
                [scoring.run_id, summary, unit, review, against, reference_type, reference, *numbers, reasons]
            )


def _number(value: float | None) -> str:
    """Return a number with full precision, in the same form if the database returned an integer."""
    return "" if value is None else repr(float(value))


def _likelihoods(runs: Sequence[int]) -> Iterator[bytes]:
    yield csv_row(LIKELIHOOD)
    rows = (
        ProbeScore.objects.filter(item__run__in=runs)
        .order_by("item__run_id", "item_id", "pk")
        .values_list(
            "item__run_id",
            "item__unit__key",
            "target__unit__key",
            "counterfactual_id",
            "counterfactual__kind",
            "target__cluster__review__pmid",
            *LIKELIHOOD[6:],
        )
    )
    for row in rows.iterator(chunk_size=BATCH):
        yield csv_row(repr(cell) if isinstance(cell, float) else cell for cell in row)


def _probes(runs: Sequence[Any]) -> Iterator[bytes]:
    """Yield the figures of probes.

    They are null if the probe has new results since, because they do not match these likelihoods.
    """
    stored: QuerySet[ProbeFigures] = ProbeFigures.objects.filter(run__in=runs).order_by("items")
    newest = {figures.run_id: figures for figures in stored if is_current(figures)}
    for run in runs:
        if run.purpose == RunPurpose.PROBE:
            figures = newest.get(run.pk)
            whole = figures is not None and figures.items == run.done
            yield _json({"run": run.pk, "rows": figures.rows if figures and whole else None, "numpy": version("numpy")})
