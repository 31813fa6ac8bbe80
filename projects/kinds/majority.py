"""Majority rule by which answers become gold. Pure functions, shared by all kinds."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..models import Answer, Origin
from .sheet import Value

AnswerValue = tuple[Answer, Value]


@dataclass(frozen=True)
class AggregationResult:
    """The aggregation result of one field of one unit: the adopted answer, or None if the answers are contested."""

    field: str
    origin: str
    answer: Answer | None


def origin(agreeing: int, of: int) -> str:
    """Return the origin of a value that ``agreeing`` of ``of`` answers share."""
    if of == 1:
        return Origin.SINGLE
    return Origin.UNANIMOUS if agreeing == of else Origin.MAJORITY


def majority(
    field: str, answers: Sequence[AnswerValue], key: Callable[[Value], Hashable]
) -> tuple[AggregationResult, list[AnswerValue]]:
    """Aggregate by strict majority on ``key``.

    Return the result and the answers that agree; the list is empty if no key has more than half of the answers.
    """
    groups: dict[Hashable, list[AnswerValue]] = defaultdict(list)
    for answer in answers:
        groups[key(answer[1])].append(answer)
    return _largest(field, list(groups.values()), len(answers))


def majority_of_equal(
    field: str, answers: Sequence[AnswerValue], is_equal: Callable[[Value, Value], bool]
) -> AggregationResult:
    """Aggregate by strict majority of equal values.

    Values may hold lists, so they are compared and never hashed.
    """
    groups: list[list[AnswerValue]] = []
    for answer, value in answers:
        group = next((group for group in groups if is_equal(group[0][1], value)), None)
        if group is None:
            groups.append(group := [])
        group.append((answer, value))
    return _largest(field, groups, len(answers))[0]


def _largest(
    field: str, groups: Sequence[list[AnswerValue]], answers: int
) -> tuple[AggregationResult, list[AnswerValue]]:
    best = max(groups, key=len)
    if 2 * len(best) <= answers:
        return AggregationResult(field, Origin.CONTESTED, None), []
    return AggregationResult(field, origin(len(best), answers), best[0][0]), best


def by_part(
    field: str, answers: Sequence[AnswerValue], parts: Callable[[Value], Mapping[Any, Hashable]]
) -> AggregationResult:
    """Aggregate by strict majority on every part of the unit.

    An answer is adopted whole, so gold is always an answer that a person wrote and never a combination. The result is
    contested if a part has no majority value, or if no answer has all majority values. ``parts`` maps a value to its
    parts; a missing part counts as None.
    """
    parts_by_answer = [dict(parts(value)) for _, value in answers]
    result, _ = majority(field, answers, lambda value: frozenset(parts(value).items()))
    if result.answer:
        return result
    voted = {}
    for part in {part for one in parts_by_answer for part in one}:
        [(most, votes)] = Counter(one.get(part) for one in parts_by_answer).most_common(1)
        if 2 * votes <= len(parts_by_answer):
            return result
        voted[part] = most
    majority_parts = {part: most for part, most in voted.items() if most is not None}
    matching_answer = next(
        (answer for (answer, _), one in zip(answers, parts_by_answer, strict=True) if one == majority_parts), None
    )
    return AggregationResult(field, Origin.MAJORITY, matching_answer) if matching_answer else result
