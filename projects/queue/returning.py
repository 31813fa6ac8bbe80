"""Keep returning gold items from people who know their answer (docs/decisions/0034-returning-gold-items.md).

Such a person gets a retired assignment of the item, so that the item is never assigned to them, like a unit that they
skipped.
"""

from collections.abc import Iterable, Set

from django.db.models import Exists, F, OuterRef

from ..models import Assignment, Decision, Member, Origin, Participant, Round
from ..models.round import RETURNED
from ..purposes import which

#: Retired numbers are negative and unique. Rows are inserted with a number that no row can have, then get their own.
_BEFORE_ID = 2**50


def known_items(member: Member, units: Iterable[int], kind: str) -> Set[int]:
    """Return the units whose answer a person knows. Three queries.

    The person practised with them, decided them as a curator, or was shown the decision on the own answer.
    """
    units = list(units)
    own = Assignment.objects.filter(unit__in=units, person=member, round__kind=kind)
    practised = own.filter(round__purpose__in=which("gives_feedback"))
    decided = Decision.objects.filter(unit__in=units, kind=kind, origin__in=(Origin.CURATED, Origin.SINGLE))
    by_member = decided.filter(answer__author=member) | decided.filter(
        origin=Origin.CURATED, decided_by__isnull=False, decided_by=member.user_id
    )
    known = set(practised.values_list("unit", flat=True)) | set(by_member.order_by().values_list("unit", flat=True))
    if member.project.show_adjudication:
        curated = Decision.objects.filter(unit=OuterRef("unit"), kind=kind, origin=Origin.CURATED)
        shown = own.filter(Exists(curated), current_answer__isnull=False, repeat=0)
        known |= set(shown.values_list("unit", flat=True))
    return known


def withhold_known(round: Round, member: Member) -> None:
    """Withhold the returning items of a round whose answer a person knows."""
    if round.returns_gold:
        items = Assignment.objects.filter(round=round).returned().order_by().values_list("unit", flat=True).distinct()
        withhold(round, member, known_items(member, items, round.kind))


def withhold(round: Round, member: Member, units: Set[int]) -> None:
    """Withhold returning items from a person: assigned ones that are unanswered, and all others."""
    own = Assignment.objects.filter(round=round, person=member, unit__in=units).returned()
    had = set(own.values_list("unit", flat=True))
    own.counted().unanswered().update(number=-F("pk"))
    rows = Assignment.objects.bulk_create(
        Assignment(
            round=round, unit_id=unit, number=-_BEFORE_ID - member.pk, repeat=RETURNED, position=0, person=member
        )
        for unit in sorted(units - had)
    )
    Assignment.objects.filter(pk__in=[row.pk for row in rows]).update(number=-F("pk"))


def withhold_practised(practice: Round, member: Member) -> None:
    """Withhold the units of a practice round that a person joins from the returning items of other open rounds."""
    at_work = Participant.objects.filter(member=member, left_at=None).values("round")
    for round in Round.objects.filter(status=Round.Status.OPEN, kind=practice.kind, pk__in=at_work):
        withhold_known(round, member)


def own_items(round: Round, member: int) -> int:
    """Return how many returning items a person has or can get in a round. No query without returning items."""
    if not round.returns_gold:
        return 0
    own = Assignment.objects.filter(round=round, person=member).returned()
    if round.has_known_share:
        return (own.counted() | own.filter(current_answer__isnull=False)).count()
    withheld = own.filter(number__lt=0, current_answer=None)
    return max(0, int(round.sampling["returned"]["items"]) - withheld.count())
