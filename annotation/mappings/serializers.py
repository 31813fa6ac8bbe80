"""JSON of mappings and of the first rows of a table."""

from typing import Any

from rest_framework import serializers

from ..formats.columns.mapping import LONGEST_JSON  # fmt: skip
from ..models import SavedMapping

Plain = serializers.Serializer[Any]


class ColumnSerializer(Plain):
    """A column of a table and its role."""

    name = serializers.CharField(max_length=500, trim_whitespace=False)
    role = serializers.CharField()
    is_guessed = serializers.BooleanField(help_text="Whether nobody has set or confirmed the role.")
    split = serializers.CharField(
        allow_blank=True, max_length=20, trim_whitespace=False, help_text="Text that separates inputs in one cell."
    )
    of = serializers.CharField(help_text="Of a title or summary: what it belongs to.")
    form = serializers.CharField(help_text="Of a written summary.")
    writer = serializers.CharField(
        allow_blank=True, max_length=100, help_text="Of a written summary; or the name of a system."
    )
    kind = serializers.CharField(help_text="Of a label.")
    low = serializers.IntegerField(help_text="Lowest rating.")
    high = serializers.IntegerField(help_text="Highest rating.")
    untag = serializers.BooleanField(help_text="Whether MS^2's tags are removed from an input.")


class MappingContentSerializer(Plain):
    """A mapping of columns, with the settings by which the file is read."""

    format = serializers.CharField()
    encoding = serializers.CharField()
    delimiter = serializers.CharField(trim_whitespace=False)
    quote = serializers.CharField(allow_blank=True, trim_whitespace=False)
    header = serializers.BooleanField(help_text="Whether the first row names the columns.")
    rows = serializers.CharField(help_text="What one row is.")
    level = serializers.CharField(help_text="What a target is.")
    guessed = serializers.ListField(child=serializers.CharField(), help_text="Settings that nobody has set.")
    columns = ColumnSerializer(many=True)


class TrySerializer(Plain):
    job = serializers.IntegerField(help_text="The check_import job of the uploaded file.")
    columns = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=LONGEST_JSON, help_text="The mapping as JSON."
    )
    mapping = serializers.IntegerField(required=False, allow_null=True, default=None, help_text="A saved mapping.")


class MappedCheckSerializer(Plain):
    job = serializers.IntegerField(help_text="The check_import job of the uploaded file.")
    columns = serializers.CharField(max_length=LONGEST_JSON, help_text="The mapping as JSON.")


class TableRowSerializer(Plain):
    line = serializers.IntegerField()
    cells = serializers.ListField(child=serializers.CharField(allow_blank=True), help_text="Shortened texts.")
    faults = serializers.DictField(child=serializers.CharField(), help_text="Faults by number of the column, from 0.")


class FixSerializer(Plain):
    button = serializers.CharField(help_text="Text of the button.")
    settings = serializers.DictField(child=serializers.CharField(allow_blank=True))


class TableFaultSerializer(Plain):
    """A fault, or the first of several similar ones."""

    line = serializers.IntegerField()
    column = serializers.CharField()
    message = serializers.CharField()
    count = serializers.IntegerField(help_text="Number of rows with similar faults.")
    fix = FixSerializer(allow_null=True, help_text="Setting that mends the fault.")


class RoleProblemSerializer(Plain):
    column = serializers.CharField(allow_blank=True)
    message = serializers.CharField()


class TableInputSerializer(Plain):
    id = serializers.CharField()
    text = serializers.CharField(allow_null=True)
    rating = serializers.IntegerField(required=False, allow_null=True)


class TableItemSerializer(Plain):
    """An item that the first rows become."""

    key = serializers.CharField()
    title = serializers.CharField(required=False)
    question = serializers.CharField(required=False)
    background = serializers.CharField(required=False)
    topic = serializers.CharField(required=False)
    split = serializers.CharField(required=False)
    target = serializers.CharField(required=False, allow_blank=True)
    kept = serializers.DictField(child=serializers.CharField(allow_blank=True))
    outputs = serializers.DictField(
        child=serializers.CharField(allow_blank=True), help_text="Summaries of systems by column."
    )
    labels = serializers.DictField(child=serializers.CharField(), help_text="Labels by kind.")
    inputs = TableInputSerializer(many=True)


class TriedSerializer(MappingContentSerializer):
    """The first rows of a table with a mapping."""

    shape = serializers.CharField(allow_blank=True, help_text="documents, sentences, questions or pages.")
    size = serializers.IntegerField(help_text="Size of the file in bytes.")
    rows_read = serializers.IntegerField()
    is_complete = serializers.BooleanField(help_text="Whether these are all rows.")
    first_rows = TableRowSerializer(many=True)
    fault_rows = TableRowSerializer(many=True)
    faults = TableFaultSerializer(many=True)
    faults_total = serializers.IntegerField()
    missing = RoleProblemSerializer(many=True)
    unconfirmed = serializers.ListField(child=serializers.CharField(), help_text="Columns to confirm.")
    counts = serializers.DictField(child=serializers.IntegerField())
    items = TableItemSerializer(many=True)


class SavedMappingSerializer(serializers.ModelSerializer[SavedMapping]):
    """A saved mapping, without its content."""

    class Meta:
        model = SavedMapping
        fields = ["id", "name", "changed_at"]


class SaveMappingSerializer(Plain):
    name = serializers.CharField(max_length=80)
    columns = serializers.CharField(max_length=LONGEST_JSON, help_text="The mapping as JSON.")


class ExportedMappingSerializer(Plain):
    id = serializers.IntegerField()
    name = serializers.CharField()
    content = serializers.CharField(help_text="The mapping as JSON, for ``--map-file``.")
