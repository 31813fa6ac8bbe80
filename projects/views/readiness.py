"""What comes before a round's first unit, and how people fare in practice."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.permissions import GUESTS_TOO
from accounts.requests import signed_in
from api.fields import LARGEST, Strict

from ..actions import practising
from ..actions.answers import participant_of
from ..actions.readiness import answer_questions, let_in
from ..permissions import member_to, permit, round_at_work, round_of
from ..rounds import practice, readiness
from .work import AttemptSerializer, PracticeSerializer

Plain = serializers.Serializer[Any]


class PersonPracticeSerializer(Plain):
    member = serializers.IntegerField()
    pseudonym = serializers.CharField()
    name = serializers.CharField()
    attempts = AttemptSerializer(many=True)
    passed = serializers.BooleanField()


class AskedQuestionSerializer(Plain):
    question = serializers.CharField()
    options = serializers.ListField(child=serializers.CharField())
    chosen = serializers.IntegerField(allow_null=True, help_text="In the last try.")
    right = serializers.BooleanField(allow_null=True, help_text="Whether that was right.")
    explanation = serializers.CharField(allow_blank=True, help_text="Told when it gives nothing away.")


class QuestionsSerializer(Plain):
    state = serializers.ChoiceField(choices=readiness.STATES)
    tries_left = serializers.IntegerField()
    questions = AskedQuestionSerializer(many=True)


class ChosenSerializer(Strict):
    chosen = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=5),
        max_length=30,
        help_text="The option of each question.",
    )


class PersonQuestionsSerializer(Plain):
    member = serializers.IntegerField()
    pseudonym = serializers.CharField()
    name = serializers.CharField()
    of = serializers.IntegerField(help_text="How many questions there are.")
    tries = serializers.ListField(child=serializers.IntegerField(), help_text="How many were right, try by try.")
    passed = serializers.BooleanField()
    practice = serializers.ChoiceField(
        choices=readiness.STATES, allow_null=True,
        help_text="How far the person is with the required practice; null where the round requires none.",
    )  # fmt: skip
    admitted = serializers.BooleanField(help_text="The lead let the person in.")
    waits_for_lead = serializers.BooleanField(help_text="The person can do no more, unless a lead lets them in.")


class AdmissionSerializer(Strict):
    member = serializers.IntegerField(min_value=1, max_value=LARGEST)
    reason = serializers.CharField(max_length=2000, allow_blank=True, default="")


class PracticePeopleView(APIView):
    @extend_schema(operation_id="practice_people", responses=PersonPracticeSerializer(many=True))
    def get(self, request: Request, round_id: int) -> Response:
        """How the people of a practice round fare; empty for a round of another purpose."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, "see who answered what")
        return Response(practice.of_everyone(round) if round.meaning.gives_feedback else [])


class PracticeView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(operation_id="practice_again", request=None, responses=PracticeSerializer)
    def post(self, request: Request, round_id: int) -> Response:
        """Begin a second attempt at all units, where the lead allows one and the first was no pass."""
        user = signed_in(request)
        round = round_at_work(user, round_id)
        member = participant_of(user, round).member
        practising.begin_again(round=round, user=user)
        return Response(practice.of_person(round, member))


class QuestionsView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(operation_id="questions_get", responses=QuestionsSerializer)
    def get(self, request: Request, round_id: int) -> Response:
        """The guideline's questions as the person is asked them, and what came of the tries so far."""
        user = signed_in(request)
        round = round_at_work(user, round_id)
        return Response(readiness.questions_for(round, participant_of(user, round).member))

    @extend_schema(operation_id="questions_answer", request=ChosenSerializer, responses=QuestionsSerializer)
    def post(self, request: Request, round_id: int) -> Response:
        """One try at all questions."""
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
        """How far each person is with what comes before the first unit (questions, practice), and who was let in."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, "see who answered what")
        asks = round.asks_questions or round.requires_practice_id is not None
        return Response(readiness.of_everyone(round) if asks else [])

    @extend_schema(operation_id="admissions_add", request=AdmissionSerializer, responses={204: None})
    def post(self, request: Request, round_id: int) -> Response:
        """Let a person work in the round who has no try at the questions, or no attempt at the practice, left."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, "open, change and close rounds")
        body = AdmissionSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        person = member_to(round.project, body.validated_data["member"])
        let_in(round=round, member=person, reason=body.validated_data["reason"], by=member.user)
        return Response(status=status.HTTP_204_NO_CONTENT)
