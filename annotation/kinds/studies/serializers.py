"""The shapes of the studies kind."""

from typing import Any

from rest_framework import serializers

from api.fields import at_most

from ...corpus.items import PMID
from ...models import AbstractMissing

Plain = serializers.Serializer[Any]
#: No review includes more.
MOST = 2_000


class CitedSerializer(Plain):
    """A reference of the review that can be picked."""

    pmid = serializers.CharField(allow_blank=True, help_text="Empty where none is given.")
    text = serializers.CharField(allow_blank=True, help_text="What is known of it: its title, or how it is cited.")
    marked = serializers.BooleanField(help_text="Whether the full text marks it as an included study.")


class TextPartSerializer(Plain):
    title = serializers.CharField()
    text = serializers.CharField()


class FullTextSerializer(Plain):
    """Where the full text is from, and what it says of the included studies."""

    source = serializers.CharField(help_text="An address, or a file's name.")  # type: ignore[assignment]
    licence = serializers.CharField(allow_blank=True)
    licence_url = serializers.CharField(allow_blank=True)
    sections = TextPartSerializer(many=True)


class StudiesCardSerializer(Plain):
    """What a person is shown of a review."""

    pmid = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    abstract = serializers.CharField(allow_blank=True)
    year = serializers.IntegerField(allow_null=True, help_text="Of publication.")
    full_text = FullTextSerializer(allow_null=True, help_text="Null where none was brought in.")
    cited = CitedSerializer(many=True, help_text="Its references, those that are marked as included studies first.")


class ListedStudySerializer(Plain):
    pmid = serializers.RegexField(f"^{PMID.pattern}$", max_length=10)
    missing = serializers.ChoiceField(
        choices=AbstractMissing.choices, allow_blank=True, default="",
        help_text="Why its abstract cannot be had; empty where it can.",
    )  # fmt: skip


class IncludedStudiesSerializer(Plain):
    """The studies that a review includes, in the order of the list."""

    listed = ListedStudySerializer(many=True, **at_most(MOST))
    without_pmid = serializers.IntegerField(
        min_value=0, max_value=MOST, default=0, help_text="How many more it includes that PubMed does not have."
    )

    def validate_listed(self, listed: list[dict[str, Any]]) -> list[dict[str, Any]]:
        pmids = [one["pmid"] for one in listed]
        if twice := sorted({pmid for pmid in pmids if pmids.count(pmid) > 1}):
            raise serializers.ValidationError(f"Listed twice: {', '.join(twice[:5])}.")
        return listed


class StudiesValueSerializer(Plain):
    included_studies = IncludedStudiesSerializer()
