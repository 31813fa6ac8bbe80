"""Compare ROUGE against inputs and target, including copying, with rouge-score computing the same ROUGE only."""

import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measures.copying import CopyInputs, copying, copying_difference
from measures.rouge import ROUGE_KINDS
from measures.sentences import sentences

from .report import Found, say

#: Target speed-up over rouge-score for short inputs (M3), and for 25 abstracts per review (MS^2).
AIM_M3, AIM_REVIEWS = 3, 10


@dataclass(frozen=True)
class Item:
    """One cluster or review with the outputs of several systems."""

    inputs: tuple[str, ...]
    target: str
    outputs: tuple[str, ...]


def of_m3(path: Path) -> list[Item]:
    """Return all clusters of M3's level 3 with three systems: the first three inputs, the longest, the last."""
    items = []
    for line in path.read_text("utf-8").splitlines():
        item = json.loads(line)
        inputs = tuple(study["source_text"] for study in item["input_studies"])
        outputs = (" ".join(inputs[:3]), max(inputs, key=len), inputs[-1])
        items.append(Item(inputs, item["target_text"], outputs))
    return items


def reviews(n: int, studies: int) -> list[Item]:
    """Return random reviews of ``studies`` abstracts: ten sentences of 25 words, word frequencies falling as 1 /
    rank.
    """
    rng = random.Random(5)
    words = ["".join(rng.choices("abcdefghijklmnoprstuvw", k=rng.randint(2, 9))) for _ in range(4_000)]
    weights = [1 / (rank + 1) for rank in range(len(words))]

    def text(count: int) -> str:
        return " ".join(" ".join(rng.choices(words, weights, k=25)).capitalize() + "." for _ in range(count))

    items = []
    for _ in range(n):
        inputs = tuple(text(10) for _ in range(studies))
        mixed = " ".join(rng.choice(sentences(rng.choice(inputs))) for _ in range(4))
        items.append(Item(inputs, text(3), (mixed, text(4), " ".join(sentences(inputs[0])[:4]))))
    return items


def ours(items: Sequence[Item]) -> list[float]:
    """Compute the Copying metric of every output. Return the differences, for comparison."""
    found = []
    for item in items:
        ready = CopyInputs(item.inputs)
        for output in item.outputs:
            copying(output, ready)
            differences = copying_difference(output, ready, item.target)
            found += [differences[kind].difference.f1 or 0.0 for kind in ROUGE_KINDS]
    return found


def naive(items: Sequence[Item]) -> list[float]:
    """Compute the differences with rouge-score, with two calls per output."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(list(ROUGE_KINDS))
    found = []
    for item in items:
        for output in item.outputs:
            lines = ["\n".join(sentences(text)) for text in (output, "\n".join(item.inputs), item.target)]
            near, right = scorer.score(lines[1], lines[0]), scorer.score(lines[2], lines[0])
            found += [near[kind].fmeasure - right[kind].fmeasure for kind in ROUGE_KINDS]
    return found


def _timed(call: Callable[[], list[float]], repeats: int) -> tuple[list[float], float]:
    spans, found = [], []
    for _ in range(repeats):
        start = time.perf_counter()
        found = call()
        spans.append(time.perf_counter() - start)
    return found, min(spans)


def _compare(found: Found, name: str, items: list[Item], aim: float, repeats: int) -> None:
    theirs, slow = _timed(lambda: naive(items), repeats)
    mine, quick = _timed(lambda: ours(items), repeats)
    if mine != theirs:
        raise AssertionError(f"{name}: a figure of ours is not rouge-score's")
    outputs = sum(len(item.outputs) for item in items)
    figures: dict[str, Any] = {
        "outputs": outputs,
        "ours_s": quick,
        "rouge_score_s": slow,
        "ratio": slow / quick,
        "ours_a_second": outputs / quick,
    }
    say(f"    {name}: {figures}")
    found.figures[name] = figures
    found.at_least(
        f"overlap, {name}: ROUGE and copying, times faster than rouge-score's ROUGE alone", slow / quick, aim
    )


def run(m3: Path, n_reviews: int = 8, repeats: int = 3, studies: int = 25) -> Found:
    found = Found()
    if m3.exists():
        _compare(found, "M3's clusters", of_m3(m3), AIM_M3, repeats)
    else:
        found.skipped.append(f"overlap on M3's clusters: {m3.name} is not there")
    _compare(found, f"{n_reviews} reviews of {studies} abstracts", reviews(n_reviews, studies), AIM_REVIEWS, repeats)
    return found
