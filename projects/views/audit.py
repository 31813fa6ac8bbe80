"""The audit trail of a project."""

from datetime import date
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import generics

from accounts.requests import asked, signed_in
from api.problems import Refused
from audit.models import Entry

from ..permissions import hidden_from, member_of, permit
from ..serializers.guidelines import EntrySerializer

FILTERS = ("object_type", "object_id", "verb")
DAYS = {"since": "at__date__gte", "until": "at__date__lte"}


def _number(value: str, name: str) -> int | None:
    if value and not (value.isascii() and value.isdigit() and len(value) < 19):
        raise Refused.field(name, f"{value!r} is no id.")
    return int(value) if value else None


def _day(value: str, name: str) -> date:
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise Refused.field(name, f"{value!r} is no day, such as 2026-11-21.") from None


@extend_schema_view(
    get=extend_schema(
        operation_id="audit_list",
        parameters=[
            *(OpenApiParameter(name, OpenApiTypes.STR) for name in FILTERS),
            OpenApiParameter("person", OpenApiTypes.INT, description="A member's id: what that person did."),
            OpenApiParameter("before", OpenApiTypes.INT, description="An entry's id: only earlier ones."),
            *(OpenApiParameter(name, OpenApiTypes.DATE) for name in DAYS),
        ],
        description="What was done in the project, newest first; of one object where its type and id are given. "
        "Without what was done with objects that are sealed from whoever asks.",
    )
)
class AuditView(generics.ListAPIView[Entry]):
    serializer_class = EntrySerializer
    queryset = Entry.objects.none()

    def get_queryset(self) -> QuerySet[Entry]:
        self.asking = member = member_of(signed_in(self.request), self.kwargs["slug"])
        permit(member, "read the audit trail")
        narrowed = {name: value for name in FILTERS if (value := asked(self.request, name))}
        found = Entry.objects.filter(project=member.project_id, **narrowed)
        for object_type, ids in hidden_from(member).items():
            if ids:
                found = found.exclude(object_type=object_type, object_id__in=[str(pk) for pk in ids])
        if person := _number(asked(self.request, "person"), "person"):
            found = found.filter(actor__in=member.project.members.filter(pk=person).values("user"))
        if before := _number(asked(self.request, "before"), "before"):
            found = found.filter(pk__lt=before)
        for name, lookup in DAYS.items():
            if value := asked(self.request, name):
                found = found.filter(**{lookup: _day(value, name)})
        return found.select_related("actor", "seal").order_by("-id")

    def get_serializer_context(self) -> dict[str, Any]:
        return {**super().get_serializer_context(), "asking": getattr(self, "asking", None)}
