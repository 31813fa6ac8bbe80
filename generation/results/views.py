"""API views of results: outputs of one run or several versions, tables and scores."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from api.pagination import Pages
from api.problems import NotFound
from projects.jobs.queries import fresh_job
from projects.models import Job, Unit

from .. import permissions, sources
from ..models import Score, Summary
from ..scoring.actions import request_scores
from . import outputs as outputs_page
from . import queries as results_page
from . import serializers as shapes


class RunSummaryListView(generics.ListAPIView[Summary]):
    queryset = Summary.objects.none()
    serializer_class = shapes.RunSummarySerializer

    @extend_schema(operation_id="run_summaries_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the summaries of a run so far. Empty if the run is embargoed for you."""
        run, member = permissions.run_of(signed_in(request), kwargs["run_id"])
        summaries = Summary.objects.visible_to(member).with_cut().filter(item__run=run).select_related("item__unit")
        page = self.paginate_queryset(summaries.defer("token_ids", "record").order_by("item_id")) or []
        rows = [
            outputs_page.summary_json(summary) | {"unit": summary.item.unit_id, "key": summary.item.unit.key}
            for summary in page
        ]
        return self.get_paginated_response(shapes.RunSummarySerializer(rows, many=True).data)


class UnitPages(Pages):
    """Pagination of units. ``unit`` selects the page that contains it."""

    page_size = 10
    at: int | None = None

    def get_page_number(self, request: Request, paginator: Paginator) -> Any:  # type: ignore[type-arg]
        if self.at is None:
            return super().get_page_number(request, paginator)
        return (self.at - 1) // int(paginator.per_page) + 1


class OutputListView(generics.ListAPIView[Unit]):
    queryset = Unit.objects.none()
    serializer_class = shapes.UnitOutputsSerializer
    pagination_class = UnitPages

    @extend_schema(operation_id="outputs_list", parameters=[shapes.OutputFilterSerializer])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the units of a level in corpus order, with inputs, references and the outputs of versions."""
        member = permissions.reader_of(signed_in(request), kwargs["slug"])
        query = shapes.OutputFilterSerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        level = outputs_page.level_of(member.project, query.validated_data["level"])
        columns = outputs_page.columns(member, level, query.validated_data["versions"])
        units = sources.units(member.project, level)
        if unit := query.validated_data.get("unit"):
            self.paginator.at = sources.place_of(member.project, level, unit)  # type: ignore[union-attr]
            if self.paginator.at is None:  # type: ignore[union-attr]
                raise NotFound("Not found, or no access.")
        page = list(self.paginate_queryset(units) or [])
        first = self.paginator.page.start_index()  # type: ignore[union-attr]
        rows = outputs_page.rows(member, level, page, columns, first=first)
        return self.get_paginated_response(shapes.UnitOutputsSerializer(rows, many=True).data)


FILE = OpenApiResponse(OpenApiTypes.BINARY, description="An attachment.")


class ResultsView(APIView):
    @extend_schema(
        operation_id="results_get", parameters=[shapes.UnseenQuerySerializer], responses=shapes.ResultsSerializer
    )
    def get(self, request: Request, slug: str) -> Response:
        """Return the tables of automatic evaluation and the missing steps. Runs embargoed for you are left out."""
        member = permissions.reader_of(signed_in(request), slug)
        return Response(shapes.ResultsSerializer(results_page.page(member, unseen=_unseen(request))).data)


def _unseen(request: Request) -> bool:
    query = shapes.UnseenQuerySerializer(data=request.query_params)
    query.is_valid(raise_exception=True)
    return bool(query.validated_data["unseen"])


class ResultFileView(APIView):
    @extend_schema(
        operation_id="results_file",
        parameters=[shapes.UnseenQuerySerializer],
        responses={(200, "application/octet-stream"): FILE},
    )
    def get(self, request: Request, slug: str, table: str, form: str) -> HttpResponse:
        """Download a table as ``markdown``, ``csv``, ``latex`` or ``json``."""
        member = permissions.reader_of(signed_in(request), slug)
        text, media, name = results_page.table_file(member, table, form, unseen=_unseen(request))
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return HttpResponse(text, content_type=f"{media}; charset=utf-8", headers=headers)


class RunScoreListView(generics.ListAPIView[Score]):
    queryset = Score.objects.none()
    serializer_class = shapes.SummaryScoreSerializer

    @extend_schema(operation_id="run_scores_list", parameters=[shapes.ScoreQuerySerializer])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the scores of single summaries, sorted by a figure. Empty if the run is embargoed for you."""
        run, member = permissions.run_of(signed_in(request), kwargs["run_id"])
        query = shapes.ScoreQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        page = self.paginate_queryset(results_page.scores_of(run, member, **query.validated_data)) or []
        rows = results_page.score_rows(page, run.version.level)
        return self.get_paginated_response(shapes.SummaryScoreSerializer(rows, many=True).data)

    @extend_schema(
        operation_id="run_scores_ask", request=shapes.NewScoringSerializer, responses={202: shapes.AskedSerializer}
    )
    def post(self, request: Request, run_id: int) -> Response:
        """Score a run's summaries in a background job. Existing scores are not computed again."""
        run, member = permissions.open_run_of(signed_in(request), run_id, permissions.RUN)
        body = shapes.NewScoringSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        scoring_or_job = request_scores(run=run, by=member.user, **body.validated_data)
        job = fresh_job(scoring_or_job) if isinstance(scoring_or_job, Job) else None
        return Response(shapes.AskedSerializer({"job": job}).data, status=status.HTTP_202_ACCEPTED)
