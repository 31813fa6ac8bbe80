"""Whose an account is. Anybody may be invited by anybody, and whoever holds the invitation sets the password: until the
provider or an operator has said so, nobody knows that the account belongs to whoever has its address."""

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from rest_framework.exceptions import NotAuthenticated

from audit.log import record

from .models import ApiToken, SignInLink, User
from .tokens import new_token


def verify_address(*, user: User, by: str, name: str = "") -> None:
    """Whoever signs in just now has the address (``by``: provider, link). The first time, everything else that leads
    into the account ends: password, sessions, tokens, links, other people of the provider. A name that the provider
    gives takes the place of what was there. ``user`` is as it is afterwards; a second time changes nothing."""
    if user.email_verified_at is not None:
        return
    now, had_password = timezone.now(), user.has_usable_password()
    with transaction.atomic():
        fresh = {"email_verified_at": now, "password": make_password(None), "session_salt": new_token()}
        if User.objects.filter(pk=user.pk, email_verified_at=None).update(**fresh):
            ended = {
                "password": had_password,
                "tokens": end_tokens(user),
                "links": SignInLink.objects.filter(user=user, used_at=None).update(used_at=now),
                "identities": user.provider_identities.all().delete()[0],
            }
            # Where nobody can have come in before, nothing ended that somebody should read about.
            told = {"at": now.isoformat(), "by": by} if had_password or user.last_login or ended["tokens"] else None
            User.objects.filter(pk=user.pk).update(notice=told, name=name or user.name)
            record(
                actor=user, verb="verify address", obj=user, before={"name": user.name},
                after={"by": by, "name": name or user.name, "ended": ended},
            )  # fmt: skip
    user.refresh_from_db()


def end_tokens(user: User) -> int:
    """Revoke every API token of a user, in the caller's transaction; how many there were."""
    return ApiToken.objects.filter(user=user, revoked_at=None).update(revoked_at=timezone.now())


def hold(user: User) -> None:
    """Keep the account's row until the transaction ends, if what let this request in still does: else a request that
    is on its way while others are put out would leave a way in behind. Raises `NotAuthenticated`."""
    same = User.objects.filter(pk=user.pk, password=user.password, session_salt=user.session_salt, is_active=True)
    if not same.update(name=F("name")):
        raise NotAuthenticated
