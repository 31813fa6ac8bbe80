"""Views for the account of the signed-in user. Views for sessions are in projects/people/views.py."""

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from api.problems import Forbidden, NotFound

from . import actions
from .models import ApiToken
from .permissions import GUESTS_TOO
from .serializers import (
    ApiTokenSerializer,
    CreatedTokenSerializer,
    MeSerializer,
    NewTokenSerializer,
    PasswordSerializer,
    UserSerializer,
)
from .sessions import signed_in


def require_browser_session(request: Request) -> None:
    """Raise `Forbidden` for API tokens, so that a leaked token cannot change the password or create more tokens."""
    if isinstance(request.auth, ApiToken):
        raise Forbidden("An API token cannot do this. Sign in with a browser.")


class MeView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(operation_id="me_get", responses=UserSerializer)
    def get(self, request: Request) -> Response:
        """Return the signed-in user."""
        return Response(UserSerializer(signed_in(request)).data)

    @extend_schema(operation_id="me_change", request=MeSerializer, responses=UserSerializer)
    def patch(self, request: Request) -> Response:
        """Change the name or preferences. Missing fields do not change."""
        body = MeSerializer(data=request.data, partial=True)
        body.is_valid(raise_exception=True)
        fields = body.validated_data
        if "name" in fields and signed_in(request).is_guest:
            raise Forbidden("Guests take part under a pseudonym and cannot change their name.")
        user = actions.change_profile(
            user=signed_in(request), name=fields.get("name"), prefer=fields.get("preferences")
        )
        if fields.get("notice_read"):
            require_browser_session(request)
            actions.dismiss_notice(user=user)
        return Response(UserSerializer(user).data)


class PasswordView(APIView):
    @extend_schema(operation_id="me_set_password", request=PasswordSerializer, responses={204: None})
    def post(self, request: Request) -> Response:
        """Set or change the password. Other sessions, API tokens and unused sign-in links end."""
        require_browser_session(request)
        body = PasswordSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        actions.set_password(request=request._request, user=signed_in(request), **body.validated_data)
        return Response(status=status.HTTP_204_NO_CONTENT)


class SessionsView(APIView):
    @extend_schema(operation_id="me_sessions_end", responses={204: None})
    def delete(self, request: Request) -> Response:
        """Sign out all other sessions, and end all API tokens and unused sign-in links."""
        require_browser_session(request)
        actions.end_other_sessions(request=request._request, user=signed_in(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema_view(get=extend_schema(operation_id="me_tokens_list", description="Active API tokens, newest first."))
class TokensView(generics.ListAPIView[ApiToken]):
    serializer_class = ApiTokenSerializer
    queryset = ApiToken.objects.none()

    def get_queryset(self) -> QuerySet[ApiToken]:
        return ApiToken.objects.filter(user=signed_in(self.request), revoked_at=None).order_by("-id")

    @extend_schema(operation_id="me_tokens_make", request=NewTokenSerializer, responses={201: CreatedTokenSerializer})
    def post(self, request: Request) -> Response:
        """Create a personal API token. Only this response contains the secret."""
        require_browser_session(request)
        body = NewTokenSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        token, secret = actions.make_token(user=signed_in(request), **body.validated_data)
        return Response(ApiTokenSerializer(token).data | {"token": secret}, status=status.HTTP_201_CREATED)

    @extend_schema(operation_id="me_tokens_revoke_all", responses={204: None})
    def delete(self, request: Request) -> Response:
        """Revoke all API tokens of the signed-in user."""
        require_browser_session(request)
        actions.revoke_tokens(user=signed_in(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class TokenView(APIView):
    @extend_schema(operation_id="me_tokens_revoke", responses={204: None})
    def delete(self, request: Request, token_id: int) -> Response:
        """Revoke an API token of the signed-in user."""
        user = signed_in(request)
        token = ApiToken.objects.filter(user=user, pk=token_id).first()
        if token is None:
            raise NotFound("You have no API token with this id.")
        actions.revoke_token(token=token, by=user)
        return Response(status=status.HTTP_204_NO_CONTENT)
