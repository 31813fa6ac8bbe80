"""Own corpora: saved mappings of columns, and the values of columns that have no field of their own."""

from django.conf import settings
from django.db import models

from projects.models import ArrivedManager, Import, Project, Unit


class SavedMapping(models.Model):
    """A mapping of columns that people of a project use again. ``content`` is JSON, in the order of the columns."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="mappings", db_index=False)
    name = models.CharField(max_length=80)
    content = models.TextField(help_text="JSON text, because PostgreSQL would reorder the keys of a JSON column.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    changed_at = models.DateTimeField()

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="one_mapping_per_name")]

    def __str__(self) -> str:
        return self.name


class ImportedMapping(models.Model):
    """The mapping with which a table was imported."""

    imported = models.OneToOneField(Import, on_delete=models.PROTECT, related_name="mapping")
    content = models.TextField(help_text="JSON text, in the order of the columns.")

    class Meta:
        ordering = ["id"]


class ColumnValues(models.Model):
    """The values that a table has for an item or one of its inputs, and for which no other table has a field."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="column_values", db_index=False)
    position = models.PositiveIntegerField(default=0, help_text="0: of the item. From 1: of an input of a target.")
    details = models.JSONField(default=dict, blank=True, help_text="Background, topic, split or title.")
    kept = models.JSONField(default=dict, blank=True, help_text="Columns that were kept as they are, by name.")
    imported = models.ForeignKey(Import, on_delete=models.PROTECT, related_name="+")

    objects = ArrivedManager["ColumnValues"]()
    with_arriving = models.Manager["ColumnValues"]()

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "column values"
        constraints = [models.UniqueConstraint(fields=["unit", "position", "imported"], name="one_row_per_input")]
