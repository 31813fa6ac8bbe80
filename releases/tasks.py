"""Background jobs of the releases app."""

from typing import Any

from api.problems import Refused
from projects.jobs import jobs
from projects.jobs.running import RunningJob

from .methods.actions import write_and_store
from .methods.queries import KIND as METHODS
from .models import Release
from .publishing.actions import check_release, freeze
from .publishing.serializers import VerifiedSerializer
from .sources.options import ReleaseOptions
from .storage import registry as storage_registry


@jobs.handler("release", notification=("Release", "releases"))
def release(job: RunningJob) -> dict[str, Any]:
    """Create a release. If a worker died, the second attempt finds the release either complete or absent."""
    if job.project is None:
        raise Refused("The job of a release has no project.")
    if job.job.attempts > 1 and (kept := _made_by(job)):
        return _result(kept)
    chosen = {name: value for name, value in job.params.items() if name != "version"}
    options = ReleaseOptions(**chosen)
    check_release(job.project, options)
    made = freeze(project=job.project, version=job.params["version"], by=job.by, options=options, progress=job.say)
    return _result(made)


@jobs.handler(METHODS, page=("Methods text", "methods"))
def methods(job: RunningJob) -> dict[str, Any]:
    """Write the methods text of a project, and store it for its page."""
    if job.project is None:
        raise Refused("The job of a methods text has no project.")
    return write_and_store(project=job.project)


@jobs.handler("verify_release", notification=("Check of a release", "releases"))
def verify_release(job: RunningJob) -> dict[str, Any]:
    """Verify a stored release. The result is shown on the release's page."""
    report = storage_registry.verify(
        Release.objects.select_related("project").get(pk=job.params["release"]), progress=job.say
    )
    return dict(VerifiedSerializer(report).data)


def _made_by(job: RunningJob) -> Release | None:
    """Return the release that an earlier attempt stored before its worker died. The data may have changed since."""
    return Release.objects.filter(
        project=job.project, version=job.params["version"], created_by=job.by, created_at__gte=job.job.created_at
    ).first()


def _result(made: Release) -> dict[str, Any]:
    return {"release": made.pk, "version": made.version, "snapshot": made.snapshot_hash}
