"""Signing in by an identity provider: it says whose address it is, and here is decided who may come in."""

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
    title = "There is no account for this address"


class OtherPerson(Forbidden):
    type = "other-person"
    title = "This address was somebody else's"


@dataclass(frozen=True)
class Person:
    """What the provider says of who signs in: ``email`` is one that it has verified."""

    issuer: str
    subject: str
    email: str
    name: str = ""


def enter_by_provider(*, request: HttpRequest, person: Person) -> User:
    """Sign in whoever owns the address. The first time this ends what others may have left in the account, and the
    account belongs to this person of the provider from then on, also under another address. An account is made only
    for an address with an open invitation, or of a domain that the settings name. Raises `NoAccount`, for closed
    accounts too, and `OtherPerson`."""
    if not person.email.isascii():
        # Data bases and Python fold some letters beyond ASCII into it: the Kelvin sign becomes a k, and with it a
        # stranger somebody else. Domains with such letters are written in ASCII (xn--...) by whoever verifies them.
        raise NoAccount("Addresses with letters beyond ASCII are not known here.")
    mine = ProviderIdentity.objects.select_related("user").filter(issuer=person.issuer, subject=person.subject).first()
    user = mine.user if mine else _of_address(person.email)
    if user is None and _may_have_one(person.email):
        user = _make_account(person)
    if user is None or not user.is_active:
        raise NoAccount("Ask the lead of your project for an invitation.")
    with transaction.atomic():
        if mine:
            _follow(user, person.email)
        else:
            verify_address(user=user, by="provider", name=_called(person))
            _bind(user, person)
        begin_session(request=request, user=user, how="provider")
    return user


def _of_address(email: str) -> User | None:
    return User.objects.filter(email__iexact=email, guest_until=None).first()


def _bind(user: User, person: Person) -> None:
    """The account belongs to this person. An organisation gives the address of somebody who left to somebody new: that
    is another person, whose answers and projects these are not."""
    try:
        with transaction.atomic():
            ProviderIdentity.objects.create(user=user, issuer=person.issuer, subject=person.subject)
    except IntegrityError:
        # Either the account is another person's, or this person came in by another window at this moment.
        if not ProviderIdentity.objects.filter(user=user, issuer=person.issuer, subject=person.subject).exists():
            raise OtherPerson("Somebody else has signed in with this address before.") from None


def _follow(user: User, email: str) -> None:
    """The person's address at the provider becomes the account's, unless another account has it."""
    if user.email.lower() == email.lower() or _of_address(email) is not None:
        return
    before, after = user.email, {"email": email.lower(), "email_verified_at": timezone.now()}
    try:
        with transaction.atomic():
            User.objects.filter(pk=user.pk).update(**after)
    except IntegrityError:  # an account was made for it at this moment
        return
    user.refresh_from_db()
    record(
        actor=user, verb="change address", obj=user, before={"email": before},
        after={"email": user.email, "by": "provider"},
    )  # fmt: skip


def _may_have_one(email: str) -> bool:
    if email.rpartition("@")[2].lower() in {domain.lower() for domain in settings.OIDC_NEW_ACCOUNTS_FROM}:
        return True
    waiting = Invitation.objects.filter(accepted_at=None, revoked_at=None, expires_at__gt=timezone.now())
    return waiting.filter(email__iexact=email).exists()


def _called(person: Person) -> str:
    return " ".join(person.name.split())[:120]


def _make_account(person: Person) -> User:
    fresh = User(email=person.email.lower(), name=_called(person) or person.email.partition("@")[0][:120])
    fresh.set_unusable_password()
    try:
        with transaction.atomic():
            fresh.save(force_insert=True)
            record(actor=fresh, verb="create account", obj=fresh, after={"by": "provider"})
    except IntegrityError:  # the same person in two windows, or somebody who accepts an invitation just now
        return User.objects.get(email__iexact=person.email)
    return fresh
