"""Write a methods text as LaTeX: a fragment to include in a paper."""

import re

from projects.reports.writing import escaped as table_escaped

from .text import Document

#: Typographic characters as commands that all engines know.
_TYPOGRAPHY = {
    "“": "``",
    "”": "''",
    "\u2018": "`",
    "\u2019": "'",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "\u00d7": r"$\times$",
    "…": r"\ldots{}",
}
#: The last character that pdfLaTeX prints without further packages: Latin Extended-A.
_LAST = "\u017f"
_BEYOND = re.compile(rf"[^\0-{_LAST}]+")
#: A macro with the codes of characters, for pdfLaTeX, and the characters, for other engines.
_MARKING = r"\providecommand{\characters}[2]{\ifdefined\pdftexversion[#1]\else#2\fi}"


def escaped(text: str) -> str:
    """Escape text for LaTeX. Characters that need no escape are unchanged, also outside of Latin alphabets."""
    parts = (_TYPOGRAPHY.get(character) or _plain(character) for character in " ".join(text.split()))
    # LaTeX joins these pairs to one character.
    return re.sub(r"-(?=-)|[?!](?=`)", r"\g<0>{}", "".join(parts))


def _plain(character: str) -> str:
    if character == " ":
        return character
    return r"\textasciigrave{}" if character == "`" else table_escaped(character)


def _marked(line: str) -> str:
    """Return a line whose characters beyond `_LAST` are arguments of the macro."""
    return _BEYOND.sub(
        lambda found: rf"\characters{{{' '.join(f'U+{ord(each):04X}' for each in found[0])}}}{{{found[0]}}}", line
    )


def latex(document: Document) -> str:
    """Return sections for ``\\input``, with what is missing as comments at the end: they are for the author."""
    body = [rf"\section*{{{escaped(document.title)}}}", "", escaped(document.note)]
    for section in document.sections:
        body += ["", rf"\subsection*{{{escaped(section.title)}}}"]
        for paragraph in section.paragraphs:
            body += ["", escaped(paragraph)]
    body += ["", *(f"% {' '.join(gap.sentence.split())}" for gap in document.gaps)]
    body = [line if line[:1] == "%" else _marked(line) for line in body]
    lines = [r"% In the preamble: \usepackage[T1]{fontenc} \usepackage{textcomp}"]
    if others := sorted({character for line in body if line[:1] != "%" for character in line if character > _LAST}):
        shown = " ".join(f"U+{ord(character):04X}" for character in others)
        lines += [
            "% pdfLaTeX prints only the codes of these characters; use LuaLaTeX or XeLaTeX with a suitable font: "
            + shown,
            _MARKING,
        ]
    return "\n".join([*lines, "", *body]).rstrip() + "\n"
