"""Serializers of recruitment links."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from rest_framework import serializers

from api.fields import Strict, at_most

from ..models import Recruit, Recruitment
from .ids import PARAMETERS

Plain = serializers.Serializer[Any]
State = Recruit.State
_CODE = re.compile(r"[A-Za-z0-9_-]{1,60}", re.ASCII)
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_HOST = re.compile(rf"(?:{_LABEL}\.)+[A-Za-z]{{2,}}", re.ASCII)
#: Other characters could turn the direction of the text, or end the line.
_UNSAFE = re.compile(r"[^\x21-\x7e]|[\"<>\\^`{|}]")


class EndField(serializers.CharField):
    """A completion code, or the https address to which the person returns."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=500, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        end: str = super().to_internal_value(data)
        if not end or _CODE.fullmatch(end):
            return end
        if not end.startswith("https://"):
            raise serializers.ValidationError(
                "Enter a code of at most 60 letters, digits, - and _, or an address that starts with https://."
            )
        try:
            parts = urlsplit(end)
            is_valid = parts.port is None and _HOST.fullmatch(parts.netloc) and not _UNSAFE.search(end)
        except ValueError:
            is_valid = False
        if not is_valid:
            raise serializers.ValidationError("This is not a valid https address of a platform.")
        return end


class ScreeningQuestionSerializer(Strict):
    """A question before the round. A person who chooses an option that is not accepted is screened out."""

    question = serializers.CharField(max_length=1000)
    options = serializers.ListField(child=serializers.CharField(max_length=500), min_length=2, max_length=10)
    accepted = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=9),
        min_length=1,
        max_length=10,
        error_messages={"min_length": "Mark at least one option as accepted."},
        help_text="Indexes of the accepted options, from 0.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if max(attrs["accepted"]) >= len(attrs["options"]):
            raise serializers.ValidationError({"accepted": "Each index must be one of the options."})
        attrs["accepted"] = sorted(set(attrs["accepted"]))
        return attrs


class ParametersSerializer(Strict):
    """Names of the parameters of the address. An empty name is not read."""

    id = serializers.RegexField(r"^[A-Za-z0-9_.-]{1,40}\Z")
    study = serializers.RegexField(r"^[A-Za-z0-9_.-]{0,40}\Z", allow_blank=True, default="")
    session = serializers.RegexField(r"^[A-Za-z0-9_.-]{0,40}\Z", allow_blank=True, default="")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        names = [name for name in attrs.values() if name]
        if len(set(names)) != len(names):
            raise serializers.ValidationError({"id": "Give each parameter a name of its own."})
        return attrs


class RecruitmentSerializer(Strict):
    """Settings of a shared link whose address a recruitment platform gives to its members."""

    platform = serializers.ChoiceField(choices=Recruitment.Platform.choices)
    parameters = ParametersSerializer(required=False, help_text="Defaults to the names of the platform.")
    completed_end = EndField(help_text="Completion code, or https address, after the last unit.")
    screened_out_end = EndField(allow_blank=True, default="")
    failed_checks_end = EndField(allow_blank=True, default="")
    questions = ScreeningQuestionSerializer(many=True, default=list, **at_most(20))
    units = serializers.IntegerField(
        min_value=1, max_value=100_000, allow_null=True, default=None, help_text="Units per person; null: all."
    )
    checks_allowed = serializers.IntegerField(
        min_value=0,
        max_value=1000,
        allow_null=True,
        default=None,
        help_text="Attention checks that a person may fail; null: failed checks have no effect.",
    )
    minutes = serializers.IntegerField(
        min_value=5, max_value=30 * 24 * 60, default=120, help_text="Time limit, after which a place is returned."
    )
    pay = serializers.DecimalField(
        max_digits=8, decimal_places=2, min_value=0, allow_null=True, default=None, help_text="Pay per place."
    )
    currency = serializers.RegexField(r"^[A-Z]{3}\Z", allow_blank=True, default="")
    keep_days = serializers.IntegerField(
        min_value=0,
        max_value=3650,
        default=90,
        help_text="Days after the round closes or the link expires at which external ids are deleted.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        ends = {
            State.COMPLETED.value: attrs.pop("completed_end"),
            State.SCREENED_OUT.value: attrs.pop("screened_out_end"),
            State.FAILED_CHECKS.value: attrs.pop("failed_checks_end"),
        }
        given = [end for end in ends.values() if end]
        if len(set(given)) != len(given):
            raise serializers.ValidationError({"completed_end": "Use a different code or address for each end."})
        attrs["ends"] = {state: end for state, end in ends.items() if end}
        attrs.setdefault("parameters", dict(PARAMETERS[attrs["platform"]]))
        return attrs


class RecruitmentSummarySerializer(Plain):
    """A recruitment link with its places, for leads."""

    link = serializers.IntegerField()
    label = serializers.CharField()  # type: ignore[assignment]
    platform = serializers.ChoiceField(choices=Recruitment.Platform.choices)
    parameters = serializers.DictField(child=serializers.CharField(allow_blank=True))
    completed_end = serializers.CharField()
    screened_out_end = serializers.CharField(allow_blank=True)
    failed_checks_end = serializers.CharField(allow_blank=True)
    questions = ScreeningQuestionSerializer(many=True)
    units = serializers.IntegerField(allow_null=True)
    checks_allowed = serializers.IntegerField(allow_null=True)
    minutes = serializers.IntegerField()
    pay = serializers.DecimalField(max_digits=8, decimal_places=2, allow_null=True)
    currency = serializers.CharField(allow_blank=True)
    keep_days = serializers.IntegerField()
    places = serializers.IntegerField()
    free = serializers.IntegerField(help_text="Places that nobody holds.")
    in_progress = serializers.IntegerField()
    completed = serializers.IntegerField()
    failed_checks = serializers.IntegerField()
    screened_out = serializers.IntegerField()
    returned = serializers.IntegerField(help_text="People who timed out or withdrew, and did not resume.")
    median_per_hour = serializers.FloatField(
        allow_null=True, help_text="Median pay per hour of active time, of people who completed."
    )


class RecruitRowSerializer(Plain):
    """A person of a recruitment link, as shown to leads. The ids are empty once they are deleted."""

    id = serializers.IntegerField()
    external_id = serializers.CharField(allow_blank=True)
    study_id = serializers.CharField(allow_blank=True)
    session_id = serializers.CharField(allow_blank=True)
    pseudonym = serializers.CharField()
    state = serializers.ChoiceField(choices=State.choices)
    begun_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    active_minutes = serializers.FloatField()
    answers = serializers.IntegerField()
    checks_passed = serializers.IntegerField(allow_null=True, help_text="Null until the person has ended.")
    checks = serializers.IntegerField(allow_null=True)
    pay = serializers.DecimalField(max_digits=8, decimal_places=2, allow_null=True)
    per_hour = serializers.FloatField(allow_null=True, help_text="Pay per hour of active time.")


class AskedScreeningSerializer(Plain):
    question = serializers.CharField()
    options = serializers.ListField(child=serializers.CharField())


class ScreeningAnswersSerializer(Strict):
    chosen = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=9),
        max_length=20,
        help_text="Index of the chosen option of each question, from 0.",
    )


class OutcomeOfPlaceSerializer(Plain):
    """A person's own place. The code or address is that of the state reached; empty while in progress."""

    state = serializers.ChoiceField(choices=State.choices)
    questions = AskedScreeningSerializer(many=True, help_text="Screening questions that must be answered first.")
    code = serializers.CharField(allow_blank=True)
    address = serializers.CharField(allow_blank=True)
    due_at = serializers.DateTimeField(allow_null=True, help_text="End of the time limit, while in progress.")


class QueryField(serializers.DictField):
    """Parameters of the address under which a page was opened."""

    child = serializers.CharField(max_length=500, allow_blank=True)

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping) and len(data) > 30:
            raise serializers.ValidationError("The address has more than 30 parameters.")
        return super().to_internal_value(data)
