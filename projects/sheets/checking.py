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
from .writing import KEYS, answer_columns, displayable, kind_of, left_out, sheet_of

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
    assignment: Assignment
    submission: Submission


def check(round: Round, rows: Iterable[Row], tally: Tally) -> Iterator[Ready]:
    """Yield the valid rows and count all rows in ``tally``.

    Uses a few queries per batch of rows, in addition to those of the kind's own check of a value.
    """
    kind = kind_of(round)
    rest = iter(rows)
    while batch := list(islice(rest, BATCH)):
        assignments = _read_assignments(round, batch)
        texts = kind.texts({assignment.unit_id for assignment in assignments.values()})
        stored = kind.values(s.current_answer_id for s in assignments.values() if s.current_answer_id)
        for row in batch:
            tally.rows += 1
            assignment = _assignment_of(row, assignments, texts, tally)
            if assignment is not None and (
                ready := _ready(kind, row, assignment, texts[assignment.unit_id], stored, tally)
            ):
                yield ready


def _read_assignments(round: Round, batch: Sequence[Row]) -> dict[str, Assignment]:
    cells = {row.cells.get("assignment", "").strip() for row in batch}
    # Python rejects numbers of several thousand digits, and databases those of more than 18.
    ids = [int(i) for i in cells if i.isascii() and i.isdigit() and len(i) < 19]
    found = Assignment.objects.filter(round=round, pk__in=ids)
    return {str(s.pk): s for s in found.select_related("unit", "person__user", "current_answer", "round")}


def _assignment_of(
    row: Row, assignments: dict[str, Assignment], texts: dict[int, str], tally: Tally
) -> Assignment | None:
    """Return the assignment of a row. If the row's ids changed, add a fault and return None."""

    assignment = assignments.get(row.cells.get("assignment", "").strip())
    column, message = _shifted(row, assignment, texts, tally.seen)
    if message:
        tally.faults.add(row.file, row.number, column, message)
        return None
    assert assignment is not None
    tally.seen.add(assignment.pk)
    return assignment


def _shifted(row: Row, assignment: Assignment | None, texts: dict[int, str], seen: set[int]) -> tuple[str, str]:
    """Return (column, message) if a row is not the exported one, and two empty strings otherwise."""
    cell = row.cells.get("assignment", "")
    if problems := row.problems({c.name for c in KEYS} | {"text"}):
        return problems[0]
    if assignment is None or assignment.person is None:
        return "assignment", f"{cell!r} is not an assignment of this round that somebody holds"
    if assignment.pk in seen:
        return "assignment", f"assignment {assignment.pk} is also in an earlier row"
    if row.cells.get("unit", "").strip() != assignment.unit.key:
        return "unit", f"assignment {assignment.pk} belongs to unit {assignment.unit.key!r}: ids or rows were shifted"
    if "text" in row.letters and _plain(row.cells.get("text", "")) != _plain(texts[assignment.unit_id]):
        return "text", f"is not the text of assignment {assignment.pk}: texts were changed, or rows shifted"
    return "", ""


def _plain(text: str) -> str:
    """Normalise a text for comparison, because programs change line ends and spaces at the ends of cells."""
    return " ".join(displayable(text).split())


def _ready(
    kind: Kind, row: Row, assignment: Assignment, text: str, stored: dict[Any, Value], tally: Tally
) -> Ready | None:
    names = [*(c.name for c in answer_columns(assignment.round)), *left_out(assignment.round)]
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
        outcome, faults = Outcome.SKIPPED, _skip_faults(kind, assignment.round, filled)
    elif not faults:
        value, faults = _value(kind, assignment, text, filled)
    if faults:
        for column, message in faults:
            tally.faults.add(row.file, row.number, column, message)
        return None
    submission = _submission(kind, row, assignment, value, outcome, filled)
    return Ready(row, assignment, submission) if _still_open(row, assignment, submission, stored, tally) else None


def _skip_faults(kind: Kind, round: Round, filled: dict[str, str]) -> Named:
    codes = [r.code for r in kind.skip_reasons]
    if filled["skip"].strip() not in codes:
        return [("skip", f"{filled['skip']!r} is not one of {', '.join(codes)}")]
    names = [*(c.name for c in sheet_of(round).answer_columns), *left_out(round)]
    filled_names = [name for name in names if filled[name].strip()]
    return [(filled_names[0], "is filled in, but the unit is skipped: remove one of the two")] if filled_names else []


def _value(kind: Kind, assignment: Assignment, text: str, filled: dict[str, str]) -> tuple[Value | None, Named]:
    try:
        made = sheet_of(assignment.round).value(text, filled)
        checked = kind.value_serializer(data=made)
        if not checked.is_valid():
            return None, [(str(f), " ".join(map(str, m))) for f, m in checked.errors.items()]
        value: Value = checked.validated_data
        kind.check(assignment, value)
    except SheetFaults as wrong:
        return None, wrong.faults
    except Problem as wrong:
        column = (wrong.errors or [{"field": ""}])[0]["field"].removeprefix("value.")
        return None, [(column, str(wrong))]
    return value, []


def _submission(
    kind: Kind, row: Row, assignment: Assignment, value: Value | None, outcome: str, filled: dict[str, str]
) -> Submission:
    flag = filled["flag"].strip().casefold() in YES
    content = {
        "slot": assignment.pk,
        "outcome": outcome,
        "reason": filled["skip"].strip(),
        "value": value,
        "flag": flag,
        "comment": filled["comment"],
    }
    body = canonical(content)
    return Submission(
        uuid=uuids.uuid5(NAMESPACE, f"{assignment.pk} {_number(row, 'revision')} {sha256(body).hexdigest()}"),
        digest=sha256(body).hexdigest(),
        assignment=assignment.pk,
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
    cell = row.cells.get(column, "").strip()
    return int(cell) if cell.isascii() and cell.isdigit() and len(cell) < 10 else 0


def _still_open(
    row: Row, assignment: Assignment, submission: Submission, stored: dict[Any, Value], tally: Tally
) -> bool:
    """Return whether the assignment is unchanged since the export, and count the row."""
    answer = assignment.current_answer
    if answer and (
        answer.pk == submission.uuid
        or (
            answer.outcome == submission.outcome
            and stored.get(answer.pk) == submission.value
            and answer.comment == submission.comment
            and answer.flag == submission.flag
            and answer.reason == submission.reason
        )
    ):
        tally.unchanged += 1
        return False
    why = ""
    if assignment.revision != submission.revision:
        why = f"has a newer answer (revision {assignment.revision}), which is kept"
    elif assignment.unit.superseded_by_id:
        why = "has a corrected text; the new text is assigned instead"
    elif assignment.unit.revision != submission.shown:
        why = "has changed (its text or tuple); review it in the browser"
    if why:
        tally.kept_out.add(row.file, row.number, "assignment", f"unit {assignment.unit.key} {why}")
        return False
    if answer:
        tally.corrections += 1
    else:
        tally.new += 1
    return True
