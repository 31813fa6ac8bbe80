"""Figures about a project that jobs compute and pages only read."""

from django.db import models

from .project import Project


class StoredFigures(models.Model):
    """One set of figures about a project, computed from all of its rows and replaced by the next computation."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="stored_figures")
    key = models.CharField(max_length=40, help_text="Name of the set, such as `corpus`.")
    rule = models.PositiveSmallIntegerField(help_text="Version of the computation. Other versions are not shown.")
    # Text, not JSON: PostgreSQL would reorder the keys.
    figures = models.TextField(help_text="The figures as JSON.")
    as_of = models.DateTimeField(help_text="Time at which the computation began to read. Earlier changes are included.")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["project", "key"], name="one_row_per_set_of_figures")]

    def __str__(self) -> str:
        return f"figures {self.key} of project {self.project_id}"
