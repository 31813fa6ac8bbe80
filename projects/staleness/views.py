"""Views for stale units, outdated answers, and their confirmation."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import User
from accounts.sessions import signed_in
from api.pagination import CountedRows

from ..models import Answer, Change, Member
from ..permissions import member_of, permit, round_of
from . import queries as staleness_queries
from . import serializers as shapes
from .actions import uphold
from .queries import outdated


def _curator(user: User, slug: str) -> Member:
    member = member_of(user, slug)
    permit(member, "curate")
    return member


class StaleTotalsView(APIView):
    @extend_schema(operation_id="stale_totals", responses=shapes.StaleTotalsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return the number of stale units and of outdated answers."""
        project = _curator(signed_in(request), slug).project
        totals = {
            "changed": staleness_queries.waiting(project).count(),
            "outdated": staleness_queries.outdated_totals(project),
        }
        return Response(shapes.StaleTotalsSerializer(totals).data)


class StaleView(generics.ListAPIView[Change]):
    queryset = Change.objects.none()
    serializer_class = shapes.StaleUnitSerializer

    @extend_schema(operation_id="stale_list", parameters=[shapes.StaleFiltersSerializer])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List units whose values must be redone or confirmed after a change of text or tuple, newest first."""
        project = _curator(signed_in(request), kwargs["slug"]).project
        filters = shapes.StaleFiltersSerializer(data=request.query_params)
        filters.is_valid(raise_exception=True)
        page = self.paginate_queryset(staleness_queries.waiting(project, **filters.validated_data)) or []
        rows = staleness_queries.rows(page, project=project)
        return self.get_paginated_response(shapes.StaleUnitSerializer(rows, many=True).data)


class OutdatedView(generics.ListAPIView[Answer]):
    queryset = Answer.objects.none()
    serializer_class = shapes.OutdatedAnswerSerializer

    @extend_schema(operation_id="outdated_answers_list", parameters=[shapes.OutdatedFiltersSerializer])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List answers under an earlier guideline whose units were not decided since, newest first."""
        project = _curator(signed_in(request), kwargs["slug"]).project
        filters = shapes.OutdatedFiltersSerializer(data=request.query_params)
        filters.is_valid(raise_exception=True)
        found = outdated(project, **filters.validated_data).order_by("-received_at", "pk")
        # Sort and paginate keys only, then load the rows of one page.
        sorted_keys: Any = CountedRows(found.values_list("pk", flat=True), found.count())
        keys: list[Any] = self.paginate_queryset(sorted_keys) or []
        page = list(found.filter(pk__in=keys))
        return self.get_paginated_response(
            shapes.OutdatedAnswerSerializer(staleness_queries.outdated_rows(page), many=True).data
        )


class UpheldView(APIView):
    @extend_schema(
        operation_id="rounds_uphold", request=shapes.UpholdSerializer, responses={201: shapes.UpheldSerializer}
    )
    def post(self, request: Request, round_id: int) -> Response:
        """Confirm that all of a round's answers under an earlier guideline remain valid under the newest one."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, "curate")
        body = shapes.UpholdSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        answers = uphold(round=round, by=member, **body.validated_data)
        return Response({"answers": answers}, status=status.HTTP_201_CREATED)
