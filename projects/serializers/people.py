"""Sessions, projects and their people in JSON."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from accounts.serializers import PASSWORD, UserSerializer
from api.fields import Strict

from ..models import Invitation, Member, Project, Role
from ..models.roles import MAY, verbs_of
from ..permissions import may

Plain = serializers.Serializer[Any]
#: Roles that a lead gives; volunteers come by participant links.
GIVEN_ROLES = [choice for choice in Role.choices if choice[0] != Role.VOLUNTEER]


class MembershipSerializer(serializers.ModelSerializer[Member]):
    """One of the signed-in person's own projects."""

    slug = serializers.CharField(source="project.slug")
    name = serializers.CharField(source="project.name")
    illustrative = serializers.BooleanField(source="project.illustrative")
    may = serializers.SerializerMethodField(
        help_text="What is open to this person there: pages ask by it, not by role."
    )

    class Meta:
        model = Member
        fields = ["slug", "name", "role", "illustrative", "may"]
        read_only_fields = fields

    @extend_schema_field(serializers.ListField(child=serializers.ChoiceField(choices=list(MAY))))
    def get_may(self, member: Member) -> list[str]:
        return verbs_of(member.role)


class SessionSerializer(Plain):
    """Who is signed in, and where this person is a member."""

    user = UserSerializer()
    projects = MembershipSerializer(many=True)


class ProjectSerializer(serializers.ModelSerializer[Project]):
    role = serializers.ChoiceField(choices=Role.choices, help_text="The signed-in person's own.")

    class Meta:
        model = Project
        fields = [
            "slug", "name", "description", "licence", "citation", "publish_comments", "show_adjudication",
            "illustrative", "created_at", "role",
        ]  # fmt: skip
        read_only_fields = fields


class ProjectProgressSerializer(Plain):
    """How far the rounds of a project are; answers are those of the open ones."""

    rounds = serializers.IntegerField()
    open_rounds = serializers.IntegerField()
    answered = serializers.IntegerField()
    slots = serializers.IntegerField()


class ProjectRowSerializer(ProjectSerializer):
    progress = ProjectProgressSerializer(allow_null=True, help_text="Null for those who may not read rounds.")

    class Meta(ProjectSerializer.Meta):
        fields = [*ProjectSerializer.Meta.fields, "progress"]
        read_only_fields = fields


class ProjectSettingsSerializer(Strict):
    name = serializers.CharField(max_length=120)
    description = serializers.CharField(max_length=5000, allow_blank=True, required=False)
    licence = serializers.CharField(
        max_length=120, allow_blank=True, required=False, help_text="Of the released data: an SPDX id or words."
    )  # fmt: skip
    citation = serializers.CharField(max_length=5000, allow_blank=True, required=False)
    publish_comments = serializers.BooleanField(
        required=False, help_text="Whether releases hold what annotators wrote beside their answers."
    )
    show_adjudication = serializers.BooleanField(
        required=False,
        help_text="Whether people see, once a round is closed, what was decided of their answers in it, and why.",
    )


class NewProjectSerializer(ProjectSettingsSerializer):
    slug = serializers.SlugField(
        max_length=60, required=False,
        help_text="The short name to have; made from the name when left out. Where it is taken, letters are added.",
    )  # fmt: skip


class MemberSerializer(serializers.ModelSerializer[Member]):
    """Names are for leads and curators, e-mail addresses for leads; to others a person is a pseudonym."""

    name = serializers.SerializerMethodField()
    email = serializers.SerializerMethodField()
    is_me = serializers.SerializerMethodField()
    is_volunteer = serializers.BooleanField(help_text="Came by a participant link, into one round.")

    class Meta:
        model = Member
        fields = ["id", "pseudonym", "role", "name", "email", "is_me", "is_volunteer", "joined_at", "left_at"]
        read_only_fields = fields

    def _asking(self) -> Member:
        asking: Member = self.context["asking"]
        return asking

    def get_name(self, member: Member) -> str | None:
        return member.user.name if may(self._asking(), "see names") or self.get_is_me(member) else None

    def get_email(self, member: Member) -> str | None:
        if member.user.is_guest:
            return None
        return member.user.email if may(self._asking(), "see e-mail addresses") or self.get_is_me(member) else None

    def get_is_me(self, member: Member) -> bool:
        return member.pk == self._asking().pk


class RoleSerializer(Strict):
    role = serializers.ChoiceField(choices=GIVEN_ROLES)


class NewInvitationSerializer(Strict):
    email = serializers.EmailField(max_length=254)
    role = serializers.ChoiceField(choices=GIVEN_ROLES)
    days = serializers.IntegerField(min_value=1, max_value=90, default=14, help_text="How long it is valid.")


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
    token = serializers.CharField(help_text="Shown this once; the page makes the link /join#TOKEN of it.")

    class Meta(InvitationSerializer.Meta):
        fields = [*InvitationSerializer.Meta.fields, "token"]
        read_only_fields = fields


class InvitationLookSerializer(Plain):
    """What an invitation's holder is told before accepting."""

    project = serializers.CharField()
    role = serializers.ChoiceField(choices=Role.choices)
    email = serializers.CharField()
    invited_by = serializers.CharField()
    signed_in = serializers.BooleanField(help_text="Whether this browser is signed in with that address.")


class InvitationTokenSerializer(Strict):
    token = serializers.CharField(max_length=100, write_only=True)


class AcceptSerializer(Strict):
    token = serializers.CharField(max_length=100, write_only=True)
    name = serializers.CharField(max_length=120, required=False, default="", allow_blank=True)
    password = serializers.CharField(**PASSWORD, required=False, default="", allow_blank=True)
