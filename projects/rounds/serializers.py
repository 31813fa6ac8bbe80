"""Serializers for round plans, rounds and their progress."""

import secrets
from typing import Any, ClassVar, get_args

from rest_framework import serializers

from api.fields import LARGEST, FiniteField, LabelField, NameField, Strict, UnitNameField
from api.parameters import ParameterSerializer
from measures import drift

from .. import kinds
from ..answers.returning import BAR
from ..gates import serializers as gate_shapes
from ..guidelines.serializers import FieldChoiceSerializer
from ..models import Purpose, Role, Round
from ..models.round import HELD_LIMIT, MAX_HELD_LIMIT
from ..practice import queries as practice_queries
from ..practice.serializers import OwnAccuracySerializer
from ..purposes import PLANNED_NAMES, Chooses, which
from ..queue.serializers import PrerequisiteSerializer
from . import queries as rounds_queries

Plain = serializers.Serializer[Any]
KIND_CHOICES = kinds.choices()
#: The purposes that a lead can choose. A curation round opens automatically.
PURPOSES = [choice for choice in Purpose.choices if choice[0] in which("planned")]


class RoundPlanSerializer(Strict):
    """The plan of a new round."""

    old_names: ClassVar = {"dealing": "allocation", "hand_size": "held_limit"}

    name = NameField(max_length=80)
    kind = serializers.ChoiceField(choices=KIND_CHOICES)
    purpose = LabelField(choices=PURPOSES)
    overlap = serializers.IntegerField(min_value=1, max_value=50)
    people = serializers.ListField(
        child=serializers.IntegerField(max_value=LARGEST), max_length=500, help_text="Member ids."
    )
    guideline = serializers.IntegerField(required=False, allow_null=True, help_text="Defaults to the newest guideline.")
    allocation = LabelField(choices=Round.Allocation.choices, default=Round.Allocation.SHARED)
    seed = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=1)
    sample = serializers.IntegerField(
        min_value=1, required=False, allow_null=True, help_text="Size of the sample. Omit it to take all units."
    )
    filters = serializers.DictField(
        child=serializers.JSONField(allow_null=True),
        required=False,
        help_text="Filters that the kind declares. A unit must match all of them.",
    )
    strata = serializers.ListField(
        child=serializers.CharField(max_length=60),
        required=False,
        max_length=4,
        help_text="Variables of a proportional stratified sample.",
    )
    order = serializers.ChoiceField(choices=["corpus", "shuffled"], default="corpus")
    options = serializers.DictField(
        child=serializers.JSONField(allow_null=True),
        required=False,
        help_text="What the page shows: options that the kind declares.",
    )
    policy = serializers.DictField(
        child=serializers.JSONField(allow_null=True),
        required=False,
        help_text="How answers become gold: settings that the kind declares.",
    )
    lease_seconds = serializers.IntegerField(min_value=60, max_value=7 * 24 * 3600, default=1800)
    held_limit = serializers.IntegerField(
        min_value=1,
        max_value=MAX_HELD_LIMIT,
        default=HELD_LIMIT,
        help_text="Number of units that a person holds at a time and can answer offline.",
    )
    block_share = FiniteField(
        min_value=0, max_value=1, default=0.0, help_text="Share of the units in the overlap sample; 0 for none."
    )
    block_overlap = serializers.IntegerField(
        min_value=0, max_value=50, default=0, help_text="Number of people who answer each unit of the overlap sample."
    )
    repeat_share = FiniteField(
        min_value=0, max_value=0.5, default=0.0, help_text="Share of each person's own units that are repeated."
    )
    repeat_distance = serializers.IntegerField(
        min_value=1,
        max_value=10_000,
        default=20,
        help_text="Minimum number of the person's other units before a repeat.",
    )
    terms = serializers.DictField(
        child=serializers.JSONField(allow_null=True), required=False, help_text="Settings that the purpose declares."
    )
    requires_practice = serializers.IntegerField(
        required=False, allow_null=True, max_value=LARGEST, help_text="Practice round that people must pass first."
    )
    asks_questions = serializers.BooleanField(
        default=False, help_text="Whether people must answer the guideline's questions before the first unit."
    )
    rolling = serializers.BooleanField(
        default=False, help_text="Whether the open round adds units that match later. Requires a shared queue."
    )
    return_share = FiniteField(
        min_value=0,
        max_value=0.3,
        default=0.0,
        help_text="Share of each person's units that are added as returning gold items; 0 for none. Needs a shuffled "
        "order.",
    )
    return_from = serializers.IntegerField(
        required=False,
        allow_null=True,
        max_value=LARGEST,
        help_text="Closed round whose decided units return. Defaults to any decided units.",
    )
    return_bar = serializers.IntegerField(
        min_value=drift.BARS[0],
        max_value=drift.BARS[-1],
        default=BAR,
        help_text="Accuracy on returning gold items, in percent, below which people are warned.",
    )

    gate = gate_shapes.GatePlanSerializer(
        required=False, allow_null=True, help_text="Pilot that must meet a bar before the round opens."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Choose a random seed for a blind round, because a known seed reveals the order of the systems."""
        if kinds.get(attrs["kind"]).blind and "seed" not in self.initial_data:
            attrs["seed"] = secrets.randbelow(2**31)
        return attrs


class RoundPreviewSerializer(RoundPlanSerializer):
    turn = serializers.IntegerField(
        min_value=0, max_value=10_000, default=0, help_text="Each number selects another unit."
    )


class KindChoiceSerializer(Plain):
    key = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField(allow_blank=True, help_text="What people decide, in one line.")
    group = serializers.CharField(help_text="Title of the group of tasks.")
    name = serializers.CharField(help_text="Suggested name for a round of this kind, not yet used in the project.")
    strata = serializers.ListField(child=serializers.CharField())
    designed = serializers.BooleanField(
        help_text="Whether a design creates the units. It can be previewed before the round opens."
    )
    rolls = serializers.BooleanField(help_text="Whether open rounds of this kind can add units.")
    options = ParameterSerializer(many=True)
    policy = ParameterSerializer(many=True)
    filters = ParameterSerializer(many=True)
    guideline = serializers.CharField(help_text="Default guideline of the kind, in Markdown.")
    fields_asked = FieldChoiceSerializer(many=True, help_text="Fields that a change of the guideline can concern.")
    blind = serializers.BooleanField(help_text="Whether raters must not learn whose work they judge.")
    returns = serializers.BooleanField(help_text="Whether gold items can return in a round of this kind.")
    purposes = serializers.ListField(
        child=serializers.ChoiceField(choices=PLANNED_NAMES), help_text="Purposes that a round of this kind can have."
    )


class KindGroupSerializer(Plain):
    title = serializers.CharField()
    description = serializers.CharField()


class PurposeChoiceSerializer(Plain):
    key = LabelField(choices=PURPOSES)
    says = serializers.CharField(help_text="How the answers are used.")
    for_everyone = serializers.BooleanField(
        help_text="Whether everyone answers every unit, so that no allocation is needed."
    )
    chooses = serializers.ChoiceField(
        choices=[(one, one) for one in get_args(Chooses)],
        help_text="Units that the round can include: any, with a value, or with all requested fields decided.",
    )
    terms = ParameterSerializer(many=True)


class PracticeChoiceSerializer(Plain):
    id = serializers.IntegerField()
    name = serializers.CharField()
    kind = serializers.CharField()
    open = serializers.BooleanField(help_text="Whether people can still pass it.")
    people = serializers.ListField(child=serializers.IntegerField(), help_text="Members who take part in it.")
    passed = serializers.ListField(child=serializers.IntegerField(), help_text="Members who have passed it.")


class PersonChoiceSerializer(Plain):
    member = serializers.IntegerField()
    name = serializers.CharField()
    pseudonym = serializers.CharField()
    role = serializers.ChoiceField(choices=Role.choices)
    open_answers = serializers.IntegerField(
        help_text="Unanswered assignments of the person, and an even share of each open shared queue."
    )
    open_rounds = serializers.IntegerField()


class GoldSourceSerializer(Plain):
    """A closed round whose decided units can return."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    kind = serializers.CharField()
    units = serializers.IntegerField()


class RoundChoicesSerializer(Plain):
    """The choices for a new round."""

    kinds = KindChoiceSerializer(many=True)
    groups = KindGroupSerializer(many=True, help_text="Groups of tasks, in order.")
    purposes = PurposeChoiceSerializer(many=True)
    practice = PracticeChoiceSerializer(many=True)
    pilots = gate_shapes.PilotChoiceSerializer(many=True)
    people = PersonChoiceSerializer(many=True)
    gold_sources = GoldSourceSerializer(many=True)


class StratumSerializer(Plain):
    name = serializers.CharField()
    units = serializers.IntegerField()
    taken = serializers.IntegerField()


class RoundTotalsSerializer(Plain):
    """The size of a round plan: units, answers and time."""

    units = serializers.IntegerField()
    available = serializers.IntegerField(help_text="Number of matching units.")
    strata = StratumSerializer(many=True)
    answers = serializers.IntegerField()
    each = serializers.FloatField(help_text="Mean number of answers per person.")
    seconds_an_answer = serializers.FloatField(
        help_text="Median of earlier answers; an assumed value if there are none."
    )
    answers_timed = serializers.IntegerField(help_text="Number of answers in the median; 0 if the value is assumed.")
    fewer = serializers.ListField(
        child=serializers.CharField(), help_text="Why there are fewer repeats or attention checks than requested."
    )
    minutes_each = serializers.FloatField()
    items = serializers.IntegerField(help_text="Gold items that can return; 0 if the plan has none.")
    items_each = serializers.FloatField(help_text="Mean number of returning items per person.")


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
    kind = serializers.ChoiceField(choices=KIND_CHOICES)
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
