"""Serializers for round plans, their choices and their totals."""

import secrets
from typing import Any, ClassVar, get_args

from rest_framework import serializers

from api.fields import LARGEST, FiniteField, LabelField, NameField, Strict
from api.parameters import ParameterSerializer
from measures import drift

from .. import kinds
from ..answers.returning import BAR
from ..gates import serializers as gate_shapes
from ..guidelines.serializers import FieldChoiceSerializer
from ..models import Purpose, Role, Round
from ..models.round import HELD_LIMIT, MAX_HELD_LIMIT
from ..purposes import PLANNED_NAMES, Chooses, which

Plain = serializers.Serializer[Any]
#: The purposes that a lead can choose. A curation round opens automatically.
PURPOSES = [choice for choice in Purpose.choices if choice[0] in which("planned")]


class RoundPlanSerializer(Strict):
    """The plan of a new round."""

    old_names: ClassVar = {"dealing": "allocation", "hand_size": "held_limit"}

    name = NameField(max_length=80)
    kind = serializers.ChoiceField(choices=kinds.choices())
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
