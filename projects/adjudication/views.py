"""API views of adjudication: queue, unit, decisions, undo, bulk decisions, and outcomes for annotators."""

from collections.abc import Callable
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import User
from accounts.permissions import GUESTS_TOO
from accounts.sessions import answers_since, signed_in

from .. import acts
from ..gold import queries as gold_queries
from ..models import Answer, Member, Round
from ..permissions import Names, permit, round_of
from . import actions, confirmation
from . import actions as adjudication_actions
from . import queries as adjudication_queries
from . import serializers as shapes
from .queries import unit_in

CREATED = status.HTTP_201_CREATED
Json = dict[str, Any]


def _round_of_curator(user: User, round_id: int) -> tuple[Round, Member]:
    round, member = round_of(user, round_id)
    permit(member, "curate")
    return round, member


def _run_once(request: Request, fields: Json, member: Member, verb: str, work: Callable[[], Json]) -> Json:
    act_request = acts.Request(fields.pop("uuid"), acts.digest_of(request.path, request.body))
    return acts.run_once(act_request, by=member, verb=verb, work=work)


def _validate(shape: type[Any], data: Any) -> Any:
    serializer = shape(data=data)
    serializer.is_valid(raise_exception=True)
    return serializer


class QueueView(APIView):
    @extend_schema(
        operation_id="adjudication_queue", parameters=[shapes.QueueFiltersSerializer], responses=shapes.QueueSerializer
    )
    def get(self, request: Request, round_id: int) -> Response:
        """List the units of a round that wait for a curator, contested ones first, or the decided units."""
        round, _ = _round_of_curator(signed_in(request), round_id)
        filters = _validate(shapes.QueueFiltersSerializer, request.query_params)
        return Response(shapes.QueueSerializer(adjudication_queries.page(round, **filters.validated_data)).data)


class UnitView(APIView):
    @extend_schema(
        operation_id="adjudication_unit",
        parameters=[shapes.AdjudicationDetailFiltersSerializer],
        responses=shapes.AdjudicationDetailSerializer,
    )
    def get(self, request: Request, round_id: int, unit_id: int) -> Response:
        """Return one unit with the answers that count and the history of its decisions."""
        round, member = _round_of_curator(signed_in(request), round_id)
        filters = _validate(shapes.AdjudicationDetailFiltersSerializer, request.query_params)
        unit = unit_in(round, unit_id)
        # While the round is open, its annotators could read other answers before giving their own.
        actions.require_closed(round)
        detail = adjudication_queries.adjudication_detail(round, unit, asking=member, **filters.validated_data)
        return Response(shapes.AdjudicationDetailSerializer(detail).data)

    @extend_schema(
        operation_id="adjudication_decide",
        request=shapes.AdjudicationSerializer,
        responses={201: shapes.AdjudicatedSerializer},
    )
    def post(self, request: Request, round_id: int, unit_id: int) -> Response:
        """Take one of the answers, or write another value.

        Return 409 with the newer decision if another curator has decided the unit in the meantime.
        """
        round, member = _round_of_curator(signed_in(request), round_id)
        unit = unit_in(round, unit_id)
        fields = _validate(shapes.AdjudicationSerializer, request.data).of_kind(round)
        uuid = fields["uuid"]

        def work() -> Json:
            return actions.adjudicate(round=round, unit=unit, by=member, called=Names(member).of, batch=uuid, **fields)

        result = _run_once(request, fields, member, actions.DECIDE, work)
        return Response(shapes.AdjudicatedSerializer(result).data, status=CREATED)


class ReopenView(APIView):
    @extend_schema(
        operation_id="adjudication_reopen",
        request=shapes.ReopeningSerializer,
        responses={201: shapes.ReopenedSerializer},
    )
    def post(self, request: Request, round_id: int, unit_id: int) -> Response:
        """Undo the newest curator decision and return the unit to the queue. The history keeps all decisions."""
        round, member = _round_of_curator(signed_in(request), round_id)
        unit = unit_in(round, unit_id)
        fields = dict(_validate(shapes.ReopeningSerializer, request.data).validated_data)

        def work() -> Json:
            return actions.reopen(round=round, unit=unit, by=member, called=Names(member).of, **fields)

        result = _run_once(request, fields, member, actions.REOPEN, work)
        return Response(shapes.ReopenedSerializer(result).data, status=CREATED)


class UndoView(APIView):
    @extend_schema(
        operation_id="adjudication_undo", request=shapes.UndoingSerializer, responses={201: shapes.UndoneSerializer}
    )
    def post(self, request: Request, round_id: int) -> Response:
        """Undo one act, single or bulk, except for units that were decided again since then."""
        round, member = _round_of_curator(signed_in(request), round_id)
        fields = dict(_validate(shapes.UndoingSerializer, request.data).validated_data)

        def work() -> Json:
            return actions.undo(round=round, by=member, **fields)

        result = _run_once(request, fields, member, actions.UNDO, work)
        return Response(shapes.UndoneSerializer(result).data, status=CREATED)


class BulkView(APIView):
    @extend_schema(operation_id="adjudication_preview", responses=shapes.BulkPreviewSerializer)
    def get(self, request: Request, round_id: int) -> Response:
        """Count the contested units that each agreement threshold would decide. Nothing is decided."""
        round, _ = _round_of_curator(signed_in(request), round_id)
        return Response(shapes.BulkPreviewSerializer(adjudication_actions.preview(round)).data)

    @extend_schema(
        operation_id="adjudication_decide_at_once",
        request=shapes.BulkAdjudicationSerializer,
        responses={201: shapes.BulkDecidedSerializer},
    )
    def post(self, request: Request, round_id: int) -> Response:
        """Take the answer nearest to the others, for contested units with at least this agreement. This is one act."""
        round, member = _round_of_curator(signed_in(request), round_id)
        fields = dict(_validate(shapes.BulkAdjudicationSerializer, request.data).validated_data)
        fields["expected"] = fields.pop("units")
        # Read the candidates before the act's transaction, which blocks all other writers on SQLite.
        eligible = adjudication_actions.candidates(round)

        def work() -> Json:
            return adjudication_actions.adjudicate_bulk(round=round, eligible=eligible, by=member, **fields)

        result = _run_once(request, fields, member, actions.DECIDE, work)
        return Response(shapes.BulkDecidedSerializer(result).data, status=CREATED)


class GoldView(APIView):
    @extend_schema(operation_id="adjudication_gold", responses=shapes.GoldCountsSerializer)
    def get(self, request: Request, round_id: int) -> Response:
        """Count the units of a closed round that have gold and those that a curator can confirm."""
        round, _ = _round_of_curator(signed_in(request), round_id)
        return Response(shapes.GoldCountsSerializer(confirmation.count_confirmable(round)).data)

    @extend_schema(
        operation_id="adjudication_stand_behind",
        request=shapes.BulkConfirmationSerializer,
        responses={201: shapes.BulkDecidedSerializer},
    )
    def post(self, request: Request, round_id: int) -> Response:
        """Confirm the values on which annotators agreed. This is one act."""
        round, member = _round_of_curator(signed_in(request), round_id)
        fields = dict(_validate(shapes.BulkConfirmationSerializer, request.data).validated_data)
        fields["expected"] = fields.pop("units")

        def work() -> Json:
            return confirmation.confirm_agreed(round=round, by=member, **fields)

        result = _run_once(request, fields, member, actions.DECIDE, work)
        return Response(shapes.BulkDecidedSerializer(result).data, status=CREATED)


class OutcomesView(generics.ListAPIView[Answer]):
    permission_classes = GUESTS_TOO
    queryset = Answer.objects.none()
    serializer_class = shapes.OutcomeSerializer

    @extend_schema(operation_id="rounds_outcomes")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List a curator's decisions on the user's own answers in a closed round, with reasons.

        The list is empty if the project does not show adjudication.
        """
        round, member = round_of(signed_in(request), kwargs["round_id"])
        answers = gold_queries.answers(round, member)
        if since := answers_since(request):
            answers = answers.filter(received_at__gte=since)
        page = self.paginate_queryset(answers) or []
        return self.get_paginated_response(shapes.OutcomeSerializer(gold_queries.rows(round, page), many=True).data)
