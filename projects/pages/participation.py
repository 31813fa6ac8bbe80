"""Participant links as their lead sees them: who opened, agreed, works, is done. A fixed number of queries a page."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Q, QuerySet, Sum

from ..models import Answer, Assignment, Outcome, Participant, ParticipantLink, Round

STATES = ("not opened", "opened", "agreed", "asked again", "working", "done", "taken out", "withdrawn", "expired",
          "revoked", "shared", "full")  # fmt: skip


def links_of(round: Round) -> QuerySet[ParticipantLink]:
    """The links of a round, oldest first."""
    return round.participant_links.select_related("member__user", "parent").annotate(
        given_at=Max("consents__at", filter=Q(consents__what="given")),
        withdrawn_at=Max("consents__at", filter=Q(consents__what="withdrawn")),
    ).order_by("pk")  # fmt: skip


def rows(round: Round, links: Sequence[Any], *, now: datetime) -> list[dict[str, Any]]:
    """A row each of links that `links_of` gave."""
    members = [link.member_id for link in links if link.member_id]
    said: dict[int, dict[str, Any]] = {
        r["author"]: dict(r)
        for r in Answer.objects.filter(assignment__round=round, author__in=members).values("author").annotate(
            answered=Count("pk", filter=Q(current_of__isnull=False, outcome=Outcome.ANSWERED)),
            skipped=Count("pk", filter=Q(current_of__isnull=False, outcome=Outcome.SKIPPED)),
            ms=Sum("active_ms"), last=Max("received_at"),
        )
    }  # fmt: skip
    slots = Assignment.objects.filter(round=round)
    held = {
        r["person"]: r
        for r in slots.filter(person__in=members).values("person").annotate(
            units=Count("unit", distinct=True), open=Count("pk", filter=Q(current_answer=None, number__gte=1)),
        )
    }  # fmt: skip
    unclaimed = slots.counted().unanswered().filter(person=None).exists()
    at_work = set(
        Participant.objects.filter(round=round, left_at=None, member__in=members).values_list("member", flat=True)
    )
    out = []
    for link in links:
        mine: dict[str, Any] = said.get(link.member_id, {"answered": 0, "skipped": 0, "ms": 0, "last": None})
        holds = held.get(link.member_id, {"units": 0, "open": 0})
        done = mine["answered"] + mine["skipped"]
        nothing_left = not round.is_open or (
            holds["open"] == 0 and (not unclaimed or round.has_known_share or holds["units"] >= round.units_count)
        )
        seen = [at for at in (mine["last"], link.member.user.last_login if link.member else link.opened_at) if at]
        seconds = (mine["ms"] or 0) / 1000
        state = _state(link, now, answered=done, left=link.member_id not in at_work, nothing_left=nothing_left)
        out.append(
            {
                "id": link.pk, "label": link.label, "places": link.places, "used": link.used,
                "came_by": link.parent_id, "pseudonym": link.member.pseudonym if link.member else "",
                "state": state,
                "agreed_at": link.given_at if link.agreed else None, "withdrawn_at": link.withdrawn_at,
                "answered": mine["answered"], "skipped": mine["skipped"],
                "seconds_an_answer": seconds / done if done and seconds else None,
                "last_seen_at": max(seen) if seen else None,
                "created_at": link.created_at, "expires_at": link.expires_at,
            }
        )  # fmt: skip
    return out


def _state(link: ParticipantLink, now: datetime, *, answered: int, left: bool, nothing_left: bool) -> str:
    """In one word or two what the link, or its person, is at."""
    if link.revoked_at:
        return "revoked"
    if link.member is not None and not link.agreed:
        return "withdrawn"
    if link.member is not None and nothing_left and answered:
        return "done"
    if link.expires_at <= now:
        return "expired"
    if link.is_shared:
        return "full" if link.used >= link.places else "shared"
    if link.member is None:
        return "opened" if link.opened_at else "not opened"
    if left:
        return "taken out"
    if not link.stands:
        return "asked again"
    return "working" if answered else "agreed"
