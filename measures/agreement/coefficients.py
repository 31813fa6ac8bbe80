"""Percent agreement, AC1/AC2, Fleiss, Brennan-Prediger and Conger, with missing ratings in Gwet's form.

Source of all: K. L. Gwet, Handbook of Inter-Rater Reliability, 4th ed. (2014), ch. 2-5; AC1 and its variance: Gwet,
British Journal of Mathematical and Statistical Psychology 61 (2008). Expected agreement, with pi the mean share of
each value, w the weights and T their sum:

    AC1/AC2            T sum(pi (1 - pi)) / (q (q - 1))
    Fleiss             sum(w pi pi)           (of the forms for missing ratings, the mean of per-item shares)
    Brennan-Prediger   T / q^2
    Conger             the mean over rater pairs of sum(w p_g p_h)
"""

from __future__ import annotations

import numpy as np

from measures.agreement.basis import TINY, Basis, corrected, estimate, obstacle, undefined
from measures.agreement.errors import AgreementDataError
from measures.agreement.patterns import FloatArray, IntArray
from measures.agreement.results import NO_VARIATION, Coefficient

_SE = "Gwet linearised SE, t interval with n-1 df"


def all_agree(basis: Basis) -> tuple[int, int]:
    """(items on which all raters agree, items with at least two ratings)."""
    unanimous = (basis.counts.max(axis=1, initial=0) == basis.size) & (basis.size >= 2)
    return int(basis.times[unanimous].sum()), basis.n_pairable


def percent_agreement(basis: Basis) -> Coefficient:
    """Mean share of agreeing pairs an item, over items with two ratings or more (weighted when the basis is)."""
    method = f"mean pairwise agreement{_weighted(basis)}; {_SE}"
    why = obstacle(basis) if basis.n_pairable == 0 else None
    if why:
        return undefined(basis, "percent_agreement", method, why)
    influence = basis.agreement * (basis.n / basis.n_pairable) - basis.pa
    return estimate(basis, "percent_agreement", method, basis.pa, influence, basis.pa, None, least=0.0)


def gwet_ac(basis: Basis) -> Coefficient:
    """Gwet's AC1 (identity weights) or AC2. Defined without variation, since it takes the declared scale."""
    name, label = ("ac1", "AC1") if basis.identity else ("ac2", "AC2")
    method = f"Gwet {label}{_weighted(basis)}, q={basis.q}; {_SE}"
    if why := obstacle(basis):
        return undefined(basis, name, method, why)
    q = basis.q
    factor = float(basis.weights.sum()) / (q * (q - 1))
    pe = factor * float((basis.pi * (1 - basis.pi)).sum())
    if 1 - pe <= TINY:
        return undefined(basis, name, method, NO_VARIATION)
    excess = 2 * (factor * (basis.share @ (1 - basis.pi)) - pe)
    return corrected(basis, name, method, pe, excess)


def fleiss(basis: Basis) -> Coefficient:
    """Fleiss' kappa generalised by Gwet to weights and missing ratings."""
    method = f"Fleiss kappa, Gwet's form for missing ratings{_weighted(basis)}; {_SE}"
    if why := obstacle(basis):
        return undefined(basis, "fleiss", method, why)
    near = basis.weights @ basis.pi
    pe = float(basis.pi @ near)
    if 1 - pe <= TINY:
        return undefined(basis, "fleiss", method, NO_VARIATION)
    return corrected(basis, "fleiss", method, pe, 2 * (basis.share @ near - pe))


def brennan_prediger(basis: Basis) -> Coefficient:
    """Brennan and Prediger's coefficient (with two values S, with many raters Randolph's kappa)."""
    method = f"Brennan-Prediger{_weighted(basis)}, q={basis.q}; {_SE}"
    if why := obstacle(basis):
        return undefined(basis, "brennan_prediger", method, why)
    pe = float(basis.weights.sum()) / basis.q**2
    if 1 - pe <= TINY:
        return undefined(basis, "brennan_prediger", method, NO_VARIATION)
    return corrected(basis, "brennan_prediger", method, pe)


def conger(basis: Basis) -> Coefficient:
    """Conger's kappa: chance from each rater's own shares; with two complete raters it is Cohen's kappa."""
    method = f"Conger kappa{_weighted(basis)}; {_SE}"
    if why := obstacle(basis):  # fewer than two raters are an obstacle: nothing is pairable
        return undefined(basis, "conger", method, why)
    r = basis.ratings.n_raters
    patterns = basis.ratings.table.patterns
    shares, rated = rater_shares(patterns, basis.times, basis.q)
    near = shares @ basis.weights
    near_others = near.sum(axis=0) - near  # (r, q): what the other raters say, near each value
    pe = float((shares * near_others).sum()) / (r * (r - 1))
    if 1 - pe <= TINY:
        return undefined(basis, "conger", method, NO_VARIATION)
    own = (shares * near_others).sum(axis=1)
    # d pe / d p_g, times how an item moves p_g; an item that g did not rate (-1: the last column) moves nothing
    seen = np.zeros((r, basis.q + 1))
    seen[:, :-1] = (near_others - own[:, None]) * (basis.n / rated)[:, None]
    excess = seen[np.arange(r), patterns].sum(axis=1)
    return corrected(basis, "conger", method, pe, excess * (2 / (r * (r - 1))))


def rater_shares(patterns: IntArray, times: FloatArray, q: int) -> tuple[FloatArray, FloatArray]:
    """(r, q) each rater's shares of the values among what the rater rated, and (r,) how many that were."""
    r = patterns.shape[1]
    cell = patterns.astype(np.int64) + (1 + (q + 1) * np.arange(r))
    counts = np.bincount(cell.ravel(), weights=np.repeat(times, r), minlength=r * (q + 1)).reshape(r, q + 1)[:, 1:]
    rated = counts.sum(axis=1)
    return counts / rated[:, None], rated


def check_fleiss_not_above_ac1(ac1: float | None, fleiss_value: float | None, tolerance: float = 1e-9) -> None:
    """Raise AgreementDataError when an unweighted Fleiss kappa lies above AC1.

    With s = sum(pi^2) >= 1/q, pe of Fleiss is s and pe of AC1 is (1 - s) / (q - 1) <= s: on the same nominal ratings
    Fleiss <= AC1 always, missing ratings or not. A pair that breaks it (M3, Table 9, polarity: .79 and .81) comes
    from swapped columns, weights, or different data.
    """
    if ac1 is not None and fleiss_value is not None and fleiss_value > ac1 + tolerance:
        raise AgreementDataError(
            f"unweighted Fleiss kappa {fleiss_value:.4f} lies above AC1 {ac1:.4f}: impossible on the same ratings"
        )


def _weighted(basis: Basis) -> str:
    return "" if basis.identity else f", {basis.weights_name} weights"
