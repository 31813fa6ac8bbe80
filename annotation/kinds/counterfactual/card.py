"""What a person is shown of a target that is to be rewritten: its tuple, its label in force, and drafts by rule."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from measures.counterfactual_drafts import Target, drafts
from measures.counterfactual_modality import OF_M3
from measures.counterfactual_words import BOOSTERS, HEDGES
from measures.counterfactuals import Kind, Labels, allowed
from measures.spans import Range

from ...models import PicoSlot, Proposition
from ...values.counterfactuals import labels_of, places
from ...values.in_force import CueValue, Gold
from .. import clusters
from .serializers import FIELDS


def shown(target: Proposition, gold: Mapping[str, Gold], *, fields: Iterable[str], with_drafts: bool) -> dict[str, Any]:
    """The card of a target; prefetch ``cluster__pico__fragments``."""
    known = _known(target, target.cluster.pico.all(), gold)
    return {
        "text": target.text,
        "cluster": target.cluster.key,
        "pico": clusters.slots(target.cluster),
        "polarity": known.labels and known.labels.polarity,
        "modality": known.labels and known.labels.modality,
        "polarity_cue": [{"start": start, "end": end} for start, end in known.polarity_cue],
        "modality_cue": [{"start": start, "end": end} for start, end in known.modality_cue],
        "asked": [_asked(name, known, with_drafts) for name in fields],
        "hedges": list(HEDGES),
        "boosters": list(BOOSTERS),
    }


def _known(target: Proposition, slots: Collection[PicoSlot], gold: Mapping[str, Gold]) -> Target:
    return Target(
        target.text, labels_of(gold), _marked(gold.get("polarity_cue")), _marked(gold.get("modality_cue")),
        places(slots),
    )  # fmt: skip


def _marked(cue: Gold | None) -> list[Range]:
    """Where a cue in force stands; nowhere where there is none, or a file's was not found in the text."""
    found = cue.value if cue else None
    return [(f.start, f.end) for f in found.fragments] if isinstance(found, CueValue) else []


def _asked(field: str, target: Target, with_drafts: bool) -> dict[str, Any]:
    kind = FIELDS[field]
    offered = drafts(kind, target) if with_drafts else []
    return {
        "field": field,
        "should": expected(kind, target.labels) if target.labels else "",
        "drafts": [{"rule": draft.rule.value, "text": draft.text} for draft in offered],
    }


def expected(kind: Kind, before: Labels) -> str:
    """What the label of a rewriting is to be, in words."""
    if not allowed(kind, before):
        return "does not apply to this label"
    if before.modality == "no evidence":
        return "should become a claim"
    match kind:
        case Kind.NEGATION:
            return "polarity may change, modality stays"
        case Kind.ANTONYM:
            return f"polarity should no longer be {before.polarity}"
        case Kind.NO_EFFECT:
            to = "positive or negative" if before.polarity == "no effect" else "no effect"
            return f"polarity should become {to}"
        case Kind.NO_EVIDENCE:
            return "should become no evidence"
        case Kind.MODALITY:
            return f"modality should become {OF_M3[before.modality]}"
