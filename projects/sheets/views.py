"""Views for sheets: export, check and import."""

import tempfile
from pathlib import Path

from django.http import FileResponse, HttpResponseBase, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import User
from accounts.sessions import signed_in
from api.fields import Strict
from api.uploading import UploadParser
from projects.jobs.serializers import JobSerializer
from projects.models import Assignment, Round
from projects.permissions import member_to, permit, round_of
from projects.sheets import actions as sheets_actions
from projects.sheets import writing
from projects.sheets.actions import DAYS, MOST, MOST_DAYS
from projects.sheets.writing import answer_columns, columns
from projects.uploads import views as uploads_views
from projects.uploads.serializers import FileCheckSerializer


class TakeHomeSerializer(Strict):
    """Request for a sheet: the person whose unanswered units it contains, and the file type."""

    person = serializers.IntegerField(help_text="Id of a member who takes part in the round.")
    file_type = serializers.ChoiceField(choices=["xlsx", "csv"], default="xlsx")
    limit = serializers.IntegerField(min_value=1, max_value=MOST, default=200, help_text="Maximum number of units.")
    days = serializers.IntegerField(
        min_value=1,
        max_value=MOST_DAYS,
        default=DAYS,
        help_text="For a shared queue: number of days for which the person holds the units.",
    )


class SheetUploadSerializer(Strict):
    file = serializers.FileField(help_text="CSV (UTF-8) or XLSX.")


class SheetConfirmSerializer(Strict):
    job = serializers.IntegerField(help_text="Id of the check of the sheet to import.")


XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def _leads(user: User, round_id: int) -> Round:
    round, member = round_of(user, round_id)
    permit(member, "export and import sheets")
    return round


class SheetView(APIView):
    @extend_schema(
        operation_id="rounds_take_home",
        request=TakeHomeSerializer,
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    def post(self, request: Request, round_id: int) -> HttpResponseBase:
        """Export a person's unanswered units as a blinded sheet.

        With a shared queue, the units are claimed for some days.
        """
        user = signed_in(request)
        round = _leads(user, round_id)
        body = TakeHomeSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        member = member_to(round.project, body.validated_data["person"])
        assignments = sheets_actions.hold_for_sheet(
            round=round, member=member, by=user, limit=body.validated_data["limit"], days=body.validated_data["days"]
        )
        kind = body.validated_data["file_type"]
        name = f"{round.project.slug}-round-{round.pk}-{member.pseudonym}.{kind}"
        reply = _csv(round, assignments) if kind == "csv" else _xlsx(round, assignments)
        reply["Content-Disposition"] = f'attachment; filename="{name}"'
        reply["X-Units"] = str(len(assignments))
        return reply


def _csv(round: Round, assignments: list[Assignment]) -> HttpResponseBase:
    # Read all rows before sending, so that a slow client does not keep a database query open.
    lines = list(writing.csv_lines(columns(round), writing.rows(round, assignments)))
    return StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")


def _xlsx(round: Round, assignments: list[Assignment]) -> HttpResponseBase:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "round.xlsx"
        writing.write_xlsx(
            path,
            answer_columns=answer_columns(round),
            head=columns(round),
            body=writing.rows(round, assignments),
            total=len(assignments),
            about=writing.lines(round),
        )
        # Open the file before the folder is deleted; it remains readable until the response is sent.
        return FileResponse(path.open("rb"), content_type=XLSX)


class SheetCheckView(APIView):
    parser_classes = [UploadParser]

    @extend_schema(
        operation_id="rounds_check_sheet",
        request={"multipart/form-data": SheetUploadSerializer},
        responses={202: FileCheckSerializer},
    )
    def post(self, request: Request, round_id: int) -> Response:
        """Upload a filled-in sheet and check it. The job's result shows what an import would store."""
        round = _leads(signed_in(request), round_id)
        return uploads_views.check(request, "sheet", SheetUploadSerializer, round.project, round=round.pk)


class SheetConfirmView(APIView):
    @extend_schema(operation_id="rounds_import_sheet", request=SheetConfirmSerializer, responses={202: JobSerializer})
    def post(self, request: Request, round_id: int) -> Response:
        """Import the valid rows of a checked sheet. Invalid rows are skipped."""
        round = _leads(signed_in(request), round_id)
        return uploads_views.confirm(request, "sheet", SheetConfirmSerializer, round.project, round=round.pk)
