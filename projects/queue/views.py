"""Views of the annotation loop: held assignments, answers and recent answers (docs/tour.md follows one request)."""

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

from accounts.permissions import GUESTS_TOO, Scope
from accounts.sessions import answers_since, signed_in, uses_api_token
from api.problems import Refused

from .. import kinds
from ..answers.queries import Submission
from ..models import Answer, CameBy, Outcome
from ..permissions import round_at_work
from ..practice import queries as practice_queries
from ..practice import readiness
from ..practice.participants import participant_of
from ..practice.serializers import FeedbackSerializer, OwnAccuracySerializer, PracticeSerializer
from ..practice.warnings import warnings_of_user
from . import actions as queue_actions
from . import queries as queue_queries
from . import serializers as shapes
from .queries import of_person

LAST = 10
Plain = serializers.Serializer[Any]


class HeldSerializer(Plain):
    """The held assignments in order, and the cards that the client does not have yet."""

    held = serializers.ListField(child=serializers.IntegerField())
    fetched = serializers.SerializerMethodField()

    @extend_schema_field(shapes.Cards)
    def get_fetched(self, _: Any) -> Any:
        """For the schema only: kinds build the cards."""


class ProgressSerializer(Plain):
    done = serializers.IntegerField()
    total = serializers.IntegerField(help_text="Units of the person; in a shared queue, units of the round.")
    is_upper_bound = serializers.BooleanField(help_text="Others may answer some of these units first.")


class NextSerializer(HeldSerializer):
    progress = ProgressSerializer()
    prerequisite = shapes.PrerequisiteSerializer(
        allow_null=True,
        help_text="Prerequisite that the person must meet before receiving assignments; null if there is none.",
    )
    practice = PracticeSerializer(
        allow_null=True, help_text="The person's attempts in a practice round; null in other rounds."
    )
    accuracy = OwnAccuracySerializer(
        allow_null=True, help_text="The person's current warning about accuracy; null if there is none."
    )


class StoredSerializer(Plain):
    """The stored answer. ``counted`` is False for a late answer, whose assignment another person has now."""

    uuid = serializers.UUIDField()
    assignment = serializers.IntegerField()
    revision = serializers.IntegerField()
    outcome = serializers.ChoiceField(choices=Outcome.choices)
    received_at = serializers.DateTimeField()
    counted = serializers.BooleanField()


class SubmittedSerializer(HeldSerializer):
    answer = StoredSerializer()
    feedback = FeedbackSerializer(
        allow_null=True, help_text="Feedback on the answer in a practice round; null in other rounds."
    )


class RecentSerializer(Plain):
    cards = serializers.SerializerMethodField()

    @extend_schema_field(shapes.Cards)
    def get_cards(self, _: Any) -> Any:
        """For the schema only: kinds build the cards."""


class NextView(APIView):
    read_scope = Scope.ANNOTATE  # reading leases assignments

    permission_classes = GUESTS_TOO

    @extend_schema(
        operation_id="work_next",
        parameters=[
            OpenApiParameter(
                "have",
                OpenApiTypes.STR,
                description="Ids of the assignments whose cards the client has, separated by commas.",
            )
        ],
        responses=NextSerializer,
    )
    def get(self, request: Request, round_id: int) -> Response:
        """Return the held assignments, renewed and topped up. Idempotent: a repeated request claims no more."""
        user = signed_in(request)
        round = round_at_work(user, round_id)
        held = queue_actions.next_assignments(user=user, round=round)
        participant = participant_of(user, round)
        done = of_person(round, participant)
        prerequisite = readiness.open_prerequisite(round, participant.member)
        own_practice = practice_queries.of_person(round, participant.member) if round.meaning.gives_feedback else None
        body = queue_queries.reply(round, held, have=_ids(request))
        accuracy = warnings_of_user([round], user).get(round.pk)
        extra = {"progress": done, "prerequisite": prerequisite, "practice": own_practice, "accuracy": accuracy}
        return Response(body | extra)


class AnswerView(APIView):
    write_scope = Scope.ANNOTATE

    permission_classes = GUESTS_TOO

    @extend_schema(
        operation_id="work_answer",
        request=shapes.Submission,
        responses={200: SubmittedSerializer, 201: SubmittedSerializer},
    )
    def put(self, request: Request, answer_uuid: UUID) -> Response:
        """Store one answer.

        The reply contains the held assignments, so a working annotator needs one request per unit.
        """
        queue_actions.check_answer_rate(signed_in(request))
        digest = hashlib.sha256(request.body).hexdigest()
        came_by = CameBy.TOKEN if uses_api_token(request) else CameBy.BROWSER
        submission, have = _submission(request.data, answer_uuid, digest, came_by)
        if since := answers_since(request):
            queue_queries.refuse_earlier(submission, since)
        done = queue_actions.submit(user=signed_in(request), submission=submission)
        round = done.answer.assignment.round
        feedback = practice_queries.feedback(round, done.answer) if round.meaning.gives_feedback else None
        body = queue_queries.reply(round, done.held, have=have) | {"answer": _stored(done.answer), "feedback": feedback}
        return Response(body, status=201 if done.new else 200)


class RecentView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(operation_id="work_recent", responses=RecentSerializer)
    def get(self, request: Request, round_id: int) -> Response:
        """Return the person's last ten answers, newest first, ready for editing."""
        user = signed_in(request)
        round = round_at_work(user, round_id)
        member, since = participant_of(user, round).member, answers_since(request)
        return Response({"cards": queue_queries.recent(round, member, LAST, since=since)})


def _ids(request: Request) -> list[int]:
    raw_ids = request.query_params.get("have", "")
    if not all(part.isascii() and part.isdigit() and len(part) < 19 for part in raw_ids.split(",") if part):
        raise Refused.field("have", "Expected assignment ids, separated by commas.")
    return [int(part) for part in raw_ids.split(",") if part]


def _submission(data: Any, uuid: UUID, digest: str, came_by: CameBy) -> tuple[Submission, Iterable[int]]:
    """Validate a submission with the serializer of its kind."""
    if not isinstance(data, dict):
        raise Refused("A submission must be a JSON object.")
    check = shapes.CHECKS.get(str(data.get("kind")))
    if check is None:
        raise Refused.field(
            "kind", f"Unknown task kind. Expected one of: {', '.join(kind.key for kind in kinds.all_kinds())}."
        )
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
