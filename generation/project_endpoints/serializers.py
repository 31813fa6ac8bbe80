"""Serializers of endpoints."""

from typing import Any

from rest_framework import serializers

from api.fields import NameField, Strict, at_most

Plain = serializers.Serializer[Any]


class EndpointSerializer(Plain):
    """An OpenAI-compatible endpoint. ``id`` is null if the administrator configured it."""

    id = serializers.IntegerField(allow_null=True)
    name = serializers.CharField()
    url = serializers.CharField()
    host = serializers.CharField()
    is_outside = serializers.BooleanField(help_text="Whether texts leave the server and its private networks.")
    models = serializers.ListField(child=serializers.CharField())
    has_key = serializers.BooleanField()
    price_in = serializers.FloatField(allow_null=True, help_text="Per million tokens.")
    price_out = serializers.FloatField(allow_null=True, help_text="Per million tokens.")
    currency = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField(allow_null=True)


class NewEndpointSerializer(Strict):
    """A new endpoint. Only leads can add one. The key is stored encrypted and never returned."""

    name = NameField(max_length=40)
    url = serializers.CharField(max_length=300)
    key = serializers.CharField(max_length=500, required=False, default="", allow_blank=True, write_only=True)
    models = serializers.ListField(child=NameField(max_length=200), required=False, default=list, **at_most(50))
    price_in = serializers.DecimalField(max_digits=12, decimal_places=6, min_value=0, required=False, allow_null=True)
    price_out = serializers.DecimalField(max_digits=12, decimal_places=6, min_value=0, required=False, allow_null=True)
    currency = serializers.RegexField(r"^[A-Z]{3}$", required=False, default="", allow_blank=True)
