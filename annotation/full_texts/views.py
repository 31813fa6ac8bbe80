from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from annotation import permissions
from annotation.full_texts import actions as full_texts_actions
from annotation.pubmed.records import data_set_reviews
from api.fields import with_new_names
from projects.jobs.queries import fresh_job, job_summary
from projects.jobs.serializers import JobSerializer
from projects.models import Project

Plain = serializers.Serializer[Any]
#: Current names of the counts in a job's result, by the names in results of earlier versions.
OLD_NAMES = {"asked": "requested", "kept": "stored", "not_there": "not_found"}


class FetchedFullTextsSerializer(Plain):
    """The result of a job that fetches full texts."""

    requested = serializers.IntegerField(help_text="Reviews whose full text was requested.")
    stored = serializers.IntegerField()
    withheld = serializers.IntegerField(help_text="Reviews whose publisher does not release the full text.")
    not_found = serializers.IntegerField(help_text="Reviews whose full text PubMed Central does not have.")


class FullTextsSerializer(Plain):
    """The number of reviews with a full text."""

    reviews = serializers.IntegerField()
    with_full_text = serializers.IntegerField(help_text="Reviews with a full text.")
    missing = serializers.IntegerField(help_text="Reviews without a full text that have a PMID.")
    last_result = FetchedFullTextsSerializer(allow_null=True, help_text="Result of the last completed job.")
    job = JobSerializer(allow_null=True, help_text="A newer job that is in progress or failed.")


def overview(project: Project) -> dict[str, Any]:
    """Return counts and the newest job. Needs a fixed number of queries."""
    reviews, summary = data_set_reviews(project), job_summary(project, full_texts_actions.KIND)
    return {
        "reviews": reviews.count(),
        "with_full_text": reviews.exclude(full_text=None).count(),
        "missing": full_texts_actions.reviews_without_full_text(project).count(),
        "last_result": with_new_names(summary["last_result"], OLD_NAMES),
        "job": summary["job"],
    }


class FullTextsView(APIView):
    @extend_schema(operation_id="full_texts_get", responses=FullTextsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return how many reviews of the data set have a full text."""
        project = permissions.import_lead(signed_in(request), slug).project
        return Response(FullTextsSerializer(overview(project)).data)

    @extend_schema(operation_id="full_texts_ask", request=None, responses={202: JobSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Queue a job that fetches the missing full texts. Return the existing job if one is queued or running."""
        member = permissions.import_lead(signed_in(request), slug)
        job = full_texts_actions.queue_full_texts(project=member.project, by=member.user)
        return Response(JobSerializer(fresh_job(job)).data, status=status.HTTP_202_ACCEPTED)
