"""How far people agree on one measure, in one sentence to cite: what, how much, of how many, by whom and how."""

from collections.abc import Mapping
from typing import Any

from ..tables.writing import escaped, number

#: The coefficient to cite: the one that takes the distances of an ordered scale into account, where the scale has them.
NAMES = {"ac2": "Gwet's AC2", "ac1": "Gwet's AC1"}


def citation(measure: Mapping[str, Any]) -> dict[str, str]:
    """The sentence as text and as LaTeX; empty where nobody answered."""
    text = _sentence(measure) if measure["ratings"] else ""
    return {"text": text, "latex": escaped(text).replace(r" \%", r"~\%")}


def _sentence(measure: Mapping[str, Any]) -> str:
    ratings, units, raters = measure["ratings"], measure["units"], measure["raters"]
    basis = f"{_counted(ratings, 'rating')} of {_counted(units, 'unit')} by {_counted(raters, 'rater')}"
    found = measure["coefficients"]
    key = next((key for key in NAMES if key in found), None)
    if key is None:
        why = next((measure["undefined"][key] for key in NAMES if key in measure["undefined"]), "too few ratings")
        return f"Agreement on {measure['name']} is not defined ({basis}): {why}."
    value = f"{NAMES[key]} = {number(found[key]['value'], 2)} ({_interval(found[key], measure)})"
    weights = "" if measure["weights"] == "identity" else f", {measure['weights']} weights"
    return f"Agreement on {measure['name']} was {value}{weights}, from {basis}{_plainly(measure)}."


def _interval(found: Mapping[str, Any], measure: Mapping[str, Any]) -> str:
    """The interval over reviews wherever some have several units, for those are alike: the one over units is too narrow
    and no replacement."""
    over, count = found["reviews"], _counted(measure["reviews"] or 0, "review")
    if over:
        method = measure["reviews_method"]["coefficients"]
        return f"{_range(over['ci'], measure)} over {count}; {method}" if over["ci"] else over["undefined"]
    return f"{_range(found['ci'], measure)}; {found['method']}" if found["ci"] else f"no interval; {found['method']}"


def _range(ci: tuple[float, float], measure: Mapping[str, Any]) -> str:
    return f"{measure['level']:.0%}".replace("%", " %") + f" CI {number(ci[0], 2)} to {number(ci[1], 2)}"


def _plainly(measure: Mapping[str, Any]) -> str:
    """What needs no chance to be corrected for."""
    of = measure["all_agree"]["of"]
    if not of:
        return ""
    pairs = measure["coefficients"].get("percent_agreement")
    alike = f"; all agreed on {measure['all_agree']['count']:,} of {_counted(of, 'unit')}"
    return alike + (f", mean pairwise agreement {number(pairs['value'], 2)}" if pairs else "")


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"
