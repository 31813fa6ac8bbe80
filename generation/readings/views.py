"""API of machine readings: what models have read, the check of a folder, and the jobs that read and withdraw."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.sessions import signed_in
from annotation.models import ReadingTask
from projects.jobs.serializers import JobSerializer
from projects.jobs.views import accepted

from .. import permissions
from . import actions, queries

Plain = serializers.Serializer[Any]


class ReadingTaskSerializer(Plain):
    key = serializers.ChoiceField(choices=ReadingTask.choices)
    title = serializers.CharField()
    takes_evidence = serializers.BooleanField(help_text="Whether a second model can find the evidence.")


class ReadingModelSerializer(Plain):
    """A folder that has read texts for a task."""

    task = serializers.ChoiceField(choices=ReadingTask.choices)
    model = serializers.CharField()
    weights = serializers.CharField(help_text="SHA-256 of the model's files.")
    readings = serializers.IntegerField()
    read_at = serializers.DateTimeField(help_text="Time of the first reading by the newest folder of this name.")


class ReadingResultSerializer(Plain):
    """What the last successful job has read."""

    model = serializers.CharField()
    read = serializers.IntegerField()
    failed = serializers.IntegerField(help_text="Texts that could not be read. The next job tries them again.")
    texts = serializers.IntegerField(help_text="Number of texts of the task.")


class ReadingsSerializer(Plain):
    tasks = ReadingTaskSerializer(many=True)
    folders = serializers.ListField(
        child=serializers.CharField(), help_text="Folders of models on the web server; a worker may have others."
    )
    models = ReadingModelSerializer(many=True)
    last_result = ReadingResultSerializer(allow_null=True)
    job = JobSerializer(allow_null=True, help_text="The newest job that reads, unless it succeeded.")
    withdrawal = JobSerializer(allow_null=True, help_text="The newest job that withdraws, unless it succeeded.")


class ReadingRequestSerializer(Plain):
    task = serializers.ChoiceField(choices=ReadingTask.choices)
    model = serializers.CharField(max_length=200, help_text="A folder below the models folder.")
    evidence = serializers.CharField(
        max_length=200,
        required=False,
        default="",
        allow_blank=True,
        help_text="For effects: a folder with a classifier that finds the evidence sentence of a pair.",
    )


class ReadingStartSerializer(ReadingRequestSerializer):
    on_worker = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Whether the folders may be missing on the web server. The worker then checks their labels.",
    )


class WithdrawalRequestSerializer(Plain):
    task = serializers.ChoiceField(choices=ReadingTask.choices)
    model = serializers.CharField(max_length=200, help_text="Name of the folder, as in the list of models.")


class ReadingLabelSerializer(Plain):
    folder = serializers.ChoiceField(choices=["model", "evidence"])
    name = serializers.CharField(help_text="The label in config.json.")
    meaning = serializers.CharField()


class FolderCheckSerializer(Plain):
    """The check of a folder's labels."""

    problem = serializers.CharField(allow_blank=True, help_text="Why the task cannot use the folder; else empty.")
    head = serializers.CharField(allow_blank=True, help_text="What the model classifies: tokens or sequences.")
    labels = ReadingLabelSerializer(many=True)
    texts = serializers.IntegerField(help_text="Number of texts that the task reads.")


class ReadingListView(APIView):
    @extend_schema(operation_id="readings_get", responses=ReadingsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Return what models have read, and what can be read with."""
        project = permissions.lead_of(signed_in(request), slug).project
        return Response(ReadingsSerializer(queries.page(project)).data)

    @extend_schema(operation_id="readings_start", request=ReadingStartSerializer, responses={202: JobSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Queue a job that reads the texts that the model has not read. An identical unfinished job is returned."""
        member = permissions.lead_of(signed_in(request), slug)
        body = ReadingStartSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return accepted(actions.queue_reading(project=member.project, by=member.user, **body.validated_data))


class FolderCheckView(APIView):
    @extend_schema(
        operation_id="readings_check", parameters=[ReadingRequestSerializer], responses=FolderCheckSerializer
    )
    def get(self, request: Request, slug: str) -> Response:
        """Check the labels of a folder for a task, without loading a model."""
        project = permissions.lead_of(signed_in(request), slug).project
        query = ReadingRequestSerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        return Response(FolderCheckSerializer(queries.check(project, **query.validated_data)).data)


class WithdrawalView(APIView):
    @extend_schema(
        operation_id="readings_withdraw", request=WithdrawalRequestSerializer, responses={202: JobSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Queue a job that withdraws the readings of a model for a task. Decisions that adopted them stay."""
        member = permissions.lead_of(signed_in(request), slug)
        body = WithdrawalRequestSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return accepted(actions.queue_withdrawal(project=member.project, by=member.user, **body.validated_data))
