"""The document level: how much of it there is, and having it made."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.requests import signed_in
from projects.pages.plans import fresh_job
from projects.serializers.rounds import JobSerializer

from .. import permissions
from ..actions import documents
from ..pages import documents as page
from ..serializers import documents as shapes


class DocumentsView(APIView):
    @extend_schema(operation_id="documents_get", responses=shapes.DocumentsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """How many reviews have a document-level target (M3's level 1)."""
        project = permissions.project_to_curate(signed_in(request), slug).project
        return Response(shapes.DocumentsSerializer(page.overview(project)).data)

    @extend_schema(operation_id="documents_make", request=None, responses={202: JobSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Have a worker make them, or bring them up to date. While that is under way it is that job."""
        member = permissions.project_to_curate(signed_in(request), slug)
        job = documents.ask(project=member.project, by=member.user)
        return Response(JobSerializer(fresh_job(job)).data, status=status.HTTP_202_ACCEPTED)
