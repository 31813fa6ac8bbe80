"""Percent agreement, AC1/AC2, Fleiss, Brennan-Prediger and Conger, with missing ratings in Gwet's form.

Sources: K. L. Gwet, Handbook of Inter-Rater Reliability, 4th ed. (2014), ch. 2-5; AC1 and its variance: Gwet,
British Journal of Mathematical and Statistical Psychology 61 (2008). Expected agreement, with pi the mean share of
each value, w the weights and T their sum:

    AC1/AC2            T sum(pi (1 - pi)) / (q (q - 1))
    Fleiss             sum(w pi pi)           (with missing ratings: pi is the mean of per-item shares)
    Brennan-Prediger   T / q^2
    Conger             the mean over rater pairs of sum(w p_g p_h)
"""

from __future__ import annotations

import numpy as np

from measures.agreement.basis import TINY, Basis, corrected, estimate, obstacle, undefined

from .basis import NO_VARIATION, Coefficient, interval_words
from .ratings import AgreementDataError, FloatArray, IntArray

_SE = "Gwet linearised SE"


def all_agree(basis: Basis) -> tuple[int, int]:
    """Return the number of items on which all raters agree, and the number of items with at least two ratings."""
    unanimous = (basis.counts.max(axis=1, initial=0) == basis.size) & (basis.size >= 2)
    return int(basis.times[unanimous].sum()), basis.n_pairable


def percent_agreement(basis: Basis) -> Coefficient:
    """Return the mean share of agreeing pairs per item, over items with at least two ratings.

    The share is weighted if the basis is.
    """
    method = f"mean pairwise agreement{_weighted(basis)}; {interval_words(_SE)}"
    reason = obstacle(basis) if basis.n_pairable == 0 else None
    if reason:
        return undefined(basis, "percent_agreement", method, reason)
    influence = basis.agreement * (basis.n / basis.n_pairable) - basis.pa
    return estimate(basis, "percent_agreement", method, basis.pa, influence, basis.pa, None, least=0.0)


def gwet_ac(basis: Basis) -> Coefficient:
    """Return Gwet's AC1 (identity weights) or AC2. Defined without variation, because it uses the declared scale."""
    name, label = ("ac1", "AC1") if basis.identity else ("ac2", "AC2")
    method = f"Gwet {label}{_weighted(basis)}, q={basis.q}; {interval_words(_SE)}"
    if reason := obstacle(basis):
        return undefined(basis, name, method, reason)
    q = basis.q
    factor = float(basis.weights.sum()) / (q * (q - 1))
    pe = factor * float((basis.pi * (1 - basis.pi)).sum())
    if 1 - pe <= TINY:
        return undefined(basis, name, method, NO_VARIATION)
    excess = 2 * (factor * (basis.share @ (1 - basis.pi)) - pe)
    return corrected(basis, name, method, pe, excess)


def fleiss(basis: Basis) -> Coefficient:
    """Return Fleiss' kappa, generalised by Gwet to weights and missing ratings."""
    method = f"Fleiss kappa, Gwet's form for missing ratings{_weighted(basis)}; {interval_words(_SE)}"
    if reason := obstacle(basis):
        return undefined(basis, "fleiss", method, reason)
    weighted_pi = basis.weights @ basis.pi
    pe = float(basis.pi @ weighted_pi)
    if 1 - pe <= TINY:
        return undefined(basis, "fleiss", method, NO_VARIATION)
    return corrected(basis, "fleiss", method, pe, 2 * (basis.share @ weighted_pi - pe))


def brennan_prediger(basis: Basis) -> Coefficient:
    """Return Brennan and Prediger's coefficient.

    With two values it is S, and with several raters Randolph's kappa.
    """
    method = f"Brennan-Prediger{_weighted(basis)}, q={basis.q}; {interval_words(_SE)}"
    if reason := obstacle(basis):
        return undefined(basis, "brennan_prediger", method, reason)
    pe = float(basis.weights.sum()) / basis.q**2
    if 1 - pe <= TINY:
        return undefined(basis, "brennan_prediger", method, NO_VARIATION)
    return corrected(basis, "brennan_prediger", method, pe)


def conger(basis: Basis) -> Coefficient:
    """Return Conger's kappa. Chance agreement uses each rater's own shares.

    For two complete raters it is Cohen's kappa.
    """
    method = f"Conger kappa{_weighted(basis)}; {interval_words(_SE)}"
    if reason := obstacle(basis):  # covers fewer than two raters, because no item is pairable then
        return undefined(basis, "conger", method, reason)
    r = basis.ratings.n_raters
    patterns = basis.ratings.table.patterns
    shares, rated = rater_shares(patterns, basis.times, basis.q)
    weighted_shares = shares @ basis.weights
    near_others = weighted_shares.sum(axis=0) - weighted_shares  # (r, q): the other raters' shares near each value
    pe = float((shares * near_others).sum()) / (r * (r - 1))
    if 1 - pe <= TINY:
        return undefined(basis, "conger", method, NO_VARIATION)
    own_agreement = (shares * near_others).sum(axis=1)
    # The derivative of pe by p_g, times the change of p_g by an item. An item that g did not rate (code -1, the last
    # column) changes nothing.
    effect_of_code = np.zeros((r, basis.q + 1))
    effect_of_code[:, :-1] = (near_others - own_agreement[:, None]) * (basis.n / rated)[:, None]
    excess = effect_of_code[np.arange(r), patterns].sum(axis=1)
    return corrected(basis, "conger", method, pe, excess * (2 / (r * (r - 1))))


def rater_shares(patterns: IntArray, times: FloatArray, q: int) -> tuple[FloatArray, FloatArray]:
    """Return each rater's shares of the values (r, q), and the number of items each rater rated (r,)."""
    r = patterns.shape[1]
    cell = patterns.astype(np.int64) + (1 + (q + 1) * np.arange(r))
    counts = np.bincount(cell.ravel(), weights=np.repeat(times, r), minlength=r * (q + 1)).reshape(r, q + 1)[:, 1:]
    rated = counts.sum(axis=1)
    return counts / rated[:, None], rated


def check_fleiss_not_above_ac1(ac1: float | None, fleiss_value: float | None, tolerance: float = 1e-9) -> None:
    """Raise `AgreementDataError` if an unweighted Fleiss kappa exceeds AC1.

    With s = sum(pi^2) >= 1/q, pe of Fleiss is s and pe of AC1 is (1 - s) / (q - 1) <= s. On the same nominal ratings,
    Fleiss <= AC1 therefore always holds, with or without missing ratings. A pair of figures that violates it (M3, Table
    9, polarity: .79 and .81) results from swapped columns, weights, or different data.
    """
    if ac1 is not None and fleiss_value is not None and fleiss_value > ac1 + tolerance:
        raise AgreementDataError(
            f"unweighted Fleiss kappa {fleiss_value:.4f} lies above AC1 {ac1:.4f}: impossible on the same ratings"
        )


def _weighted(basis: Basis) -> str:
    return "" if basis.identity else f", {basis.weights_name} weights"
