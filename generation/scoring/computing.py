"""Compute means and probe results from stored rows.

Only workers and commands call this. They store the results (`generation.scoring.actions`), and tables and plots read
the stored results.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from django.db.models import CharField, F, QuerySet, Value
from django.db.models.functions import Coalesce

from annotation.questions.references import reference_name, writer_of
from measures.counterfactuals import Kind
from measures.means import OWN, PROPOSITIONS, RULE, Mean, ScoreMeans
from measures.probe import RULE as PROBE_RULE
from measures.probe import ProbeResult, probe_tables
from measures.references import MAXIMUM, OF_MAXIMUM, WRITTEN_LEVELS, maxima

from .. import metrics
from ..models import ProbeFigures, Run, Score, Scoring, UnitLevel
from ..probing.purpose import pairs_of

Json = dict[str, Any]

NOT_SCORED = "not scored yet"
NOT_COMPUTED = "its mean is not computed yet"
_UNIT = "summary__item__unit"
#: The review of a scored summary, at any level except `WRITTEN_LEVELS`, and the question at these.
REVIEW = Coalesce(
    F(f"{_UNIT}__cluster__review"),
    F(f"{_UNIT}__target__review"),
    F(f"{_UNIT}__review"),
    F(f"{_UNIT}__effect__pair__review"),
)
QUESTION = Coalesce(F(f"{_UNIT}__passage__question"), F(f"{_UNIT}__question"))
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


def means_of(scoring: Scoring, without: Collection[int] = ()) -> Json:
    """Return the means of a scoring in stored form: the rule, the number of summaries, and every figure.

    ``without``: units that are left out.

    Uses one query, and memory that grows by about 20 bytes per number.
    """
    means = ScoreMeans({figure.key: figure.bounds for figure in metrics.get(scoring.metric).figures})
    for row in rows_of(scoring, without):
        means.add(summary=row.unit, review=row.review, side=row.side, values=row.values, undefined=row.undefined)
    return means.as_json()


class ScoreRow(NamedTuple):
    """A row of a scoring: the unit of the summary, the unit and the kind or name of its reference, and the review.

    At the levels of questions, ``review`` is the question.
    """

    unit: int
    reference: int | None
    side: str
    review: int
    values: dict[str, float | None]
    undefined: dict[str, str]


def rows_of(scoring: Scoring, without: Collection[int] = ()) -> Iterator[ScoreRow]:
    """Yield every row, in one query, but not those of the units ``without``. A run has one summary per unit.

    If the maximum over references is set, a summary has one row, and all summaries are held in memory.
    """
    level = scoring.run.version.level
    scores = with_names(Score.objects.filter(scoring=scoring), level).order_by("pk")
    scores = scores.annotate(review=QUESTION if level in WRITTEN_LEVELS else REVIEW)
    names = ("reference__type", "form", "writer", "summary__item__unit_id", "reference_id", "review")
    rows = (
        ScoreRow(unit, reference, side_of(level, type, form, writer), review, values, undefined)
        for type, form, writer, unit, reference, review, values, undefined in scores.values_list(
            *names, "values", "undefined"
        ).iterator()
        if unit not in without
    )
    return _maxima_of(rows) if scoring.params.get("references") == MAXIMUM else rows


def _maxima_of(rows: Iterable[ScoreRow]) -> Iterator[ScoreRow]:
    pooled = maxima((row.unit, row.review, row.values, row.undefined) for row in rows)
    return (
        ScoreRow(cast(int, one.summary), None, OF_MAXIMUM, cast(int, one.review), one.values, one.undefined)
        for one in pooled
    )


def with_names(scores: QuerySet[Score], level: str) -> QuerySet[Any]:
    """Add ``form`` and ``writer`` of the reference, if it is a written summary."""
    if level not in WRITTEN_LEVELS:
        return scores.annotate(form=Value("", CharField()), writer=Value("", CharField()))
    path = "reference__written_summary__"
    return scores.annotate(form=F(f"{path}form"), writer=writer_of(path))


def side_of(level: str, reference: str | None, form: str | None, writer: str) -> str:
    """Return the kind or name of the reference of a row, from the type of its unit and the fields of `with_names`."""
    if form:
        return reference_name(form, writer)
    return PROPOSITIONS if level == UnitLevel.DOCUMENT and reference == "proposition" else OWN


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
