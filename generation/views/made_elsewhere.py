"""Files of outputs made elsewhere, over HTTP."""

from dataclasses import asdict

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.requests import signed_in
from projects.uploads import ENVELOPE, refuse_larger

from .. import permissions
from ..actions.outputs import keep_outputs
from ..serializers import made_elsewhere as shapes


class OutputsFileListView(APIView):
    parser_classes = [MultiPartParser]

    @extend_schema(
        operation_id="outputs_files_keep",
        request={"multipart/form-data": shapes.NewOutputsFileSerializer},
        responses={201: shapes.OutputsFileSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Check a file of outputs and keep it for versions of the backend ``imported``."""
        member = permissions.lead_of(signed_in(request), slug)
        # Before the body is read: a file above the limit is refused by its announced length.
        refuse_larger(int(request.META.get("CONTENT_LENGTH") or 0) - ENVELOPE)
        body = shapes.NewOutputsFileSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        kept = keep_outputs(project=member.project, by=member.user, **body.validated_data)
        shown = asdict(kept) | {"unknown": [{"line": line, "key": key} for line, key in kept.unknown]}
        return Response(shapes.OutputsFileSerializer(shown).data, status=status.HTTP_201_CREATED)
