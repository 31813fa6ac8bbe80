"""Views of protocols: list, templates, validation of drafts, and writing."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from projects.models import Member

from .. import permissions
from ..models import Protocol, ProtocolVersion
from . import queries as pages
from . import serializers as shapes
from .actions import create_protocol, rename_protocol, write_version


class ProtocolListView(generics.ListAPIView[Protocol]):
    queryset = Protocol.objects.none()
    serializer_class = shapes.ProtocolSerializer

    @extend_schema(operation_id="protocols_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the rating protocols of a project with their versions."""
        member = permissions.reader_of(signed_in(request), kwargs["slug"])
        page = self.paginate_queryset(pages.protocols(member.project)) or []
        rows = pages.protocol_rows(page, member)
        return self.get_paginated_response(shapes.ProtocolSerializer(rows, many=True).data)

    @extend_schema(
        operation_id="protocols_create",
        request=shapes.NewProtocolSerializer,
        responses={201: shapes.ProtocolVersionSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Store a new protocol from a template, a file or a draft.

        Content errors carry their path (``content.criteria.0.key``).
        """
        member = permissions.writer_of(signed_in(request), slug)
        body = shapes.NewProtocolSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return _written(create_protocol(project=member.project, by=member.user, **body.validated_data), member)


class ProtocolTemplatesView(APIView):
    @extend_schema(operation_id="protocols_templates", responses=shapes.ProtocolTemplateSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the protocol templates."""
        permissions.reader_of(signed_in(request), slug)
        return Response(shapes.ProtocolTemplateSerializer(pages.templates(), many=True).data)


class ProtocolCheckView(APIView):
    @extend_schema(
        operation_id="protocols_check", request=shapes.DraftSerializer, responses=shapes.CheckedProtocolSerializer
    )
    def post(self, request: Request, slug: str) -> Response:
        """Validate a draft, and list what is missing before a round can be opened. Stores nothing."""
        permissions.writer_of(signed_in(request), slug)
        body = shapes.DraftSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return Response(shapes.CheckedProtocolSerializer(pages.checked_page(body.validated_data["content"])).data)


class ProtocolView(APIView):
    @extend_schema(operation_id="protocols_get", responses=shapes.ProtocolSerializer)
    def get(self, request: Request, protocol_id: int) -> Response:
        """Return one protocol with its versions."""
        return _protocol(*permissions.protocol_of(signed_in(request), protocol_id))

    @extend_schema(
        operation_id="protocols_rename", request=shapes.RenameProtocolSerializer, responses=shapes.ProtocolSerializer
    )
    def patch(self, request: Request, protocol_id: int) -> Response:
        """Rename a protocol."""
        protocol, member = permissions.protocol_of(signed_in(request), protocol_id, permissions.WRITE)
        body = shapes.RenameProtocolSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return _protocol(rename_protocol(protocol=protocol, by=member.user, **body.validated_data), member)


class ProtocolVersionListView(APIView):
    @extend_schema(
        operation_id="protocols_write_version",
        request=shapes.NewProtocolVersionSerializer,
        responses={201: shapes.ProtocolVersionSerializer},
    )
    def post(self, request: Request, protocol_id: int) -> Response:
        """Write the next version. Returns the newest version if it has the same content."""
        protocol, member = permissions.protocol_of(signed_in(request), protocol_id, permissions.WRITE)
        body = shapes.NewProtocolVersionSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return _written(write_version(protocol=protocol, by=member.user, **body.validated_data), member)


class ProtocolVersionView(APIView):
    @extend_schema(operation_id="protocols_version", responses=shapes.ProtocolVersionSerializer)
    def get(self, request: Request, version_id: int) -> Response:
        """Return one version with its content, and with what is missing before a round can be opened."""
        version, member = permissions.version_of(signed_in(request), version_id)
        return Response(shapes.ProtocolVersionSerializer(pages.version_page(version, member)).data)


class ProtocolFileView(APIView):
    @extend_schema(
        operation_id="protocols_file",
        responses={(200, "application/json"): OpenApiResponse(OpenApiTypes.BINARY, description="The content alone.")},
    )
    def get(self, request: Request, version_id: int) -> HttpResponse:
        """Return a version as a file that can be imported into another project."""
        version, _ = permissions.version_of(signed_in(request), version_id)
        name, text = pages.file_of(version)
        disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
        return HttpResponse(text, content_type="application/json", headers=disposition)


def _protocol(protocol: Protocol, member: Member) -> Response:
    return Response(shapes.ProtocolSerializer(pages.protocol_rows([protocol], member)[0]).data)


def _written(version: ProtocolVersion, member: Member) -> Response:
    shape = shapes.ProtocolVersionSerializer(pages.version_page(version, member))
    return Response(shape.data, status=status.HTTP_201_CREATED)
