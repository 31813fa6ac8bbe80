"""API views for correcting and confirming the value of one unit."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from api.problems import NotFound

from .. import acts, kinds
from ..permissions import permit, unit_of
from ..queue.queries import of_curator
from ..queue.serializers import CARDS, Card
from ..staleness import serializers as staleness_serializers
from . import serializers as shapes
from .actions import Correction, confirm, correct_all
from .serializers import CorrectedSerializer


class UnitCardView(APIView):
    @extend_schema(operation_id="units_card", responses=Card)
    def get(self, request: Request, unit_id: int, kind: str) -> Response:
        """Return the card of a unit in one kind, for a curator who sets a value outside of rounds."""
        unit, member = unit_of(signed_in(request), unit_id)
        permit(member, "curate")
        kinds_of_unit = {one.key: one for one in kinds.all_kinds() if unit.type in one.unit_types and not one.blind}
        if kind not in kinds_of_unit:
            raise NotFound("This task does not apply to this unit.")
        return Response(CARDS[kind](of_curator(unit, kind, member)).data)


class CorrectionView(APIView):
    @extend_schema(
        operation_id="units_correct", request=shapes.CorrectionSerializer, responses={201: shapes.CorrectedSerializer}
    )
    def post(self, request: Request, unit_id: int) -> Response:
        """Set a curator's value as the current one. A reason is required if it replaces a value."""
        unit, member = unit_of(signed_in(request), unit_id)
        permit(member, "curate")
        digest = acts.digest_of(request.path, request.body)
        body = shapes.CorrectionSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        fields: dict[str, Any] = dict(body.validated_data)
        uuid, reason = fields.pop("uuid", None), fields.pop("reason")

        def work() -> dict[str, Any]:
            done = correct_all(
                [Correction(unit=unit, **fields)], project=unit.project, reason=reason, by=member, batch=uuid
            )
            return {"fields_changed": [d.field for d in done[0].decisions]}

        result = (
            acts.run_once(acts.Request(uuid, digest), by=member, verb="correct", work=work)
            if uuid
            else acts.retry_on_conflict(work)
        )
        return Response(result, status=status.HTTP_201_CREATED)


class ConfirmationView(APIView):
    @extend_schema(
        operation_id="units_confirm",
        request=staleness_serializers.ConfirmationSerializer,
        responses={201: CorrectedSerializer},
    )
    def post(self, request: Request, unit_id: int) -> Response:
        """Confirm the values of a unit that were decided before a change. The values stay the same."""
        unit, member = unit_of(signed_in(request), unit_id)
        permit(member, "curate")
        body = staleness_serializers.ConfirmationSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        decisions = confirm(unit=unit, by=member, **body.validated_data)
        return Response({"fields_changed": [d.field for d in decisions]}, status=status.HTTP_201_CREATED)
