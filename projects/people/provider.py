"""Sign-in by an identity provider. The provider verifies the address; this module decides who gets access."""

from dataclasses import dataclass

from django.conf import settings
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.utils import timezone

from accounts.actions import begin_session
from accounts.models import ProviderIdentity, User
from accounts.verification import verify_address
from api.problems import Forbidden
from audit.log import record

from ..models import Invitation


class NoAccount(Forbidden):
    type = "no-account"
    title = "No account for this address"


class OtherPerson(Forbidden):
    type = "other-person"
    title = "Address belongs to another person"


@dataclass(frozen=True)
class Person:
    """Claims of the provider about the person who signs in. ``email`` is verified by the provider."""

    issuer: str
    subject: str
    email: str
    name: str = ""


def enter_by_provider(*, request: HttpRequest, person: Person) -> User:
    """Sign in the owner of the address.

    The first sign-in binds the account to this person of the provider, and revokes access that others may have left in
    the account. Later sign-ins work under another address too. A new account is created only for an address with an
    open invitation, or in a domain from the settings. Raise `NoAccount`, also for closed accounts, and `OtherPerson`.
    """
    if not person.email.isascii():
        # Databases and Python fold some non-ASCII letters into ASCII: the Kelvin sign becomes a k. A stranger could
        # then match another person's address. Domains with such letters have an ASCII form (xn--...).
        raise NoAccount("E-mail addresses with letters outside ASCII are not supported. Use an ASCII address.")
    identity = (
        ProviderIdentity.objects.select_related("user").filter(issuer=person.issuer, subject=person.subject).first()
    )
    user = identity.user if identity else _user_of_address(person.email)
    if user is None and _may_create_account(person.email):
        user = _make_account(person)
    if user is None or not user.is_active:
        raise NoAccount("Ask the lead of your project for an invitation.")
    with transaction.atomic():
        if identity:
            _update_address(user, person.email)
        else:
            verify_address(user=user, by="provider", name=_display_name(person))
            _bind(user, person)
        begin_session(request=request, user=user, how="provider")
    return user


def _user_of_address(email: str) -> User | None:
    return User.objects.filter(email__iexact=email, guest_until=None).first()


def _bind(user: User, person: Person) -> None:
    """Bind the account to this person of the provider.

    An organisation may reuse the address of a person who left. The new owner must not get the answers and projects of
    the earlier one.
    """
    try:
        with transaction.atomic():
            ProviderIdentity.objects.create(user=user, issuer=person.issuer, subject=person.subject)
    except IntegrityError:
        # The account is bound to another person, or this person signed in at the same moment in another window.
        if not ProviderIdentity.objects.filter(user=user, issuer=person.issuer, subject=person.subject).exists():
            raise OtherPerson(
                "Another person has signed in with this address before. Ask the operator of this server."
            ) from None


def _update_address(user: User, email: str) -> None:
    """Update the account's address to the person's address at the provider, unless another account has it."""
    if user.email.lower() == email.lower() or _user_of_address(email) is not None:
        return
    before, after = user.email, {"email": email.lower(), "email_verified_at": timezone.now()}
    try:
        with transaction.atomic():
            User.objects.filter(pk=user.pk).update(**after)
    except IntegrityError:  # another request has just created an account with this address
        return
    user.refresh_from_db()
    record(
        actor=user,
        verb="change address",
        obj=user,
        before={"email": before},
        after={"email": user.email, "by": "provider"},
    )


def _may_create_account(email: str) -> bool:
    if email.rpartition("@")[2].lower() in {domain.lower() for domain in settings.OIDC_NEW_ACCOUNTS_FROM}:
        return True
    waiting = Invitation.objects.filter(accepted_at=None, revoked_at=None, expires_at__gt=timezone.now())
    return waiting.filter(email__iexact=email).exists()


def _display_name(person: Person) -> str:
    return " ".join(person.name.split())[:120]


def _make_account(person: Person) -> User:
    fresh = User(email=person.email.lower(), name=_display_name(person) or person.email.partition("@")[0][:120])
    fresh.set_unusable_password()
    try:
        with transaction.atomic():
            fresh.save(force_insert=True)
            record(actor=fresh, verb="create account", obj=fresh, after={"by": "provider"})
    except IntegrityError:  # created at the same moment, in another window or by accepting an invitation
        return User.objects.get(email__iexact=person.email)
    return fresh
