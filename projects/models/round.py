"""Units, rounds and assignments: the queue of all human work (docs/decisions/0010-assignments.md)."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from ..purposes import SUGGESTIONS, Meaning, Purpose, of, which
from .project import ArrivedManager, Guideline, Import, Member, Project

#: Default and maximum number of assignments that a person holds at a time: the current one and the next ones.
HELD_LIMIT, MAX_HELD_LIMIT = 2, 20
#: `repeat` of an assignment of a returning gold item. Its answer counts for nothing but the person's accuracy
#: (docs/decisions/0034-returning-gold-items.md). Repeats and attempts of practice have small numbers.
RETURNED = 100


class Unit(models.Model):
    """Anything that can be assigned to a person. The text itself is a row of another app that refers to the unit."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="units")
    type = models.CharField(
        max_length=30, help_text="Type of the unit: review, target sentence, cluster, proposition and so on."
    )
    key = models.CharField(max_length=200, help_text="Name used by people and in files.")
    # Units of one context (a cluster, a study) are assigned together, so that a person reads it once.
    context = models.BigIntegerField(default=0)
    position = models.PositiveIntegerField(default=0, help_text="Order within the context.")
    revision = models.PositiveIntegerField(
        default=1, help_text="Increases when something that the unit depends on changes."
    )
    # The index is partial (``unit_successor``). With a complete one, SQLite begins a query of current rows with all
    # units that have no successor, even if the query names the rows.
    superseded_by = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="supersedes", db_index=False
    )
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Person who entered the text. Null if a file was imported.",
    )
    imported = models.ForeignKey(
        Import,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Import that created the unit. Null for older imports.",
    )

    objects = ArrivedManager["Unit"]()
    with_arriving = models.Manager["Unit"]()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["project", "type", "key"], name="one_unit_per_key")]
        indexes = [
            models.Index(fields=["project", "type", "context", "position"]),
            # Few units are superseded, and everything that depends on them is out of date.
            models.Index(fields=["project"], name="unit_superseded", condition=Q(superseded_by__isnull=False)),
            models.Index(fields=["superseded_by"], name="unit_successor", condition=Q(superseded_by__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.key}"


class RoundQuerySet(models.QuerySet["Round"]):
    def worked_on_by(self, user: object) -> Self:
        """Return the rounds in which ``user`` is an active participant and an active member."""
        return self.filter(
            participants__member__user=user,
            participants__member__left_at__isnull=True,
            participants__left_at__isnull=True,
        )

    def opened(self) -> Self:
        """Return rounds that are open or closed."""
        return self.exclude(status=Round.Status.PREPARING)

    def counting(self) -> Self:
        """Return rounds whose answers are labels, so without practice."""
        return self.filter(purpose__in=which("counts"))

    def opened_by_people(self) -> Self:
        """Exclude curation rounds."""
        return self.exclude(purpose__in=which("holds_edits"))


class Round(models.Model):
    """A set of units, a kind, participants, an overlap (answers per unit), a seed and a guideline version."""

    class Status(models.TextChoices):
        # Its assignments are being created: nobody works in it, and it is not yet released or covered by audit
        # checkpoints.
        PREPARING = "preparing"
        OPEN = "open"
        CLOSED = "closed"

    class Allocation(models.TextChoices):
        # Digests cover the stored values, so they keep the names of the first version. The API uses the labels.
        FIXED = "dealt", "fixed allocation"
        SHARED = "pool", "shared queue"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="rounds")
    name = models.CharField(max_length=80)
    kind = models.CharField(max_length=30)
    purpose = models.CharField(max_length=20, choices=Purpose)
    overlap = models.PositiveSmallIntegerField(help_text="Number of people who answer each unit (k).")
    seed = models.BigIntegerField()
    allocation = models.CharField(max_length=8, choices=Allocation)
    guideline = models.ForeignKey(Guideline, on_delete=models.PROTECT, related_name="rounds")
    sampling = models.JSONField(help_text="How the units were sampled, so that the sample can be drawn again.")
    policy = models.JSONField(
        default=dict, help_text="How spans are compared when gold is formed: exact, overlap or ignore."
    )
    options = models.JSONField(default=dict, help_text="Settings of the page, such as suggestions on or off.")
    terms = models.JSONField(default=dict, help_text="Settings of the round's purpose: attempts, pass mark and so on.")
    requires_practice = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Practice round that a person must pass before getting assignments.",
    )
    asks_questions = models.BooleanField(
        default=False, help_text="Whether the guideline's questions are asked before the first unit."
    )
    lease_seconds = models.PositiveIntegerField(default=1800)
    held_limit = models.PositiveSmallIntegerField(
        default=HELD_LIMIT, help_text="Number of assignments a person holds at a time, which can be answered offline."
    )
    status = models.CharField(max_length=12, choices=Status, default=Status.OPEN)
    units_count = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)
    rater_group = models.CharField(
        max_length=60, blank=True, default="", help_text="Raters' group (experts, crowd) in an imported file."
    )

    objects = RoundQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="one_round_per_name"),
            models.UniqueConstraint(
                fields=["project", "kind"], condition=Q(purpose="curation"), name="one_curation_round_per_kind"
            ),
            models.CheckConstraint(condition=Q(overlap__gte=1), name="overlap_is_at_least_one"),
            models.CheckConstraint(
                condition=Q(held_limit__gte=1, held_limit__lte=MAX_HELD_LIMIT), name="held_limit_is_small"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_open(self) -> bool:
        return self.status == self.Status.OPEN

    @property
    def meaning(self) -> Meaning:
        """Consequences of the purpose."""
        return of(self.purpose)

    @property
    def suggestions(self) -> int | None:
        """Id of the set of suggestions that the round shows to some people instead of current values."""
        chosen: int | None = self.terms.get(SUGGESTIONS)
        return chosen

    @property
    def shows_current_value(self) -> bool:
        """Whether people see the current value of a unit."""
        return self.meaning.shows_value and not self.suggestions

    @property
    def has_queue(self) -> bool:
        """Whether contested fields wait for a curator: the answers make gold, and the round is closed."""
        return self.meaning.makes_gold and self.status == self.Status.CLOSED

    @property
    def is_rolling(self) -> bool:
        """Whether new matching units are added while the round is open."""
        return bool(self.sampling.get("rolling"))

    @property
    def returns_gold(self) -> bool:
        """Whether items with a known answer return unmarked, to monitor each person's accuracy."""
        return "returned" in self.sampling

    @property
    def has_known_share(self) -> bool:
        """Whether each person's share is fixed when the round opens, so that progress can say "12 of 40"."""
        return self.allocation == self.Allocation.FIXED


class Participant(models.Model):
    """A member of a round, with a cursor into the shared queue."""

    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="participants")
    member = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="participations")
    # The person's path through the shared queue: from `start` to the end, then from 0 to `start`. A search from the
    # cursor, not through the person's history, keeps the cost of a claim constant (see projects.queue.assignments).
    start = models.PositiveIntegerField(default=0)
    cursor = models.IntegerField(default=-1)
    wrapped = models.BooleanField(default=False)
    quota = models.PositiveIntegerField(null=True, help_text="Most units that the person answers; null: no limit.")
    joined_at = models.DateTimeField(auto_now_add=True)
    left_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["round", "member"], name="one_participation_per_member")]


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def counted(self) -> Self:
        """Return assignments 1..k, which count for overlap, agreement and gold. Retired numbers are negative."""
        return self.filter(number__gte=1)

    def asked_as(self, kind: str) -> Self:
        """Return assignments of labelling rounds of a kind, without practice and curation rounds."""
        rounds = Round.objects.filter(kind=kind).opened().counting().opened_by_people()
        return self.filter(round__in=rounds.values("pk"))

    def repeats(self) -> Self:
        """Return assignments that repeat a unit for the same person, without returning gold items."""
        return self.filter(repeat__gt=0, repeat__lt=RETURNED)

    def returned(self) -> Self:
        """Return assignments of returning gold items."""
        return self.filter(repeat=RETURNED)

    def opinions(self) -> Self:
        """Return assignments that count, without returning gold items."""
        return self.counted().filter(repeat__lt=RETURNED)

    def unanswered(self) -> Self:
        return self.filter(current_answer__isnull=True)

    def free(self) -> Self:
        """Return assignments that never had a person.

        A constraint implies that they are unanswered. An explicit condition would make SQLite choose a worse index.
        """
        return self.counted().filter(person__isnull=True, leased_until__isnull=True)

    def reclaimable(self, now: object) -> Self:
        """Return unanswered assignments that were skipped (no person) or whose lease has expired."""
        return self.counted().unanswered().filter(leased_until__lte=now)


class Assignment(models.Model):
    """One of the k answers that a unit needs in a round, and the person it is assigned to.

    ``number`` is 1..k, or 0 for a curator's assignment. An assignment that was skipped or reassigned after its lease
    expired is *retired*: its number becomes ``-id``, and a new assignment takes over the number. An answer to a retired
    assignment is a late answer: it is stored, but does not count for overlap, agreement and gold.
    """

    # No index on round or person alone. PostgreSQL has no statistics of a round that has just opened, assumes few
    # assignments, and would scan them all at each claim. Without statistics, only a matching index may exist.
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="assignments", db_index=False)
    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="assignments")
    number = models.BigIntegerField()
    repeat = models.PositiveSmallIntegerField(default=0)
    position = models.PositiveIntegerField()
    person = models.ForeignKey(
        Member, null=True, blank=True, on_delete=models.PROTECT, related_name="assignments", db_index=False
    )
    leased_until = models.DateTimeField(null=True, blank=True)
    revision = models.PositiveIntegerField(default=0)
    # Indexed below, without nulls: SQLite treated "no answer yet" as selective and scanned all open assignments.
    current_answer = models.ForeignKey(
        "projects.Answer", null=True, blank=True, on_delete=models.PROTECT, related_name="current_of", db_index=False
    )

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["round", "unit", "number", "repeat"], name="one_slot_per_number"),
            models.UniqueConstraint(fields=["round", "unit", "person", "repeat"], name="one_slot_per_person"),
            models.CheckConstraint(
                condition=Q(person__isnull=False) | Q(current_answer__isnull=True), name="an_answered_slot_has_a_person"
            ),
        ]
        indexes = [
            models.Index(
                fields=["round", "position", "number"],
                name="assignment_free",
                condition=Q(person__isnull=True, leased_until__isnull=True, number__gte=1),
            ),
            models.Index(
                fields=["round", "leased_until"],
                name="assignment_leased",
                condition=Q(current_answer__isnull=True, leased_until__isnull=False, number__gte=1),
            ),
            models.Index(
                fields=["round", "person", "position"],
                name="assignment_held",
                condition=Q(current_answer__isnull=True, number__gte=1),
            ),
            models.Index(
                fields=["round", "person"], name="assignment_answered", condition=Q(current_answer__isnull=False)
            ),
            models.Index(
                fields=["current_answer"], name="assignment_of_answer", condition=Q(current_answer__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"assignment {self.id}"

    @property
    def is_retired(self) -> bool:
        return self.number < 0

    @property
    def is_counted(self) -> bool:
        """Whether its answer counts for more than the person's accuracy (`AssignmentQuerySet.opinions`)."""
        return self.number >= 1 and self.repeat < RETURNED


#: Order of a person's work: by position, then by assignment number.
WALK = (F("position").asc(), F("number").asc())
