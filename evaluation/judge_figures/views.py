"""Views of what judges are worth."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from projects.jobs.queries import fresh_job
from projects.jobs.serializers import JobSerializer

from ..permissions import ratings_of
from ..results.views import OPEN
from . import serializers as shapes
from .actions import ask
from .queries import judges_of


class JudgeFiguresView(APIView):
    @extend_schema(operation_id="judge_figures_list", responses=shapes.JudgedRunSerializer(many=True))
    def get(self, request: Request, round_id: int) -> Response:
        """List the judges of an unblinded round with what they are worth.

        The list is empty while you rate in an open round.
        """
        design, member = ratings_of(signed_in(request), round_id)
        return Response(shapes.JudgedRunSerializer(judges_of(design, member), many=True).data)

    @extend_schema(
        operation_id="judge_figures_compute", request=shapes.RaterGroupSerializer, responses={202: JobSerializer}
    )
    def post(self, request: Request, round_id: int) -> Response:
        """Start a job that computes the results again, with epsilon for a group of raters."""
        design, member = ratings_of(signed_in(request), round_id, OPEN)
        body = shapes.RaterGroupSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        job = fresh_job(ask(design=design, group=body.validated_data["group"], by=member.user))
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)
