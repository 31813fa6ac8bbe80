"""Serializers of the kinds of material, and of their lists."""

from typing import Any

from rest_framework import serializers

from ..stored_figures.serializers import StoredSerializer

Plain = serializers.Serializer[Any]


class MaterialColumnSerializer(Plain):
    key = serializers.CharField()
    title = serializers.CharField()
    type = serializers.ChoiceField(choices=["text", "count", "year", "state"])
    sortable = serializers.BooleanField(source="fields")


class MaterialStateSerializer(Plain):
    key = serializers.CharField()
    title = serializers.CharField()
    count = serializers.IntegerField(allow_null=True, help_text="Null unless it is stored and current.")


class MaterialOptionSerializer(Plain):
    key = serializers.CharField()
    title = serializers.CharField()


class MaterialChoiceSerializer(Plain):
    key = serializers.ChoiceField(choices=["year", "studies"], help_text="Name of the filter.")
    title = serializers.CharField()
    options = MaterialOptionSerializer(many=True)


class MaterialKindSerializer(Plain):
    """A kind of material that the project has."""

    key = serializers.CharField()
    singular = serializers.CharField()
    plural = serializers.CharField()
    count = serializers.IntegerField(allow_null=True, help_text="Null until it is computed.")
    listed = serializers.BooleanField(source="is_listed", help_text="Whether *Corpus* has a tab for it.")
    searched = serializers.BooleanField(source="is_searched", help_text="Whether the search of a project finds it.")
    columns = MaterialColumnSerializer(many=True)
    states = MaterialStateSerializer(many=True, help_text="States that its list can be filtered by.")
    choices = MaterialChoiceSerializer(many=True, help_text="Further filters of its list.")


class MaterialsSerializer(StoredSerializer):
    """Kinds of material in a project, in order. The counts are stored figures."""

    kinds = MaterialKindSerializer(many=True)
    unused_pages = serializers.ListField(
        child=serializers.CharField(), help_text="Pages of the navigation that are of no use with these kinds."
    )


class MaterialFiltersSerializer(Plain):
    search = serializers.CharField(required=False, max_length=500, help_text="Words that a row must contain.")
    state = serializers.CharField(required=False, help_text="A state of the kind.")
    year = serializers.CharField(required=False, help_text="A range of years of the kind.")
    studies = serializers.CharField(required=False, help_text="A range of numbers of studies of the kind.")
    ordering = serializers.CharField(required=False, help_text="Key of a sortable column; `-` reverses it.")


class MaterialRowSerializer(Plain):
    id = serializers.IntegerField()
    cells = serializers.ListField(
        child=serializers.CharField(allow_null=True, allow_blank=True), help_text="In the order of the columns."
    )
    page = serializers.CharField(allow_blank=True, help_text="Relative to the project. Empty if there is none.")


class MatchSerializer(Plain):
    name = serializers.CharField()
    page = serializers.CharField(help_text="Relative to the project.")


class MatchesSerializer(Plain):
    """The first matches of a search among one kind of material."""

    key = serializers.CharField()
    singular = serializers.CharField()
    plural = serializers.CharField()
    total = serializers.IntegerField()
    capped = serializers.BooleanField(help_text="Whether there are more matches than `total`.")
    matches = MatchSerializer(many=True)
