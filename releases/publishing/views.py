"""API of releases: check, create, show, verify and download."""

from typing import Any

from django.db.models import Q
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from api import limits
from api.problems import Conflict
from projects.jobs import jobs
from projects.jobs.queries import ACTIVE, fresh_job
from projects.jobs.serializers import JobSerializer
from projects.models import Job, JobStatus, Member
from projects.permissions import Names, may, member_of, permit

from ..models import Release
from ..permissions import READ, release_of
from ..sources import checks
from ..storage import downloads
from ..storage import registry as storage_registry
from . import serializers as publishing_serializers
from .actions import check_release

#: Maximum size in bytes of a release that is verified during the request, which takes half a second.
AT_ONCE = 256 << 20
BYTES = OpenApiResponse(OpenApiTypes.BINARY, description="An attachment.")


def _named(member: Member) -> dict[str, Any]:
    return {"names": Names(member)}


class ReleaseListView(generics.ListAPIView[Release]):
    queryset = Release.objects.none()
    serializer_class = publishing_serializers.ReleaseRowSerializer

    @extend_schema(operation_id="releases_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The releases of a project, newest first."""
        member = member_of(signed_in(request), kwargs["slug"])
        permit(member, READ)
        found = Release.objects.filter(project=member.project_id).select_related("created_by")
        rows = self.paginate_queryset(found) or []
        return self.get_paginated_response(
            publishing_serializers.ReleaseRowSerializer(rows, many=True, context=_named(member)).data
        )

    @extend_schema(
        operation_id="releases_freeze", request=publishing_serializers.FreezeSerializer, responses={202: JobSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Create a release in the background."""
        member = member_of(signed_in(request), slug)
        permit(member, "freeze releases")
        serializer = publishing_serializers.FreezeSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        if Release.objects.filter(project=member.project_id, version=serializer.validated_data["version"]).exists():
            raise Conflict("This version already exists. Releases never change: use the next version number.")
        check_release(member.project, serializer.options())
        asked_for = Job.objects.filter(project=member.project, kind="release")
        limits.check("LIMIT_RELEASES_PER_DAY", asked_for)
        job, _ = jobs.request_job(
            project=member.project, kind="release", params=serializer.validated_data, by=member.user
        )
        return Response(JobSerializer(fresh_job(job)).data, status=status.HTTP_202_ACCEPTED)


class PendingReleasesView(APIView):
    @extend_schema(
        operation_id="releases_pending", responses=publishing_serializers.PendingReleaseSerializer(many=True)
    )
    def get(self, request: Request, slug: str) -> Response:
        """Releases that are being created, and those that failed after the newest release. Only for leads."""
        member = member_of(signed_in(request), slug)
        permit(member, READ)
        every = Job.objects.filter(project=member.project_id, kind="release").select_related("created_by")
        done = every.filter(status=JobStatus.DONE).values_list("pk", flat=True).first() or 0
        failed = Q(status=JobStatus.FAILED, pk__gt=done)
        pending = every.filter(Q(status__in=ACTIVE) | failed) if may(member, "freeze releases") else every.none()
        shape = publishing_serializers.PendingReleaseSerializer(pending, many=True, context=_named(member))
        return Response(shape.data)


class ReleaseChecksView(APIView):
    @extend_schema(
        operation_id="releases_checks",
        parameters=[publishing_serializers.ReleaseOptionsSerializer],
        responses=publishing_serializers.CheckSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        """Checks before a release. A release with a DOI must pass more of them."""
        member = member_of(signed_in(request), slug)
        permit(member, READ)
        options = publishing_serializers.ReleaseOptionsSerializer(data=request.query_params)
        options.is_valid(raise_exception=True)
        return Response(checks.run(member.project, options.options()))


class ReleaseView(APIView):
    @extend_schema(operation_id="releases_get", responses=publishing_serializers.ReleaseSerializer)
    def get(self, request: Request, release_id: int) -> Response:
        """A release with its manifest."""
        release, member = release_of(signed_in(request), release_id)
        return Response(publishing_serializers.ReleaseSerializer(release, context=_named(member)).data)


class ReleaseVerifyView(APIView):
    @extend_schema(operation_id="releases_verify", responses=publishing_serializers.VerifiedSerializer)
    def get(self, request: Request, release_id: int) -> Response:
        """Hash the stored files again and compare them with manifest, database row, audit log and its checkpoints.

        A release of more than 256 MiB is verified in the background (POST).
        """
        release, _ = release_of(signed_in(request), release_id)
        if release.size > AT_ONCE:
            raise Conflict("Releases of this size are verified by a job: start it with POST, then poll the job.")
        return Response(publishing_serializers.VerifiedSerializer(storage_registry.verify(release)).data)

    @extend_schema(operation_id="releases_verify_later", request=None, responses={202: JobSerializer})
    def post(self, request: Request, release_id: int) -> Response:
        """Verify a release in the background. The job's result has the findings."""
        release, member = release_of(signed_in(request), release_id)
        permit(member, "verify releases by a job")
        job, _ = jobs.request_job(
            project=release.project, kind="verify_release", params={"release": release.pk}, by=member.user
        )
        return Response(JobSerializer(fresh_job(job)).data, status=status.HTTP_202_ACCEPTED)


class ReleaseDifferenceView(APIView):
    @extend_schema(operation_id="releases_difference", responses=publishing_serializers.DifferenceSerializer)
    def get(self, request: Request, release_id: int) -> Response:
        """Rows added, removed and changed since the previous release; empty for the first release."""
        release, _ = release_of(signed_in(request), release_id)
        before = Release.objects.filter(project=release.project_id, pk__lt=release.pk).order_by("-pk").first()
        found = {
            "before": before,
            "files": downloads.differences(before, release) if before else [],
            "rows": downloads.row_changes(before, release) if before else [],
        }
        return Response(publishing_serializers.DifferenceSerializer(found).data)


class ReleaseFileView(APIView):
    @extend_schema(operation_id="releases_file", responses={(200, "application/octet-stream"): BYTES})
    def get(self, request: Request, release_id: int, path: str) -> HttpResponseBase:
        """One file of a release. Only files listed in the manifest are available; altered files are not served."""
        release, _ = release_of(signed_in(request), release_id)
        size, pieces = downloads.file(release, path)
        headers = _attachment(path.rsplit("/", 1)[-1]) | {"Content-Length": str(size)}
        return StreamingHttpResponse(pieces, content_type="application/octet-stream", headers=headers)


class ReleaseArchiveView(APIView):
    @extend_schema(operation_id="releases_archive", responses={(200, "application/zip"): BYTES})
    def get(self, request: Request, release_id: int) -> HttpResponseBase:
        """The whole release as a zip file. Its files are verified before and during the download."""
        release, _ = release_of(signed_in(request), release_id)
        headers = _attachment(f"{release.project.slug}-{release.version}.zip")
        return StreamingHttpResponse(downloads.zipped(release), content_type="application/zip", headers=headers)


def _attachment(name: str) -> dict[str, str]:
    return {"Content-Disposition": content_disposition_header(True, name) or "attachment"}
