"""Means of the figures of finished scorings. A finished scoring never changes, so what was reckoned of it is kept."""

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db.models import F
from django.db.models.functions import Coalesce

from measures.means import Mean, clustered_means

from ..models import Score, Scoring, UnitLevel

#: What a summary is compared with; what names no reference counts as its own.
OWN, PROPOSITIONS = "own target", "propositions of its review"
NOT_SCORED = "not scored yet"
#: The review that a scored summary belongs to, whatever its level.
REVIEW = Coalesce(
    F("summary__item__unit__cluster__review"),
    F("summary__item__unit__target__review"),
    F("summary__item__unit__review"),
)
#: Scorings whose means a process keeps: some tens of numbers each.
KEPT = 500


@dataclass(frozen=True)
class Found:
    """The mean of one figure of one scoring against one kind of reference; ``why`` there is none."""

    mean: Mean
    why: str = ""
    #: Reason -> how many items lack the figure for it.
    undefined: Mapping[str, int] = field(default_factory=dict)


NOTHING = Found(Mean(None, 0, 0, undefined=NOT_SCORED), NOT_SCORED)
#: (figure, side) -> what was found of it.
Figures = Mapping[tuple[str, str], Found]
_kept: OrderedDict[str, Figures] = OrderedDict()


@dataclass
class _Column:
    values: list[float] = field(default_factory=list)
    reviews: list[int] = field(default_factory=list)
    undefined: Counter[str] = field(default_factory=Counter)


def means_of(scorings: Sequence[Scoring]) -> dict[int, Figures]:
    """By the scoring's id. Those that are not kept are read in one query; each must come with its run and version."""
    unknown = [scoring for scoring in scorings if scoring.hash not in _kept]
    for name, columns in _columns(unknown):
        _kept[name] = _means(columns)
    found = {}
    for scoring in scorings:
        found[scoring.pk] = _kept.get(scoring.hash, {})
        if scoring.hash in _kept:
            _kept.move_to_end(scoring.hash)
    while len(_kept) > KEPT:
        _kept.popitem(last=False)
    return found


def _columns(scorings: Sequence[Scoring]) -> Iterator[tuple[str, dict[tuple[str, str], _Column]]]:
    """(hash, columns) of every scoring that has rows, one in memory at a time."""
    by_id = {scoring.pk: scoring for scoring in scorings}
    for pk, rows in groupby(_rows(list(by_id)), key=itemgetter(0)):
        scoring = by_id[pk]
        document = scoring.run.version.level == UnitLevel.DOCUMENT
        columns: dict[tuple[str, str], _Column] = defaultdict(_Column)
        for _, unit_type, review, values, undefined in rows:
            side = PROPOSITIONS if document and unit_type == "proposition" else OWN
            for figure, value in values.items():
                column = columns[figure, side]
                if value is None:
                    column.undefined[undefined[figure]] += 1
                else:
                    column.values.append(value)
                    column.reviews.append(review)
        yield scoring.hash, columns


def _means(columns: Mapping[tuple[str, str], _Column]) -> Figures:
    """Figures of the same items share their draws."""
    alike: dict[tuple[int, ...], list[tuple[str, str]]] = defaultdict(list)
    for key, column in columns.items():
        alike[tuple(column.reviews)].append(key)
    found: dict[tuple[str, str], Found] = {}
    for reviews, keys in alike.items():
        for key, mean in zip(keys, clustered_means([columns[key].values for key in keys], reviews), strict=True):
            undefined = columns[key].undefined
            found[key] = Found(mean, "; ".join(undefined) if mean.value is None else "", dict(undefined))
    return found


def _rows(scorings: Sequence[int]) -> Iterator[tuple[int, str | None, int, dict[str, Any], dict[str, str]]]:
    """(scoring, type of the reference's unit, review, values, undefined) of every row, a scoring after the other."""
    if not scorings:
        return
    found = Score.objects.filter(scoring__in=scorings).annotate(review=REVIEW).order_by("scoring", "pk")
    yield from found.values_list("scoring_id", "reference__type", "review", "values", "undefined").iterator()
