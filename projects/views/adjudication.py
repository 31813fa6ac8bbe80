"""Adjudication: the queue of a round, one unit, deciding, taking back, and what people see of their own answers."""

from collections.abc import Callable
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import User
from accounts.permissions import GUESTS_TOO
from accounts.requests import signed_in

from ..actions import acts, adjudication_at_once, standing_behind
from ..actions import adjudication as actions
from ..adjudication.said import unit_in
from ..models import Answer, Member, Round
from ..pages import dossier, outcomes, queue
from ..permissions import Names, permit, round_of
from ..serializers import adjudication as shapes

CREATED = status.HTTP_201_CREATED
Json = dict[str, Any]


def _curating(user: User, round_id: int) -> tuple[Round, Member]:
    round, member = round_of(user, round_id)
    permit(member, "curate")
    return round, member


def _once(request: Request, fields: Json, member: Member, verb: str, work: Callable[[], Json]) -> Json:
    asked = acts.Request(fields.pop("uuid"), acts.digest_of(request.path, request.body))
    return acts.once(asked, by=member, verb=verb, work=work)


def _asked(shape: type[Any], data: Any) -> Any:
    serializer = shape(data=data)
    serializer.is_valid(raise_exception=True)
    return serializer


class QueueView(APIView):
    @extend_schema(
        operation_id="adjudication_queue",
        parameters=[shapes.QueueFiltersSerializer],
        responses=shapes.QueueSerializer,
    )
    def get(self, request: Request, round_id: int) -> Response:
        """The units of a round that wait for a curator, contested ones first; or those that were decided."""
        round, _ = _curating(signed_in(request), round_id)
        asked = _asked(shapes.QueueFiltersSerializer, request.query_params)
        return Response(shapes.QueueSerializer(queue.page(round, **asked.validated_data)).data)


class DossierView(APIView):
    @extend_schema(
        operation_id="adjudication_unit",
        parameters=[shapes.DossierFiltersSerializer],
        responses=shapes.DossierSerializer,
    )
    def get(self, request: Request, round_id: int, unit_id: int) -> Response:
        """One unit with the answers that count, side by side, and all that was ever decided of it."""
        round, member = _curating(signed_in(request), round_id)
        asked = _asked(shapes.DossierFiltersSerializer, request.query_params)
        unit = unit_in(round, unit_id)
        # Whoever works in it would read what others said before answering.
        actions.refuse_unless_closed(round)
        found = dossier.dossier(round, unit, asking=member, **asked.validated_data)
        return Response(shapes.DossierSerializer(found).data)

    @extend_schema(
        operation_id="adjudication_decide",
        request=shapes.AdjudicationSerializer,
        responses={201: shapes.AdjudicatedSerializer},
    )
    def post(self, request: Request, round_id: int, unit_id: int) -> Response:
        """Take one of the answers, or write another. What somebody else has decided meanwhile is a 409 with theirs."""
        round, member = _curating(signed_in(request), round_id)
        unit = unit_in(round, unit_id)
        fields = _asked(shapes.AdjudicationSerializer, request.data).of_kind(round)
        uuid = fields["uuid"]

        def work() -> Json:
            return actions.adjudicate(round=round, unit=unit, by=member, called=Names(member).of, batch=uuid, **fields)

        made = _once(request, fields, member, actions.DECIDE, work)
        return Response(shapes.AdjudicatedSerializer(made).data, status=CREATED)


class ReopenView(APIView):
    @extend_schema(
        operation_id="adjudication_reopen",
        request=shapes.ReopeningSerializer,
        responses={201: shapes.ReopenedSerializer},
    )
    def post(self, request: Request, round_id: int, unit_id: int) -> Response:
        """Take back what a curator decided last of a unit: it waits again. The history keeps all."""
        round, member = _curating(signed_in(request), round_id)
        unit = unit_in(round, unit_id)
        fields = dict(_asked(shapes.ReopeningSerializer, request.data).validated_data)

        def work() -> Json:
            return actions.reopen(round=round, unit=unit, by=member, called=Names(member).of, **fields)

        made = _once(request, fields, member, actions.REOPEN, work)
        return Response(shapes.ReopenedSerializer(made).data, status=CREATED)


class UndoView(APIView):
    @extend_schema(
        operation_id="adjudication_undo", request=shapes.UndoingSerializer, responses={201: shapes.UndoneSerializer}
    )
    def post(self, request: Request, round_id: int) -> Response:
        """Take back one act, of one unit or of many at once, but for what was decided again since."""
        round, member = _curating(signed_in(request), round_id)
        fields = dict(_asked(shapes.UndoingSerializer, request.data).validated_data)

        def work() -> Json:
            return actions.undo(round=round, by=member, **fields)

        made = _once(request, fields, member, actions.UNDO, work)
        return Response(shapes.UndoneSerializer(made).data, status=CREATED)


class AtOnceView(APIView):
    @extend_schema(operation_id="adjudication_preview", responses=shapes.AtOncePreviewSerializer)
    def get(self, request: Request, round_id: int) -> Response:
        """How many contested units would be decided at once, at each share of agreement. Decides nothing."""
        round, _ = _curating(signed_in(request), round_id)
        return Response(shapes.AtOncePreviewSerializer(adjudication_at_once.preview(round)).data)

    @extend_schema(
        operation_id="adjudication_decide_at_once",
        request=shapes.AtOnceSerializer,
        responses={201: shapes.DecidedAtOnceSerializer},
    )
    def post(self, request: Request, round_id: int) -> Response:
        """Take the answer nearest to the others, of the contested units on which people agreed so far. One act."""
        round, member = _curating(signed_in(request), round_id)
        fields = dict(_asked(shapes.AtOnceSerializer, request.data).validated_data)
        fields["expected"] = fields.pop("units")
        # Read before the act begins: it would keep everybody else from writing on SQLite.
        found = adjudication_at_once.candidates(round)

        def work() -> Json:
            return adjudication_at_once.adjudicate_at_once(round=round, found=found, by=member, **fields)

        made = _once(request, fields, member, actions.DECIDE, work)
        return Response(shapes.DecidedAtOnceSerializer(made).data, status=CREATED)


class GoldView(APIView):
    @extend_schema(operation_id="adjudication_gold", responses=shapes.GoldFoundSerializer)
    def get(self, request: Request, round_id: int) -> Response:
        """What of a closed round can be practised with, and what could be if a curator stood behind it."""
        round, _ = _curating(signed_in(request), round_id)
        return Response(shapes.GoldFoundSerializer(standing_behind.found(round)).data)

    @extend_schema(
        operation_id="adjudication_stand_behind",
        request=shapes.StandBehindSerializer,
        responses={201: shapes.DecidedAtOnceSerializer},
    )
    def post(self, request: Request, round_id: int) -> Response:
        """Stand behind what people agreed on, as gold to practise with. One act."""
        round, member = _curating(signed_in(request), round_id)
        fields = dict(_asked(shapes.StandBehindSerializer, request.data).validated_data)
        fields["expected"] = fields.pop("units")

        def work() -> Json:
            return standing_behind.stand_behind(round=round, by=member, **fields)

        made = _once(request, fields, member, actions.DECIDE, work)
        return Response(shapes.DecidedAtOnceSerializer(made).data, status=CREATED)


class OutcomesView(generics.ListAPIView[Answer]):
    permission_classes = GUESTS_TOO
    queryset = Answer.objects.none()
    serializer_class = shapes.OutcomeSerializer

    @extend_schema(operation_id="rounds_outcomes")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """What a curator decided of one's own answers in a closed round, and why; empty where the project keeps it."""
        round, member = round_of(signed_in(request), kwargs["round_id"])
        page = self.paginate_queryset(outcomes.answers(round, member)) or []
        return self.get_paginated_response(shapes.OutcomeSerializer(outcomes.rows(round, page), many=True).data)
