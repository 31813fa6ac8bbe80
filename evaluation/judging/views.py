"""Views of judges and their runs. Only leads who do not rate in an open round may use them."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from api.problems import NotFound, Refused
from projects.jobs.queries import fresh_job
from projects.jobs.serializers import JobSerializer
from projects.models import Job, Project
from projects.permissions import Names

from .. import permissions
from ..models import Judge, JudgeAnswer, JudgeRun, JudgeSet, RatingDesign
from . import actions, queries, sets, versions
from . import serializers as shapes


class JudgeChoicesView(APIView):
    @extend_schema(operation_id="judges_choices", responses=shapes.JudgeChoicesSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return what the forms of judges offer: endpoints, models, parameters and rounds."""
        member = permissions.judge_lead_of(signed_in(request), slug)
        return Response(shapes.JudgeChoicesSerializer(queries.choices(member.project)).data)


class JudgeListView(generics.ListAPIView[Judge]):
    queryset = Judge.objects.none()
    serializer_class = shapes.JudgeSerializer

    @extend_schema(operation_id="judges_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the versions of judges."""
        member = permissions.judge_lead_of(signed_in(request), kwargs["slug"])
        names = Names(member)
        page = self.paginate_queryset(queries.judges(member.project)) or []
        rows = [queries.judge_row(judge, names) for judge in page]
        return self.get_paginated_response(shapes.JudgeSerializer(rows, many=True).data)

    @extend_schema(
        operation_id="judges_create",
        request=shapes.NewJudgeSerializer,
        responses={201: shapes.JudgeSerializer, 202: JobSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Create a version of a judge. For a model on this server, a job reads the digests of its weights."""
        member = permissions.judge_lead_of(signed_in(request), slug)
        body = shapes.NewJudgeSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        made = versions.request_judge(project=member.project, by=member.user, **body.validated_data)
        if isinstance(made, Job):
            return Response(JobSerializer(fresh_job(made)).data, status=status.HTTP_202_ACCEPTED)
        row = queries.judge_row(made, Names(member))
        return Response(shapes.JudgeSerializer(row).data, status=status.HTTP_201_CREATED)


class JudgeView(APIView):
    @extend_schema(operation_id="judges_get", responses=shapes.JudgeSerializer)
    def get(self, request: Request, judge_id: int) -> Response:
        """Return a version of a judge."""
        judge, member = permissions.judge_of(signed_in(request), judge_id)
        return Response(shapes.JudgeSerializer(queries.judge_row(judge, Names(member))).data)


class JudgePreviewView(APIView):
    @extend_schema(
        operation_id="judges_preview",
        parameters=[shapes.JudgePreviewQuerySerializer],
        responses=shapes.JudgePreviewSerializer,
    )
    def get(self, request: Request, judge_id: int, round_id: int) -> Response:
        """Return the messages of one page of a round exactly as a judge reads them. Nothing is sent."""
        judge, design = _judge_and_design(request, judge_id, round_id)
        query = shapes.JudgePreviewQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        found = queries.preview(judge, design, query.validated_data["page"])
        return Response(shapes.JudgePreviewSerializer(found).data)


class JudgeEstimateView(APIView):
    @extend_schema(
        operation_id="judges_estimate",
        parameters=[shapes.JudgeEstimateQuerySerializer],
        responses=shapes.JudgeEstimateSerializer,
    )
    def get(self, request: Request, judge_id: int, round_id: int) -> Response:
        """Return which texts a run would send, to which host, and the estimated tokens and cost. Nothing is sent."""
        judge, design = _judge_and_design(request, judge_id, round_id)
        query = shapes.JudgeEstimateQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        chosen = query.validated_data
        judge_set = _set(design, chosen["judge_set"])
        found = queries.estimate(judge, design, judge_set, samples=chosen["samples"], both_orders=chosen["both_orders"])
        return Response(shapes.JudgeEstimateSerializer(found).data)


class JudgeSetListView(APIView):
    @extend_schema(operation_id="judge_sets_list", responses=shapes.JudgeSetSerializer(many=True))
    def get(self, request: Request, round_id: int) -> Response:
        """List the sets of sources of a round that only judges rate."""
        design, _ = permissions.judged_design_of(signed_in(request), round_id)
        return Response(shapes.JudgeSetSerializer(queries.set_rows(design), many=True).data)

    @extend_schema(
        operation_id="judge_sets_add",
        request=shapes.NewJudgeSetSerializer,
        responses={201: shapes.JudgeSetSerializer(many=True)},
    )
    def post(self, request: Request, round_id: int) -> Response:
        """Add the sources that all systems have summarised and that no person is asked about, for judges only."""
        design, member = permissions.judged_design_of(signed_in(request), round_id)
        body = shapes.NewJudgeSetSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        sets.add_set(design=design, by=member.user, most=body.validated_data["most"])
        rows = shapes.JudgeSetSerializer(queries.set_rows(design), many=True).data
        return Response(rows, status=status.HTTP_201_CREATED)


class JudgeRunListView(generics.ListAPIView[JudgeRun]):
    queryset = JudgeRun.objects.none()
    serializer_class = shapes.JudgeRunSerializer

    @extend_schema(operation_id="judge_runs_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the runs of judges, newest first."""
        member = permissions.judge_lead_of(signed_in(request), kwargs["slug"])
        page = self.paginate_queryset(queries.runs(member.project)) or []
        rows = queries.run_rows(page, member)
        return self.get_paginated_response(shapes.JudgeRunSerializer(rows, many=True).data)


class JudgeRunStartView(APIView):
    @extend_schema(
        operation_id="judge_runs_start",
        request=shapes.NewJudgeRunSerializer,
        responses={201: shapes.JudgeRunPageSerializer},
    )
    def post(self, request: Request, round_id: int) -> Response:
        """Start a judge on the pages of a round.

        Refused if the texts would leave the server and the licence of one forbids it. If a licence is unknown, a reason
        is required.
        """
        design, member = permissions.judged_design_of(signed_in(request), round_id)
        body = shapes.NewJudgeRunSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        chosen = dict(body.validated_data)
        judge = _judge(member.project, chosen.pop("judge"))
        judge_set = _set(design, chosen.pop("judge_set"))
        run = actions.start_run(judge=judge, design=design, judge_set=judge_set, by=member.user, **chosen)
        page = queries.run_page(run, member)
        return Response(shapes.JudgeRunPageSerializer(page).data, status=status.HTTP_201_CREATED)


class JudgeRunView(APIView):
    @extend_schema(operation_id="judge_runs_get", responses=shapes.JudgeRunPageSerializer)
    def get(self, request: Request, run_id: int) -> Response:
        """Return a run with its counts, cost and suspicious pages. Values are shown with the results of the round."""
        run, member = permissions.judge_run_of(signed_in(request), run_id)
        return Response(shapes.JudgeRunPageSerializer(queries.run_page(run, member)).data)


class JudgeRunStopView(APIView):
    @extend_schema(operation_id="judge_runs_stop", request=None, responses=shapes.JudgeRunPageSerializer)
    def post(self, request: Request, run_id: int) -> Response:
        """Stop a run. Its answers are kept."""
        run, member = permissions.judge_run_of(signed_in(request), run_id)
        actions.stop_run(run=run, by=member.user)
        return Response(shapes.JudgeRunPageSerializer(queries.run_page(run, member)).data)


class JudgeRunResumeView(APIView):
    @extend_schema(
        operation_id="judge_runs_resume", request=shapes.LimitsSerializer, responses=shapes.JudgeRunPageSerializer
    )
    def post(self, request: Request, run_id: int) -> Response:
        """Resume a run that ended early, with other limits if given. Stored answers are not asked for again."""
        run, member = permissions.judge_run_of(signed_in(request), run_id)
        body = shapes.LimitsSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        actions.resume_run(run=run, by=member.user, **body.validated_data)
        return Response(shapes.JudgeRunPageSerializer(queries.run_page(run, member)).data)


class JudgeFailureListView(generics.ListAPIView[JudgeAnswer]):
    queryset = JudgeAnswer.objects.none()
    serializer_class = shapes.JudgeFailureSerializer

    @extend_schema(operation_id="judge_failures_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the pages of a run without a valid answer, with the reasons."""
        run, _ = permissions.judge_run_of(signed_in(request), kwargs["run_id"])
        page = self.paginate_queryset(queries.failures(run)) or []
        rows = queries.failure_rows(page)
        return self.get_paginated_response(shapes.JudgeFailureSerializer(rows, many=True).data)


def _judge_and_design(request: Request, judge_id: int, round_id: int) -> tuple[Judge, RatingDesign]:
    judge, _ = permissions.judge_of(signed_in(request), judge_id)
    design, _ = permissions.judged_design_of(signed_in(request), round_id)
    if design.round.project_id != judge.project_id:
        raise NotFound("Not found, or no access.")
    return judge, design


def _judge(project: Project, pk: int) -> Judge:
    judge = Judge.objects.select_related("project", "project_endpoint").filter(project=project, pk=pk).first()
    if judge is None:
        raise Refused.field("judge", "The project has no such judge.")
    return judge


def _set(design: RatingDesign, pk: int | None) -> JudgeSet | None:
    if pk is None:
        return None
    found = JudgeSet.objects.filter(design=design, pk=pk).first()
    if found is None:
        raise Refused.field("judge_set", "The round has no such set of sources.")
    return found
