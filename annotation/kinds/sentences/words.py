"""What was said of the sentences of an abstract, in one line. Plain values."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from ...models import EvidenceMark, RhetoricalClass

Said = Sequence[Mapping[str, Any]]


def classes(sentences: Said) -> str:
    """ "1: Background; 2: Goal; 3-6: Methods": the numbers of the sentences with their class, runs together."""
    runs = []
    for said, run in groupby(sentences, key=lambda one: one["said"]):
        numbers = [one["number"] for one in run]
        which = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}"
        runs.append(f"{which}: {RhetoricalClass(said).label}")
    return "; ".join(runs)


def evidence(dropped: str, sentences: Said) -> str:
    """ "picked: 7, 9; table data: 8": numbers of sentences by what they are; what bears no evidence is left out."""
    if dropped:
        return f"dropped: {dropped}"
    marks = [mark for mark in EvidenceMark.values if mark != EvidenceMark.NEITHER]
    found = {mark: [str(one["number"]) for one in sentences if one["said"] == mark] for mark in marks}
    return "; ".join(f"{mark}: {', '.join(numbers)}" for mark, numbers in found.items() if numbers) or "none picked"
