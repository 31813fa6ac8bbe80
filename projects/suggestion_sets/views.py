"""API of sets of suggestions."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import Coalesce
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from api.pagination import Pages
from api.uploading import UploadParser

from ..models import Project, Round, Suggestion, SuggestionSet
from ..permissions import member_of, permit
from ..purposes import SUGGESTIONS
from ..uploads import views as uploads_views
from ..uploads.serializers import FileCheckSerializer
from .serializers import NewSuggestionFileSerializer, SuggestionSetRowSerializer

CHANGE = "open, change and close rounds"


def sets_of(project: Project) -> QuerySet[Any]:
    """Return the sets of a project, newest first, with the numbers of their suggestions and rounds."""
    return (
        SuggestionSet.objects.filter(project=project)
        .annotate(
            valid=Count("suggestions", filter=Q(suggestions__value__isnull=False)),
            invalid=Count("suggestions", filter=Q(suggestions__value__isnull=True)),
            answers=Coalesce(Sum("suggestions__attempts"), 0),
        )
        .order_by("-pk")
    )


def with_rounds(sets: Sequence[SuggestionSet]) -> list[SuggestionSet]:
    """Set ``rounds`` and ``fault`` of each set: how many rounds show it, and its commonest fault. Two queries."""
    terms = Round.objects.filter(project__in={one.project_id for one in sets}, terms__has_key=SUGGESTIONS)
    shown = Counter(terms.values_list("terms__suggestions", flat=True))
    invalid = Suggestion.objects.filter(of__in=sets, value__isnull=True)
    faults = invalid.values("of", "fault").annotate(n=Count("pk")).order_by("n", "fault")
    fault = {row["of"]: row["fault"] for row in faults}
    for one in sets:
        setattr(one, "rounds", shown[one.pk])  # noqa: B010 - no attribute of the model
        setattr(one, "fault", fault.get(one.pk, ""))  # noqa: B010 - no attribute of the model
    return list(sets)


class SuggestionSetsView(APIView):
    pagination_class = Pages  # used by the API description

    @extend_schema(operation_id="suggestions_list", responses=SuggestionSetRowSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """List the sets of suggestions of a project, newest first."""
        member = member_of(signed_in(request), slug)
        permit(member, CHANGE)
        pages = Pages()
        page = pages.paginate_queryset(sets_of(member.project), request, view=self) or []
        return pages.get_paginated_response(SuggestionSetRowSerializer(with_rounds(page), many=True).data)


class SuggestionFilesView(APIView):
    parser_classes = [UploadParser]

    @extend_schema(
        operation_id="suggestions_upload",
        request={"multipart/form-data": NewSuggestionFileSerializer},
        responses={202: FileCheckSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Upload suggestions of a lab's own model. A job checks each value by the rules of the task.

        A file with faults is not stored. The same file again changes nothing.
        """
        member = member_of(signed_in(request), slug)
        permit(member, CHANGE)
        return uploads_views.check(request, "suggestions", NewSuggestionFileSerializer, member.project)
