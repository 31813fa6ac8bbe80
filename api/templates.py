"""Templates with fields in single braces. Nothing is evaluated: other text in braces remains unchanged."""

import re
from collections.abc import Mapping, Sequence

#: A field: one word in single braces. `{{7*7}}`, `{x.__class__}`, `{ x }` and `{"x": 1}` are not fields.
_FIELD = re.compile(r"(?<!\{)\{([^\W\d]\w*)\}(?!\})")
_BRACE = re.compile(r"[{}]")


def fill(template: str, values: Mapping[str, str]) -> str:
    """Replace the fields of a template by values. Fields in the values are not replaced."""
    names = "|".join(map(re.escape, values))
    return re.sub(rf"\{{({names})\}}", lambda found: values[found[1]], template)


def fault(template: str, fields: Sequence[str], needs: Sequence[str] = ()) -> str:
    """Return the first error in a template, or an empty string.

    ``fields`` are the allowed fields; ``needs`` are the required ones.
    """
    if loose := _loose_brace(template):
        return loose
    for name in _FIELD.findall(template):
        if name not in fields:
            known = f"the fields are {', '.join(map(_braced, fields))}" if fields else "this text has no fields"
            return f"Unknown field {_braced(name)}; {known}."
    for name in fields:
        if "{" + _braced(name) + "}" in template:
            return f"Write fields in single braces: {_braced(name)}."
    missing = [name for name in needs if _braced(name) not in template]
    return (
        f"The template must contain {_braced(missing[0])}, or the text of the unit is not included." if missing else ""
    )


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
            return f"Closing brace without an opening brace: {template[max(0, brace.start() - 20) : brace.end()]!r}."
    return f"Opening brace without a closing brace: {template[opened[-1] : opened[-1] + 20]!r}." if opened else ""
