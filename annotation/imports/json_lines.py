"""One JSON object a line, read strictly: no duplicate keys, no NaN, no numbers or nesting without end."""

import json
import re
from typing import Any

from projects.uploads.faults import Faults

from .reading import Line

#: The longest number that is read; none of the formats has numbers of more digits.
LONGEST_NUMBER = 30
#: The most values on a line. An empty object takes two bytes of a file and sixty of memory: lines are bounded by what
#: becomes of them as well as by their length.
MOST_VALUES = 1_000_000
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Trap(ValueError):
    """JSON that is well-formed and refused all the same."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _Trap(f"the key {shown(twice)} stands twice in one object")
    return found


def _constant(name: str) -> Any:
    raise _Trap(f"{name} is not JSON")


def _integer(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise _Trap(f"a number of {len(digits)} digits")
    return int(digits)


_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer)


def parse(line: Line, file: str, faults: Faults) -> dict[str, Any] | None:
    """The object on a line, or None after adding the fault."""
    text = line.text
    if "\0" in text:
        at = text.index("\0")
        faults.add(file, line.number, path_at(text, at), f"a NUL character at column {at + 1}")
        return None
    if not text.strip():
        faults.add(file, line.number, "line", "an empty line; expected one JSON object a line")
        return None
    # An upper bound, as good as the number itself where a limit is far above any text's commas.
    if text.count(",") + text.count("[") + text.count("{") > MOST_VALUES:
        faults.add(file, line.number, "line", f"more than {MOST_VALUES:,} values; expected one object a line")
        return None
    try:
        value = _decoder.decode(text)
    except json.JSONDecodeError as error:
        faults.add(file, line.number, path_at(text, error.pos), _broken(line, error))
    except _Trap as error:
        faults.add(file, line.number, "line", str(error))
    except RecursionError:
        faults.add(file, line.number, "line", "brackets nested too deeply to be data")
    except ValueError as error:
        faults.add(file, line.number, "line", str(error))
    else:
        if isinstance(value, dict):
            return value
        faults.add(file, line.number, "line", f"expected a JSON object, found {described(value)}")
    return None


def _broken(line: Line, error: json.JSONDecodeError) -> str:
    if line.is_cut:
        return (
            f"the last line breaks off after {len(line.text)} characters and has no line ending: the file seems cut "
            f"off ({error.msg} at column {error.colno})"
        )
    return f"not JSON: {error.msg} at column {error.colno}"


def path_at(text: str, position: int) -> str:
    """The path of the value at a position of a JSON text that may be broken there, such as ``a[3].b``; else "line"."""
    stack: list[list[Any]] = []  # of [is array, index or key]
    at, expects_key = 0, False
    while at < position:
        char = text[at]
        if char == '"':
            end = _string_end(text, at, position)
            if expects_key and stack:
                stack[-1][1] = text[at + 1 : end]
            at, expects_key = end, False
        elif char in "{[":
            if len(stack) > 20:
                return "line"
            stack.append([char == "[", 0 if char == "[" else ""])
            expects_key = char == "{"
        elif char in "}]" and stack:
            stack.pop()
        elif char == "," and stack:
            if stack[-1][0]:
                stack[-1][1] += 1
            else:
                expects_key = True
        at += 1
    path = ""
    for is_array, step in stack:
        path += f"[{step}]" if is_array else f".{step}" if path and step else step
    return path if 0 < len(path) <= 200 else "line"


def _string_end(text: str, start: int, limit: int) -> int:
    """The position of the quote that closes the string that opens at ``start``, or ``limit`` where none does."""
    at = start + 1
    while at < limit and text[at] != '"':
        at += 2 if text[at] == "\\" else 1
    return min(at, limit)


def no_text(found: str) -> str | None:
    """What no text may hold, in words: a NUL character, half a surrogate pair. None where it holds neither."""
    if "\0" in found:
        return f"a NUL character at character {found.index(chr(0)) + 1}"
    if not found.isascii() and (lone := _SURROGATE.search(found)):
        return f"half a surrogate pair (\\u{ord(lone[0]):04x}) at character {lone.start() + 1}"
    return None


def shown(value: object, longest: int = 60) -> str:
    """A value as JSON for a message, cut to a readable length."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        text = repr(type(value).__name__)
    text = text.encode("utf-8", "replace").decode()
    return text if len(text) <= longest else f"{text[:longest]}…"


def described(value: object) -> str:
    """A value's JSON type, and the value where it is short enough to help."""
    match value:
        case None:
            return "null"
        case bool():
            return f"the boolean {shown(value)}"
        case int() | float():
            return f"the number {shown(value)}"
        case str():
            return f"the string {shown(value)}"
        case list():
            return f"a list of {len(value)}"
        case dict():
            return f"an object of {len(value)} keys"
    return type(value).__name__
