"""Aggregate the labels of several people into gold, field by field. The aggregation uses plain values only."""

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any, Literal
from uuid import UUID

from measures.span_agreement import exact, shared_characters
from projects.kinds import Value
from projects.kinds.majority import AggregationResult, AnswerValue, majority, origin
from projects.models import Origin

from ...models import CueFragment, Label

CuePolicy = Literal["exact", "overlap", "ignore"]


def aggregate_label(answers: Sequence[AnswerValue], *, cue_policy: str) -> list[AggregationResult]:
    """Return results for polarity, modality and their cues.

    A value is gold if all answers or more than half of them give it; otherwise it is contested. A cue is chosen among
    the answers with the gold value. *exact* requires equal ranges in more than half of them. *overlap* requires that
    more than half share characters with one cue; the cue that shares most is taken. *ignore* takes the first cue. If a
    value is contested, so is its cue.
    """
    out = []
    for aspect in ("polarity", "modality"):
        result, agreeing = majority(aspect, answers, itemgetter(aspect))
        out += [result, _cue(f"{aspect}_cue", agreeing, result, cue_policy)]
    return out


def _cue(field: str, agreeing: Sequence[AnswerValue], value: AggregationResult, policy: str) -> AggregationResult:
    if not agreeing:
        return AggregationResult(field, Origin.CONTESTED, None)
    if policy == "ignore":
        return AggregationResult(field, value.origin, agreeing[0][0])
    if policy == "exact":
        return majority(field, agreeing, lambda v: tuple(_ranges(v[field])))[0]
    return _by_overlap(field, agreeing)


def cue_matches(given: Any, expected: Any, policy: str) -> bool | None:
    """Return whether two cues agree under the policy; None if cues are ignored."""
    if policy == "ignore":
        return None
    mine, theirs = _ranges(given), _ranges(expected)
    return bool(exact(mine, theirs) or (policy == "overlap" and shared_characters(mine, theirs) > 0))


def _by_overlap(field: str, agreeing: Sequence[AnswerValue]) -> AggregationResult:
    """Return the cue that overlaps with more than half of the cues, including itself. The largest overlap wins."""
    best: tuple[int, int, AnswerValue] | None = None
    for answer in agreeing:
        ranges = _ranges(answer[1][field])
        all_ranges = [_ranges(other[1][field]) for other in agreeing]
        agreeing_count = sum(exact(ranges, other) or shared_characters(ranges, other) > 0 for other in all_ranges)
        shares = [shared_characters(ranges, other) for other in all_ranges]
        if best is None or (agreeing_count, sum(shares)) > best[:2]:
            best = (agreeing_count, sum(shares), answer)
    assert best is not None
    if 2 * best[0] <= len(agreeing):
        return AggregationResult(field, Origin.CONTESTED, None)
    return AggregationResult(field, origin(best[0], len(agreeing)), best[2][0])


def _ranges(fragments: Any) -> list[tuple[int, int]]:
    return [(f["start"], f["end"]) for f in fragments]


SUGGESTIONS = ("accepted", "edited", "rejected")


def label_values(answers: Iterable[UUID]) -> dict[Any, Value]:
    """Return values by answer, in the form of the value serializer. Two queries."""
    labels = Label.objects.filter(answer__in=list(answers))
    columns = ("pk", "answer", "polarity", "modality", *(f"suggestions_{name}" for name in SUGGESTIONS))
    values: dict[Any, Value] = {}
    by_label: dict[int, Value] = {}
    for label, answer, polarity, modality, *counts in labels.values_list(*columns):
        value: Value = {"polarity": polarity, "modality": modality, "polarity_cue": [], "modality_cue": []}
        if counts[0] is not None:
            value["suggestions"] = dict(zip(SUGGESTIONS, counts, strict=True))
        values[answer] = by_label[label] = value
    pieces = CueFragment.objects.filter(cue__label__in=labels.values("pk")).order_by("cue", "position")
    for label, aspect, start, end, quote in pieces.values_list("cue__label", "cue__aspect", "start", "end", "quote"):
        by_label[label][f"{aspect}_cue"].append({"start": start, "end": end, "quote": quote})
    return values
