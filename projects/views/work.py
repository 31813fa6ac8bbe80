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

from .. import kinds
from ..actions import answers
from ..models import Answer, CameBy, Outcome
from ..pages import progress
from ..permissions import round_at_work
from ..rounds import cards, practice, readiness
from ..rounds.submission import Submission
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


class AttemptSerializer(shapes.Plain):
    """One walk through the units of a practice round."""

    number = serializers.IntegerField()
    units = serializers.IntegerField()
    done = serializers.IntegerField(help_text="Answered, and right or without a try left.")
    right = serializers.IntegerField(help_text="Right in the last try.")
    is_done = serializers.BooleanField()
    passed = serializers.BooleanField()


class OpensSerializer(shapes.Plain):
    id = serializers.IntegerField()
    name = serializers.CharField()


class PracticeSerializer(shapes.Plain):
    attempts = AttemptSerializer(many=True)
    passed = serializers.BooleanField()
    pass_mark = serializers.IntegerField(help_text="Percent of the units.")
    may_begin_again = serializers.BooleanField()
    opens = OpensSerializer(many=True, help_text="Open rounds that the person works in and that ask for this practice.")


class NextSerializer(HandSerializer):
    progress = ProgressSerializer()
    first = shapes.FirstSerializer(
        allow_null=True, help_text="Nothing is dealt before it is done; null where nothing is."
    )
    practice = PracticeSerializer(allow_null=True, help_text="In a practice round, how the person fares.")


class StoredSerializer(shapes.Plain):
    """What was stored; ``counted`` is False for surplus, a late answer to a slot that another person has now."""

    uuid = serializers.UUIDField()
    assignment = serializers.IntegerField()
    revision = serializers.IntegerField()
    outcome = serializers.ChoiceField(choices=Outcome.choices)
    received_at = serializers.DateTimeField()
    counted = serializers.BooleanField()


class FieldFeedbackSerializer(shapes.Plain):
    field = serializers.CharField()
    right = serializers.BooleanField()
    said = serializers.CharField(allow_blank=True)
    expected = serializers.CharField(allow_null=True, allow_blank=True, help_text="Null while there is a try left.")
    reason = serializers.CharField(allow_blank=True, help_text="Why a curator decided so.")
    heading = serializers.CharField(allow_blank=True, help_text="Of the guideline, where the field is explained.")


class FeedbackSerializer(shapes.Plain):
    right = serializers.BooleanField()
    tries_left = serializers.IntegerField()
    fields = FieldFeedbackSerializer(many=True)  # type: ignore[assignment]


class SubmittedSerializer(HandSerializer):
    answer = StoredSerializer()
    feedback = FeedbackSerializer(allow_null=True, help_text="In a practice round: what was expected.")


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
        participant = answers.participant_of(user, round)
        done = progress.of_person(round, participant)
        first = readiness.before(round, participant.member)
        fares = practice.of_person(round, participant.member) if round.meaning.gives_feedback else None
        body = cards.reply(round, hand, have=_ids(request))
        return Response(body | {"progress": done, "first": first, "practice": fares})


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
        round = done.answer.assignment.round
        told = practice.feedback(round, done.answer) if round.meaning.gives_feedback else None
        body = cards.reply(round, done.hand, have=have) | {"answer": _stored(done.answer), "feedback": told}
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
