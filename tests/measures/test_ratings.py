"""Figures of rating rounds: what counts, reasons for undefined figures, and independence of order."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest
from django.conf import settings as django_settings
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from measures.comparison import sign_flip_p, sign_flips_p
from measures.means import FROM_0_TO_1
from measures.ratings import (
    Criterion,
    Exclusions,
    Judgement,
    Preference,
    check_failed,
    direction_figures,
    figures,
    letters,
    preference_figures,
    wilcoxon,
    with_and_without,
)
from measures.ratings.correlation import weighted
from measures.ratings.raters import FAST, LEAST_MS

POINTS = Criterion("points", "mean", (), tuple("12345"), "higher", (1.0, 5.0))
RIGHT = Criterion("right", "share", ("yes",), ("yes", "no"), "higher", FROM_0_TO_1)
Points = dict[tuple[str, str, str], Any]


def rated(points: Points, key: str = "points", **others: Any) -> list[Judgement]:
    """(source, system, rater) -> value"""
    return [Judgement(q, s, r, key, value, **others) for (q, s, r), value in points.items()]


def many(n: int = 30, seed: int = 0, systems: Sequence[str] = ("a", "b", "c"), step: float = 1.0) -> list[Judgement]:
    random = Random(seed)
    return [
        Judgement(f"q{i}", s, r, "points", str(min(max(round(random.gauss(2 + step * m, 0.7)), 1), 5)), m, 20_000)
        for i in range(n)
        for r in ("ada", "ben")
        for m, s in enumerate(systems)
    ]


def of(found: Any, system: str, criterion: int = 0) -> Any:
    return next(row for row in found["criteria"][criterion]["systems"] if row["system"] == system)


def test_a_text_counts_once_however_many_rated_it() -> None:
    made = rated({("q1", "a", "ada"): "5", ("q1", "a", "ben"): "4", ("q1", "a", "eve"): "3", ("q2", "a", "ada"): "1"})
    row = of(figures(made, [POINTS]), "a")
    assert (row["value"], row["n"], row["sources"], row["judgements"]) == (2.5, 2, 2, 4)
    assert row["counts"] == {"1": 1, "2": 0, "3": 1, "4": 1, "5": 1}
    assert row["ci_reason"]


def test_not_applicable_ratings_have_their_own_denominator() -> None:
    made = rated({("q1", "a", "ada"): "yes", ("q2", "a", "ada"): None, ("q3", "a", "ada"): "no"}, "right")
    row = of(figures(made, [RIGHT]), "a")
    assert (row["count"], row["n"], row["na"], row["value"]) == (1, 2, 1, 0.5)


def test_a_criterion_with_only_na_ratings_is_undefined_with_its_reason() -> None:
    made = rated({(q, s, "ada"): None for q in ("q1", "q2") for s in ("a", "b")})
    made += rated({("q1", "a", "ada"): "yes"}, "right")
    found = figures(made, [POINTS, RIGHT])
    assert [(row["value"], row["ci"], row["undefined"]) for row in found["criteria"][0]["systems"]] == [
        (None, None, "every rating is N/A")
    ] * 2
    assert found["criteria"][0]["letters"] == {}
    assert found["criteria"][0]["pairs"][0]["comparison"]["p"] is None
    assert of(found, "b", 1)["undefined"] == "nobody rated it"


def test_nominal_criteria_without_good_values_have_counts_only() -> None:
    made = rated({("q1", "a", "ada"): "target", ("q2", "a", "ada"): "another"}, "tuple")
    row = of(figures(made, [Criterion("tuple", "counts", (), ("target", "another", "none"))]), "a")
    assert row["counts"] == {"target": 1, "another": 1, "none": 0}
    assert row["value"] is None
    assert "only counts" in row["undefined"]


def test_repeats_are_excluded_from_means_and_compared() -> None:
    made = rated({("q1", "a", "ada"): "4", ("q2", "a", "ada"): "2"})
    made += rated({("q1", "a", "ada"): "1", ("q2", "a", "ada"): "2"}, repeat=1)
    found = figures(made, [POINTS])
    again = found["criteria"][0]["again"]
    assert of(found, "a")["value"] == 3
    assert (again["n"], again["same"], again["share"], again["difference"]) == (2, 1, 0.5, 1.5)
    assert again["raters"] == {"ada": {"n": 2, "same": 1}}
    assert figures(many(), [POINTS])["criteria"][0]["again"]["undefined"] == "no page was given again"


@settings(max_examples=15, deadline=None)
@given(st.randoms(use_true_random=False))
def test_figures_do_not_depend_on_the_order_of_the_judgements(random: Any) -> None:
    made = many(8) + rated({("q1", "a", "ada"): "yes", ("q2", "b", "ben"): "no", ("q2", "a", "ben"): None}, "right")
    chosen = [Preference(f"q{i}", "a", "b", "ada", "best", ("left", "right", "tie")[i % 3]) for i in range(9)]
    whole = figures(made, [POINTS, RIGHT], preferences=chosen, replicates=50)
    random.shuffle(made)
    random.shuffle(chosen)
    assert json.dumps(figures(made, [POINTS, RIGHT], preferences=chosen, replicates=50), allow_nan=False) == json.dumps(
        whole
    )


def test_systems_that_differ_have_other_letters_and_the_best_is_first() -> None:
    found = figures(many(), [POINTS])["criteria"][0]
    assert found["letters"] == {"c": "a", "b": "b", "a": "c"}
    assert all(pair["different"] and pair["holm"] < 0.05 for pair in found["pairs"])
    alike = figures(many(step=0.0), [POINTS])["criteria"][0]
    assert set(alike["letters"].values()) == {"a"}
    lower = Criterion("points", "mean", (), tuple("12345"), "lower", (1.0, 5.0))
    assert figures(many(), [lower])["criteria"][0]["letters"] == {"a": "a", "b": "b", "c": "c"}


@given(st.integers(0, 9), st.data())
def test_two_systems_share_a_letter_if_and_only_if_they_do_not_differ(m: int, data: st.DataObject) -> None:
    table = [[False] * m for _ in range(m)]
    for i, j in combinations(range(m), 2):
        table[i][j] = table[j][i] = data.draw(st.booleans())
    found = letters(table)
    assert len(found) == m
    assert all(found)
    for i, j in combinations(range(m), 2):
        assert (not set(found[i]) & set(found[j])) == table[i][j]
    if m:
        assert "a" in found[0]
        used = sorted(set("".join(found)))
        assert used == [chr(ord("a") + i) for i in range(len(used))]


def test_permutation_tests_in_one_batch_equal_single_ones() -> None:
    rng = np.random.default_rng(2)
    families = [rng.normal(0.3, 1, n).tolist() for n in (4, 40, 40, 12)]
    assert sign_flips_p(families) == [sign_flip_p(each) for each in families]
    shorter = sign_flips_p([families[1], families[2][:25]])[1][0]
    assert shorter == pytest.approx(sign_flip_p(families[2][:25])[0], abs=0.02)


def test_wilcoxon_says_how_many_pairs_and_what_became_of_zeros() -> None:
    """MEDIQA-AnS' "p < .0039" is the one-sided minimum of eight pairs; here tests are two-sided."""
    found = wilcoxon(np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 0.0]))
    assert (found["n"], found["zeros"], found["sided"], found["method"]) == (9, 1, "two-sided", "exact")
    assert found["p"] == 2 / 256
    assert wilcoxon(np.zeros(3))["undefined"] == "no pair differs"


def test_severity_is_relative_to_other_raters_of_the_same_texts() -> None:
    points = {(f"q{i}", s, "ada"): 2 for i in range(5) for s in "ab"}
    points |= {(f"q{i}", s, "ben"): 4 for i in range(5) for s in "ab"}
    points |= {("q9", "a", "eve"): 1}
    found = {row["rater"]: row for row in figures(rated(points, ms=9_000), [POINTS])["raters"]}
    assert found["ada"]["severity"]["points"]["value"] == -2
    assert (found["ben"]["severity"]["points"]["value"], found["ben"]["severity"]["points"]["n"]) == (2, 10)
    assert found["eve"]["severity"]["points"]["undefined"] == "no text that others rated too"
    assert (found["ada"]["pages"], found["ada"]["median_ms"], found["ada"]["median_ms_of_text"]) == (5, 9_000, 4_500)


def test_pages_answered_too_fast_are_flagged_by_a_stated_rule() -> None:
    made = [Judgement(f"q{i}", "a", "ada", "points", "3", ms=20_000 if i else 3_000) for i in range(12)] + [
        Judgement("q0", "a", "ben", "points", "3", ms=LEAST_MS - 1),
        Judgement("q1", "a", "ben", "points", "3"),
    ]
    found = {row["rater"]: row for row in figures(made, [POINTS])["raters"]}
    assert (found["ada"]["fast"], found["ben"]["fast"]) == (1, 1)
    assert "300 ms a rating" in FAST
    alone = figures(made[-1:], [POINTS])["raters"][0]
    assert (alone["median_ms"], alone["no_pace"], alone["fast"]) == (None, "no times", 0)


def test_declared_rules_give_figures_with_and_without() -> None:
    made = many(12) + rated({(f"q{i}", "a", "eve"): "5" for i in range(12)}, ms=100)
    rules = Exclusions(raters=frozenset({"ben"}), failed_checks=2, fast=True)
    found = with_and_without(made, [POINTS], rules, {"ada": (1, 4), "eve": (2, 2)}, replicates=0)
    assert found["left_out"] == [
        {"rule": "by name", "raters": ["ben"], "judgements": 36},
        {"rule": "failed checks", "raters": ["eve"], "judgements": 12},
    ]
    assert [row["rater"] for row in found["kept"]["raters"]] == ["ada"]
    assert found["all"]["judgements"] == 84
    (fast,) = with_and_without(made, [POINTS], Exclusions(fast=True), replicates=0)["left_out"]
    assert (fast["rule"], fast["raters"], fast["judgements"]) == (f"too fast: {FAST}", ["eve"], 12)
    by_share = with_and_without(made, [POINTS], Exclusions(failed_share=0.2), {"ada": (1, 4), "eve": (1, 5)})
    assert by_share["left_out"][0]["raters"] == ["ada"]
    assert with_and_without(made, [POINTS], Exclusions(), replicates=0)["kept"] is None


def test_choices_are_left_out_by_the_same_rules() -> None:
    made = [Preference(f"q{i}", "a", "b", r, "best", "left", ms=9_000) for i in range(6) for r in ("ada", "ben")]
    made += [
        Preference("q9", "a", "b", "ada", "best", "left", ms=200),
        Preference("q8", "a", "b", "ada", "best", "tie"),
    ]
    rules = Exclusions(raters=frozenset({"ben"}), fast=True)
    found = with_and_without([], [POINTS], rules, preferences=made, replicates=0)
    assert (found["all"]["preferences"][0]["n"], found["kept"]["preferences"][0]["n"]) == (14, 7)
    assert [(each["raters"], each["judgements"]) for each in found["left_out"]] == [(["ben"], 6), (["ada"], 1)]


def test_derived_ratings_have_no_duration() -> None:
    made = many(4)
    derived = [replace(each, criterion="m3:pico", value=1.0) for each in made]
    criteria = [POINTS, Criterion("m3:pico", "share", bounds=FROM_0_TO_1)]
    alone, both = figures(made, [POINTS], replicates=0), figures(made + derived, criteria, replicates=0)
    for one, other in zip(alone["raters"], both["raters"], strict=True):
        assert {**one, "severity": ""} == {**other, "severity": ""}


def test_items_of_one_source_form_one_cluster() -> None:
    random = Random(2)
    made = [
        Judgement(f"q{i}", s, "ada", "points", str(2 + i % 3 + random.choice([0, 1])), item=f"t{k}")
        for i in range(12)
        for k in range(1 + i % 3)
        for s in "ab"
    ]
    row = of(figures(made, [POINTS]), "a")
    assert (row["n"], row["sources"]) == (24, 12)
    pair = figures(made, [POINTS])["criteria"][0]["pairs"][0]
    assert (pair["comparison"]["difference"]["n"], pair["comparison"]["difference"]["clusters"]) == (24, 12)
    assert pair["wilcoxon"]["n"] == 12


def test_a_check_fails_if_the_degraded_text_is_rated_no_worse() -> None:
    criteria = [POINTS, RIGHT]
    assert check_failed({"points": "4", "right": "yes"}, {"points": "4", "right": "yes"}, criteria)
    assert not check_failed({"points": "4", "right": "yes"}, {"points": "4", "right": "no"}, criteria)
    assert not check_failed({"points": "4"}, {"points": "1"}, criteria)
    assert check_failed({"points": "4"}, {"points": None}, criteria)


def chosen(*rows: tuple[str, str, str], source: str = "q") -> list[Preference]:
    return [Preference(f"{source}{i}", a, b, "ada", "best", c) for i, (a, b, c) in enumerate(rows)]  # type: ignore[arg-type]


def test_strengths_of_two_are_the_odds_and_a_tie_is_a_half() -> None:
    (found,) = preference_figures(
        chosen(*[("a", "b", "left")] * 5, ("b", "a", "left"), ("a", "b", "tie"), ("b", "a", "neither"))
    )
    a, b = found["systems"]
    assert a["strength"] - b["strength"] == pytest.approx(np.log(6 / 2))
    assert (found["ties"], found["neither"], a["wins"], a["choices"]) == (1, 1, 6, 8)
    assert (found["left"]["count"], found["left"]["n"]) == (6, 6)


def test_systems_never_compared_or_never_beaten_have_no_strength_and_it_says_why() -> None:
    apart = chosen(("a", "b", "left"), ("b", "a", "left"), ("c", "d", "left"), ("d", "c", "left"))
    always = chosen(*[("a", "b", "left")] * 4)
    for made, why in ((apart, "never compared"), (always, "won every choice")):
        (found,) = preference_figures(made)
        assert why in found["undefined"]
        assert {row["strength"] for row in found["systems"]} == {None}
    assert preference_figures([]) == []


def test_intervals_of_strengths_hold_them() -> None:
    random = Random(4)
    made = chosen(*[(*random.sample("abc", 2), random.choice(["left", "right"])) for _ in range(90)])  # type: ignore[arg-type]
    again = [Preference(e.source, e.right, e.left, e.rater, e.criterion, e.choice, repeat=1) for e in made[:10]]
    (found,) = preference_figures(made + again)
    for row in found["systems"]:
        assert row["ci"][0] < row["strength"] < row["ci"][1]
    assert found["n"] == 90
    assert found["repeats"] == {"n": 10, "same": 0}


@given(st.integers(2, 6), st.integers(0, 2**32))
def test_weighted_entries_equal_repeated_ones(m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y, w = (rng.integers(n, size=m).astype(np.float64) for n in (4, 4, 3))
    found = weighted(x, y, w)
    xs, ys = np.repeat(x, w.astype(int)), np.repeat(y, w.astype(int))
    if len(set(xs)) < 2 or len(set(ys)) < 2:
        assert np.isnan(found).all()
        return
    theirs = [stats.kendalltau(xs, ys)[0], stats.spearmanr(xs, ys)[0], stats.pearsonr(xs, ys)[0]]
    assert found == pytest.approx(theirs)


def test_constant_items_are_excluded_from_a_correlation_and_counted() -> None:
    points = {(f"q{i}", s, "ada"): (m + 1 if i else 3) for i in range(6) for m, s in enumerate("abcd")}
    scores = {(f"q{i}", "", s): 0.1 * m for i in range(6) for m, s in enumerate("abcd")}
    found = figures(rated(points), [POINTS], scores={"rouge": scores})["correlations"]
    assert [(row["level"], row["coefficient"]) for row in found] == [
        (level, name) for level in ("system", "summary") for name in ("kendall", "spearman", "pearson")
    ]
    assert all(row["value"] == pytest.approx(1) for row in found)
    assert [(row["n"], row["constant"]) for row in found[::3]] == [(4, 0), (5, 1)]
    few = figures(rated({k: v for k, v in points.items() if k[1] in "ab"}), [POINTS], scores={"rouge": scores})
    assert {row["undefined"] for row in few["correlations"]} == {"fewer than 3 systems have both"}


@pytest.mark.usefixtures("former_rule")
def test_metrics_are_of_the_texts_that_were_rated_and_points_are_theirs() -> None:
    scores: dict[Any, float | None] = {(f"q{i}", "", s): 0.1 * i + m for i in range(9) for m, s in enumerate("ab")}
    scores[("q8", "", "b")] = None
    found = figures(many(8, systems=("a", "b")), [POINTS], scores={"rouge": scores}, bounds={"rouge": (0.0, 1.2)})
    (rouge,) = found["metrics"]
    assert [(row["system"], row["n"], row["value"]) for row in rouge["systems"]] == [
        ("a", 8, pytest.approx(0.35)),
        ("b", 8, pytest.approx(1.35)),
    ]
    assert rouge["systems"][0]["ci"][0] >= 0
    points = found["points"]
    assert (points["items"], points["of"], points["system"]) == (8, 8, [0, 1] * 8)
    assert points["metrics"]["rouge"][:3] == [0.0, 1.0, 0.1]
    by_system = [points["criteria"]["points"][k::2] for k in (0, 1)]
    assert [sum(each) / 8 for each in by_system] == [
        pytest.approx(row["value"]) for row in found["criteria"][0]["systems"]
    ]


def test_no_more_points_are_stored_than_a_picture_shows() -> None:
    points = figures(many(400), [POINTS], scores={}, replicates=0)["points"]
    assert (points["items"], points["of"]) == (200, 400)
    assert len(points["system"]) == 600
    assert points["metrics"] == {}


@pytest.mark.usefixtures("former_rule")
def test_intervals_of_a_correlation_are_wide_with_few_systems() -> None:
    random = Random(1)
    made = many(30, systems=tuple("abcdef"), step=0.3)
    scores = {(f"q{i}", "", s): random.gauss(m, 1) for i in range(30) for m, s in enumerate("abcdef")}
    rows = figures(made, [POINTS], scores={"rouge": scores})["correlations"]
    for row in rows:
        assert row["ci"][0] <= row["value"] <= row["ci"][1]
    system, summary = rows[1], rows[4]
    assert system["ci"][1] - system["ci"][0] > 0.05
    assert summary["value"] < system["value"]


def test_directions_are_compared_with_the_references_and_each_judgement_counts() -> None:
    classes = ("up", "same", "down", "skip")
    gold, given = ["up", "up", "down", "skip"], ["up", "down", "down", "up"]
    made = rated({(f"q{i}", "reference", "ada"): v for i, v in enumerate(gold)}, "direction")
    made += rated({(f"q{i}", "bart", "ada"): v for i, v in enumerate(given)}, "direction")
    made += rated({("q0", "bart", "ben"): "same"}, "direction")
    (found,) = direction_figures(made, "direction", "reference", classes, ["skip"])
    assert (found["system"], found["split"], found["excluded"], found["n"], found["correct"]) == ("bart", 1, 1, 3, 1.5)
    with pytest.raises(ValueError, match="not among the classes: sideways"):
        direction_figures(
            rated({("q", "reference", "r"): "sideways", ("q", "a", "r"): "up"}, "direction"),
            "direction",
            "reference",
            classes,
        )


def test_a_criterion_that_looks_for_faults_has_their_share_and_lower_is_better() -> None:
    options = [{"value": "none"}, {"value": "repeats"}]
    asked = {"key": "x", "scale": {"type": "categorical", "options": options}, "better": ["none"]}
    good = Criterion.of(asked)
    assert (good.good, good.better) == (("none",), "higher")
    # Older protocols declare no role; the standard name of a criterion decides.
    for fault in (asked | {"points": "fault"}, asked | {"standard": "non-redundancy"}):
        found = Criterion.of(fault)
        assert (found.good, found.better, found.number("repeats"), found.number("none")) == (
            ("repeats",),
            "lower",
            1,
            0,
        )
    assert Criterion.of(asked | {"standard": "non-redundancy", "points": "good"}) == good
    spans = {"key": "h", "standard": "hallucination", "scale": {"type": "spans"}, "better": ["none"]}
    assert (Criterion.of(spans).good, Criterion.of(spans).better) == (("marked",), "lower")


def test_a_criterion_is_read_from_a_protocols_content() -> None:
    points = [{"value": value, "label": "", "anchor": ""} for value in "12345"]
    likert = Criterion.of({"key": "points", "scale": {"type": "likert", "options": points}, "better": "higher"})
    assert likert == POINTS
    words = [{"value": "yes"}, {"value": "no"}]
    assert (
        Criterion.of({"key": "right", "scale": {"type": "categorical", "options": words}, "better": ["yes"]}) == RIGHT
    )
    spans = Criterion.of({"key": "h", "scale": {"type": "spans", "options": [{"value": "odd"}]}, "better": ["none"]})
    assert (spans.kind, spans.values, spans.number("marked"), spans.number("none")) == (
        "share",
        ("none", "marked"),
        0,
        1,
    )
    slider = Criterion.of({"key": "s", "scale": {"type": "slider", "minimum": 0, "maximum": 100}, "better": "higher"})
    assert (slider.kind, slider.bounds, slider.number("42")) == ("mean", (0, 100), 42)
    assert Criterion.of({"key": "t", "scale": {"type": "text"}, "better": None}).kind == "counts"


def test_progress_is_reported_before_each_step() -> None:
    told: list[str] = []
    figures(many(4), [POINTS], scores={"rouge": {}}, progress=told.append, replicates=0)
    assert told == ["reading", "means", "comparisons: points", "raters", "preferences", "correlations: rouge"]


def test_a_round_without_judgements_has_figures() -> None:
    found = figures([], [POINTS, RIGHT])
    assert (found["judgements"], found["systems"], found["raters"]) == (0, [], [])
    assert [each["systems"] for each in found["criteria"]] == [[], []]


def test_starting_a_server_does_not_load_worker_libraries() -> None:
    code = (
        "import sys, measures.ratings; print([m for m in ('statsmodels', 'pandas', 'scipy.stats') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=django_settings.ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.usefixtures("former_rule")
def test_the_former_rule_lists_no_raters_of_pairs() -> None:
    """Releases with that rule have none and are recomputed with it."""
    chosen = [Preference("q1", "a", "b", "ada", "best", "left", ms=9_000)]
    assert figures([], [], preferences=chosen, replicates=0)["raters"] == []
