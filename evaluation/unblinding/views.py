"""Views of rating designs: preview, read, and unblind."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from api.problems import NotFound
from evaluation.models import RatingDesign
from evaluation.unblinding import queries as unblinding_queries
from evaluation.unblinding.actions import unblind
from projects.models import Member
from projects.permissions import member_of, permit, round_of
from projects.rounds.plan_serializers import RoundPlanSerializer
from projects.rounds.planning import RoundPlan

Plain = serializers.Serializer[Any]


class DesignCountsSerializer(Plain):
    sources = serializers.IntegerField()
    pages = serializers.IntegerField()
    texts = serializers.IntegerField(help_text="Distinct texts. Equal texts of several systems are rated once.")
    checks = serializers.IntegerField(help_text="Attention checks: pages with a degraded text.")
    left_out = serializers.IntegerField(help_text="Selected sources that lack a text of a system.")
    alike = serializers.IntegerField(help_text="Pairs of equal texts, which are not compared.")
    lowered = serializers.BooleanField(
        help_text="Whether only sentence starts have capitals, because one system writes without capitals."
    )
    systems = serializers.ListField(child=serializers.CharField())


class SidesSerializer(Plain):
    left = serializers.IntegerField()
    right = serializers.IntegerField()


class CertainSerializer(Plain):
    least = serializers.IntegerField()
    most = serializers.IntegerField()


class DesignBalanceSerializer(Plain):
    """How often each system has each position and follows each other system; for pairs, its sides and opponents.

    This is an example drawn by the seed alone. A round also uses a secret.
    """

    certain = CertainSerializer(
        allow_null=True,
        help_text="Bounds on how often each system is shown at each position, for any draw. Null if there are none.",
    )

    systems = serializers.ListField(child=serializers.CharField())
    pages = serializers.IntegerField(required=False)
    positions = serializers.ListField(child=serializers.ListField(child=serializers.IntegerField()), required=False)
    transitions = serializers.ListField(child=serializers.ListField(child=serializers.IntegerField()), required=False)
    pairs = serializers.ListField(child=serializers.ListField(child=serializers.IntegerField()), required=False)
    sides = SidesSerializer(many=True, required=False)


class PlannedDesignSerializer(DesignCountsSerializer):
    balance = DesignBalanceSerializer()


class DesignProtocolSerializer(Plain):
    id = serializers.IntegerField()
    version = serializers.IntegerField()
    name = serializers.CharField()
    number = serializers.IntegerField()


class RatingDesignSerializer(DesignCountsSerializer):
    texts = serializers.IntegerField(allow_null=True, help_text="Null if the user rates one of the systems blindly.")
    alike = serializers.IntegerField(allow_null=True, help_text="Null if the user rates one of the systems blindly.")
    digest = serializers.CharField()
    secret = serializers.CharField(
        help_text="Secret from which, with the seed, the order of texts was drawn. Empty before unblinding, and in "
        "rounds without one."
    )
    protocol = DesignProtocolSerializer()
    unblinded_at = serializers.DateTimeField(allow_null=True)
    unblinded_by = serializers.CharField(
        help_text="Empty if the round is not unblinded, or if the reader cannot see names."
    )
    embargoed_runs = serializers.IntegerField(help_text="Number of runs that blind rounds still keep under embargo.")


OPEN, READ = "open, change and close rounds", "read rounds"


def _design(request: Request, round_id: int, verb: str) -> tuple[RatingDesign, Member]:
    round, member = round_of(signed_in(request), round_id)
    permit(member, verb)
    found = RatingDesign.objects.filter(round=round).select_related("round__project", "version__protocol").first()
    if found is None:
        raise NotFound("This is not a rating round.")
    return found, member


def _told(design: RatingDesign, member: Member) -> Response:
    return Response(RatingDesignSerializer(unblinding_queries.after(design, member)).data)


class PlannedDesignView(APIView):
    @extend_schema(operation_id="rating_designs_plan", request=RoundPlanSerializer, responses=PlannedDesignSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Return the design of a planned round and its balance. Opens nothing."""
        member = member_of(signed_in(request), slug)
        permit(member, OPEN)
        serializer = RoundPlanSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        made = unblinding_queries.before(member.project, RoundPlan(**serializer.validated_data), member)
        return Response(PlannedDesignSerializer(made).data)


class RatingDesignView(APIView):
    @extend_schema(operation_id="rating_designs_get", responses=RatingDesignSerializer)
    def get(self, request: Request, round_id: int) -> Response:
        """Return the design of a round. It does not show which system wrote which text."""
        return _told(*_design(request, round_id, READ))


class UnblindView(APIView):
    @extend_schema(operation_id="rating_designs_unblind", request=None, responses=RatingDesignSerializer)
    def post(self, request: Request, round_id: int) -> Response:
        """Unblind a closed round, so that results show which system wrote each text. This cannot be undone."""
        unblind(design=_design(request, round_id, OPEN)[0], by=signed_in(request))
        return _told(*_design(request, round_id, READ))
