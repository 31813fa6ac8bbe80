"""Whether a judge may replace a rater for one criterion, and why not, in one sentence.

The judge *may* if the alternative annotator test passes in its lower version, and no bias was found in figures that all
have an interval. It *may not* if one of the rules below speaks against it. Otherwise the data *cannot show* it: a
withheld figure never leads to a yes. Rules are applied in the order of `RULES`, and the sentence gives every reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

from .alternative import ENOUGH_INSTANCES, ENOUGH_SOURCES, LEAST_ANNOTATORS

Json = dict[str, Any]
Decision = Literal["yes", "no", "unknown"]
MOST_FLIPS, MOST_INVALID = 0.2, 0.05
"""Highest share of choices that change with the order, and of pages without a valid answer."""
YES: Decision = "yes"
NO: Decision = "no"
UNKNOWN: Decision = "unknown"
#: (whether the judge may not, or the data cannot show it; the reason).
Finding = tuple[Decision, str]


def decide(row: Json, facts: Json, *, judge: str, criterion: str) -> Json:
    """Return ``decision``, ``reasons`` and ``sentence`` from the figures of one criterion and the facts of the run."""
    findings = [found for rule in RULES for found in rule(row, facts)]
    against = [reason for kind, reason in findings if kind == NO]
    missing = [reason for kind, reason in findings if kind == UNKNOWN]
    if against:
        decision, reasons, start = NO, against, f"may not replace a rater for {criterion} in these data"
    elif missing:
        decision, reasons = UNKNOWN, missing
        return {
            "decision": decision,
            "reasons": reasons,
            "sentence": f"These data cannot show whether {judge} may replace a rater for {criterion}:"
            f" {'; '.join(reasons)}.",
        }
    else:
        test = row["alternative"]
        won, of = round(test["cited"] * len(test["annotators"])), len(test["annotators"])
        decision, start = YES, f"may replace a rater for {criterion} in these data"
        reasons = [
            f"it wins against {won} of {of} raters (winning rate {_two(test['cited'])}, epsilon"
            f" {_two(test['epsilon'])}) and no bias was found"
        ]
    return {"decision": decision, "reasons": reasons, "sentence": f"{judge} {start}: {'; '.join(reasons)}."}


def _two(value: float) -> str:
    text = f"{value:.2f}"
    return text[1:] if text.startswith("0.") else text


def _enough(row: Json, facts: Json) -> Iterator[Finding]:
    test = row["alternative"]
    if test["undefined"]:
        yield UNKNOWN, f"{test['undefined']} (the test needs {LEAST_ANNOTATORS})"
        return
    fewest = min(each["n"] for each in test["annotators"])
    if fewest < ENOUGH_INSTANCES:
        yield UNKNOWN, f"a rater shares only {fewest} texts with it, and the test needs {ENOUGH_INSTANCES}"
    sources = min(each["sources"] for each in test["annotators"])
    if test["undefined_clustered"]:
        yield UNKNOWN, f"the texts are from {sources} sources, and the test needs {ENOUGH_SOURCES}"


def _alternative(row: Json, facts: Json) -> Iterator[Finding]:
    test = row["alternative"]
    if test["undefined"] or test["undefined_clustered"] or test["passes"]:
        return
    if min(each["n"] for each in test["annotators"]) >= ENOUGH_INSTANCES:
        won, of = round(test["cited"] * len(test["annotators"])), len(test["annotators"])
        yield (
            NO,
            f"it wins against {won} of {of} raters in the alternative annotator test (winning rate"
            f" {_two(test['cited'])}, epsilon {_two(test['epsilon'])}), fewer than half",
        )


def _position(row: Json, facts: Json) -> Iterator[Finding]:
    flips = row["position"]["flips"]
    if flips["value"] is None:
        # Only pairs are always asked in both orders.
        if row["kind"] == "preference":
            yield UNKNOWN, "position bias is not known"
    elif flips["value"] > MOST_FLIPS:
        what = "choices" if row["kind"] == "preference" else "values"
        yield NO, f"{100 * flips['value']:.0f}% of its {what} change with the order of the texts"


def _family(row: Json, facts: Json) -> Iterator[Finding]:
    found = row["family"]
    if found is None or found["value"] is None:
        return
    if found["ci"] is None:
        yield UNKNOWN, "self-preference has no reliable interval"
    elif _preferred(found["ci"], row["better"]):
        yield NO, f"it prefers systems of its own family ({_signed(found)})"


def _preferred(ci: list[float], better: str) -> bool:
    return ci[1] < 0 if better == "lower" else ci[0] > 0


def _length(row: Json, facts: Json) -> Iterator[Finding]:
    found = row["length"]
    if found is None or found["value"] is None:
        return
    if found["ci"] is None:
        yield UNKNOWN, "length bias has no reliable interval"
    elif found["ci"][0] > 0 or found["ci"][1] < 0:
        longer = "longer" if (found["value"] > 0) != (row["better"] == "lower") else "shorter"
        yield NO, f"it prefers {longer} texts (r = {_signed(found)})"


def _signed(found: Json) -> str:
    return f"{found['value']:+.2f}, 95% CI [{found['ci'][0]:.2f}, {found['ci'][1]:.2f}]"


def _injection(row: Json, facts: Json) -> Iterator[Finding]:
    if facts["followed"]:
        pages = "page" if facts["followed"] == 1 else "pages"
        yield NO, f"it followed an instruction in the text on {facts['followed']} {pages}"


def _invalid(row: Json, facts: Json) -> Iterator[Finding]:
    if facts["answers"] and facts["failed"] / facts["answers"] > MOST_INVALID:
        yield NO, f"{100 * facts['failed'] / facts['answers']:.0f}% of its answers are invalid"


#: Rules in the order in which their reasons are given.
RULES: tuple[Callable[[Json, Json], Iterator[Finding]], ...] = (
    _enough,
    _alternative,
    _position,
    _family,
    _length,
    _injection,
    _invalid,
)
