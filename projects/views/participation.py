"""Participant links: the lead makes and watches them, volunteers come by them."""

from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.permissions import GUESTS_TOO
from accounts.requests import signed_in
from api.pagination import Pages

from ..actions import participant_links, participation
from ..models import Member, ParticipantLink, Round
from ..models.participation import text_digest
from ..pages import markdown
from ..pages.participation import links_of, rows
from ..permissions import participant_link_to, permit, round_of
from ..serializers import participation as shapes
from .session import SignedOut, session_of


def _round(request: Request, round_id: int) -> tuple[Round, Member]:
    round, member = round_of(signed_in(request), round_id)
    permit(member, "let volunteers in")
    return round, member


def _rows(round: Round, links: QuerySet[ParticipantLink]) -> Any:
    return rows(round, list(links), now=timezone.now())


class ParticipantLinksView(APIView):
    pagination_class = Pages  # read by the schema

    @extend_schema(operation_id="participant_links_list", responses=shapes.LinkRowSerializer(many=True))
    def get(self, request: Request, round_id: int) -> Response:
        """The participant links of a round, oldest first, with what came of each."""
        round, _ = _round(request, round_id)
        pages = Pages()
        found = pages.paginate_queryset(links_of(round), request, view=self) or []
        return pages.get_paginated_response(rows(round, found, now=timezone.now()))

    @extend_schema(
        operation_id="participant_links_make",
        request=shapes.NewLinksSerializer,
        responses={201: shapes.MadeLinksSerializer},
    )
    def post(self, request: Request, round_id: int) -> Response:
        """Make links. Their tokens are in this reply and nowhere else."""
        round, member = _round(request, round_id)
        body = shapes.NewLinksSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        made = participant_links.make_links(round=round, by=member.user, **body.validated_data)
        shown = [
            {"id": link.pk, "label": link.label, "expires_at": link.expires_at, "token": token} for link, token in made
        ]
        return Response({"links": shown}, status=status.HTTP_201_CREATED)


class ParticipantLinkView(APIView):
    @extend_schema(
        operation_id="participant_links_extend",
        request=shapes.ExtendSerializer,
        responses=shapes.LinkRowSerializer,
    )
    def patch(self, request: Request, round_id: int, link_id: int) -> Response:
        """Let a link, and those of who came by it, be valid for so many days from now."""
        round, member = _round(request, round_id)
        link = participant_link_to(round, link_id)
        body = shapes.ExtendSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        participant_links.extend(link=link, by=member.user, **body.validated_data)
        return Response(_rows(round, links_of(round).filter(pk=link.pk))[0])

    @extend_schema(operation_id="participant_links_revoke", responses={204: None})
    def delete(self, request: Request, round_id: int, link_id: int) -> Response:
        """End a link and everybody who came by it; answers stay, unfinished slots become free."""
        round, member = _round(request, round_id)
        participant_links.revoke_link(link=participant_link_to(round, link_id), by=member.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ConsentTextView(APIView):
    @extend_schema(operation_id="consent_text_get", responses=shapes.ShownTextSerializer)
    def get(self, request: Request, round_id: int) -> Response:
        """The text that volunteers of this round agree to; before there is a link, the one that ships."""
        round, _ = _round(request, round_id)
        text = participant_links.text_of(round)
        return Response({"text": text, "html": markdown.as_html(text)})

    @extend_schema(
        operation_id="consent_text_change",
        request=shapes.ConsentTextSerializer,
        responses=shapes.ShownTextSerializer,
    )
    def put(self, request: Request, round_id: int) -> Response:
        """Give all links of the round this text. Who agreed to another one is asked again before going on."""
        round, member = _round(request, round_id)
        body = shapes.ConsentTextSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        text = body.validated_data["text"]
        participant_links.change_text(round=round, text=text, by=member.user)
        return Response({"text": text, "html": markdown.as_html(text)})


def _shown(link: ParticipantLink) -> dict[str, Any]:
    taken = link.member_id is not None
    return {
        "round": link.round_id, "name": link.round.name, "project_name": link.round.project.name,
        "html": markdown.as_html(link.consent_text), "digest": text_digest(link.consent_text),
        "agreed": link.stands, "withdrawn": taken and not link.agreed, "returning": taken,
        "full": participation.is_full(link), "closed": not link.round.is_open,
        "shared": link.is_shared or link.parent_id is not None, "expires_at": link.expires_at,
    }  # fmt: skip


class TakeLookView(SignedOut):
    @extend_schema(
        operation_id="take_look", request=shapes.TakeTokenSerializer, responses=shapes.ParticipationSerializer, auth=[]
    )
    def post(self, request: Request) -> Response:
        """What a participant link asks one to agree to, by its token."""
        body = shapes.TakeTokenSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        found = participation.look(request=request._request, user=request.user, **body.validated_data)
        return Response(_shown(found))


class TakeAcceptView(SignedOut):
    @extend_schema(
        operation_id="take_accept", request=shapes.TakeSerializer, responses=shapes.AcceptedSerializer, auth=[]
    )
    def post(self, request: Request) -> Response:
        """Agree and begin, or go on as the same person; signs the volunteer in."""
        body = shapes.TakeSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        done = participation.accept(request=request._request, user=request.user, **body.validated_data)
        assert done.link.member
        return Response(
            {"session": session_of(done.link.member.user), "round": done.link.round_id, "token": done.token,
             "expires_at": done.link.expires_at}
        )  # fmt: skip


class ParticipationView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(operation_id="participation_get", responses=shapes.ParticipationSerializer)
    def get(self, request: Request) -> Response:
        """What the signed-in volunteer takes part in; 404 for everybody else."""
        return Response(_shown(participation.link_of(signed_in(request))))

    @extend_schema(
        operation_id="participation_agree", request=shapes.AgreeSerializer, responses=shapes.ParticipationSerializer
    )
    def post(self, request: Request) -> Response:
        """Agree to the text as it is now, after it changed or after withdrawing."""
        user = signed_in(request)
        participation.link_of(user)
        body = shapes.AgreeSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return Response(_shown(participation.agree(user=user, **body.validated_data)))

    @extend_schema(operation_id="participation_withdraw", responses={200: shapes.WithdrawnSerializer})
    def delete(self, request: Request) -> Response:
        """Withdraw: unfinished slots go to others, answers stay."""
        return Response({"freed": participation.withdraw(user=signed_in(request))})
