"""The lead's rounds: list, open, watch, close, and who works in them."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.permissions import GUESTS_TOO
from accounts.requests import signed_in
from api.pagination import Pages
from api.problems import Conflict

from .. import kinds
from ..actions import measuring, preparing, rolling, rounds
from ..actions.rounds import RoundPlan
from ..models import Job, Member, Round
from ..pages import agreement as agreement_page
from ..pages import markdown, plans, progress
from ..permissions import may, member_of, member_to, permit, round_of
from ..serializers import agreement as report_shapes
from ..serializers import rounds as shapes
from ..serializers import work

CHANGE = "open, change and close rounds"


def _plan(request: Request) -> RoundPlan:
    serializer = shapes.RoundPlanSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    return RoundPlan(**serializer.validated_data)


def _preview(request: Request) -> tuple[RoundPlan, int]:
    serializer = shapes.RoundPreviewSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    fields = dict(serializer.validated_data)
    turn = fields.pop("turn")
    return RoundPlan(**fields), turn


#: What everyone at work in a round is told of its purpose.
MEANING = ("makes_gold", "independent", "shows_value", "gives_feedback")


def _told(round: Round, member: Member) -> bool:
    """Whether a member may learn seed and options: of a blind round only who reads rounds and is not to stay blind."""
    kind = kinds.get(round.kind)
    if not kind.blind:
        return True
    judged = kind.keeps_blind(round) and round.participants.filter(member=member).exists()
    return may(member, "read rounds") and not judged


def _round(round: Round, member: Member) -> dict[str, Any]:
    """A round as everyone at work in it sees it; of a blind one, no more than that to whoever is to stay blind."""
    kind, told = kinds.get(round.kind), _told(round, member)
    working = round.participants.filter(member=member, left_at=None).exists()
    return {
        "id": round.pk, "name": round.name, "project": round.project.slug, "project_name": round.project.name,
        "illustrative": round.project.illustrative, "kind": round.kind, "kind_title": kind.title,
        "purpose": round.purpose, "status": round.status, "overlap": round.overlap,
        "units": round.units_count, "dealing": round.dealing, "seed": round.seed if told else None,
        "options": round.options if told else {}, "policy": round.policy if told else {},
        "settings": plans.settings_in_words(round) if told else [],
        **{name: getattr(round.meaning, name) for name in MEANING}, "asks_questions": round.asks_questions,
        "terms": round.terms, "blind": kind.blind, "designed": kind.designed,
        "requires_practice": (wanted := round.requires_practice) and {"id": wanted.pk, "name": wanted.name},
        "guideline": {
            "id": round.guideline.pk, "number": round.guideline.number, "text": round.guideline.text,
            "html": markdown.as_html(round.guideline.text),
        },
        "skip_reasons": [] if round.meaning.gives_feedback else [
            {"code": r.code, "text": r.text} for r in kind.skip_reasons
        ],
        "opened_at": round.opened_at, "closed_at": round.closed_at, "role": member.role,
        "working": working,
        "rolling": round.is_rolling,
        "job": job.pk if round.status == Round.Status.PREPARING and (job := preparing.job_of(round)) else None,
    }  # fmt: skip


def _accepted(job: Job) -> Response:
    return Response(shapes.JobSerializer(plans.fresh_job(job)).data, status=status.HTTP_202_ACCEPTED)


class RoundListView(APIView):
    pagination_class = Pages  # read by the schema

    @extend_schema(operation_id="rounds_list", responses=shapes.RoundRowSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The rounds of a project, newest first, with how far each is."""
        member = member_of(signed_in(request), slug)
        permit(member, "read rounds")
        found = progress.with_counts(Round.objects.filter(project=member.project).select_related("guideline"))
        pages = Pages()
        rows = pages.paginate_queryset(found, request, view=self) or []
        return pages.get_paginated_response([progress.row(r) for r in rows])

    @extend_schema(
        operation_id="rounds_open", request=shapes.RoundPlanSerializer, responses={201: shapes.RoundSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Open a round. Everything in the plan freezes. A large one is prepared by a job first, which opens it."""
        member = member_of(signed_in(request), slug)
        permit(member, CHANGE)
        round = preparing.begin_round(project=member.project, plan=_plan(request), by=member.user)
        return Response(_round(round, member), status=status.HTTP_201_CREATED)


class RoundTotalsView(APIView):
    @extend_schema(
        operation_id="rounds_totals", request=shapes.RoundPlanSerializer, responses=shapes.RoundTotalsSerializer
    )
    def post(self, request: Request, slug: str) -> Response:
        """What a plan comes to: units, answers, each person's share and time. Opens nothing."""
        member = member_of(signed_in(request), slug)
        permit(member, CHANGE)
        return Response(plans.totals(member.project, _plan(request)))


class RoundChoicesView(APIView):
    @extend_schema(operation_id="rounds_choices", responses=shapes.RoundChoicesSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """What a new round can be made of: kinds with their options, people with what waits for them."""
        member = member_of(signed_in(request), slug)
        permit(member, CHANGE)
        return Response(shapes.RoundChoicesSerializer(plans.choices(member.project)).data)


class RoundPreviewView(APIView):
    @extend_schema(operation_id="rounds_preview", request=shapes.RoundPreviewSerializer, responses=work.Cards)
    def post(self, request: Request, slug: str) -> Response:
        """One unit of a plan as it will be seen, or none where the plan is empty. Opens nothing."""
        member = member_of(signed_in(request), slug)
        permit(member, CHANGE)
        plan, turn = _preview(request)
        return Response(plans.preview(member.project, plan, turn))


class RoundView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(operation_id="rounds_get", responses=shapes.RoundSerializer)
    def get(self, request: Request, round_id: int) -> Response:
        """A round, with its guideline, for those at work in it and for the project's leads, curators and viewers."""
        round, member = round_of(signed_in(request), round_id)
        if not round.participants.filter(member=member, left_at=None).exists():
            permit(member, "read rounds")
        return Response(_round(round, member))


class RoundProgressView(APIView):
    @extend_schema(operation_id="rounds_progress", responses=shapes.RoundProgressSerializer)
    def get(self, request: Request, round_id: int) -> Response:
        """How far the round is, person by person."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, "see who answered what")
        return Response(progress.of_round(round, now=timezone.now()))


class RoundCloseView(APIView):
    @extend_schema(operation_id="rounds_close", request=None, responses={202: shapes.JobSerializer})
    def post(self, request: Request, round_id: int) -> Response:
        """Close the round. The job forms gold, where that is its purpose, and seals."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, CHANGE)
        return _accepted(rounds.close_round(round=round, by=member.user))


class RoundPreparationView(APIView):
    @extend_schema(operation_id="rounds_prepare", request=None, responses={202: shapes.JobSerializer})
    def post(self, request: Request, round_id: int) -> Response:
        """Go on preparing a round whose preparation was stopped or failed."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, CHANGE)
        return _accepted(preparing.go_on(round=round, by=member.user))

    @extend_schema(operation_id="rounds_discard", request=None, responses={202: shapes.JobSerializer})
    def delete(self, request: Request, round_id: int) -> Response:
        """Discard a round that never opened. The job leaves nothing of it."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, CHANGE)
        return _accepted(preparing.discard(round=round, by=member.user))


class RoundIntakeView(APIView):
    @extend_schema(operation_id="rounds_take_in", request=None, responses={202: shapes.JobSerializer})
    def post(self, request: Request, round_id: int) -> Response:
        """Have a rolling round look now for units that fit. The job takes in those that it does not have."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, CHANGE)
        return _accepted(rolling.ask(round=round, by=member.user))


class RoundPeopleView(APIView):
    @extend_schema(operation_id="rounds_add_person", request=shapes.PersonSerializer, responses={204: None})
    def post(self, request: Request, round_id: int) -> Response:
        """Let a member work in the round."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, CHANGE)
        serializer = shapes.PersonSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        joiner = member_to(round.project, serializer.validated_data["member"])
        rounds.add_person(round=round, member=joiner, by=member.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class RoundPersonView(APIView):
    @extend_schema(operation_id="rounds_remove_person", responses={204: None})
    def delete(self, request: Request, round_id: int, member_id: int) -> Response:
        """Take a member out of the round; what was answered stays."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, CHANGE)
        rounds.remove_person(round=round, member=member_to(round.project, member_id), by=member.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class RoundAgreementView(APIView):
    @extend_schema(
        operation_id="rounds_agreement",
        responses={200: report_shapes.AgreementSerializer, 202: report_shapes.AgreementToComeSerializer},
    )
    def get(self, request: Request, round_id: int) -> Response:
        """The whole agreement report. Of a large round as a job measured it last; 202 where none has yet."""
        round, member = self._round(request, round_id)
        found = measuring.of_round(round)
        job = found.job.pk if found.job else None
        if found.report is None:
            return Response({"answers": found.answers, "job": job}, status=status.HTTP_202_ACCEPTED)
        now = {"as_of": found.as_of, "current": found.current, "answers_now": found.answers, "job": job}
        return Response(agreement_page.page(round, found.report, curates=may(member, "curate")) | now)

    @extend_schema(operation_id="rounds_measure_agreement", request=None, responses={202: shapes.JobSerializer})
    def post(self, request: Request, round_id: int) -> Response:
        """Have a job measure the agreement anew and keep the report: for large rounds, whose report is kept."""
        round, _ = self._round(request, round_id)
        return _accepted(measuring.ask(round=round, by=signed_in(request)))

    @staticmethod
    def _round(request: Request, round_id: int) -> tuple[Round, Member]:
        round, member = round_of(signed_in(request), round_id)
        permit(member, "see who answered what")
        if round.is_open and kinds.get(round.kind).blind:
            raise Conflict("People judge blindly in this round. What they said of it shows when it is closed.")
        return round, member
