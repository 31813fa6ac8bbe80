from django.utils import timezone
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
    stalled = serializers.SerializerMethodField(help_text="Whether the worker of a running job stopped responding.")
    rate = serializers.SerializerMethodField(help_text="Items per minute of a running job, recently; null if unknown.")
    seconds_left = serializers.SerializerMethodField(help_text="Estimated by the rate; null while unknown.")
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
            "rate",
            "seconds_left",
            "command",
            "problems",
        ]

    def get_stalled(self, job: Job) -> bool:
        return job.status == JobStatus.RUNNING and not jobs_queries.is_responding(job, timezone.now())

    def get_rate(self, job: Job) -> float | None:
        return job.rate * 60 if job.status == JobStatus.RUNNING and job.rate else None

    def get_seconds_left(self, job: Job) -> float | None:
        rate = self.get_rate(job)
        return None if rate is None or job.total is None else max(job.total - job.done, 0) / rate * 60

    def get_command(self, job: Job) -> str:
        return jobs_queries.command_for(job)


class JobDetailSerializer(JobSerializer):
    """A background job, and who asked for it."""

    by = serializers.SerializerMethodField(help_text="Name of the person who asked; empty for a command.")

    class Meta(JobSerializer.Meta):
        fields = [*JobSerializer.Meta.fields, "by"]

    def get_by(self, job: Job) -> str:
        name: str = self.context["name_of"](job.created_by)
        return name
