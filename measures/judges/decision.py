"""Whether a judge may replace a rater for one criterion, and why not, in one sentence.

The judge *may* if the alternative annotator test passes in its lower version, and no bias was found in figures that all
have an interval. It *may not* if one of the rules below speaks against it. Otherwise the data *cannot show* it: a
withheld figure never leads to a yes. Rules are applied in the order of `RULES`, and the sentence gives every reason.
A sentence on data that cannot show it says what the test found, if there is a result, and what is missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Literal

from ..clustered import ENOUGH_ITEMS, ENOUGH_REVIEWS
from .alternative import ENOUGH_INSTANCES, ENOUGH_SOURCES, LEAST_ANNOTATORS
from .biases import ENOUGH_SOURCES as ENOUGH_FOR_LENGTH
from .biases import LEAST_STRONG

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
        sentence = f"{judge} may not replace a rater for {criterion} in these data: {'; '.join(against)}."
        return {"decision": NO, "reasons": against, "sentence": sentence}
    if missing:
        sentence = f"These data cannot show whether {judge} may replace a rater for {criterion}"
        but = "" if _short(row["alternative"]) else f" {_wins(row['alternative'])}, but"
        return {"decision": UNKNOWN, "reasons": missing, "sentence": f"{sentence}:{but} {'; '.join(missing)}."}
    few = f" ({row['sources']} sources show only a strong one)" if row["sources"] < LEAST_STRONG else ""
    reasons = [f"{_wins(row['alternative'])} and no bias was found{few}"]
    sentence = f"{judge} may replace a rater for {criterion} in these data: {reasons[0]}."
    return {"decision": YES, "reasons": reasons, "sentence": sentence}


def _wins(test: Json) -> str:
    won, of = round(test["cited"] * len(test["annotators"])), len(test["annotators"])
    return (
        f"it wins against {won} of {of} raters in the alternative annotator test (winning rate {_two(test['cited'])},"
        f" epsilon {_two(test['epsilon'])})"
    )


def _short(test: Json) -> bool:
    """Whether the test has too few raters, texts or sources for a result."""
    if test["undefined"] or test["undefined_clustered"]:
        return True
    return bool(min(each["n"] for each in test["annotators"]) < ENOUGH_INSTANCES)


def _two(value: float) -> str:
    text = f"{value:.2f}"
    return text[1:] if text.startswith("0.") else text


def _enough(row: Json, facts: Json) -> Iterator[Finding]:
    test = row["alternative"]
    if test["undefined"]:
        yield UNKNOWN, f"{test['undefined']}, and the test needs {LEAST_ANNOTATORS}"
        return
    fewest = min(each["n"] for each in test["annotators"])
    sources = min(each["sources"] for each in test["annotators"])
    if test["undefined_clustered"]:
        more = ENOUGH_SOURCES - sources
        yield UNKNOWN, f"the test needs {ENOUGH_SOURCES} sources of each rater, and one has {sources}: {_rate(more)}"
    if fewest < ENOUGH_INSTANCES:
        yield UNKNOWN, f"the test needs {ENOUGH_INSTANCES} texts of each rater, and one has {fewest}: rate more texts"


def _rate(more: int) -> str:
    return f"rate {more} more {'source' if more == 1 else 'sources'}"


def _alternative(row: Json, facts: Json) -> Iterator[Finding]:
    test = row["alternative"]
    if not _short(test) and not test["passes"]:
        yield NO, f"{_wins(test)}, fewer than half"


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
        yield UNKNOWN, _unmeasured("self-preference", found, ENOUGH_REVIEWS)
    elif _preferred(found["ci"], row["better"]):
        yield NO, f"it prefers systems of its own family ({_signed(found)})"


def _preferred(ci: list[float], better: str) -> bool:
    return ci[1] < 0 if better == "lower" else ci[0] > 0


def _length(row: Json, facts: Json) -> Iterator[Finding]:
    found = row["length"]
    if found is None or found["value"] is None:
        return
    if found["ci"] is None:
        yield UNKNOWN, _unmeasured("length bias", found, ENOUGH_FOR_LENGTH)
    elif found["ci"][0] > 0 or found["ci"][1] < 0:
        longer = "longer" if (found["value"] > 0) != (row["better"] == "lower") else "shorter"
        yield NO, f"it prefers {longer} texts (r = {_signed(found)})"


def _unmeasured(what: str, found: Json, enough: int) -> str:
    """Return why a bias has no interval, and how many more sources like these would give one."""
    n, sources = found["n"], found["sources"]
    needed = max(enough, math.ceil(ENOUGH_ITEMS * sources / n)) if n else enough
    if (more := needed - sources) > 0:
        return f"an interval of {what} needs {needed} sources, and these are {sources}: {_rate(more)}"
    return f"{what} has {found['ci_reason'] or 'no reliable interval'}"


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
