"""API of the methods text."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from projects.jobs.queries import fresh_job
from projects.jobs.serializers import JobSerializer
from projects.models import Member
from projects.permissions import member_of, permit

from .actions import request_text
from .queries import stored_text
from .serializers import MethodsSerializer


class MethodsView(APIView):
    @extend_schema(operation_id="methods_get", responses=MethodsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return the methods text of a project, as the last job wrote it."""
        return Response(MethodsSerializer(stored_text(self._member(request, slug))).data)

    @extend_schema(operation_id="methods_write", request=None, responses={202: JobSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Write the text from the current data, in the background."""
        member = self._member(request, slug)
        job = request_text(project=member.project, by=member.user)
        return Response(JobSerializer(fresh_job(job)).data, status=status.HTTP_202_ACCEPTED)

    @staticmethod
    def _member(request: Request, slug: str) -> Member:
        member = member_of(signed_in(request), slug)
        # It states the agreement of single rounds before a release does.
        permit(member, "see who answered what")
        return member
