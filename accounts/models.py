"""People: users, one-time sign-in links and personal API tokens. Who may do what in a project is told in projects."""

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
        """For an operator at the machine, who says whose address it is."""
        fields = {"is_staff": True, "is_superuser": True, "email_verified_at": timezone.now()} | fields
        return self.create_user(email, password, **fields)

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

    email_verified_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when the account is known to belong to whoever has the address."
    )
    session_salt = models.CharField(max_length=43, blank=True, help_text="A new one ends every session.")
    notice = models.JSONField(
        null=True, blank=True, help_text="What ended when the address was verified, until its owner has read it."
    )

    objects: ClassVar[UserManager] = UserManager()
    USERNAME_FIELD = "email"
    REQUIRED_FIELDS = ["name"]

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="one_user_per_email")]

    def __str__(self) -> str:
        return self.name or self.email

    def check_password(self, raw_password: str | None) -> bool:
        """As Django's; but a password that is hashed anew on the way must not come back over one set meanwhile."""

        def hash_anew(raw: str | None) -> None:
            was, self.password = self.password, make_password(raw)
            User.objects.filter(pk=self.pk, password=was).update(password=self.password)

        return check_password(raw_password, self.password, hash_anew)

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """Django's, over the salt as well: sessions end without touching the password."""
        key = "django.contrib.auth.models.AbstractBaseUser.get_session_auth_hash"
        return salted_hmac(key, self.password + self.session_salt, secret=secret, algorithm="sha256").hexdigest()

    @property
    def is_guest(self) -> bool:
        """Somebody let in by a link, without password or address: only what is marked as open to guests exists."""
        return self.guest_until is not None

    def has_ended(self, now: datetime) -> bool:
        """Whether this is a guest whose time is over."""
        return self.guest_until is not None and self.guest_until <= now


class ProviderIdentity(models.Model):
    """Which person of an identity provider an account belongs to: addresses change hands, subjects do not."""

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
        DEVICE = "device"
        ACCOUNT = "account"

    what = models.CharField(max_length=8, choices=What)
    who = models.CharField(max_length=64, help_text="A place, a user's id, or the name of a browser.")
    at = models.DateTimeField(db_index=True)

    class Meta:
        indexes = [models.Index(fields=["what", "who", "at"])]

    def __str__(self) -> str:
        return f"{self.what} by {self.who}"
