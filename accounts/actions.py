"""What is done with accounts: signing in and out, links, profile, password, personal API tokens."""

from datetime import timedelta
from typing import Any

from django.contrib.auth import authenticate, login, logout, update_session_auth_hash
from django.contrib.auth.hashers import make_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from api import limits
from api.addresses import place
from api.problems import Refused, SpentLink, WrongCredentials
from audit.log import changes, record

from . import devices, preferences, throttling
from .models import ApiToken, Failure, SignInLink, User
from .tokens import new_token, token_hash
from .verification import end_tokens, hold, verify_address

BACKEND = "accounts.sessions.Backend"


def sign_in(*, request: HttpRequest, email: str, password: str) -> User:
    """Sign in by password; the session gets a new id. Unknown address, wrong password and closed account give the
    same reply after the same work. Raises `WrongCredentials`, `TooManyTries`."""
    browser, where = devices.known(request, email), place(request)
    what, who = (Failure.What.DEVICE, browser) if browser else (Failure.What.SIGN_IN, where)
    throttling.check(what, who)
    tried = _bare(request, where)
    user = authenticate(tried, username=email.strip().lower(), password=password)
    if user is None:
        # A try at an account that is locked already tells the guesser nothing. To count it against the place would
        # let one person who goes on trying lock out everybody in the same house.
        if getattr(tried, "axes_locked_out", False):
            raise throttling.too_many()
        throttling.count(what, who)
        raise WrongCredentials("This e-mail address and password do not belong together.")
    assert isinstance(user, User)
    begin_session(request=request, user=user, how="password")
    return user


def _bare(request: HttpRequest, where: str) -> HttpRequest:
    """What axes needs of a request and no more. It would store headers, which may hold what no data base takes."""
    bare = HttpRequest()
    bare.method, bare.COOKIES, bare.META = request.method, request.COOKIES, {"REMOTE_ADDR": where}
    return bare


def begin_session(*, request: HttpRequest, user: User, how: str) -> None:
    """Give the browser a session of this user, under a new id whatever it had before."""
    with transaction.atomic():
        login(request, user, backend=BACKEND)
        record(actor=user, verb="sign in", obj=user, after={"by": how})


def sign_out(*, request: HttpRequest, user: User) -> None:
    """End the browser's session."""
    with transaction.atomic():
        record(actor=user, verb="sign out", obj=user)
        logout(request)


def make_sign_in_link(*, user: User, hours: float = 24, by: User | None = None) -> str:
    """A token that signs this user in once within ``hours``; only its hash is kept."""
    token = new_token()
    with transaction.atomic():
        link = SignInLink.objects.create(
            user=user, token_hash=token_hash(token), expires_at=timezone.now() + timedelta(hours=hours)
        )
        record(actor=by, verb="make sign-in link", obj=user, after={"expires_at": link.expires_at})
    return token


def use_sign_in_link(*, request: HttpRequest, token: str) -> User:
    """Sign in by a link, which is spent by it. Raises `SpentLink`, `TooManyTries`."""
    now = timezone.now()
    open_links = SignInLink.objects.filter(used_at=None, expires_at__gt=now, user__is_active=True)
    link = open_links.select_related("user").filter(token_hash=token_hash(token)).first()
    if link is not None:
        with transaction.atomic():
            # Whoever sets it first has it: two browsers at once give one session.
            if SignInLink.objects.filter(pk=link.pk, used_at=None).update(used_at=now):
                verify_address(user=link.user, by="link")
                begin_session(request=request, user=link.user, how="link")
                return link.user
    throttling.wrong_token(request)
    raise SpentLink("This sign-in link was used, has expired or never existed. Ask for a new one.")


def change_profile(*, user: User, name: str | None = None, prefer: dict[str, Any] | None = None) -> User:
    """Set the name, some of the preferences, or both."""
    before: dict[str, Any] = {"name": user.name, "preferences": preferences.of(user)}
    after: dict[str, Any] = {"name": name or user.name, "preferences": before["preferences"] | (prefer or {})}
    was, is_now = changes(before, after)
    if not is_now:
        return user
    with transaction.atomic():
        user.name, user.preferences = after["name"], after["preferences"]
        user.save(update_fields=["name", "preferences"])
        record(actor=user, verb="change profile", obj=user, before=was, after=is_now)
    return user


def set_password(*, request: HttpRequest, user: User, new: str, current: str | None = None) -> None:
    """Set or change the password; every other session of the user ends, and every API token. Raises `Refused`,
    `TooManyTries`."""
    who = f"user {user.pk}"
    throttling.check(Failure.What.PASSWORD, who)
    if user.has_usable_password() and not user.check_password(current or ""):
        throttling.count(Failure.What.PASSWORD, who)
        raise Refused.field("current", "This is not your current password.")
    check_password_strength(new, user, field="new")
    hashed = make_password(new)  # slow on purpose, so before the transaction: on SQLite that would keep others waiting
    with transaction.atomic():
        hold(user)
        user.password = hashed
        user.save(update_fields=["password"])
        record(actor=user, verb="set password", obj=user, after={"tokens ended": end_tokens(user)})
        # Sessions carry a hash of the password; this one is given the new hash and a new id.
        update_session_auth_hash(request, user)


def end_other_sessions(*, request: HttpRequest, user: User) -> None:
    """Sign the user out everywhere but here; this session goes on under a new id."""
    with transaction.atomic():
        hold(user)
        user.session_salt = new_token()
        user.save(update_fields=["session_salt"])
        record(actor=user, verb="end other sessions", obj=user)
        update_session_auth_hash(request, user)


def check_password_strength(password: str, user: User, *, field: str) -> None:
    """Raise `Refused` for a password that Django's validators do not accept."""
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise Refused(
            " ".join(error.messages), errors=[{"field": field, "message": m} for m in error.messages]
        ) from error  # fmt: skip


def make_token(*, user: User, name: str, days: int | None = None) -> tuple[ApiToken, str]:
    """A personal API token: the row, and the secret, which is not kept."""
    limits.check("LIMIT_API_TOKENS", ApiToken.objects.filter(user=user, revoked_at=None))
    secret = new_token()
    with transaction.atomic():
        hold(user)
        token = ApiToken.objects.create(
            user=user,
            name=name,
            token_hash=token_hash(secret),
            hint=secret[-4:],
            expires_at=timezone.now() + timedelta(days=days) if days else None,
        )
        record(
            actor=user, verb="make API token", obj=token, after={"name": name, "expires_at": token.expires_at}
        )  # fmt: skip
    return token, secret


def revoke_token(*, token: ApiToken, by: User) -> None:
    """End a personal API token. Ending it again changes nothing."""
    with transaction.atomic():
        if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
            record(actor=by, verb="revoke API token", obj=token, before={"name": token.name})


def revoke_tokens(*, user: User) -> None:
    """End every personal API token of the user."""
    with transaction.atomic():
        hold(user)
        if ended := end_tokens(user):
            record(actor=user, verb="revoke API tokens", obj=user, after={"tokens ended": ended})


def put_notice_away(*, user: User) -> None:
    """The owner has read what ended when the address was verified."""
    User.objects.filter(pk=user.pk).update(notice=None)
    user.notice = None
