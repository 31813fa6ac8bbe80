"""Parse the reply of a judge, and check it by the rules of the protocol. Invalid replies are never repaired."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from api.problems import Refused
from measures.span_agreement import as_cell
from projects.spreadsheets.cells import number_text

from ..kinds.pages import PageKind
from ..protocols.content import load
from .languages import UNKNOWN, language_of
from .prompts import Card, label_of, protocol_language

#: Longest part of a reply that a reason of invalidity quotes.
QUOTED = 80


class InvalidReply(Exception):
    """The reply breaks a rule. The message says which, for the next attempt and for the report."""


def value_of(kind: PageKind, card: Card, reply: str) -> dict[str, Any]:
    """Return the answer in a reply, as a rater's page would send it. Raise `InvalidReply`."""
    answer = _object(reply)
    content = load(card["protocol"])
    value = _pair(card, answer) if content.kind == "compare" else _texts(card, answer)
    serializer = kind.value_serializer(data=value)
    if not serializer.is_valid():
        raise InvalidReply(_first(serializer.errors))
    texts = {text["key"]: text["text"] for text in card["texts"]}
    studies = [study["text"] for study in card["source"]["studies"]]
    checked: dict[str, Any] = serializer.validated_data
    try:
        kind.check_value(content, texts, studies, checked)
    except Refused as refused:
        raise InvalidReply(_place(value, refused)) from None
    _check_language(card, checked)
    return checked


def _object(reply: str) -> dict[str, Any]:
    try:
        answer = json.loads(reply, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except RecursionError:
        raise InvalidReply("The reply is nested too deeply.") from None
    except ValueError as error:
        start = reply.strip()[:QUOTED]
        raise InvalidReply(f"The reply is not one JSON object ({error}). It begins with: {start}") from None
    if not isinstance(answer, dict):
        raise InvalidReply("The reply is JSON, but not an object.")
    return answer


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    answer = dict(pairs)
    if len(answer) != len(pairs):
        raise ValueError("a key occurs twice in one object")
    return answer


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _texts(card: Card, answer: Mapping[str, Any]) -> dict[str, Any]:
    by_label = _only(answer, "texts")
    labels = {label_of(n): text for n, text in enumerate(card["texts"])}
    if set(by_label) != set(labels):
        raise InvalidReply(f"Expected exactly these texts: {', '.join(labels)}.")
    return {
        "texts": [
            {
                "text": text["key"],
                "said": [
                    _said(criterion, one, text["text"], f"{label}, {criterion}")
                    for criterion, one in _mapping(by_label[label], label).items()
                ],
            }
            for label, text in labels.items()
        ]
    }


def _said(criterion: str, one: Any, text: str, place: str) -> dict[str, Any]:
    fields = _mapping(one, place)
    _known(fields, ("value", "na", "reason", "spans"), place)
    return {
        "criterion": criterion,
        "value": _value(fields.get("value", ""), place),
        "na": _typed(fields.get("na", False), bool, "true or false", f"{place}, na"),
        "reason": _typed(fields.get("reason", ""), str, "text", f"{place}, reason"),
        "spans": [_span(span, text, place) for span in _typed(fields.get("spans", []), list, "a list", place)],
    }


def _value(value: Any, place: str) -> str:
    """Return a value as text. JSON numbers are allowed for numbers, and lists for several values."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        try:
            return as_cell(value)
        except ValueError as error:
            raise InvalidReply(f"{place}: {error}.") from None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number_text(value)
    return str(_typed(value, str, "text", f"{place}, value"))


def _span(span: Any, text: str, place: str) -> dict[str, Any]:
    """Return a marked passage with its offsets. The quote must occur exactly once."""
    fields = _mapping(span, place)
    _known(fields, ("quote", "category", "severity", "reason"), place)
    words = {name: _typed(value, str, "text", f"{place}, {name}") for name, value in fields.items()}
    quote = words.get("quote", "")
    occurrences = text.count(quote) if quote else 0
    if occurrences != 1:
        raise InvalidReply(f"{place}: the quote {quote[:QUOTED]!r} occurs {occurrences} times in the text, not once.")
    start = text.index(quote)
    return {**words, "start": start, "end": start + len(quote)}


def _pair(card: Card, answer: Mapping[str, Any]) -> dict[str, Any]:
    left, right = (text["key"] for text in card["texts"])
    keys = {label_of(0): left, label_of(1): right}
    said = []
    for criterion, one in _only(answer, "answers").items():
        fields = _mapping(one, criterion)
        _known(fields, ("choice", "reason"), criterion)
        choice = _typed(fields.get("choice", ""), str, "text", f"{criterion}, choice")
        if choice in (left, right):
            raise InvalidReply(f"{criterion}: the choice is none of the labels.")
        reason = _typed(fields.get("reason", ""), str, "text", f"{criterion}, reason")
        said.append({"criterion": criterion, "choice": keys.get(choice, choice), "reason": reason})
    return {"left": left, "right": right, "said": said}


def _only(answer: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    if set(answer) != {name}:
        raise InvalidReply(f"Expected an object with the key {name!r} only.")
    return _mapping(answer[name], name)


def _mapping(value: Any, place: str) -> dict[str, Any]:
    found: dict[str, Any] = _typed(value, dict, "an object", place)
    return found


def _typed(value: Any, expected: type, words: str, place: str) -> Any:
    if not isinstance(value, expected):
        raise InvalidReply(f"{place}: expected {words}.")
    return value


def _known(fields: Mapping[str, Any], names: Sequence[str], place: str) -> None:
    if unknown := sorted(set(fields) - set(names)):
        raise InvalidReply(f"{place}: unknown key {unknown[0][:QUOTED]!r}.")


def _first(errors: Any) -> str:
    """Return the first message of a serializer's errors."""
    while isinstance(errors, dict | list):
        errors = next((one for one in (errors.values() if isinstance(errors, dict) else errors) if one), "invalid")
    return str(errors)


def _place(value: Mapping[str, Any], refused: Refused) -> str:
    """Return the message of a fault with the label of the text and the key of the criterion."""
    path = refused.errors[0]["field"].split(".")[1:] if refused.errors else []
    message = refused.errors[0]["message"] if refused.errors else refused.detail
    names = []
    current: Any = value
    for step in path:
        current = current[int(step)] if isinstance(current, list) else current.get(step)
        if isinstance(current, dict) and "text" in current and "said" in current:
            names.append(label_of(int(step)))
        elif isinstance(current, dict) and "criterion" in current:
            names.append(str(current["criterion"])[:QUOTED])
        if current is None:
            break
    return f"{', '.join(names)}: {message}" if names else message


def _check_language(card: Card, value: Mapping[str, Any]) -> None:
    expected = protocol_language(card)
    said = [one for text in value.get("texts", []) for one in text["said"]] or value.get("said", [])
    actual = language_of(" ".join(one["reason"] for one in said))
    if expected and actual not in (UNKNOWN, expected):
        raise InvalidReply(f"The reasons are in {actual}. Expected {expected}.")
