"""Serializers of guideline versions and of the audit log."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.fields import Strict, at_most
from audit.models import Entry

from .. import kinds
from ..concerns.queries import in_words
from ..models import Guideline
from ..permissions import may
from . import markdown


class QuestionSerializer(Strict):
    """A question about the guideline, asked before a round."""

    question = serializers.CharField(max_length=1000)
    options = serializers.ListField(child=serializers.CharField(max_length=500), min_length=2, max_length=6)
    right = serializers.IntegerField(min_value=0, max_value=5, help_text="Index of the correct option, from 0.")
    explanation = serializers.CharField(max_length=2000, allow_blank=True, default="")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["right"] >= len(attrs["options"]):
            raise serializers.ValidationError({"right": "The index of the correct option must be one of the options."})
        return attrs


class ConcernSerializer(Strict):
    """A field that a version concerns, with the concerned values. Without values, any value is concerned."""

    field = serializers.CharField(max_length=30)
    values = serializers.ListField(child=serializers.CharField(max_length=60), **at_most(60))


class ConcernedValueSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    title = serializers.CharField()


class FieldChoiceSerializer(serializers.Serializer[Any]):
    """A field of a kind, with the values that a change of its guideline can concern."""

    field = serializers.CharField()
    title = serializers.CharField()
    values = ConcernedValueSerializer(many=True, help_text="Empty if the field can only be concerned as a whole.")


class GuidelineRowSerializer(serializers.ModelSerializer[Guideline]):
    kind_title = serializers.SerializerMethodField(help_text="Title of the task kind.")
    questions_count = serializers.SerializerMethodField(help_text="Number of questions.")
    in_use_since = serializers.DateTimeField(
        allow_null=True, help_text="When the newest open round with this version opened; null without one."
    )

    concerns = ConcernSerializer(many=True)
    concerns_in_words = serializers.SerializerMethodField(help_text="What the version concerns, a line for each field.")

    class Meta:
        model = Guideline
        fields = [
            "id",
            "kind",
            "kind_title",
            "number",
            "digest",
            "questions_count",
            "in_use_since",
            "created_at",
            "scope",
            "concerns",
            "concerns_in_words",
            "reason",
        ]
        read_only_fields = fields

    def get_kind_title(self, guideline: Guideline) -> str:
        return kinds.get(guideline.kind).title

    def get_concerns_in_words(self, guideline: Guideline) -> list[str]:
        return in_words(guideline.kind, guideline.scope, guideline.concerns)

    def get_questions_count(self, guideline: Guideline) -> int:
        return len(guideline.questions)


class GuidelineSerializer(GuidelineRowSerializer):
    """A guideline version with its text and questions.

    ``questions`` is null for people who may not write guidelines, because it contains the right options.
    """

    questions = serializers.SerializerMethodField()
    html = serializers.SerializerMethodField(help_text="Sanitised HTML, rendered from the Markdown text.")

    class Meta(GuidelineRowSerializer.Meta):
        fields = [
            *(name for name in GuidelineRowSerializer.Meta.fields if name != "in_use_since"),
            "text",
            "html",
            "questions",
        ]
        read_only_fields = fields

    def get_html(self, guideline: Guideline) -> str:
        return markdown.as_html(guideline.text)

    @extend_schema_field(QuestionSerializer(many=True, allow_null=True))
    def get_questions(self, guideline: Guideline) -> list[Any] | None:
        return guideline.questions if self.context.get("writes") else None


class NewGuidelineSerializer(Strict):
    kind = serializers.ChoiceField(choices=kinds.choices())
    text = serializers.CharField(max_length=markdown.MAX_LENGTH, trim_whitespace=False, help_text="Text in Markdown.")
    questions = QuestionSerializer(many=True, required=False, **at_most(30))
    scope = serializers.ChoiceField(
        choices=Guideline.Scope.choices, allow_blank=True, default="", help_text="Answers that the change concerns."
    )
    concerns = ConcernSerializer(many=True, required=False, **at_most(20), help_text="With the scope `values`.")
    reason = serializers.CharField(
        max_length=5000,
        allow_blank=True,
        default="",
        help_text="Why the version was written. Required from version 2 on if it concerns answers.",
    )


class PlannedChangeSerializer(Strict):
    """What the next version of a guideline would concern."""

    kind = serializers.ChoiceField(choices=kinds.choices())
    scope = serializers.ChoiceField(choices=Guideline.Scope.choices, allow_blank=True)
    concerns = ConcernSerializer(many=True, required=False, **at_most(20))


class AffectedSerializer(serializers.Serializer[Any]):
    """Units that a change concerns and that were not revisited."""

    units = serializers.IntegerField()
    current = serializers.IntegerField(help_text="Units whose current value is concerned.")
    answered = serializers.IntegerField(help_text="Other units: only an answer is concerned.")


class PreviewSerializer(Strict):
    text = serializers.CharField(
        max_length=markdown.MAX_LENGTH, trim_whitespace=False, allow_blank=True, help_text="Text in Markdown."
    )


class PreviewedSerializer(serializers.Serializer[Any]):
    html = serializers.CharField(help_text="Sanitised HTML.")


#: Log fields with restricted access, and the permission that each requires.
WITHHELD = {"email": "see e-mail addresses", "label": "manage participant links"}


class EntrySerializer(serializers.ModelSerializer[Entry]):
    """An entry of the audit log. ``checkpoint`` is the number of the audit checkpoint that covers it, or null."""

    actor = serializers.CharField(source="actor.name", default=None, allow_null=True)
    checkpoint = serializers.IntegerField(source="checkpoint.number", default=None, allow_null=True)
    before = serializers.SerializerMethodField()
    after = serializers.SerializerMethodField()
    digest = serializers.SerializerMethodField(
        help_text="Empty if a field is withheld, because the digest would confirm a guess of its value."
    )

    class Meta:
        model = Entry
        fields = [
            "id",
            "at",
            "actor",
            "verb",
            "object_type",
            "object_id",
            "before",
            "after",
            "reason",
            "digest",
            "checkpoint",
        ]
        read_only_fields = fields

    def _withheld(self, entry: Entry) -> set[str]:
        """Return the fields of the entry that the requesting member may not see."""
        entry_fields = {*(entry.before or {}), *(entry.after or {})}
        return {
            field for field, verb in WITHHELD.items() if field in entry_fields and not may(self.context["asking"], verb)
        }

    def get_before(self, entry: Entry) -> dict[str, Any] | None:
        return entry.before and entry.before | dict.fromkeys(self._withheld(entry) & set(entry.before))

    def get_after(self, entry: Entry) -> dict[str, Any] | None:
        return entry.after and entry.after | dict.fromkeys(self._withheld(entry) & set(entry.after))

    def get_digest(self, entry: Entry) -> str:
        return "" if self._withheld(entry) else entry.digest
