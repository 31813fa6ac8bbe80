"""What waits to be looked at again, and the word that it still holds."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import User
from accounts.requests import signed_in

from ..actions.confirm import confirm
from ..actions.uphold import uphold
from ..models import Answer, Change, Member
from ..pages import staleness
from ..permissions import member_of, permit, round_of, unit_of
from ..serializers import staleness as shapes
from ..serializers.corrections import CorrectedSerializer
from ..values.outdated import outdated


def _curator(user: User, slug: str) -> Member:
    member = member_of(user, slug)
    permit(member, "curate")
    return member


class StaleTotalsView(APIView):
    @extend_schema(operation_id="stale_totals", responses=shapes.StaleTotalsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """How much waits to be looked at again."""
        project = _curator(signed_in(request), slug).project
        totals = {"changed": staleness.waiting(project).count(), "outdated": staleness.outdated_totals(project)}
        return Response(shapes.StaleTotalsSerializer(totals).data)


class StaleView(generics.ListAPIView[Change]):
    queryset = Change.objects.none()
    serializer_class = shapes.StaleUnitSerializer

    @extend_schema(operation_id="stale_list", parameters=[shapes.StaleFiltersSerializer])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Units whose values are from before a change of text or tuple: to be redone or confirmed. Newest first."""
        project = _curator(signed_in(request), kwargs["slug"]).project
        filters = shapes.StaleFiltersSerializer(data=request.query_params)
        filters.is_valid(raise_exception=True)
        page = self.paginate_queryset(staleness.waiting(project, **filters.validated_data)) or []
        rows = staleness.rows(page, project=project)
        return self.get_paginated_response(shapes.StaleUnitSerializer(rows, many=True).data)


class OutdatedView(generics.ListAPIView[Answer]):
    queryset = Answer.objects.none()
    serializer_class = shapes.OutdatedAnswerSerializer

    @extend_schema(operation_id="outdated_answers_list", parameters=[shapes.OutdatedFiltersSerializer])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Answers given under an earlier version of the guideline, whose units were not decided since. Newest first."""
        project = _curator(signed_in(request), kwargs["slug"]).project
        filters = shapes.OutdatedFiltersSerializer(data=request.query_params)
        filters.is_valid(raise_exception=True)
        found = outdated(project, **filters.validated_data).order_by("-received_at", "pk")
        page = self.paginate_queryset(found) or []
        return self.get_paginated_response(
            shapes.OutdatedAnswerSerializer(staleness.outdated_rows(page), many=True).data
        )


class UpheldView(APIView):
    @extend_schema(
        operation_id="rounds_uphold", request=shapes.UpholdSerializer, responses={201: shapes.UpheldSerializer}
    )
    def post(self, request: Request, round_id: int) -> Response:
        """Confirm at once that a round's answers from under an earlier guideline stand under the newest one."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, "curate")
        asked = shapes.UpholdSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        answers = uphold(round=round, by=member, **asked.validated_data)
        return Response({"answers": answers}, status=status.HTTP_201_CREATED)


class ConfirmationView(APIView):
    @extend_schema(
        operation_id="units_confirm", request=shapes.ConfirmationSerializer, responses={201: CorrectedSerializer}
    )
    def post(self, request: Request, unit_id: int) -> Response:
        """Decide anew what was in force before a change, value for value."""
        unit, member = unit_of(signed_in(request), unit_id)
        permit(member, "curate")
        asked = shapes.ConfirmationSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        made = confirm(unit=unit, by=member, **asked.validated_data)
        return Response({"fields_changed": [d.field for d in made]}, status=status.HTTP_201_CREATED)
