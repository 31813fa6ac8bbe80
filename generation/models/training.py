"""Models of fine-tuning: a local model trained on the data of a project."""

from django.conf import settings
from django.db import models

from annotation.models import DataSplit
from projects.models import Project


class TrainingState(models.TextChoices):
    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


class FineTuning(models.Model):
    """A training of a local model on parts of a split. Its job continues at the last checkpoint.

    ``project`` gets the model; the split may belong to another project that the lead also leads. ``config`` determines
    the weights, with ``data`` and ``facts``.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="fine_tunings")
    name = models.CharField(max_length=80)
    trainer = models.CharField(max_length=20)
    split = models.ForeignKey(DataSplit, on_delete=models.PROTECT, related_name="fine_tunings")
    config = models.JSONField(help_text="Version or task, training part, development part and hyperparameters.")
    data = models.JSONField(default=dict, help_text="SHA-256 and number of examples of each part, and units left out.")
    facts = models.JSONField(default=dict, help_text="Hashes of the base model, libraries, device and threads.")
    hash = models.CharField(max_length=64, blank=True, help_text="SHA-256 of configuration, data and facts.")
    state = models.CharField(max_length=10, choices=TrainingState, default=TrainingState.QUEUED)
    error = models.TextField(blank=True)
    phases = models.JSONField(default=list, help_text="First step and batch size of each phase.")
    curve = models.JSONField(default=list, help_text="Loss and development metrics by step.")
    result = models.JSONField(default=dict, help_text="Folder, hash of the weights, best step and its metric.")
    log = models.JSONField(default=list, help_text="Time, update and text of the last events.")
    checkpoint = models.PositiveIntegerField(null=True, help_text="Update of the last checkpoint; none: null.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="one_fine_tuning_per_name")]

    def __str__(self) -> str:
        return self.name


class TrainedStudyQuerySet(models.QuerySet["TrainedStudy"]):
    def of(self, training: int) -> "models.QuerySet[TrainedStudy, str]":
        """Return the keys of a training, as a subquery."""
        return self.filter(fine_tuning=training).order_by().values_list("key", flat=True)


class TrainedStudy(models.Model):
    """What a fine-tuning has seen (`generation.exposure`): a study or review by its PubMed id, another text by SHA-256.

    The part to train on and the development part, which chose the model, both count.
    """

    fine_tuning = models.ForeignKey(FineTuning, on_delete=models.CASCADE, related_name="studies", db_index=False)
    key = models.CharField(max_length=200)

    objects = TrainedStudyQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["fine_tuning", "key"], name="one_row_per_trained_study")]

    def __str__(self) -> str:
        return self.key
