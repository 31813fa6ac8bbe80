"""Views of the curation page."""

from collections.abc import Callable
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from api.problems import Refused
from projects import acts
from projects.curation.actions import Correction, correct_all
from projects.models import Member, Unit

from .. import permissions
from ..documents.queries import targets
from ..models import Cluster, Review
from . import actions as curation_actions
from . import queries as curation_page
from . import serializers as shapes

CREATED = status.HTTP_201_CREATED


def _validated(shape: type[shapes.Plain], request: Request) -> dict[str, Any]:
    digest = acts.digest_of(request.path, request.body)
    serializer = shape(data=request.data)
    serializer.is_valid(raise_exception=True)
    fields = dict(serializer.validated_data)
    return fields | {"request": acts.Request(fields["uuid"], digest)}


def _once(fields: dict[str, Any], member: Member, verb: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    return acts.run_once(fields["request"], by=member, verb=verb, work=work)


def _cluster_json(ids: list[int]) -> dict[str, Any]:
    clusters = Cluster.objects.filter(pk__in=ids).order_by("position", "pk")
    return {"clusters": shapes.CuratedClusterSerializer(curation_page.cluster_cells(clusters), many=True).data}


class CurationView(APIView):
    @extend_schema(
        operation_id="reviews_curation",
        parameters=[shapes.CurationWindowSerializer],
        responses=shapes.CurationSerializer,
    )
    def get(self, request: Request, review_id: int) -> Response:
        """Return one review with its targets and clusters, cell by cell, and what each cluster lacks for release."""
        review, _ = permissions.review_to_curate(signed_in(request), review_id)
        window = shapes.CurationWindowSerializer(data=request.query_params)
        window.is_valid(raise_exception=True)
        return Response(shapes.CurationSerializer(curation_page.page(review, **window.validated_data)).data)


class ReviewCorrectionsView(APIView):
    @extend_schema(
        operation_id="reviews_correct",
        request=shapes.CorrectionsSerializer,
        responses={201: shapes.CorrectionsDoneSerializer},
    )
    def post(self, request: Request, review_id: int) -> Response:
        """Correct several cells of a review. All or none are applied; errors name row and field."""
        review, member = permissions.review_to_curate(signed_in(request), review_id)
        fields = _validated(shapes.CorrectionsSerializer, request)

        def work() -> dict[str, Any]:
            results = correct_all(
                _corrections(review, fields["rows"]),
                project=review.project,
                reason=fields["reason"],
                by=member,
                batch=fields["uuid"],
                path="rows.{n}.",
            )
            touched = Cluster.objects.filter(unit__in=[d.unit.pk for d in results]) | Cluster.objects.filter(
                propositions__unit__in=[d.unit.pk for d in results]
            )
            return {
                "rows": [
                    {"unit": d.unit.pk, "kind": d.kind, "fields_changed": [row.field for row in d.decisions]}
                    for d in results
                ],
                "clusters": sorted(set(touched.values_list("pk", flat=True))),
            }

        result = _once(fields, member, "correct", work)
        return Response(result | _cluster_json(result["clusters"]), status=CREATED)


def _corrections(review: Review, rows: list[dict[str, Any]]) -> list[Correction]:
    """Return the corrections with their units. Raise `Refused` for units that are not part of the review."""
    ids = {row["unit"] for row in rows}
    mine = Unit.objects.filter(cluster__review=review) | Unit.objects.filter(proposition__cluster__review=review)
    units = {u.pk: u for u in mine.filter(pk__in=ids).select_related("proposition")}
    errors = [
        {"field": f"rows.{n}.unit", "message": "This unit is not a cluster or proposition of the review."}
        for n, row in enumerate(rows)
        if row["unit"] not in units
    ]
    if errors:
        raise Refused(errors[0]["message"], errors=errors)
    return [Correction(**row | {"unit": units[row["unit"]]}) for row in rows]


class ReviewClustersView(APIView):
    @extend_schema(
        operation_id="reviews_add_clusters",
        request=shapes.NewClustersSerializer,
        responses={201: shapes.ClustersDoneSerializer},
    )
    def post(self, request: Request, review_id: int) -> Response:
        """Add clusters with their known values. All or none are added."""
        review, member = permissions.review_to_curate(signed_in(request), review_id)
        fields = _validated(shapes.NewClustersSerializer, request)

        def work() -> dict[str, Any]:
            clusters = curation_actions.add_clusters(
                review=review, rows=fields["rows"], by=member, batch=fields["uuid"]
            )
            return {"clusters": [c.pk for c in clusters]}

        return Response(_cluster_json(_once(fields, member, "add clusters", work)["clusters"]), status=CREATED)


class ClusterPropositionsView(APIView):
    @extend_schema(
        operation_id="clusters_add_propositions",
        request=shapes.NewInputsSerializer,
        responses={201: shapes.ClustersDoneSerializer},
    )
    def post(self, request: Request, cluster_id: int) -> Response:
        """Add input propositions at the end of a cluster. All or none are added."""
        cluster, member = permissions.cluster_to_curate(signed_in(request), cluster_id)
        fields = _validated(shapes.NewInputsSerializer, request)

        def work() -> dict[str, Any]:
            curation_actions.add_inputs(
                cluster=cluster, rows=fields["rows"], reason=fields["reason"], by=member, batch=fields["uuid"]
            )
            return {"clusters": [cluster.pk]}

        return Response(_cluster_json(_once(fields, member, "add inputs", work)["clusters"]), status=CREATED)


class ReviewSentencesView(APIView):
    @extend_schema(
        operation_id="reviews_add_sentences",
        request=shapes.NewSentencesSerializer,
        responses={201: shapes.SentencesDoneSerializer},
    )
    def post(self, request: Request, review_id: int) -> Response:
        """Add target sentences at the end of a review. All or none are added."""
        review, member = permissions.review_to_curate(signed_in(request), review_id)
        fields = _validated(shapes.NewSentencesSerializer, request)

        def work() -> dict[str, Any]:
            target_ids = curation_actions.add_sentences(review=review, rows=fields["rows"], by=member)
            return {"targets": [t.pk for t in target_ids]}

        target_ids = _once(fields, member, "add sentences", work)["targets"]
        rows = targets(review).filter(pk__in=target_ids)
        return Response(shapes.SentencesDoneSerializer({"targets": rows}).data, status=CREATED)


class RemovalView(APIView):
    @extend_schema(operation_id="clusters_remove", request=shapes.RemovalSerializer, responses={204: None})
    def post(self, request: Request, cluster_id: int) -> Response:
        """Retire a cluster that is in no round. Earlier decisions remain on record."""
        cluster, member = permissions.cluster_to_curate(signed_in(request), cluster_id)
        serializer = shapes.RemovalSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        curation_actions.remove_cluster(cluster=cluster, by=member, **serializer.validated_data)
        return Response(status=status.HTTP_204_NO_CONTENT)


class InputRemovalView(APIView):
    @extend_schema(operation_id="propositions_remove", request=shapes.RemovalSerializer, responses={204: None})
    def post(self, request: Request, unit_id: int) -> Response:
        """Delete an input proposition that has no assignment and no decision."""
        proposition, member = permissions.proposition_to_curate(signed_in(request), unit_id)
        serializer = shapes.RemovalSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        curation_actions.remove_input(proposition=proposition, by=member, **serializer.validated_data)
        return Response(status=status.HTTP_204_NO_CONTENT)
