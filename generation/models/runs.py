"""Models of runs, their items and their summaries. Every item is done exactly once, even if workers fail."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from audit.models import AppendOnly
from projects.models import Job, Member, Unit

from .systems import Version


class RunPurpose(models.TextChoices):
    SUMMARIES = "summaries"
    PROBE = "probe"


class RunStatus(models.TextChoices):
    """``stopped``: cancelled by a person, or ended by an error that affects all items. A stopped run can be resumed."""

    RUNNING = "running"
    STOPPED = "stopped"
    DONE = "done"


class RunQuerySet(models.QuerySet["Run"]):
    def open_to(self, member: Member) -> Self:
        """Exclude runs that are embargoed for this member. Their scores, too, could reveal which system is which."""
        return self.exclude(embargoes__in=Embargo.objects.for_member(member))

    def open_to_all(self) -> Self:
        """Exclude runs that are embargoed for any member, for pages that every member can read."""
        return self.exclude(embargoes__in=Embargo.objects.active())


class Run(models.Model):
    """A version applied to the units of its level, to generate summaries or to probe texts."""

    version = models.ForeignKey(Version, on_delete=models.PROTECT, related_name="runs")
    purpose = models.CharField(max_length=10, choices=RunPurpose, default=RunPurpose.SUMMARIES)
    status = models.CharField(max_length=8, choices=RunStatus, default=RunStatus.RUNNING)
    error = models.TextField(blank=True, help_text="Reason for stopping, if no person stopped it.")
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    # Maximum number of chunks that are queued or running.
    concurrency = models.PositiveSmallIntegerField(default=2)
    units_count = models.PositiveIntegerField(default=0, help_text="Number of units when the run was started.")
    item_offset = models.JSONField(
        null=True, blank=True, help_text="Position in the corpus up to which units have items. Null if all have."
    )
    skipped = models.JSONField(
        default=dict, blank=True, help_text="Number of reviews or units of the level without an item, by reason."
    )
    # Sums over the summaries, which never change. They are stored because progress pages poll them every two seconds.
    items_cut = models.PositiveIntegerField(default=0, help_text="Number of items whose input was cut off.")
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
        """Exclude items of runs that are embargoed for this member. Missing texts could reveal which units failed."""
        return self.exclude(run__embargoes__in=Embargo.objects.for_member(member))


class RunItem(models.Model):
    """One unit of a run. ``job`` is the job that processes its chunk; it is released when the job ends.

    ``units_up_to`` is the id of the newest unit overall when the inputs were read. A correction creates a new unit, so
    inputs with a later id were not read. Ids are used rather than times, because clocks can go back.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="items")
    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="run_items")
    size = models.PositiveIntegerField(
        help_text="Length of the inputs in characters. Items of similar length make good batches."
    )
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
        """Exclude summaries of runs that are embargoed for this member.

        Every query for summary texts must use this method.
        """
        return self.exclude(item__run__embargoes__in=Embargo.objects.for_member(member))

    def with_cut(self) -> Self:
        """Annotate with ``cut`` from the record: how much of the inputs was left out, if tokens are not counted."""
        return self.annotate(cut=F("record__cut"))


class Summary(AppendOnly):
    """The summary of one item, unchanged from the backend. Database triggers prevent changes."""

    item = models.OneToOneField(RunItem, on_delete=models.PROTECT, related_name="summary")
    text = models.TextField(blank=True)
    finish = models.CharField(max_length=10, help_text="complete, length (cut off at the longest allowed) or unknown.")
    tokens_in = models.PositiveIntegerField(null=True, blank=True)
    tokens_cut = models.PositiveIntegerField(
        null=True, blank=True, help_text="Number of input tokens that were cut off."
    )
    tokens_out = models.PositiveIntegerField(null=True, blank=True)
    token_ids = models.JSONField(null=True, blank=True)
    seconds = models.FloatField(default=0.0, help_text="Share of the time of its batch, in seconds.")
    record = models.JSONField(default=dict, help_text="Batch composition, device, and what an endpoint returned.")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the text.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SummaryQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "summaries"


class EmbargoQuerySet(models.QuerySet["Embargo"]):
    def active(self) -> Self:
        return self.filter(lifted_at=None)

    def for_member(self, member: Member) -> Self:
        """Return the active embargoes for this member."""
        return self.active().filter(member=member)


class Embargo(models.Model):
    """An embargo: a run's outputs are hidden from a member, who is to rate them unseen, until it is lifted."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="embargoes")
    member = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="embargoes")
    created_at = models.DateTimeField(auto_now_add=True)
    lifted_at = models.DateTimeField(null=True, blank=True)

    objects = EmbargoQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "member"], condition=Q(lifted_at=None), name="one_embargo_per_person"
            )
        ]
