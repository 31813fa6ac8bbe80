"""The curate page: one review whole, and everything that is typed into it."""

from collections.abc import Callable
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.requests import signed_in
from api.problems import Refused
from projects.actions import acts
from projects.actions.corrections import Correction, correct_all
from projects.models import Member, Unit

from .. import permissions
from ..actions.curation import clusters, removal, reviews
from ..models import Cluster, Review
from ..pages import corpus as corpus_lists
from ..pages import curation as curation_page
from ..serializers import curation as shapes

CREATED = status.HTTP_201_CREATED


def _asked(shape: type[shapes.Plain], request: Request) -> dict[str, Any]:
    digest = acts.digest_of(request.path, request.body)
    serializer = shape(data=request.data)
    serializer.is_valid(raise_exception=True)
    fields = dict(serializer.validated_data)
    return fields | {"request": acts.Request(fields["uuid"], digest)}


def _once(fields: dict[str, Any], member: Member, verb: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    return acts.once(fields["request"], by=member, verb=verb, work=work)


def _cells(ids: list[int]) -> dict[str, Any]:
    found = Cluster.objects.filter(pk__in=ids).order_by("position", "pk")
    return {"clusters": shapes.CuratedClusterSerializer(curation_page.cluster_cells(found), many=True).data}


class CurationView(APIView):
    @extend_schema(
        operation_id="reviews_curation",
        parameters=[shapes.CurationWindowSerializer],
        responses=shapes.CurationSerializer,
    )
    def get(self, request: Request, review_id: int) -> Response:
        """One review whole: its targets and clusters, cell by cell, and what its release waits for."""
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
        """Put many cells of a review in force at once, all or none; faults are named by row and field."""
        review, member = permissions.review_to_curate(signed_in(request), review_id)
        fields = _asked(shapes.CorrectionsSerializer, request)

        def work() -> dict[str, Any]:
            done = correct_all(
                _corrections(review, fields["rows"]), project=review.project, reason=fields["reason"], by=member,
                batch=fields["uuid"], path="rows.{n}.",
            )  # fmt: skip
            touched = Cluster.objects.filter(unit__in=[d.unit.pk for d in done]) | Cluster.objects.filter(
                propositions__unit__in=[d.unit.pk for d in done]
            )
            return {
                "rows": [
                    {"unit": d.unit.pk, "kind": d.kind, "fields_changed": [row.field for row in d.decisions]}
                    for d in done
                ],
                "clusters": sorted(set(touched.values_list("pk", flat=True))),
            }

        made = _once(fields, member, "correct", work)
        return Response(made | _cells(made["clusters"]), status=CREATED)


def _corrections(review: Review, rows: list[dict[str, Any]]) -> list[Correction]:
    """The rows with their units, which must be the review's."""
    ids = {row["unit"] for row in rows}
    mine = Unit.objects.filter(cluster__review=review) | Unit.objects.filter(proposition__cluster__review=review)
    units = {u.pk: u for u in mine.filter(pk__in=ids).select_related("proposition")}
    errors = [
        {"field": f"rows.{n}.unit", "message": "This is no cluster or proposition of the review."}
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
        """Add clusters by rows, with whatever is known of them, all or none."""
        review, member = permissions.review_to_curate(signed_in(request), review_id)
        fields = _asked(shapes.NewClustersSerializer, request)

        def work() -> dict[str, Any]:
            made = clusters.add_clusters(review=review, rows=fields["rows"], by=member, batch=fields["uuid"])
            return {"clusters": [c.pk for c in made]}

        return Response(_cells(_once(fields, member, "add clusters", work)["clusters"]), status=CREATED)


class ClusterPropositionsView(APIView):
    @extend_schema(
        operation_id="clusters_add_propositions",
        request=shapes.NewInputsSerializer,
        responses={201: shapes.ClustersDoneSerializer},
    )
    def post(self, request: Request, cluster_id: int) -> Response:
        """Add input propositions at the end of a cluster, all or none."""
        cluster, member = permissions.cluster_to_curate(signed_in(request), cluster_id)
        fields = _asked(shapes.NewInputsSerializer, request)

        def work() -> dict[str, Any]:
            clusters.add_inputs(
                cluster=cluster, rows=fields["rows"], reason=fields["reason"], by=member, batch=fields["uuid"]
            )
            return {"clusters": [cluster.pk]}

        return Response(_cells(_once(fields, member, "add inputs", work)["clusters"]), status=CREATED)


class ReviewSentencesView(APIView):
    @extend_schema(
        operation_id="reviews_add_sentences",
        request=shapes.NewSentencesSerializer,
        responses={201: shapes.SentencesDoneSerializer},
    )
    def post(self, request: Request, review_id: int) -> Response:
        """Add target sentences at the end of a review, all or none."""
        review, member = permissions.review_to_curate(signed_in(request), review_id)
        fields = _asked(shapes.NewSentencesSerializer, request)

        def work() -> dict[str, Any]:
            made = reviews.add_sentences(review=review, rows=fields["rows"], by=member)
            return {"targets": [t.pk for t in made]}

        made = _once(fields, member, "add sentences", work)["targets"]
        rows = corpus_lists.targets(review).filter(pk__in=made)
        return Response(shapes.SentencesDoneSerializer({"targets": rows}).data, status=CREATED)


class RemovalView(APIView):
    """Taking out a cluster."""

    @extend_schema(operation_id="clusters_remove", request=shapes.RemovalSerializer, responses={204: None})
    def post(self, request: Request, cluster_id: int) -> Response:
        """Take out a cluster that is in no round. What was said of it stays in the record."""
        cluster, member = permissions.cluster_to_curate(signed_in(request), cluster_id)
        asked = shapes.RemovalSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        removal.remove_cluster(cluster=cluster, by=member, **asked.validated_data)
        return Response(status=status.HTTP_204_NO_CONTENT)


class InputRemovalView(APIView):
    @extend_schema(operation_id="propositions_remove", request=shapes.RemovalSerializer, responses={204: None})
    def post(self, request: Request, unit_id: int) -> Response:
        """Take out an input proposition of which nothing was ever said."""
        proposition, member = permissions.proposition_to_curate(signed_in(request), unit_id)
        asked = shapes.RemovalSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        removal.remove_input(proposition=proposition, by=member, **asked.validated_data)
        return Response(status=status.HTTP_204_NO_CONTENT)
