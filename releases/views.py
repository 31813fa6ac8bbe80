"""Releases over HTTP: check, freeze, look, verify, download."""

from pathlib import Path
from typing import IO, Any

from django.http import FileResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.problems import Conflict, NotFound
from accounts.requests import signed_in
from projects import jobs, plans
from projects.models import Role
from projects.permissions import member_of, require
from projects.serializers.rounds import JobSerializer

from . import archive, checks, diffs, manifest, serializers
from .actions import folder_of
from .models import Release
from .permissions import READERS, release_of

BYTES = OpenApiResponse(OpenApiTypes.BINARY, description="An attachment.")


class ReleaseListView(generics.ListAPIView[Release]):
    queryset = Release.objects.none()
    serializer_class = serializers.ReleaseRowSerializer

    @extend_schema(operation_id="releases_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The releases of a project, newest first."""
        member = member_of(signed_in(request), kwargs["slug"])
        require(member, *READERS)
        found = Release.objects.filter(project=member.project_id).select_related("created_by").defer("manifest")
        rows = self.paginate_queryset(found) or []
        return self.get_paginated_response(serializers.ReleaseRowSerializer(rows, many=True).data)

    @extend_schema(operation_id="releases_freeze", request=serializers.FreezeSerializer, responses={202: JobSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Freeze a release in the background."""
        member = member_of(signed_in(request), slug)
        require(member, Role.LEAD)
        serializer = serializers.FreezeSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        if Release.objects.filter(project=member.project_id, version=serializer.validated_data["version"]).exists():
            raise Conflict("This version exists; a release never changes. Take the next number.")
        job = jobs.enqueue(project=member.project, kind="release", params=serializer.validated_data, by=member.user)
        return Response(JobSerializer(plans.fresh_job(job)).data, status=status.HTTP_202_ACCEPTED)


class ReleaseChecksView(APIView):
    @extend_schema(operation_id="releases_checks", responses=serializers.CheckSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """What to look at before freezing."""
        member = member_of(signed_in(request), slug)
        require(member, *READERS)
        return Response(checks.run(member.project))


class ReleaseView(APIView):
    @extend_schema(operation_id="releases_get", responses=serializers.ReleaseSerializer)
    def get(self, request: Request, release_id: int) -> Response:
        """A release with its manifest."""
        release, _ = release_of(signed_in(request), release_id)
        return Response(serializers.ReleaseSerializer(release).data)


class ReleaseVerifyView(APIView):
    @extend_schema(operation_id="releases_verify", responses=serializers.VerifiedSerializer)
    def get(self, request: Request, release_id: int) -> Response:
        """Hash the kept files again and compare them with the manifest."""
        release, _ = release_of(signed_in(request), release_id)
        return Response({"findings": list(manifest.findings(folder_of(release)))})


class ReleaseDifferenceView(APIView):
    @extend_schema(operation_id="releases_difference", responses=serializers.DifferenceSerializer)
    def get(self, request: Request, release_id: int) -> Response:
        """Rows added, removed and changed since the release before; nothing is before the first one."""
        release, _ = release_of(signed_in(request), release_id)
        before = Release.objects.filter(project=release.project_id, pk__lt=release.pk).order_by("-pk").first()
        files = diffs.differences(folder_of(before), folder_of(release)) if before else []
        return Response(serializers.DifferenceSerializer({"before": before, "files": files}).data)


class ReleaseFileView(APIView):
    @extend_schema(operation_id="releases_file", responses={(200, "application/octet-stream"): BYTES})
    def get(self, request: Request, release_id: int, path: str) -> HttpResponseBase:
        """One file of a release. Only what the manifest lists has an address here."""
        release, _ = release_of(signed_in(request), release_id)
        if path not in [manifest.NAME, *_paths(release)]:
            raise NotFound("This release has no such file.")
        file = _opened(folder_of(release) / path)
        name = path.rsplit("/", 1)[-1]
        return FileResponse(file, as_attachment=True, filename=name, content_type="application/octet-stream")


class ReleaseArchiveView(APIView):
    @extend_schema(operation_id="releases_archive", responses={(200, "application/zip"): BYTES})
    def get(self, request: Request, release_id: int) -> HttpResponseBase:
        """The whole release as one zip."""
        release, _ = release_of(signed_in(request), release_id)
        top = f"{release.project.slug}-{release.version}"
        return StreamingHttpResponse(
            archive.stream(folder_of(release), top, _paths(release)),
            content_type="application/zip",
            headers={"Content-Disposition": f'attachment; filename="{top}.zip"'},
        )


def _opened(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except OSError:
        raise NotFound("This file is no longer kept; verifying the release says what else is missing.") from None


def _paths(release: Release) -> list[str]:
    return [entry["path"] for entry in release.manifest["files"]]
