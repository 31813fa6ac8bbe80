"""Background work as the page watches it."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.requests import signed_in

from ..background import jobs
from ..pages import plans
from ..permissions import job_of, require_job_control, require_job_report
from ..serializers.rounds import JobSerializer


class JobView(APIView):
    @extend_schema(operation_id="jobs_get", responses=JobSerializer)
    def get(self, request: Request, job_id: int) -> Response:
        """How far a job is."""
        job = job_of(signed_in(request), job_id)
        require_job_report(signed_in(request), job)
        return Response(JobSerializer(plans.fresh_job(job)).data)


class JobCancelView(APIView):
    @extend_schema(operation_id="jobs_cancel", request=None, responses=JobSerializer)
    def post(self, request: Request, job_id: int) -> Response:
        """Ask a job to stop. What it finished stays."""
        job = job_of(signed_in(request), job_id)
        require_job_control(signed_in(request), job)
        jobs.cancel(job)
        return Response(JobSerializer(plans.fresh_job(job)).data)
