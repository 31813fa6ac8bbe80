"""Other implementations as oracles: irrCAC (recorded results, recomputed by `make soak`) and krippendorff."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest

from measures.agreement import METRICS, WEIGHTINGS, Ratings, all_coefficients, krippendorff_alpha, prepare

HERE = Path(__file__).parent
RECORD = HERE / "golden" / "irrcac.json"
OURS = {"ac": "ac", "fleiss": "fleiss", "conger": "conger", "bp": "brennan_prediger", "alpha": "alpha_weighted"}
FIVE_DIGITS = 1.01e-5


def random_matrix(seed: int) -> tuple[list[list[float | None]], list[float]]:
    """Return ratings with gaps, some raters better than others; every rater and at least two values occur."""
    rng = np.random.default_rng(seed)
    n, r, q = int(rng.integers(6, 40)), int(rng.integers(2, 6)), int(rng.integers(2, 6))
    truth = rng.integers(0, q, n)
    codes = np.where(rng.random((n, r)) < rng.uniform(0.3, 0.95), truth[:, None], rng.integers(0, q, (n, r)))
    gaps = rng.random((n, r)) < rng.choice([0.0, 0.1, 0.35])
    matrix = [[None if gaps[i, g] else float(codes[i, g] + 1) for g in range(r)] for i in range(n)]
    matrix = [row for row in matrix if any(v is not None for v in row)]
    return matrix, [float(v + 1) for v in range(q)]


def cases() -> list[dict[str, Any]]:
    golden = json.loads((HERE / "golden" / "agreement_golden.json").read_text())["datasets"]
    found = []
    for name in ("raw_4raters", "fleiss1971_30x6", "krippendorff2011", "raw_gender"):
        matrix, categories = golden[name]["matrix"], golden[name]["categories"]
        if isinstance(categories[0], str):
            matrix = [[None if v is None else categories.index(v) + 1.0 for v in row] for row in matrix]
            categories = [i + 1.0 for i in range(len(categories))]
        sets = [(w, matrix, [float(c) for c in categories]) for w in WEIGHTINGS]
        found += [{"name": f"{name} {w}", "weights": w, "matrix": m, "categories": c} for w, m, c in sets]
    for seed in range(24):
        matrix, categories = random_matrix(seed)
        for weights in (WEIGHTINGS[seed % 8], WEIGHTINGS[(seed + 3) % 8]):
            name = f"random {seed} {weights}"
            found.append({"name": name, "weights": weights, "matrix": matrix, "categories": categories})
    return found


@pytest.fixture(scope="module")
def irrcac() -> dict[str, Any]:
    """irrCAC's recorded results of all cases; installing it takes longer than all comparisons."""
    recorded: dict[str, Any] = json.loads(RECORD.read_text())
    assert recorded["cases"] == cases(), f"other cases than in {RECORD.name}: write it anew, as its long test says"
    return recorded


@pytest.mark.long
def test_irrcac_says_what_was_recorded_of_it(irrcac: dict[str, Any]) -> None:
    """Skipped with a warning if it cannot be installed. The record has its input and output."""
    given = json.dumps({"cases": cases()})
    done = subprocess.run(
        [sys.executable, str(HERE / "irrcac_oracle.py")], input=given, capture_output=True, text=True, check=False
    )
    if done.returncode == 3:
        warnings.warn(f"THE irrCAC ORACLE DID NOT RUN: {done.stderr.strip()}", stacklevel=1)
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["datasets"] == irrcac["datasets"]
    for case, now, then in zip(cases(), said["results"], irrcac["results"], strict=True):
        assert now.keys() == then.keys()
        for key in now:
            numbers = [[n["value"], n["se"], *n["ci"]] if n else [] for n in (now[key], then[key])]
            assert numbers[0] == pytest.approx(numbers[1], abs=1e-9), (case["name"], key)


def ours_of(case: dict[str, Any]) -> dict[str, Any]:
    ratings = Ratings.from_matrix(case["matrix"], case["categories"])
    found = all_coefficients(prepare(ratings, case["weights"]))
    found["ac"] = found["ac1"] if "ac1" in found else found["ac2"]
    found.setdefault("alpha_weighted", found["alpha"])
    return found


def test_point_values_equal_irrcac_on_golden_and_random_sets_in_all_eight_weightings(irrcac: dict[str, Any]) -> None:
    compared = 0
    for case, theirs in zip(cases(), irrcac["results"], strict=True):
        found = ours_of(case)
        for key, name in OURS.items():
            if theirs[key] is None or theirs[key]["value"] is None:
                continue
            mine = found[name].value
            assert mine is not None, (case["name"], name)
            assert mine == pytest.approx(theirs[key]["value"], abs=FIVE_DIGITS), (case["name"], name)
            compared += 1
    assert compared > 0.95 * 5 * len(cases())


def test_standard_errors_equal_irrcac_but_for_alpha_where_the_port_deviates_from_r(irrcac: dict[str, Any]) -> None:
    compared = 0
    for case, theirs in zip(cases(), irrcac["results"], strict=True):
        found = ours_of(case)
        for key in ("ac", "fleiss", "conger", "bp"):
            if theirs[key] is None or not theirs[key]["se"]:
                continue
            result = found[OURS[key]]
            assert result.se == pytest.approx(theirs[key]["se"], abs=FIVE_DIGITS), (case["name"], key)
            assert result.ci is not None
            assert list(result.ci) == pytest.approx(theirs[key]["ci"], abs=FIVE_DIGITS), (case["name"], key)
            compared += 1
    assert compared > 0.95 * 4 * len(cases())


# (value, SE) of pa, AC1, Fleiss, Conger, Brennan-Prediger, alpha from the project's reference notes
TABLED = {
    "raw_4raters": [
        (0.81818, 0.12561),
        (0.77544, 0.14295),
        (0.76117, 0.15302),
        (0.76282, 0.14917),
        (0.77273, 0.14472),
        (0.74342, 0.14548),
    ],
    "raw_5observers": [
        (0.61556, 0.09067),
        (0.49662, 0.12197),
        (0.45762, 0.12045),
        (0.46927, 0.11666),
        (0.48741, 0.12089),
        (0.48053, 0.11356),
    ],
    "raw_g1g2": [
        (0.74359, 0.11577),
        (0.68460, 0.13353),
        (0.65725, 0.14992),
        (0.65859, 0.14600),
        (0.67949, 0.13624),
        (0.63181, 0.14958),
    ],
    "raw_gender": [
        (0.45556, 0.06798),
        (0.20808, 0.09070),
        (0.12889, 0.14050),
        (0.16572, 0.12121),
        (0.18333, 0.10196),
        (0.14341, 0.14050),
    ],
    "raw_ben_gerry": [
        (0.72727, 0.15506),
        (0.66144, 0.18396),
        (0.64935, 0.19130),
        (0.65714, 0.17943),
        (0.65909, 0.18527),
        (0.66489, 0.18007),
    ],
}
ORDER = ("percent_agreement", "ac1", "fleiss", "conger", "brennan_prediger", "alpha")


@pytest.mark.parametrize("name", sorted(TABLED))
def test_the_tabled_values_and_standard_errors_are_reproduced_to_five_digits(name: str, irrcac: dict[str, Any]) -> None:
    matrix = irrcac["datasets"][name]
    scale = sorted({v for row in matrix for v in row if v is not None})
    found = all_coefficients(prepare(Ratings.from_matrix(matrix, scale)))
    for key, (value, se) in zip(ORDER, TABLED[name], strict=True):
        assert found[key].value == pytest.approx(value, abs=FIVE_DIGITS / 2), key
        assert found[key].se == pytest.approx(se, abs=FIVE_DIGITS / 2), key


def test_the_distribution_of_six_raters_gives_the_tabled_values(irrcac: dict[str, Any]) -> None:
    counts = irrcac["datasets"]["distrib_6raters"]
    matrix = [[k for k, times in enumerate(row) for _ in range(int(times))] for row in counts]
    width = max(map(len, matrix))
    padded = [[*row, *[None] * (width - len(row))] for row in matrix]
    found = all_coefficients(prepare(Ratings.from_matrix(padded, list(range(len(counts[0]))))))
    expected = {
        "percent_agreement": 0.55111,
        "ac1": 0.44480,
        "fleiss": 0.41393,
        "brennan_prediger": 0.43889,
        "alpha": 0.42044,
    }
    for key, value in expected.items():
        assert found[key].value == pytest.approx(value, abs=FIVE_DIGITS / 2), key
    for key, se in {"ac1": 0.08419, "fleiss": 0.08119, "brennan_prediger": 0.08312, "alpha": 0.08119}.items():
        assert found[key].se == pytest.approx(se, abs=FIVE_DIGITS), key


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(15))
def test_alpha_equals_the_krippendorff_package_in_every_metric(metric: str, seed: int) -> None:
    matrix, scale = random_matrix(seed)
    data = np.array([[np.nan if v is None else v for v in row] for row in matrix]).T
    theirs = krippendorff.alpha(data, level_of_measurement=metric, value_domain=scale)  # type: ignore[arg-type]
    ours = krippendorff_alpha(prepare(Ratings.from_matrix(matrix, scale)), metric)  # type: ignore[arg-type]
    assert ours.value == pytest.approx(theirs, abs=1e-12)


def krippendorff_without(data: np.ndarray, item: int, metric: str) -> float:
    return krippendorff.alpha(np.delete(data, item, 1), level_of_measurement=metric)  # type: ignore[arg-type]


@pytest.mark.parametrize("metric", METRICS)
def test_the_standard_error_of_alpha_is_that_of_a_jackknife_of_the_krippendorff_package(metric: str) -> None:
    rng = np.random.default_rng(5)
    n = 150
    truth = rng.integers(1, 6, n)
    data = np.clip(truth + rng.integers(-1, 2, (3, n)), 1, 5).astype(float)
    data[rng.random(data.shape) < 0.1] = np.nan
    data = data[:, (~np.isnan(data)).sum(axis=0) >= 2]
    n = data.shape[1]
    left_out = np.array([krippendorff_without(data, i, metric) for i in range(n)])
    jackknife = np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
    matrix = [[None if np.isnan(v) else v for v in row] for row in data.T]
    ours = krippendorff_alpha(prepare(Ratings.from_matrix(matrix, [1, 2, 3, 4, 5])), metric)  # type: ignore[arg-type]
    assert ours.se == pytest.approx(jackknife, rel=0.03)
