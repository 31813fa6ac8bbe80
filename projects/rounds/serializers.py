"""Serializers for rounds and their progress."""

from typing import Any

from rest_framework import serializers

from api.fields import LabelField, UnitNameField

from .. import kinds
from ..concerns.serializers import StatedChangeSerializer
from ..gates import serializers as gate_shapes
from ..models import Purpose, Round
from ..practice import queries as practice_queries
from ..practice.serializers import OwnAccuracySerializer
from ..queue.serializers import PrerequisiteSerializer
from . import queries as rounds_queries

Plain = serializers.Serializer[Any]


class SettingSerializer(Plain):
    """One setting of a round, as text."""

    label = serializers.CharField()  # type: ignore[assignment]
    value = serializers.CharField()


class RoundGuidelineSerializer(Plain):
    id = serializers.IntegerField()
    number = serializers.IntegerField()
    text = serializers.CharField()
    html = serializers.CharField(help_text="Sanitised HTML.")


class SkipReasonSerializer(Plain):
    code = serializers.CharField()
    text = serializers.CharField()


class RequiredPracticeSerializer(Plain):
    id = serializers.IntegerField()
    name = serializers.CharField()


class RoundSerializer(Plain):
    """A round as its participants see it."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    project = serializers.CharField()
    project_name = serializers.CharField()
    illustrative = serializers.BooleanField()
    kind = serializers.ChoiceField(choices=kinds.choices())
    kind_title = serializers.CharField()
    purpose = LabelField(choices=Purpose.choices)
    status = serializers.ChoiceField(choices=Round.Status.choices)
    overlap = serializers.IntegerField()
    units = serializers.IntegerField()
    allocation = LabelField(choices=Round.Allocation.choices)
    seed = serializers.IntegerField(allow_null=True, help_text="Null if the user must not learn it.")
    options = serializers.DictField(child=serializers.JSONField(allow_null=True))
    policy = serializers.DictField(child=serializers.JSONField(allow_null=True))
    settings = SettingSerializer(many=True)
    makes_gold = serializers.BooleanField()
    independent = serializers.BooleanField(help_text="Whether people label without seeing the current value.")
    shows_value = serializers.BooleanField(help_text="Whether people see the current value, to confirm or correct it.")
    gives_feedback = serializers.BooleanField(
        help_text="Whether people get immediate feedback with the expected value."
    )
    blind = serializers.BooleanField(help_text="Whether raters must not learn whose work they judge.")
    designed = serializers.BooleanField(help_text="Whether a design created the units.")
    rolling = serializers.BooleanField(help_text="Whether the open round adds units that match later.")
    returns_gold = serializers.BooleanField(
        help_text="Whether gold items return; only shown to people who may see who answered what."
    )
    asks_questions = serializers.BooleanField()
    requires_practice = RequiredPracticeSerializer(allow_null=True)
    terms = serializers.DictField(
        child=serializers.JSONField(allow_null=True), help_text="Settings that the purpose declares."
    )
    guideline = RoundGuidelineSerializer()
    revisits = StatedChangeSerializer(
        allow_null=True, help_text="The guideline change whose units the round revisits; null for other rounds."
    )
    skip_reasons = SkipReasonSerializer(many=True)
    opened_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True)
    role = serializers.CharField(help_text="Role of the user in the project.")
    working = serializers.BooleanField(help_text="Whether the user takes part in the round.")
    job = serializers.IntegerField(
        allow_null=True, help_text="The newest job that prepares or discards the round, until it opens."
    )
    gate = gate_shapes.GateSerializer(allow_null=True, help_text="Null without a pilot, and for raters.")


class RoundRowSerializer(Plain):
    """A round with its progress."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    kind = serializers.CharField()
    kind_title = serializers.CharField()
    purpose = LabelField(choices=Purpose.choices)
    status = serializers.ChoiceField(choices=Round.Status.choices)
    overlap = serializers.IntegerField()
    units = serializers.IntegerField()
    assignments = serializers.IntegerField()
    answered = serializers.IntegerField()
    left = serializers.IntegerField(help_text="Unanswered assignments, including repeated units.")
    people = serializers.IntegerField()
    guideline = serializers.IntegerField()
    opened_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True)
    independent = serializers.BooleanField(
        help_text="Whether annotators answer without seeing the current value, so that agreement is meaningful."
    )
    rolling = serializers.BooleanField(help_text="Whether the open round adds units that match later.")


class QuietPersonSerializer(Plain):
    name = serializers.CharField()
    quiet_days = serializers.IntegerField(help_text="Days since the last answer.")


class RoundListRowSerializer(RoundRowSerializer):
    """A round in the lead's list. Names, quiet people and units to adjudicate are for leads and curators."""

    designed = serializers.BooleanField(help_text="Whether a design created the units.")
    kept_blind = serializers.BooleanField(help_text="Whether the systems of a designed round are not revealed yet.")
    gate = gate_shapes.GateSerializer(allow_null=True, help_text="Null if the round does not wait for a pilot.")
    names = serializers.ListField(
        child=serializers.CharField(),
        help_text=f"Names of the people in the round, at most {rounds_queries.NAMES_SHOWN}.",
    )
    quiet = QuietPersonSerializer(
        many=True, help_text=f"People with open work and no answer for {rounds_queries.QUIET.days} days."
    )
    to_adjudicate = serializers.IntegerField(
        help_text="Contested or flagged units of a closed round, which wait for a curator."
    )
    last_answer_at = serializers.DateTimeField(
        allow_null=True, help_text="Last answer of an open round; null without answers and for other rounds."
    )


class PersonProgressSerializer(Plain):
    member = serializers.IntegerField()
    pseudonym = serializers.CharField()
    name = serializers.CharField()
    answered = serializers.IntegerField()
    skipped = serializers.IntegerField()
    left = serializers.IntegerField(
        allow_null=True, help_text="Unanswered assignments of the person; null for a shared queue."
    )
    active_seconds = serializers.FloatField()
    seconds_an_answer = serializers.FloatField(allow_null=True)
    last_answer_at = serializers.DateTimeField(allow_null=True)
    quiet_days = serializers.IntegerField(help_text="Days since the last answer of a quiet person; 0 for other people.")
    working = serializers.BooleanField()


class DaySerializer(Plain):
    day = serializers.DateField()
    answers = serializers.IntegerField()


class FlagSerializer(Plain):
    unit = serializers.IntegerField()
    key = serializers.CharField()
    unit_name = UnitNameField()
    pseudonym = serializers.CharField()
    comment = serializers.CharField(allow_blank=True)
    flag = serializers.BooleanField()
    outcome = serializers.CharField()
    reason = serializers.CharField(allow_blank=True, help_text="Reason for a skip, in words.")
    at = serializers.DateTimeField()


class RoundProgressSerializer(Plain):
    """The progress of a round: counts, people, days, and flagged, commented or skipped answers."""

    assignments = serializers.IntegerField()
    answered = serializers.IntegerField()
    units = serializers.IntegerField()
    units_complete = serializers.IntegerField()
    repeats = serializers.IntegerField(help_text="Assignments that repeat a unit for the same person.")
    repeats_answered = serializers.IntegerField()
    uncounted = serializers.IntegerField(
        help_text="Uncounted answers: late, to assignments that were reassigned, or to a text that was corrected since."
    )
    people = PersonProgressSerializer(many=True)
    days = DaySerializer(many=True)
    flagged = FlagSerializer(many=True)
    gold = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="Number of decisions by origin. `contested` counts the fields that wait for a curator.",
    )
    to_adjudicate = serializers.IntegerField(
        help_text="Contested or flagged units of a closed round, which wait for a curator."
    )
    job = serializers.IntegerField(allow_null=True, help_text="The job that forms gold after the round is closed.")


class WorkRowSerializer(Plain):
    """A round on *My work*."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    project = serializers.CharField()
    project_name = serializers.CharField()
    kind = serializers.CharField()
    kind_title = serializers.CharField()
    status = serializers.ChoiceField(choices=Round.Status.choices)
    answered = serializers.IntegerField()
    left = serializers.IntegerField(help_text="Number of units that this person can still answer.")
    today = serializers.IntegerField()
    active_seconds = serializers.FloatField()
    replies = serializers.IntegerField(help_text="Number of remarks with a text on this person's answers.")
    outcomes = serializers.BooleanField(help_text="Whether this person may see the decisions on their own answers.")
    prerequisite = PrerequisiteSerializer(
        allow_null=True,
        help_text="Prerequisite that the person must meet before the first unit; null if there is none.",
    )
    practice = serializers.ChoiceField(
        choices=practice_queries.STATES,
        allow_null=True,
        help_text="State of the person's practice; null if this is not a practice round.",
    )
    accuracy = OwnAccuracySerializer(
        allow_null=True, help_text="The person's current warning about accuracy; null if there is none."
    )


class ToAdjudicateSerializer(Plain):
    """A closed round with units that wait for a curator, on *My work*."""

    round = serializers.IntegerField()
    name = serializers.CharField()
    project = serializers.CharField()
    project_name = serializers.CharField()
    units = serializers.IntegerField(help_text="Number of contested or flagged units, as in the queue.")


class PersonSerializer(Plain):
    member = serializers.IntegerField()
