"""Views of the document level."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from annotation import permissions
from annotation.documents import actions as documents_actions
from annotation.documents import queries as page
from projects.jobs.queries import fresh_job
from projects.jobs.serializers import JobSerializer

Plain = serializers.Serializer[Any]


class UndocumentedSerializer(Plain):
    """Reviews without a document, for one reason."""

    total = serializers.IntegerField()
    first = serializers.ListField(child=serializers.CharField(), help_text="PMIDs of some of the reviews.")


class DocumentsMadeSerializer(Plain):
    """The result of a job that creates documents."""

    made = serializers.IntegerField()
    brought_up_to_date = serializers.IntegerField(
        help_text="Documents whose studies changed, or whose review returned to the data set."
    )
    taken_out = serializers.IntegerField(help_text="Documents retired because their review left the data set.")
    of_picked_sentences = serializers.IntegerField(
        help_text="New documents made of picked sentences, because the review has no conclusions."
    )
    no_conclusions = UndocumentedSerializer(help_text="Reviews with neither conclusions nor picked sentences.")
    no_abstracts = UndocumentedSerializer(help_text="Reviews without a study that has an abstract.")


class DocumentsSerializer(Plain):
    """The number of reviews with a document target."""

    reviews = serializers.IntegerField(
        help_text="Reviews of the data set, except those that were read and contain no evidence."
    )
    made = serializers.IntegerField(help_text="Current document targets.")
    last_result = DocumentsMadeSerializer(allow_null=True, help_text="Result of the last completed job.")
    job = JobSerializer(allow_null=True, help_text="A newer job that is in progress or failed.")


class DocumentsView(APIView):
    @extend_schema(operation_id="documents_get", responses=DocumentsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return how many reviews have a document target (M3's level 1)."""
        project = permissions.project_to_curate(signed_in(request), slug).project
        return Response(DocumentsSerializer(page.overview(project)).data)

    @extend_schema(operation_id="documents_make", request=None, responses={202: JobSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Queue a job that creates or updates the documents. Return the existing job if one is queued or running."""
        member = permissions.project_to_curate(signed_in(request), slug)
        job = documents_actions.queue_documents(project=member.project, by=member.user)
        return Response(JobSerializer(fresh_job(job)).data, status=status.HTTP_202_ACCEPTED)
