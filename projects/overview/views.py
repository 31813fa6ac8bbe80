"""API of projects: list, creation, settings, overview, workflow and audit trail."""

from datetime import date
from typing import Any, get_args

from django.db.models import F, QuerySet
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.permissions import GUESTS_TOO
from accounts.sessions import query_parameter, signed_in
from api.problems import Refused
from audit.models import Entry
from projects import workflow as workflow_registry
from projects.guidelines.serializers import EntrySerializer
from projects.models import Member, Project
from projects.overview import queries as overview_queries
from projects.overview.queries import overview
from projects.people import actions as people_actions
from projects.people.serializers import (
    NewProjectSerializer,
    ProjectRowSerializer,
    ProjectSerializer,
    ProjectSettingsSerializer,
)
from projects.permissions import hidden_from, member_of, permit
from projects.rounds import queries as rounds_queries
from projects.rounds.serializers import RoundRowSerializer, ToAdjudicateSerializer, WorkRowSerializer
from projects.workflow import Begun
from sql.expressions import first_moment, last_moment

Plain = serializers.Serializer[Any]


class NextStepSerializer(Plain):
    """A next action of the lead, shown as one button."""

    words = serializers.CharField(help_text='Imperative, displayed after "Next:".')
    why = serializers.CharField()
    button = serializers.CharField()
    page = serializers.CharField(help_text="Path relative to the project's page.")
    also = serializers.CharField(
        allow_blank=True, help_text="Label of an optional page to check first; empty if there is none."
    )
    also_page = serializers.CharField(allow_blank=True)


class WayStepSerializer(Plain):
    key = serializers.CharField()
    title = serializers.CharField()
    count = serializers.IntegerField(allow_null=True)
    of = serializers.CharField(help_text="Unit of the count.")
    state = serializers.ChoiceField(choices=[(one, one) for one in get_args(Begun)])
    page = serializers.CharField(help_text="Path relative to the project's page.")
    done = serializers.IntegerField()
    wanted = serializers.IntegerField(help_text="Target value of `done`; 0 if no work is in progress.")


class WaySerializer(Plain):
    steps = WayStepSerializer(many=True)
    next = NextStepSerializer(allow_null=True)
    then = NextStepSerializer(many=True, help_text="Actions that follow the next one.")
    options = NextStepSerializer(many=True, help_text="Optional actions.")


class AtWorkSerializer(Plain):
    """One participant of an open round."""

    member = serializers.IntegerField()
    name = serializers.CharField(allow_blank=True)
    pseudonym = serializers.CharField()
    answered = serializers.IntegerField()
    skipped = serializers.IntegerField()
    left = serializers.IntegerField(
        allow_null=True, help_text="Unanswered assignments of the person; null for a shared queue."
    )
    seconds_an_answer = serializers.FloatField(allow_null=True)
    last_answer_at = serializers.DateTimeField(allow_null=True)
    quiet_days = serializers.IntegerField(help_text="Days since the last answer of a quiet person; 0 for other people.")


class OverviewRoundSerializer(RoundRowSerializer):
    raised = serializers.IntegerField(help_text="Unsettled answers with a flag or a comment.")
    skipped = serializers.IntegerField(help_text="Unsettled skips.")
    at_work = AtWorkSerializer(
        many=True, help_text="Participants of an open round. Empty unless the user is a lead or curator."
    )


class ContestedRoundSerializer(Plain):
    round = serializers.IntegerField()
    name = serializers.CharField()
    count = serializers.IntegerField(help_text="Fields that wait for a curator.")


class UnmetRoundSerializer(Plain):
    round = serializers.IntegerField()
    name = serializers.CharField()


class UnsettledSerializer(Plain):
    """Numbers of answers with an unsettled flag, comment or skip. One answer can have several."""

    flagged = serializers.IntegerField()
    commented = serializers.IntegerField()
    skipped = serializers.IntegerField()
    open = serializers.IntegerField(help_text="Number of these answers.")


class FailedJobSerializer(Plain):
    id = serializers.IntegerField()
    what = serializers.CharField(help_text="Type of work.")
    error = serializers.CharField(allow_blank=True)
    page = serializers.CharField(help_text="Path relative to the project's page.")
    at = serializers.DateTimeField()


class UnfinishedSerializer(Plain):
    """A unit that a person began and left."""

    round = serializers.IntegerField()
    name = serializers.CharField(help_text="Name of the round.")
    unit = serializers.IntegerField()
    key = serializers.CharField()
    person = serializers.CharField()


class OverviewDaySerializer(Plain):
    day = serializers.DateField()
    answers = serializers.IntegerField()


class OverviewSerializer(Plain):
    """The overview of a project. Unsettled matters, people at work and failed jobs are for leads and curators."""

    rounds = OverviewRoundSerializer(many=True)
    contested = ContestedRoundSerializer(many=True, help_text="All closed rounds with contested fields, newest first.")
    waiting = UnmetRoundSerializer(
        many=True, help_text="Rounds that wait because their closed pilot did not meet the bar, newest first."
    )
    unsettled = UnsettledSerializer(allow_null=True, help_text="Null unless the user is a lead or curator.")
    failed_jobs = FailedJobSerializer(
        many=True, help_text="Failed jobs of the last 30 days without a later job for the same work, newest first."
    )
    unfinished = UnfinishedSerializer(
        many=True, help_text="Units of tasks that take days, which people began and left; nobody else has done them."
    )
    days = OverviewDaySerializer(
        many=True, help_text="Number of first answers on each of the last 14 days, today last."
    )


def _project_data(member: Member) -> dict[str, object]:
    project = member.project
    project.role = member.role  # type: ignore[attr-defined]
    return dict(ProjectSerializer(project).data)


@extend_schema_view(
    get=extend_schema(operation_id="projects_list", description="List the projects of the signed-in user.")
)
class ProjectsView(generics.ListAPIView[Project]):
    serializer_class = ProjectRowSerializer
    queryset = Project.objects.none()

    def get_queryset(self) -> QuerySet[Project]:
        return Project.objects.of(signed_in(self.request)).annotate(role=F("members__role")).order_by("slug")

    def paginate_queryset(self, queryset: Any) -> list[Any] | None:
        return overview_queries.with_progress(super().paginate_queryset(queryset) or [])

    @extend_schema(operation_id="projects_create", request=NewProjectSerializer, responses={201: ProjectSerializer})
    def post(self, request: Request) -> Response:
        """Create a project. The user becomes its lead."""
        body = NewProjectSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        user = signed_in(request)
        project = people_actions.create_project_with_free_slug(by=user, **body.validated_data)
        return Response(_project_data(member_of(user, project.slug)), status=status.HTTP_201_CREATED)


class ProjectView(APIView):
    @extend_schema(operation_id="projects_get", responses=ProjectSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return one project."""
        return Response(_project_data(member_of(signed_in(request), slug)))

    @extend_schema(operation_id="projects_change", request=ProjectSettingsSerializer, responses=ProjectSerializer)
    def patch(self, request: Request, slug: str) -> Response:
        """Change settings. Omitted fields are not changed."""
        member = member_of(signed_in(request), slug)
        permit(member, "change the project")
        body = ProjectSettingsSerializer(data=request.data, partial=True)
        body.is_valid(raise_exception=True)
        people_actions.change_project(project=member.project, by=member.user, **body.validated_data)
        return Response(_project_data(member))


class MyWorkView(APIView):
    permission_classes = GUESTS_TOO

    @extend_schema(operation_id="my_work", responses=WorkRowSerializer(many=True))
    def get(self, request: Request) -> Response:
        """Return the user's rounds, open ones first, with what is left, done today and time spent."""
        return Response(rounds_queries.my_work(signed_in(request), now=timezone.now()))


class ToAdjudicateView(APIView):
    @extend_schema(operation_id="my_adjudication", responses=ToAdjudicateSerializer(many=True))
    def get(self, request: Request) -> Response:
        """Return the rounds with units that wait for a curator, in the projects that the user curates."""
        return Response(rounds_queries.to_adjudicate(signed_in(request)))


FILTERS = ("object_type", "object_id", "verb")
DAYS = {"since": ("at__gte", first_moment), "until": ("at__lte", last_moment)}


def _number(value: str, name: str) -> int | None:
    if value and not (value.isascii() and value.isdigit() and len(value) < 19):
        raise Refused.field(name, f"{value!r} is not a valid id. Expected a number.")
    return int(value) if value else None


def _day(value: str, name: str) -> date:
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise Refused.field(name, f"{value!r} is not a valid date. Expected YYYY-MM-DD, such as 2026-11-21.") from None


@extend_schema_view(
    get=extend_schema(
        operation_id="audit_list",
        parameters=[
            *(OpenApiParameter(name, OpenApiTypes.STR) for name in FILTERS),
            OpenApiParameter(
                "person", OpenApiTypes.INT, description="Id of a member. Return only entries of this person."
            ),
            OpenApiParameter("before", OpenApiTypes.INT, description="Id of an entry. Return only earlier entries."),
            *(OpenApiParameter(name, OpenApiTypes.DATE) for name in DAYS),
        ],
        description="List the audit log of the project, newest first. Set type and id to get the log of one object. "
        "Entries on objects that are hidden from the user are left out.",
    )
)
class AuditView(generics.ListAPIView[Entry]):
    serializer_class = EntrySerializer
    queryset = Entry.objects.none()

    def get_queryset(self) -> QuerySet[Entry]:
        self.asking = member = member_of(signed_in(self.request), self.kwargs["slug"])
        permit(member, "read the audit trail")
        narrowed = {name: value for name in FILTERS if (value := query_parameter(self.request, name))}
        entries = Entry.objects.filter(project=member.project_id, **narrowed)
        for object_type, ids in hidden_from(member).items():
            if ids:
                entries = entries.exclude(object_type=object_type, object_id__in=[str(pk) for pk in ids])
        if person := _number(query_parameter(self.request, "person"), "person"):
            entries = entries.filter(actor__in=member.project.members.filter(pk=person).values("user"))
        if before := _number(query_parameter(self.request, "before"), "before"):
            entries = entries.filter(pk__lt=before)
        for name, (lookup, moment) in DAYS.items():
            if value := query_parameter(self.request, name):
                entries = entries.filter(**{lookup: moment(_day(value, name))})
        return entries.select_related("actor", "checkpoint").order_by("-id")

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), "asking": getattr(self, "asking", None)}


class WayView(APIView):
    @extend_schema(operation_id="projects_way", responses=WaySerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return the progress of each workflow stage, from corpus to release, and the lead's next actions."""
        member = member_of(signed_in(request), slug)
        permit(member, "read rounds")
        return Response(WaySerializer(workflow_registry.of(member.project)).data)


class OverviewView(APIView):
    @extend_schema(operation_id="projects_overview", responses=OverviewSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return open and recent rounds, what needs attention, who is at work, and answers per day."""
        member = member_of(signed_in(request), slug)
        permit(member, "read rounds")
        return Response(OverviewSerializer(overview(member, now=timezone.now())).data)
