"""When several people's values become gold: one rule for all kinds. Pure: values in, verdicts out."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..models import Answer, Origin
from .sheet import Value

Said = tuple[Answer, Value]


@dataclass(frozen=True)
class Verdict:
    """What a round's answers to one unit come to, for one field: an adopted answer, or None for a contest."""

    field: str
    origin: str
    answer: Answer | None


def origin(agreeing: int, of: int) -> str:
    """How a value came about that so many of so many gave."""
    if of == 1:
        return Origin.SINGLE
    return Origin.UNANIMOUS if agreeing == of else Origin.MAJORITY


def majority(field: str, answers: Sequence[Said], key: Callable[[Value], Hashable]) -> tuple[Verdict, list[Said]]:
    """The verdict when more than half agree on ``key``, and those who do; else a contest and nobody."""
    groups: dict[Hashable, list[Said]] = defaultdict(list)
    for said in answers:
        groups[key(said[1])].append(said)
    best = max(groups.values(), key=len)
    if 2 * len(best) <= len(answers):
        return Verdict(field, Origin.CONTESTED, None), []
    return Verdict(field, origin(len(best), len(answers)), best[0][0]), best


def by_part(field: str, answers: Sequence[Said], parts: Callable[[Value], Mapping[Any, Hashable]]) -> Verdict:
    """What more than half said of every part of the unit, where somebody said just that; else a curator decides.

    An answer is adopted whole, so that gold is what a person wrote, and never put together from several. ``parts``:
    what a value says, by part; a part that is left out says the same wherever it is.
    """
    said = [dict(parts(value)) for _, value in answers]
    verdict, _ = majority(field, answers, lambda value: frozenset(parts(value).items()))
    if verdict.answer:
        return verdict
    voted = {}
    for part in {part for one in said for part in one}:
        [(most, votes)] = Counter(one.get(part) for one in said).most_common(1)
        if 2 * votes <= len(said):
            return verdict
        voted[part] = most
    wanted = {part: most for part, most in voted.items() if most is not None}
    found = next((answer for (answer, _), one in zip(answers, said, strict=True) if one == wanted), None)
    return Verdict(field, Origin.MAJORITY, found) if found else verdict
