"""API of the accuracy of people on returning gold items."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from api.problems import Conflict

from ..permissions import member_to, permit, round_of
from . import actions as drift_actions
from .queries import accuracy_of
from .serializers import OpenedPracticeSerializer, RoundAccuracySerializer


class AccuracyView(APIView):
    @extend_schema(operation_id="rounds_accuracy", responses=RoundAccuracySerializer)
    def get(self, request: Request, round_id: int) -> Response:
        """Return the accuracy of each person on the returning gold items of a round, with speed, values and pauses."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, "see who answered what")
        accuracy = accuracy_of(round)
        if accuracy is None:
            raise Conflict("This round has no returning gold items.")
        return Response(RoundAccuracySerializer(accuracy).data)


class AccuracyPracticeView(APIView):
    @extend_schema(operation_id="rounds_accuracy_practice", request=None, responses={201: OpenedPracticeSerializer})
    def post(self, request: Request, round_id: int, member_id: int) -> Response:
        """Open a practice round for a person with a current warning."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, "open, change and close rounds")
        person = member_to(round.project, member_id)
        practice = drift_actions.open_practice(round=round, member=person, by=member.user)
        return Response({"round": practice.pk, "name": practice.name}, status=status.HTTP_201_CREATED)
