"""Files of outputs made elsewhere, over HTTP."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.requests import signed_in
from api.uploading import UploadParser
from projects.serializers.faults import FileCheckSerializer
from projects.views import uploads

from .. import permissions
from ..serializers import made_elsewhere as shapes


class OutputsFileListView(APIView):
    parser_classes = [UploadParser]

    @extend_schema(
        operation_id="outputs_files_keep",
        request={"multipart/form-data": shapes.NewOutputsFileSerializer},
        responses={202: FileCheckSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Upload a file of outputs. A job checks it, and keeps it for versions of the backend ``imported`` if it has no
        fault; its result says how the keys fit the units of the level, and the faults."""
        member = permissions.lead_of(signed_in(request), slug)
        return uploads.check(request, "outputs", shapes.NewOutputsFileSerializer, member.project)
