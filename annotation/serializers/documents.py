"""The document level in JSON."""

from rest_framework import serializers

from projects.serializers.rounds import JobSerializer

from .corpus import Plain


class UndocumentedSerializer(Plain):
    """Reviews that got no document for one reason."""

    total = serializers.IntegerField()
    first = serializers.ListField(child=serializers.CharField(), help_text="The PMIDs of some.")


class DocumentsMadeSerializer(Plain):
    """What a making of documents came to."""

    made = serializers.IntegerField()
    brought_up_to_date = serializers.IntegerField(help_text="That got other studies, or are of the data set again.")
    taken_out = serializers.IntegerField(help_text="Of reviews that left the data set.")
    of_picked_sentences = serializers.IntegerField(help_text="Made of picked sentences, for want of conclusions.")
    no_conclusions = UndocumentedSerializer(help_text="Neither conclusions nor picked sentences.")
    no_abstracts = UndocumentedSerializer(help_text="No study with an abstract.")


class DocumentsSerializer(Plain):
    """How many reviews of the data set have a document-level target."""

    reviews = serializers.IntegerField(help_text="Of the data set, but for those that were read and have no evidence.")
    made = serializers.IntegerField(help_text="Document-level targets in force.")
    came_to = DocumentsMadeSerializer(allow_null=True, help_text="What the last making of them came to.")
    job = JobSerializer(allow_null=True, help_text="A newer making of them that is under way, or failed.")
