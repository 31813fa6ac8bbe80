"""Serializers for accounts, sign-in and API tokens."""

from typing import Any

from rest_framework import serializers

from accounts import actions
from api.fields import NameField, Strict

from .actions import MAX_TOKEN_DAYS, TOKEN_DAYS
from .models import ApiToken, User

PASSWORD: dict[str, Any] = {
    "max_length": 256,
    "trim_whitespace": False,
    "write_only": True,
    "style": {"input_type": "password"},
}


class PreferencesSerializer(Strict):
    single_keys = serializers.BooleanField(
        required=False, help_text="Whether single letters and digits are shortcut keys on the work page."
    )
    theme = serializers.ChoiceField(choices=[(t, t) for t in actions.THEMES], required=False)
    pin_guideline = serializers.BooleanField(
        required=False, help_text="Whether wide pages show the guideline beside the text."
    )
    mail = serializers.BooleanField(
        required=False, help_text="Whether the user gets an e-mail digest of notifications, if the server sends e-mail."
    )
    introduced = serializers.ListField(
        child=serializers.SlugField(max_length=30),
        max_length=30,
        required=False,
        help_text="Task kinds whose introduction the user has seen or skipped.",
    )


class UserPreferencesSerializer(serializers.Serializer[Any]):
    single_keys = serializers.BooleanField()
    theme = serializers.ChoiceField(choices=[(t, t) for t in actions.THEMES])
    pin_guideline = serializers.BooleanField()
    mail = serializers.BooleanField()
    introduced = serializers.ListField(child=serializers.CharField())


class VerifiedNoticeSerializer(serializers.Serializer[Any]):
    """Notice that the address was verified, which ended all earlier access to the account."""

    at = serializers.DateTimeField()
    by = serializers.ChoiceField(choices=[("provider", "provider"), ("link", "link")])


class UserSerializer(serializers.ModelSerializer[User]):
    """The signed-in user."""

    preferences = serializers.SerializerMethodField()
    has_password = serializers.SerializerMethodField()
    notice = VerifiedNoticeSerializer(allow_null=True)

    class Meta:
        model = User
        fields = [
            "id",
            "email",
            "email_verified_at",
            "name",
            "preferences",
            "has_password",
            "is_staff",
            "is_guest",
            "notice",
        ]
        read_only_fields = fields

    def get_preferences(self, user: User) -> UserPreferencesSerializer:
        return actions.of(user)  # type: ignore[return-value]

    def get_has_password(self, user: User) -> bool:
        return user.has_usable_password()


class SignInSerializer(Strict):
    email = serializers.CharField(max_length=254)
    password = serializers.CharField(**PASSWORD)


class LinkSerializer(Strict):
    token = serializers.CharField(max_length=100, write_only=True)


class MeSerializer(Strict):
    name = NameField(max_length=120, required=False)
    preferences = PreferencesSerializer(required=False)
    notice_read = serializers.BooleanField(required=False, help_text="Whether to stop showing the notice.")


class PasswordSerializer(Strict):
    current = serializers.CharField(**PASSWORD, required=False, help_text="Required if the account has a password.")
    new = serializers.CharField(**PASSWORD)


class NewTokenSerializer(Strict):
    name = NameField(max_length=80)
    scope = serializers.ChoiceField(
        choices=ApiToken.Scope.choices,
        default=ApiToken.Scope.READ,
        help_text="read: view all that you may see; annotate: also answer in rounds; lead: do all that you may do.",
    )
    days = serializers.IntegerField(
        min_value=1, max_value=MAX_TOKEN_DAYS, default=TOKEN_DAYS, help_text="Days until the token expires."
    )


class ApiTokenSerializer(serializers.ModelSerializer[ApiToken]):
    class Meta:
        model = ApiToken
        fields = ["id", "name", "scope", "hint", "created_at", "expires_at", "last_used_at"]
        read_only_fields = fields


class CreatedTokenSerializer(ApiTokenSerializer):
    token = serializers.CharField(help_text="Returned only once.")

    class Meta(ApiTokenSerializer.Meta):
        fields = [*ApiTokenSerializer.Meta.fields, "token"]
        read_only_fields = fields
