"""Check the rows of a filled-in sheet and report faults by cell."""

import uuid as uuids
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from typing import Any

from api.problems import Problem
from audit.digests import canonical

from ..answers.queries import MAX_COMMENT, Submission
from ..kinds import Kind, SheetFaults, Value
from ..models import Assignment, CameBy, Outcome, Round
from ..spreadsheets.reading import Row
from ..uploads.faults import Faults
from .writing import KEYS, asked, kind_of, left_out, sheet_of, shown

BATCH = 200
#: Values that set a flag.
YES = ("yes", "true", "1", "x")
#: (column, message) of each fault.
Named = list[tuple[str, str]]
#: UUID namespace of submissions from sheets: equal cells of an assignment give the same submission UUID.
NAMESPACE = uuids.UUID("4f6f1c1e-6a3c-5a0e-9d5c-7a3f0f3f6b11")


@dataclass
class Tally:
    """Counts and faults of a sheet. ``kept_out`` are valid rows whose assignment or unit changed since the export."""

    rows: int = 0
    new: int = 0
    corrections: int = 0
    unchanged: int = 0
    empty: int = 0
    faults: Faults = field(default_factory=Faults)
    kept_out: Faults = field(default_factory=Faults)
    seen: set[int] = field(default_factory=set)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Ready:
    """A valid row with its assignment and submission."""

    row: Row
    slot: Assignment
    submission: Submission


def check(round: Round, rows: Iterable[Row], tally: Tally) -> Iterator[Ready]:
    """Yield the valid rows and count all rows in ``tally``.

    Uses a few queries per batch of rows, in addition to those of the kind's own check of a value.
    """
    kind = kind_of(round)
    rest = iter(rows)
    while batch := list(islice(rest, BATCH)):
        slots = _slots(round, batch)
        texts = kind.texts({slot.unit_id for slot in slots.values()})
        said = kind.values(s.current_answer_id for s in slots.values() if s.current_answer_id)
        for row in batch:
            tally.rows += 1
            slot = _slot_of(row, slots, texts, tally)
            if slot is not None and (ready := _ready(kind, row, slot, texts[slot.unit_id], said, tally)):
                yield ready


def _slots(round: Round, batch: Sequence[Row]) -> dict[str, Assignment]:
    given = {row.cells.get("assignment", "").strip() for row in batch}
    # Python rejects numbers of several thousand digits, and databases those of more than 18.
    ids = [int(i) for i in given if i.isascii() and i.isdigit() and len(i) < 19]
    found = Assignment.objects.filter(round=round, pk__in=ids)
    return {str(s.pk): s for s in found.select_related("unit", "person__user", "current_answer", "round")}


def _slot_of(row: Row, slots: dict[str, Assignment], texts: dict[int, str], tally: Tally) -> Assignment | None:
    """Return the assignment of a row. If the row's ids changed, add a fault and return None."""

    slot = slots.get(row.cells.get("assignment", "").strip())
    column, message = _shifted(row, slot, texts, tally.seen)
    if message:
        tally.faults.add(row.file, row.number, column, message)
        return None
    assert slot is not None
    tally.seen.add(slot.pk)
    return slot


def _shifted(row: Row, slot: Assignment | None, texts: dict[int, str], seen: set[int]) -> tuple[str, str]:
    """Return (column, message) if a row is not the exported one, and two empty strings otherwise."""
    given = row.cells.get("assignment", "")
    if problems := row.problems({c.name for c in KEYS} | {"text"}):
        return problems[0]
    if slot is None or slot.person is None:
        return "assignment", f"{given!r} is not an assignment of this round that somebody holds"
    if slot.pk in seen:
        return "assignment", f"assignment {slot.pk} is also in an earlier row"
    if row.cells.get("unit", "").strip() != slot.unit.key:
        return "unit", f"assignment {slot.pk} belongs to unit {slot.unit.key!r}: ids or rows were shifted"
    if "text" in row.letters and _plain(row.cells.get("text", "")) != _plain(texts[slot.unit_id]):
        return "text", f"is not the text of assignment {slot.pk}: texts were changed, or rows shifted"
    return "", ""


def _plain(text: str) -> str:
    """Normalise a text for comparison, because programs change line ends and spaces at the ends of cells."""
    return " ".join(shown(text).split())


def _ready(kind: Kind, row: Row, slot: Assignment, text: str, said: dict[Any, Value], tally: Tally) -> Ready | None:
    names = [*(c.name for c in asked(slot.round)), *left_out(slot.round)]
    filled = {name: row.cells.get(name, "") for name in names}
    if filled["flag"].strip().casefold() in ("false", "no", "0"):
        filled["flag"] = ""  # an unticked check box
    if not any(v.strip() for v in filled.values()):
        tally.empty += 1
        return None
    faults = row.problems(names)
    if len(filled["comment"]) > MAX_COMMENT:
        faults.append(("comment", f"has {len(filled['comment']):,} characters; expected at most {MAX_COMMENT:,}"))
    if filled["flag"].strip() and filled["flag"].strip().casefold() not in YES:
        faults.append(("flag", f"{filled['flag']!r} is not yes: write yes, or leave it empty"))
    value, outcome = None, Outcome.ANSWERED
    reason = filled["skip"].strip()
    if not faults and reason:
        outcome, faults = Outcome.SKIPPED, _skip_faults(kind, slot.round, filled)
    elif not faults:
        value, faults = _value(kind, slot, text, filled)
    if faults:
        for column, message in faults:
            tally.faults.add(row.file, row.number, column, message)
        return None
    submission = _submission(kind, row, slot, value, outcome, filled)
    return Ready(row, slot, submission) if _still_open(row, slot, submission, said, tally) else None


def _skip_faults(kind: Kind, round: Round, filled: dict[str, str]) -> Named:
    codes = [r.code for r in kind.skip_reasons]
    if filled["skip"].strip() not in codes:
        return [("skip", f"{filled['skip']!r} is not one of {', '.join(codes)}")]
    names = [*(c.name for c in sheet_of(round).asked), *left_out(round)]
    given = [name for name in names if filled[name].strip()]
    return [(given[0], "is filled in, but the unit is skipped: remove one of the two")] if given else []


def _value(kind: Kind, slot: Assignment, text: str, filled: dict[str, str]) -> tuple[Value | None, Named]:
    try:
        made = sheet_of(slot.round).value(text, filled)
        checked = kind.value_serializer(data=made)
        if not checked.is_valid():
            return None, [(str(f), " ".join(map(str, m))) for f, m in checked.errors.items()]
        value: Value = checked.validated_data
        kind.check(slot, value)
    except SheetFaults as wrong:
        return None, wrong.faults
    except Problem as wrong:
        column = (wrong.errors or [{"field": ""}])[0]["field"].removeprefix("value.")
        return None, [(column, str(wrong))]
    return value, []


def _submission(
    kind: Kind, row: Row, slot: Assignment, value: Value | None, outcome: str, filled: dict[str, str]
) -> Submission:
    flag = filled["flag"].strip().casefold() in YES
    content = {
        "slot": slot.pk,
        "outcome": outcome,
        "reason": filled["skip"].strip(),
        "value": value,
        "flag": flag,
        "comment": filled["comment"],
    }
    body = canonical(content)
    return Submission(
        uuid=uuids.uuid5(NAMESPACE, f"{slot.pk} {_number(row, 'revision')} {sha256(body).hexdigest()}"),
        digest=sha256(body).hexdigest(),
        assignment=slot.pk,
        revision=_number(row, "revision"),
        kind=kind.key,
        outcome=outcome,
        shown=_number(row, "shown"),
        came_by=CameBy.SHEET,
        value=value,
        reason=filled["skip"].strip(),
        comment=filled["comment"],
        flag=flag,
    )


def _number(row: Row, column: str) -> int:
    given = row.cells.get(column, "").strip()
    return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else 0


def _still_open(row: Row, slot: Assignment, submission: Submission, said: dict[Any, Value], tally: Tally) -> bool:
    """Return whether the assignment is unchanged since the export, and count the row."""
    answer = slot.current_answer
    if answer and (
        answer.pk == submission.uuid
        or (
            answer.outcome == submission.outcome
            and said.get(answer.pk) == submission.value
            and answer.comment == submission.comment
            and answer.flag == submission.flag
            and answer.reason == submission.reason
        )
    ):
        tally.unchanged += 1
        return False
    why = ""
    if slot.revision != submission.revision:
        why = f"has a newer answer (revision {slot.revision}), which is kept"
    elif slot.unit.superseded_by_id:
        why = "has a corrected text; the new text is assigned instead"
    elif slot.unit.revision != submission.shown:
        why = "has changed (its text or tuple); review it in the browser"
    if why:
        tally.kept_out.add(row.file, row.number, "assignment", f"unit {slot.unit.key} {why}")
        return False
    if answer:
        tally.corrections += 1
    else:
        tally.new += 1
    return True
