"""Views of the material of a project: its kinds, their lists, and a search over all of them."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Q
from drf_spectacular.utils import extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from api.pagination import CappedPages, CappedRows, CountedRows
from api.problems import NotFound, Refused

from ..models import Member, Project
from ..permissions import member_of, permit
from ..stored_figures.queries import stored
from . import registry, serializers
from .figures import current_states, rows_in_state
from .registry import Material, Rows

#: Matches of one kind in a search; *Corpus* lists the others.
SHOWN = 20
DESCRIBED = ("key", "singular", "plural", "is_listed", "is_searched")


def _reader(request: Request, slug: str) -> Member:
    member = member_of(signed_in(request), slug)
    permit(member, "read the corpus")
    return member


def _filters(request: Request) -> dict[str, str]:
    serializer = serializers.MaterialFiltersSerializer(data=request.query_params)
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


def _titles(conditions: Mapping[str, tuple[str, Q]]) -> list[dict[str, str]]:
    return [{"key": key, "title": title} for key, (title, _) in conditions.items()]


def _states(project: Project, kind: Material, known: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the states of a kind, with the number of rows where it is stored."""
    rows = known.get(kind.key, {})
    return [
        one | {"count": len(ids) if (ids := rows.get(one["key"])) is not None else None}
        for one in _titles(kind.states_of(project))
    ]


class MaterialsView(APIView):
    @extend_schema(operation_id="materials_get", responses=serializers.MaterialsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return the kinds of material that the project has, with their counts as stored."""
        project = _reader(request, slug).project
        sets = registry.figure_sets(project)
        kinds = registry.of(project, sets)
        oldest = min(sets.values(), key=lambda one: (one.as_of is not None, one.as_of))
        known = current_states(project)
        counts = registry.counts(kinds, {name: one.figures for name, one in sets.items()})
        rows = [
            {
                **{name: getattr(kind, name) for name in DESCRIBED},
                "count": counts[kind.key],
                "columns": kind.columns_of(project),
                "states": _states(project, kind, known),
                "choices": [
                    {"key": choice.key, "title": choice.title, "options": _titles(choice.options)}
                    for choice in kind.choices
                ],
            }
            for kind in kinds
        ]
        reply = {"kinds": rows, "unused_pages": registry.unused_pages(kinds), "as_of": oldest.as_of, "job": oldest.job}
        return Response(serializers.MaterialsSerializer(reply).data)


class MaterialListView(generics.ListAPIView[Any]):
    serializer_class = serializers.MaterialRowSerializer
    pagination_class = CappedPages

    @extend_schema(operation_id="materials_list", parameters=[serializers.MaterialFiltersSerializer])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """List the rows of one kind of material. All given filters must match. At most 1,000 matches are listed."""
        member = _reader(request, kwargs["slug"])
        kind = next((one for one in registry.every() if one.key == kwargs["key"] and one.columns), None)
        if kind is None:
            raise NotFound(f"No kind of material {kwargs['key']!r} has a list.")
        filters = _filters(request)
        all_rows = _sorted(kind, member, filters.get("ordering", ""))
        rows: Any = _matching(kind, member, all_rows, filters)
        if rows is not all_rows:
            rows = CappedRows(rows, all_rows, is_sorted="ordering" in filters)
        elif kind.hidden(member) is None:
            known = stored(member.project, kind.figures)
            if known.is_current:
                rows = CountedRows(rows, kind.count(known.figures))
        page = self.paginate_queryset(rows) or []
        return self.get_paginated_response(serializers.MaterialRowSerializer(kind.rows(page, member), many=True).data)


def _matching(kind: Material, member: Member, rows: Rows, filters: dict[str, str]) -> Rows:
    """Return the rows that match all filters."""
    if words := filters.get("search", "").strip():
        rows = kind.matching(rows, words)
    if state := filters.get("state"):
        states = kind.states_of(member.project)
        if state not in states:
            raise Refused.field("state", f"{state!r} is not one of: {', '.join(states)}.")
        known = rows_in_state(member.project, kind, state)
        rows = rows.filter(states[state][1]) if known is None else rows.filter(pk__in=known)
    for choice in kind.choices:
        if option := filters.get(choice.key):
            if option not in choice.options:
                raise Refused.field(choice.key, f"{option!r} is not one of: {', '.join(choice.options)}.")
            rows = rows.filter(choice.options[option][1])
    return rows


def _sorted(kind: Material, member: Member, ordering: str) -> Rows:
    """Return all rows of a kind that the member may see, in the order of the list."""
    rows = kind.all(member.project)
    if (hidden := kind.hidden(member)) is not None:
        rows = rows.exclude(hidden)
    if ordering:
        sortable = {column.key: column.fields for column in kind.columns if column.fields}
        fields = sortable.get(ordering.removeprefix("-"))
        if fields is None:
            raise Refused.field("ordering", f"{ordering!r} is not one of: {', '.join(sortable)}.")
        sign = "-" if ordering.startswith("-") else ""
        rows = rows.order_by(*(f"{sign}{field}" for field in fields), f"{sign}pk")
    return rows


class MaterialSearchView(APIView):
    @extend_schema(
        operation_id="materials_search",
        parameters=[serializers.MaterialFiltersSerializer],
        responses=serializers.MatchesSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        """Return the first matches of a search among each kind of material that the project has."""
        member = _reader(request, slug)
        words = _filters(request).get("search", "").strip()
        searched = [kind for kind in registry.of(member.project) if kind.is_searched] if words else []
        found = [(kind, kind.search(member, words, SHOWN)) for kind in searched]
        rows = [
            {
                **{name: getattr(kind, name) for name in ("key", "singular", "plural")},
                "total": matches.total,
                "capped": matches.is_capped,
                "matches": matches.first,
            }
            for kind, matches in found
            if matches.total
        ]
        return Response(serializers.MatchesSerializer(rows, many=True).data)
