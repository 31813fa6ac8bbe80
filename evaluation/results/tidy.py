"""Ratings and choices as tidy rows, for releases and for the CSV file of the Results page.

Rows are redundant, so no script has to join tables. Each has round, page, source, target, review, rater, repeat and
time. Systems that wrote the same text share one cell. Attention checks and repeats are included.
"""

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.db.models import QuerySet

from projects.answers.queries import counted_parts
from projects.spreadsheets.cells import flag, neutral

from ..design import stored
from ..models import ComparedSystem, Preference, Rating, RatingDesign, RatingSpan

#: Separator between systems that wrote the same text.
BETWEEN = " | "
PAGE = ("round", "page", "source", "target", "review")
RATED = (
    *PAGE,
    "text",
    "systems",
    "rater",
    "criterion",
    "value",
    "na",
    "prefilled",
    "reason",
    "place",
    "repeat",
    "active_ms",
    "is_check",
    "answer",
    "rater_group",
)
PREFERRED = (
    *PAGE,
    "left",
    "right",
    "left_systems",
    "right_systems",
    "rater",
    "criterion",
    "choice",
    "reason",
    "repeat",
    "active_ms",
    "is_check",
    "answer",
    "rater_group",
)
#: Columns of the Results file only. A release has them in separate files.
BESIDE = ("made_from", "marks")
#: Order of released answers. Rows of one answer follow in the order of the page.
ORDER = tuple(
    f"answer__{name}"
    for name in (
        "assignment__round_id",
        "assignment__position",
        "assignment__number",
        "assignment__repeat",
        "assignment_id",
    )
)
#: Rows per database fetch.
BATCH = 1_000

_SAID = ("answer__assignment__round", "answer__assignment__round__name", "answer__assignment__unit__key")
_BY = ("answer__author__pseudonym", "answer__assignment__repeat", "answer__active_ms")
_GROUP = "answer__assignment__round__rater_group"
Named = Mapping[int, Mapping[int, str]]


def named(designs: QuerySet[RatingDesign]) -> Named:
    """Return round -> number -> name of the compared systems."""
    found: dict[int, dict[int, str]] = defaultdict(dict)
    rows = ComparedSystem.objects.filter(design__in=designs.order_by().values("pk"))
    for round, number, name in rows.values_list("design__round", "number", "name"):
        found[round][number] = name
    return found


def source(path: str) -> tuple[str, ...]:
    """Return the lookups for source, target and review of the object at ``path``."""
    return f"{path}unit__key", f"{path}target__key", f"{path}review"


def rated(ratings: QuerySet[Rating], names: Named, *, reasons: bool) -> Iterator[list[Any]]:
    """Yield the cells of `RATED` in one query. Without ``reasons``, the reason is empty."""
    for (
        round,
        name,
        page,
        of,
        target,
        review,
        rater,
        repeat,
        ms,
        text,
        numbers,
        check,
        criterion,
        value,
        na,
        prefilled,
        reason,
        position,
        answer,
        group,
    ) in (
        ratings.order_by(*ORDER, "position", "number")
        .values_list(
            *_SAID,
            *source("text__page__source__"),
            *_BY,
            "text__code",
            "text__system_numbers",
            "text__is_check",
            "criterion",
            "value",
            "is_na",
            "is_prefilled",
            "reason",
            "position",
            "answer",
            _GROUP,
        )
        .iterator(chunk_size=BATCH)
    ):
        why = reason if reasons else ""
        yield [
            name,
            page,
            of,
            target,
            review,
            text,
            _systems(names[round], numbers),
            rater,
            criterion,
            value,
            flag(na),
            flag(prefilled),
            why,
            position,
            repeat,
            ms,
            flag(check),
            answer,
            group,
        ]


def preferred(preferences: QuerySet[Preference], names: Named, *, reasons: bool) -> Iterator[list[Any]]:
    """Yield the cells of `PREFERRED` in one query."""
    for (
        round,
        name,
        page,
        of,
        target,
        review,
        rater,
        repeat,
        ms,
        left,
        of_left,
        left_bad,
        right,
        of_right,
        right_bad,
        criterion,
        choice,
        reason,
        answer,
        group,
    ) in (
        preferences.order_by(*ORDER, "number")
        .values_list(
            *_SAID,
            *source("left__page__source__"),
            *_BY,
            "left__code",
            "left__system_numbers",
            "left__is_check",
            "right__code",
            "right__system_numbers",
            "right__is_check",
            "criterion",
            "choice",
            "reason",
            "answer",
            _GROUP,
        )
        .iterator(chunk_size=BATCH)
    ):
        yield [
            name,
            page,
            of,
            target,
            review,
            left,
            right,
            _systems(names[round], of_left),
            _systems(names[round], of_right),
            rater,
            criterion,
            choice,
            reason if reasons else "",
            repeat,
            ms,
            flag(left_bad or right_bad),
            answer,
            group,
        ]


def _systems(names: Mapping[int, str], numbers: Sequence[int]) -> str:
    return BETWEEN.join(names[number] for number in numbers)


# The file of the Results page


def lines(design: RatingDesign) -> Iterator[str]:
    """Yield a CSV file of one round in parts, with cells made safe for spreadsheets.

    Raise `Conflict` if the design was changed after it was frozen.
    """
    stored.intact(design)
    return _lines(design, named(RatingDesign.objects.filter(pk=design.pk)))


def _lines(design: RatingDesign, names: Named) -> Iterator[str]:
    pairs = design.round.kind == "compare"
    yield _written([PREFERRED if pairs else (*RATED, *BESIDE)])
    for part in counted_parts(design.round):
        answers = list(part.values_list("pk", flat=True))
        # Write a whole part at once, so that a slow client keeps no database cursor open.
        if pairs:
            yield _written(preferred(Preference.objects.filter(answer__in=answers), names, reasons=True))
        else:
            yield _written(_with_marks(Rating.objects.filter(answer__in=answers), names))


def _with_marks(ratings: QuerySet[Rating], names: Named) -> Iterator[list[Any]]:
    marks = _marks(ratings)
    beside = ratings.order_by(*ORDER, "position", "number").values_list("pk", "text__made_from")
    for (pk, made_from), row in zip(beside, rated(ratings, names, reasons=True), strict=True):
        yield [*row, made_from, marks.get(pk, "")]


def _marks(ratings: QuerySet[Rating]) -> Mapping[int, str]:
    found: dict[int, list[str]] = defaultdict(list)
    spans = RatingSpan.objects.filter(rating__in=ratings.order_by().values("pk"), is_quote=False).order_by("pk")
    for rating, *mark in spans.values_list("rating", "start", "end", "category", "severity"):
        found[rating].append("{}-{}:{}:{}".format(*mark))
    return {rating: "; ".join(marks) for rating, marks in found.items()}


def _written(rows: Iterable[Sequence[Any]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(
        [neutral(cell) if isinstance(cell, str) else cell for cell in row] for row in rows
    )
    return out.getvalue()
