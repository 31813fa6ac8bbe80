"""Write tables as Markdown, LaTeX, CSV and JSON. CSV and JSON contain unrounded numbers."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from ..spreadsheets.cells import neutral
from .table import Cell, Missing, Table, mark

MINUS = "\u2212"
UNDEFINED = "\u2013"


def words(cell: Cell) -> str:
    """Return a cell as text, such as ``19.3 [18.1, 20.5] a``. Empty if the cell is undefined."""
    return f"{_figure(cell)} {cell.letters}".rstrip()


def _figure(cell: Cell) -> str:
    if cell.value is None:
        return ""
    if isinstance(cell.value, str):
        return cell.value
    if isinstance(cell.value, int):
        return str(cell.value)
    text = p_value(cell.value, cell.decimals) if cell.is_p else number(cell.value, cell.decimals)
    if cell.count is not None:
        return f"{text} ({cell.count:g}/{cell.n})" + (f" {interval(*cell.ci, cell.decimals)}" if cell.ci else "")
    if cell.sd is not None:
        text += f" \u00b1 {number(cell.sd, cell.decimals)}"
    if cell.bracket is not None:
        between = f" {interval(*cell.bracket_ci, cell.decimals)}" if cell.bracket_ci else ""
        of = f"; n = {cell.bracket_n}" if cell.bracket_n is not None else ""
        text += f" ({signed(cell.bracket, cell.decimals)}{between}{of})"
    if cell.ci is not None:
        text += f" {interval(*cell.ci, cell.decimals)}"
    return text + (f" (n = {cell.n})" if cell.n is not None else "")


def interval(low: float, high: float, decimals: int) -> str:
    return f"[{number(low, decimals)}, {number(high, decimals)}]"


def p_value(value: float, decimals: int) -> str:
    """Format a p-value. Values that would round to 0 are printed as ``< 0.001``, because p is never 0."""
    return f"< {10**-decimals:.{decimals}f}" if value < 10**-decimals else number(value, decimals)


def number(value: float, decimals: int) -> str:
    """Format a number with a true minus sign, and without one before zero."""
    text = f"{value:.{decimals}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", MINUS)


def signed(value: float, decimals: int) -> str:
    """Format a number with its sign, unless it is printed as zero."""
    text = number(value, decimals)
    return f"+{text}" if value > 0 and float(text) else text


def marks(table: Table) -> dict[str, str]:
    """Return the letter of each reason for an undefined value or a withheld interval, and of each note on a value."""
    texts = dict.fromkeys([*table.reasons(), *table.withheld(), *table.remarks()])
    return {text: mark(i) for i, text in enumerate(texts)}


def reasons_below(table: Table) -> dict[str, str]:
    """Return the letter and the text of each reason for the notes below a table."""
    letters = marks(table)
    texts = {letters[reason]: f"undefined: {reason}" for reason in table.reasons()}
    return texts | {letters[text]: text for text in (*table.withheld(), *table.remarks())}


def markdown(table: Table) -> str:
    """Write a pipe table with title and caption above, and notes and missing steps below."""
    letters, best = marks(table), table.best()

    def shown(cell: Cell, is_best: bool) -> str:
        text = words(cell) if not cell.undefined else f"{UNDEFINED} ({letters[cell.undefined]})"
        text = plain(" ".join([text, *(f"({letters[of]})" for of in (cell.ci_reason, cell.note) if of)]))
        return f"**{text}**" if is_best else text

    lines = [f"### {table.title}", "", plain(table.caption), ""]
    lines.append("| " + " | ".join(_one_line(column.head) for column in table.columns) + " |")
    lines.append("|" + "|".join("---:" if column.numeric else "---" for column in table.columns) + "|")
    lines += [
        "| " + " | ".join(shown(cell, (i, j) in best) for j, cell in enumerate(row)) + " |"
        for i, row in enumerate(table.rows)
    ]
    below = [f"({letter}) {plain(reason)}" for letter, reason in reasons_below(table).items()]
    below += [*map(plain, table.notes), *(_needed_markdown(missing) for missing in table.missing)]
    if below:
        lines += ["", *(f"* {note}" for note in below)]
    return "\n".join(lines) + "\n"


def plain(text: str) -> str:
    """Escape cells, code, tags and links for Markdown, because users choose the names of systems."""
    return re.sub(r"[\\|`<]|\](?=\()", r"\\\g<0>", _one_line(text))


def _needed_markdown(missing: Missing) -> str:
    command = _one_line(missing.command)
    fence = "`" * (1 + max(map(len, re.findall("`+", command)), default=0))
    return f"{plain(missing.lacking)} with {fence}{command}{fence}, or on the page {missing.page}."


def latex(table: Table) -> str:
    """Write a ``booktabs`` float that is at most as wide as the text. All text is escaped.

    A table that is too wide for one column spans both. A table that is longer than a page is split into several
    floats. Missing steps are comments: they are for the author, not for the reader of the paper.
    """
    letters, best = marks(table), table.best()
    of_rows = [
        list(_latex_rows(row, letters, [(i, j) in best for j in range(len(row))])) for i, row in enumerate(table.rows)
    ]
    below = [f"\\textsuperscript{{{letter}}} {escaped(reason)}" for letter, reason in reasons_below(table).items()]
    below += [escaped(note) for note in table.notes]
    lines = [
        r"% In the preamble: \usepackage{booktabs,graphicx,textcomp}",
        *(f"% {step.sentence}" for step in table.missing),
    ]
    parts = _pages(of_rows)
    for i, part in enumerate(parts):
        lines += _float(table, part, i == 0, below if i == len(parts) - 1 else [])
    return "\n".join(lines) + "\n"


#: Lines per page, without caption and notes. A line of intervals counts as one line.
A_PAGE = 48


def _pages(of_rows: Sequence[list[str]]) -> list[list[str]]:
    """Group the lines of rows into pages. A row is not split."""
    pages: list[list[str]] = [[]]
    for lines in of_rows:
        if len(pages[-1]) + len(lines) > A_PAGE:
            pages.append([])
        pages[-1] += lines
    return pages


def _float(table: Table, lines: Sequence[str], is_first: bool, below: Sequence[str]) -> list[str]:
    columns = "".join("r" if column.numeric else "l" for column in table.columns)
    kind = "table*" if _width(table) > ONE_COLUMN else "table"
    caption = f"{table.title}. {table.caption}" if is_first else f"{table.title}, continued."
    return [
        f"\\begin{{{kind}}}",
        r"\centering",
        r"\setlength{\tabcolsep}{3pt}",
        f"\\caption{{{escaped(caption)}}}",
        *([f"\\label{{tab:{table.key}}}"] if is_first else []),
        r"\smallskip\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        f"\\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(escaped(column.head).replace("↓", r"$\downarrow$") for column in table.columns) + r" \\",
        r"\midrule",
        *lines,
        r"\bottomrule",
        r"\end{tabular}}",
        *([r"\par\raggedright\footnotesize", *(rf"{note}\par" for note in below)] if below else []),
        f"\\end{{{kind}}}",
    ]


#: Characters that fit in one column of a paper when shrunk slightly. Text below about 7 pt is not readable.
ONE_COLUMN = 62


def _width(table: Table) -> int:
    """Return the width of the table in characters, with two characters between columns."""
    return sum(
        2 + max(len(column.title), *(len(words(replace(row[at], ci=None, bracket_ci=None))) for row in table.rows), 0)
        for at, column in enumerate(table.columns)
    )


def _latex_rows(row: Sequence[Cell], letters: Mapping[str, str], best: Sequence[bool]) -> Iterator[str]:
    """Yield a row of numbers, then a row of their intervals in small type.

    With intervals next to the numbers the table would be too wide for a page.
    """

    def shown(cell: Cell, is_best: bool) -> str:
        if cell.undefined:
            return f"--\\textsuperscript{{{letters[cell.undefined]}}}"
        text = escaped(words(replace(cell, ci=None, bracket_ci=None, letters="")))
        raised = f"\\textsuperscript{{{cell.letters}}}" if cell.letters else ""
        raised += "".join(f"\\textsuperscript{{({letters[of]})}}" for of in (cell.ci_reason, cell.note) if of)
        return (f"\\textbf{{{text}}}" if is_best else text) + raised

    yield " & ".join(map(shown, row, best)) + r" \\"
    below = [" ".join(_intervals(cell)) for cell in row]
    if any(below):
        yield " & ".join(rf"\scriptsize {escaped(between)}" if between else "" for between in below) + r" \\"


def _intervals(cell: Cell) -> Iterator[str]:
    if cell.ci:
        yield interval(*cell.ci, cell.decimals)
    if cell.bracket_ci:
        yield f"({interval(*cell.bracket_ci, cell.decimals)})"


#: Characters with a meaning in LaTeX, and symbols that old engines lack.
_ESCAPES: Mapping[str, str] = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "\u00b1": r"$\pm$",
    MINUS: "$-$",
    "\u0394": r"$\Delta$",
    "\u2013": r"\textendash{}",
    "[": "{[}",
    "]": "{]}",
    "*": r"\textasteriskcentered{}",
}


def escaped(text: str) -> str:
    """Escape text for LaTeX. Brackets are grouped, because one after ``\\\\`` would be read as an option."""
    result = "".join(_ESCAPES.get(character, character) for character in _one_line(text))
    # LaTeX prints two hyphens as one dash.
    return result.replace("--", "-{}-")


def as_csv(table: Table) -> str:
    """Write one line per row, with unrounded numbers.

    Interval, standard deviation and n of a value are columns of their own. The last column contains the reasons for
    undefined values. Text is neutralised against formula injection (docs/decisions/0016), because users choose the
    names of systems.
    """
    parts = [list(_parts(table, i)) for i in range(len(table.columns))]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([title for part in parts for title, _ in part] + ["undefined"])
    for row in table.rows:
        cells = [
            neutral(got) if isinstance(got, str) else got
            for cell, part in zip(row, parts, strict=True)
            for _, get in part
            for got in [get(cell)]
        ]
        why = "; ".join(
            f"{c.title}: {cell.undefined}" for c, cell in zip(table.columns, row, strict=True) if cell.undefined
        )
        writer.writerow([*("" if cell is None else cell for cell in cells), neutral(why)])
    return out.getvalue()


Get = Callable[[Cell], str | float | int | None]


def _parts(table: Table, at: int) -> Iterator[tuple[str, Get]]:
    """Yield the CSV columns of one table column: title and getter."""
    title, cells = table.columns[at].title, [row[at] for row in table.rows]
    yield title, lambda cell: cell.value
    if any(cell.sd is not None for cell in cells):
        yield f"{title} SD", lambda cell: cell.sd
    if any(cell.bracket is not None for cell in cells):
        yield f"{title} difference", lambda cell: cell.bracket
    if any(cell.bracket_n is not None for cell in cells):
        yield f"{title} difference n", lambda cell: cell.bracket_n
    if any(cell.bracket_ci is not None for cell in cells):
        yield f"{title} difference CI low", lambda cell: cell.bracket_ci[0] if cell.bracket_ci else None
        yield f"{title} difference CI high", lambda cell: cell.bracket_ci[1] if cell.bracket_ci else None
    if any(cell.ci is not None for cell in cells):
        yield f"{title} CI low", lambda cell: cell.ci[0] if cell.ci else None
        yield f"{title} CI high", lambda cell: cell.ci[1] if cell.ci else None
    if any(cell.ci_reason for cell in cells):
        yield f"{title} CI reason", lambda cell: cell.ci_reason or None
    if any(cell.count is not None for cell in cells):
        yield f"{title} count", lambda cell: cell.count
    if any(cell.n is not None for cell in cells):
        yield f"{title} n", lambda cell: cell.n
    if any(cell.letters for cell in cells):
        yield f"{title} letters", lambda cell: cell.letters
    if any(cell.note for cell in cells):
        yield f"{title} note", lambda cell: cell.note or None


def as_dict(table: Table) -> dict[str, Any]:
    """Return a table as plain data. A cell has only the fields that are set."""
    content = asdict(table)
    content["rows"] = [
        [
            {name: value for name, value in cell.items() if not (value is None or value is False or value == "")}
            for cell in row
        ]
        for row in content["rows"]
    ]
    return content


def as_json(table: Table) -> str:
    return json.dumps(as_dict(table), ensure_ascii=False, indent=2) + "\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())


FORMATS: Mapping[str, tuple[str, str, Callable[[Table], str]]] = {
    "markdown": ("md", "text/markdown", markdown),
    "csv": ("csv", "text/csv", as_csv),
    "latex": ("tex", "application/x-tex", latex),
    "json": ("json", "application/json", as_json),
}
"""Format -> file extension, media type, writer."""
