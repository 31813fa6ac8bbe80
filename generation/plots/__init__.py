"""Pictures of results, drawn on the server as SVG."""

from collections.abc import Iterator

from api.problems import Refused
from projects.plots.dots import Dot, dot_plot
from projects.plots.svg import Look

from .. import metrics
from ..metrics.protocol import Figure
from ..scoring.reckoning import OWN
from ..tables.m3_7 import few
from ..tables.probed import accuracies
from ..tables.scored import Scores

#: What stands for a metric where the probe is meant.
PROBE = "probe"


def drawable(scores: Scores) -> Iterator[tuple[str, Figure]]:
    """(metric, figure) of which some system has a mean."""
    for metric in metrics.every():
        for figure in metric.figures:
            if any(scores.found(metric.key, at.run, figure.key).mean.value is not None for at in scores.runs):
                yield metric.key, figure


def probe(scores: Scores, look: Look) -> str:
    """Strict accuracy of the probe by system and kind."""
    found = scores.probed
    dots = [
        Dot(name, result.accuracy.value, result.accuracy.ci, result.n, result.accuracy.undefined or "")
        for name, result in accuracies(found).items()
    ]
    note = f"Share of pairs in which the target is strictly likelier, with 95 % intervals. {scores.project.name}."
    note = " ".join([note, *few(found)])
    return dot_plot("Accuracy of the counterfactual probe", note, dots, look, decimals=2)


def by_system(scores: Scores, metric: str, figure: str, look: Look) -> str:
    """One figure against the own targets, a dot and an interval for every system. `Refused` for what does not exist."""
    if metric == PROBE:
        return probe(scores, look)
    try:
        chosen = metrics.get(metric)
        shown = {each.key: each for each in chosen.figures}[figure]
    except KeyError:
        raise Refused.field("figure", "There is no such metric, or it has no such figure.") from None
    dots = []
    for at in scores.runs:
        cell = scores.cell(metric, at, shown)
        value = cell.value if isinstance(cell.value, float | int) else None
        n = scores.found(metric, at.run, figure).mean.n
        dots.append(Dot(f"{at.name} ({at.level})", value, cell.ci, n, cell.undefined))
    against = f", against the {OWN}" if shown.against == "reference" else ""
    unit = " in per cent" if shown.scale == 100 else ""
    note = f"Means{against}, with 95 % intervals (items of one review being alike). {scores.project.name}."
    note = " ".join([note, *scores.few([metric])])
    return dot_plot(f"{shown.label}{unit}", note, dots, look, decimals=shown.decimals)
