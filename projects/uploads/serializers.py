"""Serializers for the check of an uploaded file, shared by all types of upload."""

from typing import Any

from rest_framework import serializers

from ..jobs.serializers import JobSerializer

Plain = serializers.Serializer[Any]


class FileFaultSerializer(Plain):
    """A fault in a file."""

    file = serializers.CharField(
        help_text="Name of the file; for a workbook with its sheet, such as back.xlsx[answers]."
    )
    line = serializers.IntegerField(help_text="Line or row number, from 1; 0 for the whole file.")
    field = serializers.CharField(help_text='Column or path; "line" or "file" if the location is not more specific.')
    message = serializers.CharField(help_text="What is wrong, and what was expected.")


class FileFaultsSerializer(Plain):
    """The first faults in the order of the file, and the total number of faults."""

    total = serializers.IntegerField()
    listed = FileFaultSerializer(many=True)


class FoundSerializer(Plain):
    """The result of a check: the faults, and other fields that depend on the type of upload."""

    faults = FileFaultsSerializer()


class FileCheckSerializer(JobSerializer):
    """The job that checks a file, with the result of the check."""

    result = FoundSerializer(allow_null=True)  # type: ignore[assignment]
