"""Units, rounds and slots: the one queue for all human work (docs/decisions/0002-slots.md)."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from ..purposes import Meaning, Purpose, of, which
from .guideline import Guideline
from .project import Member, Project

#: How many slots a person holds at a time where the round says nothing else: the one that is worked on and the one that
#: comes next. And the most that a round may say.
HAND, LARGEST_HAND = 2, 20


class Unit(models.Model):
    """Anything that can be handed to a person. The text itself is a row of a higher app that points here."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="units")
    type = models.CharField(max_length=30, help_text="review, target sentence, cluster, proposition, ...")
    key = models.CharField(max_length=200, help_text="A name that people and files know it by.")
    # Units of one context (a cluster, a study) are handed out together, so that a person reads it once.
    context = models.BigIntegerField(default=0)
    position = models.PositiveIntegerField(default=0, help_text="Order within the context.")
    revision = models.PositiveIntegerField(default=1, help_text="Counts up when something above the unit changes.")
    superseded_by = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="supersedes"
    )
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+",
        help_text="Who typed or pasted it in; null where a file brought it.",
    )  # fmt: skip

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["project", "type", "key"], name="one_unit_per_key")]
        indexes = [
            models.Index(fields=["project", "type", "context", "position"]),
            # Few of many: what hangs on them is out of date.
            models.Index(fields=["project"], name="unit_superseded", condition=Q(superseded_by__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.key}"


class RoundQuerySet(models.QuerySet["Round"]):
    def worked_on_by(self, user: object) -> Self:
        """Rounds in which ``user`` is an active participant and an active member."""
        return self.filter(
            participants__member__user=user,
            participants__member__left_at__isnull=True,
            participants__left_at__isnull=True,
        )

    def opened(self) -> Self:
        """Rounds that are open or were."""
        return self.exclude(status=Round.Status.PREPARING)

    def counting(self) -> Self:
        """Rounds whose answers are labels, and not practice."""
        return self.filter(purpose__in=which("counts"))

    def opened_by_people(self) -> Self:
        """Without the standing rounds of curation."""
        return self.exclude(purpose__in=which("standing"))


class Round(models.Model):
    """A set of units, one task kind, the people who do it, how many must do each, a seed, a guideline version."""

    class Status(models.TextChoices):
        # Its slots are being laid out: nobody works in it, and nothing of it is released or witnessed yet.
        PREPARING = "preparing"
        OPEN = "open"
        CLOSED = "closed"

    class Dealing(models.TextChoices):
        DEALT = "dealt"
        POOL = "pool"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="rounds")
    name = models.CharField(max_length=80)
    kind = models.CharField(max_length=30)
    purpose = models.CharField(max_length=20, choices=Purpose)
    overlap = models.PositiveSmallIntegerField(help_text="k: how many people must answer each unit.")
    seed = models.BigIntegerField()
    dealing = models.CharField(max_length=8, choices=Dealing)
    guideline = models.ForeignKey(Guideline, on_delete=models.PROTECT, related_name="rounds")
    sampling = models.JSONField(help_text="How the units were chosen, so that the choice can be repeated.")
    policy = models.JSONField(default=dict, help_text="What makes spans agree when gold forms: exact, overlap, ignore.")
    options = models.JSONField(default=dict, help_text="What the page shows: suggestions on or off, ...")
    terms = models.JSONField(default=dict, help_text="What its purpose lets a lead set: tries, pass mark, ...")
    requires_practice = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="+",
        help_text="The practice round that a person must have passed before anything is dealt.",
    )  # fmt: skip
    asks_questions = models.BooleanField(
        default=False, help_text="Whether the guideline's questions are asked before the first unit."
    )
    lease_seconds = models.PositiveIntegerField(default=1800)
    hand_size = models.PositiveSmallIntegerField(
        default=HAND, help_text="How many slots a person holds at a time: what can be worked on while offline."
    )
    status = models.CharField(max_length=12, choices=Status, default=Status.OPEN)
    units_count = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)

    objects = RoundQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="one_round_per_name"),
            models.UniqueConstraint(
                fields=["project", "kind"], condition=Q(purpose="curation"), name="one_curation_round_per_kind"
            ),
            models.CheckConstraint(condition=Q(overlap__gte=1), name="overlap_is_at_least_one"),
            models.CheckConstraint(condition=Q(hand_size__gte=1, hand_size__lte=LARGEST_HAND), name="a_hand_is_small"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_open(self) -> bool:
        return self.status == self.Status.OPEN

    @property
    def meaning(self) -> Meaning:
        """What follows from its purpose."""
        return of(self.purpose)

    @property
    def has_queue(self) -> bool:
        """Whether what is contested in it waits for a curator: its answers make gold, and nobody gives any more."""
        return self.meaning.makes_gold and self.status == self.Status.CLOSED

    @property
    def is_rolling(self) -> bool:
        """Whether units that come to fit while it is open are taken in."""
        return bool(self.sampling.get("rolling"))

    @property
    def has_known_share(self) -> bool:
        """Whether each person's part is fixed when the round opens (so that progress can say "12 of 40")."""
        return self.dealing == self.Dealing.DEALT


class Participant(models.Model):
    """A member at work in a round, with the place in the pool up to which the person has walked."""

    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="participants")
    member = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="participations")
    # The walk through a pool round: from `start` to the end, then from 0 to `start`. Searching from here on, not
    # through one's own history, keeps the cost of a claim flat (see projects.actions.queue).
    start = models.PositiveIntegerField(default=0)
    cursor = models.IntegerField(default=-1)
    wrapped = models.BooleanField(default=False)
    joined_at = models.DateTimeField(auto_now_add=True)
    left_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["round", "member"], name="one_participation_per_member")]


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def counted(self) -> Self:
        """Slots 1..k: what counts for overlap, agreement and gold. Retired slots have a negative number."""
        return self.filter(number__gte=1)

    def asked_as(self, kind: str) -> Self:
        """Those of rounds in which people were asked this, and not for practice."""
        rounds = Round.objects.filter(kind=kind).opened().counting().opened_by_people()
        return self.filter(round__in=rounds.values("pk"))

    def unanswered(self) -> Self:
        return self.filter(current_answer__isnull=True)

    def free(self) -> Self:
        """Never handed to anyone. (Unanswered, then, by a constraint: saying so would lead SQLite to a worse index.)"""
        return self.counted().filter(person__isnull=True, leased_until__isnull=True)

    def second_hand(self, now: object) -> Self:
        """Handed out before and given up: skipped (no person) or with a lapsed lease."""
        return self.counted().unanswered().filter(leased_until__lte=now)


class Assignment(models.Model):
    """A slot: one of the k places of a unit in a round, and the person in it.

    ``number`` is 1..k; 0 is the curator's; a slot that was skipped, or re-dealt after its lease had lapsed, is
    *retired*: its number becomes ``-id`` and a fresh slot takes the number over. An answer to a retired slot is
    surplus by construction: acknowledged and kept, and outside k, agreement and gold.
    """

    # No index on the round or the person alone: PostgreSQL knows nothing of a round that was opened a moment ago, takes
    # its slots for a few, and walks them all at each claim. Without statistics only an index that fits may be there.
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
    # Indexed below, without its nulls: SQLite took "no answer yet" for a narrow search and walked all open slots.
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
                name="slot_free",
                condition=Q(person__isnull=True, leased_until__isnull=True, number__gte=1),
            ),
            models.Index(
                fields=["round", "leased_until"],
                name="slot_leased",
                condition=Q(current_answer__isnull=True, leased_until__isnull=False, number__gte=1),
            ),
            models.Index(
                fields=["round", "person", "position"],
                name="slot_in_hand",
                condition=Q(current_answer__isnull=True, number__gte=1),
            ),
            models.Index(fields=["round", "person"], name="slot_answered", condition=Q(current_answer__isnull=False)),
            models.Index(fields=["current_answer"], name="slot_of_answer", condition=Q(current_answer__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"slot {self.id}"

    @property
    def is_retired(self) -> bool:
        return self.number < 0


#: Sorting for whatever walks a round: position first, then slot number.
WALK = (F("position").asc(), F("number").asc())
