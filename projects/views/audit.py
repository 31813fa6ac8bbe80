"""The audit trail of a project."""

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import generics

from accounts.requests import asked, signed_in
from audit.models import Entry

from ..permissions import member_of, permit
from ..serializers.guidelines import EntrySerializer

FILTERS = ("object_type", "object_id")


@extend_schema_view(
    get=extend_schema(
        operation_id="audit_list",
        parameters=[OpenApiParameter(name, OpenApiTypes.STR) for name in FILTERS],
        description="What was done in the project, newest first; of one object where its type and id are given.",
    )
)
class AuditView(generics.ListAPIView[Entry]):
    serializer_class = EntrySerializer
    queryset = Entry.objects.none()

    def get_queryset(self) -> QuerySet[Entry]:
        member = member_of(signed_in(self.request), self.kwargs["slug"])
        permit(member, "read the audit trail")
        narrowed = {name: value for name in FILTERS if (value := asked(self.request, name))}
        found = Entry.objects.filter(project=member.project_id, **narrowed)
        return found.select_related("actor", "seal").order_by("-id")
