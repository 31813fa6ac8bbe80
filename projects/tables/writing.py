"""Tables as files: Markdown and LaTeX to be read, CSV with every number as it is."""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from ..sheets.cells import neutral
from .table import Cell, Missing, Table, mark

MINUS = "\u2212"
UNDEFINED = "\u2013"


def words(cell: Cell) -> str:
    """A cell in words: ``19.3 [18.1, 20.5] a``; empty where it is undefined."""
    return f"{_figure(cell)} {cell.letters}".rstrip()


def _figure(cell: Cell) -> str:
    if cell.value is None:
        return ""
    if isinstance(cell.value, str):
        return cell.value
    if isinstance(cell.value, int):
        return str(cell.value)
    said = p_value(cell.value, cell.decimals) if cell.is_p else number(cell.value, cell.decimals)
    if cell.count is not None:
        return f"{said} ({cell.count:g}/{cell.n})" + (f" {interval(*cell.ci, cell.decimals)}" if cell.ci else "")
    if cell.sd is not None:
        said += f" \u00b1 {number(cell.sd, cell.decimals)}"
    if cell.bracket is not None:
        between = f" {interval(*cell.bracket_ci, cell.decimals)}" if cell.bracket_ci else ""
        of = f"; n = {cell.bracket_n}" if cell.bracket_n is not None else ""
        said += f" ({signed(cell.bracket, cell.decimals)}{between}{of})"
    if cell.ci is not None:
        said += f" {interval(*cell.ci, cell.decimals)}"
    return said + (f" (n = {cell.n})" if cell.n is not None else "")


def interval(low: float, high: float, decimals: int) -> str:
    return f"[{number(low, decimals)}, {number(high, decimals)}]"


def p_value(value: float, decimals: int) -> str:
    """What would be printed as 0 is said to be below the last place: p is never 0."""
    return f"< {10**-decimals:.{decimals}f}" if value < 10**-decimals else number(value, decimals)


def number(value: float, decimals: int) -> str:
    """With a true minus, and none before a zero."""
    text = f"{value:.{decimals}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", MINUS)


def signed(value: float, decimals: int) -> str:
    """With its sign, but for what is printed as zero."""
    text = number(value, decimals)
    return f"+{text}" if value > 0 and float(text) else text


def marks(table: Table) -> dict[str, str]:
    """The letter of each reason for which figures are undefined."""
    return {reason: mark(i) for i, reason in enumerate(table.reasons())}


def markdown(table: Table) -> str:
    """A pipe table under its title and caption, with notes and what is missing below."""
    letters, best = marks(table), table.best()

    def shown(cell: Cell, is_best: bool) -> str:
        text = plain(words(cell) if not cell.undefined else f"{UNDEFINED} ({letters[cell.undefined]})")
        return f"**{text}**" if is_best else text

    lines = [f"### {table.title}", "", plain(table.caption), ""]
    lines.append("| " + " | ".join(_one_line(column.title) for column in table.columns) + " |")
    lines.append("|" + "|".join("---:" if column.numeric else "---" for column in table.columns) + "|")
    lines += [
        "| " + " | ".join(shown(cell, (i, j) in best) for j, cell in enumerate(row)) + " |"
        for i, row in enumerate(table.rows)
    ]
    below = [f"({letter}) undefined: {plain(reason)}" for reason, letter in letters.items()]
    below += [*map(plain, table.notes), *(_needed_markdown(missing) for missing in table.missing)]
    if below:
        lines += ["", *(f"* {note}" for note in below)]
    return "\n".join(lines) + "\n"


def plain(text: str) -> str:
    """Text in which Markdown finds no cell, code, tag or link: systems are named by people."""
    return re.sub(r"[\\|`<]|\](?=\()", r"\\\g<0>", _one_line(text))


def _needed_markdown(missing: Missing) -> str:
    command = _one_line(missing.command)
    fence = "`" * (1 + max(map(len, re.findall("`+", command)), default=0))
    return f"{plain(missing.lacking)} with {fence}{command}{fence}, or on the page {missing.page}."


def latex(table: Table) -> str:
    """A float of ``booktabs``, at most as wide as the text, across both columns of a paper where one is too narrow to
    read it, and several where one would be longer than a page; everything that people wrote is escaped.

    What is missing stands in comments: it is said to whoever pastes the table, not to who reads the paper.
    """
    letters, best = marks(table), table.best()
    of_rows = [
        list(_latex_rows(row, letters, [(i, j) in best for j in range(len(row))])) for i, row in enumerate(table.rows)
    ]
    below = [f"\\textsuperscript{{{letter}}} undefined: {escaped(reason)}" for reason, letter in letters.items()]
    below += [escaped(note) for note in table.notes]
    lines = [
        r"% In the preamble: \usepackage{booktabs,graphicx,textcomp}",
        *(f"% {step.sentence}" for step in table.missing),
    ]
    parts = _pages(of_rows)
    for i, part in enumerate(parts):
        lines += _float(table, part, i == 0, below if i == len(parts) - 1 else [])
    return "\n".join(lines) + "\n"


#: How many lines, one small below each row of figures counted as one, a page has beside caption and notes.
A_PAGE = 48


def _pages(of_rows: Sequence[list[str]]) -> list[list[str]]:
    """Lines of rows, as many together as fit on a page."""
    found: list[list[str]] = [[]]
    for lines in of_rows:
        if len(found[-1]) + len(lines) > A_PAGE:
            found.append([])
        found[-1] += lines
    return found


def _float(table: Table, lines: Sequence[str], is_first: bool, below: Sequence[str]) -> list[str]:
    columns = "".join("r" if column.numeric else "l" for column in table.columns)
    kind = "table*" if _width(table) > ONE_COLUMN else "table"
    caption = f"{table.title}. {table.caption}" if is_first else f"{table.title}, continued."
    return [
        f"\\begin{{{kind}}}", r"\centering", r"\setlength{\tabcolsep}{3pt}",
        f"\\caption{{{escaped(caption)}}}", *([f"\\label{{tab:{table.key}}}"] if is_first else []),
        r"\smallskip\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        f"\\begin{{tabular}}{{{columns}}}", r"\toprule",
        " & ".join(escaped(column.title) for column in table.columns) + r" \\", r"\midrule",
        *lines, r"\bottomrule", r"\end{tabular}}",
        *([r"\par\raggedright\footnotesize", *(rf"{note}\par" for note in below)] if below else []),
        f"\\end{{{kind}}}",
    ]  # fmt: skip


#: How many characters fit in a column of a paper, shrunk a little: below some 7 pt nobody reads a table.
ONE_COLUMN = 62


def _width(table: Table) -> int:
    """Characters of the widest line, two a column between columns among them."""
    return sum(
        2 + max(len(column.title), *(len(words(replace(row[at], ci=None, bracket_ci=None))) for row in table.rows), 0)
        for at, column in enumerate(table.columns)
    )  # fmt: skip


def _latex_rows(row: Sequence[Cell], letters: Mapping[str, str], best: Sequence[bool]) -> Iterator[str]:
    """A row of figures, and below it, small, one of their intervals: beside them a page would be too narrow."""

    def shown(cell: Cell, is_best: bool) -> str:
        if cell.undefined:
            return f"--\\textsuperscript{{{letters[cell.undefined]}}}"
        text = escaped(words(replace(cell, ci=None, bracket_ci=None, letters="")))
        raised = f"\\textsuperscript{{{cell.letters}}}" if cell.letters else ""
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


#: What LaTeX reads as commands, and the signs of our numbers that old engines lack.
_ESCAPES: Mapping[str, str] = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "\u00b1": r"$\pm$", MINUS: "$-$", "\u0394": r"$\Delta$",
    "\u2013": r"\textendash{}", "[": "{[}", "]": "{]}", "*": r"\textasteriskcentered{}",
}  # fmt: skip


def escaped(text: str) -> str:
    """Text that LaTeX prints as it is. Brackets are grouped: after ``\\\\`` one would be read as an option."""
    said = "".join(_ESCAPES.get(character, character) for character in _one_line(text))
    # Two hyphens would be drawn as one dash.
    return said.replace("--", "-{}-")


def as_csv(table: Table) -> str:
    """One line a row; a figure's interval, deviation and n in columns of their own, unrounded; then the reasons.

    Words are neutralised (docs/decisions/0008-sheets.md): a table is opened in a spreadsheet, and systems are named by
    people.
    """
    parts = [list(_parts(table, i)) for i in range(len(table.columns))]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([title for part in parts for title, _ in part] + ["undefined"])
    for row in table.rows:
        cells = [neutral(got) if isinstance(got, str) else got
                 for cell, part in zip(row, parts, strict=True) for _, get in part for got in [get(cell)]]  # fmt: skip
        why = "; ".join(
            f"{c.title}: {cell.undefined}" for c, cell in zip(table.columns, row, strict=True) if cell.undefined
        )
        writer.writerow([*("" if cell is None else cell for cell in cells), neutral(why)])
    return out.getvalue()


Get = Callable[[Cell], str | float | int | None]


def _parts(table: Table, at: int) -> Iterator[tuple[str, Get]]:
    """The columns of a CSV file that one column of the table makes."""
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
    if any(cell.count is not None for cell in cells):
        yield f"{title} count", lambda cell: cell.count
    if any(cell.n is not None for cell in cells):
        yield f"{title} n", lambda cell: cell.n
    if any(cell.letters for cell in cells):
        yield f"{title} letters", lambda cell: cell.letters


def _one_line(text: str) -> str:
    return " ".join(text.split())


FORMATS: Mapping[str, tuple[str, str, Callable[[Table], str]]] = {
    "markdown": ("md", "text/markdown", markdown),
    "csv": ("csv", "text/csv", as_csv),
    "latex": ("tex", "application/x-tex", latex),
}
"""Format -> ending of its files, media type, writer."""
