"""Verification that an account belongs to the owner of its e-mail address.

The holder of an invitation sets the password, so that an account may belong to somebody else. The identity provider or
an operator's sign-in link verifies the owner.
"""

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from rest_framework.exceptions import NotAuthenticated

from audit.log import record

from .models import ApiToken, SignInLink, User
from .tokens import new_token


def verify_address(*, user: User, by: str, name: str = "") -> None:
    """Mark the e-mail address of a user as verified (``by``: "provider" or "link").

    All other access to the account ends: password, sessions, tokens, links, other provider identities. ``name``, if
    given, replaces the name. Updates ``user``. Does nothing if the address is verified already.
    """
    if user.email_verified_at is not None:
        return
    now, had_password = timezone.now(), user.has_usable_password()
    with transaction.atomic():
        new_values = {"email_verified_at": now, "password": make_password(None), "session_salt": new_token()}
        if User.objects.filter(pk=user.pk, email_verified_at=None).update(**new_values):
            counts = end_other_access(user)
            ended = {
                "password": had_password,
                "tokens": counts["tokens ended"],
                "links": counts["links ended"],
                "identities": user.provider_identities.all().delete()[0],
            }
            # No notice is needed if nobody can have used the account before.
            notice = {"at": now.isoformat(), "by": by} if had_password or user.last_login or ended["tokens"] else None
            User.objects.filter(pk=user.pk).update(notice=notice, name=name or user.name)
            record(
                actor=user,
                verb="verify address",
                obj=user,
                before={"name": user.name},
                after={"by": by, "name": name or user.name, "ended": ended},
            )
    user.refresh_from_db()


def end_tokens(user: User) -> int:
    """Revoke all API tokens of a user, in the caller's transaction, and return their number."""
    return ApiToken.objects.filter(user=user, revoked_at=None).update(revoked_at=timezone.now())


def end_other_access(user: User) -> dict[str, int]:
    """End all API tokens and unused sign-in links of a user, in the caller's transaction. Return their numbers."""
    links = SignInLink.objects.filter(user=user, used_at=None).update(used_at=timezone.now())
    return {"tokens ended": end_tokens(user), "links ended": links}


def lock_account(user: User) -> None:
    """Lock the account's row until the transaction ends, if the credentials of this request are still valid.

    Otherwise a concurrent request could create new credentials while all others are being ended. Raise
    `NotAuthenticated` if the credentials have changed.
    """
    same = User.objects.filter(pk=user.pk, password=user.password, session_salt=user.session_salt, is_active=True)
    if not same.update(name=F("name")):
        raise NotAuthenticated
