"""Background work of releases."""

from typing import Any

from api.problems import Refused
from projects.background import jobs

from .actions import freeze
from .keeping import kept
from .models import Release
from .serializers import VerifiedSerializer


@jobs.handler("release", told=("Release", "releases"))
def release(job: jobs.RunningJob) -> dict[str, Any]:
    """Freeze a release. After a worker died, a second attempt finds nothing half made."""
    if job.project is None:
        raise Refused("A release needs a project.")
    if job.job.attempts > 1 and (kept := _made_by(job)):
        return _result(kept)
    made = freeze(project=job.project, version=job.params["version"], by=job.by, progress=job.say)
    return _result(made)


@jobs.handler("verify_release", told=("Check of a release", "releases"))
def verify_release(job: jobs.RunningJob) -> dict[str, Any]:
    """Hold a kept release against all that knows of it; the result is what the page shows."""
    report = kept.verify(Release.objects.select_related("project").get(pk=job.params["release"]), progress=job.say)
    return dict(VerifiedSerializer(report).data)


def _made_by(job: jobs.RunningJob) -> Release | None:
    """What an earlier attempt froze before its worker died; the data may have changed since."""
    return Release.objects.filter(
        project=job.project, version=job.params["version"], created_by=job.by, created_at__gte=job.job.created_at
    ).first()


def _result(made: Release) -> dict[str, Any]:
    return {"release": made.pk, "version": made.version, "snapshot": made.snapshot_hash}
