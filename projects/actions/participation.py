"""The volunteer's side of participant links: reading the text, agreeing, coming back, withdrawing."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.db.models import F
from django.http import HttpRequest
from django.utils import timezone

from accounts import throttling
from accounts.actions import begin_session
from accounts.models import User
from accounts.tokens import new_token, token_hash
from api.problems import Conflict, Forbidden, NotFound, SpentLink
from audit.log import record

from ..models import Consent, Member, Participant, ParticipantLink, Role, Round
from ..models.participation import text_digest
from . import rounds
from .people import add_member


class ConsentNeeded(Forbidden):
    type = "consent-needed"
    title = "Read and agree first"


class TextChanged(Conflict):
    type = "text-changed"
    title = "The text has changed"


@dataclass(frozen=True)
class Accepted:
    """Who is at work now, and for a new volunteer of a shared link the token of the personal link, told this once."""

    link: ParticipantLink
    token: str = ""


def look(*, request: HttpRequest, user: User | AnonymousUser, token: str) -> ParticipantLink:
    """The link that a token opens: where this browser's volunteer came by it before, that person's own. Raises
    `SpentLink`, and `TooManyTries` after many wrong tokens."""
    now = timezone.now()
    links = ParticipantLink.objects.select_related("round__project", "member__user")
    found = links.filter(token_hash=token_hash(token)).first()
    if found is not None and found.is_shared and isinstance(user, User) and user.is_guest:
        found = links.filter(parent=found.pk, member__user=user).first() or found
    if found is None or not found.is_open(now):
        throttling.wrong_token(request)
        raise _ended()
    if found.opened_at is None:
        ParticipantLink.objects.filter(pk=found.pk, opened_at=None).update(opened_at=now)
    return found


def _ended() -> SpentLink:
    return SpentLink("This link has expired, was revoked or never existed. Ask the people who sent it.")


def is_full(link: ParticipantLink) -> bool:
    """Whether no place is left for a new volunteer."""
    return link.member_id is None and link.used >= link.places


def accept(*, request: HttpRequest, user: User | AnonymousUser, token: str, digest: str = "") -> Accepted:
    """Begin, or go on as the same person. ``digest`` is that of the text which was shown and agreed to; who agreed to
    it before needs none. Raises `SpentLink`, `ConsentNeeded`, `TextChanged`, `Conflict` when no place is left."""
    link = look(request=request, user=user, token=token)
    secret = ""
    with transaction.atomic():
        if link.member is None:
            if not link.round.is_open:
                raise Conflict("This round is closed. Thank you for coming.")
            _compare(link, digest)
            link, secret = _new_volunteer(link)
        _agree(link, digest)
        assert link.member
        volunteer = link.member.user
        begin_session(request=request, user=volunteer, how="participant link")
        request.session.set_expiry(link.expires_at)
    return Accepted(link, secret)


def _new_volunteer(link: ParticipantLink) -> tuple[ParticipantLink, str]:
    """Take a place, and put a new person into it. Whoever loses the race for a personal link is the same person."""
    now = timezone.now()
    place = ParticipantLink.objects.filter(
        pk=link.pk, used__lt=F("places"), revoked_at=None, expires_at__gt=now, member=None
    )
    if not place.update(used=F("used") + 1):
        link = ParticipantLink.objects.select_related("round__project", "member__user").get(pk=link.pk)
        if link.member is None or not link.is_open(now):
            raise (
                Conflict("All places of this link are taken. Thank you for coming.") if link.is_open(now) else _ended()
            )
        return link, ""
    user = User.objects.create_user(
        email=f"volunteer-{uuid.uuid4().hex}@participants.invalid", name="", guest_until=link.expires_at
    )
    member = add_member(project=link.round.project, user=user, role=Role.VOLUNTEER, by=user)
    user.name = member.pseudonym
    user.save(update_fields=["name"])
    secret = ""
    if link.is_shared:
        secret = new_token()
        link = ParticipantLink(
            round=link.round, token_hash=token_hash(secret), label=f"{link.label[:60]} · {member.pseudonym}", used=1,
            consent_text=link.consent_text, parent=link, created_by_id=link.created_by_id, expires_at=link.expires_at,
            opened_at=now,
        )  # fmt: skip
    link.member = member
    link.save(force_insert=True) if secret else link.save(update_fields=["member"])
    return link, secret


def _compare(link: ParticipantLink, digest: str) -> None:
    if not digest:
        raise ConsentNeeded("Read the text and agree to it first.")
    if digest != text_digest(link.consent_text):
        raise TextChanged("The text has changed since it was shown. Please read it again.")


def _agree(link: ParticipantLink, digest: str) -> None:
    """Store the consent, and let the person into the round; nothing where the same text was agreed to before."""
    if link.stands:
        return
    _compare(link, digest)
    member, now = link.member, timezone.now()
    assert member
    withdrew = link.agreed == ""
    # The text is compared in the same statement: a lead may be changing it just now.
    same = ParticipantLink.objects.filter(pk=link.pk, consent_text=link.consent_text, agreed=link.agreed)
    if not same.update(agreed=digest):
        raise TextChanged("The text has changed since it was shown. Please read it again.")
    link.agreed = digest
    text = link.consent_text
    Consent.objects.create(link=link, member=member, what=Consent.What.GIVEN, text=text, digest=digest, at=now)
    record(
        actor=member.user, verb="give consent", obj=link, project_id=member.project_id,
        after={"member": member.pk, "digest": digest},
    )  # fmt: skip
    if withdrew and link.round.is_open:
        rounds.add_person(round=link.round, member=member, by=member.user)


def link_of(user: User) -> ParticipantLink:
    """The volunteer's own link; `NotFound` for everybody else."""
    found = (
        ParticipantLink.objects.select_related("round__project", "member__user")
        .filter(member__user=user, revoked_at=None)
        .first()
    )
    if found is None:
        raise NotFound("You take part in nothing by a link.")
    return found


def require_consent(user: User, round: Round) -> None:
    """For volunteers: no work before consent to the text as it is now. Raises `ConsentNeeded`."""
    if not user.is_guest:
        return
    link = ParticipantLink.objects.filter(member__user=user, round=round, revoked_at=None).first()
    if link is None or not link.stands:
        raise ConsentNeeded(
            "The text that you agreed to has changed, or you withdrew. My work has it: agree, then go on."
        )


def agree(*, user: User, digest: str) -> ParticipantLink:
    """Agree to the present text, signed in. Raises `NotFound`, `ConsentNeeded`, `TextChanged`."""
    link = link_of(user)
    with transaction.atomic():
        _agree(link, digest)
    return link


def withdraw(*, user: User, now: datetime | None = None) -> int:
    """Take one's consent back: slots not finished go to others, answers stay. How many slots were freed. Raises
    `NotFound`, `Conflict` where no consent was given."""
    link, now = link_of(user), now or timezone.now()
    member = link.member
    assert member
    with transaction.atomic():
        if not link.agreed or not ParticipantLink.objects.filter(pk=link.pk, agreed=link.agreed).update(agreed=""):
            raise Conflict("You have withdrawn already.")
        given = member.consents.filter(what=Consent.What.GIVEN).order_by("-pk")[0]
        Consent.objects.create(
            link=link, member=member, what=Consent.What.WITHDRAWN, text=given.text, digest=given.digest, at=now
        )
        record(
            actor=user, verb="withdraw consent", obj=link, project_id=member.project_id,
            after={"member": member.pk, "digest": given.digest},
        )  # fmt: skip
        return rounds.remove_person(round=link.round, member=member, by=user, now=now)


def end(*, link: ParticipantLink, by: User, now: datetime) -> None:
    """The person of a revoked link is signed out with the next request and leaves the round."""
    member: Member | None = link.member
    if member is None:
        return
    User.objects.filter(pk=member.user_id).update(guest_until=now)
    if link.round.is_open and Participant.objects.filter(round=link.round_id, member=member, left_at=None).exists():
        rounds.remove_person(round=link.round, member=member, by=by, now=now)
