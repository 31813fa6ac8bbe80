"""Evidence mapping: what is ranked, how well, and having it ranked."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.requests import signed_in
from projects.pages.plans import fresh_job
from projects.serializers.rounds import JobSerializer

from .. import permissions
from ..actions import ranking
from ..pages import evidence as page
from ..serializers import evidence as shapes


class EvidenceView(APIView):
    @extend_schema(operation_id="evidence_get", responses=shapes.EvidenceSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """How well rankers find the sentences that people took as evidence, beside position and chance."""
        project = permissions.project_to_curate(signed_in(request), slug).project
        return Response(shapes.EvidenceSerializer(page.overview(project)).data)

    @extend_schema(
        operation_id="evidence_rank", request=shapes.RankingRequestSerializer, responses={202: JobSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Have a worker rank what is not ranked yet. While the same is under way it is that job."""
        member = permissions.project_to_curate(signed_in(request), slug)
        asked = shapes.RankingRequestSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        job = ranking.ask(project=member.project, by=member.user, **asked.validated_data)
        return Response(JobSerializer(fresh_job(job)).data, status=status.HTTP_202_ACCEPTED)
