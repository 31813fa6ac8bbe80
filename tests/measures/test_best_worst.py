"""Best-worst scaling: balance of tuples, and strengths as by choix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import comb
from random import Random
from typing import Any

import choix
import numpy as np
import pytest
from choix.opt import Top1Fcts
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize  # type: ignore[import-untyped]

from measures.design import SIZE, balanced_tuples, fewest_tuples, seen_at
from measures.ratings import BestWorst, Criterion, Judgement, best_worst_figures, figures
from measures.ratings.judgements import BEST, NEITHER, WORST
from measures.ratings.preferences import ALWAYS, APART, NO_CHOICES

CRITERION = Criterion("best", "best-worst", (), (BEST, NEITHER, WORST), "higher", (-1.0, 1.0))
QUALITY = {"a": 1.0, "b": 0.4, "c": 0.1, "d": -0.2, "e": -0.6, "f": -0.7}


@settings(max_examples=20)
@given(st.integers(4, 9), st.integers(1, 10), st.integers(0, 10**6), st.data())
def test_tuples_are_balanced(m: int, n: int, seed: int, data: st.DataObject) -> None:
    each = data.draw(st.integers(1, min(5, comb(m, SIZE))))
    systems, sources = [f"s{i}" for i in range(m)], [f"q{i}" for i in range(n)]
    tuples = balanced_tuples(sources, systems, seed, each=each)
    assert tuples == balanced_tuples(sources, systems, seed, each=each)
    assert Counter(one.source for one in tuples) == dict.fromkeys(sources, each)
    assert len({(one.source, frozenset(one.systems)) for one in tuples}) == len(tuples)
    assert all(len(set(one.systems)) == SIZE for one in tuples)

    def spread(counts: Counter[Any], keys: Sequence[object]) -> int:
        return max(counts[key] for key in keys) - min(counts[key] for key in keys)

    assert spread(Counter(s for one in tuples for s in one.systems), systems) <= 1
    for source in sources:
        assert spread(Counter(s for one in tuples if one.source == source for s in one.systems), systems) <= 1
    places = Counter((s, k) for one in tuples for k, s in enumerate(one.systems))
    assert all(spread(places, [(s, k) for k in range(SIZE)]) <= 1 for s in systems)
    pairs = Counter(frozenset(pair) for one in tuples for pair in combinations(one.systems, 2))
    assert spread(pairs, [frozenset(pair) for pair in combinations(systems, 2)]) <= 3


def test_all_tuples_can_be_asked_and_no_others() -> None:
    systems = [*"abcdef"]
    assert len({frozenset(one.systems) for one in balanced_tuples(["q"], systems, 1, each=15)}) == 15
    assert [fewest_tuples(m) for m in (4, 5, 8, 9)] == [1, 2, 2, 3]
    for names, each in ((systems[:3], None), (systems, 16), (systems, 0)):
        with pytest.raises(ValueError, match="systems do not form"):
            balanced_tuples(["q"], names, 1, each=each)


def test_each_text_has_each_place_once_over_four_raters_and_a_repeat_another_order() -> None:
    orders = [seen_at("abcd", number) for number in range(4)]
    assert all(sorted(place) == [*"abcd"] for place in zip(*orders, strict=True))
    assert seen_at("abcd", 0, repeat=1) != orders[0]


def drawn(sources: int, seed: int, raters: int = 2) -> list[BestWorst]:
    random = Random(seed)
    made = []
    for one in balanced_tuples([f"q{i}" for i in range(sources)], [*QUALITY], seed):
        for rater in range(raters):
            noisy = {s: QUALITY[s] - np.log(-np.log(random.random())) for s in one.systems}
            order = sorted(one.systems, key=lambda s: noisy[s])
            made.append(BestWorst(one.source, one.systems, order[-1], order[0], f"r{rater}", "best"))
    return made


def reference(choices: list[BestWorst]) -> np.ndarray:
    """Strengths by choix: its likelihood of the best, and of the worst of the others with turned signs."""
    names = [*QUALITY]
    best = [(names.index(c.best), tuple(names.index(s) for s in c.systems if s != c.best)) for c in choices]
    worst = [
        (names.index(c.worst), tuple(names.index(s) for s in c.systems if s not in (c.best, c.worst))) for c in choices
    ]
    one, other = Top1Fcts(best, 0.0), Top1Fcts(worst, 0.0)
    # choix estimates either part alone, which is the start.
    start = choix.opt_top1(len(names), best)
    found = minimize(
        lambda x: one.objective(x) + other.objective(-x),
        start,
        jac=lambda x: one.gradient(x) - other.gradient(-x),
        hess=lambda x: one.hessian(x) + other.hessian(-x),
        method="Newton-CG",
        options={"xtol": 1e-12},
    ).x
    return np.asarray(found - found.mean())


@pytest.mark.parametrize("seed", range(4))
def test_strengths_are_those_of_choix(seed: int) -> None:
    choices = drawn(30, seed)
    [made] = best_worst_figures(choices)
    assert [row["system"] for row in made["systems"]] == [*QUALITY]
    assert [row["strength"] for row in made["systems"]] == pytest.approx(reference(choices).tolist(), abs=1e-6)
    for row in made["systems"]:
        low, high = row["ci"]
        assert low < row["strength"] < high
    assert made["n"] == 120
    assert made["sources"] == 30


def test_intervals_leave_out_one_source_at_a_time() -> None:
    from measures.ratings.best_worst import Choices

    choices = drawn(12, 7)
    counted = Choices(choices, [*QUALITY])
    strength = counted.strengths(counted.of_source.sum(axis=0), np.zeros(6))
    without = counted.without_each(strength)
    for g, source in enumerate(sorted({each.source for each in choices}, key=str)):
        left = [each for each in choices if each.source != source]
        assert without[g] == pytest.approx(reference(left), abs=1e-6)


def test_undefined_strengths_have_a_reason() -> None:
    def why(*choices: BestWorst) -> str:
        [made] = best_worst_figures(choices)
        assert all(row["strength"] is None and row["ci_reason"] == made["undefined"] for row in made["systems"])
        return str(made["undefined"])

    one = BestWorst("q1", "abcd", "a", "d", "r", "best")
    assert why(one) == ALWAYS
    assert why(one, BestWorst("q2", "efgh", "e", "h", "r", "best")) == APART
    assert why(BestWorst("q1", "abcd", "a", "d", "r", "best", repeat=1)) == NO_CHOICES


def test_the_count_of_a_system_is_its_share_of_best_less_that_of_worst() -> None:
    choices = drawn(24, 3, raters=1)
    judgements = [
        Judgement(
            c.source,
            s,
            c.rater,
            "best",
            BEST if s == c.best else WORST if s == c.worst else NEITHER,
            text=f"{c.source}{s}",
        )
        for c in choices
        for s in c.systems
    ]
    made = figures(judgements, [CRITERION], best_worst=choices)
    [criterion], [strengths] = made["criteria"], made["best_worst"]
    for row, of in zip(criterion["systems"], strengths["systems"], strict=True):
        assert (row["counts"][BEST], row["counts"][WORST]) == (of["best"], of["worst"])
        # Some texts are in two tuples of their source; a text counts once.
        own = [c for c in choices if row["system"] in c.systems]
        by_source = {
            c.source: [(d.best == row["system"]) - (d.worst == row["system"]) for d in own if d.source == c.source]
            for c in own
        }
        assert row["value"] == pytest.approx(np.mean([np.mean(values) for values in by_source.values()]))
    assert criterion["kind"] == "best-worst"
    assert criterion["letters"]["a"] == "a"
    assert {pair["different"] for pair in criterion["pairs"]} == {True, False}
    # On each page the choices sum to 0, whoever makes them.
    assert made["raters"][0]["severity"] == {}
