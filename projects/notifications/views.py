"""API of the signed-in person's own notifications."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.permissions import GUESTS_TOO
from accounts.sessions import signed_in
from api.fields import LARGEST, Strict
from projects.models import Notification
from projects.notifications import queries as notifications_queries
from projects.notifications.queries import MAX_ENTRIES


class NotificationSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(
        help_text="Id of the newest notification in this entry. Send it to mark the entry as read."
    )
    what = serializers.ChoiceField(choices=Notification.What.choices)
    text = serializers.CharField(help_text="Text of the entry.")
    path = serializers.CharField(help_text="Path of the page that shows the event.")
    project = serializers.CharField(help_text="Name of the project; empty for a notification about the account.")
    at = serializers.DateTimeField()
    unread = serializers.BooleanField()


class ReadNotificationsSerializer(Strict):
    ids = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=LARGEST),
        min_length=1,
        max_length=MAX_ENTRIES,
        help_text="Ids from the list. Later notifications stay unread.",
    )


class NotificationsView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(operation_id="notifications_list", responses=NotificationSerializer(many=True))
    def get(self, request: Request) -> Response:
        """Return opened rounds, replies, decisions and ended jobs, unread first. Similar ones form one entry."""
        return Response(NotificationSerializer(notifications_queries.entries(signed_in(request)), many=True).data)


class NotificationsReadView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(
        operation_id="notifications_read",
        request=ReadNotificationsSerializer,
        responses=NotificationSerializer(many=True),
    )
    def post(self, request: Request) -> Response:
        """Mark entries as read, and return the updated list."""
        body = ReadNotificationsSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        notifications_queries.mark_read(signed_in(request), body.validated_data["ids"])
        return Response(NotificationSerializer(notifications_queries.entries(signed_in(request)), many=True).data)
