"""What is wrong with a file, in JSON: one shape for whatever people send."""

from typing import Any

from rest_framework import serializers

from .rounds import JobSerializer

Plain = serializers.Serializer[Any]


class FileFaultSerializer(Plain):
    """One thing that is wrong with a file."""

    file = serializers.CharField(help_text="Its name; of a workbook with the sheet, as in back.xlsx[answers].")
    line = serializers.IntegerField(help_text="Line or row, from 1; 0 where the whole file is meant.")
    field = serializers.CharField(help_text='Column or path; "line" or "file" where nothing narrower can be named.')
    message = serializers.CharField(help_text="What is wrong, and what was expected.")


class FileFaultsSerializer(Plain):
    """The first faults in the order of the file, and how many there are in all."""

    total = serializers.IntegerField()
    listed = FileFaultSerializer(many=True)


class FoundSerializer(Plain):
    """What a check found: beside the faults, what writing the file would come to, which every upload has of its own."""

    faults = FileFaultsSerializer()


class FileCheckSerializer(JobSerializer):
    """The job that checks a file; its result is what it found."""

    result = FoundSerializer(allow_null=True)  # type: ignore[assignment]
