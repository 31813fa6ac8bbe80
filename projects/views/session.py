"""Signing in and out, and who is signed in. Here rather than in accounts, because the reply tells projects too."""

from typing import Any

from django.utils.decorators import method_decorator
from django.views.decorators.csrf import ensure_csrf_cookie
from drf_spectacular.utils import extend_schema
from rest_framework import permissions, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import actions, devices
from accounts.authentication import enforce_csrf
from accounts.models import User
from accounts.requests import signed_in
from accounts.serializers import LinkSerializer, SignInSerializer

from ..models import Member, Role
from ..serializers.people import SessionSerializer


def session_of(user: User) -> dict[str, Any]:
    """Who is signed in and where this person is a member."""
    # A volunteer sees no project, only the round on My work.
    memberships = (
        Member.objects.active()
        .filter(user=user)
        .exclude(role=Role.VOLUNTEER)
        .select_related("project")
        .order_by("project__slug")
    )
    return dict(SessionSerializer({"user": user, "projects": memberships}).data)


class SignedOut(APIView):
    """Views for people who are not signed in yet. They check CSRF themselves."""

    permission_classes = [permissions.AllowAny]

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.method == "POST":
            enforce_csrf(request)


@method_decorator(ensure_csrf_cookie, name="dispatch")
class SessionView(SignedOut):
    @extend_schema(operation_id="session_get", responses=SessionSerializer)
    def get(self, request: Request) -> Response:
        """Who is signed in; 401 when nobody is. Sets the CSRF cookie either way."""
        return Response(session_of(signed_in(request)))

    @extend_schema(operation_id="session_sign_in", request=SignInSerializer, responses=SessionSerializer, auth=[])
    def post(self, request: Request) -> Response:
        """Sign in with e-mail address and password. 429 with Retry-After after too many failures."""
        body = SignInSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        user = actions.sign_in(request=request._request, **body.validated_data)
        response = Response(session_of(user))
        devices.remember(response, user.email)
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
