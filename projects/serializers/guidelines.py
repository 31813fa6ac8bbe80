"""Guideline versions and the audit trail in JSON."""

from typing import Any

from rest_framework import serializers

from api.fields import Strict
from audit.models import Entry

from .. import kinds, markdown
from ..models import Guideline
from ..permissions import may


class GuidelineRowSerializer(serializers.ModelSerializer[Guideline]):
    class Meta:
        model = Guideline
        fields = ["id", "kind", "number", "digest", "created_at"]
        read_only_fields = fields


class GuidelineSerializer(GuidelineRowSerializer):
    html = serializers.SerializerMethodField(help_text="Rendered from the Markdown and reduced to safe elements.")

    class Meta(GuidelineRowSerializer.Meta):
        fields = [*GuidelineRowSerializer.Meta.fields, "text", "html"]
        read_only_fields = fields

    def get_html(self, guideline: Guideline) -> str:
        return markdown.as_html(guideline.text)


class NewGuidelineSerializer(Strict):
    kind = serializers.ChoiceField(choices=kinds.choices())
    text = serializers.CharField(max_length=markdown.LONGEST, trim_whitespace=False, help_text="Markdown.")


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
