"""Acceptance of links whose address a recruitment platform gives to its members."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from accounts.actions import begin_session
from accounts.models import User
from accounts.sessions import hide_earlier_answers
from api.problems import Conflict, Refused

from ..models import ParticipantLink, Recruitment
from ..recruitment import actions as recruitment_actions
from ..recruitment import ids as external_ids
from . import actions
from .actions import Accepted, add_volunteer, check_digest, invalid_link, store_consent


def accept(
    *,
    request: HttpRequest,
    user: User | AnonymousUser,
    token: str,
    digest: str = "",
    query: Mapping[str, str] | None = None,
) -> Accepted:
    """Sign a volunteer in, as `actions.accept` does, also by a link for a recruitment platform.

    ``query`` has the parameters that the platform added to the address.
    """
    link = actions.find_link(request=request, user=user, token=token)
    recruitment = recruitment_actions.recruitment_of(link)
    if recruitment is None:
        return actions.accept(request=request, user=user, link=link, digest=digest)
    return _accept_recruit(request, recruitment, user, digest, query or {})


#: What `look` says of links that are not for a recruitment platform.
UNRECRUITED: dict[str, Any] = {"recruited": False, "preview": False, "missing_id": "", "minutes": None}


def look(
    *, request: HttpRequest, user: User | AnonymousUser, token: str, query: Mapping[str, str]
) -> tuple[ParticipantLink, dict[str, Any]]:
    """Return the link to show, and what concerns a recruitment platform. A known person's link is the personal one."""
    link, now = actions.find_link(request=request, user=user, token=token), timezone.now()
    recruitment = recruitment_actions.recruitment_of(link)
    if recruitment is None:
        return link, UNRECRUITED
    is_preview = external_ids.is_preview(recruitment, query)
    ids = None if is_preview else external_ids.read_ids(recruitment, query)
    recruit = None if is_preview else recruitment_actions.find_recruit(recruitment, ids, user.pk)
    shared = recruitment.link
    shown: dict[str, Any] = {
        "recruited": True,
        "preview": is_preview,
        "missing_id": "" if ids or recruit or is_preview else external_ids.missing(recruitment),
        "minutes": recruitment.minutes,
        "full": False if recruit and recruit.holds_place else recruitment_actions.is_full(shared, now),
        "shared": True,
    }
    if recruit is not None:
        own_link = recruit.link
        # A place that ended has a code even in a closed round.
        closed = not shared.round.is_open and not recruit.holds_place and recruit.state != recruit.State.SCREENED_OUT
        shown |= {"closed": closed, "full": shown["full"] and recruit.state != recruit.State.SCREENED_OUT}
        own_link.round = shared.round
        return own_link, shown
    return shared, shown


def own(link: ParticipantLink) -> dict[str, Any]:
    """Return what `look` adds, for the personal link of a signed-in volunteer."""
    recruitment = recruitment_actions.recruitment_of(link) if link.parent_id else None
    return UNRECRUITED if recruitment is None else UNRECRUITED | {"recruited": True, "minutes": recruitment.minutes}


def _accept_recruit(
    request: HttpRequest, recruitment: Recruitment, user: User | AnonymousUser, digest: str, query: Mapping[str, str]
) -> Accepted:
    """Sign in a person from a recruitment platform: by the id in the address, or again in the same browser."""
    now = timezone.now()
    if external_ids.is_preview(recruitment, query):
        raise Conflict("This is a preview. Accept the task on the platform first.")
    ids = external_ids.read_ids(recruitment, query)
    recruitment_actions.return_late_places(recruitment=recruitment, now=now)
    with transaction.atomic():
        link = recruitment_actions.lock(recruitment)
        recruit = recruitment_actions.find_recruit(recruitment, ids, user.pk)
        if recruit is None:
            if ids is None:
                raise Refused.field("query", external_ids.missing(recruitment))
            check_digest(link, digest)
            recruitment_actions.take_place(link, now)
            own_link, _ = add_volunteer(link, now)
            recruit = recruitment_actions.add_recruit(recruitment, own_link, ids, now)
        else:
            own_link = recruit.link
            if not own_link.is_open(now):
                raise invalid_link()
            recruitment_actions.resume(recruit, link, ids, now)
        own_link.round = link.round
        assert own_link.member
        store_consent(own_link, digest, joins=False)
        recruitment_actions.enter(recruit)
        is_same_browser = user.pk == own_link.member.user_id
        begin_session(request=request, user=own_link.member.user, how="participant link")
        request.session.set_expiry(own_link.expires_at)
        if not is_same_browser and recruit.begun_at < now:
            hide_earlier_answers(request, now)
    return Accepted(own_link, recruit=recruit)
