"""Check suggested values by the rules that hold for the answers of people."""

from collections.abc import Mapping
from typing import Any

from rest_framework.exceptions import ErrorDetail, ValidationError

from api.problems import Refused
from projects import kinds
from projects.models import Assignment, Project, Purpose, Round, Unit

#: Longest fault that is stored, in characters.
LONGEST = 500


def page_round(project: Project, kind: str, options: Mapping[str, Any]) -> Round:
    """Return an unsaved round with these options, for cards without current values and for checks of suggestions."""
    return Round(project=project, kind=kind, purpose=Purpose.GOLD, options=dict(options))


def checked_value(round: Round, unit: Unit, data: Any) -> kinds.Value:
    """Return a suggested value as the task's serializer stores it. Raise `Refused` with the reason if it is invalid."""
    kind = kinds.get(round.kind)
    serializer = kind.value_serializer(data=data)
    try:
        serializer.is_valid(raise_exception=True)
    except ValidationError as error:
        raise Refused.field("value", "; ".join(_messages(error.detail))[:LONGEST]) from error
    value: kinds.Value = dict(serializer.validated_data)
    if missing := [field for field in kind.fields_of(round) if field not in value]:
        raise Refused.field("value", f"The value has no {missing[0]}.")
    kind.check(Assignment(round=round, unit=unit, number=1), value)
    return kind.as_suggestion(value)


def _messages(detail: Any, path: str = "") -> list[str]:
    if isinstance(detail, Mapping):
        return [text for name, each in detail.items() for text in _messages(each, f"{path}.{name}" if path else name)]
    if isinstance(detail, ErrorDetail):
        return [f"{path}: {detail}" if path else str(detail)]
    return [text for each in detail if each for text in _messages(each, path)]
