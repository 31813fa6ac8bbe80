"""API of background jobs."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in

from ..models import Job
from ..permissions import job_of, require_job_control, require_job_report
from . import jobs
from .queries import fresh_job
from .serializers import JobSerializer


class JobView(APIView):
    @extend_schema(operation_id="jobs_get", responses=JobSerializer)
    def get(self, request: Request, job_id: int) -> Response:
        """Return a job and its progress."""
        job = job_of(signed_in(request), job_id)
        require_job_report(signed_in(request), job)
        return Response(JobSerializer(fresh_job(job)).data)


class JobCancelView(APIView):
    @extend_schema(operation_id="jobs_cancel", request=None, responses=JobSerializer)
    def post(self, request: Request, job_id: int) -> Response:
        """Cancel a job. Finished work is kept."""
        job = job_of(signed_in(request), job_id)
        require_job_control(signed_in(request), job)
        jobs.cancel(job)
        return Response(JobSerializer(fresh_job(job)).data)


def accepted(job: Job) -> Response:
    return Response(JobSerializer(fresh_job(job)).data, status=status.HTTP_202_ACCEPTED)
