"""*My work*: the rounds in which the signed-in person works."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.permissions import GUESTS_TOO
from accounts.requests import signed_in

from ..pages import progress
from ..serializers.rounds import WorkRowSerializer


class MyWorkView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(operation_id="my_work", responses=WorkRowSerializer(many=True))
    def get(self, request: Request) -> Response:
        """Rounds, open ones first, with what is left, done today and time spent."""
        return Response(progress.my_work(signed_in(request), now=timezone.now()))
