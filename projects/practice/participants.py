"""Look-up and locking of participations."""

from django.db.models import QuerySet

from accounts.models import User
from api.problems import NotFound
from sql.compiled import CompiledSelect

from ..models import Participant, Round
from .actions import require_consent


def _at_work(round: int, user: int) -> QuerySet[Participant]:
    participants = Participant.objects.select_related("member")
    return participants.filter(round=round, member__user=user, member__left_at=None, left_at=None)


_PARTICIPANT = CompiledSelect(lambda round, user: _at_work(round, user)[:1], round=int, user=int)


# Also locks the participation (see `queue.assignments.top_up`).
PARTICIPANT_LOCK = CompiledSelect(
    lambda round, user: _at_work(round, user).select_for_update(of=("self",), no_key=True)[:1], round=int, user=int
)


def participant_of(user: User, round: Round) -> Participant:
    """Return the user's participation in a round. Raise `NotFound` or `ConsentNeeded`."""
    return require_participant(_PARTICIPANT.first(round=round.pk, user=user.pk), user, round)


def require_participant(participant: Participant | None, user: User, round: Round) -> Participant:
    if participant is None:
        raise NotFound("You are not a participant of this round.")
    require_consent(user, round)
    return participant
