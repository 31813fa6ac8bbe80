"""Spreadsheet of the label kind: one row per proposition, with cues as words of the text."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from measures import spans
from measures.consistency.labels import is_consistent
from projects.kinds import Column, Sheet, SheetFaults, Value

from ...models import Element, Modality, Polarity

#: Separator between the pieces of one cue, as in M3's files.
BETWEEN = " ... "
#: The separator as people and autocorrection write it.
_ELLIPSIS = re.compile(r"\s*(?:\.{3}|\u2026)\s*")
CUE = "Words that show the value, exactly as in the text. Separate several pieces with ' ... '. May be empty."
#: Columns omitted in rounds without cues.
CUES = ("polarity_cue", "modality_cue")
ELEMENTS = {element.value: element.label.lower() for element in Element}


def cells(card: Mapping[str, Any]) -> dict[str, str]:
    elements = {ELEMENTS[element["element"]]: element["text"] for element in card["pico"]}
    return {"text": card["text"], "role": card["role"]} | dict.fromkeys(ELEMENTS.values(), "") | elements


def filled(value: Value) -> dict[str, str]:
    cues = {f: BETWEEN.join(piece["quote"] for piece in value[f]) for f in CUES}
    return {"polarity": value["polarity"], "modality": value["modality"]} | cues


def value(text: str, row: Mapping[str, str]) -> Value:
    """Return the label of a row. Raise `SheetFaults` with all invalid cells."""
    faults: list[tuple[str, str]] = []
    label: Value = {
        "polarity": _choice(row, "polarity", Polarity.values, faults),
        "modality": _choice(row, "modality", Modality.values, faults),
        "polarity_cue": _cue(text, row, "polarity_cue", faults),
        "modality_cue": _cue(text, row, "modality_cue", faults),
    }
    has_no_evidence = label["modality"] == Modality.NO_EVIDENCE
    if not faults and not is_consistent(label["polarity"], label["modality"]):
        faults.append(
            (
                "polarity",
                f"is {label['polarity']!r} with modality {label['modality']!r}: expected n/a "
                "exactly if the modality is 'no evidence'",
            )
        )
    elif not faults and has_no_evidence and label["polarity_cue"]:
        faults.append(("polarity_cue", "a label without evidence has no polarity cue; leave the cell empty"))
    if faults:
        raise SheetFaults(faults)
    return label


def _choice(row: Mapping[str, str], column: str, allowed: list[str], faults: list[tuple[str, str]]) -> str:
    cell = row.get(column, "").strip()
    if cell.casefold() not in allowed:
        problem = f"{cell!r} is not one of" if cell else "is empty; expected one of"
        faults.append((column, f"{problem} {', '.join(allowed)}"))
    return cell.casefold()


def _cue(text: str, row: Mapping[str, str], column: str, faults: list[tuple[str, str]]) -> list[dict[str, Any]]:
    cell = row.get(column, "").strip()
    if not cell:
        return []
    fault = ""
    for pieces in (cell.split(BETWEEN), _ELLIPSIS.split(cell)):
        try:
            ranges = spans.place(text, pieces)
        except spans.SpanError as error:
            fault = fault or str(error)
        else:
            return [{"start": s, "end": e, "quote": q} for (s, e), q in zip(ranges, pieces, strict=True)]
    faults.append((column, f"{fault}; copy the words exactly from the text, with enough words to be unique"))
    return []


LABEL_SHEET = Sheet(
    shown=(
        Column("role", 8),
        Column("population", 24),
        Column("intervention", 24),
        Column("comparator", 20),
        Column("outcome", 24),
        Column("text", 80),
    ),
    answer_columns=(
        Column("polarity", 12, tuple(Polarity.values)),
        Column("polarity_cue", 30, note=CUE),
        Column("modality", 12, tuple(Modality.values)),
        Column("modality_cue", 30, note=CUE),
    ),
    cells=cells,
    value=value,
    filled=filled,
)
WITHOUT_CUES = replace(LABEL_SHEET, answer_columns=[c for c in LABEL_SHEET.answer_columns if c.name not in CUES])
