"""How labels of several people become gold, field by field. Pure: values in, verdicts out."""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Literal

from measures.span_agreement import exact, shared_characters
from projects.kinds.majority import Said, Verdict, majority, origin
from projects.models import Origin

CuePolicy = Literal["exact", "overlap", "ignore"]


def adopt_label(answers: Sequence[Said], *, cue_policy: str) -> list[Verdict]:
    """Verdicts for polarity, modality and their cues.

    A value is gold when every answer gives it, or more than half of them; else it is contested. A cue is looked for
    among the answers that gave the gold value: *exact* wants the same ranges from more than half of those, *overlap*
    wants more than half to share characters with one cue (the one that shares most is taken), *ignore* takes the
    first. Where the value is contested so is its cue.
    """
    out = []
    for aspect in ("polarity", "modality"):
        verdict, agreeing = majority(aspect, answers, itemgetter(aspect))
        out += [verdict, _cue(f"{aspect}_cue", agreeing, verdict, cue_policy)]
    return out


def _cue(field: str, agreeing: Sequence[Said], value: Verdict, policy: str) -> Verdict:
    if not agreeing:
        return Verdict(field, Origin.CONTESTED, None)
    if policy == "ignore":
        return Verdict(field, value.origin, agreeing[0][0])
    if policy == "exact":
        return majority(field, agreeing, lambda v: tuple(_ranges(v[field])))[0]
    return _by_overlap(field, agreeing)


def cue_matches(said: Any, expected: Any, policy: str) -> bool | None:
    """Whether one cue is as good as another by the policy; None where cues are not looked at."""
    if policy == "ignore":
        return None
    mine, theirs = _ranges(said), _ranges(expected)
    return bool(exact(mine, theirs) or (policy == "overlap" and shared_characters(mine, theirs) > 0))


def _by_overlap(field: str, agreeing: Sequence[Said]) -> Verdict:
    """The cue that overlaps with those of more than half, itself counted; the greatest shared part wins."""
    best: tuple[int, int, Said] | None = None
    for said in agreeing:
        mine = _ranges(said[1][field])
        theirs = [_ranges(other[1][field]) for other in agreeing]
        together = sum(exact(mine, other) or shared_characters(mine, other) > 0 for other in theirs)
        shares = [shared_characters(mine, other) for other in theirs]
        if best is None or (together, sum(shares)) > best[:2]:
            best = (together, sum(shares), said)
    assert best is not None
    if 2 * best[0] <= len(agreeing):
        return Verdict(field, Origin.CONTESTED, None)
    return Verdict(field, origin(best[0], len(agreeing)), best[2][0])


def _ranges(fragments: Any) -> list[tuple[int, int]]:
    return [(f["start"], f["end"]) for f in fragments]
