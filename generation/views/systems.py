"""Systems and versions over HTTP: what can be configured, what there is, and making more."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.requests import signed_in
from projects.models import Job
from projects.pages import plans
from projects.serializers.rounds import JobSerializer

from .. import permissions
from ..actions.systems import ask_for_version, create_system
from ..models import System
from ..pages import systems as system_pages
from ..serializers import systems as shapes


class BackendListView(APIView):
    @extend_schema(operation_id="backends_list", responses=shapes.VersionChoicesSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """What a new version can be made of: levels with how many units there are, backends with their parameters."""
        member = permissions.reader_of(signed_in(request), slug)
        return Response(shapes.VersionChoicesSerializer(system_pages.choices(member.project)).data)


class SystemListView(generics.ListAPIView[System]):
    queryset = System.objects.none()
    serializer_class = shapes.SystemSerializer

    @extend_schema(operation_id="systems_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The summarisers of a project with their versions, and the newest run of each."""
        member = permissions.reader_of(signed_in(request), kwargs["slug"])
        page = self.paginate_queryset(system_pages.systems(member.project)) or []
        rows = system_pages.system_rows(page, member)
        return self.get_paginated_response(shapes.SystemSerializer(rows, many=True).data)

    @extend_schema(
        operation_id="systems_register",
        request=shapes.NewSystemSerializer,
        responses={201: shapes.SystemSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Register a summariser under the name that tables print."""
        member = permissions.lead_of(signed_in(request), slug)
        body = shapes.NewSystemSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        made = create_system(project=member.project, by=member.user, **body.validated_data)
        return Response(_system(made, member), status=status.HTTP_201_CREATED)


class SystemView(APIView):
    @extend_schema(operation_id="systems_get", responses=shapes.SystemSerializer)
    def get(self, request: Request, system_id: int) -> Response:
        """One summariser with its versions."""
        return Response(_system(*permissions.system_of(signed_in(request), system_id)))


class VersionListView(APIView):
    @extend_schema(
        operation_id="versions_make",
        request=shapes.NewVersionSerializer,
        responses={201: shapes.VersionSerializer, 202: JobSerializer},
    )
    def post(self, request: Request, system_id: int) -> Response:
        """Make a version of a system. Where only a worker can read what it points at, the reply is its job, whose
        result names the version. What is wrong is said field by field (``model.dtype``)."""
        system, member = permissions.system_of(signed_in(request), system_id, permissions.RUN)
        body = shapes.NewVersionSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        made = ask_for_version(system=system, by=member.user, **body.validated_data)
        if isinstance(made, Job):
            return Response(JobSerializer(plans.fresh_job(made)).data, status=status.HTTP_202_ACCEPTED)
        page = system_pages.version_page(made, member)
        return Response(shapes.VersionSerializer(page).data, status=status.HTTP_201_CREATED)


class VersionView(APIView):
    @extend_schema(operation_id="versions_get", responses=shapes.VersionSerializer)
    def get(self, request: Request, version_id: int) -> Response:
        """One version: configuration, facts, in what it differs from the one before, and its runs."""
        version, member = permissions.version_of(signed_in(request), version_id)
        return Response(shapes.VersionSerializer(system_pages.version_page(version, member)).data)


def _system(system: System, member: Any) -> Any:
    return shapes.SystemSerializer(system_pages.system_rows([system], member)[0]).data
