"""The way of a project in JSON: how far each step is, and what comes next."""

from typing import Any, get_args

from rest_framework import serializers

from ..pages.steps import Begun

Plain = serializers.Serializer[Any]


class NextStepSerializer(Plain):
    """What a lead does next, as one button."""

    words = serializers.CharField(help_text='In the imperative, to be read after "Next:".')
    why = serializers.CharField()
    button = serializers.CharField()
    page = serializers.CharField(help_text="Below the project's own page.")
    also = serializers.CharField(allow_blank=True, help_text="What is worth a look before it; empty where nothing is.")
    also_page = serializers.CharField(allow_blank=True)


class WayStepSerializer(Plain):
    key = serializers.CharField()
    title = serializers.CharField()
    count = serializers.IntegerField(allow_null=True)
    of = serializers.CharField(help_text="What is counted.")
    state = serializers.ChoiceField(choices=[(one, one) for one in get_args(Begun)])
    page = serializers.CharField(help_text="Below the project's own page.")
    done = serializers.IntegerField()
    wanted = serializers.IntegerField(help_text="0 where nothing is under way.")


class WaySerializer(Plain):
    steps = WayStepSerializer(many=True)
    next = NextStepSerializer(allow_null=True)
    then = serializers.ListField(child=serializers.CharField(), help_text="What follows, in words.")
    options = NextStepSerializer(
        many=True, help_text="What may be left out, once nothing else is to do before a release."
    )
