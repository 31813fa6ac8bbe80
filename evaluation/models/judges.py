"""Models that rate texts as judges: versions, runs, and their answers.

Machine ratings have tables of their own, so that no query for people's ratings can return them.
"""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from audit.models import AppendOnly
from generation.models import ProjectEndpoint
from projects.models import Job, Project, Unit

from .pages import PageText, RatingDesign, RatingPage
from .ratings import Preferred


class Judge(AppendOnly):
    """One version of a judge: model, prompt and decoding. ``digest`` identifies it."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="judges")
    name = models.CharField(max_length=80)
    number = models.PositiveIntegerField()
    endpoint = models.CharField(
        max_length=40, blank=True, help_text="Name of the endpoint. Empty: a chat model on this server."
    )
    project_endpoint = models.ForeignKey(
        ProjectEndpoint,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="judges",
        help_text="The project's endpoint. Null: an endpoint of the administrator, or a chat model on this server.",
    )
    model = models.CharField(max_length=200)
    family = models.CharField(
        max_length=60, blank=True, help_text="Family of the model, to compare its own outputs with those of others."
    )
    prompt = models.JSONField(help_text="Name of the template, additional instruction, and whether reasons are asked.")
    decoding = models.JSONField()
    facts = models.JSONField(help_text="URL of the endpoint, or digests of the weights and versions of the libraries.")
    digest = models.CharField(max_length=64, help_text="SHA-256 of model, prompt, decoding and facts.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["project_id", "name", "number"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name", "number"], name="one_judge_per_number"),
            models.UniqueConstraint(fields=["project", "name", "digest"], name="one_judge_per_digest"),
        ]

    def __str__(self) -> str:
        return f"{self.name} v{self.number}"

    @property
    def is_local(self) -> bool:
        return not self.endpoint


class JudgeSet(AppendOnly):
    """Sources that only judges rate, beside those of a round: same protocol version, systems and form of texts.

    No person is asked about them, and they belong to no round.
    """

    design = models.ForeignKey(RatingDesign, on_delete=models.PROTECT, related_name="judge_sets")
    number = models.PositiveIntegerField()
    plan = models.JSONField(help_text="Sources and texts, with the same keys as the plan of a round.")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the plan.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["design_id", "number"]
        constraints = [models.UniqueConstraint(fields=["design", "number"], name="one_judge_set_per_number")]


class JudgeSource(AppendOnly):
    """A source of a judge set (see `RatingSource`)."""

    judge_set = models.ForeignKey(JudgeSet, on_delete=models.PROTECT, related_name="sources")
    number = models.PositiveIntegerField()
    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="+")
    target = models.ForeignKey(Unit, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    review = models.CharField(max_length=200, blank=True)
    material = models.JSONField()
    gold = models.JSONField(null=True, blank=True)

    class Meta:
        ordering = ["judge_set_id", "number"]
        constraints = [models.UniqueConstraint(fields=["judge_set", "number"], name="one_judge_source_per_number")]


class JudgePage(AppendOnly):
    """A page of a judge set. ``texts`` lists code, text as shown, and numbers of the systems that wrote it."""

    source = models.ForeignKey(JudgeSource, on_delete=models.PROTECT, related_name="pages")
    number = models.PositiveIntegerField()
    texts = models.JSONField()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["source", "number"], name="one_judge_page_per_number")]


class JudgeRunState(models.TextChoices):
    """``budget``: stopped at its limit of cost or tokens. All states except *done* can be resumed."""

    WAITING = "waiting"
    RUNNING = "running"
    STOPPED = "stopped"
    BUDGET = "budget"
    FAILED = "failed"
    DONE = "done"


class JudgeRunQuerySet(models.QuerySet["JudgeRun"]):
    def of_project(self, project: int) -> Self:
        return self.filter(judge__project=project)


class JudgeRun(models.Model):
    """A judge applied to the pages of a round. Its counts are computed from its answers."""

    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="runs")
    design = models.ForeignKey(RatingDesign, on_delete=models.PROTECT, related_name="judge_runs")
    judge_set = models.ForeignKey(
        JudgeSet,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="runs",
        help_text="Sources that are rated too, although no person rates them.",
    )
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    samples = models.PositiveSmallIntegerField(default=1, help_text="Answers per page and order.")
    both_orders = models.BooleanField(help_text="Whether each page is asked in two orders of its texts.")
    concurrency = models.PositiveSmallIntegerField(default=4)
    requests_count = models.PositiveIntegerField(help_text="Answers that the run asks for, without controls.")
    max_cost = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    max_tokens = models.PositiveBigIntegerField(null=True, blank=True)
    price_in = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    price_out = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    currency = models.CharField(max_length=3, blank=True)
    host = models.CharField(max_length=300, blank=True, help_text="Host that reads the texts. Empty: this server.")
    is_outside = models.BooleanField(help_text="Whether texts leave the server and its private networks.")
    licences = models.JSONField(default=dict, help_text="Number of sources by what their licence states.")
    licence_reason = models.TextField(
        blank=True, help_text="Why texts of an unknown licence may be sent to an outside endpoint."
    )
    system_message = models.TextField(blank=True, default="", help_text="Protocol as the judge reads it.")
    salt = models.CharField(max_length=32, help_text="Random value from which the delimiters of pages are derived.")
    state = models.CharField(max_length=8, choices=JudgeRunState, default=JudgeRunState.WAITING)
    error = models.TextField(blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = JudgeRunQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"run {self.pk} of {self.judge}"


class Control(models.TextChoices):
    """Whether a page was asked as it is, or once more without sentences that look like instructions to the judge."""

    NONE = "", "none"
    REMOVED = "removed", "instruction removed"


class JudgeAnswer(AppendOnly):
    """The answer of a judge to one page, or the reason why it gave no valid one.

    ``order`` 0 is the order of the first assignment of a round, 1 the reverse. ``invalid`` lists why attempts were
    invalid. Tokens and seconds cover all attempts.
    """

    run = models.ForeignKey(JudgeRun, on_delete=models.PROTECT, related_name="answers")
    page = models.ForeignKey(RatingPage, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    judge_page = models.ForeignKey(JudgePage, null=True, blank=True, on_delete=models.PROTECT, related_name="answers")
    sample = models.PositiveSmallIntegerField(default=0)
    order = models.PositiveSmallIntegerField(default=0)
    control = models.CharField(max_length=8, blank=True, choices=Control, default=Control.NONE)
    texts = models.JSONField(help_text="Codes of the texts in the order in which the judge read them.")
    suspects = models.JSONField(
        default=list, help_text="Sentences that look like instructions to a judge: code of the text, and sentence."
    )
    is_valid = models.BooleanField()
    attempts = models.PositiveSmallIntegerField()
    invalid = models.JSONField(default=list)
    invalid_count = models.PositiveSmallIntegerField(default=0, help_text="Length of the list.")
    error = models.TextField(blank=True, help_text="Why there is no valid answer.")
    model = models.CharField(max_length=200, blank=True, help_text="Name of the model that the endpoint returned.")
    tokens_in = models.PositiveIntegerField(default=0)
    tokens_out = models.PositiveIntegerField(default=0)
    is_estimated = models.BooleanField(default=False, help_text="Whether tokens were estimated from characters.")
    seconds = models.FloatField(default=0)
    raw = models.TextField(blank=True, help_text="The last reply.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "page", "sample", "order", "control"],
                condition=Q(judge_page=None),
                name="one_judge_answer_per_page",
            ),
            models.UniqueConstraint(
                fields=["run", "judge_page", "sample", "order", "control"],
                condition=Q(page=None),
                name="one_judge_answer_per_judge_page",
            ),
            models.CheckConstraint(
                condition=Q(page=None, judge_page__isnull=False) | Q(page__isnull=False, judge_page=None),
                name="a_judge_answer_has_one_page",
            ),
            models.CheckConstraint(condition=Q(control__in=Control.values), name="judge_control_is_known"),
        ]


class JudgeRating(AppendOnly):
    """The value of one text by one criterion (see `Rating`). ``text`` is null on pages of a judge set."""

    answer = models.ForeignKey(JudgeAnswer, on_delete=models.PROTECT, related_name="ratings")
    text = models.ForeignKey(PageText, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    code = models.CharField(max_length=8)
    position = models.PositiveSmallIntegerField(help_text="Position of the text on the page, from 0.")
    number = models.PositiveSmallIntegerField(help_text="Position of the criterion, from 0.")
    criterion = models.CharField(max_length=40)
    value = models.TextField(blank=True)
    is_na = models.BooleanField(default=False)
    reason = models.TextField(blank=True)
    marks = models.JSONField(default=list, help_text="Marked passages: start, end, quote, category, severity, reason.")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["answer", "code", "criterion"], name="one_judge_rating_per_criterion"),
            models.CheckConstraint(condition=Q(is_na=False) | Q(value=""), name="judge_not_applicable_has_no_value"),
        ]


class JudgePreference(AppendOnly):
    """The preferred text of a pair by one criterion (see `Preference`). Sides are those that the judge read."""

    answer = models.ForeignKey(JudgeAnswer, on_delete=models.PROTECT, related_name="preferences")
    left = models.ForeignKey(PageText, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    right = models.ForeignKey(PageText, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    left_code = models.CharField(max_length=8)
    right_code = models.CharField(max_length=8)
    number = models.PositiveSmallIntegerField()
    criterion = models.CharField(max_length=40)
    choice = models.CharField(max_length=7, choices=Preferred)
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["answer", "criterion"], name="one_judge_preference_per_criterion"),
            models.CheckConstraint(condition=Q(choice__in=Preferred.values), name="judge_preference_is_known"),
        ]
