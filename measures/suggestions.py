"""What suggestions of a model do to the answers of people: their fate, working time, and anchoring.

Each person answers a random part of the units *blind*, without the suggestion. The two parts differ in nothing else, so
a difference between them is the effect of the suggestion (a randomised experiment within people).

* **Anchoring** is the share of answers that equal the suggestion among those with the suggestion, less the share among
  blind answers. People who would have found the same value anyway are in both shares.
* Where gold exists that does not come from the round, the **accuracy** of both parts is compared. The share of *wrong*
  suggestions that answers repeat, less that of blind answers, is the harm of anchoring.
* **Time**: medians of both parts, and their difference.

Intervals of differences of shares are those of `measures.clustered` (jackknife over reviews). The interval of the
difference of medians is a percentile bootstrap over reviews, because a median has no valid jackknife (Efron 1982, *The
jackknife, the bootstrap and other resampling plans*, ch. 3). All hold for the people who took part.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import clustered

FloatArray = npt.NDArray[np.float64]
REPLICATES = 2000
METHOD = "difference of shares over a random split within people; jackknife over reviews"
TIME_METHOD = f"difference of medians; percentile bootstrap over reviews, {REPLICATES} replicates"
#: Name of the rows about the whole answer. It equals the suggestion if all its fields do.
WHOLE = "whole answer"


@dataclass(frozen=True, slots=True)
class SuggestedAnswer:
    """One answer to a unit with a suggestion.

    ``same`` tells by field whether the answer equals the suggestion. ``right`` and ``model_right`` tell whether answer
    and suggestion equal gold; fields without gold are missing.
    """

    review: Hashable
    shown: bool
    rejected: bool
    same: Mapping[str, bool]
    seconds: float | None = None
    right: Mapping[str, bool] | None = None
    model_right: Mapping[str, bool] | None = None

    def is_same(self, field: str) -> bool:
        return all(self.same.values()) if field == WHOLE else self.same[field]

    def gold(self, field: str) -> tuple[bool, bool] | None:
        """Return whether answer and suggestion are right in a field; None without gold of every field it needs."""
        right, model = self.right or {}, self.model_right or {}
        names = list(self.same) if field == WHOLE else [field]
        if any(name not in right for name in names):
            return None
        return all(right[name] for name in names), all(model[name] for name in names)


def report(answers: Sequence[SuggestedAnswer], fields: Sequence[str], *, seed: int) -> dict[str, Any]:
    """Return all figures. ``fields`` are the fields of the round, in order."""
    names = [WHOLE, *fields] if len(fields) > 1 else list(fields)
    shown = [one for one in answers if one.shown]
    by_field = [_of_field(name, answers) for name in names]
    time = working_time(answers, seed=seed)
    figures = {
        "shown": len(shown),
        "blind": len(answers) - len(shown),
        "reviews": len({one.review for one in answers}),
        "rejected": sum(one.rejected for one in shown),
        "with_gold": sum(bool(one.right) for one in answers),
        "fields": by_field,
        "time": time,
        "method": METHOD,
    }
    return figures | {"conclusion": conclusion(figures)}


def _of_field(name: str, answers: Sequence[SuggestedAnswer]) -> dict[str, Any]:
    shown = [one for one in answers if one.shown]
    accepted = sum(one.is_same(name) for one in shown)
    rejected = sum(one.rejected and not one.is_same(name) for one in shown)
    with_gold = [(one, gold) for one in answers if (gold := one.gold(name)) is not None]
    wrong = [(one, gold) for one, gold in with_gold if not gold[1]]
    return {
        "field": name,
        "accepted": accepted,
        "edited": len(shown) - accepted - rejected,
        "rejected": rejected,
        "same": compared([(one.review, one.shown, one.is_same(name)) for one in answers]),
        "right": compared([(one.review, one.shown, gold[0]) for one, gold in with_gold]),
        "wrong_kept": compared([(one.review, one.shown, one.is_same(name)) for one, _ in wrong]),
    }


def compared(rows: Sequence[tuple[Hashable, bool, bool]]) -> dict[str, Any]:
    """Return the share of hits among shown and blind answers, and the difference with its interval over reviews.

    ``rows`` are (review, was shown, is a hit). A share of no answers is None, and so is a difference from it.
    """
    hits = np.array([[r[2] and r[1], r[2] and not r[1]] for r in rows], dtype=float).reshape(-1, 2)
    parts = np.array([[r[1], not r[1]] for r in rows], dtype=float).reshape(-1, 2)
    n, total = parts.sum(axis=0), hits.sum(axis=0)
    result: dict[str, Any] = {
        name: {"hits": int(total[i]), "n": int(n[i]), "share": float(total[i] / n[i]) if n[i] else None}
        for i, name in enumerate(("shown", "blind"))
    }
    if not n.all():
        return result | {"difference": None, "ci": None, "ci_reason": f"no {'blind' if n[0] else 'shown'} answers"}
    difference = float(total[0] / n[0] - total[1] / n[1])
    place = _places([r[0] for r in rows])
    sizes = np.bincount(place).astype(float)
    hits_left, n_left = total - _sums(place, hits), n - _sums(place, parts)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = hits_left / n_left
    interval = clustered.estimate(difference, shares[:, 0] - shares[:, 1], sizes, (-1.0, 1.0), mean=True)
    return result | {"difference": difference, "ci": interval.ci and list(interval.ci), "ci_reason": interval.reason}


def working_time(answers: Sequence[SuggestedAnswer], *, seed: int) -> dict[str, Any]:
    """Return the median seconds with and without suggestion, and their difference with its interval over reviews.

    Answers without a measured time are left out. The interval is withheld with fewer reviews or answers than the other
    intervals need.
    """
    timed = [one for one in answers if one.seconds]
    parts = {name: [one.seconds for one in timed if one.shown == flag] for name, flag in (("shown", 1), ("blind", 0))}
    result: dict[str, Any] = {
        name: {"n": len(part), "median": float(np.median(part)) if part else None}  # type: ignore[arg-type]
        for name, part in parts.items()
    }
    result["method"] = TIME_METHOD
    if not all(parts.values()):
        missing = next(name for name, part in parts.items() if not part)
        return result | {"difference": None, "ci": None, "ci_reason": f"no timed {missing} answers"}
    difference = result["shown"]["median"] - result["blind"]["median"]
    place = _places([one.review for one in timed])
    reviews = int(place.max()) + 1
    reasons = []
    if reviews < clustered.ENOUGH_REVIEWS:
        reasons.append(clustered.FEW_REVIEWS)
    elif min(map(len, parts.values())) < clustered.ENOUGH_REVIEWS:
        reasons.append("few answers")
    if reasons:
        return result | {"difference": difference, "ci": None, "ci_reason": clustered.withheld(reasons, reviews)}
    seconds = np.array([one.seconds for one in timed], dtype=float)
    is_shown = np.array([one.shown for one in timed])
    rng = np.random.default_rng(seed)
    medians = [_resampled_medians(seconds[part], place[part], reviews) for part in (is_shown, ~is_shown)]
    draws: list[FloatArray] = []
    for _ in range(REPLICATES // 100):
        counts = rng.multinomial(reviews, np.full(reviews, 1 / reviews), size=100)
        draws.append(medians[0](counts) - medians[1](counts))
    ci = np.nanquantile(np.concatenate(draws), (0.025, 0.975))
    return result | {"difference": difference, "ci": [float(ci[0]), float(ci[1])], "ci_reason": ""}


def _resampled_medians(
    seconds: FloatArray, place: npt.NDArray[np.intp], reviews: int
) -> Callable[[npt.NDArray[np.int64]], FloatArray]:
    """Return a function from the number of times that each review is drawn (draws, reviews) to the medians (draws,)."""
    order = np.argsort(seconds, kind="stable")
    ordered, of = seconds[order], place[order]

    def medians(counts: npt.NDArray[np.int64]) -> FloatArray:
        reached = np.cumsum(counts[:, of], axis=1)
        total = reached[:, -1]
        low = (reached >= ((total + 1) // 2)[:, None]).argmax(axis=1)
        high = (reached >= (total // 2 + 1)[:, None]).argmax(axis=1)
        return np.where(total > 0, (ordered[low] + ordered[high]) / 2, np.nan)

    return medians


def _places(reviews: Sequence[Hashable]) -> npt.NDArray[np.intp]:
    """Return numbers of the reviews that do not depend on the order of the answers, and so neither do draws."""
    numbers = {review: number for number, review in enumerate(sorted(set(reviews), key=str))}
    return np.array([numbers[review] for review in reviews], dtype=np.intp)


def _sums(place: npt.NDArray[np.intp], values: FloatArray) -> FloatArray:
    return np.stack([np.bincount(place, weights=column) for column in values.T], axis=1)


def conclusion(figures: Mapping[str, Any]) -> str:
    """Return what the figures say about anchoring and time, in plain sentences."""
    if not figures["shown"]:
        return "No answer was given with a suggestion yet."
    if not figures["blind"]:
        return "No answer was given blind, so the effect of the suggestions is unknown."
    first = figures["fields"][0]
    same = first["same"]
    shares = (
        f"{same['shown']['share']:.0%} of answers with the suggestion and {same['blind']['share']:.0%} of blind ones"
    )
    text = f"{shares} equal the suggestion: {_anchoring(same)}"
    wrong = first["wrong_kept"]
    if wrong["shown"]["n"]:
        text += f" Of {wrong['shown']['n']} wrong suggestions that were shown, people kept {wrong['shown']['hits']}."
    time = figures["time"]
    if time["difference"] is None:
        return text
    if time["ci"] is None:
        return f"{text} The difference in time has no reliable interval."
    low, high = time["ci"]
    if low <= 0 <= high:
        return f"{text} No difference in time is shown."
    return f"{text} Answers with the suggestion took {'less' if high < 0 else 'more'} time."


def _anchoring(same: Mapping[str, Any]) -> str:
    if same["ci"] is None:
        return "whether people are anchored is not known, because the difference has no reliable interval."
    low, high = same["ci"]
    if low > 0:
        return "people are anchored."
    return "people avoid the suggestion." if high < 0 else "no anchoring is shown."
