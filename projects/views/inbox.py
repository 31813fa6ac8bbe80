"""What people raised and what was said to it, and the overview of a project's rounds."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.permissions import GUESTS_TOO
from accounts.requests import signed_in

from ..actions.remarks import remark
from ..models import Answer
from ..pages import inbox, steps
from ..pages.overview import overview
from ..permissions import answer_of, may, member_of, permit, round_of
from ..serializers import inbox as shapes
from ..serializers.steps import WaySerializer


class InboxView(generics.ListAPIView[Answer]):
    queryset = Answer.objects.none()
    serializer_class = shapes.InboxItemSerializer

    @extend_schema(operation_id="inbox_list", parameters=[shapes.InboxFiltersSerializer])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Answers that flag, comment or skip, newest first, with the words on each."""
        member = member_of(signed_in(request), kwargs["slug"])
        permit(member, "curate")
        filters = shapes.InboxFiltersSerializer(data=request.query_params)
        filters.is_valid(raise_exception=True)
        page = self.paginate_queryset(inbox.filtered(member.project, **filters.validated_data)) or []
        return self.get_paginated_response(shapes.InboxItemSerializer(inbox.rows(page), many=True).data)


class InboxTotalsView(APIView):
    @extend_schema(operation_id="inbox_totals", responses=shapes.InboxTotalsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """How much was raised and is unsettled."""
        member = member_of(signed_in(request), slug)
        permit(member, "curate")
        return Response(inbox.totals(member.project))


class RemarksView(APIView):
    @extend_schema(
        operation_id="answers_remark", request=shapes.NewRemarkSerializer, responses={201: shapes.RemarkSerializer}
    )
    def post(self, request: Request, answer_uuid: UUID) -> Response:
        """Reply to an answer, settle what it raises, or open it again. Its author reads what is written."""
        answer, member = answer_of(signed_in(request), answer_uuid)
        permit(member, "curate")
        body = shapes.NewRemarkSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        made = remark(answer=answer, by=member, **body.validated_data)
        said = {"act": made.act, "author": member.user.name, "text": made.text, "at": made.at}
        return Response(shapes.RemarkSerializer(said).data, status=status.HTTP_201_CREATED)


class RepliesView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(operation_id="rounds_replies", responses=shapes.ReplySerializer(many=True))
    def get(self, request: Request, round_id: int) -> Response:
        """One's own answers in the round that somebody replied to."""
        round, member = round_of(signed_in(request), round_id)
        return Response(shapes.ReplySerializer(inbox.replies_in(round, member), many=True).data)


class WayView(APIView):
    @extend_schema(operation_id="projects_way", responses=WaySerializer)
    def get(self, request: Request, slug: str) -> Response:
        """How far each step of the project is, from its corpus to a release, and what its lead does next."""
        member = member_of(signed_in(request), slug)
        permit(member, "read rounds")
        return Response(WaySerializer(steps.of(member.project)).data)


class OverviewView(APIView):
    @extend_schema(operation_id="projects_overview", responses=shapes.OverviewSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Open rounds and the newest closed ones, what needs attention in them, who is at work, and answers by day."""
        member = member_of(signed_in(request), slug)
        permit(member, "read rounds")
        found = overview(member.project, watches=may(member, "curate"), now=timezone.now())
        return Response(shapes.OverviewSerializer(found).data)
