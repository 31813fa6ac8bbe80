"""Views of the pages of reviews and studies."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in

from .. import permissions
from . import queries, serializers


class ReviewReadingsView(APIView):
    @extend_schema(operation_id="reviews_readings", responses=serializers.ReviewReadingsSerializer)
    def get(self, request: Request, review_id: int) -> Response:
        """Return a review with its spans, its pairs, and the directions of its studies."""
        review = permissions.review_of(signed_in(request), review_id)
        return Response(serializers.ReviewReadingsSerializer(queries.review_page(review)).data)


class StudyReadingsView(APIView):
    @extend_schema(operation_id="studies_readings", responses=serializers.StudyReadingsSerializer)
    def get(self, request: Request, study_id: int) -> Response:
        """Return a study with its spans and the questions of each review that includes or cites it."""
        study = permissions.study_of(signed_in(request), study_id)
        return Response(serializers.StudyReadingsSerializer(queries.study_page(study)).data)


class PairReadingsView(APIView):
    @extend_schema(operation_id="pairs_readings", responses=serializers.PairReadingsSerializer)
    def get(self, request: Request, pair_id: int) -> Response:
        """Return one pair with the evidence in the review and in each study."""
        pair = permissions.pair_of(signed_in(request), pair_id)
        return Response(serializers.PairReadingsSerializer(queries.pair_page(pair)).data)
