"""API views of guideline versions."""

from django.db.models import Max, Q, QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import query_parameter, signed_in

from .. import purposes
from ..concerns.queries import GuidelineChange, count_affected
from ..models import Guideline, Round
from ..permissions import guideline_to, may, member_of, permit
from . import markdown
from .actions import checked_concerns, write_guideline
from .serializers import (
    AffectedSerializer,
    GuidelineRowSerializer,
    GuidelineSerializer,
    NewGuidelineSerializer,
    PlannedChangeSerializer,
    PreviewedSerializer,
    PreviewSerializer,
)

KIND = OpenApiParameter("kind", OpenApiTypes.STR, description="Return only guidelines of this task kind.")


@extend_schema_view(
    get=extend_schema(
        operation_id="guidelines_list", parameters=[KIND], description="List guideline versions, newest first."
    )
)
class GuidelinesView(generics.ListAPIView[Guideline]):
    serializer_class = GuidelineRowSerializer
    queryset = Guideline.objects.none()

    def get_queryset(self) -> QuerySet[Guideline]:
        guidelines = member_of(signed_in(self.request), self.kwargs["slug"]).project.guidelines.defer("text")
        kind = query_parameter(self.request, "kind")
        in_use = Q(rounds__status=Round.Status.OPEN) & ~Q(rounds__purpose__in=purposes.which("holds_edits"))
        guidelines = guidelines.annotate(in_use_since=Max("rounds__opened_at", filter=in_use))
        return (guidelines.filter(kind=kind) if kind else guidelines).order_by("kind", "-number")

    @extend_schema(
        operation_id="guidelines_write", request=NewGuidelineSerializer, responses={201: GuidelineSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Write the next version of a kind's guideline."""
        member = member_of(signed_in(request), slug)
        permit(member, "write guidelines")
        body = NewGuidelineSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        guideline = write_guideline(project=member.project, by=member.user, **body.validated_data)
        return Response(GuidelineSerializer(guideline, context={"writes": True}).data, status=status.HTTP_201_CREATED)


class GuidelineView(APIView):
    @extend_schema(operation_id="guidelines_get", responses=GuidelineSerializer)
    def get(self, request: Request, slug: str, guideline_id: int) -> Response:
        """Return one guideline version, as text and as HTML."""
        member = member_of(signed_in(request), slug)
        guideline = guideline_to(member.project, guideline_id)
        context = {"writes": may(member, "write guidelines")}
        return Response(GuidelineSerializer(guideline, context=context).data)


class PreviewView(APIView):
    @extend_schema(operation_id="guidelines_preview", request=PreviewSerializer, responses=PreviewedSerializer)
    def post(self, request: Request) -> Response:
        """Render Markdown as a guideline would show it. Nothing is stored."""
        body = PreviewSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return Response({"html": markdown.as_html(body.validated_data["text"])})


class PlannedChangeView(APIView):
    @extend_schema(operation_id="guidelines_affected", request=PlannedChangeSerializer, responses=AffectedSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Count the units that the next version of a guideline would concern. Nothing is stored."""
        member = member_of(signed_in(request), slug)
        permit(member, "write guidelines")
        body = PlannedChangeSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        kind, scope = body.validated_data["kind"], body.validated_data["scope"]
        concerns = checked_concerns(kind, scope, body.validated_data.get("concerns", []))
        change = GuidelineChange.planned(member.project, kind, scope, concerns)
        return Response(AffectedSerializer(count_affected(change)).data)
