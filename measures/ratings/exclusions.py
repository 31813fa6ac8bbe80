"""What is left out of figures, by rules declared beforehand; figures are given with it and without."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from measures.ratings.judgements import Criterion, Judgement, Preference
from measures.ratings.raters import FAST, fast_pages, too_fast
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

    @classmethod
    def declared(cls, options: Mapping[str, Any]) -> Exclusions:
        """As a round declares them: ``exclude_checks`` in per cent, ``exclude_fast``."""
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
    """(judgements and preferences that stay; for each rule ``rule``, ``raters``, and how many ``judgements`` it leaves
    out, preferences among them; the first that applies counts). ``checks``: rater -> (failed, had)."""
    failed = {
        rater for rater, (n, had) in checks.items()
        if (rules.failed_checks is not None and n >= rules.failed_checks)
        or (rules.failed_share is not None and had and n / had > rules.failed_share)
    }  # fmt: skip
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

    kept = [each for each in judgements if stays(each.rater, (each.rater, each.source, each.item, each.repeat) in fast)]
    chosen = [each for each in preferences if stays(each.rater, _pair(each) in fast_pairs)]
    left_out = [{"rule": rule, "raters": sorted(who), "judgements": n} for rule, (who, n) in sorted(of_rule.items())]
    return kept, chosen, left_out


def _pair(each: Preference) -> tuple[str, Hashable, Hashable, str, str, int]:
    return each.rater, each.source, each.item, each.left, each.right, each.repeat


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
