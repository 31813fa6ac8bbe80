"""API of imports: upload, check, confirm, and list notices."""

import re
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Q
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from annotation import permissions
from annotation.imports import every
from api.uploading import SetParser
from measures.unit_names import with_keys
from projects import uploads
from projects.jobs.queries import fresh_job
from projects.jobs.serializers import JobSerializer
from projects.models import Import, ImportWarning
from projects.uploads import actions as uploads_actions
from projects.uploads import files
from projects.uploads import views as uploads_views
from projects.uploads.serializers import FileCheckSerializer

from .licences import state_licence
from .serializers import (
    ConfirmSerializer,
    FolderFileSerializer,
    FolderImportSerializer,
    FormatSerializer,
    ImportSerializer,
    LicenceSerializer,
    NoticeFilterSerializer,
    NoticeSerializer,
    UploadSerializer,
    with_units,
)
from .uploads import request_continuation
from .withdrawal import request_withdrawal


class FormatListView(APIView):
    @extend_schema(operation_id="import_formats", responses=FormatSerializer(many=True))
    def get(self, request: Request) -> Response:
        """List the import formats."""
        return Response(FormatSerializer([each for each in every() if not each.is_for_command], many=True).data)


class ImportListView(generics.ListAPIView[Import]):
    queryset = Import.objects.none()
    serializer_class = ImportSerializer
    parser_classes = [SetParser]

    @extend_schema(operation_id="imports_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the imports, newest first."""
        member = permissions.import_lead(signed_in(request), kwargs["slug"])
        imports = permissions.without_notices(Import.objects.filter(project=member.project))
        page = self.paginate_queryset(imports) or []
        return self.get_paginated_response(ImportSerializer(page, many=True).data)

    @extend_schema(
        operation_id="imports_check",
        request={"multipart/form-data": UploadSerializer},
        responses={202: FileCheckSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Upload a file and check it. The job's result is the preview; nothing is imported yet."""
        member = permissions.import_lead(signed_in(request), slug)
        return uploads_views.check(request, "corpus", UploadSerializer, member.project)


class ImportConfirmView(APIView):
    @extend_schema(operation_id="imports_confirm", request=ConfirmSerializer, responses={202: JobSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Import a file that passed the check."""
        member = permissions.import_lead(signed_in(request), slug)
        return uploads_views.confirm(request, "corpus", ConfirmSerializer, member.project)


class ImportFolderView(APIView):
    @extend_schema(operation_id="imports_folder", responses=FolderFileSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the files of the import folder of the server. Empty if the server has none."""
        permissions.import_lead(signed_in(request), slug)
        rows = [{"name": name, "size": path.stat().st_size} for name, path in files.folder_files().items()]
        return Response(FolderFileSerializer(rows, many=True).data)

    @extend_schema(
        operation_id="imports_check_folder", request=FolderImportSerializer, responses={202: FileCheckSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Check files of the import folder as one set. The job's result is the preview; nothing is imported yet."""
        member = permissions.import_lead(signed_in(request), slug)
        body = FolderImportSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        params = dict(body.validated_data)
        job = uploads_actions.start_check_of_folder(
            uploads.get("corpus"),
            project=member.project,
            names=params.pop("names"),
            by=signed_in(request),
            params=params,
        )
        return Response(FileCheckSerializer(fresh_job(job)).data, status=status.HTTP_202_ACCEPTED)


class ImportView(APIView):
    @extend_schema(operation_id="imports_get", responses=ImportSerializer)
    def get(self, request: Request, import_id: int) -> Response:
        """Return one import with its counts of rows and values, and of warnings by kind."""
        return Response(ImportSerializer(permissions.import_of(signed_in(request), import_id)).data)

    @extend_schema(operation_id="imports_licence", request=LicenceSerializer, responses=ImportSerializer)
    def patch(self, request: Request, import_id: int) -> Response:
        """State the licence of the source of an import."""
        user = signed_in(request)
        imported = permissions.import_of(user, import_id)
        body = LicenceSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        state_licence(imported, body.stated(), by=user)
        return Response(ImportSerializer(imported).data)


class ImportNoticesView(generics.ListAPIView[Import]):
    queryset = Import.objects.none()
    serializer_class = NoticeSerializer

    @extend_schema(operation_id="imports_notices", parameters=[NoticeFilterSerializer])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the warnings of an import in file order. All given filters must match."""
        imported = permissions.import_of(signed_in(request), kwargs["import_id"])
        filters = NoticeFilterSerializer(data=request.query_params)
        filters.is_valid(raise_exception=True)
        page = self.paginate_queryset(_warnings(imported, **filters.validated_data)) or []
        notices = NoticeSerializer(with_units(imported.project, page), many=True)
        return self.get_paginated_response(notices.data)


def _warnings(imported: Import, *, kind: str = "", search: str = "", examples: int = 0) -> Any:
    """Return the stored fields of the warnings that match."""
    warnings = ImportWarning.objects.filter(imported=imported).values(*NoticeSerializer.STORED)
    if kind:
        warnings = warnings.filter(kind=kind)
    for word in re.split(r"[\s,]+", with_keys(search)):
        containing = (Q(**{f"{name}__icontains": word}) for name in NoticeSerializer.STORED)
        warnings = warnings.filter(reduce(or_, containing)) if word else warnings
    if examples:
        return [each for kind in imported.report["totals"] for each in warnings.filter(kind=kind)[:examples]]
    return warnings


class ImportWithdrawView(APIView):
    @extend_schema(operation_id="imports_withdraw", request=None, responses={202: ImportSerializer})
    def post(self, request: Request, import_id: int) -> Response:
        """Withdraw an import that is arriving. The job that writes it is stopped; another one removes its rows."""
        user = signed_in(request)
        imported = permissions.import_of(user, import_id)
        request_withdrawal(imported, by=user)
        return Response(ImportSerializer(imported).data, status=status.HTTP_202_ACCEPTED)


class ImportContinueView(APIView):
    @extend_schema(operation_id="imports_continue", request=None, responses={202: JobSerializer})
    def post(self, request: Request, import_id: int) -> Response:
        """Continue an import that stopped while its labels were written. It can no longer be withdrawn."""
        user = signed_in(request)
        job = request_continuation(permissions.import_of(user, import_id), by=user)
        return Response(JobSerializer(fresh_job(job)).data, status=status.HTTP_202_ACCEPTED)
