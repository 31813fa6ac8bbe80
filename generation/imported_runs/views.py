"""API views of files of imported outputs."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from api.uploading import UploadParser
from generation import permissions
from generation.models import UnitLevel
from projects.jobs.serializers import JobSerializer
from projects.uploads import views as uploads_views
from projects.uploads.serializers import FileCheckSerializer

from .tables import unfinished_imports

Plain = serializers.Serializer[Any]


class NewOutputsFileSerializer(Plain):
    level = serializers.ChoiceField(choices=UnitLevel.choices, help_text="Level of the units that the keys identify.")
    file = serializers.FileField(
        allow_empty_file=True, help_text="CSV or JSONL with a key and a text, or MSLR predictions."
    )


class OutputsFileListView(APIView):
    parser_classes = [UploadParser]

    @extend_schema(
        operation_id="outputs_files_keep",
        request={"multipart/form-data": NewOutputsFileSerializer},
        responses={202: FileCheckSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Upload a file of outputs. A job checks it and stores it for versions of the backend ``imported``.

        A file with faults is not stored. The result reports the faults, and how the keys match the units of the level.
        """
        member = permissions.lead_of(signed_in(request), slug)
        return uploads_views.check(request, "outputs", NewOutputsFileSerializer, member.project)


class OutputsImportSerializer(Plain):
    """The job that makes a run of a column of summaries, until it has succeeded."""

    system = serializers.CharField(help_text="Name of the system in the table.")
    job = JobSerializer()


class OutputsImportListView(APIView):
    @extend_schema(operation_id="outputs_imports_list", responses=OutputsImportSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the columns of imported tables of which a worker has not yet made a run, oldest first."""
        member = permissions.reader_of(signed_in(request), slug)
        return Response(OutputsImportSerializer(unfinished_imports(member.project), many=True).data)
