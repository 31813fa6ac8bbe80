"""API of background jobs."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import User
from accounts.sessions import signed_in

from ..models import Job
from ..permissions import Names, job_of, member_in, require_job_control, require_job_report
from . import jobs
from .queries import fresh_job
from .serializers import JobDetailSerializer, JobSerializer


class JobView(APIView):
    @extend_schema(operation_id="jobs_get", responses=JobDetailSerializer)
    def get(self, request: Request, job_id: int) -> Response:
        """Return a job and its progress."""
        job = job_of(signed_in(request), job_id)
        require_job_report(signed_in(request), job)
        return _detail(signed_in(request), job)


class JobCancelView(APIView):
    @extend_schema(operation_id="jobs_cancel", request=None, responses=JobDetailSerializer)
    def post(self, request: Request, job_id: int) -> Response:
        """Cancel a job. Finished work is kept."""
        job = job_of(signed_in(request), job_id)
        require_job_control(signed_in(request), job)
        jobs.cancel(job)
        return _detail(signed_in(request), job)


class JobDismissalView(APIView):
    @extend_schema(operation_id="jobs_dismiss", request=None, responses={204: None})
    def post(self, request: Request, job_id: int) -> Response:
        """Remove a failed job from the overview of its project."""
        job = job_of(signed_in(request), job_id)
        require_job_control(signed_in(request), job)
        jobs.dismiss(job=job, by=signed_in(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


def _detail(user: User, job: Job) -> Response:
    names = Names(member_in(user, job.project_id)) if job.project_id is not None else None
    context = {"name_of": names.of if names else lambda by: by.name if by else ""}
    return Response(JobDetailSerializer(fresh_job(job), context=context).data)


def accepted(job: Job) -> Response:
    return Response(JobSerializer(fresh_job(job)).data, status=status.HTTP_202_ACCEPTED)
