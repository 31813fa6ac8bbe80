"""All answers except those of practice, as CSV: one file per task kind, one row per revision, people as pseudonyms.

``came_by`` is how an answer reached the server; it is empty in answers from before it was recorded. ``brought_by`` is
who submitted it, if that was not the rater. Comments and reasons are omitted unless the lead publishes them. Rounds
that are still blind are omitted completely (`releases.sources.blinding`).

Texts are exact, because the files are for scripts. The export for spreadsheets neutralises formulas.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from django.db.models import F

from projects import kinds
from projects.models import Outcome, Project
from projects.models.round import RETURNED
from releases.formats.rows import BATCH, csv_row, flag, utc_time

from ..sources.blinding import kept_blind, released_answers
from .notes import Notes

COLUMNS = (
    "answer",
    "round",
    "purpose",
    "unit",
    "slot",
    "repeat",
    "rater",
    "came_by",
    "brought_by",
    "revision",
    "current",
    "counted",
    "outcome",
    "skip_reason",
    "guideline",
    "unit_revision",
    "received_at",
    "active_ms",
    "flag",
    "comment",
)

#: The order in which agreement reads answers (`projects.answers.queries`), round by round.
ORDER = (
    "assignment__round_id",
    "assignment__position",
    "assignment__number",
    "assignment__repeat",
    "assignment_id",
    "revision",
)


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    answers = released_answers(project)
    if blind := kept_blind(project):
        names = project.rounds.filter(pk__in=blind).order_by("pk").values_list("name", flat=True)
        notes.counts["rounds_kept_blind"] = list(names)
    present = set(answers.order_by().values_list("assignment__round__kind", flat=True).distinct())
    for kind in kinds.all_kinds():
        if kind.key in present:
            yield f"answers/{kind.key}.csv", _rows(project, kind, notes)


def _rows(project: Project, kind: kinds.Kind, notes: Notes) -> Iterator[bytes]:
    yield csv_row([*COLUMNS, *kind.columns])
    pseudonyms = dict(project.members.with_account().values_list("user_id", "pseudonym"))
    answers = (
        released_answers(project)
        .filter(assignment__round__kind=kind.key)
        .select_related("assignment__round", "assignment__unit", "author", "guideline")
        .annotate(brought_by=F("entry__actor"))
        .order_by(*ORDER)
        .iterator(chunk_size=BATCH)
    )
    while batch := list(islice(answers, BATCH)):
        values = kind.values(a.pk for a in batch if a.outcome == Outcome.ANSWERED)
        for answer in batch:
            if answer.comment and not project.publish_comments:
                _leave_out(1, notes)
                answer.comment = ""
            for row in kind.rows(values[answer.pk]) if answer.pk in values else [{}]:
                if comments := [name for name in kind.comments if row.get(name) and not project.publish_comments]:
                    _leave_out(len(comments), notes)
                    row = {**row, **dict.fromkeys(comments, "")}
                yield csv_row([*_common(answer, pseudonyms), *(row.get(name, "") for name in kind.columns)])


def _leave_out(comments: int, notes: Notes) -> None:
    notes.counts["comments_left_out"] = notes.counts.get("comments_left_out", 0) + comments


def _common(answer: Any, pseudonyms: Mapping[int, str]) -> list[Any]:
    """Return the columns that all kinds have. ``answer`` is annotated with ``brought_by``, a user id."""
    slot = answer.assignment
    current, is_returned = slot.current_answer_id == answer.pk, slot.repeat == RETURNED
    return [
        answer.pk,
        slot.round.name,
        slot.round.purpose,
        slot.unit.key,
        "retired" if slot.is_retired else "returned" if is_returned else slot.number,
        0 if is_returned else slot.repeat,
        answer.author.pseudonym,
        answer.came_by,
        pseudonyms.get(answer.brought_by),
        answer.revision,
        flag(current),
        flag(current and slot.is_counted and answer.outcome == Outcome.ANSWERED),
        answer.outcome,
        answer.reason,
        answer.guideline.number,
        answer.shown,
        utc_time(answer.received_at),
        answer.active_ms,
        flag(answer.flag),
        answer.comment,
    ]
