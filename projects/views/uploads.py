"""What the two addresses of an upload do: a file is kept and checked, and what was checked is confirmed."""

from typing import Any

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.requests import signed_in

from .. import uploads
from ..models import Job, Project
from ..pages import plans
from ..serializers.faults import FileCheckSerializer
from ..serializers.rounds import JobSerializer
from ..uploads import flow

Shape = type[serializers.Serializer[Any]]


def check(request: Request, upload: str, shape: Shape, project: Project, **of: Any) -> Response:
    """Keep the file of a form of that shape, with its ``others`` where it has that field, and queue their check.
    ``of``: what the address says beside the form."""
    form = shape(data=request.data)
    form.is_valid(raise_exception=True)
    asked = dict(form.validated_data)
    file, others = asked.pop("file"), asked.pop("others", [])
    job = flow.start_check(
        uploads.get(upload), project=project, file=file, others=others, by=signed_in(request), asked=of | asked
    )  # fmt: skip
    return _queued(job, FileCheckSerializer)


def confirm(request: Request, upload: str, shape: Shape, project: Project, **of: Any) -> Response:
    """Queue the writing of a file whose check is ``job`` in a body of that shape; the rest of it is what is chosen."""
    body = shape(data=request.data)
    body.is_valid(raise_exception=True)
    chosen = dict(body.validated_data)
    job_id = chosen.pop("job")
    job = flow.confirm(
        uploads.get(upload), project=project, job_id=job_id, by=signed_in(request), of=of, chosen=chosen
    )  # fmt: skip
    return _queued(job, JobSerializer)


def _queued(job: Job, shape: type[JobSerializer]) -> Response:
    return Response(shape(plans.fresh_job(job)).data, status=status.HTTP_202_ACCEPTED)
