"""Texts with named fields in single braces. Nothing is ever evaluated: whatever else stands in braces is text."""

import re
from collections.abc import Mapping, Sequence

#: One word between one brace each: what a field looks like. `{{7*7}}`, `{x.__class__}`, `{ x }` and `{"x": 1}` do not.
_FIELD = re.compile(r"(?<!\{)\{([^\W\d]\w*)\}(?!\})")
_BRACE = re.compile(r"[{}]")


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with its fields replaced, once: what the values themselves hold is not looked at again."""
    names = "|".join(map(re.escape, values))
    return re.sub(rf"\{{({names})\}}", lambda found: values[found[1]], template)


def fault(template: str, fields: Sequence[str], needs: Sequence[str] = ()) -> str:
    """What is surely meant otherwise than it would be filled in, in words; empty where nothing is.

    ``fields``: the names that are filled in; ``needs``: those that must be there.
    """
    if loose := _loose_brace(template):
        return loose
    for name in _FIELD.findall(template):
        if name not in fields:
            known = f"there are {', '.join(map(_braced, fields))}" if fields else "nothing is filled in here"
            return f"There is no field {_braced(name)}; {known}."
    for name in fields:
        if "{" + _braced(name) + "}" in template:
            return f"A field stands in one brace on each side: {_braced(name)}."
    missing = [name for name in needs if _braced(name) not in template]
    return f"Without {_braced(missing[0])} nothing of the unit would be read." if missing else ""


def _braced(name: str) -> str:
    return "{" + name + "}"


def _loose_brace(template: str) -> str:
    opened: list[int] = []
    for brace in _BRACE.finditer(template):
        if brace[0] == "{":
            opened.append(brace.start())
        elif opened:
            opened.pop()
        else:
            return f"A brace is closed that was not opened: {template[max(0, brace.start() - 20) : brace.end()]!r}."
    return f"A brace is opened and not closed: {template[opened[-1] : opened[-1] + 20]!r}." if opened else ""
