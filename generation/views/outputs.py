"""What came out over HTTP: of one run, and of several versions side by side."""

from typing import Any

from django.core.paginator import Paginator
from drf_spectacular.utils import extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.requests import signed_in
from api.pagination import Pages
from api.problems import NotFound
from projects.models import Unit

from .. import permissions
from ..models import Summary
from ..pages import outputs as outputs_page
from ..runs import sources
from ..serializers import outputs as shapes


class RunSummaryListView(generics.ListAPIView[Summary]):
    queryset = Summary.objects.none()
    serializer_class = shapes.RunSummarySerializer

    @extend_schema(operation_id="run_summaries_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The texts that a run has made so far. Empty for whom it is sealed from."""
        run, member = permissions.run_of(signed_in(request), kwargs["run_id"])
        found = Summary.objects.visible_to(member).with_cut().filter(item__run=run).select_related("item__unit")
        page = self.paginate_queryset(found.defer("token_ids", "record").order_by("item_id")) or []
        rows = [
            outputs_page.summary_json(summary) | {"unit": summary.item.unit_id, "key": summary.item.unit.key}
            for summary in page
        ]
        return self.get_paginated_response(shapes.RunSummarySerializer(rows, many=True).data)


class UnitPages(Pages):
    """Pages of units; ``unit`` asks for the page that has it."""

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
        """The units of a level in the order of the corpus, with inputs, target and what versions wrote."""
        member = permissions.reader_of(signed_in(request), kwargs["slug"])
        asked = shapes.OutputFilterSerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        level = outputs_page.level_of(member.project, asked.validated_data["level"])
        shown = outputs_page.columns(member, level, asked.validated_data["versions"])
        units = sources.units(member.project, level)
        if unit := asked.validated_data.get("unit"):
            self.paginator.at = sources.place_of(member.project, level, unit)  # type: ignore[union-attr]
            if self.paginator.at is None:  # type: ignore[union-attr]
                raise NotFound("There is nothing here that you may see.")
        page = list(self.paginate_queryset(units) or [])
        first = self.paginator.page.start_index()  # type: ignore[union-attr]
        rows = outputs_page.rows(member, level, page, shown, first=first)
        return self.get_paginated_response(shapes.UnitOutputsSerializer(rows, many=True).data)
