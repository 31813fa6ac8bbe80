"""API of origins."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from projects.permissions import permit, unit_of

from ..permissions import READ, release_of
from . import queries
from . import serializers as shapes


class OriginView(APIView):
    @extend_schema(operation_id="units_origin", responses=shapes.OriginSerializer)
    def get(self, request: Request, unit_id: int) -> Response:
        """Return where a unit and its values come from. Only leads and curators see answers."""
        unit, member = unit_of(signed_in(request), unit_id)
        permit(member, "read the corpus")
        return Response(shapes.OriginSerializer(queries.page(unit, member)).data)


class OriginReleasesView(APIView):
    @extend_schema(operation_id="units_origin_releases", responses=shapes.ReleaseOfUnitSerializer(many=True))
    def get(self, request: Request, unit_id: int) -> Response:
        """Return the rows of each release that are about a unit. It reads the files of the releases."""
        unit, member = unit_of(signed_in(request), unit_id)
        permit(member, "read the corpus")
        permit(member, READ)
        return Response(shapes.ReleaseOfUnitSerializer(queries.released_rows(unit, member), many=True).data)


class ReleasedRowView(APIView):
    @extend_schema(
        operation_id="releases_row",
        parameters=[shapes.ReleasedRowQuerySerializer],
        responses=shapes.UnitOfRowSerializer,
    )
    def get(self, request: Request, release_id: int) -> Response:
        """Return the unit that a row of a release is about."""
        release, _ = release_of(signed_in(request), release_id)
        wanted = shapes.ReleasedRowQuerySerializer(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        row = wanted.validated_data
        return Response(shapes.UnitOfRowSerializer(queries.unit_of_row(release, row["file"], row["key"])).data)
