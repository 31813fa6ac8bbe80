"""Participant links for leads: state and progress of each. The number of queries per page is fixed."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, OuterRef, Q, QuerySet, Subquery, Sum

from ..models import Answer, Assignment, Consent, Outcome, Participant, ParticipantLink, Round

STATES = (
    "not opened",
    "opened",
    "agreed",
    "asked again",
    "working",
    "done",
    "taken out",
    "withdrawn",
    "expired",
    "revoked",
    "shared",
    "full",
)


def links_of(round: Round) -> QuerySet[ParticipantLink]:
    """Return the links of a round, oldest first."""
    return (
        round.participant_links.select_related("member__user", "parent")
        .annotate(
            given_at=Max("consents__at", filter=Q(consents__what="given")),
            withdrawn_at=Max("consents__at", filter=Q(consents__what="withdrawn")),
        )
        .order_by("pk")
    )


def rows(round: Round, links: Sequence[Any], *, now: datetime) -> list[dict[str, Any]]:
    """Return one row for each link from `links_of`."""
    members = [link.member_id for link in links if link.member_id]
    by_person: dict[int, dict[str, Any]] = {
        r["author"]: dict(r)
        for r in Answer.objects.filter(assignment__round=round, author__in=members)
        .values("author")
        .annotate(
            answered=Count("pk", filter=Q(current_of__isnull=False, outcome=Outcome.ANSWERED)),
            skipped=Count("pk", filter=Q(current_of__isnull=False, outcome=Outcome.SKIPPED)),
            ms=Sum("active_ms"),
            last=Max("received_at"),
        )
    }
    assignments = Assignment.objects.filter(round=round)
    assignment_counts = {
        r["person"]: r
        for r in assignments.filter(person__in=members)
        .values("person")
        .annotate(units=Count("unit", distinct=True), open=Count("pk", filter=Q(current_answer=None, number__gte=1)))
    }
    unclaimed = assignments.counted().unanswered().filter(person=None).exists()
    at_work = set(
        Participant.objects.filter(round=round, left_at=None, member__in=members).values_list("member", flat=True)
    )
    out = []
    for link in links:
        own_counts: dict[str, Any] = by_person.get(link.member_id, {"answered": 0, "skipped": 0, "ms": 0, "last": None})
        own_assignments = assignment_counts.get(link.member_id, {"units": 0, "open": 0})
        done = own_counts["answered"] + own_counts["skipped"]
        nothing_left = not round.is_open or (
            own_assignments["open"] == 0
            and (not unclaimed or round.has_known_share or own_assignments["units"] >= round.units_count)
        )
        seen = [at for at in (own_counts["last"], link.member.user.last_login if link.member else link.opened_at) if at]
        seconds = (own_counts["ms"] or 0) / 1000
        state = _state(link, now, answered=done, has_left=link.member_id not in at_work, nothing_left=nothing_left)
        out.append(
            {
                "id": link.pk,
                "label": link.label,
                "capacity": link.capacity,
                "used": link.used,
                "came_by": link.parent_id,
                "pseudonym": link.member.pseudonym if link.member else "",
                "state": state,
                "agreed_at": link.given_at if link.agreed else None,
                "withdrawn_at": link.withdrawn_at,
                "answered": own_counts["answered"],
                "skipped": own_counts["skipped"],
                "seconds_an_answer": seconds / done if done and seconds else None,
                "last_seen_at": max(seen) if seen else None,
                "created_at": link.created_at,
                "expires_at": link.expires_at,
            }
        )
    return out


def _state(link: ParticipantLink, now: datetime, *, answered: int, has_left: bool, nothing_left: bool) -> str:
    """Return the state of the link or of its person, one of `STATES`."""
    if link.revoked_at:
        return "revoked"
    if link.member is not None and not link.agreed:
        return "withdrawn"
    if link.member is not None and nothing_left and answered:
        return "done"
    if link.expires_at <= now:
        return "expired"
    if link.is_shared:
        return "full" if link.used >= link.capacity else "shared"
    if link.member is None:
        return "opened" if link.opened_at else "not opened"
    if has_left:
        return "taken out"
    if not link.stands:
        return "asked again"
    return "working" if answered else "agreed"


def broken_consents() -> Iterator[tuple[str, str]]:
    """Yield participant links whose agreed text differs from their newest consent."""
    newest = Consent.objects.filter(link=OuterRef("pk")).order_by("-pk")
    links = ParticipantLink.objects.annotate(
        what=Subquery(newest.values("what")[:1]), digest=Subquery(newest.values("digest")[:1])
    ).order_by()
    for pk, agreed, what, digest in links.values_list("pk", "agreed", "what", "digest").iterator():
        if agreed != (digest if what == Consent.What.GIVEN else ""):
            yield f"projects.participantlink {pk}", "its agreed text differs from its newest consent"
