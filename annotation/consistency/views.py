"""Views of consistency findings and their resolution."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from annotation import permissions
from annotation.clusters.serializers import CorpusRangeSerializer
from annotation.consistency import actions
from annotation.consistency import queries as page
from annotation.models import Element, Finding, PicoForm
from annotation.models.finding import STATES
from api.fields import LARGEST, UnitNameField, at_most
from measures.consistency import RULES
from projects.jobs.queries import fresh_job
from projects.jobs.serializers import JobSerializer

Plain = serializers.Serializer[Any]


class RuleTotalsSerializer(Plain):
    """A rule with the number of its findings by state."""

    rule = serializers.CharField()
    title = serializers.CharField()
    why = serializers.CharField()
    kind = serializers.CharField(
        allow_blank=True, help_text="Kind of the doubted labels; empty if the rule doubts something else."
    )
    waiting = serializers.IntegerField()
    information = serializers.IntegerField(help_text="Waiting findings whose values may well be intended.")
    dismissed = serializers.IntegerField()
    sent = serializers.IntegerField()


class ConsistencySerializer(Plain):
    checked_at = serializers.DateTimeField(allow_null=True, help_text="Null before the first check.")
    job = JobSerializer(allow_null=True, help_text="The newest check, if it is in progress or failed.")
    rules = RuleTotalsSerializer(many=True)


class FindingElementSerializer(Plain):
    """One element of a PICO tuple."""

    element = serializers.ChoiceField(choices=Element.choices)
    form = serializers.ChoiceField(choices=PicoForm.choices)
    text = serializers.CharField(allow_blank=True)


class FindingUnitSerializer(Plain):
    unit = serializers.IntegerField()
    key = serializers.CharField()
    unit_name = UnitNameField()
    text = serializers.CharField(allow_blank=True, help_text="Text of the unit. For a cluster, the text of its target.")
    marked = CorpusRangeSerializer(many=True, help_text="Ranges of the doubted words in the text, in order.")
    pico = FindingElementSerializer(many=True, help_text="Tuple of the unit's cluster.")
    polarity = serializers.CharField(allow_blank=True, help_text="Current value; empty if there is none.")
    modality = serializers.CharField(allow_blank=True, help_text="Current value; empty if there is none.")


class FindingQueueSerializer(Plain):
    round = serializers.IntegerField()
    name = serializers.CharField()


class FindingSerializer(Plain):
    """A finding and its resolution by a curator."""

    id = serializers.IntegerField()
    rule = serializers.CharField()
    reason = serializers.CharField()
    weight = serializers.FloatField()
    is_information = serializers.BooleanField()
    units = FindingUnitSerializer(many=True)
    decision = serializers.ChoiceField(choices=Finding.Decision.choices, allow_blank=True)
    decision_reason = serializers.CharField(allow_blank=True)
    decided_by = serializers.CharField(allow_blank=True)
    decided_at = serializers.DateTimeField(allow_null=True)
    queues = FindingQueueSerializer(
        many=True, help_text="Closed rounds whose adjudication queue contains the units sent to review."
    )
    can_be_sent = serializers.BooleanField(help_text="Whether the finding doubts labels that can be sent to review.")


class FindingFiltersSerializer(Plain):
    rule = serializers.ChoiceField(choices=[rule.key for rule in RULES], required=False)
    state = serializers.ChoiceField(choices=list(STATES), required=False)


class FindingAnswerSerializer(Plain):
    """The resolution of a finding, with a reason."""

    say = serializers.ChoiceField(choices=["dismiss", "send", "reopen"])
    reason = serializers.CharField(allow_blank=True, max_length=2000)


class DismissalsSerializer(Plain):
    findings = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=LARGEST), allow_empty=False, **at_most(200)
    )
    reason = serializers.CharField(max_length=2000)


_ACTIONS = {"dismiss": actions.dismiss, "send": actions.send_to_review, "reopen": actions.reopen}


class ConsistencyView(APIView):
    @extend_schema(operation_id="consistency_get", responses=ConsistencySerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return the number of findings of the newest check by rule."""
        project = permissions.project_to_curate(signed_in(request), slug).project
        return Response(ConsistencySerializer(page.totals(project)).data)

    @extend_schema(operation_id="consistency_check", request=None, responses={202: JobSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Queue a check of the corpus. Return the existing job if one is queued or running."""
        member = permissions.project_to_curate(signed_in(request), slug)
        job = actions.queue_check(project=member.project, by=member.user)
        return Response(JobSerializer(fresh_job(job)).data, status=status.HTTP_202_ACCEPTED)


class FindingListView(generics.ListAPIView[Finding]):
    queryset = Finding.objects.none()
    serializer_class = FindingSerializer

    @extend_schema(operation_id="findings_list", parameters=[FindingFiltersSerializer])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the findings of the newest check in the order of the rules, the strongest finding of each rule first."""
        project = permissions.project_to_curate(signed_in(request), kwargs["slug"]).project
        filters = FindingFiltersSerializer(data=request.query_params)
        filters.is_valid(raise_exception=True)
        findings = self.paginate_queryset(page.findings(project, **filters.validated_data)) or []
        return self.get_paginated_response(FindingSerializer(page.rows(findings), many=True).data)


class FindingView(APIView):
    @extend_schema(operation_id="findings_answer", request=FindingAnswerSerializer, responses=FindingSerializer)
    def post(self, request: Request, finding_id: int) -> Response:
        """Dismiss a finding, send the values in doubt to review, or reopen a dismissed finding."""
        finding, member = permissions.finding_to_resolve(signed_in(request), finding_id)
        serializer = FindingAnswerSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        fields = serializer.validated_data
        resolved = _ACTIONS[fields["say"]](finding=finding, reason=fields["reason"], by=member)
        return Response(FindingSerializer(page.rows([resolved])[0]).data)


class DismissalsView(APIView):
    @extend_schema(operation_id="findings_dismiss", request=DismissalsSerializer, responses={204: None})
    def post(self, request: Request, slug: str) -> Response:
        """Dismiss several findings for one reason: all of them, or none if one is resolved already."""
        permissions.project_to_curate(signed_in(request), slug)
        serializer = DismissalsSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        fields = serializer.validated_data
        findings, member = permissions.findings_to_resolve(signed_in(request), slug, fields["findings"])
        actions.dismiss_all(findings=findings, reason=fields["reason"], by=member)
        return Response(status=status.HTTP_204_NO_CONTENT)
