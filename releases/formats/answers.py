"""All answers but those of practice as tidy CSV, one file a task kind, one row a revision, people by pseudonyms.

``came_by`` says how an answer reached us (empty in those from before that was recorded), ``brought_by`` who brought it
where that was not its rater. What people wrote beside their answers, comments and reasons, is left out unless the lead
publishes it; rounds that are judged blindly are left out whole (`releases.sources.blinding`).
Texts are exact: a script reads them. (What goes to a spreadsheet is another export, which neutralises formulas.)
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from django.db.models import F, QuerySet

from projects import kinds
from projects.models import Answer, Outcome, Project
from projects.purposes import which

from ..sources.blinding import kept_blind
from .notes import Notes
from .rows import BATCH, flag, line, time

COLUMNS = (
    "answer", "round", "purpose", "unit", "slot", "repeat", "rater", "came_by", "brought_by", "revision", "current",
    "counted", "outcome", "skip_reason", "guideline", "unit_revision", "received_at", "active_ms", "flag", "comment",
)  # fmt: skip

#: As agreement takes them (`projects.rounds.counted`), round by round.
ORDER = (
    "assignment__round_id", "assignment__position", "assignment__number", "assignment__repeat", "assignment_id",
    "revision",
)  # fmt: skip


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    found = _released(project)
    if blind := kept_blind(project):
        names = project.rounds.filter(pk__in=blind).order_by("pk").values_list("name", flat=True)
        notes.counts["rounds_kept_blind"] = list(names)
    present = set(found.order_by().values_list("assignment__round__kind", flat=True).distinct())
    for kind in kinds.all_kinds():
        if kind.key in present:
            yield f"answers/{kind.key}.csv", _rows(project, kind, notes)


def _released(project: Project) -> QuerySet[Answer]:
    found = Answer.objects.filter(assignment__round__project=project, assignment__round__purpose__in=which("counts"))
    return found.exclude(assignment__round__in=blind) if (blind := kept_blind(project)) else found


def _rows(project: Project, kind: kinds.Kind, notes: Notes) -> Iterator[bytes]:
    yield line([*COLUMNS, *kind.columns])
    pseudonyms = dict(project.members.values_list("user_id", "pseudonym"))
    answers = (
        _released(project)
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
                if said := [name for name in kind.comments if row.get(name) and not project.publish_comments]:
                    _leave_out(len(said), notes)
                    row = {**row, **dict.fromkeys(said, "")}
                yield line([*_common(answer, pseudonyms), *(row.get(name, "") for name in kind.columns)])


def _leave_out(comments: int, notes: Notes) -> None:
    notes.counts["comments_left_out"] = notes.counts.get("comments_left_out", 0) + comments


def _common(answer: Any, pseudonyms: Mapping[int, str]) -> list[Any]:
    """The columns of every kind; ``answer`` has ``brought_by`` annotated, a user's id."""
    slot = answer.assignment
    current = slot.current_answer_id == answer.pk
    return [
        answer.pk, slot.round.name, slot.round.purpose, slot.unit.key,
        "retired" if slot.is_retired else slot.number, slot.repeat, answer.author.pseudonym,
        answer.came_by, pseudonyms.get(answer.brought_by), answer.revision,
        flag(current), flag(current and slot.number >= 1 and answer.outcome == Outcome.ANSWERED),
        answer.outcome, answer.reason, answer.guideline.number, answer.shown, time(answer.received_at),
        answer.active_ms, flag(answer.flag), answer.comment,
    ]  # fmt: skip
