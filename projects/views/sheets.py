"""Rounds away from the browser: a sheet out, a sheet checked, a sheet in."""

import tempfile
from pathlib import Path

from django.http import FileResponse, HttpResponseBase, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import User
from accounts.requests import signed_in
from api.uploading import UploadParser

from ..actions import sheets
from ..models import Assignment, Round
from ..permissions import member_of, member_to, permit, round_of
from ..serializers import sheets as shapes
from ..serializers.faults import FileCheckSerializer
from ..serializers.rounds import JobSerializer
from ..sheets import about, writing
from ..sheets.layout import asked, columns
from . import uploads

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def _leads(user: User, round_id: int) -> Round:
    round, member = round_of(user, round_id)
    permit(member, "send rounds out as sheets and bring them back")
    return round


class SheetView(APIView):
    @extend_schema(
        operation_id="rounds_take_home", request=shapes.TakeHomeSerializer,
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )  # fmt: skip
    def post(self, request: Request, round_id: int) -> HttpResponseBase:
        """A person's unanswered units as a sheet, blinded. Of a pool, units are claimed for some days."""
        user = signed_in(request)
        round = _leads(user, round_id)
        body = shapes.TakeHomeSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        member = member_to(round.project, body.validated_data["person"])
        slots = sheets.take_home(
            round=round, member=member, by=user, limit=body.validated_data["limit"], days=body.validated_data["days"]
        )
        kind = body.validated_data["file_type"]
        name = f"{round.project.slug}-round-{round.pk}-{member.pseudonym}.{kind}"
        reply = _csv(round, slots) if kind == "csv" else _xlsx(round, slots)
        reply["Content-Disposition"] = f'attachment; filename="{name}"'
        reply["X-Units"] = str(len(slots))
        return reply


def _csv(round: Round, slots: list[Assignment]) -> HttpResponseBase:
    # Whole before it is sent: what reads the data base must not wait for whoever reads the reply.
    lines = list(writing.csv_lines(columns(round), writing.rows(round, slots)))
    return StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")


def _xlsx(round: Round, slots: list[Assignment]) -> HttpResponseBase:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "round.xlsx"
        writing.write_xlsx(
            path, asked=asked(round), head=columns(round), body=writing.rows(round, slots), total=len(slots),
            about=about.lines(round),
        )  # fmt: skip
        # Open before the folder goes: the file lives until the reply is sent.
        return FileResponse(path.open("rb"), content_type=XLSX)


class SheetCheckView(APIView):
    parser_classes = [UploadParser]

    @extend_schema(
        operation_id="rounds_check_sheet",
        request={"multipart/form-data": shapes.SheetUploadSerializer},
        responses={202: FileCheckSerializer},
    )
    def post(self, request: Request, round_id: int) -> Response:
        """Upload a filled sheet and see what it would come to (the job's result); nothing is stored yet."""
        round = _leads(signed_in(request), round_id)
        return uploads.check(request, "sheet", shapes.SheetUploadSerializer, round.project, round=round.pk)


class SheetConfirmView(APIView):
    @extend_schema(
        operation_id="rounds_import_sheet", request=shapes.SheetConfirmSerializer, responses={202: JobSerializer}
    )
    def post(self, request: Request, round_id: int) -> Response:
        """Store the good rows of a sheet that was checked; bad ones stay out."""
        round = _leads(signed_in(request), round_id)
        return uploads.confirm(request, "sheet", shapes.SheetConfirmSerializer, round.project, round=round.pk)


class ElsewhereCheckView(APIView):
    parser_classes = [UploadParser]

    @extend_schema(
        operation_id="ratings_check",
        request={"multipart/form-data": shapes.ElsewhereUploadSerializer},
        responses={202: FileCheckSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Upload ratings that were made elsewhere and see what they would come to; nothing is stored yet."""
        member = member_of(signed_in(request), slug)
        permit(member, "bring data in")
        return uploads.check(request, "elsewhere", shapes.ElsewhereUploadSerializer, member.project)


class ElsewhereConfirmView(APIView):
    @extend_schema(
        operation_id="ratings_import", request=shapes.ElsewhereConfirmSerializer, responses={202: JobSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Store ratings that were checked, as a closed round of named raters: all of them or none."""
        member = member_of(signed_in(request), slug)
        permit(member, "bring data in")
        return uploads.confirm(request, "elsewhere", shapes.ElsewhereConfirmSerializer, member.project)
