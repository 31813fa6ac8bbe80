"""Views of the corpus: lists, single objects, statistics and text corrections."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from api.problems import Forbidden
from projects import acts
from projects.models import Member
from projects.permissions import may, permit
from projects.stored_figures.queries import stored

from .. import permissions
from ..curation import serializers as curation_shapes
from ..curation.actions import add_review
from ..models import Cluster
from ..questions.material import hidden_summaries
from . import cluster as cluster_page
from . import corrections, figures
from . import queries as corpus_lists
from . import serializers as shapes


def _filters(shape: type[shapes.Plain], request: Request) -> dict[str, str]:
    serializer = shape(data=request.query_params)
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


def _cluster_filters(request: Request, member: Member) -> dict[str, str]:
    filters = _filters(shapes.ClusterFiltersSerializer, request)
    if filters.get("state") in corpus_lists.FOR_CURATORS:
        permit(member, "curate")
    return filters


class ClusterListView(generics.ListAPIView[Cluster]):
    queryset = Cluster.objects.none()
    serializer_class = shapes.ClusterRowSerializer

    @extend_schema(operation_id="clusters_list", parameters=[shapes.ClusterFiltersSerializer])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List clusters with their current values. All given filters must match.

        Without an ordering, clusters that contain the search as whole words come first.
        """
        member = permissions.corpus_reader(signed_in(request), kwargs["slug"])
        filters = _cluster_filters(request, member)
        ids: Any = corpus_lists.cluster_ids(member.project, filters)
        page = corpus_lists.clusters_of_page(self.paginate_queryset(ids) or [])
        search, curates = filters.get("search", ""), may(member, "curate")
        rows = corpus_lists.cluster_rows(page, member.project, search, curates=curates)
        return self.get_paginated_response(shapes.ClusterRowSerializer(rows, many=True).data)


class ClusterStatesView(APIView):
    @extend_schema(
        operation_id="clusters_states",
        parameters=[shapes.ClusterFiltersSerializer],
        responses=shapes.ClusterStateSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        """Count the clusters in each state under the other filters."""
        member = permissions.corpus_reader(signed_in(request), slug)
        filters = _cluster_filters(request, member)
        return Response(corpus_lists.states(member.project, filters, curates=may(member, "curate")))


class ClusterView(APIView):
    @extend_schema(operation_id="clusters_get", responses=shapes.ClusterSerializer)
    def get(self, request: Request, cluster_id: int) -> Response:
        """Return one cluster with all related data. Only leads and curators see answers."""
        cluster, member = permissions.cluster_of(signed_in(request), cluster_id)
        page = cluster_page.page(
            cluster, with_answers=may(member, "see who answered what"), with_findings=may(member, "curate")
        )
        return Response(shapes.ClusterSerializer(page).data)


class NeighboursView(APIView):
    @extend_schema(
        operation_id="clusters_neighbours",
        parameters=[shapes.ClusterFiltersSerializer],
        responses=shapes.NeighboursSerializer,
    )
    def get(self, request: Request, cluster_id: int) -> Response:
        """Return the previous and the next cluster in the list with the same filters."""
        cluster, member = permissions.cluster_of(signed_in(request), cluster_id)
        neighbours = corpus_lists.neighbours(cluster, _cluster_filters(request, member))
        return Response(shapes.NeighboursSerializer(neighbours).data)


class NewReviewView(APIView):
    @extend_schema(
        operation_id="reviews_add",
        request=curation_shapes.NewReviewSerializer,
        responses={201: curation_shapes.NewReviewDoneSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Add a review manually, with its target sentences."""
        member = permissions.project_to_curate(signed_in(request), slug)
        digest = acts.digest_of(request.path, request.body)
        serializer = curation_shapes.NewReviewSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        fields = {k: v for k, v in serializer.validated_data.items() if k not in ("uuid", "reason")}
        created = acts.run_once(
            acts.Request(serializer.validated_data["uuid"], digest),
            by=member,
            verb="add review",
            work=lambda: {"id": add_review(project=member.project, by=member, **fields).pk},
        )
        return Response(created, status=status.HTTP_201_CREATED)


class ReviewView(APIView):
    @extend_schema(operation_id="reviews_get", responses=shapes.ReviewSerializer)
    def get(self, request: Request, review_id: int) -> Response:
        """Return one review with its studies, documents, sentences and clusters."""
        review = permissions.review_of(signed_in(request), review_id)
        return Response(shapes.ReviewSerializer(corpus_lists.review_page(review)).data)


class StudyView(APIView):
    @extend_schema(operation_id="studies_get", responses=shapes.StudySerializer)
    def get(self, request: Request, study_id: int) -> Response:
        """Return one study with the reviews that include it and the propositions taken from it."""
        study = permissions.study_of(signed_in(request), study_id)
        return Response(shapes.StudySerializer(corpus_lists.study_page(study)).data)


class SummaryView(APIView):
    @extend_schema(operation_id="corpus_summary", responses=shapes.StoredSummarySerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return the stored corpus counts and the distribution of current values."""
        member = permissions.corpus_reader(signed_in(request), slug)
        return Response(shapes.StoredSummarySerializer(stored(member.project, figures.SUMMARY)).data)


class StatisticsView(APIView):
    @extend_schema(operation_id="corpus_statistics", responses=shapes.StoredLevelsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return M3's Table 2 for this project as stored, one row per level."""
        member = permissions.corpus_reader(signed_in(request), slug)
        return Response(shapes.StoredLevelsSerializer(stored(member.project, figures.LEVELS)).data)


class TextView(APIView):
    @extend_schema(operation_id="units_texts", responses=shapes.CurrentTextSerializer(many=True))
    def get(self, request: Request, unit_id: int) -> Response:
        """Return the current texts of a unit that can be corrected.

        Forbidden for written summaries that the user rates blindly.
        """
        row, member = permissions.text_to_curate(signed_in(request), unit_id)
        if hidden_summaries(member, [unit_id]):
            raise Forbidden("This text is hidden from you: a person wrote it, or you rate it.")
        return Response(shapes.CurrentTextSerializer(corrections.shown_texts(row), many=True).data)

    @extend_schema(
        operation_id="units_correct_text",
        request=shapes.NewTextSerializer,
        responses={201: shapes.SupersededSerializer},
    )
    def post(self, request: Request, unit_id: int) -> Response:
        """Replace the text of a proposition, target, written summary, question or passage with a corrected one.

        Decisions on the old text become stale.
        """
        old, member = permissions.text_to_curate(signed_in(request), unit_id)
        serializer = shapes.NewTextSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        unit, version = corrections.correct(old, by=member, **serializer.validated_data)
        return Response({"unit": unit, "version": version}, status=status.HTTP_201_CREATED)


class UnitPlaceView(APIView):
    @extend_schema(operation_id="units_place", responses=shapes.UnitPlaceSerializer)
    def get(self, request: Request, unit_id: int) -> Response:
        """Return the page that shows a unit."""
        unit = permissions.unit_to_read(signed_in(request), unit_id)
        place = {"unit": unit.pk, "key": unit.key, **corpus_lists.place_of(unit)}
        return Response(shapes.UnitPlaceSerializer(place).data)
