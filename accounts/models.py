"""Users, one-time sign-in links and personal API tokens. Permissions in a project are defined in ``projects``."""

from datetime import datetime
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.crypto import salted_hmac


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        user = self.model(email=self.normalize_email(email).strip(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Create a superuser. The operator vouches for the address, so it counts as verified."""
        fields = {"is_staff": True, "is_superuser": True, "email_verified_at": timezone.now()} | fields
        return self.create_user(email, password, **fields)

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email__iexact=username)


class User(AbstractBaseUser, PermissionsMixin):
    """A user, identified by e-mail address (case-insensitive)."""

    email = models.EmailField(max_length=254, unique=True)
    name = models.CharField(max_length=120)
    preferences = models.JSONField(default=dict, blank=True)
    is_staff = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    joined_at = models.DateTimeField(auto_now_add=True)
    guest_until = models.DateTimeField(
        null=True, blank=True, help_text="Time at which access ends, for a guest who entered by a link."
    )

    email_verified_at = models.DateTimeField(
        null=True, blank=True, help_text="Time at which the e-mail address was verified."
    )
    session_salt = models.CharField(max_length=43, blank=True, help_text="Changing it ends every session.")
    notice = models.JSONField(
        null=True,
        blank=True,
        help_text="What ended when the address was verified, until the owner has seen the notice.",
    )

    objects: ClassVar[UserManager] = UserManager()
    USERNAME_FIELD = "email"
    REQUIRED_FIELDS = ["name"]

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="one_user_per_email")]

    def __str__(self) -> str:
        return self.name or self.email

    def check_password(self, raw_password: str | None) -> bool:
        """Check the password like Django, but do not let a rehash overwrite a password that was set concurrently."""

        def hash_anew(raw: str | None) -> None:
            old_hash, self.password = self.password, make_password(raw)
            User.objects.filter(pk=self.pk, password=old_hash).update(password=self.password)

        return check_password(raw_password, self.password, hash_anew)

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """Include the salt in Django's hash, so that sessions can be ended without changing the password."""
        key = "django.contrib.auth.models.AbstractBaseUser.get_session_auth_hash"
        return salted_hmac(key, self.password + self.session_salt, secret=secret, algorithm="sha256").hexdigest()

    @property
    def is_guest(self) -> bool:
        """Return whether the user entered by a link and has no account. Guests can use only views for guests."""
        return self.guest_until is not None

    def has_ended(self, now: datetime) -> bool:
        """Return whether the access of a guest has expired."""
        return self.guest_until is not None and self.guest_until <= now


class ProviderIdentity(models.Model):
    """The identity of an account at an identity provider. Addresses may be reassigned; subjects are permanent."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="provider_identities")
    issuer = models.CharField(max_length=200)
    subject = models.CharField(max_length=255)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="one_account_per_subject"),
            models.UniqueConstraint(fields=["issuer", "user"], name="one_subject_per_account"),
        ]

    def __str__(self) -> str:
        return f"{self.subject} of {self.issuer}"


class SignInLink(models.Model):
    """A link that signs one user in once, until it expires. Only the hash of its token is stored."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="sign_in_links")
    token_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)


class ApiToken(models.Model):
    """A personal token for scripts, sent as ``Authorization: Bearer ...``. Only its hash is stored."""

    class Scope(models.TextChoices):
        READ = "read"
        ANNOTATE = "annotate"
        LEAD = "lead"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    scope = models.CharField(
        max_length=8,
        choices=Scope,
        default=Scope.LEAD,
        help_text="read: view what your role allows; annotate: also answer in rounds; lead: all that your role may do.",
    )
    token_hash = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=8, help_text="Last characters, which tell tokens apart.")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)


class Failure(models.Model):
    """A failed sign-in or an invalid token, counted by ``accounts.throttling`` and deleted soon after."""

    class What(models.TextChoices):
        SIGN_IN = "sign-in"
        TOKEN = "token"
        PASSWORD = "password"
        DEVICE = "device"
        ACCOUNT = "account"

    what = models.CharField(max_length=8, choices=What)
    who = models.CharField(max_length=64, help_text="Prefix of a client's address, id of a user, or name of a browser.")
    at = models.DateTimeField(db_index=True)

    class Meta:
        indexes = [models.Index(fields=["what", "who", "at"])]

    def __str__(self) -> str:
        return f"{self.what} by {self.who}"
