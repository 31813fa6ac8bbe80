"""Files of outputs made elsewhere, over HTTP."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.requests import signed_in
from api.uploading import UploadParser
from projects.pages import plans
from projects.serializers.rounds import JobSerializer

from .. import permissions
from ..actions.outputs import start_check
from ..serializers import made_elsewhere as shapes


class OutputsFileListView(APIView):
    parser_classes = [UploadParser]

    @extend_schema(
        operation_id="outputs_files_keep",
        request={"multipart/form-data": shapes.NewOutputsFileSerializer},
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Upload a file of outputs. A job checks it, and keeps it for versions of the backend ``imported`` if it has no
        fault; its result says how the keys fit the units of the level, and the faults."""
        member = permissions.lead_of(signed_in(request), slug)
        body = shapes.NewOutputsFileSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        job = start_check(project=member.project, by=member.user, **body.validated_data)
        return Response(JobSerializer(plans.fresh_job(job)).data, status=status.HTTP_202_ACCEPTED)
