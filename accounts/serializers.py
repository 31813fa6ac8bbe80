"""Accounts in JSON."""

from typing import Any

from rest_framework import serializers

from api.fields import Strict

from . import preferences
from .models import ApiToken, User

PASSWORD: dict[str, Any] = {
    "max_length": 256,
    "trim_whitespace": False,
    "write_only": True,
    "style": {"input_type": "password"},
}


class PreferencesSerializer(Strict):
    single_keys = serializers.BooleanField(
        required=False, help_text="Whether single letters and digits are keys on the work page."
    )  # fmt: skip
    theme = serializers.ChoiceField(choices=[(t, t) for t in preferences.THEMES], required=False)
    pin_guideline = serializers.BooleanField(
        required=False, help_text="Whether the guideline stands beside the text on a wide page."
    )  # fmt: skip
    mail = serializers.BooleanField(
        required=False, help_text="Whether a digest of what is new comes by e-mail, where the installation sends any."
    )  # fmt: skip
    introduced = serializers.ListField(
        child=serializers.SlugField(max_length=30), max_length=30, required=False,
        help_text="Task kinds whose introduction the person has seen, or skipped.",
    )  # fmt: skip


class UserPreferencesSerializer(serializers.Serializer[Any]):
    single_keys = serializers.BooleanField()
    theme = serializers.ChoiceField(choices=[(t, t) for t in preferences.THEMES])
    pin_guideline = serializers.BooleanField()
    mail = serializers.BooleanField()
    introduced = serializers.ListField(child=serializers.CharField())


class VerifiedNoticeSerializer(serializers.Serializer[Any]):
    """The account was there before its owner: what was in force then ended at this moment."""

    at = serializers.DateTimeField()
    by = serializers.ChoiceField(choices=[("provider", "provider"), ("link", "link")])


class UserSerializer(serializers.ModelSerializer[User]):
    """The signed-in person, as that person sees it."""

    preferences = serializers.SerializerMethodField()
    has_password = serializers.SerializerMethodField()
    notice = VerifiedNoticeSerializer(allow_null=True)

    class Meta:
        model = User
        fields = ["id", "email", "email_verified_at", "name", "preferences", "has_password", "is_staff", "is_guest",
                  "notice"]  # fmt: skip
        read_only_fields = fields

    def get_preferences(self, user: User) -> UserPreferencesSerializer:
        return preferences.of(user)  # type: ignore[return-value]

    def get_has_password(self, user: User) -> bool:
        return user.has_usable_password()


class SignInSerializer(Strict):
    email = serializers.CharField(max_length=254)
    password = serializers.CharField(**PASSWORD)


class LinkSerializer(Strict):
    token = serializers.CharField(max_length=100, write_only=True)


class MeSerializer(Strict):
    name = serializers.CharField(max_length=120, required=False)
    preferences = PreferencesSerializer(required=False)
    notice_read = serializers.BooleanField(required=False, help_text="Show the notice no more.")


class PasswordSerializer(Strict):
    current = serializers.CharField(**PASSWORD, required=False, help_text="Needed where a password is set.")
    new = serializers.CharField(**PASSWORD)


class NewTokenSerializer(Strict):
    name = serializers.CharField(max_length=80)
    days = serializers.IntegerField(
        min_value=1, max_value=3650, required=False, allow_null=True, help_text="Left out: it does not expire."
    )  # fmt: skip


class ApiTokenSerializer(serializers.ModelSerializer[ApiToken]):
    class Meta:
        model = ApiToken
        fields = ["id", "name", "hint", "created_at", "expires_at", "last_used_at"]
        read_only_fields = fields


class MadeTokenSerializer(ApiTokenSerializer):
    token = serializers.CharField(help_text="Shown this once.")

    class Meta(ApiTokenSerializer.Meta):
        fields = [*ApiTokenSerializer.Meta.fields, "token"]
        read_only_fields = fields
