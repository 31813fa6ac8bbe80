"""Views of rating results: figures, examples, and the file of all ratings."""

from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from generation.permissions import reader_of
from projects.jobs.queries import fresh_job
from projects.jobs.serializers import JobSerializer

from ..models import PageTextOf
from ..permissions import ratings_of
from . import queries as page
from . import serializers as shapes
from . import tidy
from .actions import ask

OPEN = "open, change and close rounds"
FILE = OpenApiResponse(OpenApiTypes.BINARY, description="An attachment.")


class RatedRoundListView(APIView):
    @extend_schema(operation_id="ratings_rounds", responses=shapes.RatedRoundSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the unblinded rounds whose ratings you may see, newest first."""
        found = page.rounds(reader_of(signed_in(request), slug))
        return Response(shapes.RatedRoundSerializer(found, many=True).data)


class RatingsView(APIView):
    @extend_schema(
        operation_id="ratings_get",
        parameters=[shapes.UnseenQuerySerializer],
        responses={200: shapes.RatedRoundFiguresSerializer, 202: shapes.RatedRoundFiguresSerializer},
    )
    def get(self, request: Request, round_id: int) -> Response:
        """Return the stored results of an unblinded round. The status is 202 if they are not computed yet."""
        design, member = ratings_of(signed_in(request), round_id)
        query = shapes.UnseenQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        found = page.of_round(design, member, **query.validated_data)
        code = status.HTTP_202_ACCEPTED if found["figures"] is None else status.HTTP_200_OK
        return Response(found, status=code)

    @extend_schema(operation_id="ratings_reckon", request=None, responses={202: JobSerializer})
    def post(self, request: Request, round_id: int) -> Response:
        """Start a job that computes the results again."""
        design, member = ratings_of(signed_in(request), round_id, OPEN)
        job = fresh_job(ask(design=design, by=member.user))
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


class RatingExamplesView(generics.ListAPIView[PageTextOf]):
    queryset = PageTextOf.objects.none()
    serializer_class = shapes.ExampleSerializer

    @extend_schema(operation_id="ratings_examples", parameters=[shapes.ExampleQuerySerializer])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List summaries with their ratings, filtered by system, criterion and value."""
        design, member = ratings_of(signed_in(request), kwargs["round_id"])
        query = shapes.ExampleQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        rows = self.paginate_queryset(page.examples(design, **query.validated_data)) or []
        # These plain values already have the serializer's structure. Serializing thousands of ratings would take
        # seconds.
        return self.get_paginated_response(page.example_rows(design, rows, member))


class RatingFileView(APIView):
    @extend_schema(operation_id="ratings_file", responses={(200, "text/csv"): FILE})
    def get(self, request: Request, round_id: int) -> StreamingHttpResponse:
        """Return a CSV file with one row per rating. All results are computed from these rows."""
        design, _ = ratings_of(signed_in(request), round_id, page.WHO)
        name = f"{design.round.project.slug}-round-{design.round_id}-ratings.csv"
        reply = StreamingHttpResponse(tidy.lines(design), content_type="text/csv; charset=utf-8")
        reply["Content-Disposition"] = f'attachment; filename="{name}"'
        return reply
