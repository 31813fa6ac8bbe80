"""The signed-in person's own account. Sessions are in projects/views/session.py: their reply tells projects too."""

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
from .requests import signed_in
from .serializers import (
    ApiTokenSerializer,
    MadeTokenSerializer,
    MeSerializer,
    NewTokenSerializer,
    PasswordSerializer,
    UserSerializer,
)


def in_a_browser(request: Request) -> None:
    """Password and tokens are for a signed-in session: a token that leaked must not be able to make itself stay."""
    if isinstance(request.auth, ApiToken):
        raise Forbidden("Sign in with a browser to do this; an API token cannot.")


class MeView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(operation_id="me_get", responses=UserSerializer)
    def get(self, request: Request) -> Response:
        """The signed-in person."""
        return Response(UserSerializer(signed_in(request)).data)

    @extend_schema(operation_id="me_change", request=MeSerializer, responses=UserSerializer)
    def patch(self, request: Request) -> Response:
        """Change name or preferences; what is left out stays."""
        body = MeSerializer(data=request.data, partial=True)
        body.is_valid(raise_exception=True)
        asked = body.validated_data
        if "name" in asked and signed_in(request).is_guest:
            raise Forbidden("Who takes part by a link goes by a pseudonym.")
        user = actions.change_profile(
            user=signed_in(request), name=asked.get("name"), prefer=asked.get("preferences")
        )  # fmt: skip
        if asked.get("notice_read"):
            in_a_browser(request)
            actions.put_notice_away(user=user)
        return Response(UserSerializer(user).data)


class PasswordView(APIView):
    @extend_schema(operation_id="me_set_password", request=PasswordSerializer, responses={204: None})
    def post(self, request: Request) -> Response:
        """Set or change the password. Other sessions and all API tokens end; this session goes on under a new id."""
        in_a_browser(request)
        body = PasswordSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        actions.set_password(request=request._request, user=signed_in(request), **body.validated_data)
        return Response(status=status.HTTP_204_NO_CONTENT)


class SessionsView(APIView):
    @extend_schema(operation_id="me_sessions_end", responses={204: None})
    def delete(self, request: Request) -> Response:
        """Sign out everywhere else; this session goes on under a new id."""
        in_a_browser(request)
        actions.end_other_sessions(request=request._request, user=signed_in(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema_view(get=extend_schema(operation_id="me_tokens_list", description="Tokens in force, newest first."))
class TokensView(generics.ListAPIView[ApiToken]):
    serializer_class = ApiTokenSerializer
    queryset = ApiToken.objects.none()

    def get_queryset(self) -> QuerySet[ApiToken]:
        return ApiToken.objects.filter(user=signed_in(self.request), revoked_at=None).order_by("-id")

    @extend_schema(
        operation_id="me_tokens_make", request=NewTokenSerializer, responses={201: MadeTokenSerializer}
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        """Make a personal API token. The secret is in this reply and nowhere else."""
        in_a_browser(request)
        body = NewTokenSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        token, secret = actions.make_token(user=signed_in(request), **body.validated_data)
        return Response(ApiTokenSerializer(token).data | {"token": secret}, status=status.HTTP_201_CREATED)

    @extend_schema(operation_id="me_tokens_revoke_all", responses={204: None})
    def delete(self, request: Request) -> Response:
        """Revoke every token."""
        in_a_browser(request)
        actions.revoke_tokens(user=signed_in(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class TokenView(APIView):
    @extend_schema(operation_id="me_tokens_revoke", responses={204: None})
    def delete(self, request: Request, token_id: int) -> Response:
        """Revoke a token of one's own."""
        user = signed_in(request)
        token = ApiToken.objects.filter(user=user, pk=token_id).first()
        if token is None:
            raise NotFound("You have no such token.")
        actions.revoke_token(token=token, by=user)
        return Response(status=status.HTTP_204_NO_CONTENT)
