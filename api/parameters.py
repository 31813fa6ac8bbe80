"""Declared parameters. Validation, forms and the API description are derived from the declarations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rest_framework import serializers

from . import templates

#: Error of a required parameter without a value.
NEEDED = "This value is required."


class Takes(StrEnum):
    """The type of a parameter.

    An optional ``INTEGER`` or ``NUMBER`` has the default None. ``SEVERAL`` is a list of choices without duplicates, in
    the order of `Parameter.choices`.
    """

    TEXT = "text"
    LONG_TEXT = "long text"
    INTEGER = "integer"
    NUMBER = "number"
    CHOICE = "choice"
    SWITCH = "switch"
    SEVERAL = "several"


@dataclass(frozen=True)
class Parameter:
    """The declaration of a parameter. Bounds are inclusive.

    ``when``: name and values of another parameter; without one of these values this parameter is hidden. ``words``:
    labels of the choices, if they differ. ``fields``: the placeholders of a template (`templates`). ``needs``: the
    placeholders that a template must contain.
    """

    name: str
    takes: Takes
    label: str
    default: Any = None
    help: str = ""
    choices: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    required: bool = False
    when: tuple[str, tuple[str, ...]] | None = None
    fields: tuple[str, ...] | None = None
    needs: tuple[str, ...] = ()


def check(parameters: Sequence[Parameter], values: Mapping[str, Any]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Validate the values. Return the values of all parameters with defaults, and errors as (name, message).

    A parameter that ``when`` hides has its default, because an unused value must not change the hash of the values.
    """
    clean: dict[str, Any] = {}
    faults = [(name, "Unknown parameter.") for name in values if name not in {p.name for p in parameters}]
    for parameter in parameters:
        value = _normalize(parameter, values.get(parameter.name, parameter.default))
        clean[parameter.name] = value
        if parameter.when and clean.get(parameter.when[0]) not in parameter.when[1]:
            clean[parameter.name] = parameter.default
        elif fault := _fault(parameter, value):
            faults.append((parameter.name, fault))
        elif parameter.takes is Takes.NUMBER and value is not None:
            # 1 and 1.0 are the same value and must have the same hash.
            clean[parameter.name] = float(value)
    return clean, faults


def defaults(parameters: Sequence[Parameter]) -> dict[str, Any]:
    return check(parameters, {})[0]


def check_submitted(
    parameters: Sequence[Parameter], values: Mapping[str, Any]
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Validate the submitted values like `check`, without defaults. Null, empty and false values are omitted."""
    filled = {name: value for name, value in values.items() if value not in (None, "", False)}
    return check([p for p in parameters if p.name in filled], filled)


def _normalize(parameter: Parameter, value: Any) -> Any:
    """Normalise a value. Missing numbers are None, missing texts are "", and choices are in declared order."""
    if value is None or value == "":
        return {Takes.TEXT: "", Takes.LONG_TEXT: "", Takes.INTEGER: None, Takes.NUMBER: None, Takes.SEVERAL: []}.get(
            parameter.takes, value
        )
    if parameter.takes is Takes.SEVERAL and isinstance(value, (list, tuple)):
        # The order of selection has no meaning, so normalise it.
        return [choice for choice in parameter.choices if choice in value] + [
            one for one in value if one not in parameter.choices
        ]
    return value


def _fault(parameter: Parameter, value: Any) -> str:
    if value is None or value == "" or (parameter.takes is Takes.SEVERAL and value == []):
        if parameter.required:
            return NEEDED
        if parameter.takes not in (Takes.CHOICE, Takes.SWITCH):
            return ""
    match parameter.takes:
        case Takes.TEXT | Takes.LONG_TEXT:
            return _text_fault(parameter, value)
        case Takes.CHOICE:
            if not parameter.choices:
                return f"No choices are available. {parameter.help}".strip()
            return "" if value in parameter.choices else f"One of: {', '.join(parameter.choices)}."
        case Takes.SEVERAL:
            if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
                return "Expected a list of choices."
            strange = [one for one in value if one not in parameter.choices]
            return f"{strange[0]!r} is not one of: {', '.join(parameter.choices)}." if strange else ""
        case Takes.SWITCH:
            return "" if isinstance(value, bool) else "Expected true or false."
        case _:
            return _number_fault(parameter, value)


def _text_fault(parameter: Parameter, value: Any) -> str:
    longest = 500 if parameter.takes is Takes.TEXT else 20_000
    if not isinstance(value, str) or "\0" in value:
        return "Expected text without NUL characters."
    if len(value) > longest:
        return f"Expected at most {longest} characters."
    return "" if parameter.fields is None else templates.fault(value, parameter.fields, parameter.needs)


def _number_fault(parameter: Parameter, value: Any) -> str:
    whole = parameter.takes is Takes.INTEGER
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or not abs(value) < 2**63:
        return "A whole number." if whole else "A number."
    low, high = parameter.minimum, parameter.maximum
    if (low is not None and value < low) or (high is not None and value > high):
        return (
            f"From {low:g} to {high:g}."
            if low is not None and high is not None
            else (f"At least {low:g}." if low is not None else f"At most {high:g}.")
        )
    return ""


def in_words(parameter: Parameter, value: Any) -> str:
    """Return a value as readable text."""
    if parameter.takes is Takes.SWITCH:
        return "yes" if value else "no"
    if parameter.takes is Takes.SEVERAL:
        return ", ".join(_word(parameter, one) for one in value) or "none"
    if parameter.words and value in parameter.choices:
        return _word(parameter, value)
    return "not set" if value is None else str(value)


def _word(parameter: Parameter, choice: str) -> str:
    words = dict(zip(parameter.choices, parameter.words, strict=False))
    return words.get(choice, choice)


class WhenSerializer(serializers.Serializer[Any]):
    """A condition: the parameter applies only if another parameter has one of these values."""

    parameter = serializers.CharField()
    values = serializers.ListField(child=serializers.CharField())

    def to_representation(self, when: tuple[str, Sequence[str]]) -> dict[str, Any]:
        return {"parameter": when[0], "values": list(when[1])}


class ParameterSerializer(serializers.Serializer[Any]):
    """The declaration of a parameter. Bounds are inclusive. An optional number may be null (not set)."""

    name = serializers.CharField()
    takes = serializers.ChoiceField(choices=[(t.value, t.value) for t in Takes])
    label = serializers.CharField()  # type: ignore[assignment]
    default = serializers.JSONField(allow_null=True)
    help = serializers.CharField(allow_blank=True)
    choices = serializers.ListField(child=serializers.CharField())
    words = serializers.ListField(
        child=serializers.CharField(),
        help_text="Labels of the choices, in the same order; empty if each choice is its own label.",
    )
    minimum = serializers.FloatField(allow_null=True)
    maximum = serializers.FloatField(allow_null=True)
    required = serializers.BooleanField()  # type: ignore[assignment]
    when = WhenSerializer(allow_null=True)
