"""Simulated coverage of prediction-powered intervals, and errors of the alternative annotator test.

`python -m benchmarks.judges` runs all (5 minutes); `--rounds 200` is quicker. It is not part of `make bench`.

Coverage of printed 95 % intervals over 1,000 rounds of 4 systems and 3 raters (1 rater for shares); n sources rated by
people and N by the judge alone. "normal" is the interval of the authors' package, "saved" the median number of
human-rated sources that would be as precise:

    judge   scale              n    N  means  differences  normal  saved
    good    5 points, middle  10   40   .961         .951    .890   13.0
    good    5 points, middle  20   80   .953         .951    .919   29.4
    good    5 points, middle  40  160   .955         .947    .936   63.1
    bad     5 points, middle  10   40   .950         .946    .891   10.0
    bad     5 points, middle  40  160   .956         .948    .940   40.0
    biased  5 points, middle  10   40   .957         .948    .888   10.5
    biased  5 points, middle  40  160   .955         .956    .937   47.8
    good    5 points, high    10   40   .954         .952    .879   12.4
    biased  5 points, high    20   80   .938         .949    .909   21.4
    good    share             45  180   .954         .944    .920   50.4
    bad     share             45  180   .969         .952    .938   45.0

Over all 48 settings: .938 to .969, .942 to .961 with 1 to 4 items per source. Shares have no interval below 45
sources: with 40 and a bad judge, coverage is .972.

False rejections of the alternative annotator test at a level of .05, with 10 to 40 sources of 4 texts: t test .045 to
.053 and clustered test .042 to .054 with independent texts; t test .19 to .25 and clustered test .046 to .050 if the
texts of a source have the same winner.

Coverage of the interval of length bias (4 texts a source): .932 to .958 with 10 to 20 sources and true correlations of
0, .3 and .6. A bias of .3 is found in 33 % of rounds with 10 sources and in 62 % with 20; one of .6 in 94 % and 100 %.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from measures.clustered import FloatArray
from measures.judges.alternative import alternative_test
from measures.judges.biases import length_figure
from measures.judges.powered import Totals, normal_interval, powered_mean
from measures.ratings.rows import Ints

SYSTEMS, RATERS, TRUTH = 4, 3, 200_000
JUDGES = ("good", "bad", "biased")
#: Means of the systems in the middle of a scale of five points, near its upper end, and shares of a binary criterion.
LEVELS = {"middle": (2.6, 3.0, 3.3, 3.6), "high": (3.9, 4.2, 4.5, 4.7), "share": (-1.6, -0.8, 0.0, 0.6)}


@dataclass(frozen=True)
class Setting:
    """``sources`` are rated by people and the judge, ``others`` by the judge alone; each has 1 to ``items`` items."""

    judge: str
    sources: int
    others: int
    level: str = "middle"
    items: int = 1


def ratings(setting: Setting, sources: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, Ints]:
    """Return people's mean ratings and the judge's, (items, systems), and the source of each item."""
    sizes = rng.integers(1, setting.items + 1, sources)
    source = np.repeat(np.arange(sources), sizes)
    text = (
        np.asarray(LEVELS[setting.level])
        + rng.normal(0, 0.6, (sources, 1))[source]
        + rng.normal(0, 0.3, (sources, SYSTEMS))[source]
        + rng.normal(0, 0.5, (len(source), SYSTEMS))
    )
    if setting.level == "share":
        people = (text + rng.normal(0, 0.6, text.shape) > 0).astype(np.float64)
        if setting.judge == "good":
            return people, (text + rng.normal(0, 0.4, text.shape) > 0).astype(np.float64), source
        if setting.judge == "bad":
            return people, rng.integers(0, 2, text.shape).astype(np.float64), source
        return people, (text + 1 + np.array([0.8, 0, 0, 0]) + rng.normal(0, 0.5, text.shape) > 0).astype(float), source
    severity = np.array([-0.2, 0.0, 0.2])
    people = _points(text[..., None] + severity + rng.normal(0, 0.6, (*text.shape, RATERS))).mean(axis=-1)
    if setting.judge == "good":
        judge = _points(text + rng.normal(0, 0.4, text.shape))
    elif setting.judge == "bad":
        judge = rng.integers(1, 6, text.shape).astype(np.float64)
    else:  # lenient, flat, and fond of the first system
        judge = _points(0.6 * text + 2.0 + np.array([0.8, 0, 0, 0]) + rng.normal(0, 0.5, text.shape))
    return people, judge, source


def _points(values: FloatArray) -> FloatArray:
    return np.clip(np.rint(values), 1, 5)


def covered(setting: Setting, rounds: int, seed: int = 1) -> dict[str, float]:
    """Return the coverage of the printed intervals of means and differences, and how many are printed."""
    people, *_ = ratings(setting, TRUTH, np.random.default_rng(99))
    truth = people.mean(axis=0)
    hits: dict[str, list[bool]] = {name: [] for name in ("mean", "difference", "human", "normal")}
    asked, saved = 0, []
    for number in range(rounds):
        rng = np.random.default_rng([seed, number])
        y, f, source = ratings(setting, setting.sources + setting.others, rng)
        for name, one, other, f_one, f_other, true, bounds in _figures(y, f, truth, setting):
            totals = [_totals(values, source, setting.sources) for values in (one - other, f_one - f_other)]
            (human, _), (judge, others) = totals
            figure = powered_mean(human, judge, others, bounds, share=setting.level == "share" and name == "mean")
            asked += 1
            if figure.ci:
                hits[name].append(figure.ci[0] <= true <= figure.ci[1])
                saved.append(figure.saved or 0.0)
            if figure.human_ci:
                hits["human"].append(figure.human_ci[0] <= true <= figure.human_ci[1])
            low, high = normal_interval(human, judge, others)
            hits["normal"].append(low <= true <= high)
    result = {name: float(np.mean(each)) if each else float("nan") for name, each in hits.items()}
    printed = (len(hits["mean"]) + len(hits["difference"])) / asked
    return result | {"printed": printed, "saved": float(np.median(saved)) if saved else float("nan")}


def _figures(y: FloatArray, f: FloatArray, truth: FloatArray, setting: Setting) -> Iterator[tuple]:  # type: ignore[type-arg]
    """Yield the mean of each system, and the difference of each from the next."""
    low, high = (0.0, 1.0) if setting.level == "share" else (1.0, 5.0)
    for s in range(SYSTEMS):
        yield "mean", y[:, s], 0 * y[:, s], f[:, s], 0 * f[:, s], truth[s], (low, high)
    for s in range(SYSTEMS - 1):
        yield (
            "difference",
            y[:, s],
            y[:, s + 1],
            f[:, s],
            f[:, s + 1],
            truth[s] - truth[s + 1],
            (low - high, high - low),
        )


def _totals(values: FloatArray, source: Ints, people: int) -> tuple[Totals, Totals]:
    sums = np.bincount(source, weights=values).astype(np.float64)
    sizes = np.bincount(source).astype(np.float64)
    return Totals(sums[:people], sizes[:people]), Totals(sums[people:], sizes[people:])


def lengths_covered(sources: int, longer: float, rounds: int, seed: int = 3) -> tuple[float, float]:
    """Return the coverage of the interval of length bias, and how often it is found; ``longer`` is per 10 words."""

    def draw(rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray, Ints]:
        words = rng.integers(20, 60, (n, SYSTEMS))
        text = np.asarray(LEVELS["middle"]) + rng.normal(0, 0.6, (n, 1)) + rng.normal(0, 0.5, (n, SYSTEMS))
        people = _points(text[..., None] + rng.normal(0, 0.7, (*text.shape, RATERS))).mean(axis=-1)
        return people, _points(text + rng.normal(0, 0.5, text.shape) + longer * (words - 40) / 10), words

    people, judge, words = draw(np.random.default_rng(99), TRUTH)
    x, y = (each - each.mean(axis=1, keepdims=True) for each in (judge - people, words))
    truth = (x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum())
    covered = found = 0
    for number in range(rounds):
        drawn = draw(np.random.default_rng([seed, number]), sources)
        human, own, lengths = ({(s, "", str(k)): v for (s, k), v in np.ndenumerate(each)} for each in drawn)
        low, high = length_figure(human, own, lengths)["ci"]  # type: ignore[arg-type]
        covered += low <= truth <= high
        found += low > 0 or high < 0
    return covered / rounds, found / rounds


def false_rejections(sources: int, alike: bool, rounds: int, seed: int = 2) -> tuple[float, float]:
    """Return how often the t test and the clustered test of one annotator reject a null hypothesis at its edge.

    The annotator alone wins 45 % of the texts and the judge alone 25 %: d has mean epsilon. With ``alike``, the texts
    of a source have the same winner.
    """
    plain = clustered = 0
    source = np.repeat(np.arange(sources), SYSTEMS)
    for number in range(rounds):
        rng = np.random.default_rng([seed, number])
        winner = rng.random(sources)[source] if alike else rng.random(len(source))
        others = np.zeros((2, len(source)))
        annotator_differs, judge_differs = (winner >= 0.45) & (winner < 0.7), winner < 0.45
        people = np.vstack([annotator_differs, others]).astype(np.float64)
        test = alternative_test(
            people, judge_differs.astype(np.float64), source, ("a", "b", "c"), ordered=False, epsilon=0.2
        ).annotators[0]
        plain += test.p <= 0.05
        clustered += test.p_clustered is not None and test.p_clustered <= 0.05
    return plain / rounds, clustered / rounds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1_000)
    options = parser.parse_args()
    print("judge   level   items    n    N  mean  diff. human normal printed saved")
    for level, items in (("middle", 1), ("middle", 4), ("high", 1), ("share", 1)):
        for judge in JUDGES:
            for n, others in ((10, 10), (10, 40), (20, 80), (45, 180) if level == "share" else (40, 160)):
                one = covered(Setting(judge, n, others, level, items), options.rounds)
                normal = one["normal"] if items == 1 else float("nan")
                print(
                    f"{judge:7s} {level:7s} {items:5d} {n:4d} {others:4d}  {one['mean']:.3f} {one['difference']:.3f}"
                    f" {one['human']:.3f} {normal:6.3f} {one['printed']:.2f} {one['saved']:6.1f}",
                    flush=True,
                )
    print("sources  texts        t  clustered")
    for sources in (10, 15, 20, 40):
        for alike in (False, True):
            plain, clustered = false_rejections(sources, alike, options.rounds)
            print(f"{sources:7d}  {'alike' if alike else 'independent':11s} {plain:.3f} {clustered:.3f}", flush=True)
    print("sources  per 10 words  length bias covered, found")
    for sources in (10, 12, 15, 20):
        for longer in (0.0, 0.2, 0.5):
            hit, found = lengths_covered(sources, longer, options.rounds)
            print(f"{sources:7d}  {longer:12.1f}  {hit:.3f} {found:.3f}", flush=True)


if __name__ == "__main__":
    main()
