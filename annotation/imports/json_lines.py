"""JSON lines, read strictly: no duplicate keys, no NaN, and limits on digits and nesting."""

import json
import re
from collections.abc import Iterator
from typing import Any

from projects.uploads.faults import Faults

from .reading import Line

#: Maximum number of digits of an integer; no format has longer ones.
LONGEST_NUMBER = 30
#: Brackets inside more than this number of others are named if the nesting is too deep to read.
DEEP = 100
#: Maximum number of values on a line. An empty object takes 2 bytes in a file and 60 in memory, so the length alone
#: does not bound memory.
MOST_VALUES = 1_000_000


class _Rejected(ValueError):
    """Well-formed JSON that is rejected."""

    def __init__(self, message: str, token: str = "", *, repeated_key: str = "") -> None:
        super().__init__(message)
        self.token, self.repeated_key = token, repeated_key


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        duplicate = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _Rejected(
            f"the key {quoted(duplicate)} occurs twice in one object", repeated_key=duplicate[:200] or "line"
        )
    return result


def _constant(name: str) -> Any:
    raise _Rejected(f"{name} is not a JSON value", name)


def _integer(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise _Rejected(f"a number has {len(digits)} digits; expected at most {LONGEST_NUMBER}", digits)
    return int(digits)


_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer)


def parse(line: Line, file: str, faults: Faults) -> dict[str, Any] | None:
    """Return the object on a line, or None after adding a fault."""
    text = line.text
    if "\0" in text:
        at = text.index("\0")
        faults.add(file, _line_of(line, at), path_at(text, at), f"a NUL character at column {_column(text, at)}")
        return None
    if not text.strip():
        faults.add(file, line.number, "line", "the line is empty; expected one JSON object per line")
        return None
    # This upper bound is precise enough, because the limit is far above the number of commas in any text.
    if len(text) > MOST_VALUES and text.count(",") + text.count("[") + text.count("{") > MOST_VALUES:
        faults.add(
            file,
            line.number,
            "line",
            f"more than {MOST_VALUES:,} values on one line; expected one JSON object per line",
        )
        return None
    try:
        value = _decoder.decode(text)
    except json.JSONDecodeError as error:
        faults.add(file, _line_of(line, error.pos), path_at(text, error.pos), _syntax_message(line, error))
    except _Rejected as error:
        at = _position_of(text, error)
        faults.add(file, _line_of(line, at), error.repeated_key or path_at(text, at), str(error))
    except RecursionError:
        faults.add(file, _line_of(line, _deep_position(text)), "line", "the brackets are nested too deeply")
    except ValueError as error:
        faults.add(file, line.number, "line", str(error))
    else:
        if isinstance(value, dict):
            return value
        faults.add(file, line.number, "line", f"expected a JSON object, found {describe(value)}")
    return None


def value_at(text: str) -> tuple[Any, int]:
    """Return the value at the start of a text and the position after it. Raise `ValueError` if there is none."""
    return _decoder.raw_decode(text)


def _line_of(line: Line, at: int) -> int:
    return line.number + line.text.count("\n", 0, at)


def _column(text: str, at: int) -> int:
    return at - text.rfind("\n", 0, at)


def _position_of(text: str, error: _Rejected) -> int:
    """Return the position of a rejected value, or of the second of two equal keys. Keys are only found over lines."""
    if not error.repeated_key:
        return next((token.start() for token in _TOKEN.finditer(text) if token[0] == error.token), 0)
    seen: set[tuple[str | int, ...]] = set()
    for path, at in positions(text) if "\n" in text else ():
        if path in seen:
            return at
        seen.add(path)
    return 0


def _deep_position(text: str) -> int:
    """Return the position of the first bracket inside more than `DEEP` others."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += (token[0] in "{[") - (token[0] in "}]")
        if depth > DEEP:
            return token.start()
    return 0


def _syntax_message(line: Line, error: json.JSONDecodeError) -> str:
    text = line.text
    if line.is_cut and "\r" in text and "\n" not in text:
        return "the lines end in CR only; save the file with Unix or Windows line endings"
    # A JSON object over several lines may end without a line ending.
    if line.is_cut and "\n" not in text[error.pos :].rstrip():
        return (
            f"the file seems truncated: the last line has no line ending and stops after {len(text)} characters "
            f"({_place(error)})"
        )
    if text.startswith("\ufeff"):
        return "the line starts with a byte order mark, as if files had been joined; remove it"
    return f"not JSON: {_place(error)}{_open_quote(text, error)}"


def _open_quote(text: str, error: json.JSONDecodeError) -> str:
    """Return where the string before an error opens, if its closing mark is probably missing: text or the end of the
    line follows it."""
    ends_line = error.msg == "Invalid control character at" and text[error.pos] in "\r\n"
    is_missing_comma = text[error.pos : error.pos + 1] == '"'
    if not ends_line and (is_missing_comma or error.msg not in ("Expecting ',' delimiter", "Expecting ':' delimiter")):
        return ""
    at = opened = 0
    while (opened := text.find('"', at, error.pos)) >= 0:
        last, at = opened, _string_end(text, opened, error.pos) + 1
    if not at or text[at : error.pos].strip():
        return ""
    return f"; the string that opens at column {_column(text, last)} may lack its closing quotation mark"


def _place(error: json.JSONDecodeError) -> str:
    # Some messages of `json` end in "at", for example "Unterminated string starting at".
    return f"{error.msg.removesuffix(' at')} at column {error.colno}"


def path_at(text: str, position: int) -> str:
    """Return the path of the value at a position of a JSON text, such as ``a[3].b``; "line" if unknown.

    The text may be invalid at that position.
    """
    stack: list[list[Any]] = []  # one [is array, index or key] per open bracket
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


_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},:]|[^\s"\[\]{},:]+')


def positions(text: str) -> Iterator[tuple[tuple[str | int, ...], int]]:
    """Yield the path and the position of each value of a valid JSON text, in order. A repeated key is yielded twice."""
    path: list[str | int] = []
    expects_key: list[bool] = []
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in "}]":
            path.pop()
            expects_key.pop()
        elif mark == ",":
            last = path[-1]
            expects_key[-1] = isinstance(last, str)
            path[-1] = last if isinstance(last, str) else last + 1
        elif mark == ":":
            expects_key[-1] = False
        elif expects_key and expects_key[-1]:
            path[-1] = json.loads(mark)
        else:
            if path:
                yield tuple(path), token.start()
            if mark in "{[":
                path.append("" if mark == "{" else 0)
                expects_key.append(mark == "{")


def _string_end(text: str, start: int, limit: int) -> int:
    """Return the position of the quote that closes the string opened at ``start``; ``limit`` if there is none."""
    at = start + 1
    while at < limit and text[at] != '"':
        at += 2 if text[at] == "\\" else 1
    return min(at, limit)


def illegal_character(text: str) -> str | None:
    """Describe a character that no text may contain.

    These are a NUL character and half a surrogate pair. Return None if there is none.
    """
    if "\0" in text:
        return f"a NUL character at character {text.index(chr(0)) + 1}"
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            return f"half a surrogate pair (\\u{ord(text[error.start]):04x}) at character {error.start + 1}"
    return None


def quoted(value: object, longest: int = 60) -> str:
    """Return a value as JSON for a message, cut to a readable length."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        text = repr(type(value).__name__)
    text = text.encode("utf-8", "replace").decode()
    return text if len(text) <= longest else f"{text[:longest]}…"


def describe(value: object) -> str:
    """Describe a value by its JSON type, with the value itself if it is short."""
    match value:
        case None:
            return "null"
        case bool():
            return f"the boolean {quoted(value)}"
        case int() | float():
            return f"the number {quoted(value)}"
        case str():
            return f"the string {quoted(value)}"
        case list():
            return f"a list of {len(value)}"
        case dict():
            return f"an object of {len(value)} keys"
    return type(value).__name__
