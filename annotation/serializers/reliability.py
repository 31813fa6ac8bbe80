"""Reliability studies in JSON."""

import secrets
from typing import Any

from rest_framework import serializers

from projects.serializers.rounds import RoundRowSerializer
from projects.serializers.tables import ResultTableSerializer

from .corpus import Plain


class RefusedTargetsSerializer(Plain):
    reason = serializers.CharField(help_text="Why they have no four candidates.")
    targets = serializers.IntegerField()


class StudyPersonSerializer(Plain):
    member = serializers.IntegerField()
    name = serializers.CharField(allow_blank=True)
    pseudonym = serializers.CharField()
    role = serializers.CharField()
    reads_corpus = serializers.BooleanField(help_text="Labels in force and evidence are open to this person.")


class ReliabilityStudySerializer(Plain):
    id = serializers.IntegerField()
    name = serializers.CharField()
    seed = serializers.IntegerField(allow_null=True, help_text="Null while a round of it is open: matches are blind.")
    overlap = serializers.IntegerField(help_text="People a target.")
    created_at = serializers.DateTimeField()
    no_matches = serializers.CharField(allow_blank=True, help_text="Why there is no round of matches.")
    rounds = RoundRowSerializer(many=True)


class ReliabilitySerializer(Plain):
    """What a study can sample, and the studies that there are."""

    propositions = serializers.IntegerField(help_text="Target propositions that can be labelled.")
    sentences = serializers.IntegerField(help_text="Target sentences that have four candidates.")
    no_matches = serializers.CharField(allow_blank=True, help_text="Why none has.")
    refused = RefusedTargetsSerializer(many=True)
    rankers = serializers.ListField(
        child=serializers.CharField(), help_text="By whom the other candidates are nearest; the first by default."
    )
    people = StudyPersonSerializer(many=True)
    seconds = serializers.DictField(child=serializers.FloatField(), help_text="An answer's, by kind of round.")
    studies = ReliabilityStudySerializer(many=True)
    table = ResultTableSerializer(allow_null=True)


class NewStudySerializer(Plain):
    """A study to be planned; both rounds open at once."""

    name = serializers.CharField(max_length=80)
    propositions = serializers.IntegerField(min_value=1, max_value=500)
    sentences = serializers.IntegerField(min_value=0, max_value=500, help_text="0: no matches.")
    overlap = serializers.IntegerField(min_value=1, max_value=10, default=3, help_text="People a target (k).")
    people = serializers.ListField(child=serializers.IntegerField(), min_length=1, max_length=200)
    seed = serializers.IntegerField(
        min_value=0, max_value=2**31 - 1, required=False, help_text="Drawn where it is left out."
    )
    nearest_by = serializers.CharField(max_length=200, allow_blank=True, default="")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs.setdefault("seed", secrets.randbelow(2**31))
        return attrs
