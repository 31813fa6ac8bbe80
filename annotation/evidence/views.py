"""Views of evidence ranking."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from annotation import permissions
from annotation.evidence import actions as evidence_actions
from annotation.evidence import queries as page
from annotation.evidence.figures import evaluation_now
from projects.jobs.queries import fresh_job
from projects.jobs.serializers import JobSerializer

Plain = serializers.Serializer[Any]


class EvidenceShareSerializer(Plain):
    """The share of pairs with a hit and its confidence interval over reviews, or the reason why it is undefined."""

    value = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField(help_text="Number of pairs of a target and a study.")
    clusters = serializers.IntegerField(help_text="Number of reviews of these pairs.")
    sd = serializers.FloatField(allow_null=True)
    ci = serializers.ListField(child=serializers.FloatField(), allow_null=True, help_text="95% confidence interval.")
    undefined = serializers.CharField(allow_blank=True)
    ci_reason = serializers.CharField(allow_blank=True)


class EvidenceReportSerializer(Plain):
    """Accuracy over the pairs that people mapped and all rankers ranked."""

    top_1 = EvidenceShareSerializer(
        help_text="Share of pairs in which a sentence that people selected is ranked first."
    )
    top_3 = EvidenceShareSerializer(help_text="Share of pairs in which a selected sentence is among the first three.")
    position = EvidenceShareSerializer(
        help_text="Share of pairs in which the position baseline finds a selected sentence."
    )
    chance_1 = serializers.FloatField(allow_null=True, help_text="Expected share for a random order.")
    chance_3 = serializers.FloatField(allow_null=True)
    sentences = serializers.FloatField(allow_null=True, help_text="Mean number of sentences per abstract.")


class RankerSerializer(Plain):
    key = serializers.CharField()
    title = serializers.CharField()
    takes = serializers.CharField(
        allow_blank=True, help_text="Label of the parameter `model`; empty if the ranker has none."
    )


class EvidenceDifferenceSerializer(EvidenceShareSerializer):
    """Share of a ranker minus that of the one it is compared with, on the same pairs."""

    p = serializers.FloatField(allow_null=True, help_text="Of a paired test by review, adjusted by Holm.")


class RankingTotalsSerializer(Plain):
    ranker = serializers.CharField(help_text="Name of the ranker, with a digest of its model, if it has one.")
    ranked = serializers.IntegerField(help_text="Number of ranked pairs.")
    mapped = serializers.IntegerField(help_text="Number of ranked pairs that people mapped.")
    report = EvidenceReportSerializer()
    differences = EvidenceDifferenceSerializer(
        many=True, help_text="From `against`, for the first and for the first three; empty for `against` itself."
    )


class EvidenceQuerySerializer(Plain):
    against = serializers.CharField(
        max_length=300,
        required=False,
        default="",
        allow_blank=True,
        help_text="Name of the ranker that the others are compared with. Default: the most accurate one.",
    )


class EvidenceSerializer(Plain):
    """Counts of rankable pairs, and the accuracy of each ranker."""

    as_of = serializers.DateTimeField(
        allow_null=True, help_text="Time of the figures while a job renews them. Null if they are current."
    )
    targets = serializers.IntegerField(help_text="Current target sentences.")
    studies = serializers.IntegerField()
    studies_without_sentences = serializers.IntegerField(
        help_text="Studies without an abstract, or whose abstract is not split yet."
    )
    pairs = serializers.IntegerField(help_text="Pairs of a target and a study of its review that has an abstract.")
    mapped = serializers.IntegerField(help_text="Pairs that people mapped to sentences.")
    not_found = serializers.IntegerField(help_text="Inputs whose text is not a sentence of the study's abstract.")
    no_abstract = serializers.IntegerField(help_text="Inputs of studies without an abstract.")
    against = serializers.CharField(
        allow_blank=True, help_text="Name of the ranker that the others are compared with; empty if nothing is ranked."
    )
    baseline = EvidenceReportSerializer(
        help_text="Report on the pairs of the rankers. Only the position baseline and chance are meaningful."
    )
    rankings = RankingTotalsSerializer(many=True)
    rankers = RankerSerializer(many=True)
    job = JobSerializer(allow_null=True, help_text="The newest ranking job, if it is in progress or failed.")


class RankingRequestSerializer(Plain):
    ranker = serializers.CharField(max_length=40)
    model = serializers.CharField(max_length=200, allow_blank=True, default="")


class EvidenceView(APIView):
    @extend_schema(operation_id="evidence_get", parameters=[EvidenceQuerySerializer], responses=EvidenceSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return the accuracy of each ranker and its difference from another one, with position and chance."""
        project = permissions.project_to_curate(signed_in(request), slug).project
        query = EvidenceQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        figures, as_of = evaluation_now(project, query.validated_data["against"])
        return Response(EvidenceSerializer(page.overview(project, figures) | {"as_of": as_of}).data)

    @extend_schema(operation_id="evidence_rank", request=RankingRequestSerializer, responses={202: JobSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Queue a job that ranks the remaining pairs. Return the existing job if the same one is queued or running."""
        member = permissions.project_to_curate(signed_in(request), slug)
        serializer = RankingRequestSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        job = evidence_actions.queue_ranking(project=member.project, by=member.user, **serializer.validated_data)
        return Response(JobSerializer(fresh_job(job)).data, status=status.HTTP_202_ACCEPTED)
