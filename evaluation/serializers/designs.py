"""A rating round's design in JSON."""

from typing import Any

from rest_framework import serializers

Plain = serializers.Serializer[Any]


class DesignCountsSerializer(Plain):
    sources = serializers.IntegerField()
    pages = serializers.IntegerField()
    texts = serializers.IntegerField(help_text="Distinct ones: what several systems wrote alike is rated once.")
    checks = serializers.IntegerField(help_text="Texts made plainly bad, by which attention is seen.")
    left_out = serializers.IntegerField(help_text="Chosen sources of which not every system has a text.")
    alike = serializers.IntegerField(help_text="Pairs of texts that say the same, which are not asked about.")
    lowered = serializers.BooleanField(help_text="Capitals only where sentences begin: one system writes without.")
    entrants = serializers.ListField(child=serializers.CharField())


class SidesSerializer(Plain):
    left = serializers.IntegerField()
    right = serializers.IntegerField()


class CertainSerializer(Plain):
    least = serializers.IntegerField()
    most = serializers.IntegerField()


class DesignBalanceSerializer(Plain):
    """How often each system comes at each place and after which; of pairs, beside which and on which side. An example,
    drawn by the seed alone: a round draws with a secret too."""

    certain = CertainSerializer(
        allow_null=True, help_text="How often each does so whatever is drawn; null where that cannot be said."
    )

    systems = serializers.ListField(child=serializers.CharField())
    pages = serializers.IntegerField(required=False)
    places = serializers.ListField(child=serializers.ListField(child=serializers.IntegerField()), required=False)
    followed = serializers.ListField(child=serializers.ListField(child=serializers.IntegerField()), required=False)
    shown = serializers.ListField(child=serializers.ListField(child=serializers.IntegerField()), required=False)
    sides = SidesSerializer(many=True, required=False)


class PlannedDesignSerializer(DesignCountsSerializer):
    balance = DesignBalanceSerializer()


class DesignProtocolSerializer(Plain):
    id = serializers.IntegerField()
    version = serializers.IntegerField()
    name = serializers.CharField()
    number = serializers.IntegerField()


class RatingDesignSerializer(DesignCountsSerializer):
    digest = serializers.CharField()
    secret = serializers.CharField(
        help_text="With the seed, what the order of the texts was drawn by; empty before the round is unblinded, and "
        "in rounds that had none."
    )
    protocol = DesignProtocolSerializer()
    unblinded_at = serializers.DateTimeField(allow_null=True)
    unblinded_by = serializers.CharField(help_text="Empty where nobody did, or the reader may not see names.")
    sealed = serializers.IntegerField(help_text="Runs that blind rounds still keep sealed.")
