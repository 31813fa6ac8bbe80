"""Integrity checks of assignments against the insert-only answers.

An assignment can change: it points to its newest answer, and its number decides whether that answer counts. The pointer
can be checked against the answers at any time. The number is fixed when the round is finished: row digests of the
answered assignments cover their person and number, and the log stores how many there are.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Q, QuerySet, Subquery
from django.db.models.expressions import OuterRef
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts.models import User
from audit import row_digests
from audit.log import record
from audit.models import Entry
from projects import kinds
from projects.answers.assignments import Shape
from projects.jobs import batches
from projects.models import Answer, Assignment, Decision, Member, Outcome, Reference, Round
from projects.purposes import which


@dataclass(frozen=True)
class AnswerContext:
    """Context of an answer: ids of its unit, its round and the author's account (None for an imported rater)."""

    unit: int
    round: int
    user: int | None

    @classmethod
    def of(cls, assignment: Assignment, author: Member) -> "AnswerContext":
        return cls(unit=assignment.unit_id, round=assignment.round_id, user=author.user_id)


def answer_content(
    answer: Answer, value: kinds.Value | None, context: AnswerContext, references: Sequence[tuple[int, bool]] = ()
) -> dict[str, Any]:
    """Return the hash payload of an answer. ``value`` is the stored value, None for a skipped unit.

    Answers stored before ``came_by`` existed are hashed without it, without ``entry`` and without ``context``.
    ``references`` are (decision id, is same) pairs of the decisions that were shown or compared with the answer. They
    are omitted if empty.
    """
    later = {"came_by": answer.came_by, "entry": answer.entry_id, **asdict(context)} if answer.came_by else {}
    shown_references = {"references": [[decision, same] for decision, same in sorted(references)]} if references else {}
    return {
        "uuid": str(answer.uuid),
        "assignment": answer.assignment_id,
        "author": answer.author_id,
        "revision": answer.revision,
        "outcome": answer.outcome,
        "reason": answer.reason,
        "guideline": answer.guideline_id,
        "body": answer.body_digest,
        "shown": answer.shown,
        "received_at": answer.received_at,
        "active_ms": answer.active_ms,
        "comment": answer.comment,
        "flag": answer.flag,
        "value": value,
        **later,
        **shown_references,
    }


def answer_contents(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """Return the hash payloads of a batch of answers, read from the database. Run a few queries per kind."""
    contexts = {
        pk: (kind, AnswerContext(*context))
        for pk, kind, *context in Answer.objects.filter(pk__in=[a.pk for a in answers]).values_list(
            "pk", "assignment__round__kind", "assignment__unit", "assignment__round", "author__user"
        )
    }
    by_kind: dict[str, list[UUID]] = defaultdict(list)
    for answer in answers:
        if answer.outcome == Outcome.ANSWERED:
            by_kind[contexts[answer.pk][0]].append(answer.pk)
    values = {pk: v for key, rows in by_kind.items() for pk, v in kinds.get(key).values(rows).items()}
    references: dict[UUID, list[tuple[int, bool]]] = defaultdict(list)
    stored_references = Reference.objects.filter(answer__in=[a.pk for a in answers]).order_by()
    for answer_id, decision, same in stored_references.values_list("answer", "decision", "same"):
        references[answer_id].append((decision, same))
    return [answer_content(a, values.get(a.pk), contexts[a.pk][1], references[a.pk]) for a in answers]


def decision_content(decision: Decision) -> dict[str, Any]:
    """Return the hash payload of a decision."""
    return {
        "unit": decision.unit_id,
        "kind": decision.kind,
        "field": decision.field,
        "origin": decision.origin,
        "answer": str(decision.answer_id) if decision.answer_id else None,
        "imported": decision.imported_id,
        "round": decision.round_id,
        "decided_by": decision.decided_by_id,
        "reason": decision.reason,
        "decided_at": decision.decided_at,
    }


def decision_contents(decisions: Sequence[Decision]) -> list[dict[str, Any]]:
    return [decision_content(d) for d in decisions]


#: Label of the row digests of answered assignments in finished rounds.
SETTLED = "projects.assignment when its round was finished"
FINISH = "finish round"
#: A round closed longer ago than this without a "finish round" entry was finished by an earlier version.
OLD = timedelta(hours=1)


def answered_assignments(round: Round) -> QuerySet[Assignment]:
    return Assignment.objects.filter(round=round, current_answer__isnull=False).order_by("pk")


def store_finished(round: Round, by: User | None) -> None:
    """Store row digests of a closed round's answered assignments, and log their number. Idempotent."""
    if finish_entries().filter(object_id=str(round.pk)).exists():
        return
    with batches.idempotent():  # idempotent: an assignment gets one row digest
        count = row_digests.store_digests(SETTLED, answered_assignments(round))
    with batches.batch():
        record(actor=by, verb=FINISH, obj=round, project_id=round.project_id, after={"answers": count})


def store_finished_earlier() -> int:
    """Settle the rounds that an earlier version finished, and return how many."""
    ids = [int(pk) for pk in finish_entries().values_list("object_id", flat=True)]
    closed = Round.objects.filter(status=Round.Status.CLOSED, closed_at__lt=timezone.now() - OLD).exclude(pk__in=ids)
    for round in closed:
        store_finished(round, None)
    return len(closed)


def finish_entries() -> QuerySet[Entry]:
    return Entry.objects.filter(verb=FINISH, object_type="round")


def inconsistent_assignments() -> Iterator[tuple[str, str]]:
    """Yield assignments that do not point to their newest answer, and answered ones that no longer count.

    Each check is one statement, so that answers may arrive while it runs.
    """
    answers = Answer.objects.filter(assignment=OuterRef("pk")).order_by("-revision")
    assignments: QuerySet[Any] = Assignment.objects.annotate(
        newest=Subquery(answers.values("pk")[:1]),
        reached=Coalesce(Subquery(answers.values("revision")[:1]), 0),
        by=Subquery(answers.values("author")[:1]),
    )
    wrong_pointer = Q(newest__isnull=False) & (
        Q(current_answer=None) | ~Q(current_answer=F("newest")) | Q(person=None) | ~Q(person=F("by"))
    )
    pointer_without_answer = Q(newest=None, current_answer__isnull=False)
    for pk in (
        assignments.filter(~Q(revision=F("reached")) | wrong_pointer | pointer_without_answer)
        .values_list("pk", flat=True)
        .iterator()
    ):
        yield f"projects.assignment {pk}", "it does not point to its newest answer, or the answer is by another person"
    counted_skips = Assignment.objects.counted().filter(current_answer__outcome=Outcome.SKIPPED)
    for pk in counted_skips.values_list("pk", flat=True).iterator():
        yield f"projects.assignment {pk}", "it was skipped, but it counts"
    yield from _wrong_counts()


def _wrong_counts() -> Iterator[tuple[str, str]]:
    """Yield units whose number of counted assignments is not k.

    Imported rounds are left out, because the number of raters in a file varies. Practice rounds are left out, because
    each of their people has an assignment of every unit.
    """
    free = [*which("holds_edits"), *which("gives_feedback")]
    other = Round.objects.filter(Q(purpose__in=free) | Q(sampling__units="made elsewhere"))
    units = (
        # Repeats do not count toward k, and people may give them up.
        Assignment.objects.filter(repeat=0)
        .exclude(round__in=other.values("pk"))
        .values("round", "unit", "repeat", "round__overlap", "unit__superseded_by")
        .annotate(n=Count("pk", filter=Q(number__gte=1)))
        .order_by("round", "unit", "repeat")
        .exclude(n=F("round__overlap"))
        .exclude(n=0, unit__superseded_by__isnull=False)  # the corrected text is assigned instead
    )
    blocks = _Blocks()
    for row in units.iterator():
        if blocks.has(row["round"], row["n"]):
            continue
        retired = Assignment.objects.filter(
            round=row["round"],
            unit=row["unit"],
            repeat=row["repeat"],
            number__lt=0,
            current_answer__outcome=Outcome.ANSWERED,
        )
        what = f"its unit has {row['n']} counted assignments instead of {row['round__overlap']}"
        names = [f"projects.assignment {pk}" for pk in retired.values_list("pk", flat=True)]
        yield from ((name, f"it no longer counts: {what}") for name in names)
        if not names:
            yield f"projects.round {row['round']}", f"unit {row['unit']}: {what}"
    for round in blocks.missing():
        yield (
            f"projects.round {round}",
            "fewer units of its overlap block have all their assignments than when it was opened",
        )


class _Blocks:
    """Overlap blocks of rounds, with the number of units that may still have the larger overlap."""

    def __init__(self) -> None:
        shaped = list(Round.objects.filter(sampling__block__overlap__gt=0))
        shapes = {round.pk: Shape.of(round.overlap, round.sampling) for round in shaped}
        self.left = {r.pk: [shapes[r.pk].block_overlap, shapes[r.pk].in_block(r.units_count)] for r in shaped}
        self.preparing = {r.pk for r in shaped if r.status == Round.Status.PREPARING}

    def has(self, round: int, count: int) -> bool:
        """Return whether a unit with ``count`` assignments is in the block, and count it.

        Call this method once per unit.
        """
        block = self.left.get(round)
        if block is None or block[0] != count or not block[1]:
            return False
        block[1] -= 1
        return True

    def missing(self) -> Iterator[int]:
        """Return rounds whose block has fewer complete units than planned.

        Rounds in preparation are left out, because they do not have all assignments yet.
        """
        return (round for round, (_, left) in self.left.items() if left and round not in self.preparing)


def reopened_rounds() -> Iterator[tuple[str, str]]:
    """Yield rounds that were closed and are open again, or whose answers changed after they were finished."""
    closings = Entry.objects.filter(verb="close round", object_type="round").values_list("object_id", flat=True)
    closed = {int(pk) for pk in closings}
    for round in Round.objects.filter(status=Round.Status.OPEN).iterator():
        if round.pk in closed:
            yield f"projects.round {round.pk}", "it was closed and is open again"
    watched = row_digests.tracked_model(SETTLED)
    for entry in finish_entries().iterator():
        assignments = Assignment.objects.filter(round=int(entry.object_id), current_answer__isnull=False)
        if watched and entry.after and assignments.count() != entry.after["answers"]:
            yield (
                f"projects.round {entry.object_id}",
                f"the number of answers has changed since it was finished with {entry.after['answers']}",
            )
            for pk in row_digests.undigested_among(watched, assignments):
                yield f"projects.assignment {pk}", "it was answered after its round was finished"
