"""Interval plot of one figure of a metric or of the probe, with one interval per system."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from api.problems import Refused
from projects.reports.figures import IntervalPlot
from projects.reports.table import Cell

from ... import metrics
from ...metrics.protocol import Figure
from ...scoring.computing import OWN
from .m3_7 import few, figure_cell
from .probed import accuracies
from .scored import Scores
from .scored_run import ScoredRun

#: Replaces a metric key in requests for the plot of the probe.
PROBE = "probe"


def plottable_figures(scores: Scores) -> Iterator[tuple[str, Figure]]:
    """Yield (metric, figure) for each figure with a mean for at least one system."""
    for metric in metrics.every():
        for figure in metric.figures:
            if any(
                scores.found(metric.key, scored_run.run, figure.key, side).mean.value is not None
                for scored_run in scores.runs
                for side in _sides(scores, scored_run, figure)
            ):
                yield metric.key, figure


def by_system(scores: Scores, metric: str, figure: str) -> IntervalPlot:
    """Return the plot of means against the systems' own targets. Raise `Refused` for an unknown metric or figure."""
    if metric == PROBE:
        return _probe(scores)
    try:
        chosen_metric = metrics.get(metric)
        chosen_figure = {declared.key: declared for declared in chosen_metric.figures}[figure]
    except KeyError:
        raise Refused.field("figure", "There is no such metric, or it has no such figure.") from None
    rows = [
        (_label(scored_run, side), scores.cell(metric, scored_run, chosen_figure, side))
        for scored_run in scores.runs
        for side in _sides(scores, scored_run, chosen_figure)
    ]
    has_own = chosen_figure.against == "reference" and scores.target_runs
    against = f", against the {OWN}" if has_own else ""
    unit = " in percent" if chosen_figure.scale == 100 else ""
    clusters = "review" if scores.target_runs or not scores.runs else "question"
    note = f"Means{against}, with 95% intervals, clustered by {clusters}. {scores.project.name}."
    return IntervalPlot(figure, f"{chosen_figure.label}{unit}", " ".join([note, *scores.few([metric])]), rows)


def _sides(scores: Scores, scored_run: ScoredRun, figure: Figure) -> Sequence[str]:
    """Return the own target, or every written reference."""
    return scores.sides(scored_run) if scored_run.is_written and figure.against == "reference" else (OWN,)


def _label(scored_run: ScoredRun, side: str) -> str:
    return f"{scored_run.name} ({scored_run.level}{'' if side == OWN else f', {side}'})"


def _probe(scores: Scores) -> IntervalPlot:
    """Return the plot of the strict accuracy of the probe by system and kind."""
    rows: list[tuple[str, Cell]] = [
        (name, replace(figure_cell(result.accuracy, 2), n=result.n))
        for name, result in accuracies(scores.probed).items()
    ]
    note = f"Share of pairs in which the target is strictly more likely, with 95% intervals. {scores.project.name}."
    note = " ".join([note, *few(scores.probed)])
    return IntervalPlot("accuracy", "Accuracy of the counterfactual probe", note, rows)
