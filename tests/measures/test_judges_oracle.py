"""The alternative annotator test and prediction-powered means, against other implementations to 1e-6.

`golden/judges.json` has the results of the authors' packages. The oracles below are written from the papers.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats  # type: ignore[import-untyped]

from benchmarks.judges import JUDGES, Setting, covered, false_rejections
from measures.clustered import FloatArray
from measures.judges import Totals, alternative_test, normal_interval, powered_mean
from measures.judges.alternative import rejections

GOLDEN = json.loads((Path(__file__).parent / "golden" / "judges.json").read_text())
FREE = (-math.inf, math.inf)


def numbers(values: list[float | None]) -> FloatArray:
    return np.array([math.nan if value is None else value for value in values])


def of_one_item(values: list[float]) -> Totals:
    return Totals(np.asarray(values, dtype=float), np.ones(len(values)))


@pytest.mark.parametrize("case", GOLDEN["alternative"], ids=lambda case: f"{len(case['people'])} raters")
def test_the_alternative_annotator_test_equals_the_authors_code(case: dict[str, Any]) -> None:
    people, judge = np.array([numbers(each) for each in case["people"]]), numbers(case["judge"])
    names = tuple(f"r{i}" for i in range(len(people)))
    test = alternative_test(
        people, judge, np.arange(len(judge)), names, ordered=case["ordered"], epsilon=case["epsilon"]
    )
    assert test.winning_rate == pytest.approx(case["winning_rate"], abs=1e-6)
    assert test.advantage == pytest.approx(case["advantage"], abs=1e-6)
    assert [each.p for each in test.annotators] == pytest.approx(case["p"], abs=1e-6)


def test_sources_of_one_text_give_the_p_of_the_t_test() -> None:
    case = GOLDEN["alternative"][0]
    people, judge = np.array([numbers(each) for each in case["people"]]), numbers(case["judge"])
    test = alternative_test(people, judge, np.arange(len(judge)), ("a", "b", "c"), ordered=False, epsilon=0.2)
    for each in test.annotators:
        assert each.p_clustered == pytest.approx(each.p, abs=1e-6)


def test_the_clustered_p_equals_a_jackknife_written_out() -> None:
    rng = np.random.default_rng(5)
    source = np.repeat(np.arange(15), 3)
    people, judge = rng.integers(0, 2, (3, 45)).astype(float), rng.integers(0, 2, 45).astype(float)
    test = alternative_test(people, judge, source, ("a", "b", "c"), ordered=False, epsilon=0.2)
    match = [np.mean([each == people[1], each == people[2]], axis=0) for each in (judge, people[0])]
    d = (match[1] >= match[0]).astype(float) - (match[0] >= match[1])
    without = np.array([d[source != g].mean() for g in range(15)])
    se = math.sqrt(14 / 15 * ((without - d.mean()) ** 2).sum())
    assert test.annotators[0].p_clustered == pytest.approx(stats.t.cdf((d.mean() - 0.2) / se, 14), abs=1e-6)


def test_few_texts_are_tested_by_signed_ranks() -> None:
    rng = np.random.default_rng(6)
    people, judge = rng.integers(1, 6, (3, 20)).astype(float), rng.integers(1, 6, 20).astype(float)
    [first, *_] = alternative_test(people, judge, np.arange(20), ("a", "b", "c"), ordered=True, epsilon=0.2).annotators
    rmse = [np.sqrt(((each - people[1:]) ** 2).mean(axis=0)) for each in (judge, people[0])]
    d = (rmse[1] <= rmse[0]).astype(float) - (rmse[0] <= rmse[1])
    assert first.method == "Wilcoxon"
    assert first.p == pytest.approx(stats.wilcoxon(d - 0.2, alternative="less").pvalue, abs=1e-6)


def test_false_discoveries_are_limited_as_in_scipy() -> None:
    rng = np.random.default_rng(7)
    for m in (3, 8, 20):
        p = list(rng.random(m) ** 3)
        expected = stats.false_discovery_control(p, method="by") <= 0.05
        assert rejections(p) == list(expected)


@pytest.mark.parametrize("case", GOLDEN["powered"], ids=lambda case: case["kind"])
def test_prediction_powered_means_equal_the_authors_package(case: dict[str, Any]) -> None:
    totals = of_one_item(case["human"]), of_one_item(case["judge"]), of_one_item(case["others"])
    figure = powered_mean(*totals, FREE)
    assert figure.ci is not None
    assert figure.value == pytest.approx(case["value"], abs=1e-6)
    assert normal_interval(*totals) == pytest.approx(case["ci"], abs=1e-6)
    # Student's quantile and the jackknife make it wider than the normal one, and it stays close to it.
    low, high = figure.ci
    assert 1 < (high - low) / (case["ci"][1] - case["ci"][0]) < 1.5


def test_the_interval_equals_a_jackknife_written_out() -> None:
    rng = np.random.default_rng(8)
    human = Totals(rng.normal(6, 2, 14), rng.integers(1, 4, 14).astype(float))
    judge = Totals(human.sums * 0.7 + rng.normal(0, 1, 14), human.sizes + rng.integers(0, 2, 14))
    others = Totals(rng.normal(8, 3, 30), rng.integers(1, 5, 30).astype(float))

    def estimate(keep: npt.NDArray[np.intp]) -> tuple[float, float]:
        y, k, f, h = (each[keep] for each in (human.sums, human.sizes, judge.sums, judge.sizes))
        y_mean, f_mean = y.sum() / k.sum(), f.sum() / h.sum()
        r, e = (y - y_mean * k) / k.mean(), (f - f_mean * h) / h.mean()
        both, sizes = np.append(f, others.sums), np.append(h, others.sizes)
        spread = (both - both.sum() / sizes.sum() * sizes) / sizes.mean()
        n = len(y)
        power = (r * e).sum() / n / ((1 + n / 30) * (spread**2).sum() / (n + 29))
        power = min(max(power, 0), 1)
        return float(y_mean + power * (others.sums.sum() / others.sizes.sum() - f_mean)), float(power)

    value, power = estimate(np.arange(14))
    without = np.array([estimate(np.delete(np.arange(14), g))[0] for g in range(14)])
    spread = (others.sums - others.mean * others.sizes) / others.sizes.mean()
    variance = 13 / 14 * ((without - without.mean()) ** 2).sum() + power**2 * (spread**2).sum() / 29 / 30
    figure = powered_mean(human, judge, others, FREE)
    assert figure.tuning is not None
    assert 0 < figure.tuning < 1
    assert (figure.value, figure.tuning) == pytest.approx((value, power), abs=1e-6)
    assert figure.se == pytest.approx(math.sqrt(variance), abs=1e-6)


@pytest.mark.parametrize("judge", JUDGES)
def test_intervals_hold_the_truth_with_any_judge(judge: str) -> None:
    """The whole study is in `benchmarks/judges.py`. Here 100 rounds must not contradict it."""
    found = covered(Setting(judge, 20, 80), 100)
    assert found["printed"] == 1
    assert 0.9 < found["mean"] < 0.99
    assert 0.9 < found["difference"] < 0.99


def test_only_the_clustered_test_keeps_its_level_if_texts_of_a_source_are_alike() -> None:
    plain, clustered = false_rejections(20, alike=True, rounds=150)
    assert plain > 0.12
    assert clustered < 0.09
