"""Tables in three formats, byte by byte."""

import csv
import io

import pytest

from projects.reports.table import Cell, Column, Missing, Table, mark
from projects.reports.writing import as_csv, escaped, latex, markdown, number, signed, words

TABLE = Table(
    "m3-6",
    "Copying",
    "ROUGE in per cent; n counts summaries.",
    [Column("System", False), Column("n"), Column("ROUGE-1"), Column("Delta")],
    [
        [Cell("Lead_3 & co | 50%"), Cell(30), Cell(74.46, ci=(70.0, 80.25), bracket=54.34), Cell(0.0921, 3, sd=0.3)],
        [Cell("=cmd()"), Cell(29), Cell(18.7, bracket=-5.15), Cell(None, undefined="no pairs")],
        [Cell("T5"), Cell(30), Cell(0.0, n=7), Cell(None, undefined="no pairs")],
    ],
    ["Stemmer off."],
    [Missing("ROUGE of T5", "manage.py score --project eye", "/projects/eye/results", runs=[3], metric="rouge")],
)


def test_a_table_is_written_as_markdown() -> None:
    assert markdown(TABLE) == (
        "### Copying\n"
        "\n"
        "ROUGE in per cent; n counts summaries.\n"
        "\n"
        "| System | n | ROUGE-1 | Delta |\n"
        "|---|---:|---:|---:|\n"
        "| Lead_3 & co \\| 50% | 30 | 74.5 (+54.3) [70.0, 80.2] | 0.092 ± 0.300 |\n"
        "| =cmd() | 29 | 18.7 (\u22125.2) | \u2013 (a) |\n"
        "| T5 | 30 | 0.0 (n = 7) | \u2013 (a) |\n"
        "\n"
        "* (a) undefined: no pairs\n"
        "* Stemmer off.\n"
        "* Missing: ROUGE of T5. Do it with `manage.py score --project eye`, or on the page /projects/eye/results.\n"
    )


def test_a_table_is_written_as_latex() -> None:
    assert latex(TABLE) == (
        "% In the preamble: \\usepackage{booktabs,graphicx,textcomp}\n"
        "% Missing: ROUGE of T5. Do it with `manage.py score --project eye`, or on the page /projects/eye/results.\n"
        "\\begin{table}\n"
        "\\centering\n"
        "\\setlength{\\tabcolsep}{3pt}\n"
        "\\caption{Copying. ROUGE in per cent; n counts summaries.}\n"
        "\\label{tab:m3-6}\n"
        "\\smallskip\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n"
        "\\begin{tabular}{lrrr}\n"
        "\\toprule\n"
        "System & n & ROUGE-1 & Delta \\\\\n"
        "\\midrule\n"
        "Lead\\_3 \\& co \\textbar{} 50\\% & 30 & 74.5 (+54.3) & 0.092 $\\pm$ 0.300 \\\\\n"
        " &  & \\scriptsize {[}70.0, 80.2{]} &  \\\\\n"
        "=cmd() & 29 & 18.7 ($-$5.2) & --\\textsuperscript{a} \\\\\n"
        "T5 & 30 & 0.0 (n = 7) & --\\textsuperscript{a} \\\\\n"
        "\\bottomrule\n"
        "\\end{tabular}}\n"
        "\\par\\raggedright\\footnotesize\n"
        "\\textsuperscript{a} undefined: no pairs\\par\n"
        "Stemmer off.\\par\n"
        "\\end{table}\n"
    )


RANKED = Table(
    "ranked",
    "Ranked",
    "Levels are told apart.",
    [Column("Level", False), Column("ROUGE", better="higher"), Column("Errors", better="lower"), Column("Words")],
    [
        [Cell("a"), Cell(2.0, letters="a"), Cell(1.0), Cell(9.0)],
        [Cell("a"), Cell(3.0, letters="b"), Cell(1.0), Cell(8.0)],
        [Cell("b"), Cell(9.0), Cell(5.0), Cell(7.0)],
        [Cell("b"), Cell(None, undefined="nobody rated it"), Cell(4.0), Cell(6.0)],
    ],
    alike=(0,),
)


def test_the_best_of_those_that_can_be_compared_is_bold_and_letters_are_raised() -> None:
    assert RANKED.best() == {(1, 1), (3, 2)}
    assert "| a | **3.0 b** | 1.0 | 8.0 |" in markdown(RANKED)
    assert "a & \\textbf{3.0}\\textsuperscript{b} & 1.0 & 8.0 \\\\" in latex(RANKED)
    assert as_csv(RANKED).splitlines()[:2] == ["Level,ROUGE,ROUGE letters,Errors,Words,undefined", "a,2.0,a,1.0,9.0,"]


def test_a_wide_table_spans_both_columns_of_a_paper() -> None:
    wide = Table("wide", "Wide", "Wide.", [Column("A long heading of it") for _ in range(4)], [[Cell(1)] * 4])
    assert "\\begin{table*}" in latex(wide)
    assert "\\end{table*}" in latex(wide)
    assert "table*" not in latex(RANKED)


def test_csv_has_every_number_unrounded_and_runs_no_formula() -> None:
    assert as_csv(TABLE) == (
        "System,n,ROUGE-1,ROUGE-1 difference,ROUGE-1 CI low,ROUGE-1 CI high,ROUGE-1 n,Delta,Delta SD,undefined\n"
        "Lead_3 & co | 50%,30,74.46,54.34,70.0,80.25,,0.0921,0.3,\n"
        "'=cmd(),29,18.7,-5.15,,,,,,Delta: no pairs\n"
        "T5,30,0.0,,,,7,,,Delta: no pairs\n"
    )
    assert len({len(row) for row in csv.reader(io.StringIO(as_csv(TABLE)))}) == 1


def test_everything_that_latex_would_run_is_escaped() -> None:
    said = escaped("\\input{/etc/passwd} $x^2$ #1 ~ a_b <c> {[d]} 50 % & \u0394\nnext --a \u2013")
    assert said == (
        "\\textbackslash{}input\\{/etc/passwd\\} \\$x\\textasciicircum{}2\\$ \\#1 \\textasciitilde{} a\\_b "
        "\\textless{}c\\textgreater{} \\{{[}d{]}\\} 50 \\% \\& $\\Delta$ next "
        "-{}-a \\textendash{}"
    )


def test_numbers_have_a_true_minus_and_zero_has_none() -> None:
    assert [number(value, 1) for value in (-5.15, -0.04, 0.04, 5)] == ["\u22125.2", "0.0", "0.0", "5.0"]


def test_halves_round_to_even_and_differences_have_signs_unless_zero() -> None:
    assert [number(value, 1) for value in (0.25, 0.75, 100.0, 99.96)] == ["0.2", "0.8", "100.0", "100.0"]
    assert [signed(value, 1) for value in (5.06, -5.06, 0.04, -0.04, 0.0, -0.0)] == [
        "+5.1",
        "\u22125.1",
        "0.0",
        "0.0",
        "0.0",
        "0.0",
    ]


def test_a_difference_over_other_items_than_its_figure_prints_its_n() -> None:
    cell = Cell(74.46, bracket=54.34, bracket_n=28, n=29)
    assert words(cell) == "74.5 (+54.3; n = 28) (n = 29)"
    table = Table("x", "X", "", [Column("R")], [[cell]])
    assert as_csv(table) == "R,R difference,R difference n,R n,undefined\n74.46,54.34,28,29,\n"


def test_note_marks_continue_with_aa_after_z() -> None:
    assert [mark(i) for i in (0, 25, 26, 27, 701, 702)] == ["a", "z", "aa", "ab", "zz", "aaa"]


def test_a_cell_without_a_value_says_why() -> None:
    with pytest.raises(ValueError, match="why"):
        Cell(None)
    with pytest.raises(ValueError, match="one cell per column"):
        Table("x", "X", "", [Column("A")], [[]])


def test_a_name_is_no_code_tag_or_link_in_markdown() -> None:
    name = "<img src=x> `a` [b](javascript:c) | \\"
    said = markdown(Table("x", "X", "", [Column("System", False)], [[Cell(name)]], [f"Of {name}."]))
    plain = "\\<img src=x> \\`a\\` [b\\](javascript:c) \\| \\\\"
    assert said.splitlines()[-3:] == [f"| {plain} |", "", f"* Of {plain}."]


def test_every_format_prints_a_difference_with_its_interval() -> None:
    cell = Cell(74.46, ci=(70.0, 80.25), bracket=54.34, bracket_ci=(50.0, 60.55), bracket_n=7)
    assert words(cell) == "74.5 (+54.3 [50.0, 60.5]; n = 7) [70.0, 80.2]"
    table = Table("m3-6", "Copying", "n", [Column("ROUGE-1")], [[cell], [Cell(1.0, bracket=2.0)]])
    assert latex(table).splitlines()[11:14] == [
        "74.5 (+54.3; n = 7) \\\\",
        "\\scriptsize {[}70.0, 80.2{]} ({[}50.0, 60.5{]}) \\\\",
        "1.0 (+2.0) \\\\",
    ]
    header, first, second = csv.reader(io.StringIO(as_csv(table)))
    assert dict(zip(header, first, strict=True)) == {
        "ROUGE-1": "74.46",
        "ROUGE-1 difference": "54.34",
        "ROUGE-1 difference n": "7",
        "ROUGE-1 difference CI low": "50.0",
        "ROUGE-1 difference CI high": "60.55",
        "ROUGE-1 CI low": "70.0",
        "ROUGE-1 CI high": "80.25",
        "undefined": "",
    }
    assert second[3:5] == ["", ""]
