"""API of corpora of questions: agreement between all writers of a project."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from projects.agreement.serializers import WritingOnPageSerializer
from projects.stored_figures.queries import stored
from projects.stored_figures.serializers import StoredSerializer

from .. import permissions
from .figures import KEY
from .material import WrittenSummaries
from .written import with_texts


class WritersSerializer(StoredSerializer):
    figures = WritingOnPageSerializer(allow_null=True, help_text="Null without written summaries.")


class WritersView(APIView):
    @extend_schema(operation_id="writers_get", responses=WritersSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return the stored agreement between all writers, imported ones included, with the most different texts."""
        member = permissions.corpus_reader(signed_in(request), slug)
        found = stored(member.project, KEY)
        figures = None
        if found.figures and "lowest" in found.figures:
            figures = with_texts(member.project, found.figures, WrittenSummaries().hidden(member))
        return Response(WritersSerializer({"as_of": found.as_of, "job": found.job, "figures": figures}).data)
