"""API of participant links: management by leads, and access of volunteers."""

from typing import Any, ClassVar

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.permissions import GUESTS_TOO
from accounts.sessions import signed_in
from api.fields import NameField, Strict
from api.pagination import Pages
from projects.guidelines import markdown
from projects.models import Member, ParticipantLink, Round
from projects.models.participation import text_digest
from projects.participation import actions as participation_actions
from projects.participation import recruits
from projects.participation.queries import STATES, links_of, rows
from projects.people.serializers import SessionSerializer
from projects.people.views import SignedOut, session_of
from projects.permissions import participant_link_to, permit, round_of
from projects.recruitment.queries import outcome
from projects.recruitment.serializers import OutcomeOfPlaceSerializer, QueryField, RecruitmentSerializer

Plain = serializers.Serializer[Any]
TEXT = 20_000


class NewLinksSerializer(Strict):
    """One personal link per label, or, with capacity > 1, one shared link per label."""

    old_names: ClassVar = {"places": "capacity"}

    labels = serializers.ListField(
        child=NameField(max_length=80), min_length=1, max_length=500, help_text="One label per link."
    )
    capacity = serializers.IntegerField(
        min_value=1,
        max_value=10_000,
        default=1,
        help_text="Maximum number of volunteers per link. 1 creates a personal link.",
    )
    days = serializers.IntegerField(min_value=1, max_value=365, default=30, help_text="Days until the link expires.")
    text = serializers.CharField(
        max_length=TEXT, required=False, help_text="Consent text in Markdown. Defaults to the text of the newest link."
    )
    recruitment = RecruitmentSerializer(
        required=False, allow_null=True, help_text="For a shared link that a recruitment platform gives to its members."
    )


class MadeLinkSerializer(Plain):
    id = serializers.IntegerField()
    label = serializers.CharField()  # type: ignore[assignment]
    expires_at = serializers.DateTimeField()
    token = serializers.CharField(help_text="Returned only once. The page builds the link /take#TOKEN from it.")


class MadeLinksSerializer(Plain):
    links = MadeLinkSerializer(many=True)


class LinkRowSerializer(Plain):
    """A participant link as shown to leads."""

    id = serializers.IntegerField()
    label = serializers.CharField()  # type: ignore[assignment]
    capacity = serializers.IntegerField()
    used = serializers.IntegerField()
    came_by = serializers.IntegerField(allow_null=True, help_text="The shared link that this volunteer used.")
    pseudonym = serializers.CharField(allow_blank=True)
    state = serializers.ChoiceField(choices=[(s, s) for s in STATES])
    agreed_at = serializers.DateTimeField(allow_null=True)
    withdrawn_at = serializers.DateTimeField(allow_null=True)
    answered = serializers.IntegerField()
    skipped = serializers.IntegerField()
    seconds_an_answer = serializers.FloatField(allow_null=True)
    last_seen_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()


class ExtendSerializer(Strict):
    days = serializers.IntegerField(min_value=1, max_value=365, help_text="Days from now until the link expires.")


class ConsentTextSerializer(Strict):
    text = serializers.CharField(max_length=TEXT, help_text="Consent text in Markdown.")


class ShownTextSerializer(Plain):
    text = serializers.CharField(help_text="Consent text in Markdown.")
    html = serializers.CharField(help_text="Sanitised HTML.")


class TakeTokenSerializer(Strict):
    token = serializers.CharField(max_length=100, write_only=True)
    query = QueryField(
        required=False, default=dict, help_text="Parameters that a recruitment platform added to the address."
    )


class TakeSerializer(TakeTokenSerializer):
    digest = serializers.CharField(
        max_length=64,
        required=False,
        default="",
        allow_blank=True,
        help_text="Digest of the text that the person agreed to.",
    )


class AgreeSerializer(Strict):
    digest = serializers.CharField(max_length=64, help_text="Digest of the text that the person agreed to.")


class ParticipationSerializer(Plain):
    """The consent text and the round of a volunteer."""

    round = serializers.IntegerField()
    name = serializers.CharField()
    project_name = serializers.CharField()
    html = serializers.CharField(help_text="Consent text as sanitised HTML.")
    digest = serializers.CharField(help_text="Digest of the text. Send it back with the agreement.")
    agreed = serializers.BooleanField(help_text="Whether the person agreed to this version of the text.")
    withdrawn = serializers.BooleanField(help_text="Whether the person withdrew.")
    returning = serializers.BooleanField(help_text="Whether a volunteer already uses the link.")
    full = serializers.BooleanField(help_text="Whether the link accepts no more volunteers.")
    closed = serializers.BooleanField(help_text="Whether the round is closed.")
    shared = serializers.BooleanField()
    expires_at = serializers.DateTimeField()
    recruited = serializers.BooleanField(help_text="Whether the link is for a recruitment platform.")
    preview = serializers.BooleanField(help_text="Whether the platform shows a preview of the task.")
    missing_id = serializers.CharField(allow_blank=True, help_text="Why the person is unknown; empty if known.")
    minutes = serializers.IntegerField(allow_null=True, help_text="Time limit of a place.")


class AcceptedSerializer(Plain):
    session = SessionSerializer()
    round = serializers.IntegerField()
    place = OutcomeOfPlaceSerializer(allow_null=True, help_text="The person's place, by a recruitment platform.")
    token = serializers.CharField(
        allow_blank=True, help_text="Token of the personal link of a new volunteer, returned only once."
    )
    expires_at = serializers.DateTimeField()


class WithdrawnSerializer(Plain):
    freed = serializers.IntegerField(help_text="Number of assignments that are released for other people.")


def _round(request: Request, round_id: int) -> tuple[Round, Member]:
    round, member = round_of(signed_in(request), round_id)
    permit(member, "manage participant links")
    return round, member


def _rows(round: Round, links: QuerySet[ParticipantLink]) -> Any:
    return rows(round, list(links), now=timezone.now())


class ParticipantLinksView(APIView):
    pagination_class = Pages  # read by the schema

    @extend_schema(operation_id="participant_links_list", responses=LinkRowSerializer(many=True))
    def get(self, request: Request, round_id: int) -> Response:
        """Return the participant links of a round, oldest first, with their progress.

        People of a recruitment platform are listed with their recruitment link.
        """
        round, _ = _round(request, round_id)
        pages = Pages()
        links = pages.paginate_queryset(links_of(round).filter(recruit=None), request, view=self) or []
        return pages.get_paginated_response(rows(round, links, now=timezone.now()))

    @extend_schema(
        operation_id="participant_links_make", request=NewLinksSerializer, responses={201: MadeLinksSerializer}
    )
    def post(self, request: Request, round_id: int) -> Response:
        """Create links. Only this reply contains their tokens."""
        round, member = _round(request, round_id)
        body = NewLinksSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        created = participation_actions.make_links(round=round, by=member.user, **body.validated_data)
        rows_with_tokens = [
            {"id": link.pk, "label": link.label, "expires_at": link.expires_at, "token": token}
            for link, token in created
        ]
        return Response({"links": rows_with_tokens}, status=status.HTTP_201_CREATED)


class ParticipantLinkView(APIView):
    @extend_schema(operation_id="participant_links_extend", request=ExtendSerializer, responses=LinkRowSerializer)
    def patch(self, request: Request, round_id: int, link_id: int) -> Response:
        """Extend a link and its personal links to this many days from now."""
        round, member = _round(request, round_id)
        link = participant_link_to(round, link_id)
        body = ExtendSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        participation_actions.extend(link=link, by=member.user, **body.validated_data)
        return Response(_rows(round, links_of(round).filter(pk=link.pk))[0])

    @extend_schema(operation_id="participant_links_revoke", responses={204: None})
    def delete(self, request: Request, round_id: int, link_id: int) -> Response:
        """Revoke a link and its volunteers' access. Answers are kept, unfinished assignments are released."""
        round, member = _round(request, round_id)
        participation_actions.revoke_link(link=participant_link_to(round, link_id), by=member.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ConsentTextView(APIView):
    @extend_schema(operation_id="consent_text_get", responses=ShownTextSerializer)
    def get(self, request: Request, round_id: int) -> Response:
        """Return the consent text of the round, or the default text if it has no link."""
        round, _ = _round(request, round_id)
        text = participation_actions.text_of(round)
        return Response({"text": text, "html": markdown.as_html(text)})

    @extend_schema(operation_id="consent_text_change", request=ConsentTextSerializer, responses=ShownTextSerializer)
    def put(self, request: Request, round_id: int) -> Response:
        """Set the consent text of all links of the round. Volunteers must agree again before they continue."""
        round, member = _round(request, round_id)
        body = ConsentTextSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        text = body.validated_data["text"]
        participation_actions.change_text(round=round, text=text, by=member.user)
        return Response({"text": text, "html": markdown.as_html(text)})


def _shown(link: ParticipantLink) -> dict[str, Any]:
    is_taken = link.member_id is not None
    return {
        "round": link.round_id,
        "name": link.round.name,
        "project_name": link.round.project.name,
        "html": markdown.as_html(link.consent_text),
        "digest": text_digest(link.consent_text),
        "agreed": link.stands,
        "withdrawn": is_taken and not link.agreed,
        "returning": is_taken,
        "full": participation_actions.is_full(link),
        "closed": not link.round.is_open,
        "shared": link.is_shared or link.parent_id is not None,
        "expires_at": link.expires_at,
    } | recruits.UNRECRUITED


class TakeLookView(SignedOut):
    @extend_schema(operation_id="take_look", request=TakeTokenSerializer, responses=ParticipationSerializer, auth=[])
    def post(self, request: Request) -> Response:
        """Return the consent text of a participant link by its token."""
        body = TakeTokenSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        link, recruited = recruits.look(request=request._request, user=request.user, **body.validated_data)
        return Response(_shown(link) | recruited)


class TakeAcceptView(SignedOut):
    @extend_schema(operation_id="take_accept", request=TakeSerializer, responses=AcceptedSerializer, auth=[])
    def post(self, request: Request) -> Response:
        """Agree and start, or continue as the same person. Signs the volunteer in."""
        body = TakeSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        done = recruits.accept(request=request._request, user=request.user, **body.validated_data)
        assert done.link.member
        return Response(
            {
                "session": session_of(done.link.member.user),
                "round": done.link.round_id,
                "place": outcome(done.recruit) if done.recruit else None,
                "token": done.token,
                "expires_at": done.link.expires_at,
            }
        )


class ParticipationView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(operation_id="participation_get", responses=ParticipationSerializer)
    def get(self, request: Request) -> Response:
        """Return the signed-in volunteer's participation; 404 for other users."""
        link = participation_actions.link_of(signed_in(request))
        return Response(_shown(link) | recruits.own(link))

    @extend_schema(operation_id="participation_agree", request=AgreeSerializer, responses=ParticipationSerializer)
    def post(self, request: Request) -> Response:
        """Agree to the current text, after it changed or after a withdrawal."""
        user = signed_in(request)
        participation_actions.link_of(user)
        body = AgreeSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return Response(_shown(participation_actions.agree(user=user, **body.validated_data)))

    @extend_schema(operation_id="participation_withdraw", responses={200: WithdrawnSerializer})
    def delete(self, request: Request) -> Response:
        """Withdraw consent. Unfinished assignments are released, answers are kept."""
        return Response({"freed": participation_actions.withdraw(user=signed_in(request))})
