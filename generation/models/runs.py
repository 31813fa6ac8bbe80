"""Versions at work: runs, their items, and what came out. Every item is done once, whatever happens to workers."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from projects.models import Job, Member, Unit

from .systems import Version


class RunPurpose(models.TextChoices):
    SUMMARIES = "summaries"
    PROBE = "probe"


class RunStatus(models.TextChoices):
    """``stopped``: cancelled by somebody, or ended by an error that all items share; it can be resumed."""

    RUNNING = "running"
    STOPPED = "stopped"
    DONE = "done"


class RunQuerySet(models.QuerySet["Run"]):
    def open_to(self, member: Member) -> Self:
        """Without the runs that are sealed from this member: their figures too would tell which system is which."""
        return self.exclude(seals__in=Seal.objects.upon(member))

    def open_to_all(self) -> Self:
        """Without the runs that are sealed from anybody: what everybody can read must hold nothing of them."""
        return self.exclude(seals__in=Seal.objects.in_force())


class Run(models.Model):
    """A version applied to units of its level: summaries made, or texts probed."""

    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="runs")
    purpose = models.CharField(max_length=10, choices=RunPurpose, default=RunPurpose.SUMMARIES)
    status = models.CharField(max_length=8, choices=RunStatus, default=RunStatus.RUNNING)
    error = models.TextField(blank=True, help_text="Why it stopped, where that was no person's wish.")
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    # Hands that may work on it at once: so many chunks of it are queued or running.
    lanes = models.PositiveSmallIntegerField(default=2)
    units_count = models.PositiveIntegerField(default=0, help_text="Units that it is over, when it was begun.")
    laid_to = models.JSONField(
        null=True, blank=True, help_text="Place in the corpus up to which units have their items; null: all have."
    )
    # Sums over its summaries, which never change: pages that follow a run ask for them every other second.
    items_cut = models.PositiveIntegerField(default=0, help_text="Items whose input did not fit.")
    tokens_cut = models.PositiveBigIntegerField(null=True, blank=True)
    tokens_out = models.PositiveBigIntegerField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["version", "purpose"], condition=Q(status="running"), name="one_running_run_per_version"
            )
        ]

    def __str__(self) -> str:
        return f"run {self.pk} of {self.version}"


class ItemStatus(models.TextChoices):
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"


class RunItemQuerySet(models.QuerySet["RunItem"]):
    def visible_to(self, member: Member) -> Self:
        """Without the runs that are sealed from this member: which units failed is seen where texts lack."""
        return self.exclude(run__seals__in=Seal.objects.upon(member))


class RunItem(models.Model):
    """One unit of a run. ``job`` holds it while its chunk is worked on; a chunk whose job ended gives it up.

    ``units_up_to``: id of the newest unit of all when its inputs were read. A correction is a new unit, so an input
    with a later id is one that the item has not seen. (Not a time: clocks go back.)
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="items")
    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="run_items")
    size = models.PositiveIntegerField(help_text="Characters of its inputs: items of like length make good batches.")
    status = models.CharField(max_length=8, choices=ItemStatus, default=ItemStatus.WAITING)
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    attempts = models.PositiveSmallIntegerField(default=0)
    error = models.TextField(blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    units_up_to = models.BigIntegerField(null=True, blank=True)

    objects = RunItemQuerySet.as_manager()

    class Meta:
        ordering = ["run_id", "id"]
        constraints = [models.UniqueConstraint(fields=["run", "unit"], name="one_item_per_unit")]
        indexes = [
            models.Index(fields=["run", "size", "id"], name="run_item_waiting", condition=Q(status="waiting")),
            models.Index(fields=["run", "status"], name="run_item_status"),
            models.Index(fields=["run", "units_up_to"], name="run_item_read", condition=Q(units_up_to__isnull=False)),
            models.Index(fields=["run", "finished_at"], name="run_item_ended", condition=Q(finished_at__isnull=False)),
        ]


class SummaryQuerySet(models.QuerySet["Summary"]):
    def visible_to(self, member: Member) -> Self:
        """Without the runs that are sealed from this member. Every way to a summary's text goes through here."""
        return self.exclude(item__run__seals__in=Seal.objects.upon(member))

    def with_cut(self) -> Self:
        """With ``cut``, from the record: how much of the inputs was left out where no tokens are counted."""
        return self.annotate(cut=F("record__cut"))


class Summary(models.Model):
    """The text that came out for one item, as it came out. Never changed: triggers keep it."""

    item = models.OneToOneField(RunItem, on_delete=models.PROTECT, related_name="summary")
    text = models.TextField(blank=True)
    finish = models.CharField(max_length=10, help_text="complete, length (cut off at the longest allowed) or unknown.")
    tokens_in = models.PositiveIntegerField(null=True, blank=True)
    tokens_cut = models.PositiveIntegerField(null=True, blank=True, help_text="Input tokens that did not fit.")
    tokens_out = models.PositiveIntegerField(null=True, blank=True)
    token_ids = models.JSONField(null=True, blank=True)
    seconds = models.FloatField(default=0.0, help_text="Its share of its batch's time.")
    record = models.JSONField(default=dict, help_text="Batch composition, device, what an endpoint returned.")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the text.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SummaryQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "summaries"


class SealQuerySet(models.QuerySet["Seal"]):
    def in_force(self) -> Self:
        return self.filter(lifted_at=None)

    def upon(self, member: Member) -> Self:
        """The seals that hide something from this member."""
        return self.in_force().filter(member=member)


class Seal(models.Model):
    """A run's outputs are hidden from a person, who is to rate them without having seen them, until it is lifted."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="seals")
    member = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="seals")
    created_at = models.DateTimeField(auto_now_add=True)
    lifted_at = models.DateTimeField(null=True, blank=True)

    objects = SealQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "member"], condition=Q(lifted_at=None), name="one_seal_per_person")
        ]
