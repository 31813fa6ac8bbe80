"""Card and value of the kind *write*."""

from typing import Any

from rest_framework import serializers

from annotation.kinds.tuples import FragmentSerializer, RangeSerializer
from annotation.models import SummaryForm
from api.fields import at_most

Plain = serializers.Serializer[Any]
#: Maximum length of a text in code points: several of the longest passages (44,441 in MEDIQA-AnS) taken whole.
LONGEST = 400_000
MOST_CHUNKS, MOST_STEPS = 2_000, 200
PASSAGE_HELP = "Key of the passage. Empty: of all passages."


class WritePassageSerializer(Plain):
    """A passage as stored."""

    key = serializers.CharField()
    text = serializers.CharField(help_text="Exactly as stored. All ranges are of its code points.")
    url = serializers.CharField(allow_blank=True)
    is_page = serializers.BooleanField(help_text="Whether the text is that of the whole page.")
    rating = serializers.IntegerField(allow_null=True, help_text="Current rating, 1 to 4.")
    title_end = serializers.IntegerField(
        help_text="End of the title that the text begins with; 0 if there is none. It is the first of the sentences."
    )
    sentences = RangeSerializer(many=True, help_text="The title and the sentences. A list item begins one.")


class AskedStepSerializer(Plain):
    passage = serializers.CharField(allow_blank=True, help_text=PASSAGE_HELP)
    form = serializers.ChoiceField(choices=SummaryForm.choices)
    limit = serializers.IntegerField(allow_null=True, help_text="Largest number of words or sentences.")


class WriteCardSerializer(Plain):
    """Card of a question with its passages."""

    question = serializers.CharField()
    passages = WritePassageSerializer(many=True)
    asked_steps = AskedStepSerializer(many=True, help_text="The texts to write, in order.")
    limit_unit = serializers.ChoiceField(choices=["words", "sentences"])
    limits_refuse = serializers.BooleanField(help_text="Whether longer texts are refused. Otherwise the page warns.")
    joiner = serializers.CharField(trim_whitespace=False, help_text="Between the chunks of an extractive text.")
    starts_from_extractive = serializers.BooleanField(
        help_text="Whether an abstractive text may start from the person's extractive text."
    )


class ChunkSerializer(FragmentSerializer):
    """An exact range of a passage."""

    passage = serializers.CharField(max_length=60)


class WrittenStepSerializer(Plain):
    """One text. An extractive text consists of its chunks, joined in their order."""

    passage = serializers.CharField(allow_blank=True, max_length=60, help_text=PASSAGE_HELP)
    form = serializers.ChoiceField(choices=SummaryForm.choices)
    text = serializers.CharField(allow_blank=True, trim_whitespace=False, max_length=LONGEST)
    chunks = ChunkSerializer(many=True, default=list, **at_most(MOST_CHUNKS))
    nothing = serializers.BooleanField(default=False, help_text="Nothing is relevant. The text is then empty.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        chunks = attrs["chunks"]
        if attrs["nothing"]:
            if attrs["text"] or chunks:
                raise serializers.ValidationError({"text": "Nothing is relevant, so the text must be empty."})
        elif not attrs["text"].strip():
            raise serializers.ValidationError({"text": "Write a text, or say that nothing is relevant."})
        elif attrs["form"] == SummaryForm.ABSTRACTIVE and chunks:
            raise serializers.ValidationError({"chunks": "An abstractive text has no chunks."})
        elif attrs["form"] == SummaryForm.EXTRACTIVE and not chunks:
            raise serializers.ValidationError({"chunks": "An extractive text consists of chunks of the passages."})
        return attrs


class WriteValueSerializer(Plain):
    """All texts that a person wrote for a question."""

    steps = WrittenStepSerializer(many=True, allow_empty=False, **at_most(MOST_STEPS))

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Reject a text that is given twice, and *nothing relevant* for only one form of a passage."""
        nothing: dict[str, bool] = {}
        seen = set()
        for step in attrs["steps"]:
            name = f"{step['passage'] or 'all passages'}, {step['form']}"
            if name in seen:
                raise serializers.ValidationError({"steps": f"{name}: there are two texts."})
            seen.add(name)
            if nothing.setdefault(step["passage"], step["nothing"]) != step["nothing"]:
                raise serializers.ValidationError(
                    {"steps": f"{step['passage'] or 'All passages'}: nothing relevant applies to both forms."}
                )
        return attrs
