"""Results over HTTP: tables, their files, plots, the scores of single summaries, and asking for scores."""

from typing import Any

from django.http import HttpResponse
from django.utils.text import slugify
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.requests import signed_in
from projects.models import Job
from projects.pages import plans

from .. import permissions, plots
from ..actions.scores import ask_for_scores
from ..models import Score
from ..pages import results as results_page
from ..serializers import results as shapes
from ..tables.scored import Scores

FILE = OpenApiResponse(OpenApiTypes.BINARY, description="An attachment.")
PICTURE = OpenApiResponse(OpenApiTypes.BINARY, description="SVG.")


class ResultsView(APIView):
    @extend_schema(operation_id="results_get", responses=shapes.ResultsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """The tables of automatic evaluation as they stand, and what is missing. Runs sealed from you are left out."""
        member = permissions.reader_of(signed_in(request), slug)
        return Response(shapes.ResultsSerializer(results_page.page(member)).data)


class ResultFileView(APIView):
    @extend_schema(operation_id="results_file", responses={(200, "application/octet-stream"): FILE})
    def get(self, request: Request, slug: str, table: str, form: str) -> HttpResponse:
        """A table as a file: ``markdown``, ``csv`` or ``latex``."""
        member = permissions.reader_of(signed_in(request), slug)
        text, media, name = results_page.table_file(member, table, form)
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return HttpResponse(text, content_type=f"{media}; charset=utf-8", headers=headers)


class ResultPlotView(APIView):
    @extend_schema(
        operation_id="results_plot", parameters=[shapes.PlotQuerySerializer],
        responses={(200, "image/svg+xml"): PICTURE},
    )  # fmt: skip
    def get(self, request: Request, slug: str) -> HttpResponse:
        """One figure by system, a dot and an interval each."""
        member = permissions.reader_of(signed_in(request), slug)
        asked = shapes.PlotQuerySerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        drawn = plots.by_system(Scores(member.project, member), **asked.validated_data)
        # As an attachment: opened by itself it would be a page of this address.
        name = slugify(f"{slug}-{asked.validated_data['figure']}")
        headers = {"Content-Disposition": f'attachment; filename="{name}.svg"'}
        return HttpResponse(drawn, content_type="image/svg+xml; charset=utf-8", headers=headers)


class RunScoreListView(generics.ListAPIView[Score]):
    queryset = Score.objects.none()
    serializer_class = shapes.SummaryScoreSerializer

    @extend_schema(operation_id="run_scores_list", parameters=[shapes.ScoreQuerySerializer])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The scores of single summaries, in the order of a figure; none of a run that is sealed from you."""
        run, member = permissions.run_of(signed_in(request), kwargs["run_id"])
        asked = shapes.ScoreQuerySerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        page = self.paginate_queryset(results_page.scores_of(run, member, **asked.validated_data)) or []
        rows = results_page.score_rows(page, run.version.level)
        return self.get_paginated_response(shapes.SummaryScoreSerializer(rows, many=True).data)

    @extend_schema(
        operation_id="run_scores_ask", request=shapes.NewScoringSerializer, responses={202: shapes.AskedSerializer}
    )
    def post(self, request: Request, run_id: int) -> Response:
        """Have a run's summaries scored in the background. What is scored already is not scored again."""
        run, member = permissions.open_run_of(signed_in(request), run_id, permissions.RUN)
        body = shapes.NewScoringSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        asked = ask_for_scores(run=run, by=member.user, **body.validated_data)
        job = plans.fresh_job(asked) if isinstance(asked, Job) else None
        return Response(shapes.AskedSerializer({"job": job}).data, status=status.HTTP_202_ACCEPTED)
