"""API of splits."""

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import User
from accounts.sessions import signed_in
from api.problems import NotFound
from api.uploading import UploadParser
from projects.jobs.queries import fresh_job
from projects.jobs.serializers import JobSerializer
from projects.models import Member
from projects.permissions import Names, member_in, member_of, permit
from projects.uploads import views as uploads_views
from projects.uploads.serializers import FileCheckSerializer

from ..models import DataSplit
from . import actions, queries
from .levels import count_outside
from .serializers import SplitFileSerializer, SplitRequestSerializer, SplitSerializer, SplitsSerializer

READ, WRITE = "read releases", "freeze releases"
CSV = OpenApiResponse(OpenApiTypes.BINARY, description="The file of the split in a release.")


def _split_of(user: User, pk: int) -> tuple[DataSplit, Member]:
    split = DataSplit.objects.current().select_related("project", "created_by").filter(pk=pk).first()
    if split is None:
        raise NotFound("Not found, or no access.")
    member = member_in(user, split.project_id)
    permit(member, READ)
    return split, member


class SplitListView(APIView):
    @extend_schema(operation_id="splits_list", responses=SplitsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return the splits of a project, and what can be split."""
        member = member_of(signed_in(request), slug)
        permit(member, READ)
        return Response(SplitsSerializer(queries.overview(member.project)).data)

    @extend_schema(operation_id="splits_create", request=SplitRequestSerializer, responses={202: JobSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Create a split in the background. If the units cannot be divided as asked, the job says the ways out."""
        member = member_of(signed_in(request), slug)
        permit(member, WRITE)
        body = SplitRequestSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        job = actions.queue_split(project=member.project, asked=body.asked(), by=member.user)
        return Response(JobSerializer(fresh_job(job)).data, status=status.HTTP_202_ACCEPTED)


class SplitFileView(APIView):
    parser_classes = [UploadParser]

    @extend_schema(
        operation_id="splits_import",
        request={"multipart/form-data": SplitFileSerializer},
        responses={202: FileCheckSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Import a split from a file. The job's result has the faults of the file; without faults, the split exists."""
        member = member_of(signed_in(request), slug)
        permit(member, WRITE)
        return uploads_views.check(request, "split", SplitFileSerializer, member.project)


class SplitView(APIView):
    @extend_schema(operation_id="splits_get", responses=SplitSerializer)
    def get(self, request: Request, split_id: int) -> Response:
        """Return a split with its report."""
        split, member = _split_of(signed_in(request), split_id)
        split.outside = count_outside(split)  # type: ignore[attr-defined]
        return Response(SplitSerializer(split, context={"names": Names(member)}).data)

    @extend_schema(operation_id="splits_discard", responses={204: None})
    def delete(self, request: Request, split_id: int) -> Response:
        """Leave a split out of later releases. Earlier releases keep it."""
        split, member = _split_of(signed_in(request), split_id)
        permit(member, WRITE)
        actions.discard_split(split=split, by=member.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class SplitTableView(APIView):
    @extend_schema(operation_id="splits_table", responses={(200, "text/csv"): CSV})
    def get(self, request: Request, split_id: int) -> HttpResponse:
        """Download the part of each unit."""
        split, _ = _split_of(signed_in(request), split_id)
        reply = HttpResponse(b"".join(queries.csv_lines(split)), content_type="text/csv; charset=utf-8")
        reply["Content-Disposition"] = f'attachment; filename="{split.project.slug}-{split.name}.csv"'
        return reply
