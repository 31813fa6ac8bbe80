"""Ratings on a slider as standard scores of each rater, beside the raw ratings.

Raters use different parts of a scale. The standard score of a rating is its distance from the mean of all first ratings
of the rater by the criterion, in standard deviations (n - 1 in the denominator) of these ratings (Graham, Baldwin,
Moffat and Zobel 2013, *Continuous measurement scales in human evaluation of machine translation*, LAW). Figures of
standard scores are computed like those of ratings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from statistics import mean, stdev
from typing import Any

from ..means import UNBOUNDED
from .between import pair_figures, system_letters
from .judgements import Criterion, Judgement
from .per_system import system_figures
from .rows import Rows

Json = dict[str, Any]


def standardised_figures(judgements: Iterable[Judgement], criteria: Sequence[Criterion]) -> list[Json]:
    """Return a row for each slider: ``systems``, ``pairs`` and ``letters`` as of other criteria.

    ``raters`` counts the raters with standard scores. ``left_out`` names those without: all of their ratings are equal,
    or they gave only one.
    """
    sliders = [criterion for criterion in criteria if criterion.is_slider]
    first = [each for each in judgements if each.repeat == 0 and each.value is not None] if sliders else []
    figures: list[Json] = []
    for criterion in sliders:
        scores, left_out = standard_scores([each for each in first if each.criterion == criterion.key])
        ratings = Rows.of(scores).of_criterion(replace(criterion, bounds=UNBOUNDED))
        [systems] = system_figures([ratings], 0)
        pairs = pair_figures(ratings)
        figures.append(
            {
                "criterion": criterion.key,
                "better": criterion.better,
                "systems": systems,
                "pairs": pairs,
                "letters": system_letters(ratings, systems, pairs),
                "raters": len({each.rater for each in scores}),
                "left_out": left_out,
            }
        )
    return figures


def standard_scores(judgements: Sequence[Judgement]) -> tuple[list[Judgement], list[str]]:
    """Return the judgements of one criterion with standard scores as values, and the raters without any.

    A text that several systems wrote counts once in the mean and standard deviation of a rater.
    """
    by_rater: dict[str, dict[Hashable, float]] = defaultdict(dict)
    for each in judgements:
        text = each.system if each.text is None else each.text
        by_rater[each.rater][each.source, each.item, text] = float(each.value or 0)
    spread = {rater: stdev(of.values()) if len(of) > 1 else 0.0 for rater, of in by_rater.items()}
    middle = {rater: mean(of.values()) for rater, of in by_rater.items()}
    scores = [
        replace(each, value=(float(each.value or 0) - middle[each.rater]) / spread[each.rater])
        for each in judgements
        if spread[each.rater] > 0
    ]
    return scores, sorted(rater for rater, each in spread.items() if each == 0)
