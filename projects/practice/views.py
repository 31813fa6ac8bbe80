"""API of prerequisites and practice results."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.permissions import GUESTS_TOO
from accounts.sessions import signed_in

from ..permissions import member_to, permit, round_at_work, round_of
from . import actions as practice_actions
from . import queries as practice_queries
from . import readiness
from .actions import admit, answer_questions
from .participants import participant_of
from .serializers import (
    AdmissionSerializer,
    ChosenSerializer,
    PersonPracticeSerializer,
    PersonQuestionsSerializer,
    PracticeSerializer,
    QuestionsSerializer,
)

Plain = serializers.Serializer[Any]


class PracticePeopleView(APIView):
    @extend_schema(operation_id="practice_people", responses=PersonPracticeSerializer(many=True))
    def get(self, request: Request, round_id: int) -> Response:
        """Return the results of a practice round by person. Empty for rounds of other purposes."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, "see who answered what")
        return Response(practice_queries.of_everyone(round) if round.meaning.gives_feedback else [])


class PracticeView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(operation_id="practice_again", request=None, responses=PracticeSerializer)
    def post(self, request: Request, round_id: int) -> Response:
        """Start another attempt at all units, if the lead allows one and the last one was failed."""
        user = signed_in(request)
        round = round_at_work(user, round_id)
        member = participant_of(user, round).member
        practice_actions.start_attempt(round=round, user=user)
        return Response(practice_queries.of_person(round, member))


class QuestionsView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(operation_id="questions_get", responses=QuestionsSerializer)
    def get(self, request: Request, round_id: int) -> Response:
        """Return the guideline's questions as the person sees them, and the results of earlier tries."""
        user = signed_in(request)
        round = round_at_work(user, round_id)
        return Response(readiness.questions_for(round, participant_of(user, round).member))

    @extend_schema(operation_id="questions_answer", request=ChosenSerializer, responses=QuestionsSerializer)
    def post(self, request: Request, round_id: int) -> Response:
        """Answer all questions. This uses one try."""
        user = signed_in(request)
        round = round_at_work(user, round_id)
        body = ChosenSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        member = participant_of(user, round).member
        answer_questions(round=round, member=member, **body.validated_data)
        return Response(readiness.questions_for(round, member))


class AdmissionsView(APIView):
    @extend_schema(operation_id="admissions_list", responses=PersonQuestionsSerializer(many=True))
    def get(self, request: Request, round_id: int) -> Response:
        """Return each person's prerequisites (questions, practice), and who was admitted."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, "see who answered what")
        asks = round.asks_questions or round.requires_practice_id is not None
        return Response(readiness.of_everyone(round) if asks else [])

    @extend_schema(operation_id="admissions_add", request=AdmissionSerializer, responses={204: None})
    def post(self, request: Request, round_id: int) -> Response:
        """Admit a person who has no question tries or practice attempts left."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, "open, change and close rounds")
        body = AdmissionSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        person = member_to(round.project, body.validated_data["member"])
        admit(round=round, member=person, reason=body.validated_data["reason"], by=member.user)
        return Response(status=status.HTTP_204_NO_CONTENT)
