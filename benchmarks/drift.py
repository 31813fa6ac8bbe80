"""Simulate warnings about accuracy: 1,000 annotators of each sort, with the rule of `measures/drift.py`.

    .venv/bin/python -m benchmarks.drift

Measured with the defaults:

    Bar 85%, threshold 2.81 items, 1,000 annotators per row
    steady at 0.95,  40 items: 0.6% warned
    steady at 0.95, 100 items: 2.3% warned
    steady at 0.95, 200 items: 4.4% warned
    0.95 to 0.7 after   0 items: 93.7% warned within 40, median delay 15
    0.95 to 0.7 after  20 items: 95.8% warned within 40, median delay 15
    0.95 to 0.7 after  60 items: 96.0% warned within 40, median delay 15
    0.95 to 0.7 after 100 items: 96.0% warned within 40, median delay 14
    0.95 to 0.7 after 160 items: 95.8% warned within 40, median delay 15
"""

import random

from measures import drift

ANNOTATORS, BAR, GOOD, BAD, WITHIN = 1_000, 85, 0.95, 0.70, 40
#: Returning items of a round, and items before the accuracy falls.
ROUNDS, BEFORE = (40, 100, 200), (0, 20, 60, 100, 160)


def warned_at(accuracies: list[float], source: random.Random) -> int | None:
    """Return the number of items after which a simulated annotator is warned first, or None."""
    answers = (source.random() < accuracy for accuracy in accuracies)
    return next((one.answers for one in drift.signals(answers, BAR) if one.what == "warned"), None)


def false_warnings(items: int, annotators: int = ANNOTATORS, seed: int = 1) -> float:
    """Return the share of steady annotators who are warned in a round."""
    source = random.Random(f"{seed} steady {items}")
    return sum(warned_at([GOOD] * items, source) is not None for _ in range(annotators)) / annotators


def noticed(before: int, annotators: int = ANNOTATORS, seed: int = 1) -> tuple[float, float]:
    """Return the share of annotators who are warned within `WITHIN` items of the fall, and the median delay.

    Annotators who were warned before the fall are left out.
    """
    source = random.Random(f"{seed} falls {before}")
    delays = [warned_at([GOOD] * before + [BAD] * WITHIN, source) for _ in range(annotators)]
    after = [at - before if at else WITHIN + 1 for at in delays if at is None or at > before]
    return sum(delay <= WITHIN for delay in after) / len(after), sorted(after)[len(after) // 2]


def main() -> None:
    print(f"Bar {BAR}%, threshold {drift.threshold_of(BAR) / 100:.2f} items, {ANNOTATORS:,} annotators per row")
    for items in ROUNDS:
        print(f"steady at {GOOD}, {items:>3} items: {false_warnings(items):.1%} warned")
    for before in BEFORE:
        share, delay = noticed(before)
        print(f"{GOOD} to {BAD} after {before:>3} items: {share:.1%} warned within {WITHIN}, median delay {delay:.0f}")


if __name__ == "__main__":
    main()
