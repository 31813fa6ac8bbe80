"""Shared implementation of the views that check and confirm an upload."""

from typing import Any

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.sessions import signed_in

from .. import uploads
from ..jobs.queries import fresh_job
from ..jobs.serializers import JobSerializer
from ..models import Job, Project
from . import actions as uploads_actions
from .serializers import FileCheckSerializer

Shape = type[serializers.Serializer[Any]]


def check(request: Request, upload: str, shape: Shape, project: Project, **of: Any) -> Response:
    """Store the uploaded file, with the ``others`` of its set if the form has that field, and queue their check.

    ``of``: parameters from the URL.
    """
    form = shape(data=request.data)
    form.is_valid(raise_exception=True)
    params = dict(form.validated_data)
    file, others = params.pop("file"), params.pop("others", [])
    job = uploads_actions.start_check(
        uploads.get(upload), project=project, file=file, others=others, by=signed_in(request), params=of | params
    )
    return _queued(job, FileCheckSerializer)


def confirm(request: Request, upload: str, shape: Shape, project: Project, **of: Any) -> Response:
    """Queue the job that writes a checked file. The body contains ``job``, the check; other fields are options."""
    body = shape(data=request.data)
    body.is_valid(raise_exception=True)
    chosen = dict(body.validated_data)
    job_id = chosen.pop("job")
    job = uploads_actions.confirm(
        uploads.get(upload), project=project, job_id=job_id, by=signed_in(request), of=of, chosen=chosen
    )
    return _queued(job, JobSerializer)


def _queued(job: Job, shape: type[JobSerializer]) -> Response:
    return Response(shape(fresh_job(job)).data, status=status.HTTP_202_ACCEPTED)
