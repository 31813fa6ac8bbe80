from rest_framework import serializers

from ..models.job import Job, JobProblem, JobStatus
from . import queries as jobs_queries


class JobProblemSerializer(serializers.ModelSerializer[JobProblem]):
    class Meta:
        model = JobProblem
        fields = ["item", "message", "at"]


class JobSerializer(serializers.ModelSerializer[Job]):
    """A background job: its progress and, if it failed, the reason."""

    status = serializers.ChoiceField(choices=JobStatus.choices)
    result = serializers.JSONField(allow_null=True)
    problems = JobProblemSerializer(many=True)
    stalled = serializers.BooleanField(help_text="Whether the worker stopped responding: its lease has expired.")
    command = serializers.SerializerMethodField(
        help_text="Command that starts a worker, if the job has waited too long for one; else empty."
    )

    class Meta:
        model = Job
        fields = [
            "id",
            "kind",
            "status",
            "done",
            "total",
            "note",
            "result",
            "error",
            "attempts",
            "created_at",
            "started_at",
            "finished_at",
            "stalled",
            "command",
            "problems",
        ]

    def get_command(self, job: Job) -> str:
        return jobs_queries.command_for(job)
