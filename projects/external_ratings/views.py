from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from api.fields import LabelField, NameField, Strict
from api.uploading import UploadParser
from projects import kinds
from projects.external_ratings.actions import PURPOSES
from projects.jobs.serializers import JobSerializer
from projects.permissions import member_of, permit
from projects.uploads import views as uploads_views
from projects.uploads.serializers import FileCheckSerializer

KIND_CHOICES = kinds.choices()


class ExternalRatingsUploadSerializer(Strict):
    kind = serializers.ChoiceField(choices=KIND_CHOICES)
    file = serializers.FileField(
        help_text="CSV (UTF-8) or XLSX with the columns unit and rater, and the columns of the kind."
    )


class ExternalRatingsConfirmSerializer(Strict):
    job = serializers.IntegerField(help_text="Id of the check that found no errors.")
    name = NameField(max_length=80, help_text="Name of the round that is created from the ratings.")
    purpose = LabelField(choices=[(p.value, p.label) for p in PURPOSES])


class ExternalRatingsCheckView(APIView):
    parser_classes = [UploadParser]

    @extend_schema(
        operation_id="ratings_check",
        request={"multipart/form-data": ExternalRatingsUploadSerializer},
        responses={202: FileCheckSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Upload external ratings and preview their import. Nothing is stored yet."""
        member = member_of(signed_in(request), slug)
        permit(member, "import data")
        return uploads_views.check(request, "elsewhere", ExternalRatingsUploadSerializer, member.project)


class ExternalRatingsConfirmView(APIView):
    @extend_schema(
        operation_id="ratings_import", request=ExternalRatingsConfirmSerializer, responses={202: JobSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Store checked ratings as a closed round of named raters, all or none."""
        member = member_of(signed_in(request), slug)
        permit(member, "import data")
        return uploads_views.confirm(request, "elsewhere", ExternalRatingsConfirmSerializer, member.project)
