"""Write a methods text as Markdown."""

import re

from .text import Document

_SPECIAL = re.compile(r"[\\`*{}\[\]<>#|~$&]|(?<![^\W_])_|_(?![^\W_])")
#: Beginnings of lines that Markdown reads as lists, headings or rules.
_BEGINNING = re.compile(r"^(\d+)([.)])(?=\s|$)|^([+\-=])")


def escaped(text: str) -> str:
    """Escape text for a paragraph or a heading of Markdown. Line ends become spaces."""
    plain = _SPECIAL.sub(r"\\\g<0>", " ".join(text.split()))
    return _BEGINNING.sub(lambda match: f"{match[1]}\\{match[2]}" if match[1] else f"\\{match[3]}", plain)


def markdown(document: Document) -> str:
    """Return the text with a heading for each section, and a list of what is missing at the end."""
    lines = [f"# {escaped(document.title)}", "", escaped(document.note)]
    for section in document.sections:
        lines += ["", f"## {escaped(section.title)}"]
        for paragraph in section.paragraphs:
            lines += ["", escaped(paragraph)]
    if document.gaps:
        lines += ["", "## Not provided", "", *(f"* {escaped(gap.sentence)}" for gap in document.gaps)]
    return "\n".join(lines) + "\n"
