"""Published values, reproduced to their printed digits."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from measures.agreement import (
    Basis,
    Coefficient,
    Ratings,
    bangdiwala_b,
    brennan_prediger,
    cohen_kappa,
    conger,
    fleiss,
    gwet_ac,
    krippendorff_alpha,
    percent_agreement,
    prepare,
    weighted_alpha,
)
from measures.agreement.basis import t_quantile

GOLDEN = json.loads((Path(__file__).parent / "golden" / "agreement_golden.json").read_text(encoding="utf-8"))
PUBLISHED = GOLDEN["published"]
FORMULA = {
    "pa": percent_agreement,
    "ac": gwet_ac,
    "fleiss": fleiss,
    "scott": fleiss,
    "conger": conger,
    "bp": brennan_prediger,
    "alpha": weighted_alpha,
}


def printed(value: float | None, expected: float) -> bool:
    """Whether ``value`` is ``expected`` within half a unit (and rounding noise) of its last printed digit.

    A 3-decimal source that rounds an already rounded figure may be off by half a unit more: .1525 printed .152.
    """
    assert value is not None
    digits = max(3, -int(Decimal(str(expected)).as_tuple().exponent))
    return bool(abs(value - expected) <= 0.5001 * 10.0**-digits + 5e-6)


def basis_of(row: dict[str, Any]) -> Basis:
    data = GOLDEN["datasets"][row["dataset"]]
    if "table" in data:
        table = data["table"]
        matrix = [[k, m] for k, line in enumerate(table) for m, times in enumerate(line) for _ in range(times)]
        return prepare(Ratings.from_matrix(matrix, list(range(len(table)))), row["weights"])
    return prepare(Ratings.from_matrix(data["matrix"], data["categories"]), row["weights"])


def result_of(row: dict[str, Any]) -> Coefficient:
    name = row["coefficient"]
    if name == "cohen":
        return cohen_kappa(np.array(GOLDEN["datasets"][row["dataset"]]["table"], dtype=float))
    if name == "bangdiwala_B":
        return bangdiwala_b(np.array(GOLDEN["datasets"][row["dataset"]]["table"], dtype=float))
    basis = basis_of(row)
    if name.startswith("krippendorff_alpha_"):
        return krippendorff_alpha(basis, name.removeprefix("krippendorff_alpha_"))
    return FORMULA[name](basis)


def interval_from(result: Coefficient, se: float, df: int) -> tuple[float, float]:
    assert result.value is not None
    half = t_quantile(0.95, df) * se
    return result.value - half, min(1.0, result.value + half)


def se_and_interval(row: dict[str, Any], result: Coefficient) -> tuple[float, tuple[float, float]]:
    """Our SE and CI, brought to the source's variant where sources disagree on the variance of one and the same value.

    R irrCAC's two-rater *tables* divide the variance by n where its raw form (and ours) divides by n - 1. The Python
    port's alpha takes pa where R takes pa', and n - 1 pairable items as degrees of freedom.
    """
    assert result.se is not None
    assert result.ci is not None
    if row["dataset"] == "cont3x3abstractors" and row["coefficient"] not in ("cohen", "bangdiwala_B"):
        se = result.se * float(np.sqrt((result.n_items - 1) / result.n_items))
        return se, interval_from(result, se, result.n_items - 1)
    if row["coefficient"] == "alpha" and "test_krippendorff.py" in row["source"]:
        se = port_alpha_se(basis_of(row))
        return se, interval_from(result, se, result.n_items - 1)
    return result.se, result.ci


def port_alpha_se(basis: Basis) -> float:
    """Return the standard error of alpha as in the Python port of irrCAC."""
    keep = basis.pairable > 0
    counts, times, size = basis.counts[keep], basis.times[keep], basis.size[keep]
    n, mean, total = times.sum(), (times @ size) / times.sum(), times @ size
    pa_i = (counts * (counts @ basis.weights - 1)).sum(axis=1) / (mean * (size - 1))
    pa = (1 - 1 / total) * (times @ pa_i) / n + 1 / total
    pi = times @ counts / total
    pe = pi @ basis.weights @ pi
    alpha = (times @ pa_i / n - pe) / (1 - pe)  # of pa', not of pa
    pa_i = pa_i - pa * (size - mean) / mean
    pe_i = counts @ (basis.weights @ pi) / mean - pe * (size - mean) / mean
    influence = (pa_i - pe) / (1 - pe) - 2 * (1 - alpha) * (pe_i - pe) / (1 - pe) - alpha
    return float(np.sqrt(times @ influence**2 / (n * (n - 1))))


IDS = [f"{r['dataset']}-{r['weights']}-{r['coefficient']}-{i}" for i, r in enumerate(PUBLISHED)]


@pytest.mark.parametrize("row", PUBLISHED, ids=IDS)
def test_a_published_value_is_reproduced_to_its_printed_digits(row: dict[str, Any]) -> None:
    assert printed(result_of(row).value, row["value"])


WITH_PE = [row for row in PUBLISHED if row.get("pe") is not None]


@pytest.mark.parametrize("row", WITH_PE, ids=lambda r: f"{r['dataset']}-{r['weights']}-{r['coefficient']}")
def test_published_observed_and_expected_agreement_are_reproduced(row: dict[str, Any]) -> None:
    result = result_of(row)
    assert printed(result.pe, row["pe"])
    if row["coefficient"] == "alpha" and row["dataset"] == "raw_4raters":
        assert printed(result.pa, row["pa"])


WITH_SE = [row for row in PUBLISHED if row["se"] is not None]


@pytest.mark.parametrize("row", WITH_SE, ids=lambda r: f"{r['dataset']}-{r['weights']}-{r['coefficient']}")
def test_a_published_standard_error_is_reproduced_to_its_printed_digits(row: dict[str, Any]) -> None:
    assert printed(se_and_interval(row, result_of(row))[0], row["se"])


WITH_CI = [row for row in PUBLISHED if row["ci"]]


@pytest.mark.parametrize("row", WITH_CI, ids=lambda r: f"{r['dataset']}-{r['weights']}-{r['coefficient']}")
def test_a_published_interval_is_reproduced_to_its_printed_digits(row: dict[str, Any]) -> None:
    low, high = se_and_interval(row, result_of(row))[1]
    assert printed(low, row["ci"][0])
    assert printed(high, row["ci"][1])


def test_the_cohen_kappa_that_sas_prints_comes_with_its_asymptotic_standard_error() -> None:
    result = cohen_kappa(np.array([[0, 4, 1], [0, 8, 0], [0, 1, 5]], dtype=float))
    assert result.value == pytest.approx(0.4842, abs=5e-5)
    assert result.se == pytest.approx(0.1380, abs=5e-5)


WIKIPEDIA = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def test_the_example_of_fleiss_kappa_in_wikipedia_is_reproduced() -> None:
    matrix = [[k for k, times in enumerate(row) for _ in range(times)] for row in WIKIPEDIA]
    basis = prepare(Ratings.from_matrix(matrix, [0, 1, 2, 3, 4]))
    assert fleiss(basis).value == pytest.approx(0.20993, abs=5e-6)
    assert brennan_prediger(basis).value == pytest.approx(0.22253, abs=5e-6)
    assert krippendorff_alpha(basis).value == pytest.approx(0.21557, abs=5e-6)


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        ("fleiss1971_30x6", {"pa": 0.55556, "ac": 0.44788, "fleiss": 0.43024, "bp": 0.44444, "alpha": 0.43341}),
        ("cac_dist4cat", {"ac": 0.35189, "fleiss": 0.34619, "bp": 0.35000, "alpha": 0.35708}),
        ("cont3x3abstractors", {"pa": 0.89, "ac": 0.84933, "scott": 0.79624, "bp": 0.835, "alpha": 0.79726}),
    ],
)
def test_the_tabled_values_are_reproduced_to_five_digits(dataset: str, expected: dict[str, float]) -> None:
    basis = basis_of({"dataset": dataset, "weights": "identity"})
    for name, value in expected.items():
        assert FORMULA[name](basis).value == pytest.approx(value, abs=5.1e-6), name


def test_quadratic_weights_give_the_tabled_ac2_and_kappas() -> None:
    basis = basis_of({"dataset": "raw_4raters", "weights": "quadratic"})
    rows = {
        "pa": (0.97538, None),
        "ac": (0.91400, 0.10396),
        "fleiss": (0.86494, 0.14603),
        "conger": (0.85771, 0.14367),
        "bp": (0.90152, 0.11089),
        "alpha": (0.84911, None),
    }
    for name, (value, se) in rows.items():
        result = FORMULA[name](basis)
        assert result.value == pytest.approx(value, abs=5.1e-6), name
        assert se is None or result.se == pytest.approx(se, abs=5.1e-6), name


def test_the_alpha_of_krippendorff_2011_is_reproduced_in_every_metric() -> None:
    basis = basis_of({"dataset": "krippendorff2011", "weights": "identity"})
    for metric, value in {"nominal": 0.74342, "ordinal": 0.81539, "interval": 0.84911, "ratio": 0.79740}.items():
        assert krippendorff_alpha(basis, metric).value == pytest.approx(value, abs=5.1e-6)  # type: ignore[arg-type]


def test_the_ordinal_metric_is_not_alpha_with_irrcacs_ordinal_weights() -> None:
    basis = basis_of({"dataset": "krippendorff2011", "weights": "ordinal"})
    by_metric, by_weights = krippendorff_alpha(basis, "ordinal"), weighted_alpha(basis)
    assert by_metric.value != pytest.approx(by_weights.value, abs=0.01)
    assert "ordinal metric" in by_metric.method
    assert "irrCAC ordinal weights" in by_weights.method
