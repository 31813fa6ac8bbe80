"""Reliability studies over HTTP."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.requests import signed_in
from projects.permissions import permit

from .. import permissions
from ..actions.reliability import StudyPlan, begin_study
from ..pages import reliability as page
from ..serializers import reliability as shapes


class ReliabilityView(APIView):
    @extend_schema(operation_id="reliability_get", responses=shapes.ReliabilitySerializer)
    def get(self, request: Request, slug: str) -> Response:
        """What a reliability study can sample, the studies that there are, and what the closed ones came to."""
        member = permissions.project_to_curate(signed_in(request), slug)
        return Response(shapes.ReliabilitySerializer(page.overview(member)).data)

    @extend_schema(
        operation_id="reliability_begin", request=shapes.NewStudySerializer,
        responses={201: shapes.ReliabilitySerializer},
    )  # fmt: skip
    def post(self, request: Request, slug: str) -> Response:
        """Sample targets and open two rounds that measure only: labels without cues, and matches to evidence. Where no
        target can be matched, the first alone."""
        member = permissions.project_to_curate(signed_in(request), slug)
        permit(member, "open, change and close rounds")
        asked = shapes.NewStudySerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        begin_study(project=member.project, plan=StudyPlan(**asked.validated_data), by=member.user)
        return Response(shapes.ReliabilitySerializer(page.overview(member)).data, status=status.HTTP_201_CREATED)
