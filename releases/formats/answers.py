"""All answers as tidy CSV, one file a task kind, one row a revision, people under their pseudonyms.

Texts are exact: a script reads them. (What goes to a spreadsheet is another export, which neutralises formulas.)
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from projects import kinds
from projects.models import Answer, Outcome, Project

from .notes import Notes
from .rows import BATCH, flag, line, time

COLUMNS = (
    "answer", "round", "purpose", "unit", "slot", "repeat", "rater", "revision", "current", "counted", "outcome",
    "skip_reason", "guideline", "unit_revision", "received_at", "active_ms", "flag", "comment",
)  # fmt: skip


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    found = Answer.objects.filter(assignment__round__project=project)
    present = set(found.order_by().values_list("assignment__round__kind", flat=True).distinct())
    for kind in kinds.all_kinds():
        if kind.key in present:
            yield f"answers/{kind.key}.csv", _rows(project, kind)


def _rows(project: Project, kind: kinds.Kind) -> Iterator[bytes]:
    yield line([*COLUMNS, *kind.columns])
    answers = (
        Answer.objects.filter(assignment__round__project=project, assignment__round__kind=kind.key)
        .select_related("assignment__round", "assignment__unit", "author", "guideline")
        .order_by("assignment__round_id", "assignment__position", "assignment_id", "revision")
        .iterator(chunk_size=BATCH)
    )
    while batch := list(islice(answers, BATCH)):
        values = kind.values([a for a in batch if a.outcome == Outcome.ANSWERED])
        for answer in batch:
            row = kind.row(values[answer.pk]) if answer.pk in values else {}
            yield line([*_common(answer), *(row.get(name, "") for name in kind.columns)])


def _common(answer: Answer) -> list[Any]:
    slot = answer.assignment
    current = slot.current_answer_id == answer.pk
    return [
        answer.pk, slot.round.name, slot.round.purpose, slot.unit.key,
        "retired" if slot.is_retired else slot.number, slot.repeat, answer.author.pseudonym, answer.revision,
        flag(current), flag(current and slot.number >= 1 and answer.outcome == Outcome.ANSWERED),
        answer.outcome, answer.reason, answer.guideline.number, answer.shown, time(answer.received_at),
        answer.active_ms, flag(answer.flag), answer.comment,
    ]  # fmt: skip
