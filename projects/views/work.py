"""The only views of the loop: the hand, the answer, and the last answers (docs/tour.md follows one request)."""

import hashlib
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.permissions import GUESTS_TOO
from accounts.requests import by_token, signed_in
from api.problems import Refused

from .. import cards, kinds, progress
from ..actions import answers
from ..actions.answers import Submission
from ..models import Answer, CameBy, Outcome
from ..permissions import round_at_work
from ..serializers import work as shapes

LAST = 10


class HandSerializer(shapes.Plain):
    """The hand: which assignments, in order, and the cards that the client does not hold yet."""

    hand = serializers.ListField(child=serializers.IntegerField())
    fetched = serializers.SerializerMethodField()

    @extend_schema_field(shapes.Cards)
    def get_fetched(self, _: Any) -> Any:
        """For the schema only: cards are built by their kind."""


class ProgressSerializer(shapes.Plain):
    done = serializers.IntegerField()
    total = serializers.IntegerField(allow_null=True, help_text="Known where slots were dealt.")


class NextSerializer(HandSerializer):
    progress = ProgressSerializer()


class StoredSerializer(shapes.Plain):
    """What was stored; ``counted`` is False for surplus, a late answer to a slot that another person has now."""

    uuid = serializers.UUIDField()
    assignment = serializers.IntegerField()
    revision = serializers.IntegerField()
    outcome = serializers.ChoiceField(choices=Outcome.choices)
    received_at = serializers.DateTimeField()
    counted = serializers.BooleanField()


class SubmittedSerializer(HandSerializer):
    answer = StoredSerializer()


class RecentSerializer(shapes.Plain):
    cards = serializers.SerializerMethodField()

    @extend_schema_field(shapes.Cards)
    def get_cards(self, _: Any) -> Any:
        """For the schema only: cards are built by their kind."""


class NextView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(
        operation_id="work_next",
        parameters=[OpenApiParameter("have", OpenApiTypes.STR, description="Assignments held, comma-separated.")],
        responses=NextSerializer,
    )
    def get(self, request: Request, round_id: int) -> Response:
        """The hand, renewed and topped up. Idempotent: repeating it claims nothing more."""
        user = signed_in(request)
        round = round_at_work(user, round_id)
        hand = answers.next_hand(user=user, round=round)
        done = progress.of_person(round, answers.participant_of(user, round))
        return Response(cards.reply(round, hand, have=_ids(request)) | {"progress": done})


class AnswerView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(
        operation_id="work_answer",
        request=shapes.Submission,
        responses={200: SubmittedSerializer, 201: SubmittedSerializer},
    )
    def put(self, request: Request, answer_uuid: UUID) -> Response:
        """Store one answer; the reply carries the hand, so that a working annotator makes one request a unit."""
        answers.refuse_faster(signed_in(request))
        digest = hashlib.sha256(request.body).hexdigest()
        came_by = CameBy.TOKEN if by_token(request) else CameBy.BROWSER
        submission, have = _submission(request.data, answer_uuid, digest, came_by)
        done = answers.submit(user=signed_in(request), submission=submission)
        body = cards.reply(done.answer.assignment.round, done.hand, have=have) | {"answer": _stored(done.answer)}
        return Response(body, status=201 if done.new else 200)


class RecentView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(operation_id="work_recent", responses=RecentSerializer)
    def get(self, request: Request, round_id: int) -> Response:
        """The person's last ten answers, newest first, ready to be reopened."""
        user = signed_in(request)
        round = round_at_work(user, round_id)
        return Response({"cards": cards.recent(round, answers.participant_of(user, round).member, LAST)})


def _ids(request: Request) -> list[int]:
    given = request.query_params.get("have", "")
    if not all(part.isascii() and part.isdigit() and len(part) < 19 for part in given.split(",") if part):
        raise Refused.field("have", "Assignment ids, separated by commas.")
    return [int(part) for part in given.split(",") if part]


def _submission(data: Any, uuid: UUID, digest: str, came_by: CameBy) -> tuple[Submission, Iterable[int]]:
    """Validate a submission by the serializer of its kind."""
    if not isinstance(data, dict):
        raise Refused("A submission is a JSON object.")
    check = shapes.CHECKS.get(str(data.get("kind")))
    if check is None:
        raise Refused.field("kind", f"One of {', '.join(kind.key for kind in kinds.all_kinds())}.")
    fields = dict(check.run_validation(data))
    have = fields.pop("have")
    return Submission(uuid=uuid, digest=digest, came_by=came_by, **fields), have


def _stored(answer: Answer) -> dict[str, Any]:
    return {
        "uuid": str(answer.uuid),
        "assignment": answer.assignment_id,
        "revision": answer.revision,
        "outcome": answer.outcome,
        "received_at": answer.received_at,
        "counted": not answer.assignment.is_retired,
    }
