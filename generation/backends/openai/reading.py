"""What an endpoint says, read strictly: it is somebody else's program, and may say anything."""

import json
from dataclasses import dataclass, field
from typing import Any

from ..protocol import Finish

#: How much of what came is kept with a summary, in characters.
KEPT = 20_000
#: The largest count that the data base holds.
_LARGEST = 2**31 - 1


class Garbage(Exception):
    """What came is no answer of the chat completions API; the message names it."""


@dataclass(frozen=True)
class Completion:
    """One answer. Counts are None where the endpoint gave none that make sense."""

    text: str
    finish: Finish
    finish_reason: str
    model: str
    fingerprint: str
    tokens_in: int | None
    tokens_out: int | None
    usage: dict[str, int] = field(default_factory=dict)


def completion(body: bytes) -> Completion:
    """The answer in a body. Raises `Garbage`."""
    answer = _object(body)
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices:
        raise Garbage(f"an answer without choices: {shown(answer)}")
    first = choices[0]
    message = first.get("message") if isinstance(first, dict) else None
    text = message.get("content") if isinstance(message, dict) else None
    if not isinstance(text, str):
        raise Garbage(f"a choice without a text: {shown(first)}")
    if fault := _unstorable(text):
        raise Garbage(f"a text with {fault}")
    reason = word(first.get("finish_reason"))
    finish = {"stop": Finish.COMPLETE, "length": Finish.LENGTH}.get(reason, Finish.UNKNOWN)
    usage = _usage(answer.get("usage"))
    return Completion(
        text, finish, reason, word(answer.get("model")), word(answer.get("system_fingerprint")),
        usage.get("prompt_tokens"), usage.get("completion_tokens"), usage,
    )  # fmt: skip


def complaint(body: bytes) -> str:
    """What an endpoint says is wrong, in its own words where it has some, cut short."""
    try:
        answer = _object(body)
    except Garbage:
        return shown(body.decode("utf-8", "replace")) if body.strip() else "nothing more"
    error = answer.get("error")
    words = error.get("message") if isinstance(error, dict) else error or answer.get("message") or answer.get("detail")
    return shown(words if isinstance(words, str) else answer, 300)


def kept(body: bytes) -> str:
    """The body as it is kept: its beginning, with what no data base takes replaced."""
    text = body.decode("utf-8", "replace").replace("\0", "\ufffd")
    return text if len(text) <= KEPT else f"{text[:KEPT]}… ({len(text) - KEPT} more characters)"


def shown(value: object, longest: int = 120) -> str:
    """A value in a sentence: as JSON, in ASCII, cut short."""
    try:
        text = json.dumps(value)
    except (ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= longest else f"{text[:longest]}…"


def word(value: Any) -> str:
    """A short text of the endpoint's; empty where it is none, or cannot be stored."""
    return value[:200] if isinstance(value, str) and not _unstorable(value) else ""


def _object(body: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        begins = shown(body[:80].decode("utf-8", "replace"))
        raise Garbage(f"{len(body)} bytes that are no JSON, beginning {begins}") from None
    if not isinstance(answer, dict):
        raise Garbage(f"JSON that is no object: {shown(answer)}")
    return answer


def _unstorable(text: str) -> str:
    if "\0" in text:
        return "a NUL character"
    return "half a surrogate pair" if any("\ud800" <= c <= "\udfff" for c in text) else ""


def _usage(given: Any) -> dict[str, int]:
    if not isinstance(given, dict):
        return {}
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    return {
        name: given[name]
        for name in names
        if type(given.get(name)) is int and 0 <= given[name] <= _LARGEST
    }  # fmt: skip
