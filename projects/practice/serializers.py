"""Serializers of practice rounds and prerequisites."""

from typing import Any

from rest_framework import serializers

from api.fields import LARGEST, Strict

from . import readiness

Plain = serializers.Serializer[Any]


class AttemptSerializer(Plain):
    """One attempt at all units of a practice round."""

    number = serializers.IntegerField()
    units = serializers.IntegerField()
    done = serializers.IntegerField(help_text="Answered units that are correct or have no try left.")
    right = serializers.IntegerField(help_text="Units that are correct in their last try.")
    is_done = serializers.BooleanField()
    passed = serializers.BooleanField()


class OpensSerializer(Plain):
    id = serializers.IntegerField()
    name = serializers.CharField()


class OwnAccuracySerializer(Plain):
    """A person's current warning: the last answers to items with a known answer. The items are not revealed."""

    right = serializers.IntegerField(help_text="Correct answers among the last ones.")
    window = serializers.IntegerField(help_text="Number of these answers.")
    at = serializers.DateTimeField()
    practice = serializers.IntegerField(allow_null=True, help_text="Open practice round for the person.")


class PracticeSerializer(Plain):
    attempts = AttemptSerializer(many=True)
    passed = serializers.BooleanField()
    pass_mark = serializers.IntegerField(help_text="Required percentage of correct units.")
    may_begin_again = serializers.BooleanField()
    opens = OpensSerializer(many=True, help_text="Open rounds of this person that require this practice.")


class FieldFeedbackSerializer(Plain):
    field = serializers.CharField()
    right = serializers.BooleanField()
    said = serializers.CharField(allow_blank=True)
    expected = serializers.CharField(
        allow_null=True, allow_blank=True, help_text="The expected value; null while a try is left."
    )
    reason = serializers.CharField(allow_blank=True, help_text="The curator's reason for the expected value.")
    heading = serializers.CharField(
        allow_blank=True, help_text="Heading in the guideline under which the field is explained."
    )


class FeedbackSerializer(Plain):
    right = serializers.BooleanField()
    tries_left = serializers.IntegerField()
    fields = FieldFeedbackSerializer(many=True)  # type: ignore[assignment]


class PersonPracticeSerializer(Plain):
    member = serializers.IntegerField()
    pseudonym = serializers.CharField()
    name = serializers.CharField()
    attempts = AttemptSerializer(many=True)
    passed = serializers.BooleanField()


class AskedQuestionSerializer(Plain):
    question = serializers.CharField()
    options = serializers.ListField(child=serializers.CharField())
    chosen = serializers.IntegerField(allow_null=True, help_text="Index of the option chosen in the last try.")
    right = serializers.BooleanField(allow_null=True, help_text="Whether that option is correct.")
    explanation = serializers.CharField(
        allow_blank=True, help_text="Empty while it would reveal the answer to a question that can still be tried."
    )


class QuestionsSerializer(Plain):
    state = serializers.ChoiceField(choices=readiness.STATES)
    tries_left = serializers.IntegerField()
    questions = AskedQuestionSerializer(many=True)


class ChosenSerializer(Strict):
    chosen = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=5),
        max_length=30,
        help_text="Index of the chosen option of each question, from 0.",
    )


class PersonQuestionsSerializer(Plain):
    member = serializers.IntegerField()
    pseudonym = serializers.CharField()
    name = serializers.CharField()
    of = serializers.IntegerField(help_text="Number of questions.")
    tries = serializers.ListField(child=serializers.IntegerField(), help_text="Number of correct options in each try.")
    passed = serializers.BooleanField()
    practice = serializers.ChoiceField(
        choices=readiness.STATES,
        allow_null=True,
        help_text="State of the required practice; null if the round requires none.",
    )
    admitted = serializers.BooleanField(help_text="Whether a lead admitted the person.")
    waits_for_lead = serializers.BooleanField(help_text="Whether the person cannot continue until a lead admits them.")


class AdmissionSerializer(Strict):
    member = serializers.IntegerField(min_value=1, max_value=LARGEST)
    reason = serializers.CharField(max_length=2000, allow_blank=True, default="")
