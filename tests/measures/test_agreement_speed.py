"""Agreement is fast for studies of any size; limits are far above the measured times.

For comparisons with irrCAC and krippendorff see benchmarks/.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from measures.agreement import Ratings, all_coefficients, bootstrap_intervals, prepare

SIZES = {"1,900 x 3": (1_900, 3, 0.0), "100,000 x 5 with gaps": (100_000, 5, 0.2), "1,000,000 x 5": (1_000_000, 5, 0.0)}
LIMIT_MS = 2000.0


def best_ms(call: Callable[[], object], times: int) -> float:
    spans = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        spans.append(time.perf_counter() - start)
    return 1000 * min(spans)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.row(45)
def test_all_coefficients_and_the_bootstrap_are_computed_quickly(size: str) -> None:
    n, r, missing = SIZES[size]
    rng = np.random.default_rng(0)
    codes = np.where(rng.random((r, n)) < 0.8, rng.integers(0, 4, n), rng.integers(0, 4, (r, n))).astype(np.int8)
    codes[rng.random((r, n)) < missing] = -1
    given = Ratings.from_codes(codes, "abcd")

    def from_codes() -> object:  # a new object, so the pattern table is recomputed
        return all_coefficients(prepare(Ratings(given.items, given.raters, given.scale, given.numeric, given.codes)))

    assert best_ms(from_codes, 3) <= LIMIT_MS
    basis = prepare(given)
    names = ["percent_agreement", "ac1", "fleiss", "alpha"]
    assert best_ms(lambda: bootstrap_intervals(basis, names, replicates=2000), 3) <= LIMIT_MS
