"""Projects: the signed-in person's, founding one, its settings."""

from typing import Any

from django.db.models import F, QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.requests import signed_in

from ..actions import people
from ..models import Member, Project
from ..pages import overview
from ..permissions import member_of, permit
from ..serializers.people import (
    NewProjectSerializer,
    ProjectRowSerializer,
    ProjectSerializer,
    ProjectSettingsSerializer,
)


def _shown(member: Member) -> dict[str, object]:
    project = member.project
    project.role = member.role  # type: ignore[attr-defined]
    return dict(ProjectSerializer(project).data)


@extend_schema_view(get=extend_schema(operation_id="projects_list", description="One's own projects."))
class ProjectsView(generics.ListAPIView[Project]):
    serializer_class = ProjectRowSerializer
    queryset = Project.objects.none()

    def get_queryset(self) -> QuerySet[Project]:
        return Project.objects.of(signed_in(self.request)).annotate(role=F("members__role")).order_by("slug")

    def paginate_queryset(self, queryset: Any) -> list[Any] | None:
        return overview.with_progress(super().paginate_queryset(queryset) or [])

    @extend_schema(operation_id="projects_create", request=NewProjectSerializer, responses={201: ProjectSerializer})
    def post(self, request: Request) -> Response:
        """Found a project and be its lead."""
        body = NewProjectSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        user = signed_in(request)
        project = people.found_project(by=user, **body.validated_data)
        return Response(_shown(member_of(user, project.slug)), status=status.HTTP_201_CREATED)


class ProjectView(APIView):
    @extend_schema(operation_id="projects_get", responses=ProjectSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """One project."""
        return Response(_shown(member_of(signed_in(request), slug)))

    @extend_schema(operation_id="projects_change", request=ProjectSettingsSerializer, responses=ProjectSerializer)
    def patch(self, request: Request, slug: str) -> Response:
        """Change settings; what is left out stays."""
        member = member_of(signed_in(request), slug)
        permit(member, "change the project")
        body = ProjectSettingsSerializer(data=request.data, partial=True)
        body.is_valid(raise_exception=True)
        people.change_project(project=member.project, by=member.user, **body.validated_data)
        return Response(_shown(member))
