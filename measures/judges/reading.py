"""Read the answers of a judge and the design of a round for `judge_figures`, from the database or from a release."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ..ratings.judgements import Judgement, Preference
from ..ratings.reading import SourceNamed
from .agreement import MOST_VALUES
from .compared import Judged, JudgedChoice
from .powered import NOT_SAMPLED

Json = dict[str, Any]
FILTERED = "people rated a part of the sources that was chosen by a filter: no interval"
STRATIFIED = "people rated a stratified sample of the sources: no interval"
PARTLY = "the judge rated only a part of the other sources: no interval"
LATER = "sources arrived after the round was opened: no interval"
JUDGE = "judge"


def why_not_sampled(sampling: Mapping[str, Any]) -> str:
    """Return why the sources that people rated are no random sample of the project's sources, or ""."""
    for holds, reason in (
        (sampling.get("rolling"), LATER),
        (any((sampling.get("filters") or {}).values()), FILTERED),
        (not sampling.get("sample"), NOT_SAMPLED),
        (sampling.get("strata"), STRATIFIED),
    ):
        if holds:
            return reason
    return ""


def points_of(criteria: Iterable[Json]) -> dict[str, tuple[float, ...]]:
    """Return the numbers of each ordered scale of a protocol. A slider with too many steps has none."""
    points: dict[str, tuple[float, ...]] = {}
    for criterion in criteria:
        scale = criterion["scale"]
        if scale["type"] == "likert":
            points[criterion["key"]] = tuple(
                float(option["value"]) for option in scale["options"] if not option.get("off_scale")
            )
        elif scale["type"] == "slider":
            low, high, step = scale["minimum"] or 0, scale["maximum"] or 0, scale["step"] or 1
            count = int((high - low) / step + 1.5)
            if count <= MOST_VALUES:
                points[criterion["key"]] = tuple(float(f"{low + n * step:.15g}") for n in range(count))
    return points


def off_scale(criteria: Iterable[Json]) -> set[tuple[str, str]]:
    """Return the off-scale values as (criterion, value). They count as not applicable."""
    return {
        (criterion["key"], option["value"])
        for criterion in criteria
        for option in criterion["scale"]["options"]
        if option.get("off_scale")
    }


def judged(
    source: SourceNamed,
    systems: Iterable[str],
    *,
    code: str,
    criterion: str,
    value: str | None,
    position: int,
    order: int,
    sample: int,
    beside: Collection[tuple[str, str]] = (),
) -> list[Judged]:
    """Return a rating of a judge, once for each of the ``systems`` that wrote the text. ``beside``: `off_scale`."""
    known = None if (criterion, value) in beside else value
    return [
        Judged(
            Judgement(source.key, system, JUDGE, criterion, known, position, item=source.item, text=code), order, sample
        )
        for system in systems
    ]


def chosen(
    source: SourceNamed,
    left: Iterable[str],
    right: Collection[str],
    *,
    criterion: str,
    choice: str,
    order: int,
    sample: int,
) -> list[JudgedChoice]:
    """Return a choice of a judge, once for each pair of systems that wrote the two texts."""
    return [
        JudgedChoice(
            Preference(source.key, one, other, JUDGE, criterion, choice, item=source.item),  # type: ignore[arg-type]
            order,
            sample,
        )
        for one in left
        for other in right
    ]
