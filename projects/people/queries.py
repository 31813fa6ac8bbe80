"""Queries for the list of people."""

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from ..models import Answer, Member, Participant, Round


def with_activity(members: QuerySet[Member]) -> QuerySet[Member]:
    """Annotate ``open_rounds``, the number of open rounds of a member, and ``last_answer_at``."""
    answers = Answer.objects.filter(author=OuterRef("pk")).order_by("-received_at")
    rounds = Participant.objects.filter(member=OuterRef("pk"), left_at=None, round__status=Round.Status.OPEN)
    counted = rounds.order_by().values("member").annotate(n=Count("pk"))
    return members.annotate(
        last_answer_at=Subquery(answers.values("received_at")[:1]),
        open_rounds=Coalesce(Subquery(counted.values("n")), 0),
    )
