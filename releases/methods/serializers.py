"""Serializers of the methods text."""

from typing import Any

from rest_framework import serializers

from projects.jobs.serializers import JobSerializer

Plain = serializers.Serializer[Any]


class MethodsSectionSerializer(Plain):
    title = serializers.CharField()
    paragraphs = serializers.ListField(child=serializers.CharField())


class MethodsGapSerializer(Plain):
    """Information that is missing."""

    section = serializers.CharField()
    what = serializers.CharField()
    page = serializers.CharField(help_text="Page on which to enter it, relative to the project's page.")


class MethodsTextSerializer(Plain):
    sections = MethodsSectionSerializer(many=True)
    gaps = MethodsGapSerializer(many=True)
    markdown = serializers.CharField(help_text="Content of methods.md.")
    latex = serializers.CharField(help_text="Content of methods.tex.")


class MethodsSerializer(Plain):
    """The stored text."""

    text = MethodsTextSerializer(allow_null=True, help_text="Null until a job has written it.")
    as_of = serializers.DateTimeField(allow_null=True, help_text="Changes until this time are included.")
    is_current = serializers.BooleanField(help_text="Whether nothing has changed since.")
    job = JobSerializer(allow_null=True, help_text="The job that writes the text, or that failed to.")
