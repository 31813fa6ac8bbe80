"""The label kind in a spreadsheet: a row a proposition, cues as the words of the text."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from measures import spans
from measures.consistency.labels import is_consistent
from projects.kinds import Column, Sheet, SheetFaults, Value

from ...models import Modality, Polarity, Slot

#: Between the pieces of one cue, as M3's files have it.
BETWEEN = " ... "
CUE = "The words of the text that show it, exactly as they stand there; pieces with ' ... ' between them. May be empty."
#: What a round without cues does not ask for.
CUES = ("polarity_cue", "modality_cue")
SLOTS = {slot.value: slot.label.lower() for slot in Slot}


def cells(card: Mapping[str, Any]) -> dict[str, str]:
    slots = {SLOTS[slot["slot"]]: slot["text"] for slot in card["pico"]}
    return {"text": card["text"], "role": card["role"]} | dict.fromkeys(SLOTS.values(), "") | slots


def filled(value: Value) -> dict[str, str]:
    cues = {f: BETWEEN.join(piece["quote"] for piece in value[f]) for f in CUES}
    return {"polarity": value["polarity"], "modality": value["modality"]} | cues


def value(text: str, row: Mapping[str, str]) -> Value:
    """The label that a row says. Raises `SheetFaults` for every cell that is not one."""
    faults: list[tuple[str, str]] = []
    said: Value = {
        "polarity": _choice(row, "polarity", Polarity.values, faults),
        "modality": _choice(row, "modality", Modality.values, faults),
        "polarity_cue": _cue(text, row, "polarity_cue", faults),
        "modality_cue": _cue(text, row, "modality_cue", faults),
    }
    without = said["modality"] == Modality.NO_EVIDENCE
    if not faults and not is_consistent(said["polarity"], said["modality"]):
        faults.append(("polarity", f"is {said['polarity']!r} with modality {said['modality']!r}: n/a goes with "
                                   "'no evidence', and with nothing else"))  # fmt: skip
    elif not faults and without and said["polarity_cue"]:
        faults.append(("polarity_cue", "without evidence there is no polarity to show a cue of: leave it empty"))
    if faults:
        raise SheetFaults(faults)
    return said


def _choice(row: Mapping[str, str], column: str, allowed: list[str], faults: list[tuple[str, str]]) -> str:
    given = row.get(column, "").strip()
    if given.casefold() not in allowed:
        what = f"{given!r} is not one of" if given else "is empty; expected one of"
        faults.append((column, f"{what} {', '.join(allowed)}"))
    return given.casefold()


def _cue(text: str, row: Mapping[str, str], column: str, faults: list[tuple[str, str]]) -> list[dict[str, Any]]:
    given = row.get(column, "").strip()
    if not given:
        return []
    pieces = given.split(BETWEEN)
    try:
        ranges = spans.place(text, pieces)
    except spans.SpanError as error:
        faults.append((column, f"{error}; give the words exactly as they stand in the text, and enough of them"))
        return []
    return [{"start": s, "end": e, "quote": q} for (s, e), q in zip(ranges, pieces, strict=True)]


LABEL_SHEET = Sheet(
    shown=(
        Column("role", 8), Column("population", 24), Column("intervention", 24), Column("comparator", 20),
        Column("outcome", 24), Column("text", 80),
    ),
    asked=(
        Column("polarity", 12, tuple(Polarity.values)), Column("polarity_cue", 30, note=CUE),
        Column("modality", 12, tuple(Modality.values)), Column("modality_cue", 30, note=CUE),
    ),
    cells=cells,
    value=value,
    filled=filled,
)  # fmt: skip
WITHOUT_CUES = replace(LABEL_SHEET, asked=[c for c in LABEL_SHEET.asked if c.name not in CUES])
