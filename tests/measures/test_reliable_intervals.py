"""The rule of intervals: where they are printed, and where withheld with which reason."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats  # type: ignore[import-untyped]

from measures.agreement import Ratings, measure_report
from measures.clustered import estimate
from measures.means import FROM_0_TO_1, clustered_mean, clustered_share
from measures.ratings.confusion import confusion


def two_raters(agree: int, split: int, rare: int = 0) -> Ratings:
    """Items on which both say "a", on which they differ, and on which both say "b"."""
    first = [0] * agree + [0, 1] * (split // 2) + [1] * rare
    second = [0] * agree + [1, 0] * (split // 2) + [1] * rare
    return Ratings.from_codes(np.array([first, second], dtype=np.int8), ["a", "b"])


def test_wilsons_interval_of_single_items_is_the_published_one_with_students_quantile() -> None:
    """30 of 50 items, each of its own review: the effective number of items is 49."""
    hits = [1.0] * 30 + [0.0] * 20
    z2, n = stats.t.ppf(0.975, 49) ** 2, 49
    middle = (0.6 + z2 / 2 / n) / (1 + z2 / n)
    half = math.sqrt(z2 * 0.24 / n + (z2 / n) ** 2 / 4) / (1 + z2 / n)
    found = clustered_share(hits, range(50))
    assert found.ci == pytest.approx((middle - half, middle + half))
    assert found.ci_reason == ""


def test_a_figure_with_a_lower_bound_only_has_a_t_interval_of_its_logarithm() -> None:
    rng = np.random.default_rng(1)
    for n, values in ((150, rng.gamma(16, size=150)), (229, rng.exponential(size=229))):
        se, mean = values.std(ddof=1) / math.sqrt(n), values.mean()
        factor = math.exp(stats.t.ppf(0.975, n - 1) * se / mean)
        found = clustered_mean(values.tolist(), range(n), bounds=(0.0, math.inf))
        assert found.ci == pytest.approx((mean / factor, mean * factor))


def test_a_skewed_mean_needs_many_reviews_for_an_interval() -> None:
    for n, reason in ((99, "few reviews"), (150, "skewed values")):
        values = np.random.default_rng(1).exponential(size=n)
        found = clustered_mean(values.tolist(), range(n), bounds=(0.0, math.inf))
        assert (found.ci, found.ci_reason) == (None, f"no reliable interval ({reason}; n = {n} reviews)")


def test_a_mean_that_few_reviews_decide_has_no_interval() -> None:
    """Half of the scores are within .001 of 1, a quarter is far off."""
    values = [0.9995] * 60 + [0.99] * 20 + [0.6] * 40
    found = clustered_mean(values, range(120), bounds=FROM_0_TO_1)
    assert (found.ci, found.ci_reason) == (None, "no reliable interval (skewed values; n = 120 reviews)")


def test_a_bounded_mean_of_fewer_than_40_reviews_has_no_interval() -> None:
    """For 20 Likert means with a correlation of .5 within reviews coverage was .92."""
    found = clustered_mean([3.0, 5.0, 4.0] * 26, [i // 2 for i in range(78)], bounds=(1.0, 5.0))
    assert (found.ci, found.ci_reason) == (None, "no reliable interval (few reviews; n = 39 reviews)")


def test_a_difference_needs_several_reviews_that_differ() -> None:
    for differing, reason in ((6, "no reliable interval (few reviews differ; n = 60 reviews)"), (12, "")):
        found = clustered_mean([0.5, 1.0] * (differing // 2) + [0.0] * (60 - differing), range(60), bounds=(-1.0, 1.0))
        assert (found.ci is None, found.ci_reason) == (bool(reason), reason)


def test_near_a_bound_the_limit_is_that_of_shares_whose_interval_is_printed() -> None:
    """Of 100 single units 7 are misses, one more than an interval needs. A true share of 3 in 100 is printed in .08
    of the studies, where 7 are common: it is not excluded, though Wilson's interval excludes it."""
    reasons = {}
    for misses in (6, 7, 30):
        found = clustered_share([0.0] * misses + [1.0] * (100 - misses), range(100))
        reasons[misses] = found.ci_reason
        if found.ci:
            assert (found.ci[1] > 0.97) == (misses == 7)
    assert reasons == {6: "no reliable interval (value close to its limit; n = 100 reviews)", 7: "", 30: ""}


def test_few_reviews_have_no_interval_and_the_text_says_so() -> None:
    found = clustered_share([1.0] * 20 + [0.0] * 40, [i // 6 for i in range(60)])
    assert (found.ci, found.ci_reason) == (None, "no reliable interval (few reviews; n = 10 reviews)")


def test_few_units_have_no_interval() -> None:
    found = clustered_share([1.0, 0.0] * 15, range(30))
    assert (found.ci, found.ci_reason) == (None, "no reliable interval (few units; n = 30 reviews)")


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_an_interval_of_zero_width_is_never_printed(share: float) -> None:
    found = clustered_share([share] * 60, range(60))
    assert (found.value, found.ci) == (share, None)
    assert found.ci_reason == "no reliable interval (no variation between reviews; n = 60 reviews)"


def test_kappa_of_a_rare_category_has_no_interval_and_ac1_has_one() -> None:
    """100 reviews of one unit; "b" occurs in twelve of them."""
    report = json.loads(json.dumps(measure_report("x", two_raters(88, 10, 2)).as_json()))
    for name in ("fleiss", "conger", "alpha"):
        found = report["coefficients"][name]
        assert found["ci"] is None
        assert found["ci_reason"] == "no reliable interval (rare category; n = 100 reviews)"
    assert report["coefficients"]["cohen_pairs"][0]["ci"] is None
    for name in ("percent_agreement", "ac1", "brennan_prediger"):
        assert report["coefficients"][name]["ci"], name
        assert report["coefficients"][name]["ci_reason"] is None


def test_ten_units_at_prevalence_95_have_no_interval() -> None:
    """Gwet's interval over units covered the true AC1 in .71 and the true kappa in .32 of these rounds."""
    report = measure_report("x", two_raters(8, 2)).as_json()
    figures = report["coefficients"]
    assert isinstance(figures, dict)
    reasons = {figures[name]["ci_reason"] for name in ("ac1", "fleiss")}
    assert reasons == {
        "no reliable interval (few reviews; n = 10 reviews)",
        "no reliable interval (rare category, few reviews; n = 10 reviews)",
    }


def test_perfect_agreement_has_no_interval() -> None:
    figures = measure_report("x", two_raters(50, 0, 50)).as_json()["coefficients"]
    assert isinstance(figures, dict)
    assert {figures[name]["ci"] is None for name in ("percent_agreement", "ac1", "fleiss")} == {True}


def test_kappas_interval_is_that_of_the_specific_agreement_of_the_rarer_value() -> None:
    """With two values kappa is (specific agreement - share) / (1 - share) of the rarer one, whose share is taken as
    known."""
    rng = np.random.default_rng(3)
    truth = rng.random(200) < 0.2
    codes = np.where(rng.random((2, 200)) < 0.1, ~truth, truth).astype(np.int8)
    report = measure_report("x", Ratings.from_codes(codes, ["a", "b"]))
    kappa = report.coefficients["fleiss"]
    assert kappa.reviews is not None
    assert kappa.value is not None
    assert kappa.reviews.se is not None
    share = codes.mean()
    specific = share + kappa.value * (1 - share)
    assert specific == pytest.approx(report.categories[1].specific)
    error = kappa.reviews.se * (1 - share)
    n, z2 = specific * (1 - specific) / error**2, stats.t.ppf(0.975, 199) ** 2
    middle = (specific + z2 / 2 / n) / (1 + z2 / n)
    half = math.sqrt(z2 * specific * (1 - specific) / n + (z2 / n) ** 2 / 4) / (1 + z2 / n)
    ends = [(end - share) / (1 - share) for end in (middle - half, middle + half)]
    assert kappa.reviews.ci == pytest.approx(ends)


def test_direction_accuracy_and_kappa_are_clustered_by_review() -> None:
    pairs = (
        [("up", "up", 1.0)] * 90
        + [("up", "down", 1.0)] * 40
        + [("down", "down", 1.0)] * 90
        + [("down", "up", 1.0)] * 20
    )
    pairs = pairs * 4
    alone = confusion(pairs, ["up", "down"])
    together = confusion(pairs, ["up", "down"], sources=[i // 10 for i in range(960)])
    for key in ("ci", "kappa_ci"):
        widths = [found[key][1] - found[key][0] for found in (alone, together)]
        assert widths[1] > 2 * widths[0], key


@pytest.mark.parametrize(
    ("reviews", "units", "share", "least"),
    [(20, 6, 0.7, 0.8), (40, 3, 0.8, 0.8), (100, 1, 0.9, 0.8), (229, 4, 0.95, 0.8), (229, 1, 0.98, 0.1)],
)
def test_printed_intervals_of_shares_have_their_nominal_coverage(
    reviews: int, units: int, share: float, least: float
) -> None:
    """A small part of `python -m benchmarks coverage`; tolerance of three standard errors of 1,000 simulations."""
    rng = np.random.default_rng((reviews, units))
    alike = 0.0 if units == 1 else 0.3
    k = 1 / alike - 1 if alike else 0.0
    place = np.repeat(np.arange(reviews), units)
    held = printed = 0
    for _ in range(1000):
        level = rng.beta(k * share, k * (1 - share), reviews)[place] if k else share
        hits = (rng.random(len(place)) < level).astype(float)
        ci = clustered_share(hits.tolist(), place.tolist()).ci
        printed += ci is not None
        held += ci is not None and ci[0] <= share <= ci[1]
    assert printed > 1000 * least
    assert 0.91 < held / printed < 0.985


def test_a_value_at_its_bound_has_no_interval_even_where_reviews_differ_by_rounding() -> None:
    found = estimate(1.0, np.full(30, 1.0 - 1e-16), np.ones(30) * 5, FROM_0_TO_1)
    assert found.ci is None
    assert found.reason
