"""API views of systems and versions."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from api.fields import NameField, Strict
from api.parameters import ParameterSerializer
from generation import permissions
from generation.models import System, UnitLevel
from generation.runs.serializers import RunRowSerializer
from generation.systems import queries as system_pages
from generation.systems.actions import create_system, request_version
from projects.jobs.queries import fresh_job
from projects.jobs.serializers import JobSerializer
from projects.models import Job

Plain = serializers.Serializer[Any]


class MaterialSerializer(Plain):
    """A level with the project's number of units."""

    key = serializers.ChoiceField(choices=UnitLevel.choices)
    name = serializers.CharField()
    units = serializers.IntegerField()


class SectionSerializer(Plain):
    key = serializers.CharField()
    title = serializers.CharField()
    parameters = ParameterSerializer(many=True)


class BackendSerializer(Plain):
    """A method of generating summaries, with its configuration parameters."""

    key = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    no_probe = serializers.CharField(allow_blank=True, help_text="Why texts cannot be probed; empty if they can.")
    sections = SectionSerializer(many=True)


class PresetSerializer(Plain):
    """A preset of a summariser from a paper. ``needs`` lists the fields (``section.name``) to fill in."""

    key = serializers.CharField()
    name = serializers.CharField()
    paper = serializers.CharField()
    says = serializers.CharField()
    backend = serializers.CharField()
    config = serializers.DictField(child=serializers.JSONField())
    needs = serializers.ListField(child=serializers.CharField())


class VersionChoicesSerializer(Plain):
    """The choices for a new version."""

    levels = MaterialSerializer(many=True)
    backends = BackendSerializer(many=True)
    presets = PresetSerializer(many=True)


class VersionFieldsSerializer(Plain):
    id = serializers.IntegerField()
    number = serializers.IntegerField()
    backend = serializers.CharField()
    level = serializers.ChoiceField(choices=UnitLevel.choices)
    hash = serializers.CharField(help_text="SHA-256 of the configuration and facts. It identifies the version.")
    note = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()


class VersionRowSerializer(VersionFieldsSerializer):
    run = RunRowSerializer(allow_null=True, help_text="The newest run that generated summaries.")
    metrics = serializers.IntegerField(
        allow_null=True, help_text="Metrics with scores of this run; null without a run and if it is hidden."
    )


class SystemSerializer(Plain):
    """A system with its versions, newest first."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    description = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    versions = VersionRowSerializer(many=True)


class NewSystemSerializer(Strict):
    name = NameField(max_length=80)
    description = serializers.CharField(max_length=5000, required=False, default="", allow_blank=True)


class NewVersionSerializer(Strict):
    config = serializers.DictField(
        child=serializers.JSONField(allow_null=True),
        help_text="``backend``, ``level``, ``seed`` and the backend's sections. Omitted values have their defaults.",
    )
    note = serializers.CharField(max_length=300, required=False, default="", allow_blank=True)


class LineSerializer(Plain):
    """One parameter of a configuration with its display text."""

    section = serializers.CharField()
    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    words = serializers.CharField()
    default = serializers.BooleanField()


class VersionChangeSerializer(Plain):
    """A difference from the previous version. A side without the field is empty."""

    field = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    before = serializers.CharField(allow_blank=True)
    after = serializers.CharField(allow_blank=True)


class VersionRefSerializer(Plain):
    id = serializers.IntegerField()
    number = serializers.IntegerField()


class VersionSerializer(VersionFieldsSerializer):
    """One exact configuration with its facts."""

    system = serializers.IntegerField()
    system_name = serializers.CharField()
    project = serializers.CharField()
    config = serializers.DictField(child=serializers.JSONField(allow_null=True))
    facts = serializers.DictField(child=serializers.JSONField(allow_null=True))
    by = serializers.CharField(allow_blank=True, help_text="Empty for a version created by command.")
    no_probe = serializers.CharField(allow_blank=True, help_text="Why the version cannot be probed; empty if it can.")
    lines = LineSerializer(many=True)
    before = VersionRefSerializer(allow_null=True)
    changes = VersionChangeSerializer(many=True)
    runs = RunRowSerializer(many=True, help_text="The newest 50 runs.")


class BackendListView(APIView):
    @extend_schema(operation_id="backends_list", responses=VersionChoicesSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return the choices for a new version: levels with unit counts, backends with parameters, and presets."""
        member = permissions.reader_of(signed_in(request), slug)
        return Response(VersionChoicesSerializer(system_pages.choices(member.project)).data)


class SystemListView(generics.ListAPIView[System]):
    queryset = System.objects.none()
    serializer_class = SystemSerializer

    @extend_schema(operation_id="systems_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the systems of a project with their versions and the newest run of each."""
        member = permissions.reader_of(signed_in(request), kwargs["slug"])
        page = self.paginate_queryset(system_pages.systems(member.project)) or []
        rows = system_pages.system_rows(page, member)
        return self.get_paginated_response(SystemSerializer(rows, many=True).data)

    @extend_schema(operation_id="systems_register", request=NewSystemSerializer, responses={201: SystemSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Register a system under the name that tables print."""
        member = permissions.lead_of(signed_in(request), slug)
        body = NewSystemSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        system = create_system(project=member.project, by=member.user, **body.validated_data)
        return Response(_system(system, member), status=status.HTTP_201_CREATED)


class SystemView(APIView):
    @extend_schema(operation_id="systems_get", responses=SystemSerializer)
    def get(self, request: Request, system_id: int) -> Response:
        """Return a system with its versions."""
        return Response(_system(*permissions.system_of(signed_in(request), system_id)))


class VersionListView(APIView):
    @extend_schema(
        operation_id="versions_make",
        request=NewVersionSerializer,
        responses={201: VersionSerializer, 202: JobSerializer},
    )
    def post(self, request: Request, system_id: int) -> Response:
        """Create a version of a system. Errors are reported by field (``model.dtype``).

        If only a worker can read the facts, the response is its job, and the job's result gives the version.
        """
        system, member = permissions.system_of(signed_in(request), system_id, permissions.RUN)
        body = NewVersionSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        version_or_job = request_version(system=system, by=member.user, **body.validated_data)
        if isinstance(version_or_job, Job):
            return Response(JobSerializer(fresh_job(version_or_job)).data, status=status.HTTP_202_ACCEPTED)
        page = system_pages.version_page(version_or_job, member)
        return Response(VersionSerializer(page).data, status=status.HTTP_201_CREATED)


class VersionView(APIView):
    @extend_schema(operation_id="versions_get", responses=VersionSerializer)
    def get(self, request: Request, version_id: int) -> Response:
        """Return a version with its configuration, facts, differences from the previous version, and runs."""
        version, member = permissions.version_of(signed_in(request), version_id)
        return Response(VersionSerializer(system_pages.version_page(version, member)).data)


def _system(system: System, member: Any) -> Any:
    return SystemSerializer(system_pages.system_rows([system], member)[0]).data
