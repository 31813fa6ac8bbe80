"""API of recruitment links: places and people for leads, and a person's own place."""

from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.permissions import GUESTS_TOO
from accounts.sessions import signed_in
from api.pagination import Pages
from api.problems import NotFound

from ..models import Member, Recruit, Recruitment
from ..permissions import participant_link_to, permit, round_of
from . import actions, queries
from .serializers import (
    OutcomeOfPlaceSerializer,
    RecruitmentSummarySerializer,
    RecruitRowSerializer,
    ScreeningAnswersSerializer,
)


def _recruitment(request: Request, round_id: int, link_id: int) -> tuple[Recruitment, Member]:
    round, member = round_of(signed_in(request), round_id)
    permit(member, "manage participant links")
    link = participant_link_to(round, link_id)
    found = Recruitment.objects.select_related("link__round__project").filter(link=link.pk).first()
    if found is None:
        raise NotFound("This link is not for a recruitment platform.")
    return found, member


class RecruitmentsView(APIView):
    @extend_schema(operation_id="recruitments_list", responses=RecruitmentSummarySerializer(many=True))
    def get(self, request: Request, round_id: int) -> Response:
        """Return the newest ten recruitment links of a round with their places."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, "manage participant links")
        found = Recruitment.objects.select_related("link").filter(link__round=round).order_by("-pk")[:10]
        return Response([queries.summary(each) for each in found])


class RecruitsView(APIView):
    pagination_class = Pages  # read by the schema

    @extend_schema(operation_id="recruits_list", responses=RecruitRowSerializer(many=True))
    def get(self, request: Request, round_id: int, link_id: int) -> Response:
        """Return the people of a recruitment link with their external ids, oldest first."""
        recruitment, _ = _recruitment(request, round_id, link_id)
        pages = Pages()
        people: Any = pages.paginate_queryset(queries.people_of(recruitment), request, view=self) or []
        return pages.get_paginated_response(queries.rows(recruitment, people))


class RecruitsFileView(APIView):
    @extend_schema(operation_id="recruits_file", responses={(200, "text/csv"): OpenApiTypes.BINARY})
    def get(self, request: Request, round_id: int, link_id: int) -> StreamingHttpResponse:
        """Return a CSV file of the people of a recruitment link: ids, state, times, answers, checks and pay."""
        recruitment, _ = _recruitment(request, round_id, link_id)
        name = f"{recruitment.link.round.project.slug}-round-{round_id}-link-{link_id}-people.csv"
        reply = StreamingHttpResponse(queries.csv_lines(recruitment), content_type="text/csv; charset=utf-8")
        reply["Content-Disposition"] = f'attachment; filename="{name}"'
        return reply


class ExternalIdView(APIView):
    @extend_schema(operation_id="external_ids_delete", responses={204: None})
    def delete(self, request: Request, round_id: int, link_id: int, recruit_id: int) -> Response:
        """Delete the external ids of one person. Answers stay; the person cannot be resumed by id. Idempotent."""
        recruitment, member = _recruitment(request, round_id, link_id)
        recruits = Recruit.objects.select_related("link__round", "link__member")
        recruit = recruits.filter(recruitment=recruitment, pk=recruit_id).first()
        if recruit is None:
            raise NotFound("Not found, or no access.")
        actions.forget(recruit=recruit, by=member.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class PlaceView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(operation_id="place_finish", request=None, responses=OutcomeOfPlaceSerializer)
    def post(self, request: Request) -> Response:
        """Return the signed-in person's place, and end it if no unit is left. 404 for other users."""
        return Response(queries.outcome(actions.finish(user=signed_in(request))))

    @extend_schema(operation_id="place_screen", request=ScreeningAnswersSerializer, responses=OutcomeOfPlaceSerializer)
    def put(self, request: Request) -> Response:
        """Answer the screening questions."""
        user = signed_in(request)
        actions.recruit_of(user)
        body = ScreeningAnswersSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return Response(queries.outcome(actions.screen(user=user, **body.validated_data)))
