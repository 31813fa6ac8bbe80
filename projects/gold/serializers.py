from typing import Any

from rest_framework import serializers

Plain = serializers.Serializer[Any]


class FieldValueSerializer(Plain):
    field = serializers.CharField()
    value = serializers.CharField(help_text="Value in words.")
