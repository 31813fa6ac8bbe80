"""API of sessions, members and invitations."""

from typing import Any

from django.db.models import QuerySet
from django.utils.decorators import method_decorator
from django.views.decorators.csrf import ensure_csrf_cookie
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, permissions, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import actions, sessions
from accounts.authentication import enforce_csrf
from accounts.models import User
from accounts.serializers import LinkSerializer, SignInSerializer
from accounts.sessions import signed_in

from ..models import Invitation, Member, Role
from ..permissions import invitation_to, member_of, member_to, permit
from . import actions as people_actions
from . import invitations
from . import queries as people_queries
from . import serializers as shapes
from .serializers import SessionSerializer


def session_of(user: User) -> dict[str, Any]:
    """Return the signed-in user and the user's memberships."""
    # Volunteers see no project, only their round on My work.
    memberships = (
        Member.objects.active()
        .filter(user=user)
        .exclude(role=Role.VOLUNTEER)
        .select_related("project")
        .order_by("project__slug")
    )
    return dict(SessionSerializer({"user": user, "projects": memberships}).data)


class SignedOut(APIView):
    """Base class of views without sign-in. It checks CSRF, because DRF does so only for signed-in users."""

    permission_classes = [permissions.AllowAny]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.method == "POST":
            enforce_csrf(request)


@method_decorator(ensure_csrf_cookie, name="dispatch")
class SessionView(SignedOut):
    @extend_schema(operation_id="session_get", responses=SessionSerializer)
    def get(self, request: Request) -> Response:
        """Return the signed-in user, or 401. Sets the CSRF cookie in both cases."""
        return Response(session_of(signed_in(request)))

    @extend_schema(operation_id="session_sign_in", request=SignInSerializer, responses=SessionSerializer, auth=[])
    def post(self, request: Request) -> Response:
        """Sign in with e-mail address and password. Returns 429 with Retry-After after too many failures."""
        body = SignInSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        user = actions.sign_in(request=request._request, **body.validated_data)
        response = Response(session_of(user))
        sessions.remember_browser(response, user.email)
        return response

    @extend_schema(operation_id="session_sign_out", responses={204: None})
    def delete(self, request: Request) -> Response:
        """Sign out."""
        actions.sign_out(request=request._request, user=signed_in(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class SessionLinkView(SignedOut):
    @extend_schema(operation_id="session_use_link", request=LinkSerializer, responses=SessionSerializer, auth=[])
    def post(self, request: Request) -> Response:
        """Sign in with the token of a one-time link."""
        body = LinkSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return Response(session_of(actions.use_sign_in_link(request=request._request, **body.validated_data)))


def _member(member: Member, asking: Member) -> dict[str, Any]:
    return dict(shapes.MemberSerializer(member, context={"asking": asking}).data)


@extend_schema_view(get=extend_schema(operation_id="members_list", description="List the members with an account."))
class MembersView(generics.ListAPIView[Member]):
    serializer_class = shapes.MemberRowSerializer
    queryset = Member.objects.none()

    def get_queryset(self) -> QuerySet[Member]:
        self.asking = member_of(signed_in(self.request), self.kwargs["slug"])
        members = self.asking.project.members.with_account().select_related("user").order_by("id")
        return people_queries.with_activity(members)

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), "asking": getattr(self, "asking", None)}


class MemberView(APIView):
    @extend_schema(operation_id="members_change", request=shapes.RoleSerializer, responses=shapes.MemberSerializer)
    def patch(self, request: Request, slug: str, member_id: int) -> Response:
        """Change a member's role."""
        asking = member_of(signed_in(request), slug)
        permit(asking, "change members")
        body = shapes.RoleSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        member = people_actions.change_role(
            member=member_to(asking.project, member_id), role=body.validated_data["role"], by=asking.user
        )
        return Response(_member(member, asking))

    @extend_schema(operation_id="members_remove", responses={204: None})
    def delete(self, request: Request, slug: str, member_id: int) -> Response:
        """Remove a member. Answers are kept, unanswered assignments are released."""
        asking = member_of(signed_in(request), slug)
        permit(asking, "change members")
        people_actions.remove_member(member=member_to(asking.project, member_id), by=asking.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema_view(
    get=extend_schema(operation_id="invitations_list", description="List all invitations, newest first.")
)
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
        """Invite an address. An earlier open invitation of the same address is revoked."""
        asking = member_of(signed_in(request), slug)
        permit(asking, "invite people")
        body = shapes.NewInvitationSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        invitation, token = invitations.invite(project=asking.project, by=asking.user, **body.validated_data)
        data = shapes.InvitationSerializer(invitation).data | {"token": token}
        return Response(data, status=status.HTTP_201_CREATED)


class InvitationView(APIView):
    @extend_schema(operation_id="invitations_revoke", responses={204: None})
    def delete(self, request: Request, slug: str, invitation_id: int) -> Response:
        """Revoke an invitation that was not accepted."""
        asking = member_of(signed_in(request), slug)
        permit(asking, "invite people")
        invitations.revoke(invitation=invitation_to(asking.project, invitation_id), by=asking.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class InvitationLinkView(APIView):
    @extend_schema(operation_id="invitations_link", request=None, responses=shapes.InvitationLinkSerializer)
    def post(self, request: Request, slug: str, invitation_id: int) -> Response:
        """Return the token of an open invitation again. POST, because the reply holds a secret."""
        asking = member_of(signed_in(request), slug)
        permit(asking, "invite people")
        token = invitations.reveal(invitation=invitation_to(asking.project, invitation_id), by=asking.user)
        return Response(shapes.InvitationLinkSerializer({"token": token}).data)


class InvitationLookView(SignedOut):
    @extend_schema(
        operation_id="invitations_look",
        request=shapes.InvitationTokenSerializer,
        responses=shapes.InvitationLookSerializer,
        auth=[],
    )
    def post(self, request: Request) -> Response:
        """Return information about an invitation by its token."""
        body = shapes.InvitationTokenSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        invitation = invitations.find_invitation(request=request._request, **body.validated_data)
        return Response(shapes.InvitationLookSerializer(_look(invitation, request.user)).data)


def _look(invitation: Invitation, user: Any) -> dict[str, Any]:
    # Do not reveal whether there is an account: the inviter knows the token, too.
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
        """Accept an invitation, signed in to the invited account or by creating it.

        Returns 401 if the account exists and is not signed in. Name and password are validated first.
        """
        body = shapes.AcceptSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        member = invitations.accept(request=request._request, user=request.user, **body.validated_data)
        return Response(session_of(member.user))
