"""API for new suggestions: what can make them, what would leave the server, and the job."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from api.fields import ReasonField
from api.parameters import ParameterSerializer
from projects.jobs.serializers import JobSerializer
from projects.jobs.views import accepted
from projects.models import Member, SuggestionSource
from projects.permissions import member_of, permit

from .. import permissions
from ..project_endpoints.serializers import EndpointSerializer
from . import actions, queries
from .actions import SuggestionRequest

Plain = serializers.Serializer[Any]
CHANGE = "open, change and close rounds"
SOURCES = [SuggestionSource.CHAT, SuggestionSource.READINGS]


class SuggestingTaskSerializer(Plain):
    key = serializers.CharField()
    title = serializers.CharField()
    options = ParameterSerializer(many=True)


class SuggestingReadingSerializer(Plain):
    kind = serializers.CharField()
    imported = serializers.IntegerField(help_text="Import of the readings.")
    name = serializers.CharField(help_text="Name of the file, or of the model's folder.")


class SuggestionResultSerializer(Plain):
    set = serializers.IntegerField()
    name = serializers.CharField()
    units = serializers.IntegerField()
    valid = serializers.IntegerField()
    forbidden = serializers.IntegerField(help_text="Units whose licence forbids to send their texts.")


class SuggestingSerializer(Plain):
    tasks = SuggestingTaskSerializer(many=True)
    readings = SuggestingReadingSerializer(many=True)
    folders = serializers.ListField(child=serializers.CharField(), help_text="Folders below the models folder.")
    endpoints = EndpointSerializer(many=True, help_text="Empty if the user may not see endpoints now.")
    last_result = SuggestionResultSerializer(allow_null=True)
    job = JobSerializer(allow_null=True, help_text="The newest job, unless it succeeded.")


class SuggestionRequestSerializer(Plain):
    kind = serializers.CharField(max_length=30)
    name = serializers.CharField(max_length=80)
    source = serializers.ChoiceField(choices=[(one.value, one.label) for one in SOURCES])  # type: ignore[assignment]
    model = serializers.CharField(
        max_length=200, default="", allow_blank=True, help_text="A folder, or a model of the endpoint."
    )
    endpoint = serializers.CharField(
        max_length=40, default="", allow_blank=True, help_text="Name of an endpoint; empty for a model that runs here."
    )
    imported = serializers.IntegerField(default=None, allow_null=True, help_text="For machine readings: their import.")
    instruction = serializers.CharField(
        max_length=5000, default="", allow_blank=True, help_text="Added to the prompt after the guideline."
    )
    options = serializers.DictField(child=serializers.JSONField(allow_null=True), default=dict)
    filters = serializers.DictField(child=serializers.JSONField(allow_null=True), default=dict)
    sample = serializers.IntegerField(min_value=1, default=None, allow_null=True)
    seed = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=1)
    temperature = serializers.FloatField(min_value=0, max_value=2, default=0.0)
    max_tokens = serializers.IntegerField(min_value=16, max_value=8192, default=512)
    reason = ReasonField(
        max_length=500, default="", allow_blank=True, help_text="Why texts of unknown licence may leave the server."
    )


class OutgoingSerializer(Plain):
    """What a request would do, without starting it."""

    units = serializers.IntegerField()
    host = serializers.CharField(allow_blank=True, help_text="Host that receives the texts; empty if none leaves.")
    allowed = serializers.IntegerField(help_text="Units whose licence allows to send their texts.")
    unknown = serializers.IntegerField(help_text="Units whose licence is unknown; they need a reason.")
    forbidden = serializers.IntegerField(help_text="Units that are left out.")


def _request(request: Request, slug: str) -> tuple[Member, SuggestionRequest]:
    member = member_of(signed_in(request), slug)
    permit(member, CHANGE)
    body = SuggestionRequestSerializer(data=request.data)
    body.is_valid(raise_exception=True)
    asked = SuggestionRequest(**body.validated_data)
    if asked.endpoint:
        permissions.require_endpoints(member)
    return member, asked


class SuggestingView(APIView):
    @extend_schema(operation_id="suggestions_choices", responses=SuggestingSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return the tasks, models, readings and endpoints that can make suggestions, and the newest job."""
        member = member_of(signed_in(request), slug)
        permit(member, CHANGE)
        return Response(SuggestingSerializer(queries.choices(member.project, member)).data)

    @extend_schema(operation_id="suggestions_make", request=SuggestionRequestSerializer, responses={202: JobSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Start the job that makes a set of suggestions. The same request continues a job that was stopped."""
        member, asked = _request(request, slug)
        return accepted(actions.queue_suggestions(project=member.project, request=asked, by=member.user))


class OutgoingView(APIView):
    @extend_schema(
        operation_id="suggestions_outgoing", request=SuggestionRequestSerializer, responses=OutgoingSerializer
    )
    def post(self, request: Request, slug: str) -> Response:
        """Return how many units a request asks about, and which texts would leave the server. Starts nothing."""
        member, asked = _request(request, slug)
        return Response(OutgoingSerializer(actions.preview(member.project, asked)).data)
