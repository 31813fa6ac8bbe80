from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from api.problems import Conflict

from ..models import Round
from ..permissions import permit, round_of
from . import reach
from . import serializers as shapes


class PilotView(APIView):
    @extend_schema(
        operation_id="rounds_as_pilot", parameters=[shapes.PilotQuerySerializer], responses=shapes.PilotSerializer
    )
    def get(self, request: Request, round_id: int) -> Response:
        """Return the measures of a round on which another round can have a bar, and how a bar can be reached.

        Figures of an open round are not read.
        """
        round, member = round_of(signed_in(request), round_id)
        permit(member, "open, change and close rounds")
        permit(member, "see who answered what")
        if round.status == Round.Status.PREPARING:
            raise Conflict("The round is not open yet.")
        query = shapes.PilotQuerySerializer(data=request.query_params.dict())
        query.is_valid(raise_exception=True)
        return Response(shapes.PilotSerializer(reach.pilot_page(round, **query.validated_data)).data)
