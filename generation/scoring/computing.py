"""Compute means and probe results from stored rows.

Only workers and commands call this. They store the results (`generation.scoring.actions`), and tables and plots read
the stored results.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db.models import F
from django.db.models.functions import Coalesce

from measures.counterfactuals import Kind
from measures.means import OWN, PROPOSITIONS, RULE, Mean, ScoreMeans
from measures.probe import RULE as PROBE_RULE
from measures.probe import ProbeResult, probe_tables

from .. import metrics
from ..models import ProbeFigures, Run, Score, Scoring, UnitLevel
from ..probing.purpose import pairs_of

Json = dict[str, Any]

NOT_SCORED = "not scored yet"
NOT_COMPUTED = "its mean is not computed yet"
#: The review of a scored summary, at any level.
REVIEW = Coalesce(
    F("summary__item__unit__cluster__review"),
    F("summary__item__unit__target__review"),
    F("summary__item__unit__review"),
    F("summary__item__unit__effect__pair__review"),
)
KINDS = [kind.value for kind in Kind]
__all__ = ["OWN", "PROPOSITIONS", "RULE"]


@dataclass(frozen=True)
class Found:
    """The mean of one figure of a scoring against one kind of reference, and the reason ``why`` it is missing."""

    mean: Mean
    why: str = ""
    #: Reason -> number of items whose figure is undefined for it.
    undefined: Mapping[str, int] = field(default_factory=dict)


#: (figure, side) -> result.
Figures = Mapping[tuple[str, str], Found]


def has_current_means(scoring: Scoring) -> bool:
    """Return whether the means are stored under the current rule."""
    return scoring.means is not None and scoring.means["rule"] == RULE


def summaries_of(scoring: Scoring) -> int:
    """Return the number of summaries of a scoring with computed means."""
    return int((scoring.means or {})["summaries"])


def figures_of(scoring: Scoring) -> Figures:
    """Return the stored means of a scoring with computed means."""
    return {
        (figure["figure"], figure["side"]): Found(
            Mean.from_json(figure["mean"]), figure["why"], dict(sorted(figure["undefined"].items()))
        )
        for figure in (scoring.means or {})["figures"]
    }


def means_of(scoring: Scoring) -> Json:
    """Return the means of a scoring in stored form: the rule, the number of summaries, and every figure.

    Uses one query, and memory that grows by about 20 bytes per number.
    """
    means = ScoreMeans({figure.key: figure.bounds for figure in metrics.get(scoring.metric).figures})
    for row in rows_of(scoring):
        side = side_of(scoring, row.type)
        means.add(summary=row.unit, review=row.review, side=side, values=row.values, undefined=row.undefined)
    return means.as_json()


class ScoreRow(NamedTuple):
    """A row of a scoring: the unit of the summary, the unit and type of its reference, and the review."""

    unit: int
    reference: int | None
    type: str | None
    review: int
    values: dict[str, float | None]
    undefined: dict[str, str]


def rows_of(scoring: Scoring) -> Iterator[ScoreRow]:
    """Yield every row, in one query. A run has one summary per unit."""
    scores = Score.objects.filter(scoring=scoring).annotate(review=REVIEW).order_by("pk")
    names = ("summary__item__unit_id", "reference_id", "reference__type", "review", "values", "undefined")
    return (ScoreRow(*row) for row in scores.values_list(*names).iterator())


def side_of(scoring: Scoring, reference: str | None) -> str:
    """Return the kind of reference of a row, from the type of the reference unit."""
    document = scoring.run.version.level == UnitLevel.DOCUMENT
    return PROPOSITIONS if document and reference == "proposition" else OWN


def probe_results(run: Run) -> tuple[ProbeResult, ...]:
    """Return Table 7's rows of a probe's likelihoods so far: one per kind and one overall, on each basis."""
    return probe_tables(pairs_of(run), KINDS)


def is_current(figures: ProbeFigures) -> bool:
    """Return whether the figures were computed under the current rule."""
    return figures.rule == PROBE_RULE


def stored_results(figures: ProbeFigures, basis: str) -> tuple[ProbeResult, ...]:
    """Return the stored results of one basis. M3 uses all tokens, including special ones."""
    return results_of(figures.rows, basis)


def results_of(rows: Iterable[Json], basis: str) -> tuple[ProbeResult, ...]:
    return tuple(ProbeResult.from_json(row) for row in rows if row["basis"] == basis)
