"""Figures of 200 random rounds equal those of scipy and statsmodels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from measures.means import FROM_0_TO_1
from measures.ratings import Criterion, Judgement, Preference, confusion, figures, preference_figures
from measures.ratings.judgements import Choice
from tests.measures import rating_oracle as oracle

POINTS = Criterion("points", "mean", (), tuple("12345"), "higher", (1.0, 5.0))
RIGHT = Criterion("right", "share", ("yes",), ("yes", "no"), "higher", FROM_0_TO_1)
Near = pytest.approx
CHOICES: list[Choice] = ["left", "left", "right", "tie", "neither"]


def drawn(seed: int) -> tuple[list[Judgement], dict[tuple[str, str, str], float | None]]:
    """Return a small round with gaps, N/A, several raters of some texts, repeats, and a metric."""
    random = Random(seed)
    systems = [f"s{i}" for i in range(random.randint(2, 4))]
    raters = [f"r{i}" for i in range(random.randint(1, 3))]
    gaps = random.choice([0, 0, 0.15])
    made: list[Judgement] = []
    scores: dict[tuple[str, str, str], float | None] = {}
    for source in (f"q{i}" for i in range(random.randint(1, 9))):
        who = random.sample(raters, random.randint(1, len(raters)))
        for m, system in enumerate(systems):
            scores[source, "", system] = None if random.random() < gaps else round(random.gauss(m * 0.1, 0.3), 1)
            for rater in who:
                for repeat in range(1 + (random.random() < 0.2)):
                    if random.random() >= gaps:
                        points = str(min(max(round(random.gauss(2.5 + m * 0.4, 1)), 1), 5))
                        made.append(_said(source, system, rater, "points", points, repeat, random))
                        right = "yes" if random.random() < 0.4 + 0.1 * m else "no"
                        made.append(_said(source, system, rater, "right", right, repeat, random))
    random.shuffle(made)
    return made, scores


def _said(source: str, system: str, rater: str, key: str, value: str, repeat: int, random: Random) -> Judgement:
    return Judgement(source, system, rater, key, None if random.random() < 0.1 else value, repeat=repeat)


def tidy(judgements: Sequence[Judgement]) -> list[dict[str, Any]]:
    def number(each: Judgement) -> float | None:
        if each.value is None:
            return None
        return float(each.value) if each.criterion == "points" else float(each.value == "yes")

    return [
        {
            "source": each.source,
            "system": each.system,
            "rater": each.rater,
            "criterion": each.criterion,
            "value": number(each),
            "repeat": each.repeat,
        }
        for each in judgements
    ]


@pytest.mark.usefixtures("former_rule")
@pytest.mark.parametrize("block", range(10))
def test_200_random_rounds_give_the_figures_of_an_independent_script(block: int) -> None:
    for seed in range(20 * block, 20 * block + 20):
        judgements, scores = drawn(seed)
        if not judgements:
            continue
        found = figures(judgements, [POINTS, RIGHT], scores={"metric": scores}, replicates=0)
        rows = tidy(judgements)
        for criterion, made in zip((POINTS, RIGHT), found["criteria"], strict=True):
            cells = oracle.cells_of(rows, criterion.key)
            _systems(rows, criterion, cells, made)
            _pairs(cells, criterion, found["systems"], made)
            _cochran(cells, criterion, made)
            _again(judgements, criterion, made)
            _correlations(cells, criterion, scores, found)


def _systems(rows: list[dict[str, Any]], criterion: Criterion, cells: oracle.Cells, made: Any) -> None:
    for row in made["systems"]:
        values = [cells[row["system"]][source] for source in sorted(cells[row["system"]])]
        mine = [r for r in rows if (r["system"], r["criterion"], r["repeat"]) == (row["system"], criterion.key, 0)]
        ratings = sum(r["value"] is not None for r in mine)
        assert (row["n"], row["judgements"], row["na"]) == (len(values), ratings, len(mine) - ratings)
        if not values:
            assert row["value"] is None
            assert row["undefined"]
            continue
        theirs = oracle.share(values, ratings) if criterion is RIGHT else oracle.mean(values)
        assert row["value"] == Near(theirs["value"])
        _same_interval(row["ci"], theirs["ci"], criterion.bounds)
        if criterion is RIGHT:
            assert row["count"] == Near(theirs["count"])
            assert row["wilson"] == Near(theirs["wilson"], abs=1e-9)


def _same_interval(mine: Any, theirs: Any, bounds: tuple[float, float]) -> None:
    if theirs is None:
        assert mine is None
    else:
        assert mine == Near([max(theirs[0], bounds[0]), min(theirs[1], bounds[1])], abs=1e-9)


def _pairs(cells: oracle.Cells, criterion: Criterion, systems: list[str], made: Any) -> None:
    for row, theirs in zip(made["pairs"], oracle.pairs(cells, systems, criterion is RIGHT), strict=True):
        assert (row["first"], row["second"]) == (theirs["first"], theirs["second"])
        difference = row["comparison"]["difference"]
        assert difference["n"] == theirs["n"]
        if theirs["p"] is None:
            assert (row["comparison"]["p"], row["holm"], row["different"]) == (None, None, False)
        else:
            assert difference["value"] == Near(theirs["difference"], abs=1e-12)
            assert row["comparison"]["p"] == Near(theirs["p"])
            assert row["holm"] == Near(theirs["holm"])
        test = row["mcnemar" if criterion is RIGHT else "wilcoxon"]
        assert (test["p"] is None) == bool(test["undefined"])
        assert test["p"] == (None if theirs["classical"] is None else Near(theirs["classical"]))


def _cochran(cells: oracle.Cells, criterion: Criterion, made: Any) -> None:
    if criterion is not RIGHT:
        assert made["cochran"] is None
        return
    there = sorted(system for system in cells if cells[system])
    common = sorted(set.intersection(*(set(cells[s]) for s in there))) if there else []
    table = np.array([[cells[s][source] for s in there] for source in common]).reshape(len(common), len(there))
    sure = table[(np.abs(table - 0.5) > 1e-9).all(axis=1)] > 0.5
    found = made["cochran"]
    if found["p"] is None:
        assert found["undefined"]
        assert len(there) < 2 or len(sure) == 0 or (sure == sure[:, :1]).all()
    else:
        assert (found["n"], found["left_out"]) == (len(sure), len(common) - len(sure))
        assert found["p"] == Near(oracle.cochran(sure.astype(int)))


def _again(judgements: list[Judgement], criterion: Criterion, made: Any) -> None:
    said = {(j.rater, j.source, j.system, j.repeat): j.value for j in judgements if j.criterion == criterion.key}
    both = [(v, said[r, q, s, 1]) for (r, q, s, k), v in said.items() if k == 0 and (r, q, s, 1) in said]
    found = made["again"]
    assert (found["n"], found["same"]) == (len(both), sum(a == b for a, b in both))
    there = [(a, b) for a, b in both if a is not None and b is not None]
    if found["kappa"] is not None:
        first, second = zip(*there, strict=True)
        theirs = oracle.kappa(first, second, list(criterion.values), criterion is POINTS)
        assert found["kappa"] == Near(theirs)
    if criterion is POINTS and there:
        assert found["difference"] == Near(np.mean([abs(int(a) - int(b)) for a, b in there]))


def _correlations(cells: oracle.Cells, criterion: Criterion, scores: Any, found: Any) -> None:
    metric: oracle.Cells = {system: {} for system in found["systems"]}
    for (source, _, system), value in scores.items():
        if value is not None and system in metric:
            metric[system][source] = value
    theirs = oracle.correlations(cells, metric, found["systems"])
    mine = [row for row in found["correlations"] if row["criterion"] == criterion.key]
    assert len(mine) == 6
    for row in mine:
        value = theirs[row["level"], row["coefficient"]]
        assert (row["value"] is None) == bool(row["undefined"])
        assert row["value"] == (None if value is None else Near(value, abs=1e-9)), row


def test_the_scripts_holm_is_that_of_statsmodels() -> None:
    ps = [0.03, 0.5, 0.001, 0.03, 0.02, 0.9]
    assert oracle.holm(ps) == Near(multipletests(ps, method="holm")[1])


@pytest.mark.parametrize("seed", range(30))
def test_strengths_are_those_of_a_regression(seed: int) -> None:
    random = Random(seed)
    systems = [f"s{i}" for i in range(random.randint(2, 5))]
    made = [
        Preference(q, left, right, "r", "best", random.choice(CHOICES))
        for q in range(40)
        for left, right in [random.sample(systems, 2)]
    ]
    (found,) = preference_figures(made, replicates=0)
    assert found["undefined"] == ""
    won = {"left": 1.0, "right": 0.0, "tie": 0.5, "neither": 0.5}
    theirs = oracle.strengths([(each.left, each.right, won[each.choice]) for each in made], systems)
    assert [row["strength"] for row in found["systems"]] == Near(theirs, abs=1e-6)
    for row in found["systems"]:
        assert row["chosen"] == Near(1 / (1 + math.exp(-row["strength"])))


@pytest.mark.usefixtures("former_rule")
def test_agreement_of_directions_of_ms2_is_reproduced() -> None:
    """MS^2: 150 sampled, 17 references without a direction excluded, 67 of the other 133 in the reference's class."""
    classes = ["increases", "no change", "decreases", "insufficient", "skip"]
    table = {  # one of the tables with these margins
        "increases": [30, 8, 4, 10, 3],
        "no change": [9, 20, 3, 8, 2],
        "decreases": [5, 4, 11, 6, 1],
        "insufficient": [1, 1, 0, 6, 1],
        "skip": [4, 5, 3, 3, 2],
    }
    pairs = [
        (gold, given) for gold, row in table.items() for given, n in zip(classes, row, strict=True) for _ in range(n)
    ]
    found = confusion([(*pair, 1) for pair in pairs], classes, excluded=["skip"])
    assert (found["correct"], found["n"], found["excluded"]) == (67, 133, 17)
    assert f"{100 * found['accuracy']:.1f}" == "50.4"
    assert [round(100 * each, 1) for each in found["wilson"]] == [42.0, 58.7]
    assert found["table"] == [*(table[each] for each in classes[:4]), [0] * 5]
    gold, given = zip(*(pair for pair in pairs if pair[0] != "skip"), strict=True)
    assert found["kappa"] == Near(oracle.kappa(gold, given, classes, False))
    first = found["scores"][0]
    assert (first["precision"], first["recall"]) == (30 / 45, 30 / 55)
    assert found["scores"][4]["recall"] is None
