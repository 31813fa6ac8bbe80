"""The labels of answers as plain values: columns, not objects, since the agreement of a round asks for all of them."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from projects.kinds import Value

from ...models import CueFragment, Label

SUGGESTIONS = ("accepted", "edited", "rejected")


def said(answers: Iterable[UUID]) -> dict[Any, Value]:
    """Value by answer, as the value serializer has it; two queries however many."""
    found = Label.objects.filter(answer__in=list(answers))
    columns = ("pk", "answer", "polarity", "modality", *(f"suggestions_{name}" for name in SUGGESTIONS))
    values: dict[Any, Value] = {}
    by_label: dict[int, Value] = {}
    for label, answer, polarity, modality, *counts in found.values_list(*columns):
        value: Value = {"polarity": polarity, "modality": modality, "polarity_cue": [], "modality_cue": []}
        if counts[0] is not None:
            value["suggestions"] = dict(zip(SUGGESTIONS, counts, strict=True))
        values[answer] = by_label[label] = value
    pieces = CueFragment.objects.filter(cue__label__in=found.values("pk")).order_by("cue", "position")
    for label, aspect, start, end, quote in pieces.values_list("cue__label", "cue__aspect", "start", "end", "quote"):
        by_label[label][f"{aspect}_cue"].append({"start": start, "end": end, "quote": quote})
    return values
