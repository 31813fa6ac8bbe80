"""Simulate rating studies: order of effects, family-wise error and coverage of intervals.

A rating is the sum of the effect of its system, its source, the severity of its rater, and noise. Every study is
analysed like a round (`measures.ratings`). The raters are fixed: a system's true mean includes their mean severity.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import stats  # type: ignore[import-untyped]

from measures.clustered import FloatArray
from measures.means import FROM_0_TO_1
from measures.ratings import Criterion, Judgement, Rows, figures
from measures.ratings.between import pair_figures
from measures.ratings.per_system import system_figures

from .report import Found, say

ITEMS, RATERS, NOISE = 1.0, 0.5, 0.7
SCORE = Criterion("score", "mean", better="higher")
RIGHT = Criterion("right", "share", better="higher", bounds=FROM_0_TO_1)
POINTS = Criterion("points", "mean", (), tuple("12345"), "higher", (1.0, 5.0))
ORDERED, FAMILY, HELD = 0.95, 0.065, (0.93, 0.97)
#: Assignment of sources to raters.
ALL, ONE = "every rater every source", "one rater a source"


@dataclass(frozen=True)
class Plan:
    """Sizes of a run.

    ``studies`` of each kind are simulated. ``judgements`` is the size of the round whose figures are timed.
    """

    studies: int = 1_000
    sources: int = 30
    effects: tuple[float, ...] = (0.0, 0.5, 1.0, 1.5)
    raters: int = 3
    judgements: int = 100_000

    @classmethod
    def quick(cls) -> "Plan":
        return cls(studies=100, judgements=10_000)


@dataclass
class Tally:
    """Counts hits among observations."""

    hits: int = 0
    n: int = 0

    def add(self, hit: bool) -> None:
        self.hits += hit
        self.n += 1

    @property
    def share(self) -> float:
        return self.hits / self.n


def study(rng: np.random.Generator, plan: Plan, effects: Sequence[float], design: str) -> tuple[Rows, FloatArray]:
    """Return the ratings of one study and the severity of its raters (raters,)."""
    severity = rng.normal(0, RATERS, plan.raters)
    source = rng.normal(0, ITEMS, plan.sources)
    noise = rng.normal(0, NOISE, (plan.sources, len(effects), plan.raters))
    made = []
    for s in range(plan.sources):
        for r in range(plan.raters) if design == ALL else [s % plan.raters]:
            for m, effect in enumerate(effects):
                value = float(effect + source[s] + severity[r] + noise[s, m, r])
                points = str(round(min(max(value + 3 - float(np.mean(effects)), 1), 5)))
                for key, said in (("score", value), ("right", float(value > 0)), ("points", points)):
                    made.append(Judgement(f"s{s}", f"system {m}", f"r{r}", key, said))
    return Rows.of(made), severity


def run(plan: Plan) -> Found:
    found = Found()
    for number, design in enumerate((ALL, ONE)):
        _null(found, plan, design, np.random.default_rng((1, number)))
        _effects(found, plan, design, np.random.default_rng((2, number)))
        say(f"    {design}")
    _timed(found, plan)
    return found


def _null(found: Found, plan: Plan, design: str, rng: np.random.Generator) -> None:
    wrong = {criterion.key: Tally() for criterion in (SCORE, RIGHT, POINTS)}
    for _ in range(plan.studies):
        rows, _ = study(rng, plan, [0.0] * len(plan.effects), design)
        for criterion in (SCORE, RIGHT, POINTS):
            wrong[criterion.key].add(any(pair["different"] for pair in pair_figures(rows.of_criterion(criterion))))
    for key, tally in wrong.items():
        found.at_most(f"ratings, {design}: family-wise error, {key}", tally.share, FAMILY)
    found.figures[f"{design}: null"] = {key: [tally.hits, tally.n] for key, tally in wrong.items()}


def _effects(found: Found, plan: Plan, design: str, rng: np.random.Generator) -> None:
    ordered, letters = Tally(), Tally()
    held: dict[str, Tally] = {}
    for _ in range(plan.studies):
        rows, severity = study(rng, plan, plan.effects, design)
        judgements = [rows.of_criterion(SCORE), rows.of_criterion(RIGHT)]
        scores, right = system_figures(judgements, 0)
        ordered.add(all(one["value"] < other["value"] for one, other in pairwise(scores)))
        pairs = pair_figures(judgements[0])
        letters.add(all(pair["different"] for pair in pairs))
        for m, effect in enumerate(plan.effects):
            shares = stats.norm.cdf((effect + severity) / np.hypot(ITEMS, NOISE))
            for name, row, truth in (("mean", scores[m], effect + severity.mean()), ("share", right[m], shares.mean())):
                _hold(held, f"{name}, ci", row["ci"], float(truth))
        for pair in pairs:
            first, second = (plan.effects[int(pair[side].split()[1])] for side in ("first", "second"))
            _hold(held, "difference, ci", pair["comparison"]["difference"]["ci"], first - second)
    found.at_least(f"ratings, {design}: studies that order effects of 0.5 right", ordered.share, ORDERED)
    found.told(f"ratings, {design}: studies in which all pairs differ significantly", f"{letters.share:.3f}")
    for name, tally in held.items():
        words = f"ratings, {design}: 95 % intervals that hold the truth: {name}"
        found.at_least(words, tally.share, HELD[0])
        found.at_most(words, tally.share, HELD[1])
    found.figures[f"{design}: effects"] = {
        "ordered": [ordered.hits, ordered.n],
        "letters": [letters.hits, letters.n],
        "held": {name: [tally.hits, tally.n] for name, tally in held.items()},
    }


def _hold(held: dict[str, Tally], name: str, ci: Sequence[float] | None, truth: float) -> None:
    """Count a printed interval, and whether it contains the truth."""
    if ci is None:
        return
    held.setdefault(name, Tally()).add(ci[0] - 1e-12 <= truth <= ci[1] + 1e-12)


def _timed(found: Found, plan: Plan) -> None:
    """Time the figures of a round of eight systems and five criteria."""
    rng = np.random.default_rng(3)
    criteria = [Criterion(f"c{i}", "mean", (), tuple("12345"), "higher", (1.0, 5.0)) for i in range(4)]
    criteria.append(Criterion("right", "share", ("yes",), ("yes", "no"), "higher", FROM_0_TO_1))
    made = [
        Judgement(source, f"system {m}", f"r{source % 6}", c.key, said, m, 40_000)
        for source in range(plan.judgements // 40)
        for m in range(8)
        for c in criteria
        for said in [str(rng.integers(1, 6)) if c.kind == "mean" else ("yes", "no")[rng.integers(2)]]
    ]
    begun = time.perf_counter()
    figures(made, criteria)
    taken = time.perf_counter() - begun
    found.at_most(f"ratings: all figures of {len(made):,} judgements", taken, 30, " s")
