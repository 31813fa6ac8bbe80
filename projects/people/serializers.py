"""Serializers of sessions, projects, members and invitations."""

from datetime import datetime
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from accounts.serializers import PASSWORD, UserSerializer
from api.fields import NameField, Strict
from measures import spdx

from ..models import Invitation, Member, Project, Role
from ..models.project import MAY, verbs_of
from ..permissions import may

Plain = serializers.Serializer[Any]
#: Roles that a lead can assign. Volunteers join by participant links.
GIVEN_ROLES = [choice for choice in Role.choices if choice[0] != Role.VOLUNTEER]


class MembershipSerializer(serializers.ModelSerializer[Member]):
    """One of the signed-in person's projects."""

    slug = serializers.CharField(source="project.slug")
    name = serializers.CharField(source="project.name")
    illustrative = serializers.BooleanField(source="project.illustrative")
    may = serializers.SerializerMethodField(
        help_text="Permissions of this person in the project. Pages check these instead of the role."
    )

    class Meta:
        model = Member
        fields = ["slug", "name", "role", "illustrative", "may"]
        read_only_fields = fields

    @extend_schema_field(serializers.ListField(child=serializers.ChoiceField(choices=list(MAY))))
    def get_may(self, member: Member) -> list[str]:
        return verbs_of(member.role)


class SessionSerializer(Plain):
    """The signed-in user and the user's projects."""

    user = UserSerializer()
    projects = MembershipSerializer(many=True)


class ProjectSerializer(serializers.ModelSerializer[Project]):
    role = serializers.ChoiceField(choices=Role.choices, help_text="Role of the signed-in user.")

    class Meta:
        model = Project
        fields = [
            "slug",
            "name",
            "description",
            "licence",
            "citation",
            "publish_comments",
            "show_adjudication",
            "illustrative",
            "created_at",
            "role",
        ]
        read_only_fields = fields


class ProjectProgressSerializer(Plain):
    """Progress of the rounds of a project. Answers are counted in open rounds only."""

    rounds = serializers.IntegerField()
    open_rounds = serializers.IntegerField()
    answered = serializers.IntegerField()
    assignments = serializers.IntegerField()


class ProjectRowSerializer(ProjectSerializer):
    progress = ProjectProgressSerializer(allow_null=True, help_text="Null if the user may not read rounds.")

    class Meta(ProjectSerializer.Meta):
        fields = [*ProjectSerializer.Meta.fields, "progress"]
        read_only_fields = fields


class LicenceField(serializers.CharField):
    """SPDX id of a licence, with the capitals of SPDX's list. Empty is allowed."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=120, allow_blank=True, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        text: str = super().to_internal_value(data)
        if text and not spdx.spdx_id(text):
            raise serializers.ValidationError(f"{text!r} is no SPDX id of a licence. Expected an id such as CC-BY-4.0.")
        return spdx.spdx_id(text) or ""


class ProjectSettingsSerializer(Strict):
    name = NameField(max_length=120)
    description = serializers.CharField(max_length=5000, allow_blank=True, required=False)
    licence = LicenceField(required=False, help_text="Licence of the released data: an SPDX id.")
    citation = serializers.CharField(max_length=5000, allow_blank=True, required=False)
    publish_comments = serializers.BooleanField(
        required=False, help_text="Whether releases contain the comments that annotators added to their answers."
    )
    show_adjudication = serializers.BooleanField(
        required=False,
        help_text="Whether annotators see the decisions on their answers, with reasons, after the round is closed.",
    )


class NewProjectSerializer(ProjectSettingsSerializer):
    slug = serializers.SlugField(
        max_length=60,
        required=False,
        help_text="Short name; derived from the name if omitted. Letters are appended if it is taken.",
    )


class MemberSerializer(serializers.ModelSerializer[Member]):
    """Leads and curators see names, and leads also see e-mail addresses. Others see only pseudonyms."""

    name = serializers.SerializerMethodField()
    email = serializers.SerializerMethodField()
    is_me = serializers.SerializerMethodField()
    is_volunteer = serializers.BooleanField(help_text="Whether the member joined one round by a participant link.")

    class Meta:
        model = Member
        fields = ["id", "pseudonym", "role", "name", "email", "is_me", "is_volunteer", "joined_at", "left_at"]
        read_only_fields = fields

    def _asking(self) -> Member:
        asking: Member = self.context["asking"]
        return asking

    def get_name(self, member: Member) -> str | None:
        return member.name if may(self._asking(), "see names") or self.get_is_me(member) else None

    def get_email(self, member: Member) -> str | None:
        if member.user.is_guest:
            return None
        return member.user.email if may(self._asking(), "see e-mail addresses") or self.get_is_me(member) else None

    def get_is_me(self, member: Member) -> bool:
        return member.pk == self._asking().pk


class MemberRowSerializer(MemberSerializer):
    """A member in the list of people. The last answer is for leads and curators."""

    open_rounds = serializers.IntegerField(help_text="Open rounds in which the member takes part.")
    last_answer_at = serializers.SerializerMethodField()

    class Meta(MemberSerializer.Meta):
        fields = [*MemberSerializer.Meta.fields, "open_rounds", "last_answer_at"]
        read_only_fields = fields

    @extend_schema_field(serializers.DateTimeField(allow_null=True))
    def get_last_answer_at(self, member: Any) -> datetime | None:
        shown = may(self._asking(), "see who answered what") or self.get_is_me(member)
        return member.last_answer_at if shown else None


class RoleSerializer(Strict):
    role = serializers.ChoiceField(choices=GIVEN_ROLES)


class NewInvitationSerializer(Strict):
    email = serializers.EmailField(max_length=254)
    role = serializers.ChoiceField(choices=GIVEN_ROLES)
    days = serializers.IntegerField(
        min_value=1, max_value=90, default=14, help_text="Days until the invitation expires."
    )


INVITATION_STATES = [(s, s) for s in ("open", "accepted", "revoked", "expired")]


class InvitationSerializer(serializers.ModelSerializer[Invitation]):
    state = serializers.SerializerMethodField()

    class Meta:
        model = Invitation
        fields = ["id", "email", "role", "state", "created_at", "expires_at", "accepted_at", "revoked_at"]
        read_only_fields = fields

    def get_state(self, invitation: Invitation) -> str:
        if invitation.accepted_at:
            return "accepted"
        if invitation.revoked_at:
            return "revoked"
        return "expired" if invitation.expires_at <= timezone.now() else "open"


class MadeInvitationSerializer(InvitationSerializer):
    token = serializers.CharField(help_text="Token of the invitation link /join#TOKEN.")

    class Meta(InvitationSerializer.Meta):
        fields = [*InvitationSerializer.Meta.fields, "token"]
        read_only_fields = fields


class InvitationLinkSerializer(Plain):
    token = serializers.CharField(help_text="Token of the invitation link /join#TOKEN.")


class InvitationLookSerializer(Plain):
    """Information about an invitation before it is accepted."""

    project = serializers.CharField()
    role = serializers.ChoiceField(choices=Role.choices)
    email = serializers.CharField()
    invited_by = serializers.CharField()
    signed_in = serializers.BooleanField(help_text="Whether this browser is signed in with that e-mail address.")


class InvitationTokenSerializer(Strict):
    token = serializers.CharField(max_length=100, write_only=True)


class AcceptSerializer(Strict):
    token = serializers.CharField(max_length=100, write_only=True)
    name = NameField(max_length=120, required=False, default="", allow_blank=True)
    password = serializers.CharField(**PASSWORD, required=False, default="", allow_blank=True)
