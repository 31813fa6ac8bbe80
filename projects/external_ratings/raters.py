"""Prepare members and answers of imported raters before the transaction that stores them."""

import uuid as uuids
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256

from django.utils import timezone

from audit.digests import canonical
from sql.bulk import BulkWriter

from ..answers.queries import Submission
from ..kinds import Value
from ..models import Answer, Assignment, CameBy, Member, Outcome, Project, Role, Round, Unit
from ..people.actions import new_pseudonyms
from ..queue.actions import new_answer

#: Maximum number of raters in a file.
MAX_RATERS = 1_000
TOO_MANY = f"the file has more than {MAX_RATERS:,} raters; split it into several files"
#: UUID namespace of the placeholder accounts that earlier versions created for raters. Their members are reused.
RATERS = uuids.UUID("0c8d5f1f-6d36-5b0c-9a51-3c1c5a3f7f02")


def members_of_raters(project: Project, names: Collection[str], rows: BulkWriter) -> dict[str, Member]:
    """Return the member of each named rater. Add new members to ``rows``.

    Run three queries, independent of the number of raters.
    """
    members = {member.rater: member for member in Member.objects.filter(project=project, rater__in=names)}
    by_address = {f"rater-{uuids.uuid5(RATERS, f'{project.pk} {name}')}@elsewhere.invalid": name for name in names}
    # Placeholder accounts are never active. Match inactive accounts only, so that nobody gets ratings by
    # signing up under one of their addresses.
    earlier = Member.objects.filter(project=project, user__email__in=by_address, user__is_active=False)
    members |= {by_address[member.user.email]: member for member in earlier.select_related("user")}
    missing = [name for name in names if name not in members]
    pseudonyms = new_pseudonyms(project, len(missing))
    added = rows.add(
        Member(project=project, rater=name, role=Role.ANNOTATOR, pseudonym=pseudonym)
        for name, pseudonym in zip(missing, pseudonyms, strict=True)
    )
    return members | {member.rater: member for member in added}


@dataclass(frozen=True)
class ExternalRating:
    """A rater's answer to a unit. ``number`` counts the raters of the unit, from 1."""

    rater: str
    unit: Unit
    position: int
    number: int
    value: Value
    repeat: int = 0


def prepare_answers(
    round: Round,
    external_ratings: Iterable[ExternalRating],
    members: Mapping[str, Member],
    entry: int,
    rows: BulkWriter,
) -> list[tuple[Answer, Value]]:
    """Add an assignment and an answer for each rating to ``rows``. The caller stores the typed rows.

    ``entry`` is the id reserved for the log entry of the import.
    """
    submissions, assignments, rating_list = [], [], list(external_ratings)
    for rating in rating_list:
        content = {"unit": rating.unit.pk, "rater": rating.rater, "repeat": rating.repeat, "value": rating.value}
        submission = Submission(
            uuid=uuids.uuid4(),
            digest=sha256(canonical(content)).hexdigest(),
            assignment=0,
            revision=0,
            kind=round.kind,
            outcome=Outcome.ANSWERED,
            shown=rating.unit.revision,
            value=rating.value,
            came_by=CameBy.IMPORT,
            entry=entry,
        )
        submissions.append(submission)
        assignments.append(
            Assignment(
                round=round,
                unit=rating.unit,
                number=rating.number,
                repeat=rating.repeat,
                position=rating.position,
                person=members[rating.rater],
                revision=1,
                current_answer_id=submission.uuid,
            )
        )
    now = timezone.now()
    answers = [
        new_answer(assignment, round, submission, rating.value, [], author=members[rating.rater], now=now)
        for assignment, submission, rating in zip(rows.add(assignments), submissions, rating_list, strict=True)
    ]
    rows.add(answers)
    return [(answer, rating.value) for answer, rating in zip(answers, rating_list, strict=True)]
