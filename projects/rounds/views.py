"""Views for rounds: list, open, progress, close, and people."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.permissions import GUESTS_TOO
from accounts.sessions import signed_in
from api.pagination import Pages
from api.problems import Conflict

from .. import kinds
from ..concerns import queries as concerns_queries
from ..gates import queries as gates_queries
from ..gates import serializers as gate_shapes
from ..guidelines import markdown
from ..jobs.serializers import JobSerializer
from ..jobs.views import accepted
from ..models import Member, PilotGate, Round
from ..permissions import may, member_of, member_to, permit, round_of
from ..queue import serializers as queue_serializers
from ..queue.returning import own_items
from . import actions as rounds_actions
from . import plan_serializers as plan_shapes
from . import preparing, previews, rolling, waiting
from . import queries as rounds_queries
from . import serializers as shapes
from .planning import RoundPlan

CHANGE = "open, change and close rounds"


def _plan(request: Request) -> RoundPlan:
    serializer = plan_shapes.RoundPlanSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    return RoundPlan(**serializer.validated_data)


def _preview(request: Request) -> tuple[RoundPlan, int]:
    serializer = plan_shapes.RoundPreviewSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    fields = dict(serializer.validated_data)
    turn = fields.pop("turn")
    return RoundPlan(**fields), turn


#: The attributes of a purpose that all participants of a round see.
MEANING = ("makes_gold", "independent", "shows_value", "gives_feedback")


def _shows_settings(round: Round, member: Member) -> bool:
    """Return whether a member may see seed and options.

    For a blind round, only members who may read rounds and do not judge blindly in this round may see them.
    """
    kind = kinds.get(round.kind)
    if not kind.blind:
        return True
    judged = kind.keeps_blind(round) and round.participants.filter(member=member).exists()
    return may(member, "read rounds") and not judged


def _round(round: Round, member: Member) -> dict[str, Any]:
    """Return a round as its participants see it. Blinded members do not get seed, options, policy and settings."""
    kind, shows_settings = kinds.get(round.kind), _shows_settings(round, member)
    working = round.participants.filter(member=member, left_at=None).exists()
    return {
        "id": round.pk,
        "name": round.name,
        "project": round.project.slug,
        "project_name": round.project.name,
        "illustrative": round.project.illustrative,
        "kind": round.kind,
        "kind_title": kind.title,
        "purpose": round.get_purpose_display(),
        "status": round.status,
        "overlap": round.overlap,
        # People at work see one number of units, so that they cannot tell how many items return.
        "units": round.units_count + (0 if may(member, "see who answered what") else own_items(round, member.pk)),
        "allocation": round.get_allocation_display(),
        # With the seed, participants could compute which units come without a suggestion.
        "seed": round.seed if shows_settings and (not round.suggestions or may(member, "read rounds")) else None,
        "options": kind.current_options(round.options) if shows_settings else {},
        "policy": round.policy if shows_settings else {},
        "settings": previews.settings_in_words(round) if shows_settings else [],
        **{name: getattr(round.meaning, name) for name in MEANING},
        "asks_questions": round.asks_questions,
        "terms": round.terms,
        "blind": kind.blind,
        "designed": kind.designed,
        "requires_practice": (wanted := round.requires_practice) and {"id": wanted.pk, "name": wanted.name},
        "guideline": {
            "id": round.guideline.pk,
            "number": round.guideline.number,
            "text": round.guideline.text,
            "html": markdown.as_html(round.guideline.text),
        },
        "revisits": concerns_queries.revisited_change(round),
        "skip_reasons": []
        if round.meaning.gives_feedback
        else [{"code": r.code, "text": r.text} for r in kind.skip_reasons],
        "opened_at": round.opened_at,
        "closed_at": round.closed_at,
        "role": member.role,
        "working": working,
        "rolling": round.is_rolling,
        "returns_gold": round.returns_gold and may(member, "see who answered what"),
        "job": job.pk if round.status == Round.Status.PREPARING and (job := preparing.job_of(round)) else None,
        "gate": _gate(round, member) if may(member, "read rounds") else None,
    }


def _gate(round: Round, member: Member) -> dict[str, Any] | None:
    return gates_queries.states([round], watches=may(member, "see who answered what")).get(round.pk)


class RoundListView(APIView):
    pagination_class = Pages  # used by the API description

    @extend_schema(operation_id="rounds_list", responses=shapes.RoundListRowSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the rounds of a project with their progress, newest first."""
        member = member_of(signed_in(request), slug)
        permit(member, "read rounds")
        found = rounds_queries.with_counts(Round.objects.filter(project=member.project).select_related("guideline"))
        pages = Pages()
        page = pages.paginate_queryset(found, request, view=self) or []
        watches = may(member, "see who answered what")
        rows = rounds_queries.rows(page, watches=watches, now=timezone.now())
        return pages.get_paginated_response(shapes.RoundListRowSerializer(rows, many=True).data)

    @extend_schema(
        operation_id="rounds_open", request=plan_shapes.RoundPlanSerializer, responses={201: shapes.RoundSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Open a round. The plan cannot be changed afterwards. A job prepares and opens a large round."""
        member = member_of(signed_in(request), slug)
        permit(member, CHANGE)
        round = preparing.begin_round(project=member.project, plan=_plan(request), by=member.user)
        return Response(_round(round, member), status=status.HTTP_201_CREATED)


class RoundTotalsView(APIView):
    @extend_schema(
        operation_id="rounds_totals",
        request=plan_shapes.RoundPlanSerializer,
        responses=plan_shapes.RoundTotalsSerializer,
    )
    def post(self, request: Request, slug: str) -> Response:
        """Return the units, answers, answers per person and time of a plan, without opening a round."""
        member = member_of(signed_in(request), slug)
        permit(member, CHANGE)
        return Response(previews.totals(member.project, _plan(request)))


class RoundChoicesView(APIView):
    @extend_schema(operation_id="rounds_choices", responses=plan_shapes.RoundChoicesSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return the choices for a new round: kinds with their options, and people with their open answers."""
        member = member_of(signed_in(request), slug)
        permit(member, CHANGE)
        return Response(plan_shapes.RoundChoicesSerializer(previews.choices(member.project)).data)


class RoundPreviewView(APIView):
    @extend_schema(
        operation_id="rounds_preview", request=plan_shapes.RoundPreviewSerializer, responses=queue_serializers.Cards
    )
    def post(self, request: Request, slug: str) -> Response:
        """Return the card of one unit of a plan, or an empty list if no unit matches. Does not open a round."""
        member = member_of(signed_in(request), slug)
        permit(member, CHANGE)
        plan, turn = _preview(request)
        return Response(previews.preview(member.project, plan, turn))


class RoundView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(operation_id="rounds_get", responses=shapes.RoundSerializer)
    def get(self, request: Request, round_id: int) -> Response:
        """Return a round with its guideline, for its participants and the project's leads, curators and viewers."""
        round, member = round_of(signed_in(request), round_id)
        if not round.participants.filter(member=member, left_at=None).exists():
            permit(member, "read rounds")
        return Response(_round(round, member))


class RoundProgressView(APIView):
    @extend_schema(operation_id="rounds_progress", responses=shapes.RoundProgressSerializer)
    def get(self, request: Request, round_id: int) -> Response:
        """Return the progress of a round, in total and by person."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, "see who answered what")
        return Response(shapes.RoundProgressSerializer(rounds_queries.of_round(round, now=timezone.now())).data)


class RoundCloseView(APIView):
    @extend_schema(operation_id="rounds_close", request=None, responses={202: JobSerializer})
    def post(self, request: Request, round_id: int) -> Response:
        """Close a round. The job forms the gold standard, if that is the purpose, and creates an audit checkpoint."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, CHANGE)
        return accepted(rounds_actions.close_round(round=round, by=member.user))


class RoundPreparationView(APIView):
    @extend_schema(operation_id="rounds_prepare", request=None, responses={202: JobSerializer})
    def post(self, request: Request, round_id: int) -> Response:
        """Continue the preparation of a round that was stopped or failed."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, CHANGE)
        return accepted(preparing.resume(round=round, by=member.user))

    @extend_schema(operation_id="rounds_discard", request=None, responses={202: JobSerializer})
    def delete(self, request: Request, round_id: int) -> Response:
        """Discard a round that never opened. The job removes it completely."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, CHANGE)
        return accepted(preparing.discard(round=round, by=member.user))


class RoundGateView(APIView):
    @extend_schema(operation_id="rounds_gate", responses=gate_shapes.RoundGateSerializer)
    def get(self, request: Request, round_id: int) -> Response:
        """Return the pilot and bar of a round, what was read, and how often such a bar was read in the project."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, "see who answered what")
        gate = PilotGate.objects.filter(round=round).select_related("round").first()
        if gate is None:
            raise Conflict("The round has no pilot.")
        times = {"times_read": gates_queries.count_readings(gate)}
        return Response(gate_shapes.RoundGateSerializer((_gate(round, member) or {}) | times).data)

    @extend_schema(
        operation_id="rounds_open_anyway", request=gate_shapes.OpenAnywaySerializer, responses={202: JobSerializer}
    )
    def post(self, request: Request, round_id: int) -> Response:
        """Open a round although its pilot does not meet the bar. The reason is logged and released."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, CHANGE)
        serializer = gate_shapes.OpenAnywaySerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        reason = serializer.validated_data["reason"]
        return accepted(waiting.open_anyway(round=round, reason=reason, by=signed_in(request)))


class RoundIntakeView(APIView):
    @extend_schema(operation_id="rounds_take_in", request=None, responses={202: JobSerializer})
    def post(self, request: Request, round_id: int) -> Response:
        """Start a job that adds matching units to a rolling round now."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, CHANGE)
        return accepted(rolling.ask(round=round, by=member.user))


class RoundPeopleView(APIView):
    @extend_schema(operation_id="rounds_add_person", request=shapes.PersonSerializer, responses={204: None})
    def post(self, request: Request, round_id: int) -> Response:
        """Add a member to a round."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, CHANGE)
        serializer = shapes.PersonSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        joiner = member_to(round.project, serializer.validated_data["member"])
        rounds_actions.add_person(round=round, member=joiner, by=member.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class RoundPersonView(APIView):
    @extend_schema(operation_id="rounds_remove_person", responses={204: None})
    def delete(self, request: Request, round_id: int, member_id: int) -> Response:
        """Remove a member from a round. Their answers are kept."""
        round, member = round_of(signed_in(request), round_id)
        permit(member, CHANGE)
        rounds_actions.remove_person(round=round, member=member_to(round.project, member_id), by=member.user)
        return Response(status=status.HTTP_204_NO_CONTENT)
