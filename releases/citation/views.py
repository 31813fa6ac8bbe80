"""API of the citation of a project."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from projects.permissions import member_of, permit

from .actions import change_citation
from .facts import citation_of
from .serializers import ProjectCitationSerializer


class CitationView(APIView):
    @extend_schema(operation_id="citation_get", responses=ProjectCitationSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return creators, funding and description of the data set."""
        member = member_of(signed_in(request), slug)
        permit(member, "read releases")
        return Response(ProjectCitationSerializer(citation_of(member.project)).data)

    @extend_schema(
        operation_id="citation_change", request=ProjectCitationSerializer, responses=ProjectCitationSerializer
    )
    def patch(self, request: Request, slug: str) -> Response:
        """Change the citation. Omitted fields are not changed."""
        member = member_of(signed_in(request), slug)
        permit(member, "change the project")
        # Not partial: that would also skip the defaults of rows in the lists.
        body = ProjectCitationSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        change_citation(project=member.project, by=member.user, **body.validated_data)
        return Response(ProjectCitationSerializer(citation_of(member.project)).data)
