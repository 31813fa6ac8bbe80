"""Guideline versions and the audit trail in JSON."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.fields import Strict, at_most
from audit.models import Entry

from .. import kinds
from ..models import Guideline
from ..pages import markdown
from ..permissions import may


class QuestionSerializer(Strict):
    """A question about the guideline, asked before a round."""

    question = serializers.CharField(max_length=1000)
    options = serializers.ListField(child=serializers.CharField(max_length=500), min_length=2, max_length=6)
    right = serializers.IntegerField(min_value=0, max_value=5, help_text="Which option is right, from 0.")
    explanation = serializers.CharField(max_length=2000, allow_blank=True, default="")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["right"] >= len(attrs["options"]):
            raise serializers.ValidationError({"right": "Choose one of the options."})
        return attrs


class GuidelineRowSerializer(serializers.ModelSerializer[Guideline]):
    questions_count = serializers.SerializerMethodField(help_text="How many questions it has.")

    class Meta:
        model = Guideline
        fields = ["id", "kind", "number", "digest", "questions_count", "created_at"]
        read_only_fields = fields

    def get_questions_count(self, guideline: Guideline) -> int:
        return len(guideline.questions)


class GuidelineSerializer(GuidelineRowSerializer):
    """``questions`` is null for who may not write guidelines: it says which options are right."""

    questions = serializers.SerializerMethodField()
    html = serializers.SerializerMethodField(help_text="Rendered from the Markdown and reduced to safe elements.")

    class Meta(GuidelineRowSerializer.Meta):
        fields = [*GuidelineRowSerializer.Meta.fields, "text", "html", "questions"]
        read_only_fields = fields

    def get_html(self, guideline: Guideline) -> str:
        return markdown.as_html(guideline.text)

    @extend_schema_field(QuestionSerializer(many=True, allow_null=True))
    def get_questions(self, guideline: Guideline) -> list[Any] | None:
        return guideline.questions if self.context.get("writes") else None


class NewGuidelineSerializer(Strict):
    kind = serializers.ChoiceField(choices=kinds.choices())
    text = serializers.CharField(max_length=markdown.LONGEST, trim_whitespace=False, help_text="Markdown.")
    questions = QuestionSerializer(many=True, required=False, **at_most(30))


class PreviewSerializer(Strict):
    text = serializers.CharField(
        max_length=markdown.LONGEST, trim_whitespace=False, allow_blank=True, help_text="Markdown."
    )  # fmt: skip


class PreviewedSerializer(serializers.Serializer[Any]):
    html = serializers.CharField(help_text="Reduced to safe elements.")


#: Fields of entries that not everybody who reads the log may see, and what one must be allowed to.
WITHHELD = {"email": "see e-mail addresses", "label": "let volunteers in"}


class EntrySerializer(serializers.ModelSerializer[Entry]):
    """One act. ``seal`` is the number of the seal that covers it; null while none does."""

    actor = serializers.CharField(source="actor.name", default=None, allow_null=True)
    seal = serializers.IntegerField(source="seal.number", default=None, allow_null=True)
    before = serializers.SerializerMethodField()
    after = serializers.SerializerMethodField()
    digest = serializers.SerializerMethodField(
        help_text="Empty where something is withheld: it would confirm a guess at what."
    )

    class Meta:
        model = Entry
        fields = [
            "id", "at", "actor", "verb", "object_type", "object_id", "before", "after", "reason", "digest", "seal",
        ]  # fmt: skip
        read_only_fields = fields

    def _withheld(self, entry: Entry) -> set[str]:
        """The fields of the entry that are not for whoever asks."""
        said = {*(entry.before or {}), *(entry.after or {})}
        return {field for field, verb in WITHHELD.items() if field in said and not may(self.context["asking"], verb)}

    def get_before(self, entry: Entry) -> dict[str, Any] | None:
        return entry.before and entry.before | dict.fromkeys(self._withheld(entry) & set(entry.before))

    def get_after(self, entry: Entry) -> dict[str, Any] | None:
        return entry.after and entry.after | dict.fromkeys(self._withheld(entry) & set(entry.after))

    def get_digest(self, entry: Entry) -> str:
        return "" if self._withheld(entry) else entry.digest
