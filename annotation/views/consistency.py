"""Labels that look wrong: what was found, and what a curator says to it."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.requests import signed_in
from projects.pages.plans import fresh_job
from projects.serializers.rounds import JobSerializer

from .. import permissions
from ..actions import consistency as actions
from ..models import Finding
from ..pages import consistency as page
from ..serializers import consistency as shapes

_SAY = {"dismiss": actions.dismiss, "send": actions.send_to_review, "reopen": actions.reopen}


class ConsistencyView(APIView):
    @extend_schema(operation_id="consistency_get", responses=shapes.ConsistencySerializer)
    def get(self, request: Request, slug: str) -> Response:
        """By rule how much the newest check found."""
        project = permissions.project_to_curate(signed_in(request), slug).project
        return Response(shapes.ConsistencySerializer(page.totals(project)).data)

    @extend_schema(operation_id="consistency_check", request=None, responses={202: JobSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Have a worker check the corpus. While a check waits or runs it is that one."""
        member = permissions.project_to_curate(signed_in(request), slug)
        job = actions.ask(project=member.project, by=member.user)
        return Response(JobSerializer(fresh_job(job)).data, status=status.HTTP_202_ACCEPTED)


class FindingListView(generics.ListAPIView[Finding]):
    queryset = Finding.objects.none()
    serializer_class = shapes.FindingSerializer

    @extend_schema(operation_id="findings_list", parameters=[shapes.FindingFiltersSerializer])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """What the newest check found, in the order of the rules, the most telling of a rule first."""
        project = permissions.project_to_curate(signed_in(request), kwargs["slug"]).project
        filters = shapes.FindingFiltersSerializer(data=request.query_params)
        filters.is_valid(raise_exception=True)
        found = self.paginate_queryset(page.findings(project, **filters.validated_data)) or []
        return self.get_paginated_response(shapes.FindingSerializer(page.rows(found), many=True).data)


class FindingView(APIView):
    @extend_schema(
        operation_id="findings_answer", request=shapes.FindingAnswerSerializer, responses=shapes.FindingSerializer
    )
    def post(self, request: Request, finding_id: int) -> Response:
        """Dismiss a finding, send the values that it doubts to review, or reopen one that was dismissed."""
        finding, member = permissions.finding_to_answer(signed_in(request), finding_id)
        asked = shapes.FindingAnswerSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        said = _SAY[asked.validated_data["say"]](finding=finding, reason=asked.validated_data["reason"], by=member)
        return Response(shapes.FindingSerializer(page.rows([said])[0]).data)
