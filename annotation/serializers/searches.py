"""Searches of PubMed in JSON."""

from typing import Any

from rest_framework import serializers

from projects.serializers.rounds import JobSerializer

from ..models import Search
from .corpus import Plain, ReviewRefSerializer

DO = ("go on", "stop")


class NewSearchSerializer(Plain):
    """A query in PubMed's own words; what it finds become reviews of the project."""

    query = serializers.CharField(max_length=5_000)
    topic = serializers.CharField(max_length=120, required=False, default="", allow_blank=True)
    date_from = serializers.DateField(required=False, default=None, allow_null=True, help_text="Of publication.")
    date_to = serializers.DateField(required=False, default=None, allow_null=True)


class NewStudiesSerializer(Plain):
    """What becomes studies of a review: pasted PubMed ids, what the review cites, or both; with neither, those of its
    studies that were not read yet. Without a review, all studies of the project that were not read yet."""

    review = serializers.CharField(
        max_length=40, required=False, default="", allow_blank=True, help_text="PMID of a review of the project."
    )
    pmids = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=200_000, help_text="Apart by spaces, commas or lines."
    )
    references = serializers.BooleanField(required=False, default=False, help_text="All that the review cites.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs["review"].strip() and (attrs["pmids"].strip() or attrs["references"]):
            raise serializers.ValidationError({"review": "Say of which review they are the studies."})
        return attrs


class UnreadStudiesSerializer(Plain):
    unread = serializers.IntegerField(help_text="Studies that are known by their PubMed ids alone.")


class SearchCountsSerializer(Plain):
    """What became of the records that were found."""

    waiting = serializers.IntegerField()
    new = serializers.IntegerField()
    known = serializers.IntegerField(help_text="The project had them already.")
    missing = serializers.IntegerField(help_text="PubMed had no record of them.")
    unfit = serializers.IntegerField(help_text="Whose records could not be taken.")


class UnfitRecordSerializer(Plain):
    pmid = serializers.CharField()
    why = serializers.CharField(help_text="Why its record could not be taken.")


class SearchRowSerializer(Plain):
    """One search: what was asked, by whom, and how far it is."""

    id = serializers.IntegerField()
    review = ReviewRefSerializer(
        allow_null=True, help_text="Whose studies these are; null for a query, and for studies of any review."
    )
    topic = serializers.CharField(allow_blank=True)
    query = serializers.CharField(allow_blank=True)
    date_from = serializers.DateField(allow_null=True)
    date_to = serializers.DateField(allow_null=True)
    translation = serializers.CharField(allow_blank=True, help_text="The query as PubMed understood it.")
    found = serializers.IntegerField(allow_null=True, help_text="Null until PubMed has been asked.")
    state = serializers.ChoiceField(choices=Search.State.choices)
    error = serializers.CharField(allow_blank=True)
    counts = SearchCountsSerializer()
    unfit = UnfitRecordSerializer(many=True, help_text="Records that could not be taken; the first of them.")
    job = JobSerializer(allow_null=True, help_text="While it is under way.")
    by = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()


class SearchActSerializer(Plain):
    do = serializers.ChoiceField(choices=DO)


class PubMedAccessSerializer(Plain):
    """How a person asks PubMed. The key is never told."""

    email = serializers.CharField()
    has_key = serializers.BooleanField()


class NewPubMedAccessSerializer(Plain):
    email = serializers.EmailField(max_length=254)
    key = serializers.RegexField(
        r"^[A-Za-z0-9]{0,64}$", required=False, default=None, allow_null=True, allow_blank=True,
        help_text="Left out: the one that is kept stays; empty: it is removed.",
    )  # fmt: skip


class FullTextsGotSerializer(Plain):
    """What an asking for full texts came to."""

    asked = serializers.IntegerField(help_text="Reviews without one.")
    kept = serializers.IntegerField()
    withheld = serializers.IntegerField(help_text="Whose publisher gives no text out.")
    not_there = serializers.IntegerField(help_text="That PubMed Central does not have.")


class FullTextsSerializer(Plain):
    """How many reviews of the data set have their full text."""

    reviews = serializers.IntegerField()
    there = serializers.IntegerField(help_text="Of these, with their full text.")
    lacking = serializers.IntegerField(help_text="Without it, and known by a PubMed id.")
    came_to = FullTextsGotSerializer(allow_null=True, help_text="What the last asking came to.")
    job = JobSerializer(allow_null=True, help_text="A newer asking that is under way, or failed.")
