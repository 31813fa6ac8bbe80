from typing import Any

from rest_framework import serializers

from ..jobs.serializers import JobSerializer


class StoredSerializer(serializers.Serializer[Any]):
    """Figures that a job computes after changes. A subclass declares ``figures``."""

    as_of = serializers.DateTimeField(
        allow_null=True, help_text="Changes until this time are included. Null until they are computed."
    )
    job = JobSerializer(
        allow_null=True, help_text="The job that will replace the figures, or that failed. Null if they are current."
    )
