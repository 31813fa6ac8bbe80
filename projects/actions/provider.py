"""Signing in by an identity provider: it says whose address it is, and here is decided who may come in."""

from django.conf import settings
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.utils import timezone

from accounts.actions import begin_session
from accounts.models import User
from accounts.problems import Forbidden
from audit.log import record

from ..models import Invitation


class NoAccount(Forbidden):
    type = "no-account"
    title = "There is no account for this address"


def enter_by_provider(*, request: HttpRequest, email: str, name: str) -> User:
    """Sign in whoever owns ``email``, which the provider has verified. An account is made only for an address with an
    open invitation, or of a domain that the settings name. Raises `NoAccount`, for closed accounts too."""
    if not email.isascii():
        # Data bases and Python fold some letters beyond ASCII into it: the Kelvin sign becomes a k, and with it a
        # stranger somebody else. Domains with such letters are written in ASCII (xn--...) by whoever verifies them.
        raise NoAccount("Addresses with letters beyond ASCII are not known here.")
    user = User.objects.filter(email__iexact=email).first()
    if user is None and _may_have_one(email):
        user = _make_account(email, name)
    if user is None or not user.is_active:
        raise NoAccount("Ask the lead of your project for an invitation.")
    begin_session(request=request, user=user, how="provider")
    return user


def _may_have_one(email: str) -> bool:
    if email.rpartition("@")[2].lower() in {domain.lower() for domain in settings.OIDC_NEW_ACCOUNTS_FROM}:
        return True
    waiting = Invitation.objects.filter(accepted_at=None, revoked_at=None, expires_at__gt=timezone.now())
    return waiting.filter(email__iexact=email).exists()


def _make_account(email: str, name: str) -> User:
    fresh = User(email=email.lower(), name=" ".join(name.split())[:120] or email.partition("@")[0][:120])
    fresh.set_unusable_password()
    try:
        with transaction.atomic():
            fresh.save(force_insert=True)
            record(actor=fresh, verb="create account", obj=fresh, after={"by": "provider"})
    except IntegrityError:  # the same person in two windows
        return User.objects.get(email__iexact=email)
    return fresh
