"""Invitations: a single-use, expiring way into a project, bound to one e-mail address."""

from datetime import timedelta

from django.contrib.auth.models import AnonymousUser
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts import throttling
from accounts.actions import begin_session, check_password_strength
from accounts.models import Failure, User
from accounts.tokens import new_token, token_hash
from api import limits
from api.addresses import place
from api.problems import Conflict, Refused, SignInNeeded, SpentLink
from audit.log import record

from ..models import Invitation, Member, Project
from .people import add_member


class OtherAccount(Conflict):
    type = "other-account"
    title = "You are signed in as somebody else"


def invite(*, project: Project, email: str, role: str, by: User, days: int = 14) -> tuple[Invitation, str]:
    """Invite an address; returns the row and the token, which is not kept. An earlier open invitation of the same
    address is revoked. Raises `Refused` when the address belongs to an active member."""
    email = email.strip().lower()
    if not email.isascii() or email.endswith(".invalid"):
        # Letters that data bases fold into ASCII make one address look like another's; .invalid has those of
        # volunteers and of raters elsewhere, who stand for nobody that could sign in.
        raise Refused.field("email", "Give an address in plain ASCII letters to which mail can be sent.")
    if project.members.active().filter(user__email__iexact=email).exists():
        raise Refused.field("email", "Somebody with this address is a member already.")
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
                created_by=by,
                expires_at=now + timedelta(days=days),
            )
            record(
                actor=by, verb="invite", obj=invitation, project_id=project.pk,
                after={"email": email, "role": role, "expires_at": invitation.expires_at},
            )  # fmt: skip
    except IntegrityError as error:
        raise Conflict("This address was invited a moment ago.") from error
    return invitation, token


def _open(project: Project) -> QuerySet[Invitation]:
    return Invitation.objects.filter(project=project, accepted_at=None, revoked_at=None)


def revoke(*, invitation: Invitation, by: User) -> None:
    """Make an invitation's token worthless. Raises `Conflict` when it was accepted; twice changes nothing."""
    with transaction.atomic():
        done = Invitation.objects.filter(pk=invitation.pk, accepted_at=None, revoked_at=None)
        if done.update(revoked_at=timezone.now()):
            record(
                actor=by, verb="revoke invitation", obj=invitation, project_id=invitation.project_id,
                before={"email": invitation.email, "role": invitation.role},
            )  # fmt: skip
            return
    if Invitation.objects.filter(pk=invitation.pk, accepted_at__isnull=False).exists():
        raise Conflict("This invitation was accepted. Remove the member instead.")


def look(*, request: HttpRequest, token: str) -> Invitation:
    """The open invitation of a token. Raises `SpentLink`, and `TooManyTries` after many wrong ones."""
    found = (
        Invitation.objects.filter(
            token_hash=token_hash(token), accepted_at=None, revoked_at=None, expires_at__gt=timezone.now()
        )
        .select_related("project", "created_by")
        .first()
    )
    if found is None:
        throttling.wrong_token(request)
        raise _spent()
    return found


def _spent() -> SpentLink:
    return SpentLink("This invitation was used, revoked, has expired or never existed. Ask the project's lead.")


def accept(
    *, request: HttpRequest, user: User | AnonymousUser, token: str, name: str = "", password: str = ""
) -> Member:
    """Become a member. An account that exists must be signed in: whoever made the invitation has seen its token, and
    it must not open somebody else's account. Where none exists it is made with ``name`` and ``password`` and signed
    in. Raises `SpentLink`, `SignInNeeded`, `OtherAccount`, `Refused`."""
    invitation = look(request=request, token=token)
    if isinstance(user, User):
        if user.email.lower() != invitation.email.lower():
            raise OtherAccount(f"The invitation is for {invitation.email}. Sign out, then open it again.")
        return _join(invitation, user)
    # Looked at first: what is refused for its own sake must not tell whether there is an account.
    fresh = _account(invitation, name, password)
    if User.objects.filter(email__iexact=invitation.email).exists():
        throttling.check(Failure.What.ACCOUNT, place(request))
        throttling.count(Failure.What.ACCOUNT, place(request))
        raise SignInNeeded(
            f"There is an account for {invitation.email} already. Sign in to it, or ask whoever runs this Concord for "
            "a sign-in link; the invitation stays good."
        )
    try:
        with transaction.atomic():
            fresh.save(force_insert=True)
            record(actor=fresh, verb="create account", obj=fresh, after={"by": "invitation"})
            member = _join(invitation, fresh)
            begin_session(request=request, user=fresh, how="invitation")
    except IntegrityError as error:
        raise Conflict("An account with this address was made a moment ago. Sign in to it.") from error
    return member


def _account(invitation: Invitation, name: str, password: str) -> User:
    """The new account, checked and with its password hashed, not yet stored: hashing is slow on purpose."""
    if not name.strip():
        raise Refused.field("name", "Tell your name.")
    user = User(email=invitation.email, name=name.strip())
    check_password_strength(password, user, field="password")
    user.set_password(password)
    return user


def _join(invitation: Invitation, user: User) -> Member:
    now = timezone.now()
    with transaction.atomic():
        # Whoever sets it first has it: a token is good for one member however many use it at once.
        mine = Invitation.objects.filter(pk=invitation.pk, accepted_at=None, revoked_at=None, expires_at__gt=now)
        if not mine.update(accepted_at=now):
            raise _spent()
        member = add_member(project=invitation.project, user=user, role=invitation.role, by=invitation.created_by)
        Invitation.objects.filter(pk=invitation.pk).update(accepted_by=member)
        record(
            actor=user, verb="accept invitation", obj=invitation, project_id=invitation.project_id,
            after={"member": member.pk},
        )  # fmt: skip
    return member
