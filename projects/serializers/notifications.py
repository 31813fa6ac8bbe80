"""What is new for a person, in JSON."""

from typing import Any

from rest_framework import serializers

from api.fields import LARGEST, Strict

from ..models import Notification
from ..notifications.listing import MOST


class NotificationSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField(help_text="Of the newest that is in it: to mark it as read.")
    what = serializers.ChoiceField(choices=Notification.What.choices)
    text = serializers.CharField(help_text="In words.")
    path = serializers.CharField(help_text="The page that shows it.")
    project = serializers.CharField(help_text="The project's name.")
    at = serializers.DateTimeField()
    unread = serializers.BooleanField()


class ReadNotificationsSerializer(Strict):
    ids = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=LARGEST), min_length=1, max_length=MOST,
        help_text="Ids as the list has them. What came later stays unread.",
    )  # fmt: skip
