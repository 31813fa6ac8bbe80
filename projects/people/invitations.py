"""Invitations: single-use, expiring, and bound to one e-mail address."""

from datetime import timedelta

from django.contrib.auth.models import AnonymousUser
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts import throttling
from accounts.actions import begin_session, check_password_strength
from accounts.models import Failure, User
from accounts.tokens import decrypt, encrypt, new_token, token_hash
from api import limits
from api.addresses import client_ip_prefix
from api.problems import Conflict, Refused, SignInNeeded, SpentLink
from audit.log import record

from ..models import Invitation, Member, Project
from .actions import add_member

PURPOSE = "projects.invitation"


class OtherAccount(Conflict):
    type = "other-account"
    title = "Signed in with another account"


def invite(*, project: Project, email: str, role: str, by: User, days: int = 14) -> tuple[Invitation, str]:
    """Invite an address and return the invitation and its token.

    An earlier open invitation of the same address is revoked. Raise `Refused` if the address belongs to a member.
    """
    email = email.strip().lower()
    if not email.isascii() or email.endswith(".invalid"):
        # Databases fold some non-ASCII letters into ASCII, so two different addresses could match. Addresses in
        # .invalid belong to volunteers and imported raters, who cannot sign in.
        raise Refused.field("email", "Enter an e-mail address in ASCII letters that can receive e-mail.")
    if project.members.active().filter(user__email__iexact=email).exists():
        raise Refused.field("email", "A member already has this e-mail address.")
    limits.check("LIMIT_INVITATIONS_PER_DAY", Invitation.objects.filter(created_by=by))
    token, now = new_token(), timezone.now()
    try:
        with transaction.atomic():
            for earlier in _open(project).filter(email__iexact=email):
                revoke(invitation=earlier, by=by)
            invitation = Invitation.objects.create(
                project=project,
                email=email,
                role=role,
                token_hash=token_hash(token),
                encrypted_token=encrypt(token, purpose=PURPOSE),
                created_by=by,
                expires_at=now + timedelta(days=days),
            )
            record(
                actor=by,
                verb="invite",
                obj=invitation,
                project_id=project.pk,
                after={"email": email, "role": role, "expires_at": invitation.expires_at},
            )
    except IntegrityError as error:
        raise Conflict("This address was invited at the same moment. Reload the page to see the invitation.") from error
    return invitation, token


def _open(project: Project) -> QuerySet[Invitation]:
    return Invitation.objects.filter(project=project, accepted_at=None, revoked_at=None)


def reveal(*, invitation: Invitation, by: User) -> str:
    """Return the token of an open invitation again. Raise `Conflict` if it is not open or cannot be decrypted."""
    if invitation.accepted_at or invitation.revoked_at or invitation.expires_at <= timezone.now():
        raise Conflict("This invitation is no longer open. Invite the person again.")
    token = decrypt(invitation.encrypted_token, purpose=PURPOSE)
    if not token:
        raise Conflict("The link of this invitation cannot be shown again. Invite the person again for a new link.")
    record(actor=by, verb="show invitation link", obj=invitation, project_id=invitation.project_id)
    return token


def revoke(*, invitation: Invitation, by: User) -> None:
    """Revoke an invitation; idempotent. Raise `Conflict` if it was accepted."""
    with transaction.atomic():
        done = Invitation.objects.filter(pk=invitation.pk, accepted_at=None, revoked_at=None)
        if done.update(revoked_at=timezone.now(), encrypted_token=""):
            record(
                actor=by,
                verb="revoke invitation",
                obj=invitation,
                project_id=invitation.project_id,
                before={"email": invitation.email, "role": invitation.role},
            )
            return
    if Invitation.objects.filter(pk=invitation.pk, accepted_at__isnull=False).exists():
        raise Conflict("This invitation was accepted. Remove the member instead.")


def find_invitation(*, request: HttpRequest, token: str) -> Invitation:
    """Return the open invitation of a token. Raise `SpentLink`, and `TooManyTries` after many wrong tokens."""
    invitation = (
        Invitation.objects.filter(
            token_hash=token_hash(token), accepted_at=None, revoked_at=None, expires_at__gt=timezone.now()
        )
        .select_related("project", "created_by")
        .first()
    )
    if invitation is None:
        throttling.count_invalid_token(request)
        raise _invalid_invitation()
    return invitation


def _invalid_invitation() -> SpentLink:
    return SpentLink(
        "This invitation is invalid, expired, revoked or already used. Ask the project's lead for a new one."
    )


def accept(
    *, request: HttpRequest, user: User | AnonymousUser, token: str, name: str = "", password: str = ""
) -> Member:
    """Accept an invitation and return the new member.

    An existing account must be signed in: its inviter knows the token, which must not open somebody else's account.
    Without an account, one is created with ``name`` and ``password`` and signed in. Raise `SpentLink`, `SignInNeeded`,
    `OtherAccount` or `Refused`.
    """
    invitation = find_invitation(request=request, token=token)
    if isinstance(user, User):
        if user.email.lower() != invitation.email.lower():
            raise OtherAccount(f"The invitation is for {invitation.email}. Sign out, then open it again.")
        return _join(invitation, user)
    # Validate first: errors in name and password must not depend on whether there is an account.
    fresh = _new_account(invitation, name, password)
    if User.objects.filter(email__iexact=invitation.email).exists():
        throttling.check(Failure.What.ACCOUNT, client_ip_prefix(request))
        throttling.count(Failure.What.ACCOUNT, client_ip_prefix(request))
        raise SignInNeeded(
            f"The address {invitation.email} already has an account. Sign in to it, or ask the operator of this server "
            "for a sign-in link. The invitation stays valid."
        )
    try:
        with transaction.atomic():
            fresh.save(force_insert=True)
            record(actor=fresh, verb="create account", obj=fresh, after={"by": "invitation"})
            member = _join(invitation, fresh)
            begin_session(request=request, user=fresh, how="invitation")
    except IntegrityError as error:
        raise Conflict("An account with this address was created at the same moment. Sign in to it.") from error
    return member


def _new_account(invitation: Invitation, name: str, password: str) -> User:
    """Return a validated, unsaved account with a hashed password. Hashing is slow on purpose."""
    if not name.strip():
        raise Refused.field("name", "Enter your name.")
    user = User(email=invitation.email, name=name.strip())
    check_password_strength(password, user, field="password")
    user.set_password(password)
    return user


def _join(invitation: Invitation, user: User) -> Member:
    now = timezone.now()
    with transaction.atomic():
        # Compare-and-set: a token creates one member, even if several requests use it at once.
        open_invitation = Invitation.objects.filter(
            pk=invitation.pk, accepted_at=None, revoked_at=None, expires_at__gt=now
        )
        if not open_invitation.update(accepted_at=now, encrypted_token=""):
            raise _invalid_invitation()
        member = add_member(project=invitation.project, user=user, role=invitation.role, by=invitation.created_by)
        Invitation.objects.filter(pk=invitation.pk).update(accepted_by=member)
        record(
            actor=user,
            verb="accept invitation",
            obj=invitation,
            project_id=invitation.project_id,
            after={"member": member.pk},
        )
    return member
