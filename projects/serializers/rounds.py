"""Rounds in JSON: what a lead plans, what everyone at work in it sees, and how far it is."""

import secrets
from typing import Any, get_args

from rest_framework import serializers

from api.fields import LARGEST, FiniteField, Strict
from api.parameters import ParameterSerializer

from .. import kinds
from ..background import waiting
from ..models import Purpose, Role, Round
from ..models.job import Job, JobProblem, JobStatus
from ..models.round import HAND, LARGEST_HAND
from ..purposes import Chooses, which
from ..rounds import practice
from .work import FirstSerializer

Plain = serializers.Serializer[Any]
KIND_CHOICES = kinds.choices()
#: What a lead can choose; a standing round opens by itself.
PURPOSES = [choice for choice in Purpose.choices if choice[0] in which("planned")]


class RoundPlanSerializer(Strict):
    """A new round, as one page asks for it."""

    name = serializers.CharField(max_length=80)
    kind = serializers.ChoiceField(choices=KIND_CHOICES)
    purpose = serializers.ChoiceField(choices=PURPOSES)
    overlap = serializers.IntegerField(min_value=1, max_value=50)
    people = serializers.ListField(
        child=serializers.IntegerField(max_value=LARGEST), max_length=500, help_text="Member ids."
    )
    guideline = serializers.IntegerField(required=False, allow_null=True, help_text="The newest where it is left out.")
    dealing = serializers.ChoiceField(choices=Round.Dealing.choices, default=Round.Dealing.POOL)
    seed = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=1)
    sample = serializers.IntegerField(min_value=1, required=False, allow_null=True, help_text="Leave out to take all.")
    filters = serializers.DictField(
        child=serializers.JSONField(allow_null=True),
        required=False,
        help_text="By the kind's declared filters; each narrows.",
    )
    strata = serializers.ListField(
        child=serializers.CharField(max_length=60), required=False, max_length=4,
        help_text="What the sample is stratified by, in proportion.",
    )  # fmt: skip
    order = serializers.ChoiceField(choices=["corpus", "shuffled"], default="corpus")
    options = serializers.DictField(
        child=serializers.JSONField(allow_null=True),
        required=False,
        help_text="What the page shows, by the kind's declarations.",
    )
    policy = serializers.DictField(
        child=serializers.JSONField(allow_null=True),
        required=False,
        help_text="What makes answers gold, by the kind's declarations.",
    )
    lease_seconds = serializers.IntegerField(min_value=60, max_value=7 * 24 * 3600, default=1800)
    hand_size = serializers.IntegerField(
        min_value=1, max_value=LARGEST_HAND, default=HAND,
        help_text="Units that a person holds at a time, and can work on while offline.",
    )  # fmt: skip
    block_share = FiniteField(
        min_value=0, max_value=1, default=0.0, help_text="Share of the units that more people are asked; 0 for none."
    )
    block_overlap = serializers.IntegerField(min_value=0, max_value=50, default=0, help_text="How many people those.")
    repeat_share = FiniteField(
        min_value=0, max_value=0.5, default=0.0, help_text="Share of each person's own units that is asked again."
    )
    repeat_distance = serializers.IntegerField(
        min_value=1, max_value=10_000, default=20, help_text="Other units of the person's in between, at least."
    )
    terms = serializers.DictField(
        child=serializers.JSONField(allow_null=True),
        required=False,
        help_text="What the purpose asks, by its declarations.",
    )
    requires_practice = serializers.IntegerField(
        required=False, allow_null=True, max_value=LARGEST, help_text="A practice round that must be passed first."
    )
    asks_questions = serializers.BooleanField(
        default=False, help_text="Whether the guideline's questions are asked before the first unit."
    )
    rolling = serializers.BooleanField(
        default=False, help_text="Whether units that fit later are taken in while the round is open. Of a pool."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Of a blind round nobody guesses the seed: from it the order of what is judged could be worked out."""
        if kinds.get(attrs["kind"]).blind and "seed" not in self.initial_data:
            attrs["seed"] = secrets.randbelow(2**31)
        return attrs


class RoundPreviewSerializer(RoundPlanSerializer):
    turn = serializers.IntegerField(min_value=0, max_value=10_000, default=0, help_text="Another unit at each.")


class KindChoiceSerializer(Plain):
    key = serializers.CharField()
    title = serializers.CharField()
    name = serializers.CharField(help_text="A name for a round of it that the project has not given yet.")
    strata = serializers.ListField(child=serializers.CharField())
    designed = serializers.BooleanField(help_text="Whether a design lays its units out, to be looked at beforehand.")
    rolls = serializers.BooleanField(help_text="Whether its rounds can take in units while they are open.")
    options = ParameterSerializer(many=True)
    policy = ParameterSerializer(many=True)
    filters = ParameterSerializer(many=True)
    guideline = serializers.CharField(help_text="The one that ships with it, in Markdown.")
    blind = serializers.BooleanField(help_text="People are not to learn whose work they judge.")


class PurposeChoiceSerializer(Plain):
    key = serializers.ChoiceField(choices=PURPOSES)
    says = serializers.CharField(help_text="What becomes of its answers.")
    for_everyone = serializers.BooleanField(help_text="Everyone is asked every unit: there is nothing to deal.")
    chooses = serializers.ChoiceField(
        choices=[(one, one) for one in get_args(Chooses)],
        help_text="Which units it takes: any, those with a value, those of which every field has gold.",
    )  # fmt: skip
    terms = ParameterSerializer(many=True)


class PracticeChoiceSerializer(Plain):
    id = serializers.IntegerField()
    name = serializers.CharField()
    kind = serializers.CharField()
    open = serializers.BooleanField(help_text="Whether it can still be passed.")
    people = serializers.ListField(child=serializers.IntegerField(), help_text="Members at work in it.")
    passed = serializers.ListField(child=serializers.IntegerField(), help_text="Members who have passed it.")


class PersonChoiceSerializer(Plain):
    member = serializers.IntegerField()
    name = serializers.CharField()
    pseudonym = serializers.CharField()
    role = serializers.ChoiceField(choices=Role.choices)
    open_answers = serializers.IntegerField(help_text="Dealt or in hand, and an even share of open pools.")
    open_rounds = serializers.IntegerField()


class RoundChoicesSerializer(Plain):
    """What a lead can choose from for a new round."""

    kinds = KindChoiceSerializer(many=True)
    purposes = PurposeChoiceSerializer(many=True)
    practice = PracticeChoiceSerializer(many=True)
    people = PersonChoiceSerializer(many=True)


class StratumSerializer(Plain):
    name = serializers.CharField()
    units = serializers.IntegerField()
    taken = serializers.IntegerField()


class RoundTotalsSerializer(Plain):
    """What a plan comes to, before it is opened."""

    units = serializers.IntegerField()
    available = serializers.IntegerField(help_text="Matching units.")
    strata = StratumSerializer(many=True)
    answers = serializers.IntegerField()
    each = serializers.FloatField(help_text="Answers a person, on average.")
    seconds_an_answer = serializers.FloatField(help_text="Median of earlier answers; assumed where there are none.")
    answers_timed = serializers.IntegerField(help_text="How many answers the median is of; 0 where it is assumed.")
    minutes_each = serializers.FloatField()


class SettingSerializer(Plain):
    """One thing that was set of a round, in words."""

    label = serializers.CharField()  # type: ignore[assignment]
    value = serializers.CharField()


class RoundGuidelineSerializer(Plain):
    id = serializers.IntegerField()
    number = serializers.IntegerField()
    text = serializers.CharField()
    html = serializers.CharField(help_text="Sanitised.")


class SkipReasonSerializer(Plain):
    code = serializers.CharField()
    text = serializers.CharField()


class RequiredPracticeSerializer(Plain):
    id = serializers.IntegerField()
    name = serializers.CharField()


class RoundSerializer(Plain):
    """A round as everyone at work in it sees it."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    project = serializers.CharField()
    project_name = serializers.CharField()
    illustrative = serializers.BooleanField()
    kind = serializers.ChoiceField(choices=KIND_CHOICES)
    kind_title = serializers.CharField()
    purpose = serializers.ChoiceField(choices=Purpose.choices)
    status = serializers.ChoiceField(choices=Round.Status.choices)
    overlap = serializers.IntegerField()
    units = serializers.IntegerField()
    dealing = serializers.ChoiceField(choices=Round.Dealing.choices)
    seed = serializers.IntegerField(allow_null=True, help_text="Null for those who are not to learn it.")
    options = serializers.DictField(child=serializers.JSONField(allow_null=True))
    policy = serializers.DictField(child=serializers.JSONField(allow_null=True))
    settings = SettingSerializer(many=True)
    makes_gold = serializers.BooleanField()
    independent = serializers.BooleanField(help_text="People label without seeing the current value.")
    shows_value = serializers.BooleanField(help_text="The current value is shown, to be confirmed or corrected.")
    gives_feedback = serializers.BooleanField(help_text="People are told at once what was expected.")
    blind = serializers.BooleanField(help_text="People are not to learn whose work they judge.")
    designed = serializers.BooleanField(help_text="Whether a design has laid its units out.")
    rolling = serializers.BooleanField(help_text="Whether units that fit later are taken in while it is open.")
    asks_questions = serializers.BooleanField()
    requires_practice = RequiredPracticeSerializer(allow_null=True)
    terms = serializers.DictField(
        child=serializers.JSONField(allow_null=True), help_text="What the purpose asks of people."
    )
    guideline = RoundGuidelineSerializer()
    skip_reasons = SkipReasonSerializer(many=True)
    opened_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True)
    role = serializers.CharField(help_text="The reader's role in the project.")
    working = serializers.BooleanField(help_text="Whether the reader is at work in it.")
    job = serializers.IntegerField(
        allow_null=True, help_text="The newest job that prepares or discards it, while it has not opened."
    )


class RoundRowSerializer(Plain):
    """A round in the lead's list, with how far it is."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    kind = serializers.CharField()
    kind_title = serializers.CharField()
    purpose = serializers.ChoiceField(choices=Purpose.choices)
    status = serializers.ChoiceField(choices=Round.Status.choices)
    overlap = serializers.IntegerField()
    units = serializers.IntegerField()
    slots = serializers.IntegerField()
    answered = serializers.IntegerField()
    people = serializers.IntegerField()
    guideline = serializers.IntegerField()
    opened_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True)


class PersonProgressSerializer(Plain):
    member = serializers.IntegerField()
    pseudonym = serializers.CharField()
    name = serializers.CharField()
    answered = serializers.IntegerField()
    skipped = serializers.IntegerField()
    left = serializers.IntegerField(allow_null=True, help_text="In a dealt round; a pool is shared.")
    active_seconds = serializers.FloatField()
    seconds_an_answer = serializers.FloatField(allow_null=True)
    last_answer_at = serializers.DateTimeField(allow_null=True)
    working = serializers.BooleanField()


class DaySerializer(Plain):
    day = serializers.DateField()
    answers = serializers.IntegerField()


class FlagSerializer(Plain):
    unit = serializers.IntegerField()
    key = serializers.CharField()
    pseudonym = serializers.CharField()
    comment = serializers.CharField(allow_blank=True)
    flag = serializers.BooleanField()
    outcome = serializers.CharField()
    reason = serializers.CharField(allow_blank=True, help_text="Why it was skipped, in words.")
    at = serializers.DateTimeField()


class RoundProgressSerializer(Plain):
    """How far a round is, who did what, and what was flagged, commented or skipped."""

    slots = serializers.IntegerField()
    answered = serializers.IntegerField()
    units = serializers.IntegerField()
    units_complete = serializers.IntegerField()
    repeats = serializers.IntegerField(help_text="Slots in which somebody is asked a unit again.")
    repeats_answered = serializers.IntegerField()
    surplus = serializers.IntegerField(
        help_text="Answers that do not count: late, to slots dealt again, or of a text that was corrected since."
    )
    people = PersonProgressSerializer(many=True)
    days = DaySerializer(many=True)
    flagged = FlagSerializer(many=True)
    gold = serializers.DictField(child=serializers.IntegerField(), help_text="Decisions by origin.")
    job = serializers.IntegerField(allow_null=True, help_text="The job that forms gold, once closed.")


class WorkRowSerializer(Plain):
    """One round on *My work*."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    project = serializers.CharField()
    project_name = serializers.CharField()
    kind = serializers.CharField()
    kind_title = serializers.CharField()
    status = serializers.ChoiceField(choices=Round.Status.choices)
    answered = serializers.IntegerField()
    left = serializers.IntegerField(help_text="Slots this person can still do.")
    today = serializers.IntegerField()
    active_seconds = serializers.FloatField()
    replies = serializers.IntegerField(help_text="What was said to this person's answers.")
    outcomes = serializers.BooleanField(help_text="Whether this person may see what was decided of the own answers.")
    first = FirstSerializer(allow_null=True, help_text="What the person has to do before the first unit.")
    practice = serializers.ChoiceField(
        choices=practice.STANDINGS, allow_null=True, help_text="How the person fares; null where it is no practice."
    )  # fmt: skip


class PersonSerializer(Plain):
    member = serializers.IntegerField()


class JobProblemSerializer(serializers.ModelSerializer[JobProblem]):
    class Meta:
        model = JobProblem
        fields = ["item", "message", "at"]


class JobSerializer(serializers.ModelSerializer[Job]):
    """Background work: how far it is and, when it failed, why."""

    status = serializers.ChoiceField(choices=JobStatus.choices)
    result = serializers.JSONField(allow_null=True)
    problems = JobProblemSerializer(many=True)
    stalled = serializers.BooleanField(help_text="Its worker has not been heard of since its lease lapsed.")
    command = serializers.SerializerMethodField(
        help_text="Starts a worker for it, where none has taken it for a while; else empty."
    )

    class Meta:
        model = Job
        fields = [
            "id", "kind", "status", "done", "total", "note", "result", "error", "attempts", "created_at", "started_at",
            "finished_at", "stalled", "command", "problems",
        ]  # fmt: skip

    def get_command(self, job: Job) -> str:
        return waiting.command_for(job)
