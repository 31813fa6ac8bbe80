"""Protocols over HTTP: what there is, what there is to start from, checking a draft, and writing."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.requests import signed_in
from projects.models import Member

from .. import permissions
from ..models import Protocol, ProtocolVersion
from ..pages import protocols as pages
from ..protocols.writing import create_protocol, rename_protocol, write_version
from ..serializers import protocols as shapes


class ProtocolListView(generics.ListAPIView[Protocol]):
    queryset = Protocol.objects.none()
    serializer_class = shapes.ProtocolSerializer

    @extend_schema(operation_id="protocols_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The rating protocols of a project with their versions."""
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
        """Store a protocol: a template, another project's file, or one of one's own. What is wrong with its content is
        said by path (``content.criteria.0.key``)."""
        member = permissions.writer_of(signed_in(request), slug)
        body = shapes.NewProtocolSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return _written(create_protocol(project=member.project, by=member.user, **body.validated_data), member)


class ProtocolTemplatesView(APIView):
    @extend_schema(operation_id="protocols_templates", responses=shapes.ProtocolTemplateSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The protocols to start from."""
        permissions.reader_of(signed_in(request), slug)
        return Response(shapes.ProtocolTemplateSerializer(pages.templates(), many=True).data)


class ProtocolCheckView(APIView):
    @extend_schema(
        operation_id="protocols_check", request=shapes.DraftSerializer, responses=shapes.CheckedProtocolSerializer
    )
    def post(self, request: Request, slug: str) -> Response:
        """What is wrong with a draft, and what would keep a round from opening by it. Stores nothing."""
        permissions.writer_of(signed_in(request), slug)
        body = shapes.DraftSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return Response(shapes.CheckedProtocolSerializer(pages.checked_page(body.validated_data["content"])).data)


class ProtocolView(APIView):
    @extend_schema(operation_id="protocols_get", responses=shapes.ProtocolSerializer)
    def get(self, request: Request, protocol_id: int) -> Response:
        """One protocol with its versions."""
        return _protocol(*permissions.protocol_of(signed_in(request), protocol_id))

    @extend_schema(
        operation_id="protocols_rename", request=shapes.RenameProtocolSerializer, responses=shapes.ProtocolSerializer
    )
    def patch(self, request: Request, protocol_id: int) -> Response:
        """Give a protocol another name."""
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
        """Write the next version; the newest one is given back where it says the same."""
        protocol, member = permissions.protocol_of(signed_in(request), protocol_id, permissions.WRITE)
        body = shapes.NewProtocolVersionSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return _written(write_version(protocol=protocol, by=member.user, **body.validated_data), member)


class ProtocolVersionView(APIView):
    @extend_schema(operation_id="protocols_version", responses=shapes.ProtocolVersionSerializer)
    def get(self, request: Request, version_id: int) -> Response:
        """One version: its content, and what keeps a round from opening by it."""
        version, member = permissions.version_of(signed_in(request), version_id)
        return Response(shapes.ProtocolVersionSerializer(pages.version_page(version, member)).data)


class ProtocolFileView(APIView):
    @extend_schema(
        operation_id="protocols_file",
        responses={(200, "application/json"): OpenApiResponse(OpenApiTypes.BINARY, description="The content alone.")},
    )
    def get(self, request: Request, version_id: int) -> HttpResponse:
        """A version as a file, to be brought into another project."""
        version, _ = permissions.version_of(signed_in(request), version_id)
        name, text = pages.file_of(version)
        disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
        return HttpResponse(text, content_type="application/json", headers=disposition)


def _protocol(protocol: Protocol, member: Member) -> Response:
    return Response(shapes.ProtocolSerializer(pages.protocol_rows([protocol], member)[0]).data)


def _written(version: ProtocolVersion, member: Member) -> Response:
    shown = shapes.ProtocolVersionSerializer(pages.version_page(version, member))
    return Response(shown.data, status=status.HTTP_201_CREATED)
