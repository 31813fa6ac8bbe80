"""Participant links: creation, consent, acceptance, withdrawal, extension and revocation."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts import throttling
from accounts.actions import begin_session
from accounts.models import User
from accounts.tokens import new_token, token_hash
from api import limits
from api.problems import Conflict, NotFound, Refused, SpentLink
from audit import row_digests
from audit.log import record

from .. import kinds
from ..models import Consent, Member, Participant, ParticipantLink, Recruit, Role, Round
from ..models.participation import text_digest
from ..people.actions import add_member
from ..practice.actions import ConsentNeeded
from ..recruitment import actions as recruitment_actions
from ..rounds import actions as rounds_actions


class TextChanged(Conflict):
    type = "text-changed"
    title = "Consent text changed"


@dataclass(frozen=True)
class Accepted:
    """The link of the signed-in volunteer.

    ``token`` is set once, for a new volunteer of a shared link: the personal token. People who came by a recruitment
    platform have no token, because their id on the platform leads to the same person.
    """

    link: ParticipantLink
    token: str = ""
    recruit: Recruit | None = None


def find_link(*, request: HttpRequest, user: User | AnonymousUser, token: str) -> ParticipantLink:
    """Return the link of a token, or, if this browser's volunteer came by this shared link, the personal link.

    Raise `SpentLink`, and `TooManyTries` after many wrong tokens.
    """
    now = timezone.now()
    links = ParticipantLink.objects.select_related("round__project", "member__user")
    link = links.filter(token_hash=token_hash(token)).first()
    if link is not None and link.is_shared and isinstance(user, User) and user.is_guest:
        link = links.filter(parent=link.pk, member__user=user).first() or link
    if link is None or not link.is_open(now):
        throttling.count_invalid_token(request)
        raise invalid_link()
    if link.opened_at is None:
        ParticipantLink.objects.filter(pk=link.pk, opened_at=None).update(opened_at=now)
    return link


def invalid_link() -> SpentLink:
    return SpentLink("This link is invalid, expired or revoked. Ask the sender for a new one.")


def is_full(link: ParticipantLink) -> bool:
    """Return whether the link has no capacity left for a new volunteer."""
    return link.member_id is None and link.used >= link.capacity


def accept(*, request: HttpRequest, user: User | AnonymousUser, link: ParticipantLink, digest: str = "") -> Accepted:
    """Sign a volunteer in: a new one, or the same person again.

    ``digest`` identifies the text that was shown and agreed to. It is not needed if the person agreed to it earlier.
    Raise `SpentLink`, `ConsentNeeded`, `TextChanged`, or `Conflict` if the link is full or the round is closed.
    """
    secret = ""
    with transaction.atomic():
        if link.member is None:
            if not link.round.is_open:
                raise Conflict("This round is closed and accepts no more participants. Thank you for your interest.")
            check_digest(link, digest)
            link, secret = _new_volunteer(link)
        store_consent(link, digest)
        assert link.member
        volunteer = link.member.user
        begin_session(request=request, user=volunteer, how="participant link")
        request.session.set_expiry(link.expires_at)
    return Accepted(link, secret)


def _new_volunteer(link: ParticipantLink) -> tuple[ParticipantLink, str]:
    """Use the link and create a volunteer for it. Return the personal link and its token.

    If another request used a personal link first, the volunteer is the same person.
    """
    now = timezone.now()
    available = ParticipantLink.objects.filter(
        pk=link.pk, used__lt=F("capacity"), revoked_at=None, expires_at__gt=now, member=None
    )
    if not available.update(used=F("used") + 1):
        link = ParticipantLink.objects.select_related("round__project", "member__user").get(pk=link.pk)
        if link.member is None or not link.is_open(now):
            raise (Conflict("This link is full. Thank you for your interest.") if link.is_open(now) else invalid_link())
        return link, ""
    return add_volunteer(link, now)


def add_volunteer(link: ParticipantLink, now: datetime) -> tuple[ParticipantLink, str]:
    """Create a volunteer for a link of which a place was just taken. Return the personal link and its token."""
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
            round=link.round,
            token_hash=token_hash(secret),
            label=f"{link.label[:60]} · {member.pseudonym}",
            used=1,
            consent_text=link.consent_text,
            parent=link,
            created_by_id=link.created_by_id,
            expires_at=link.expires_at,
            opened_at=now,
        )
    link.member = member
    link.save(force_insert=True) if secret else link.save(update_fields=["member"])
    return link, secret


def check_digest(link: ParticipantLink, digest: str) -> None:
    if not digest:
        raise ConsentNeeded("Read the consent text and agree to it first.")
    if digest != text_digest(link.consent_text):
        raise TextChanged("The consent text has changed since it was shown. Please read it again.")


def store_consent(link: ParticipantLink, digest: str, *, joins: bool = True) -> None:
    """Store the consent and admit the person to the round. Does nothing if the person already agreed to this text."""
    if link.stands:
        return
    check_digest(link, digest)
    member, now = link.member, timezone.now()
    assert member
    withdrew = link.agreed == ""
    # The statement compares the text too, because a lead may be changing it at this moment.
    same = ParticipantLink.objects.filter(pk=link.pk, consent_text=link.consent_text, agreed=link.agreed)
    if not same.update(agreed=digest):
        raise TextChanged("The consent text has changed since it was shown. Please read it again.")
    link.agreed = digest
    text = link.consent_text
    Consent.objects.create(link=link, member=member, what=Consent.What.GIVEN, text=text, digest=digest, at=now)
    record(
        actor=member.user,
        verb="give consent",
        obj=link,
        project_id=member.project_id,
        after={"member": member.pk, "digest": digest},
    )
    if joins and withdrew and link.round.is_open:
        rounds_actions.add_person(round=link.round, member=member, by=member.user)


def link_of(user: User) -> ParticipantLink:
    """Return the volunteer's own link. Raise `NotFound` for other users."""
    link = (
        ParticipantLink.objects.select_related("round__project", "member__user")
        .filter(member__user=user, revoked_at=None)
        .first()
    )
    if link is None:
        raise NotFound("You are not a participant of a round by a link.")
    return link


def agree(*, user: User, digest: str) -> ParticipantLink:
    """Agree to the current text as a signed-in volunteer. Raise `NotFound`, `ConsentNeeded` or `TextChanged`."""
    link, now = link_of(user), timezone.now()
    with transaction.atomic():
        recruitment = recruitment_actions.lock_of(link)
        if recruitment is not None:
            recruit = recruitment_actions.recruit_of(user)
            check_digest(link, digest)
            recruitment_actions.resume(recruit, recruitment_actions.lock(recruitment), None, now)
        store_consent(link, digest, joins=recruitment is None)
        if recruitment is not None:
            recruitment_actions.enter(recruit)
    return link


def withdraw(*, user: User, now: datetime | None = None) -> int:
    """Withdraw consent. Unfinished assignments are released and answers are kept. Return how many were released.

    Raise `NotFound`, or `Conflict` if there is no consent to withdraw.
    """
    link, now = link_of(user), now or timezone.now()
    member = link.member
    assert member
    with transaction.atomic():
        recruitment_actions.lock_of(link)
        if not link.agreed or not ParticipantLink.objects.filter(pk=link.pk, agreed=link.agreed).update(agreed=""):
            raise Conflict("You have already withdrawn.")
        consent = member.consents.filter(what=Consent.What.GIVEN).order_by("-pk")[0]
        Consent.objects.create(
            link=link, member=member, what=Consent.What.WITHDRAWN, text=consent.text, digest=consent.digest, at=now
        )
        record(
            actor=user,
            verb="withdraw consent",
            obj=link,
            project_id=member.project_id,
            after={"member": member.pk, "digest": consent.digest},
        )
        freed = rounds_actions.remove_person(round=link.round, member=member, by=user, now=now)
        recruitment_actions.withdrawn(link, now)
        return freed


def end_access(*, link: ParticipantLink, by: User, now: datetime) -> None:
    """Sign out the volunteer of a revoked link at the next request, and remove the volunteer from the round."""
    member: Member | None = link.member
    if member is None:
        return
    User.objects.filter(memberships=member).update(guest_until=now)
    if link.round.is_open and Participant.objects.filter(round=link.round_id, member=member, left_at=None).exists():
        rounds_actions.remove_person(round=link.round, member=member, by=by, now=now)


def default_text(round: Round) -> str:
    """Return the default consent text (Markdown) with the round's task. A lead adds the details of the study."""
    text = (Path(__file__).parents[1] / "consent.md").read_text(encoding="utf-8")
    return text.replace("{task}", kinds.get(round.kind).title)


def text_of(round: Round) -> str:
    """Return the consent text of the round's newest link, or the default text."""
    newest = round.participant_links.filter(parent=None).order_by("-pk").values_list("consent_text", flat=True).first()
    return default_text(round) if newest is None else newest


def make_links(
    *,
    round: Round,
    by: User,
    labels: Sequence[str],
    capacity: int = 1,
    days: int = 30,
    text: str = "",
    recruitment: Mapping[str, Any] | None = None,
) -> list[tuple[ParticipantLink, str]]:
    """Create one link per label. Return the links with their tokens, which are not stored.

    With a ``capacity`` > 1 the links are shared, otherwise personal. ``recruitment`` has the settings of links for a
    recruitment platform. Without a text they get the text of the round's
    newest link. Raise `Refused` with the line of an invalid label, or `Conflict`.
    """
    _require_open_round(round)
    made_by = ParticipantLink.objects.filter(created_by=by, parent=None)
    limits.check("LIMIT_PARTICIPANT_LINKS_PER_DAY", made_by, adding=len(labels))
    names = [label.strip() for label in labels]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise Refused.field(
                f"labels.{i}", f"Line {i + 1}: the label {name!r} occurs twice. Give each link its own label."
            )
    used_labels = set(round.participant_links.filter(label__in=names).values_list("label", flat=True))
    for i, name in enumerate(names):
        if name in used_labels:
            raise Refused.field(
                f"labels.{i}", f"Line {i + 1}: this round already has a link named {name!r}. Choose another label."
            )
    until, text = timezone.now() + timedelta(days=days), text.strip() or text_of(round)
    created = []
    with transaction.atomic():
        for name in names:
            token = new_token()
            link = ParticipantLink.objects.create(
                round=round,
                token_hash=token_hash(token),
                label=name,
                capacity=capacity,
                consent_text=text,
                created_by=by,
                expires_at=until,
            )
            if recruitment is not None:
                recruitment_actions.create(link, recruitment)
            created.append((link, token))
            record(
                actor=by,
                verb="make participant link",
                obj=link,
                project_id=round.project_id,
                after={
                    "round": round.pk,
                    "label": name,
                    "capacity": capacity,
                    "expires_at": until,
                    "text": text_digest(text),
                }
                | ({"platform": recruitment["platform"]} if recruitment else {}),
            )
    return created


def _require_open_round(round: Round) -> None:
    if not round.is_open:
        raise Conflict("The round is closed, so it accepts no participants.")
    if round.meaning.holds_edits:
        raise Conflict("The curation round accepts no participants by link.")


def change_text(*, round: Round, text: str, by: User) -> int:
    """Set the consent text of all links of the round that are not revoked. Return how many changed.

    Volunteers who agreed to another text must agree again before they continue.
    """
    with transaction.atomic():
        other = round.participant_links.filter(revoked_at=None).exclude(consent_text=text)
        ids = list(other.values_list("pk", flat=True))
        changed = other.filter(pk__in=ids).update(consent_text=text)
        if changed:
            row_digests.record_completed(ParticipantLink, ids, by=by, project=round.project_id)
            record(
                actor=by,
                verb="change consent text",
                obj=round,
                project_id=round.project_id,
                after={"links": changed, "text": text, "digest": text_digest(text)},
            )
    return changed


def extend(*, link: ParticipantLink, days: int, by: User, now: datetime | None = None) -> ParticipantLink:
    """Extend a link and its personal links to this many days from now. Raise `Conflict` if it is revoked."""
    now = now or timezone.now()
    until = now + timedelta(days=days)
    with transaction.atomic():
        if not ParticipantLink.objects.filter(pk=link.pk, revoked_at=None).update(expires_at=until):
            raise Conflict("This link was revoked and cannot be extended. Create a new link.")
        family = _family(link)
        family.filter(revoked_at=None).update(expires_at=until)
        # Guests with a revoked link have expired and are not extended.
        User.objects.filter(memberships__participant_link__in=family.filter(revoked_at=None)).update(guest_until=until)
        record(
            actor=by,
            verb="extend participant link",
            obj=link,
            project_id=link.round.project_id,
            before={"expires_at": link.expires_at},
            after={"expires_at": until},
        )
    link.expires_at = until
    return link


def revoke_link(*, link: ParticipantLink, by: User, now: datetime | None = None) -> None:
    """Revoke a link and the access of everybody who came by it, from their next request on. Idempotent.

    Answers are kept and unfinished assignments are released.
    """
    now = now or timezone.now()
    with transaction.atomic():
        if not ParticipantLink.objects.filter(pk=link.pk, revoked_at=None).update(revoked_at=now):
            return
        children = link.children.filter(revoked_at=None).select_related("member__user", "round")
        for one in [link, *children]:
            end_access(link=one, by=by, now=now)
        link.children.filter(revoked_at=None).update(revoked_at=now)
        record(
            actor=by,
            verb="revoke participant link",
            obj=link,
            project_id=link.round.project_id,
            before={"label": link.label},
        )


def _family(link: ParticipantLink) -> QuerySet[ParticipantLink]:
    return ParticipantLink.objects.filter(Q(pk=link.pk) | Q(parent=link.pk))
