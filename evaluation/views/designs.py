"""The design of rating rounds: seen before they open, and unblinded when they are closed."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.requests import signed_in
from api.problems import NotFound
from projects.actions.rounds import RoundPlan
from projects.models import Member
from projects.permissions import member_of, permit, round_of
from projects.serializers.rounds import RoundPlanSerializer

from ..actions.unblinding import unblind
from ..models import RatingDesign
from ..pages import designs
from ..serializers import designs as shapes

OPEN, READ = "open, change and close rounds", "read rounds"


def _design(request: Request, round_id: int, verb: str) -> tuple[RatingDesign, Member]:
    round, member = round_of(signed_in(request), round_id)
    permit(member, verb)
    found = RatingDesign.objects.filter(round=round).select_related("round__project", "version__protocol").first()
    if found is None:
        raise NotFound("No summaries are rated in this round.")
    return found, member


def _told(design: RatingDesign, member: Member) -> Response:
    return Response(shapes.RatingDesignSerializer(designs.after(design, member)).data)


class PlannedDesignView(APIView):
    @extend_schema(
        operation_id="rating_designs_plan", request=RoundPlanSerializer, responses=shapes.PlannedDesignSerializer
    )
    def post(self, request: Request, slug: str) -> Response:
        """What the design of a round with this plan would be, and how balanced it is. Opens nothing."""
        member = member_of(signed_in(request), slug)
        permit(member, OPEN)
        serializer = RoundPlanSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        made = designs.before(member.project, RoundPlan(**serializer.validated_data))
        return Response(shapes.PlannedDesignSerializer(made).data)


class RatingDesignView(APIView):
    @extend_schema(operation_id="rating_designs_get", responses=shapes.RatingDesignSerializer)
    def get(self, request: Request, round_id: int) -> Response:
        """The design of a round. Which text is whose is not in it."""
        return _told(*_design(request, round_id, READ))


class UnblindView(APIView):
    @extend_schema(operation_id="rating_designs_unblind", request=None, responses=shapes.RatingDesignSerializer)
    def post(self, request: Request, round_id: int) -> Response:
        """Tell which system wrote what, in a closed round. This cannot be taken back."""
        unblind(design=_design(request, round_id, OPEN)[0], by=signed_in(request))
        return _told(*_design(request, round_id, READ))
