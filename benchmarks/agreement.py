"""Benchmark of all coefficients with standard errors against irrCAC and krippendorff, on the same ratings."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from measures.agreement import Ratings, all_coefficients, bootstrap_intervals, prepare

from .places import ROOT
from .report import Found, say

#: (items, raters): target speed-up over irrCAC's AC1, Fleiss and alpha together.
AIMS = {(1_900, 3): 50, (1_000_000, 5): 150}
ORACLE = ROOT / "tests" / "measures" / "irrcac_oracle.py"


@dataclass(frozen=True)
class Plan:
    sizes: tuple[tuple[int, int], ...] = ((1_900, 3), (1_000_000, 5))
    replicates: int = 2_000
    oracle: bool = True

    @classmethod
    def quick(cls) -> "Plan":
        return cls(sizes=((1_900, 3), (100_000, 5)))


def codes_of(items: int, raters: int) -> "np.ndarray[Any, np.dtype[np.int8]]":
    """Return codes (raters, items) with four categories and a truth that about four in five ratings follow."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, items)
    return np.where(rng.random((raters, items)) < 0.8, truth, rng.integers(0, 4, (raters, items))).astype(np.int8)


def best(call: Callable[[], object], seconds: float = 1.0, most: int = 20) -> float:
    """Return the shortest of several runs, in seconds. Other load on the machine can only lengthen a run."""
    spans: list[float] = []
    while len(spans) < 2 or (sum(spans) < seconds and len(spans) < most):
        start = time.perf_counter()
        call()
        spans.append(time.perf_counter() - start)
    return min(spans)


def _irrcac_python() -> Path | None:
    """Return the interpreter that has irrCAC, or None, with a message, if it cannot be installed."""
    ask = "import irrcac_oracle; print(irrcac_oracle.environment())"
    done = subprocess.run([sys.executable, "-c", ask], cwd=ORACLE.parent, capture_output=True, text=True, check=False)
    return Path(done.stdout.strip()) if done.returncode == 0 else None


def _irrcac_seconds(python: Path, items: int, raters: int) -> dict[str, float]:
    codes = codes_of(items, raters)
    script = Path(__file__).with_name("irrcac_times.py")
    done = subprocess.run(
        [str(python), "-W", "ignore", str(script), str(items), str(raters)],
        input=codes.tobytes(),
        capture_output=True,
        check=True,
        env={},
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def run(plan: Plan) -> Found:
    found = Found()
    python = _irrcac_python() if plan.oracle else None
    if python is None:
        found.skipped.append("irrCAC: not asked for, or it cannot be installed")
    for items, raters in plan.sizes:
        size = f"{items:,} x {raters}"
        given = Ratings.from_codes(codes_of(items, raters), "abcd")
        fresh = lambda g=given: prepare(Ratings(g.items, g.raters, g.scale, g.numeric, g.codes))  # noqa: E731
        ours = best(lambda fresh=fresh: all_coefficients(fresh()))  # type: ignore[misc]
        figures: dict[str, Any] = {"ours_ms": 1000 * ours}
        if python:
            theirs = _irrcac_seconds(python, items, raters)
            figures |= {"irrcac_s": theirs, "irrcac_ratio": sum(theirs.values()) / ours}
            # There is a target for some sizes only. For others the ratio is only reported.
            aim = AIMS.get((items, raters))
            what = f"agreement, {size}: times faster than irrCAC's AC1 + Fleiss + alpha"
            if aim:
                found.at_least(what, figures["irrcac_ratio"], aim)
            else:
                found.told(what, f"{figures['irrcac_ratio']:.3g}")
        try:
            figures |= _krippendorff(given.codes, ours)
            found.told(
                f"agreement, {size}: times faster than krippendorff's alpha alone", f"{figures['alpha_ratio']:.3g}"
            )
        except ImportError:
            found.skipped.append("krippendorff: it is in requirements/test.txt")
        if items <= 2_000:
            basis = prepare(given)
            names = ["percent_agreement", "ac1", "fleiss", "alpha"]
            once = best(lambda: bootstrap_intervals(basis, names, replicates=plan.replicates))  # noqa: B023
            figures["bootstrap_ratio"] = once / ours
            found.at_most(f"agreement, {size}: bootstrap of {plan.replicates:,} / one evaluation", once / ours, 20)
        say(f"    {size}: {figures}")
        found.figures[size] = figures
    return found


def _krippendorff(codes: Any, ours: float) -> dict[str, float]:
    import krippendorff

    data = np.asarray(codes, dtype=float)
    spent = best(lambda: krippendorff.alpha(data, level_of_measurement="nominal", value_domain=[0, 1, 2, 3]))
    return {"alpha_s": spent, "alpha_ratio": spent / ours}
