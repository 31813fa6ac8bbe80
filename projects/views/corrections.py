"""Putting one value in force by hand."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.requests import signed_in
from api.problems import NotFound

from .. import kinds
from ..actions import acts
from ..actions.corrections import Correction, correct_all
from ..permissions import permit, unit_of
from ..rounds.cards import of_curator
from ..serializers import corrections as shapes
from ..serializers.work import CARDS, Card


class UnitCardView(APIView):
    @extend_schema(operation_id="units_card", responses=Card)
    def get(self, request: Request, unit_id: int, kind: str) -> Response:
        """A unit as a kind shows it, for a value that a curator gives outside of rounds."""
        unit, member = unit_of(signed_in(request), unit_id)
        permit(member, "curate")
        found = {one.key: one for one in kinds.all_kinds() if unit.type in one.unit_types and not one.blind}
        if kind not in found:
            raise NotFound("No such task asks of this unit.")
        return Response(CARDS[kind](of_curator(unit, kind, member)).data)


class CorrectionView(APIView):
    @extend_schema(
        operation_id="units_correct",
        request=shapes.CorrectionSerializer,
        responses={201: shapes.CorrectedSerializer},
    )
    def post(self, request: Request, unit_id: int) -> Response:
        """Put a curator's value in the place of the gold one; a reason is needed where there is one."""
        unit, member = unit_of(signed_in(request), unit_id)
        permit(member, "curate")
        digest = acts.digest_of(request.path, request.body)
        asked = shapes.CorrectionSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        fields: dict[str, Any] = dict(asked.validated_data)
        uuid, reason = fields.pop("uuid", None), fields.pop("reason")

        def work() -> dict[str, Any]:
            done = correct_all(
                [Correction(unit=unit, **fields)], project=unit.project, reason=reason, by=member, batch=uuid
            )
            return {"fields_changed": [d.field for d in done[0].decisions]}

        made = acts.once(acts.Request(uuid, digest), by=member, verb="correct", work=work) if uuid else acts.again(work)
        return Response(made, status=status.HTTP_201_CREATED)
