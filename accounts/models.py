"""People: users, one-time sign-in links and personal API tokens. Who may do what in a project is told in projects."""

from datetime import datetime
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.db import models
from django.db.models.functions import Lower


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        user = self.model(email=self.normalize_email(email).strip(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email__iexact=username)


class User(AbstractBaseUser, PermissionsMixin):
    """A person, known by e-mail address (compared without case)."""

    email = models.EmailField(max_length=254, unique=True)
    name = models.CharField(max_length=120)
    preferences = models.JSONField(default=dict, blank=True)
    is_staff = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    joined_at = models.DateTimeField(auto_now_add=True)
    guest_until = models.DateTimeField(
        null=True, blank=True, help_text="Set for somebody without an own account, let in by a link until then."
    )

    objects: ClassVar[UserManager] = UserManager()
    USERNAME_FIELD = "email"
    REQUIRED_FIELDS = ["name"]

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="one_user_per_email")]

    def __str__(self) -> str:
        return self.name or self.email

    @property
    def is_guest(self) -> bool:
        """Somebody let in by a link, without password or address: only what is marked as open to guests exists."""
        return self.guest_until is not None

    def has_ended(self, now: datetime) -> bool:
        """Whether this is a guest whose time is over."""
        return self.guest_until is not None and self.guest_until <= now


class SignInLink(models.Model):
    """A link that signs one existing user in, once, until it expires. Only the hash of its token is kept."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="sign_in_links")
    token_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)


class ApiToken(models.Model):
    """A personal token for scripts, sent as ``Authorization: Bearer ...``. Only its hash is kept."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    token_hash = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=8, help_text="The last characters, to tell tokens apart.")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)


class Failure(models.Model):
    """One failed try at signing in or at a secret link, counted by ``accounts.throttling``; deleted soon after."""

    class What(models.TextChoices):
        SIGN_IN = "sign-in"
        TOKEN = "token"
        PASSWORD = "password"

    what = models.CharField(max_length=8, choices=What)
    who = models.CharField(max_length=64, help_text="An address, or for passwords a user's id.")
    at = models.DateTimeField(db_index=True)

    class Meta:
        indexes = [models.Index(fields=["what", "who", "at"])]

    def __str__(self) -> str:
        return f"{self.what} by {self.who}"
