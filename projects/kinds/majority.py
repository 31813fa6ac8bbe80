"""When several people's values become gold: one rule for all kinds. Pure: values in, verdicts out."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

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
