"""API of reliability studies."""

import secrets
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from annotation import permissions
from annotation.reliability import queries as page
from annotation.reliability.actions import StudyPlan, begin_study
from api.fields import NameField
from projects.permissions import permit
from projects.reports.serializers import ResultTableSerializer
from projects.rounds.serializers import RoundRowSerializer

Plain = serializers.Serializer[Any]


class RefusedTargetsSerializer(Plain):
    reason = serializers.CharField(help_text="Why these targets do not have four candidates.")
    targets = serializers.IntegerField()


class StudyPersonSerializer(Plain):
    member = serializers.IntegerField()
    name = serializers.CharField(allow_blank=True)
    pseudonym = serializers.CharField()
    role = serializers.CharField()
    reads_corpus = serializers.BooleanField(help_text="Whether the person can read current labels and evidence.")


class ReliabilityStudySerializer(Plain):
    id = serializers.IntegerField()
    name = serializers.CharField()
    seed = serializers.IntegerField(
        allow_null=True,
        help_text="Null while a round of the study is open, because it determines the order of candidates.",
    )
    overlap = serializers.IntegerField(help_text="People per target.")
    created_at = serializers.DateTimeField()
    no_matches = serializers.CharField(allow_blank=True, help_text="Why the study has no round of matches.")
    rounds = RoundRowSerializer(many=True)


class ReliabilitySerializer(Plain):
    """What a study can sample, and the existing studies."""

    propositions = serializers.IntegerField(help_text="Target propositions that can be labelled.")
    sentences = serializers.IntegerField(help_text="Target sentences that have four candidates.")
    no_matches = serializers.CharField(
        allow_blank=True, help_text="Why no target sentence can be matched; empty if at least one can."
    )
    refused = RefusedTargetsSerializer(many=True)
    as_of = serializers.DateTimeField(
        allow_null=True, help_text="Time of the counts of target sentences while a job renews them. Null if current."
    )
    rankers = serializers.ListField(
        child=serializers.CharField(),
        help_text="Rankers that can select the nearest other candidates. The first is the default.",
    )
    people = StudyPersonSerializer(many=True)
    seconds = serializers.DictField(
        child=serializers.FloatField(), help_text="Expected seconds per answer, by kind of round."
    )
    studies = ReliabilityStudySerializer(many=True)
    table = ResultTableSerializer(allow_null=True)


class NewStudySerializer(Plain):
    """A new study. Both rounds open at once."""

    name = NameField(max_length=80)
    propositions = serializers.IntegerField(min_value=1, max_value=500)
    sentences = serializers.IntegerField(min_value=0, max_value=500, help_text="0 for a study without matches.")
    overlap = serializers.IntegerField(min_value=1, max_value=10, default=3, help_text="People per target (k).")
    people = serializers.ListField(child=serializers.IntegerField(), min_length=1, max_length=200)
    seed = serializers.IntegerField(
        min_value=0, max_value=2**31 - 1, required=False, help_text="Drawn at random if omitted."
    )
    nearest_by = serializers.CharField(max_length=200, allow_blank=True, default="")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs.setdefault("seed", secrets.randbelow(2**31))
        return attrs


class ReliabilityView(APIView):
    @extend_schema(operation_id="reliability_get", responses=ReliabilitySerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return what a reliability study can sample, the existing studies, and the results of the closed ones."""
        member = permissions.project_to_curate(signed_in(request), slug)
        return Response(ReliabilitySerializer(page.overview(member)).data)

    @extend_schema(operation_id="reliability_begin", request=NewStudySerializer, responses={201: ReliabilitySerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Sample targets and open two reliability rounds: labels without cues, and matches to evidence.

        If no target can be matched, only the round of labels is opened.
        """
        member = permissions.project_to_curate(signed_in(request), slug)
        permit(member, "open, change and close rounds")
        serializer = NewStudySerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        begin_study(project=member.project, plan=StudyPlan(**serializer.validated_data), by=member.user)
        return Response(ReliabilitySerializer(page.overview(member)).data, status=status.HTTP_201_CREATED)
