"""What is new for the signed-in person: nobody sees another's."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.permissions import GUESTS_TOO
from accounts.requests import signed_in

from ..notifications import listing
from ..serializers.notifications import NotificationSerializer, ReadNotificationsSerializer


class NotificationsView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(operation_id="notifications_list", responses=NotificationSerializer(many=True))
    def get(self, request: Request) -> Response:
        """Rounds opened, replies, decisions and jobs that ended, unread ones first. What is alike is one entry."""
        return Response(NotificationSerializer(listing.entries(signed_in(request)), many=True).data)


class NotificationsReadView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(
        operation_id="notifications_read", request=ReadNotificationsSerializer,
        responses=NotificationSerializer(many=True),
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        """Mark entries as read; the list as it then is."""
        body = ReadNotificationsSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        listing.mark_read(signed_in(request), body.validated_data["ids"])
        return Response(NotificationSerializer(listing.entries(signed_in(request)), many=True).data)
