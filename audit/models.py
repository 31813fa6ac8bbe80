"""The append-only audit log, and the checkpoints that make later changes detectable.

Rows of :class:`Entry`, and of each model that other apps register as leaves (answers, decisions), have a digest of
their content. A :class:`Checkpoint` binds new rows to all checkpoints before it. Triggers
(``audit.triggers``) allow one change of a row: setting its checkpoint.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models

from .digests import digest_of


class AppendOnly(models.Model):
    """Base class of models whose rows are never changed or deleted.

    ``migrate`` installs the triggers of their tables (``audit.triggers``). In rows of a :class:`Leaf` the checkpoint
    can be set once.
    """

    class Meta:
        abstract = True


class Checkpoint(AppendOnly):
    """An audit checkpoint: ``digest = H(previous digest, root)``. The root covers the checkpoint's header and rows."""

    number = models.PositiveBigIntegerField(unique=True)
    previous = models.CharField(max_length=64, help_text="Digest of the previous checkpoint; 64 zeros for the first.")
    root = models.CharField(max_length=64, help_text="Merkle root of the header and the rows, in their order.")
    leaves = models.PositiveBigIntegerField(help_text="Number of rows in the checkpoint.")
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["number"]

    def __str__(self) -> str:
        return f"checkpoint {self.number}"


class Leaf(AppendOnly):
    """Base class of rows that a checkpoint can cover. ``digest`` covers the content that `registry.register` names.

    The column keeps its first name, because triggers of existing databases contain it.
    """

    digest = models.CharField(max_length=64, editable=False)
    checkpoint = models.ForeignKey(
        Checkpoint,
        null=True,
        blank=True,
        editable=False,
        on_delete=models.PROTECT,
        related_name="+",
        db_column="seal_id",
    )

    class Meta:
        abstract = True


class Entry(Leaf):
    """An entry of the audit log: an action of an actor on an object, with the values before and after."""

    at = models.DateTimeField(db_index=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    # Not a foreign key: the audit app does not depend on projects, and entries remain after a project is deleted.
    project = models.BigIntegerField(null=True, blank=True)
    verb = models.CharField(max_length=60)
    object_type = models.CharField(max_length=60)
    object_id = models.CharField(max_length=64)
    before = models.JSONField(null=True, blank=True)
    after = models.JSONField(null=True, blank=True)
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "entries"
        indexes = [
            models.Index(fields=["project", "id"]),
            models.Index(fields=["object_type", "object_id", "id"]),
            models.Index(fields=["id"], name="audit_entry_no_checkpoint", condition=models.Q(checkpoint__isnull=True)),
        ]

    def __str__(self) -> str:
        return f"{self.verb} {self.object_type} {self.object_id}"


class RowDigest(Leaf):
    """Digests of some rows of a tracked table (``audit.row_digests``)."""

    label = models.CharField(max_length=60, help_text="Label of the tracked model.")
    names = models.JSONField(help_text="Columns and parts that the digests cover.")
    digests = models.JSONField(help_text="SHA-256 of the content, by row id.")
    first = models.BigIntegerField(help_text="Lowest id.")
    last = models.BigIntegerField(help_text="Highest id.")
    count = models.PositiveIntegerField()
    made_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "row digests"
        constraints = [models.UniqueConstraint(fields=["label", "first"], name="one_digest_per_row")]
        indexes = [
            models.Index(fields=["label", "last"], name="row_digest_last"),
            models.Index(fields=["id"], name="row_digest_no_checkpoint", condition=models.Q(checkpoint__isnull=True)),
        ]

    def __str__(self) -> str:
        return f"digests of {self.count} rows of {self.label}"

    @classmethod
    def of(cls, label: str, names: Sequence[str], digests: Mapping[int, str], now: datetime) -> "RowDigest":
        """Build an instance with its own digest, without saving it."""
        row_digest = cls(
            label=label,
            names=list(names),
            digests={str(pk): digest for pk, digest in digests.items()},
            first=min(digests),
            last=max(digests),
            count=len(digests),
            made_at=now,
        )
        row_digest.digest = digest_of(row_digest.content())
        return row_digest

    def content(self) -> dict[str, Any]:
        """Return the content that the digest covers, with the field names of the first version."""
        return {
            "watched": self.label,
            "names": self.names,
            "digests": self.digests,
            "first": self.first,
            "last": self.last,
            "count": self.count,
            "made_at": self.made_at,
        }
