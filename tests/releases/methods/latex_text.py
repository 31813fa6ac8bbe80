"""Read LaTeX that `releases.methods.latex` wrote: the words that it prints, and faults of its syntax."""

import re

from projects.reports.writing import _ESCAPES
from releases.methods.latex import _TYPOGRAPHY

_PRINTED = {command: character for character, command in {**_ESCAPES, **_TYPOGRAPHY, "`": r"\textasciigrave{}"}.items()}
_COMMANDS = re.compile("|".join(map(re.escape, sorted(_PRINTED, key=len, reverse=True))))


def printed(source: str) -> str:
    """Return what LaTeX prints for an escaped text."""
    text = re.sub(r"([-?!])\{\}", r"\1", source)
    return _COMMANDS.sub(lambda match: _PRINTED[match[0]], text)


def faults(source: str) -> list[str]:
    """Return lines with characters that need an escape, or with braces that do not match. Comments are left out."""
    lines = [line for line in source.splitlines() if not line.startswith(("%", r"\providecommand"))]
    plain = [re.sub(r"\\(?:[a-zA-Z]+\*?|.)|\$[^$]*\$", "", line) for line in lines]
    return [
        line
        for line, rest in zip(lines, plain, strict=True)
        if re.search(r"[%&#_$^~\\]", rest) or rest.count("{") != rest.count("}")
    ]
