"""What is left out of figures, by rules declared beforehand; figures are given with it and without."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from measures.ratings.judgements import Criterion, Judgement
from measures.ratings.raters import FAST, fast_pages
from measures.ratings.rows import Rows

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Exclusions:
    """``raters`` by name; raters who failed so many checks (``failed_checks``) or a larger share of theirs than
    ``failed_share``; pages implausibly fast (``fast``, by `raters.FAST`)."""

    raters: frozenset[str] = frozenset()
    failed_checks: int | None = None
    failed_share: float | None = None
    fast: bool = False

    @property
    def any(self) -> bool:
        return bool(self.raters or self.fast) or self.failed_checks is not None or self.failed_share is not None


def excluded(
    judgements: Sequence[Judgement], rules: Exclusions, checks: Mapping[str, tuple[int, int]]
) -> tuple[list[Judgement], list[Json]]:
    """(what stays, for each rule ``rule``, ``raters`` and how many ``judgements`` it leaves out, the first that applies
    counting). ``checks``: rater -> (failed, had)."""
    failed = {
        rater for rater, (n, had) in checks.items()
        if (rules.failed_checks is not None and n >= rules.failed_checks)
        or (rules.failed_share is not None and had and n / had > rules.failed_share)
    }  # fmt: skip
    fast = fast_pages(Rows.of(judgements)) if rules.fast else set()
    of_rule: dict[str, tuple[set[str], int]] = {}
    kept = []
    for each in judgements:
        if each.rater in rules.raters:
            rule = "by name"
        elif each.rater in failed:
            rule = "failed checks"
        elif (each.rater, each.source, each.item, each.repeat) in fast:
            rule = f"too fast: {FAST}"
        else:
            kept.append(each)
            continue
        raters, n = of_rule.get(rule, (set(), 0))
        of_rule[rule] = raters | {each.rater}, n + 1
    return kept, [
        {"rule": rule, "raters": sorted(raters), "judgements": n} for rule, (raters, n) in sorted(of_rule.items())
    ]


Values = Mapping[str, float | str | None]


def check_failed(of_text: Values, of_degraded: Values, criteria: Iterable[Criterion]) -> bool:
    """Whether a rater missed a degraded text: on no criterion with a direction is it worse than the text it was made
    from. Values by criterion, of one page; N/A tells nothing."""
    for criterion in criteria:
        if criterion.better and criterion.key in of_text and criterion.key in of_degraded:
            was, now = criterion.number(of_text[criterion.key]), criterion.number(of_degraded[criterion.key])
            if was is not None and now is not None and (now < was if criterion.better == "higher" else now > was):
                return False
    return True
