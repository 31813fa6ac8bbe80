"""Members and invitations of a project."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import User
from accounts.requests import signed_in

from ..actions import invitations, people
from ..models import Invitation, Member
from ..permissions import invitation_to, member_of, member_to, permit
from ..serializers import people as shapes
from .session import SignedOut, session_of


def _member(member: Member, asking: Member) -> dict[str, Any]:
    return dict(shapes.MemberSerializer(member, context={"asking": asking}).data)


@extend_schema_view(get=extend_schema(operation_id="members_list", description="Members, those who left too."))
class MembersView(generics.ListAPIView[Member]):
    serializer_class = shapes.MemberSerializer
    queryset = Member.objects.none()

    def get_queryset(self) -> QuerySet[Member]:
        self.asking = member_of(signed_in(self.request), self.kwargs["slug"])
        return self.asking.project.members.select_related("user").order_by("id")

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), "asking": getattr(self, "asking", None)}


class MemberView(APIView):
    @extend_schema(operation_id="members_change", request=shapes.RoleSerializer, responses=shapes.MemberSerializer)
    def patch(self, request: Request, slug: str, member_id: int) -> Response:
        """Give a member another role."""
        asking = member_of(signed_in(request), slug)
        permit(asking, "change members")
        body = shapes.RoleSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        member = people.change_role(
            member=member_to(asking.project, member_id), role=body.validated_data["role"], by=asking.user
        )
        return Response(_member(member, asking))

    @extend_schema(operation_id="members_remove", responses={204: None})
    def delete(self, request: Request, slug: str, member_id: int) -> Response:
        """Remove a member; answers stay, unanswered slots become free."""
        asking = member_of(signed_in(request), slug)
        permit(asking, "change members")
        people.remove_member(member=member_to(asking.project, member_id), by=asking.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema_view(get=extend_schema(operation_id="invitations_list", description="All invitations, newest first."))
class InvitationsView(generics.ListAPIView[Invitation]):
    serializer_class = shapes.InvitationSerializer
    queryset = Invitation.objects.none()

    def get_queryset(self) -> QuerySet[Invitation]:
        asking = member_of(signed_in(self.request), self.kwargs["slug"])
        permit(asking, "invite people")
        return asking.project.invitations.order_by("-id")

    @extend_schema(
        operation_id="invitations_create",
        request=shapes.NewInvitationSerializer,
        responses={201: shapes.MadeInvitationSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Invite an address. The token is in this reply and nowhere else; an earlier open invitation is revoked."""
        asking = member_of(signed_in(request), slug)
        permit(asking, "invite people")
        body = shapes.NewInvitationSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        invitation, token = invitations.invite(project=asking.project, by=asking.user, **body.validated_data)
        shown = shapes.InvitationSerializer(invitation).data | {"token": token}
        return Response(shown, status=status.HTTP_201_CREATED)


class InvitationView(APIView):
    @extend_schema(operation_id="invitations_revoke", responses={204: None})
    def delete(self, request: Request, slug: str, invitation_id: int) -> Response:
        """Revoke an invitation that was not accepted."""
        asking = member_of(signed_in(request), slug)
        permit(asking, "invite people")
        invitations.revoke(invitation=invitation_to(asking.project, invitation_id), by=asking.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class InvitationLookView(SignedOut):
    @extend_schema(
        operation_id="invitations_look",
        request=shapes.InvitationTokenSerializer,
        responses=shapes.InvitationLookSerializer,
        auth=[],
    )
    def post(self, request: Request) -> Response:
        """What an invitation is for, by its token."""
        body = shapes.InvitationTokenSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        found = invitations.look(request=request._request, **body.validated_data)
        return Response(shapes.InvitationLookSerializer(_look(found, request.user)).data)


def _look(invitation: Invitation, user: Any) -> dict[str, Any]:
    # Nothing of whether there is an account: whoever made the invitation holds its token too.
    return {
        "project": invitation.project.name,
        "role": invitation.role,
        "email": invitation.email,
        "invited_by": invitation.created_by.name,
        "signed_in": isinstance(user, User) and user.email.lower() == invitation.email.lower(),
    }


class InvitationAcceptView(SignedOut):
    @extend_schema(
        operation_id="invitations_accept", request=shapes.AcceptSerializer, responses=shapes.SessionSerializer, auth=[]
    )
    def post(self, request: Request) -> Response:
        """Join: signed in to the invited account, or by making it. 401 when it exists and one is not signed in;
        only a name and a password that would have made it are told so."""
        body = shapes.AcceptSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        member = invitations.accept(request=request._request, user=request.user, **body.validated_data)
        return Response(session_of(member.user))
