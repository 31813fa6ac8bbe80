"""Tables of questions: agreement between writers, hosts of pages, and lengths of texts (MEDIQA-AnS, Tables 1, 3, 4)."""

from functools import cached_property
from typing import Any

from measures.means import Mean
from measures.question_texts import NO_HOST
from measures.tokens import WHITE_SPACE
from projects.reports.registry import ReportTable, TableContext
from projects.reports.table import Cell, Column, Table
from projects.stored_figures.queries import Stored, stored

from .figures import KEY

TITLES = {"rouge2": "ROUGE-2 F1", "rouge_l": "ROUGE-L F1", "bleu": "BLEU"}
FIRST = {"passage": "of a passage", "all": "of all passages"}


class WriterData(TableContext):
    """Stored agreement. It contains no texts."""

    @cached_property
    def stored(self) -> Stored:
        return stored(self.project, KEY)


class WriterTable(ReportTable[WriterData]):
    key = "writers"
    title = "Agreement between writers"
    data = WriterData

    def is_of(self, data: WriterData) -> bool:
        return any(row["pairs"] for of in ("types", "forms") for row in (data.stored.figures or {}).get(of, ()))

    def build(self, data: WriterData) -> Table:
        figures = data.stored.figures
        rows = [[*_names(row["type"]), *_cells(row)] for row in figures["types"]]
        against = Cell("extractive against abstractive")
        rows += [[against, Cell(FIRST[row["type"]]), *_cells(row)] for row in figures["forms"]]
        return Table(
            self.key,
            self.title,
            f"Agreement between {len(figures['writers'])} writers of {data.project.name}, imported ones included, with "
            "95% CI over questions.",
            [
                *(Column(title, False) for title in ("Compared", "Summary")),
                *map(Column, ("Pairs", "Questions", "Left out", *TITLES.values())),
            ],
            rows,
            [
                f"Between writers: {figures['method']}. ROUGE F1 is the same in both directions.",
                f"Extractive against abstractive: {figures['forms_method']}; one direction.",
                "Left out: pairs with an empty text (nothing relevant).",
                f"ROUGE: {figures['libraries']['rouge']}, no stemming. BLEU: sacrebleu {figures['libraries']['bleu']}.",
                *data.stored.notes(),
            ],
        )


def _names(type: str) -> list[Cell]:
    scope, form = type.split(" ")
    return [Cell(form), Cell(FIRST[scope])]


def _cells(row: dict[str, Any]) -> list[Cell]:
    return [
        *(Cell(row[name]) for name in ("pairs", "questions", "left_out")),
        *(_mean(Mean.from_json(row["measures"][name]), 1 if name == "bleu" else 2) for name in TITLES),
    ]


def _mean(mean: Mean, decimals: int) -> Cell:
    return Cell(mean.value, decimals, ci=mean.ci, ci_reason=mean.ci_reason, undefined=mean.undefined)


#: Names of the texts of a row.
NAMES = {
    "question": "Questions",
    "passage": "Passages",
    "page": "Whole pages",
    "passage extractive": "Summaries of one passage, extractive",
    "passage abstractive": "Summaries of one passage, abstractive",
    "all extractive": "Summaries of all passages, extractive",
    "all abstractive": "Summaries of all passages, abstractive",
}


#: Added to a table whose tokens were counted without spaCy.
NO_SPACY = (
    "The paper's tokens are spaCy's: pip install -r requirements/tokens.txt for the workers; figures follow the next "
    "change of the corpus."
)


class TextTable(ReportTable[WriterData]):
    """A table of the texts of questions. ``part``: its rows in the stored figures."""

    data = WriterData
    part = ""

    def is_of(self, data: WriterData) -> bool:
        return bool(self.rows(data))

    def rows(self, data: WriterData) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.texts(data).get(self.part, [])
        return rows

    def texts(self, data: WriterData) -> dict[str, Any]:
        texts: dict[str, Any] = (data.stored.figures or {}).get("texts", {})
        return texts

    def tools(self, data: WriterData) -> str:
        """Return the note that names tokenizer and splitter."""
        texts = self.texts(data)
        if not texts:
            return "No texts of questions are counted yet."
        note = f"Tokenizer: {texts['tokenizer']}. Sentence splitter: {texts['splitter']}."
        return f"{note} {NO_SPACY}" if texts["tokenizer"] == WHITE_SPACE else note


class HostsTable(TextTable):
    key = "mediqa-1"
    title = "Hosts of pages (MEDIQA-AnS, Table 1)"
    part = "hosts"

    def is_of(self, data: WriterData) -> bool:
        return any(row["host"] != NO_HOST for row in self.rows(data))

    def build(self, data: WriterData) -> Table:
        return Table(
            self.key,
            self.title,
            f"Passages of {data.project.name} by the host in the address of their page.",
            [Column("Host", False), Column("Passages")],
            [[Cell(row["host"]), Cell(row["passages"])] for row in self.rows(data)],
            ["Hosts are in lower case, without www.", *data.stored.notes()],
        )


class LengthsTable(TextTable):
    key = "mediqa-4"
    title = "Tokens and sentences (MEDIQA-AnS, Table 4)"
    part = "lengths"

    def build(self, data: WriterData) -> Table:
        return Table(
            self.key,
            self.title,
            f"Mean length of the texts of {data.project.name}, with the standard deviation of the population after ±.",
            [Column("Texts", False), Column("n"), Column("Tokens"), Column("Sentences")],
            [
                [
                    Cell(NAMES[row["texts"]]),
                    Cell(row["n"]),
                    *(Cell(row[unit]["mean"], 1, sd=row[unit]["sd"]) for unit in ("tokens", "sentences")),
                ]
                for row in self.rows(data)
            ],
            [self.tools(data), "Empty summaries (nothing relevant) are left out.", *data.stored.notes()],
        )


class FormsTable(TextTable):
    key = "mediqa-3"
    title = "Extractive against abstractive summaries (MEDIQA-AnS, Table 3)"
    part = "forms"

    def build(self, data: WriterData) -> Table:
        return Table(
            self.key,
            self.title,
            f"Extractive summaries as candidates, abstractive ones of the same writer as references, "
            f"{data.project.name}.",
            [Column("Summaries", False), Column("Pairs"), Column("BLEU of the corpus"), Column("ROUGE-2 recall (%)")],
            [
                [
                    Cell(FIRST[row["texts"]]),
                    Cell(row["pairs"]),
                    Cell(row["bleu"]),
                    Cell(None, undefined="no reference has two tokens")
                    if row["rouge2_recall"] is None
                    else Cell(100 * row["rouge2_recall"], n=_other(row["with_bigrams"], row["pairs"])),
                ]
                for row in self.rows(data)
            ],
            [
                self.tools(data),
                "Both figures count these tokens as written, as token-level figures of the paper do. ROUGE-2 recall: "
                "mean over pairs. rouge-score, which the other tables use, drops punctuation and ignores case, so its "
                "recall is higher.",
                *(f"BLEU: sacrebleu {row['signature']}." for row in self.rows(data)[:1]),
                *data.stored.notes(),
            ],
        )


def _other(n: int, of_row: int) -> int | None:
    return n if n != of_row else None
