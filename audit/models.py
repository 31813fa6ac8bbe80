"""The append-only log: what was done, by whom, and the seals that make a later change visible.

Rows of :class:`Entry`, and of every model that other apps register as leaves (answers, decisions), carry a digest
of their content. A :class:`Seal` binds a run of such rows to all seals before it. Triggers (``audit.triggers``) let
a row change once only, from unsealed to sealed.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models

from .digests import digest_of


class Seal(models.Model):
    """One link of the chain: ``digest = H(previous digest, root)``; the root covers the seal's header and its rows."""

    number = models.PositiveBigIntegerField(unique=True)
    previous = models.CharField(max_length=64, help_text="Digest of the seal before; 64 zeros for the first.")
    root = models.CharField(max_length=64, help_text="Merkle root of the sealed rows, in sealing order.")
    leaves = models.PositiveBigIntegerField(help_text="How many rows it seals.")
    digest = models.CharField(max_length=64, unique=True)
    sealed_at = models.DateTimeField()

    class Meta:
        ordering = ["number"]

    def __str__(self) -> str:
        return f"seal {self.number}"


class Leaf(models.Model):
    """A row that a seal can cover. Subclasses give ``content()``: the JSON-able dict whose digest is the leaf."""

    digest = models.CharField(max_length=64, editable=False)
    seal = models.ForeignKey(Seal, null=True, blank=True, editable=False, on_delete=models.PROTECT, related_name="+")

    class Meta:
        abstract = True


class Entry(Leaf):
    """One act: who did what to which object, with the values before and after where there are any."""

    at = models.DateTimeField(db_index=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    # A plain number, not a foreign key: the log lies below the projects and outlives them.
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
            models.Index(fields=["id"], name="audit_entry_unsealed", condition=models.Q(seal__isnull=True)),
        ]

    def __str__(self) -> str:
        return f"{self.verb} {self.object_type} {self.object_id}"


class Witness(Leaf):
    """What some rows of a watched table were like when they were first sealed (``audit.witness``)."""

    watched = models.CharField(max_length=60, help_text="What is watched, by the label of its model.")
    names = models.JSONField(help_text="The columns and parts that the digests are over.")
    digests = models.JSONField(help_text="Row id -> SHA-256 of what it said.")
    first = models.BigIntegerField(help_text="The lowest of the ids.")
    last = models.BigIntegerField(help_text="The highest of the ids.")
    count = models.PositiveIntegerField()
    made_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "witnesses"
        constraints = [models.UniqueConstraint(fields=["watched", "first"], name="one_witness_per_row")]
        indexes = [
            models.Index(fields=["watched", "last"], name="audit_witness_last"),
            models.Index(fields=["id"], name="audit_witness_unsealed", condition=models.Q(seal__isnull=True)),
        ]

    def __str__(self) -> str:
        return f"witness of {self.count} {self.watched}"

    @classmethod
    def of(cls, watched: str, names: Sequence[str], digests: Mapping[int, str], now: datetime) -> "Witness":
        """A new one with its own digest, not stored yet."""
        made = cls(
            watched=watched, names=list(names), digests={str(pk): digest for pk, digest in digests.items()},
            first=min(digests), last=max(digests), count=len(digests), made_at=now,
        )  # fmt: skip
        made.digest = digest_of(made.content())
        return made

    def content(self) -> dict[str, Any]:
        """The content whose digest is the leaf."""
        return {
            "watched": self.watched, "names": self.names, "digests": self.digests, "first": self.first,
            "last": self.last, "count": self.count, "made_at": self.made_at,
        }  # fmt: skip
