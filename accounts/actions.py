"""Actions on accounts: sign-in and sign-out, links, profile, password, personal API tokens."""

from datetime import timedelta
from typing import Any

from django.contrib.auth import authenticate, login, logout, update_session_auth_hash
from django.contrib.auth.hashers import make_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from accounts import sessions, throttling
from accounts.models import ApiToken, Failure, SignInLink, User
from accounts.tokens import new_token, token_hash
from accounts.verification import end_other_access, end_tokens, lock_account, verify_address
from api import limits
from api.addresses import client_ip_prefix
from api.problems import Refused, SpentLink, WrongCredentials
from audit.log import changed_values, record

DEFAULTS: dict[str, Any] = {
    "single_keys": True,
    "theme": "auto",
    "pin_guideline": False,
    "mail": True,
    "introduced": [],
}
THEMES = ("auto", "light", "dark")


def of(user: User) -> dict[str, Any]:
    """Return all preferences of a user. Keys that no longer exist are omitted."""
    return {key: user.preferences.get(key, default) for key, default in DEFAULTS.items()}


#: Lifetime of a new API token in days: default and maximum.
TOKEN_DAYS, MAX_TOKEN_DAYS = 90, 366
BACKEND = "accounts.sessions.Backend"


def sign_in(*, request: HttpRequest, email: str, password: str) -> User:
    """Sign in by password. The session gets a new id.

    An unknown address, a wrong password and a closed account give the same response after the same work. Raise
    `WrongCredentials` or `TooManyTries`.
    """
    browser_name, client_ip = sessions.known_browser(request, email), client_ip_prefix(request)
    counter, key = (Failure.What.DEVICE, browser_name) if browser_name else (Failure.What.SIGN_IN, client_ip)
    throttling.check(counter, key)
    minimal = _minimal_request(request, client_ip)
    user = authenticate(minimal, username=email.strip().lower(), password=password)
    if user is None:
        # A failure at a locked account gives no information. Counting it for the IP address would let one user who
        # continues to try lock out all users of the same network.
        if getattr(minimal, "axes_locked_out", False):
            raise throttling.too_many_tries()
        throttling.count(counter, key)
        raise WrongCredentials("The e-mail address or the password is wrong. Try again, or ask for a sign-in link.")
    assert isinstance(user, User)
    begin_session(request=request, user=user, how="password")
    return user


def _minimal_request(request: HttpRequest, client_ip: str) -> HttpRequest:
    """Return a request with only the data that axes needs.

    axes stores headers, which may contain characters that the database rejects.
    """
    minimal = HttpRequest()
    minimal.method, minimal.COOKIES, minimal.META = request.method, request.COOKIES, {"REMOTE_ADDR": client_ip}
    return minimal


def begin_session(*, request: HttpRequest, user: User, how: str) -> None:
    """Start a session of this user with a new session id."""
    with transaction.atomic():
        login(request, user, backend=BACKEND)
        record(actor=user, verb="sign in", obj=user, after={"by": how})


def sign_out(*, request: HttpRequest, user: User) -> None:
    """End the browser's session."""
    with transaction.atomic():
        record(actor=user, verb="sign out", obj=user)
        logout(request)


def make_sign_in_link(*, user: User, hours: float = 24, by: User | None = None) -> str:
    """Create a token that signs this user in once within ``hours``. Only its hash is stored."""
    token = new_token()
    with transaction.atomic():
        link = SignInLink.objects.create(
            user=user, token_hash=token_hash(token), expires_at=timezone.now() + timedelta(hours=hours)
        )
        record(actor=by, verb="make sign-in link", obj=user, after={"expires_at": link.expires_at})
    return token


def use_sign_in_link(*, request: HttpRequest, token: str) -> User:
    """Sign in by a link, which cannot be used again. Raise `SpentLink` or `TooManyTries`."""
    now = timezone.now()
    open_links = SignInLink.objects.filter(used_at=None, expires_at__gt=now, user__is_active=True)
    link = open_links.select_related("user").filter(token_hash=token_hash(token)).first()
    if link is not None:
        with transaction.atomic():
            # Only the first update succeeds, so that two simultaneous requests give one session.
            if SignInLink.objects.filter(pk=link.pk, used_at=None).update(used_at=now):
                verify_address(user=link.user, by="link")
                begin_session(request=request, user=link.user, how="link")
                return link.user
    throttling.count_invalid_token(request)
    raise SpentLink("This sign-in link is invalid, expired or already used. Ask for a new one.")


def change_profile(*, user: User, name: str | None = None, prefer: dict[str, Any] | None = None) -> User:
    """Change the name, some preferences, or both."""
    before: dict[str, Any] = {"name": user.name, "preferences": of(user)}
    after: dict[str, Any] = {"name": name or user.name, "preferences": before["preferences"] | (prefer or {})}
    old_values, new_values = changed_values(before, after)
    if not new_values:
        return user
    with transaction.atomic():
        user.name, user.preferences = after["name"], after["preferences"]
        user.save(update_fields=["name", "preferences"])
        record(actor=user, verb="change profile", obj=user, before=old_values, after=new_values)
    return user


def set_password(*, request: HttpRequest, user: User, new: str, current: str | None = None) -> None:
    """Set or change the password, and end all other sessions, API tokens and unused sign-in links.

    Raise `Refused` or `TooManyTries`.
    """
    key = f"user {user.pk}"
    throttling.check(Failure.What.PASSWORD, key)
    if user.has_usable_password() and not user.check_password(current or ""):
        throttling.count(Failure.What.PASSWORD, key)
        raise Refused.field("current", "The current password is wrong.")
    check_password_strength(new, user, field="new")
    hashed = make_password(new)  # slow, so hash before the transaction, which locks SQLite
    with transaction.atomic():
        lock_account(user)
        user.password = hashed
        user.save(update_fields=["password"])
        record(actor=user, verb="set password", obj=user, after=end_other_access(user))
        # Sessions contain a hash of the password. This session gets the new hash and a new id.
        update_session_auth_hash(request, user)


def end_other_sessions(*, request: HttpRequest, user: User) -> None:
    """End all other sessions, API tokens and unused sign-in links of the user. This session gets a new id."""
    with transaction.atomic():
        lock_account(user)
        user.session_salt = new_token()
        user.save(update_fields=["session_salt"])
        record(actor=user, verb="end other sessions", obj=user, after=end_other_access(user))
        update_session_auth_hash(request, user)


def check_password_strength(password: str, user: User, *, field: str) -> None:
    """Raise `Refused` for a password that Django's validators reject."""
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise Refused(
            " ".join(error.messages), errors=[{"field": field, "message": m} for m in error.messages]
        ) from error


def make_token(
    *, user: User, name: str, scope: str = ApiToken.Scope.LEAD, days: int = TOKEN_DAYS
) -> tuple[ApiToken, str]:
    """Create a personal API token that expires after ``days``. Return the row and the secret, which is not stored."""
    limits.check("LIMIT_API_TOKENS", ApiToken.objects.filter(user=user, revoked_at=None))
    secret = new_token()
    with transaction.atomic():
        lock_account(user)
        token = ApiToken.objects.create(
            user=user,
            name=name,
            scope=scope,
            token_hash=token_hash(secret),
            hint=secret[-4:],
            expires_at=timezone.now() + timedelta(days=days),
        )
        record(
            actor=user,
            verb="make API token",
            obj=token,
            after={"name": name, "scope": scope, "expires_at": token.expires_at},
        )
    return token, secret


def revoke_token(*, token: ApiToken, by: User) -> None:
    """Revoke a personal API token. Idempotent."""
    with transaction.atomic():
        if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
            record(actor=by, verb="revoke API token", obj=token, before={"name": token.name})


def revoke_tokens(*, user: User) -> None:
    """Revoke all personal API tokens of the user."""
    with transaction.atomic():
        lock_account(user)
        if ended := end_tokens(user):
            record(actor=user, verb="revoke API tokens", obj=user, after={"tokens ended": ended})


def dismiss_notice(*, user: User) -> None:
    """Delete the user's notice about the verified address."""
    User.objects.filter(pk=user.pk).update(notice=None)
    user.notice = None
