"""What the rows of a scoring, or of a probe, come to. The one place where they are read for that: workers and commands
reckon, and store what they found (`generation.actions.reckoning`); tables and plots read what was stored."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db.models import F
from django.db.models.functions import Coalesce

from measures.counterfactuals import Kind
from measures.means import Mean
from measures.probe import RULE as PROBE_RULE
from measures.probe import ProbeResult, probe_tables
from measures.score_means import OWN, PROPOSITIONS, RULE, ScoreMeans

from .. import metrics
from ..models import ProbeFigures, Run, Score, Scoring, UnitLevel
from ..probing.purpose import pairs_of

Json = dict[str, Any]

NOT_SCORED = "not scored yet"
NOT_RECKONED = "its mean has not been reckoned yet"
#: The review that a scored summary belongs to, whatever its level.
REVIEW = Coalesce(
    F("summary__item__unit__cluster__review"),
    F("summary__item__unit__target__review"),
    F("summary__item__unit__review"),
)
KINDS = [kind.value for kind in Kind]
__all__ = ["OWN", "PROPOSITIONS", "RULE"]


@dataclass(frozen=True)
class Found:
    """The mean of one figure of one scoring against one kind of reference; ``why`` there is none."""

    mean: Mean
    why: str = ""
    #: Reason -> how many items lack the figure for it.
    undefined: Mapping[str, int] = field(default_factory=dict)


#: (figure, side) -> what was found of it.
Figures = Mapping[tuple[str, str], Found]


def is_reckoned(scoring: Scoring) -> bool:
    """Whether its means are there, by the rule of today."""
    return scoring.means is not None and scoring.means["rule"] == RULE


def summaries_of(scoring: Scoring) -> int:
    """How many summaries a scoring that is reckoned has seen."""
    return int((scoring.means or {})["summaries"])


def figures_of(scoring: Scoring) -> Figures:
    """The stored means of a scoring that is reckoned."""
    return {
        (each["figure"], each["side"]): Found(
            Mean.from_json(each["mean"]), each["why"], dict(sorted(each["undefined"].items()))
        )
        for each in (scoring.means or {})["figures"]
    }


def means_of(scoring: Scoring) -> Json:
    """What a scoring's rows come to, as it is stored: the rule, how many summaries it is of, and every figure.

    One query, in memory that grows by some 20 bytes a number.
    """
    means = ScoreMeans({figure.key: figure.bounds for figure in metrics.get(scoring.metric).figures})
    for row in rows_of(scoring):
        side = side_of(scoring, row.type)
        means.add(summary=row.unit, review=row.review, side=side, values=row.values, undefined=row.undefined)
    return means.as_json()


class ScoreRow(NamedTuple):
    """A row of a scoring: of which unit's summary, against which unit's text (and its type), in which review."""

    unit: int
    reference: int | None
    type: str | None
    review: int
    values: dict[str, float | None]
    undefined: dict[str, str]


def rows_of(scoring: Scoring) -> Iterator[ScoreRow]:
    """Every row, in one query. A run has one summary of a unit."""
    found = Score.objects.filter(scoring=scoring).annotate(review=REVIEW).order_by("pk")
    names = ("summary__item__unit_id", "reference_id", "reference__type", "review", "values", "undefined")
    return (ScoreRow(*row) for row in found.values_list(*names).iterator())


def side_of(scoring: Scoring, reference: str | None) -> str:
    """What a row compares with, by the type of its reference's unit."""
    document = scoring.run.version.level == UnitLevel.DOCUMENT
    return PROPOSITIONS if document and reference == "proposition" else OWN


def probe_results(run: Run) -> tuple[ProbeResult, ...]:
    """Table 7's rows of the likelihoods that a probe has by now: a kind each, and one over all, on each basis."""
    return probe_tables(pairs_of(run), KINDS)


def is_of_today(figures: ProbeFigures) -> bool:
    """Whether they were reckoned as they would be now."""
    return figures.rule == PROBE_RULE


def stored_results(figures: ProbeFigures, basis: str) -> tuple[ProbeResult, ...]:
    """Of one basis: M3 has all tokens, special ones included."""
    return results_of(figures.rows, basis)


def results_of(rows: Iterable[Json], basis: str) -> tuple[ProbeResult, ...]:
    return tuple(ProbeResult.from_json(row) for row in rows if row["basis"] == basis)
