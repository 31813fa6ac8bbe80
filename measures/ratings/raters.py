"""Figures of raters: severity, pace and consistency, and the exclusion of raters and pages."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, TypeVar

import numpy as np

from ..agreement.pairs import cohen_kappa
from ..agreement.weights import weight_matrix
from ..means import clustered_mean
from .judgements import Criterion, Judgement, Preference
from .rows import CriterionJudgements, Rows

Json = dict[str, Any]
P = TypeVar("P", bound=Hashable)
LEAST_MS = 300
"""Minimum plausible active time per rating, in ms."""
OF_MEDIAN = 0.2
"""A page is too fast if its time per rating is below this share of the round's median."""
ENOUGH_PAGES = 10
"""Minimum number of pages for the comparison with the median."""
FAST = (
    f"less active time than {LEAST_MS} ms a rating, or than {OF_MEDIAN:g} of the median time a rating of all pages of"
    f" the round (of {ENOUGH_PAGES} pages or more)"
)
NOTHING_SHARED = "no text that others rated too"
NO_REPEATS = "no page was given again"
NO_TIMES = "no times"
#: (rater, source, item, repeat).
Page = tuple[str, Hashable, Hashable, int]


def pages(rows: Rows) -> dict[Page, tuple[int, int, int]]:
    """Return page -> (active ms, or 0 if not measured; number of asked ratings; number of texts)."""
    at = rows.asked_indices
    base = int(rows.repeat.max(initial=0)) + 1
    key = ((rows.rater * len(rows.items) + rows.item) * base + rows.repeat)[at]
    keys, first, place = np.unique(key, return_index=True, return_inverse=True)
    ms = np.zeros(len(keys), dtype=np.intp)
    np.maximum.at(ms, place, rows.ms[at])
    ratings = np.bincount(place, minlength=len(keys))
    texts = np.bincount(np.unique(place * len(rows.systems) + rows.system[at]) // max(len(rows.systems), 1))
    times: dict[Page, tuple[int, int, int]] = {}
    for i, k in enumerate(at[first].tolist()):
        source, item = rows.items[rows.item[k]]
        times[rows.raters[rows.rater[k]], source, item, int(rows.repeat[k])] = (
            int(ms[i]),
            int(ratings[i]),
            int(texts[i]),
        )
    return times


def fast_pages(rows: Rows) -> set[Page]:
    """Return the pages flagged by the rule `FAST`. Only a declared exclusion leaves them out."""
    return too_fast({page: ms / ratings for page, (ms, ratings, _) in pages(rows).items() if ms > 0})


def too_fast(timed: Mapping[P, float]) -> set[P]:
    """Return the pages that the rule `FAST` flags, given the active ms per rating of each page."""
    bound = float(LEAST_MS)
    if len(timed) >= ENOUGH_PAGES:
        bound = max(bound, OF_MEDIAN * median(timed.values()))
    return {page for page, each in timed.items() if each < bound}


def rater_figures(rows: Rows, every: Sequence[CriterionJudgements]) -> list[Json]:
    """Return a row of figures for each rater.

    It has ``judgements``, ``pages``, ``median_ms`` per page, ``median_ms_of_text`` and ``fast`` pages. ``severity`` by
    criterion is the rater's mean minus the others' mean on the same texts, over sources, as `Mean.as_json`.
    """
    fast, timed = fast_pages(rows), defaultdict(list)
    for (rater, *_), (ms, _, texts) in pages(rows).items():
        timed[rater].append((ms, ms / texts))
    quick: dict[str, int] = defaultdict(int)
    for rater, *_ in fast:
        quick[rater] += 1
    # A choice of the best and the worst sums to 0 on each page, whoever makes it.
    severity = {
        ratings.criterion.key: _severity(ratings)
        for ratings in every
        if ratings.criterion.kind not in ("counts", "best-worst")
    }
    figures = []
    for r, rater in enumerate(rows.raters):
        known = [(page, text) for page, text in timed[rater] if page > 0]
        figures.append(
            {
                "rater": rater,
                "judgements": int((rows.rater[rows.asked_indices] == r).sum()),
                "pages": len(timed[rater]),
                "median_ms": median(page for page, _ in known) if known else None,
                "median_ms_of_text": median(text for _, text in known) if known else None,
                "no_pace": "" if known else NO_TIMES,
                "fast": quick[rater],
                "severity": {key: rows_of[r] for key, rows_of in severity.items()},
            }
        )
    return figures


def chooser_figures(preferences: Iterable[Preference]) -> list[Json]:
    """Return rows as `rater_figures` for raters who chose between two texts. A page is a pair; there is no severity."""
    timed: dict[tuple[str, Hashable, Hashable, str, str, int], int] = {}
    counts: Counter[str] = Counter()
    for each in preferences:
        timed[each.rater, each.source, each.item, each.left, each.right, each.repeat] = each.ms
        counts[each.rater] += 1
    fast = too_fast({page: ms for page, ms in timed.items() if ms > 0})
    figures: list[Json] = []
    for rater in sorted(counts):
        pages_of = [page for page in timed if page[0] == rater]
        known = [timed[page] for page in pages_of if timed[page] > 0]
        figures.append(
            {
                "rater": rater,
                "judgements": counts[rater],
                "pages": len(pages_of),
                "median_ms": median(known) if known else None,
                "median_ms_of_text": median(known) / 2 if known else None,
                "no_pace": "" if known else NO_TIMES,
                "fast": sum(page in fast for page in pages_of),
                "severity": {},
            }
        )
    return figures


def _severity(ratings: CriterionJudgements) -> list[Json]:
    totals, counts = ratings.sums
    use = np.flatnonzero(ratings.first & ~np.isnan(ratings.number))
    cell, own, rater = ratings.cell[use], ratings.number[use], ratings.rows.rater[ratings.at[use]]
    others = counts.ravel()[cell] - 1
    deviation = own - (totals.ravel()[cell] - own) / np.where(others > 0, others, 1)
    source = ratings.rows.source_of[ratings.rows.item[ratings.at[use]]]
    figures = []
    for r in range(len(ratings.rows.raters)):
        is_own = (rater == r) & (others > 0)
        mean = clustered_mean(deviation[is_own].tolist(), source[is_own].tolist()).as_json()
        figures.append(mean if mean["value"] is not None else {**mean, "undefined": NOTHING_SHARED})
    return figures


def said_again(ratings: CriterionJudgements) -> Json:
    """Return the consistency of raters on repeated pages.

    ``n`` counts pairs of values, and ``same`` the equal ones (N/A is a value). ``kappa`` is Cohen's, over the declared
    values, with quadratic weights on an ordered scale. ``difference`` is the mean absolute difference of numbers.
    ``raters`` has n and same of each.
    """
    rows = ratings.rows
    turns: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    again = set(ratings.cell[~ratings.first].tolist())
    for k, cell in zip(ratings.at.tolist(), ratings.cell.tolist(), strict=True):
        if cell in again:
            turns[int(rows.rater[k]), cell].append((int(rows.repeat[k]), k))
    pairs = [(a, b) for each in turns.values() for (_, a), (_, b) in pairwise(sorted(each))]
    result: Json = {
        "n": len(pairs),
        "same": 0,
        "share": None,
        "kappa": None,
        "difference": None,
        "raters": {},
        "undefined": "" if pairs else NO_REPEATS,
        "no_kappa": "",
    }
    if not pairs:
        return result
    values = [(_name(rows.value[a]), _name(rows.value[b])) for a, b in pairs]
    result["same"] = sum(a == b for a, b in values)
    result["share"] = result["same"] / len(pairs)
    for (a, _), (one, other) in zip(pairs, values, strict=True):
        rater_counts = result["raters"].setdefault(rows.raters[rows.rater[a]], {"n": 0, "same": 0})
        rater_counts["n"] += 1
        rater_counts["same"] += one == other
    result |= _kappa(ratings, values)
    if ratings.criterion.kind == "mean":
        both = [(float(a), float(b)) for a, b in values if a and b]
        result["difference"] = sum(abs(a - b) for a, b in both) / len(both) if both else None
    return result


def _kappa(ratings: CriterionJudgements, values: list[tuple[str, str]]) -> Json:
    scale = {_name(value): i for i, value in enumerate(ratings.criterion.values)}
    if len(scale) < 2 or any(value and value not in scale for pair in values for value in pair):
        return {"kappa": None, "no_kappa": "not a scale of declared values"}
    table = np.zeros((len(scale), len(scale)))
    for one, other in values:
        if one and other:
            table[scale[one], scale[other]] += 1
    weights = None
    if ratings.criterion.kind == "mean":
        weights = weight_matrix("quadratic", [float(value) for value in ratings.criterion.values])
    kappa = cohen_kappa(table, weights)
    return {"kappa": kappa.value, "no_kappa": kappa.undefined or ""}


def _name(value: float | str | None) -> str:
    """Return a value as text: "4" for 4.0 and "4", and "" for N/A."""
    if value is None:
        return ""
    try:
        return f"{float(value):g}"
    except ValueError:
        return str(value)


@dataclass(frozen=True, slots=True)
class Exclusions:
    """The exclusion rules of a round.

    ``raters`` excludes raters by name. ``failed_checks`` and ``failed_share`` exclude raters who failed at least this
    number, or more than this share, of their checks. ``fast`` excludes implausibly fast pages (`FAST`).
    """

    raters: frozenset[str] = frozenset()
    failed_checks: int | None = None
    failed_share: float | None = None
    fast: bool = False

    @classmethod
    def declared(cls, options: Mapping[str, Any]) -> Exclusions:
        """Return the rules from a round's options: ``exclude_checks`` (per cent) and ``exclude_fast``."""
        share = options.get("exclude_checks")
        return cls(failed_share=None if share is None else share / 100, fast=bool(options.get("exclude_fast")))

    @property
    def any(self) -> bool:
        return bool(self.raters or self.fast) or self.failed_checks is not None or self.failed_share is not None


def excluded(
    judgements: Sequence[Judgement],
    preferences: Sequence[Preference],
    rules: Exclusions,
    checks: Mapping[str, tuple[int, int]],
) -> tuple[list[Judgement], list[Preference], list[Json]]:
    """Return the kept judgements and preferences, and what each rule leaves out.

    Each rule has ``rule``, ``raters``, and the number of ``judgements``, including preferences. The first matching rule
    counts. ``checks`` maps raters to (failed, had).
    """
    failed = {
        rater
        for rater, (n, had) in checks.items()
        if (rules.failed_checks is not None and n >= rules.failed_checks)
        or (rules.failed_share is not None and had and n / had > rules.failed_share)
    }
    fast = fast_pages(Rows.of(judgements)) if rules.fast else set()
    fast_pairs = too_fast({_pair(each): each.ms for each in preferences if each.ms > 0}) if rules.fast else set()
    of_rule: dict[str, tuple[set[str], int]] = {}

    def stays(rater: str, is_fast: bool) -> bool:
        if rater in rules.raters:
            rule = "by name"
        elif rater in failed:
            rule = "failed checks"
        elif is_fast:
            rule = f"too fast: {FAST}"
        else:
            return True
        raters, n = of_rule.get(rule, (set(), 0))
        of_rule[rule] = raters | {rater}, n + 1
        return False

    kept_judgements = [
        each for each in judgements if stays(each.rater, (each.rater, each.source, each.item, each.repeat) in fast)
    ]
    chosen = [each for each in preferences if stays(each.rater, _pair(each) in fast_pairs)]
    left_out = [{"rule": rule, "raters": sorted(who), "judgements": n} for rule, (who, n) in sorted(of_rule.items())]
    return kept_judgements, chosen, left_out


def _pair(each: Preference) -> tuple[str, Hashable, Hashable, str, str, int]:
    return each.rater, each.source, each.item, each.left, each.right, each.repeat


Values = Mapping[str, float | str | None]


def check_failed(of_text: Values, of_degraded: Values, criteria: Iterable[Criterion]) -> bool:
    """Return whether a rater missed a degraded text: it is not rated worse on any criterion with a direction.

    The values of the degraded and the original text are by criterion. N/A is ignored.
    """
    for criterion in criteria:
        if criterion.better and criterion.key in of_text and criterion.key in of_degraded:
            was, now = criterion.number(of_text[criterion.key]), criterion.number(of_degraded[criterion.key])
            if was is not None and now is not None and (now < was if criterion.better == "higher" else now > was):
                return False
    return True
