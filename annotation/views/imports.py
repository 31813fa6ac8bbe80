"""Bringing files in through the browser: upload, check, confirm, and what was noticed."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.requests import signed_in
from api.uploading import SetParser
from projects.models import Import
from projects.serializers.faults import FileCheckSerializer
from projects.serializers.rounds import JobSerializer
from projects.views import uploads

from .. import permissions
from ..imports import every
from ..pages import noticed
from ..serializers import imports as shapes


class FormatListView(APIView):
    @extend_schema(operation_id="import_formats", responses=shapes.FormatSerializer(many=True))
    def get(self, request: Request) -> Response:
        """The formats that can be imported."""
        return Response(shapes.FormatSerializer(every(), many=True).data)


class ImportListView(generics.ListAPIView[Import]):
    queryset = Import.objects.none()
    serializer_class = shapes.ImportSerializer
    parser_classes = [SetParser]

    @extend_schema(operation_id="imports_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """What was imported, newest first."""
        member = permissions.import_lead(signed_in(request), kwargs["slug"])
        found = permissions.without_notices(Import.objects.filter(project=member.project))
        page = self.paginate_queryset(found) or []
        return self.get_paginated_response(shapes.ImportSerializer(page, many=True).data)

    @extend_schema(
        operation_id="imports_check",
        request={"multipart/form-data": shapes.UploadSerializer},
        responses={202: FileCheckSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Upload a file and check it. The job's result is the preview; nothing is imported yet."""
        member = permissions.import_lead(signed_in(request), slug)
        return uploads.check(request, "corpus", shapes.UploadSerializer, member.project)


class ImportConfirmView(APIView):
    @extend_schema(operation_id="imports_confirm", request=shapes.ConfirmSerializer, responses={202: JobSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Import a file that was checked and found without fault."""
        member = permissions.import_lead(signed_in(request), slug)
        return uploads.confirm(request, "corpus", shapes.ConfirmSerializer, member.project)


class ImportView(APIView):
    @extend_schema(operation_id="imports_get", responses=shapes.ImportSerializer)
    def get(self, request: Request, import_id: int) -> Response:
        """One import: counts of rows, of values, and of notices by kind."""
        return Response(shapes.ImportSerializer(permissions.import_of(signed_in(request), import_id)).data)


class ImportNoticesView(generics.ListAPIView[Import]):
    queryset = Import.objects.none()
    serializer_class = shapes.NoticeSerializer

    @extend_schema(operation_id="imports_notices", parameters=[shapes.NoticeFilterSerializer])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """What was noticed, in the order of the file; ``kind`` narrows to one kind."""
        imported = permissions.import_of(signed_in(request), kwargs["import_id"])
        kind = request.query_params.get("kind")
        notices = [n for n in imported.report.get("notices", []) if not kind or n["kind"] == kind]
        page = self.paginate_queryset(notices) or []
        return self.get_paginated_response(noticed.with_units(imported.project, page))
